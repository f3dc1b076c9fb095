//! The names by which users call a TCP: pairs of a loss recovery and a window rule. Nothing else depends on a variant.

use crate::keywords;

keywords! {
    /// TCP variants.
    pub enum Variant {
        /// Fast retransmit, then slow start (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast recovery that ends with the first new acknowledgement (RFC 2581).
        Reno = "reno",
        /// Fast recovery until everything sent before it is acknowledged (RFC 6582).
        NewReno = "newreno",
        /// Recovery with selective acknowledgements (ns-2's sack1, or RFC 6675).
        Sack = "sack",
        /// Delay-based window with fine-grained retransmission (Brakmo and Peterson 1995).
        Vegas = "vegas",
        /// Recovery with selective acknowledgements under Vegas' rule as Linux has it.
        LinuxVegas = "linux_vegas",
        /// NewReno that grows by a fraction of a segment per round trip (FeW, Nahm et al. 2005).
        Few = "few",
        /// NewReno's recovery under a window that grows in proportion to itself (Kelly 2003).
        Scalable = "scalable",
        /// NewReno that cuts its window to what the path has carried (Westwood+, Grieco and Mascolo 2004).
        Westwood = "westwood",
        /// The same by samples and filter of 2001 (TCP Westwood, Casetti et al.).
        Westwood2001 = "westwood_2001",
        /// SACK under what ns-2's `Agent/TCP/Linux` makes of Westwood+, whose estimate hardly acts there.
        LinuxWestwoodNs2 = "linux_westwood_ns2",
        /// NewReno that gives up less of its window for a loss that seems random (Fu and Liew 2003).
        Veno = "veno",
        /// NewReno that sends a probe after a timeout, and then goes on without slow start (Ahmed et al. 2006).
        ENewReno = "e_newreno",
        /// NewReno that sends at the rate at which the path can forward (TCP-AP, ElRakabawy et al. 2005).
        AdaptivePacing = "tcp_ap",
        /// NewReno's recovery under a window that never changes.
        Fixed = "fixed",
    }
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
    /// With selective acknowledgements.
    Sack,
    /// With fine-grained timeouts.
    Vegas,
}

/// Window rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Slow start and congestion avoidance.
    Reno,
    /// With a fractional increment.
    Few,
    /// Delay-based.
    Vegas,
    /// Delay-based, as in Linux.
    LinuxVegas,
    /// Growth in proportion to the window.
    Scalable,
    /// By the rate of what arrives.
    Westwood,
    /// The same with the filter of 2001.
    Westwood2001,
    /// By an estimate that hardly acts.
    LinuxWestwoodNs2,
    /// By the kind of each loss.
    Veno,
    /// At the rate at which the path can forward.
    AdaptivePacing,
    /// Constant.
    Fixed,
}

impl Variant {
    /// The parts of the variant.
    pub fn parts(self) -> (Method, Rule) {
        match self {
            Variant::Tahoe => (Method::Tahoe, Rule::Reno),
            Variant::Reno => (Method::Reno, Rule::Reno),
            Variant::NewReno => (Method::NewReno, Rule::Reno),
            Variant::Sack => (Method::Sack, Rule::Reno),
            Variant::Vegas => (Method::Vegas, Rule::Vegas),
            Variant::LinuxVegas => (Method::Sack, Rule::LinuxVegas),
            Variant::Few => (Method::NewReno, Rule::Few),
            Variant::Scalable => (Method::NewReno, Rule::Scalable),
            Variant::Westwood => (Method::NewReno, Rule::Westwood),
            Variant::Westwood2001 => (Method::NewReno, Rule::Westwood2001),
            Variant::LinuxWestwoodNs2 => (Method::Sack, Rule::LinuxWestwoodNs2),
            Variant::Veno => (Method::NewReno, Rule::Veno),
            Variant::ENewReno => (Method::ENewReno, Rule::Reno),
            Variant::AdaptivePacing => (Method::NewReno, Rule::AdaptivePacing),
            Variant::Fixed => (Method::NewReno, Rule::Fixed),
        }
    }
}
