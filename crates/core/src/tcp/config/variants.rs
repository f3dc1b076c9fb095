//! The names by which users call a TCP: those of loss recoveries, and of the pairs of one of them and a window rule.
//! Nothing else depends on a variant.

use crate::keywords;
use crate::tcp::cc::Rule;
use std::borrow::Cow;

/// Declares the variants: the word of each, and its parts.
macro_rules! variants {
    ($( $(#[doc = $doc:literal])* $Variant:ident = $word:literal: $Method:ident with $Rule:ident; )*) => {
        keywords! {
            /// TCP variants.
            pub enum Variant {
                $( $(#[doc = $doc])* $Variant = $word, )*
            }
        }

        impl Variant {
            /// The parts of the variant.
            pub fn parts(self) -> (Method, Rule) {
                match self { $( Variant::$Variant => (Method::$Method, Rule::$Rule), )* }
            }
        }
    };
}

variants! {
    /// Fast retransmit, then slow start (Jacobson 1988).
    Tahoe = "tahoe": Tahoe with Reno;
    /// Fast recovery that ends with the first new acknowledgement (RFC 2581).
    Reno = "reno": Reno with Reno;
    /// Fast recovery until everything sent before it is acknowledged (RFC 6582).
    NewReno = "newreno": NewReno with Reno;
    /// Recovery with selective acknowledgements (ns-2's sack1, or RFC 6675).
    Sack = "sack": Sack with Reno;
    /// Delay-based window with fine-grained retransmission (Brakmo and Peterson 1995).
    Vegas = "vegas": Vegas with Vegas;
    /// SACK recovery with the Vegas rule of Linux.
    LinuxVegas = "linux_vegas": Sack with LinuxVegas;
    /// NewReno that grows by a fraction of a segment per round trip (FeW, Nahm et al. 2005).
    Few = "few": NewReno with Few;
    /// NewReno recovery with growth in proportion to the window (Scalable TCP, Kelly 2003).
    Scalable = "scalable": NewReno with Scalable;
    /// NewReno that reduces its window to the estimated bandwidth-delay product (Westwood+, Grieco and Mascolo 2004).
    Westwood = "westwood": NewReno with Westwood;
    /// The same with the bandwidth filter of 2001 (TCP Westwood, Casetti et al.).
    Westwood2001 = "westwood_2001": NewReno with Westwood2001;
    /// SACK with Westwood+ as in ns-2's `Agent/TCP/Linux`, where the estimate has almost no effect.
    LinuxWestwoodNs2 = "linux_westwood_ns2": Sack with LinuxWestwoodNs2;
    /// NewReno that reduces its window less for a loss that appears random (Fu and Liew 2003).
    Veno = "veno": NewReno with Veno;
    /// NewReno that sends a probe after a timeout and continues without slow start (Ahmed et al. 2006).
    ENewReno = "e_newreno": ENewReno with Reno;
    /// NewReno paced at the rate at which the path can forward (TCP-AP, ElRakabawy et al. 2005).
    AdaptivePacing = "tcp_ap": NewReno with AdaptivePacing;
    /// SACK with a window that is a cubic function of the time since the last loss (RFC 9438).
    Cubic = "cubic": Sack with Cubic;
    /// NewReno recovery with a constant window.
    Fixed = "fixed": NewReno with Fixed;
}

keywords! {
    /// Loss recoveries.
    pub enum Method {
        /// Fast retransmit, then slow start from the hole (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast recovery until the first new acknowledgement (RFC 2581).
        Reno = "reno",
        /// Fast recovery through partial acknowledgements (RFC 6582).
        NewReno = "newreno",
        /// NewReno recovery with probes after a timeout (Ahmed et al. 2006).
        ENewReno = "e_newreno",
        /// Selective acknowledgements (RFC 6675, or ns-2's sack1).
        Sack = "sack",
        /// Losses by time, tail loss probes and proportional rate reduction, as in Linux (RFC 8985).
        RackTlp = "rack_tlp",
        /// Fine-grained timeouts at acknowledgements; with Vegas' congestion control only (Brakmo and Peterson 1995).
        Vegas = "vegas",
    }
}

/// Name of a pair: the word of its variant, or those of both parts such as `westwood+sack`.
pub fn name(method: Method, rule: Rule) -> Cow<'static, str> {
    match Variant::ALL.iter().find(|v| v.parts() == (method, rule)) {
        Some(variant) => variant.word().into(),
        None => format!("{}+{}", rule.word(), method.word()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pair_of_a_variant_has_its_name() {
        for variant in Variant::ALL {
            let (method, rule) = variant.parts();
            assert_eq!(name(method, rule), variant.word());
        }
    }

    #[test]
    fn no_two_pairs_have_the_same_name() {
        let mut names: Vec<_> =
            Method::ALL.iter().flat_map(|&method| Rule::ALL.iter().map(move |&rule| name(method, rule))).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), Method::ALL.len() * Rule::ALL.len());
        assert_eq!(name(Method::Sack, Rule::Westwood), "westwood+sack");
    }
}
