//! Queues, and what is done to packets behind them: what cannot be meant.

use super::check::Checker;
use crate::net::{link_red, neighborhood_red, queue};
use crate::setting::join;

impl Checker<'_> {
    /// The settings of a queue that stand at `at`.
    pub(super) fn queue(&mut self, at: &str, q: &queue::Config) {
        let path = |setting| join(at, setting);
        let limit = path("limit");
        self.positive(&limit, u64::from(q.limit));
        if q.limit == 1 && q.limit_includes_arrival {
            self.error(&limit, "no packet can wait, because the arriving one counts", "it must be at least 2");
        }
        if q.limit > 1_000_000 {
            self.error(&limit, "a queue of more than a million packets", "it must be at most 1000000");
        }
        if let Some(bytes) = q.limit_bytes
            && bytes.0 < self.cfg.net.mtu.0
        {
            let message = format!("a queue of {bytes} holds no packet of {}", self.cfg.net.mtu);
            self.error(&path("limit_bytes"), message, "it must be at least `net.mtu`");
        }
        let red = &q.red;
        let (min, max) = (red.min_threshold.unwrap_or(5.0), red.max_threshold);
        for (setting, value, most) in [
            ("red.min_threshold", min, 1e6),
            ("red.max_p", red.max_p, 1.0),
            ("red.q_weight", red.q_weight.unwrap_or(1.0), 1.0),
            ("red.mark_p", red.mark_p.unwrap_or(1.0), 1.0),
            ("red.alpha", red.alpha, 1.0),
            ("red.beta", red.beta, 1.0),
            ("red.bottom", red.bottom.unwrap_or(1.0), 1.0),
            ("red.top", red.top, 1.0),
        ] {
            if !(value > 0.0 && value <= most) {
                let path = path(setting);
                self.error(&path, format!("`{path}` is {value}"), &format!("it must be above 0 and at most {most}"));
            }
        }
        if max.is_some_and(|max| max <= min || max > 1e6) {
            let path = path("red.max_threshold");
            let message = "the maximum threshold is not above the minimum, or beyond a million";
            self.error(&path, message, &format!("`{path}` must be above the minimum"));
        }
        self.positive(&path("red.mean_pktsize"), u64::from(red.mean_pktsize.0));
        self.lasting(&path("codel.target"), q.codel.target);
        self.lasting(&path("codel.interval"), q.codel.interval);
        let fq = &q.fq_codel;
        self.positive(&path("fq_codel.quantum"), u64::from(fq.quantum.0));
        self.positive(&path("fq_codel.drop_batch"), u64::from(fq.drop_batch));
        self.positive(&path("fq_codel.queues"), u64::from(fq.queues));
        if fq.queues > 65_536 {
            self.error(&path("fq_codel.queues"), "more than 65536 queues", "RFC 8290 has 1024");
        }
    }

    /// Link RED.
    pub(super) fn link_red(&mut self, red: &link_red::Config) {
        self.thresholds("net.link_red", red.min_th, red.max_th, red.max_p);
    }

    /// Neighborhood RED.
    pub(super) fn neighborhood_red(&mut self, red: &neighborhood_red::Config) {
        let path = |setting| join("net.neighborhood_red", setting);
        self.thresholds("net.neighborhood_red", red.min_th, red.max_th, red.max_p);
        if !(red.w_q > 0.0 && red.w_q <= 1.0) {
            let path = path("w_q");
            self.error(&path, format!("`{path}` is {}", red.w_q), "it must be above 0 and at most 1");
        }
        for (setting, span) in [("interval", red.interval), ("lifetime", red.lifetime)] {
            self.lasting(&path(setting), span);
        }
        for (setting, size) in [("mean_pktsize", red.mean_pktsize), ("ncn_bytes", red.ncn_bytes)] {
            self.positive(&path(setting), u64::from(size.0));
            if size.0 > self.cfg.net.mtu.0 {
                let message = format!("a packet of {size} is larger than the MTU of {}", self.cfg.net.mtu);
                self.error(&path(setting), message, "it must be at most `net.mtu`");
            }
        }
    }

    /// Two thresholds and the largest probability.
    fn thresholds(&mut self, at: &str, min_th: f64, max_th: f64, max_p: f64) {
        for (setting, value, most) in [("min_th", min_th, 1e6), ("max_p", max_p, 1.0)] {
            if !(value >= 0.0 && value <= most) {
                let path = join(at, setting);
                self.error(&path, format!("`{path}` is {value}"), &format!("it must be at least 0 and at most {most}"));
            }
        }
        if !(max_th > min_th && max_th <= 1e6) {
            let message = "the maximum threshold is not above the minimum, or beyond a million";
            let help = format!("`{at}.max_th` must be above `{at}.min_th`");
            self.error(&join(at, "max_th"), message, &help);
        }
    }
}
