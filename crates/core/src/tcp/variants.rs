//! The names by which users call a TCP: pairs of a loss recovery and a window rule. Nothing else depends on a variant.

use super::cc::Rule;
use crate::keywords;

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
    /// Recovery with selective acknowledgements under Vegas' rule as Linux has it.
    LinuxVegas = "linux_vegas": Sack with LinuxVegas;
    /// NewReno that grows by a fraction of a segment per round trip (FeW, Nahm et al. 2005).
    Few = "few": NewReno with Few;
    /// NewReno's recovery under a window that grows in proportion to itself (Kelly 2003).
    Scalable = "scalable": NewReno with Scalable;
    /// NewReno that cuts its window to what the path has carried (Westwood+, Grieco and Mascolo 2004).
    Westwood = "westwood": NewReno with Westwood;
    /// The same by samples and filter of 2001 (TCP Westwood, Casetti et al.).
    Westwood2001 = "westwood_2001": NewReno with Westwood2001;
    /// SACK under what ns-2's `Agent/TCP/Linux` makes of Westwood+, whose estimate hardly acts there.
    LinuxWestwoodNs2 = "linux_westwood_ns2": Sack with LinuxWestwoodNs2;
    /// NewReno that gives up less of its window for a loss that seems random (Fu and Liew 2003).
    Veno = "veno": NewReno with Veno;
    /// NewReno that sends a probe after a timeout, and then goes on without slow start (Ahmed et al. 2006).
    ENewReno = "e_newreno": ENewReno with Reno;
    /// NewReno that sends at the rate at which the path can forward (TCP-AP, ElRakabawy et al. 2005).
    AdaptivePacing = "tcp_ap": NewReno with AdaptivePacing;
    /// SACK under a window that is a cubic function of the time since the last loss (RFC 9438).
    Cubic = "cubic": Sack with Cubic;
    /// NewReno's recovery under a window that never changes.
    Fixed = "fixed": NewReno with Fixed;
}

/// Loss recoveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Go back to the hole and slow-start.
    Tahoe,
    /// Fast recovery until the first new acknowledgement.
    Reno,
    /// Fast recovery through partial acknowledgements.
    NewReno,
    /// NewReno's, and probes after a timeout.
    ENewReno,
    /// Selective acknowledgements (RFC 6675 or ns-2's sack1).
    Sack,
    /// Fine-grained timeouts checked at acknowledgements.
    Vegas,
}
