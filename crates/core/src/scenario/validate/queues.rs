//! Queues and middleboxes behind them: validation.

use super::Checker;
use crate::net::{link_red, neighborhood_red, queue};
use crate::setting::join;

/// Message about two thresholds.
const NOT_ABOVE: &str = "the maximum threshold is not above the minimum";

impl Checker<'_> {
    /// Validates the queue settings at `at`.
    pub(in crate::scenario) fn queue(&mut self, at: &str, q: &queue::Config) {
        let path = |setting| join(at, setting);
        let limit = path("limit");
        if q.discipline == queue::Discipline::FlowControlled && !self.cfg.wlan.is_dcf() && !at.starts_with("wired") {
            self.error(
                &path("discipline"),
                "it holds back the one packet of a station with the DCF; a station with EDCA takes many",
                "choose another discipline, such as `droptail`, or set `wlan.access = \"dcf\"`",
            );
        }
        if q.limit == 1 && q.limit_includes_arrival {
            self.error(&limit, "no packet can wait, because the arriving one counts", "it must be at least 2");
        }
        if let Some(bytes) = q.limit_bytes
            && bytes.0 < self.cfg.net.mtu.0
        {
            let message = format!("a queue of {bytes} holds no packet of {}", self.cfg.net.mtu);
            self.error(&path("limit_bytes"), message, "it must be at least `net.mtu`");
        }
        if let Some(from) = q.mark_threshold.filter(|&from| from >= q.limit) {
            let message = format!("nothing is marked, because {from} packets never wait for another one");
            self.error(&path("mark_threshold"), message, &format!("it must be below `{limit}`"));
        }
        let red = &q.red;
        let min = red.min_threshold.unwrap_or(5.0);
        if red.max_threshold.is_some_and(|max| max <= min) {
            let path = path("red.max_threshold");
            self.error(&path, NOT_ABOVE, &format!("`{path}` must be above the minimum"));
        }
    }

    /// Validates Link RED.
    pub(in crate::scenario) fn link_red(&mut self, red: &link_red::Config) {
        self.thresholds("net.link_red", red.min_threshold, red.max_threshold);
    }

    /// Validates Neighborhood RED.
    pub(in crate::scenario) fn neighborhood_red(&mut self, red: &neighborhood_red::Config) {
        let at = "net.neighborhood_red";
        self.thresholds(at, red.min_threshold, red.max_threshold);
        for (setting, size) in [("mean_packet_size", red.mean_packet_size), ("ncn_size", red.ncn_size)] {
            if size.0 > self.cfg.net.mtu.0 {
                let message = format!("a packet of {size} is larger than the MTU of {}", self.cfg.net.mtu);
                self.error(&join(at, setting), message, "it must be at most `net.mtu`");
            }
        }
    }

    /// Checks that a lower threshold is below an upper one.
    fn thresholds(&mut self, at: &str, min: f64, max: f64) {
        if max <= min {
            let help = format!("`{at}.max_threshold` must be above `{at}.min_threshold`");
            self.error(&join(at, "max_threshold"), NOT_ABOVE, &help);
        }
    }
}
