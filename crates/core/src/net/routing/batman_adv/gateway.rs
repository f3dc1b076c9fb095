//! Gateways as the clients of batman-adv have them: a node selects one of those that announce themselves, and its host
//! sends to the one of which it has a lease.
//!
//! batman-adv steers nothing but the DHCP of a host: new requests go to the selected gateway, and a host sends to its
//! gateway until the lease says otherwise (RFC 2131, 4.4.5). A request and its answer take no time here and are no
//! packets; a gateway answers if its messages have been heard of late. Linux stops renewals to a gateway that is much
//! worse than the selected one.

use super::Config;
use super::table::Table;
use crate::packet::NodeId;
use crate::packet::ogm::Ogm;
use crate::unit::{Span, Time};

/// Size of the container of a gateway in its messages \[B\].
pub(super) const BYTES: u32 = 12;
/// Selection class that keeps a gateway, and class that takes a better one at once; with larger classes a gateway has to
/// be better by the number of the class.
const STABLE: u8 = 2;
const FAST: u8 = 3;
/// Quality by which a gateway is much worse than the selected one.
const FAR: u8 = 50;
/// Messages after which one should have been heard.
const MISSED: u64 = 5;

/// The client at a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// Gateways that announce themselves, sorted.
    gateways: Vec<NodeId>,
    selected: Option<NodeId>,
    /// Gateway of the host, and time of the last renewal.
    lease: Option<(NodeId, Time)>,
    /// Networks to which the host sends.
    networks: Vec<NodeId>,
}

impl Client {
    /// A message has come, and the quality of the way to its originator is known.
    pub(super) fn on_ogm(&mut self, ogm: &Ogm, table: &Table, cfg: &Config) {
        let class = cfg.gw_sel_class;
        match (self.gateways.binary_search(&ogm.originator), ogm.is_gateway) {
            (Err(i), true) => self.gateways.insert(i, ogm.originator),
            (Ok(i), false) => {
                self.gateways.remove(i);
            }
            _ => {}
        }
        let quality = |g: &NodeId| table.best(*g);
        self.selected = self.selected.filter(|g| self.gateways.contains(g) && quality(g) > 0);
        let is_due = match &self.selected {
            None => true,
            Some(_) if class <= STABLE => false,
            Some(g) if class == FAST => quality(&ogm.originator) > quality(g),
            Some(g) => quality(&ogm.originator) >= quality(g).saturating_add(class),
        };
        if is_due {
            let usable = self.gateways.iter().filter(|g| quality(g) > 0);
            self.selected = usable.max_by_key(|g| (quality(g), std::cmp::Reverse(**g))).copied();
        }
    }

    /// The gateway to which the host sends for a network now. A host that was idle has renewed its lease, if its gateway
    /// answers now.
    pub(super) fn gateway(&mut self, network: NodeId, now: Time, table: &Table, cfg: &Config) -> Option<NodeId> {
        if let Err(i) = self.networks.binary_search(&network) {
            self.networks.insert(i, network);
        }
        let silence = cfg.orig_interval * MISSED;
        let answers = |g: NodeId| self.gateways.contains(&g) && table.seen(g).is_some_and(|at| at + silence > now);
        let Some((gateway, since)) = self.lease else {
            self.lease = self.selected.filter(|&g| answers(g)).map(|g| (g, now));
            return self.lease.map(|(g, _)| g);
        };
        let age = now.since(since);
        let (renews, rebinds) = (Span(cfg.dhcp_lease.0 / 2), Span(cfg.dhcp_lease.0 / 8 * 7));
        let is_far = self.selected.is_some_and(|g| table.best(g) > table.best(gateway).saturating_add(FAR));
        if age >= renews && answers(gateway) && !is_far {
            self.lease = Some((gateway, now));
        } else if age >= rebinds {
            match self.selected.filter(|&g| answers(g)) {
                Some(other) => self.lease = Some((other, now)),
                None if age >= cfg.dhcp_lease => self.lease = None,
                None => {}
            }
        }
        self.lease.map(|(g, _)| g)
    }

