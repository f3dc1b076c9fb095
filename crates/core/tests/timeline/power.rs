//! Radios that are switched off and on while frames are on the air: nodes 200 m apart, a frame takes 0.667 us per hop.

use chappe_core::packet::RadioId;
use chappe_core::radio::{Channel, Config, Radios, ReceptionSink, Verdict};
use chappe_core::unit::{Position, Span, Time};

struct Air(Channel);

/// Ignores the start of frames.
struct Nobody;

impl ReceptionSink for Nobody {
    fn busy(&mut self, _radio: RadioId, _from: Time) {}

    fn captured(&mut self, _radio: RadioId, _from: Time, _until: Time) {}
}

impl Air {
    fn new(nodes: u32) -> Air {
        let places: Vec<Position> = (0..nodes).map(|i| Position { x: 200.0 * f64::from(i), y: 0.0 }).collect();
        Air(Channel::new(&Radios::alike(&Config::default(), &places)))
    }

    /// A node sends a frame.
    fn sends(&mut self, node: u32, from_us: u64, airtime_us: u64) {
        self.0.start((RadioId(node), RadioId::BROADCAST), Time(from_us * 1000), Span::us(airtime_us), 0, &mut Nobody);
    }

    /// End of a frame: outcomes at the receivers that are notified.
    fn ends(&mut self, node: u32, at_us: u64) -> Vec<(u32, Verdict)> {
        let mut told = vec![];
        self.0.finish(RadioId(node), Time(at_us * 1000), |n, ended| told.push((n.0, ended.verdict)));
        told.sort_unstable_by_key(|t| t.0);
        told
    }

    fn off(&mut self, node: u32, at_us: u64) {
        self.0.switch_off(RadioId(node), Time(at_us * 1000));
    }

    fn on(&mut self, node: u32, at_us: u64) {
        self.0.switch_on(RadioId(node), Time(at_us * 1000), Time(at_us * 1000));
    }
}

#[test]
fn the_frame_of_a_sender_that_dies_is_cut() {
    // 0    1 sends 1000 us to its neighbors
    // 500  1 dies
    // 1000 the end that its header announced: until then the medium is busy, and nobody can read it
    let mut air = Air::new(3);
    air.sends(1, 0, 1000);
    air.off(1, 500);
    let sensed = air.0.sensed(RadioId(0));
    assert!(sensed.busy(Time(1_000_666)) && !sensed.busy(Time(1_000_667)));
    assert_eq!(air.ends(1, 1000), [(0, Verdict::Damaged), (2, Verdict::Damaged)]);
}

#[test]
fn a_receiver_that_dies_is_not_told() {
    // 0    1 sends 1000 us
    // 500  2 dies
    let mut air = Air::new(3);
    air.sends(1, 0, 1000);
    air.off(2, 500);
    assert_eq!(air.ends(1, 1000), [(0, Verdict::Decoded)]);
    assert_eq!(air.0.flush_deferred(RadioId(2), Time(2_000_000)), None);
}

#[test]
fn a_node_that_is_off_hears_nothing() {
    let mut air = Air::new(3);
    air.off(2, 0);
    air.sends(1, 100, 352);
    assert_eq!(air.ends(1, 452), [(0, Verdict::Decoded)]);
    air.sends(0, 500, 352);
    assert_eq!(air.ends(0, 852), [(1, Verdict::Decoded)]);
    assert_eq!(air.0.flush_deferred(RadioId(2), Time(1_000_000)), None);
}

#[test]
fn a_node_that_comes_up_in_the_middle_of_a_frame_senses_its_rest() {
    // 100  1 sends 352 us, 2 is off
    // 200  2 comes up: the medium is busy until 452.667
    // 500  1 sends again: 2 can read that
    let mut air = Air::new(3);
    air.off(2, 0);
    air.sends(1, 100, 352);
    air.on(2, 200);
    assert!(air.0.sensed(RadioId(2)).busy(Time(300_000)));
    assert_eq!(air.ends(1, 452), [(0, Verdict::Decoded), (2, Verdict::Noise)]);
    air.sends(1, 500, 352);
    assert_eq!(air.ends(1, 852), [(0, Verdict::Decoded), (2, Verdict::Decoded)]);
}

#[test]
fn sense_only_station_that_comes_up_senses_noise() {
    // 2 senses 0, 400 m away.
    let mut air = Air::new(3);
    air.off(2, 0);
    air.sends(0, 100, 352);
    air.on(2, 200);
    assert_eq!(air.ends(0, 452), [(1, Verdict::Decoded), (2, Verdict::Noise)]);
    // One that comes up when it is over knows of nothing.
    air.off(2, 460);
    air.sends(0, 500, 352);
    assert_eq!(air.ends(0, 852), [(1, Verdict::Decoded)]);
    air.on(2, 900);
    assert_eq!(air.0.flush_deferred(RadioId(2), Time(1_000_000)), None);
    assert!(!air.0.sensed(RadioId(2)).busy(Time(900_000)));
}

#[test]
fn a_sender_that_dies_and_comes_up_within_its_frame_leaves_it_cut() {
    let mut air = Air::new(3);
    air.sends(1, 0, 1000);
    air.off(1, 400);
    air.on(1, 500);
    assert_eq!(air.ends(1, 1000), [(0, Verdict::Damaged), (2, Verdict::Damaged)]);
    air.sends(0, 1100, 352);
    assert_eq!(air.ends(0, 1452), [(1, Verdict::Decoded), (2, Verdict::Damaged)][..1], "2 only senses it");
}

#[test]
fn a_cut_frame_destroys_others_as_before() {
    // 0    3 sends, heard by 1 from 400 m: 1 is locked on it
    // 100  3 dies
    // 200  0 sends to 1: not 10 dB above what 1 is locked on, as it began later
    let mut air = Air::new(4);
    air.sends(3, 0, 1000);
    air.off(3, 100);
    air.sends(0, 200, 2000);
    assert!(air.ends(0, 2200).contains(&(1, Verdict::Damaged)));
}
