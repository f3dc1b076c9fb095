//! The MACs of all radios.

use crate::packet::{Kind, RadioId};
use crate::radio::sinr;
use crate::rng::{Purpose, Stream};
use crate::run::{Profile, RadioSetup, Setup};
use crate::wlan::edca::mac80211::Queues;
use crate::wlan::edca::{Access, AccessCategory, QosStation, Secondary};
use crate::wlan::{self, Contention, Station, Timing};
use std::sync::Arc;

/// Rules shared by the stations of a profile.
#[derive(Debug)]
pub struct Rules {
    pub timing: Timing,
    pub dcf: wlan::Config,
}

/// The MAC of a radio.
#[derive(Clone, Debug)]
pub struct Mac {
    pub station: Station,
    /// Shared by the stations of a profile.
    pub rules: Arc<Rules>,
    /// The station, where access is EDCA; `station` is idle then.
    pub qos: Option<Box<QosStation>>,
}

impl Mac {
    /// Contention state of the station.
    pub fn contention(&self) -> Contention {
        self.qos.as_ref().map_or_else(|| self.station.contention(), |qos| qos.contention())
    }

    /// Frames and packets sent to each neighbor, by rate and kind of packet; empty where rates are fixed.
    pub fn tallies(&self) -> impl Iterator<Item = (RadioId, wlan::Mode, Kind, wlan::rate::Counts)> + '_ {
        self.qos.iter().flat_map(|qos| qos.tallies()).chain(self.station.tallies())
    }

    /// Counters of the station.
    pub fn counters(&self) -> &wlan::dcf::Counters {
        self.qos.as_ref().map_or_else(|| self.station.counters(), |qos| qos.counters())
    }

    /// Returns true if the station holds no packet.
    pub fn is_free(&self) -> bool {
        self.qos.as_ref().map_or_else(|| self.station.is_free(), |qos| qos.is_free())
    }

    /// Returns true if the station takes a packet of a category.
    pub fn has_room(&self, category: AccessCategory) -> bool {
        self.qos.as_ref().map_or_else(|| self.station.is_free(), |qos| qos.has_room(category, &self.rules.dcf))
    }

    /// User priority of packets with this DSCP, which is their TID.
    pub fn priority(&self, dscp: u8) -> u8 {
        self.rules.dcf.edca.user_priorities.of(dscp)
    }

    /// Returns true if packets wait in queues of the station, and none in front of it.
    pub fn has_queues(&self) -> bool {
        self.rules.dcf.has_mac80211()
    }

    /// Packets and bytes of a category that wait in queues of the station.
    pub fn waiting(&self, category: AccessCategory) -> (usize, u64) {
        self.qos.as_ref().map_or((0, 0), |qos| qos.waiting(category, &self.rules.timing))
    }

    /// Packets marked by queues of the station.
    pub fn marks(&self) -> u64 {
        self.qos.as_ref().map_or(0, |qos| qos.marks())
    }

    pub fn all(setup: &Setup) -> Vec<Mac> {
        let interfaces = &setup.interfaces;
        let rules = |p: &Profile| Arc::new(Rules { timing: Timing::new(&p.wlan), dcf: p.wlan.clone() });
        let rules: Vec<_> = interfaces.profiles.iter().map(rules).collect();
        let others = |dcf: &wlan::Config, key| {
            let rng = Stream::new(setup.seed, Purpose::SecondaryChannel, key);
            dcf.has_secondary_channel().then(|| Secondary::new(&dcf.secondary_channel, rng)).flatten()
        };
        // Further queues in front of a radio have the keys from 1 to 3 (`Ports`).
        let waiting = |dcf: &wlan::Config, key: u64| {
            dcf.has_mac80211().then(|| Queues::new(Stream::new(setup.seed, Purpose::Queue, 4 << 48 | key)))
        };
        let mac = |((i, r), key): ((u32, &RadioSetup), u64)| {
            let (radio, rules) = (RadioId(i), Arc::clone(&rules[r.profile as usize]));
            let rng = Stream::new(setup.seed, Purpose::Backoff, key);
            let reception = &interfaces.profiles[r.profile as usize].radio.sinr;
            let control = wlan::rate::RateControl::new(
                &rules.dcf.rate_control,
                rules.timing.data_mode,
                &rules.timing,
                |rate, errors| sinr::least(reception, rate, errors),
                Stream::new(setup.seed, Purpose::RateControl, key),
            );
            let modes = interfaces.modes(radio);
            let qos = (rules.dcf.access == Access::Edca)
                .then(|| QosStation::new(radio, &rules.dcf, modes.clone(), control.clone(), rng.clone()))
                .map(|station| {
                    Box::new(station.with_secondary(others(&rules.dcf, key)).with_mac80211(waiting(&rules.dcf, key)))
                });
            Mac { station: Station::new(radio, &rules.dcf, modes, control, rng), rules, qos }
        };
        (0..).zip(&interfaces.radios).zip(interfaces.keys()).map(mac).collect()
    }
}