    /// Returns true if the host sends to a network, and has a gateway.
    pub(super) fn leads_to(&self, network: NodeId) -> bool {
        self.lease.is_some() && self.networks.binary_search(&network).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ogm::TTL;

    const NETWORK: NodeId = NodeId(9);

    fn rules(gw_sel_class: u8) -> Config {
        Config { gw_sel_class, dhcp_lease: Span::secs(80), ..Config::default() }
    }

    fn ogm(node: u32, seqno: u32, tq: u8, is_gateway: bool) -> Ogm {
        Ogm {
            originator: NodeId(node),
            seqno,
            ttl: TTL,
            tq,
            prev_sender: NodeId(node),
            direct_link: false,
            not_best_next_hop: false,
            is_gateway,
        }
    }

    struct Heard {
        table: Table,
        client: Client,
        seqno: u32,
    }

    impl Heard {
        fn new() -> Heard {
            Heard { table: Table::default(), client: Client::default(), seqno: 0 }
        }

        /// Messages of gateways, which are neighbors, with these qualities, until these are their averages.
        fn hear(&mut self, now: Time, class: u8, of: &[(u32, u8)]) {
            for _ in 0..5 {
                self.seqno += 1;
                for &(node, tq) in of {
                    let ogm = ogm(node, self.seqno, tq, true);
                    let copy = self.table.count(&ogm, NodeId(node), now).expect("in order");
                    self.table.link(NodeId(node), NodeId(node), now);
                    self.table.rank(&ogm, (NodeId(node), tq), copy, now);
                    self.client.on_ogm(&ogm, &self.table, &rules(class));
                }
            }
        }

        fn gateway(&mut self, now: Time) -> Option<u32> {
            self.client.gateway(NETWORK, now, &self.table, &rules(20)).map(|g| g.0)
        }
    }

    fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    /// The example of the worked numbers: 198 was there first, 215 comes.
    #[test]
    fn a_gateway_is_left_for_one_that_is_better_by_its_class() {
        let selected = |class: u8, second: u8| {
            let mut h = Heard::new();
            h.hear(at(1), class, &[(1, 198)]);
            h.hear(at(2), class, &[(1, 198), (2, second)]);
            h.client.selected
        };
        assert_eq!([selected(20, 215), selected(20, 218), selected(16, 215)], [1, 2, 2].map(|n| Some(NodeId(n))));
        assert_eq!([selected(3, 198), selected(3, 199), selected(2, 255)], [1, 2, 1].map(|n| Some(NodeId(n))));
        let mut new = Heard::new();
        new.hear(at(1), 20, &[(1, 198), (2, 200)]);
        let both = new.client.gateways.clone();
        new.client = Client { gateways: both, ..Client::default() };
        new.hear(at(2), 20, &[(1, 198)]);
        assert_eq!(new.client.selected, Some(NodeId(2)), "a new node takes the best one");
    }

    #[test]
    fn a_host_keeps_its_gateway_while_that_renews_the_lease() {
        let mut h = Heard::new();
        assert_eq!(h.gateway(at(1)), None);
        assert!(!h.client.leads_to(NETWORK));
        h.hear(at(1), 20, &[(1, 200)]);
        assert_eq!(h.gateway(at(1)), Some(1));
        assert!(h.client.leads_to(NETWORK) && !h.client.leads_to(NodeId(1)));
        // Better, and selected, but not by much: renewed at half of the lease and again.
        h.hear(at(41), 20, &[(1, 200), (2, 240)]);
        assert_eq!((h.client.selected, h.gateway(at(41))), (Some(NodeId(2)), Some(1)));
        h.hear(at(81), 20, &[(1, 200), (2, 240)]);
        assert_eq!(h.gateway(at(81)), Some(1));
        // Much better: its renewals are stopped, and at seven eighths the selected one answers.
        h.hear(at(121), 20, &[(1, 180), (2, 240)]);
        assert_eq!([h.gateway(at(121)), h.gateway(at(150))], [Some(1), Some(1)]);
        h.hear(at(151), 20, &[(2, 240)]);
        assert_eq!(h.gateway(at(151)), Some(2));
    }

    #[test]
    fn an_idle_host_has_renewed_its_lease() {
        let mut h = Heard::new();
        h.hear(at(1), 20, &[(1, 200)]);
        assert_eq!(h.gateway(at(1)), Some(1));
        h.hear(at(1000), 20, &[(1, 200), (2, 240)]);
        assert_eq!((h.client.selected, h.gateway(at(1000))), (Some(NodeId(2)), Some(1)));
    }

    #[test]
    fn a_silent_gateway_is_left_when_the_lease_ends() {
        let mut h = Heard::new();
        h.hear(at(1), 20, &[(1, 200), (2, 190)]);
        assert_eq!(h.gateway(at(1)), Some(1));
        // Nothing is heard of any: kept until the end, then none.
        assert_eq!([60, 72, 80].map(|t| h.gateway(at(t))), [Some(1); 3]);
        assert_eq!(h.gateway(at(81)), None);
        h.hear(at(82), 20, &[(2, 190)]);
        assert_eq!(h.gateway(at(82)), None, "the silent one is still selected");
        h.table.purge(Span::secs(80), at(82), |_| {});
        h.hear(at(83), 20, &[(2, 190)]);
        assert_eq!(h.gateway(at(83)), Some(2));
    }

    #[test]
    fn a_gateway_that_announces_itself_no_more_is_none() {
        let mut h = Heard::new();
        h.hear(at(1), 20, &[(1, 200), (2, 190)]);
        h.client.on_ogm(&ogm(1, 9, 200, false), &h.table, &rules(20));
        assert_eq!((h.client.selected, h.client.gateways.len()), (Some(NodeId(2)), 1));
    }
}
