//! Pairs of a loss recovery and a window rule that cannot work.

use super::variants::Method;
use crate::tcp::cc::Rule;

/// Reason why the window rule cannot work with the loss recovery; `None`: it can.
pub fn conflict(method: Method, rule: Rule) -> Option<&'static str> {
    match (method, rule) {
        (Method::Vegas, Rule::Vegas) => None,
        (Method::Vegas, _) => Some("this loss recovery cuts the window itself, by the rule of `vegas`"),
        (Method::Tahoe | Method::ENewReno, Rule::Fixed) => {
            Some("this loss recovery sets the window itself, and that of `fixed` never changes")
        }
        (Method::ENewReno, Rule::Cubic) => {
            Some("this loss recovery sets the window after a timeout itself, and the curve of `cubic` takes no notice")
        }
        (Method::RackTlp, Rule::Reno | Rule::Cubic | Rule::Bbr | Rule::Bbr3 | Rule::External) => None,
        (Method::RackTlp, _) => {
            Some("this loss recovery has a window in whole segments, by `reno`, `cubic`, `bbr`, `bbr3` or a program")
        }
        (_, Rule::Bbr | Rule::Bbr3) => Some("this congestion control needs the delivery rates of `rack_tlp`"),
        (Method::Sack, _) => None,
        (_, Rule::LinuxWestwoodNs2) => Some(
            "this congestion control does not cut the window at a loss, but shrinks it during a recovery with `sack`",
        ),
        _ => None,
    }
}

/// Loss recoveries with which the window rule works.
pub fn recoveries_of(rule: Rule) -> Vec<Method> {
    Method::ALL.iter().copied().filter(|method| conflict(*method, rule).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::variants::Variant;

    #[test]
    fn every_variant_works() {
        assert!(Variant::ALL.iter().map(|v| v.parts()).all(|(method, rule)| conflict(method, rule).is_none()));
    }

    #[test]
    fn every_window_rule_and_every_recovery_has_a_working_partner() {
        assert!(Rule::ALL.iter().all(|rule| !recoveries_of(*rule).is_empty()));
        assert!(Method::ALL.iter().all(|method| Rule::ALL.iter().any(|rule| conflict(*method, *rule).is_none())));
    }
}
