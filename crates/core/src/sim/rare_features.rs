//! Features that few runs use. Functions of the inner loop with a parameter `RARE` exist twice, with code for these
//! features and without it; two flags choose. A feature that acts at ends of frames or at interface queues is listed
//! here.

use super::Sim;

impl Sim {
    /// Sets the flags of rare features.
    pub(super) fn find_rare_features(&mut self) {
        let Sim { air, net, flows, .. } = self;
        let qos = air.qos.is_some();
        let error_models = air.receivers.is_some();
        air.has_rare_features = qos || error_models || air.promiscuous || air.knows_signals || air.every_end_is_watched;
        let flow_control = net.held.is_some();
        let drops_before_mac = net.admission.is_some();
        net.has_rare_features = qos || flow_control || drops_before_mac || flows.hears_quench || flows.reports_queue;
    }
}
