//! Why a frame is lost, where that is known: stations that try once, and one datagram each.

use chappe_core::scenario::{NoFiles, Scenario};
use chappe_core::sim::Sim;

/// Nodes on a line that send as soon as the medium was idle for a DIFS, and give up after one attempt: the causes of the
/// packets that were given up.
fn causes(places: &[u32], more: &str) -> Vec<(String, u64)> {
    let places: Vec<String> = places.iter().map(|x| format!("[\"{x} m\", \"0 m\"]")).collect();
    let text = format!(
        r#"
        run = {{ stop = "3 s", batches = 2 }}
        wlan = {{ short_retry_limit = 1, long_retry_limit = 1, rts_threshold = "500 B",
                 first_access = "backoff", backoff_range = "exclusive", cw_min = 1, cw_max = 1 }}
        routing.protocol = "shortest_path"
        cbr.datagrams = 1
        topology = {{ kind = "list", positions = [{}] }}
        {more}
        "#,
        places.join(", ")
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    let fates = sim.recorder().fates();
    let named = fates.columns.iter().filter_map(|(name, _)| Some((name, name.strip_prefix("retry_limit_")?)));
    let counted = named.map(|(name, cause)| (cause.to_owned(), fates.counts(name).expect("a column").iter().sum()));
    counted.filter(|(_, packets)| *packets > 0).collect()
}

fn datagram(from: u32, to: u32, start: &str, more: &str) -> String {
    format!("[[flow]]\napp = \"cbr\"\nfrom = {from}\nto = {to}\nstart = \"{start}\"\n{more}\n")
}

#[test]
fn two_stations_that_begin_at_once_do_not_hear_each_other() {
    let flows = datagram(0, 1, "1 s", "") + &datagram(1, 0, "1 s", "");
    assert_eq!(causes(&[0, 200], &flows), [("transmitting".to_owned(), 2)]);
}

#[test]
fn a_hidden_terminal_destroys_what_the_receiver_hears() {
    // 0 and 2 do not sense each other; 1 hears 0 and senses 2, which sends a long frame to 3 without asking.
    let flows = datagram(2, 3, "1 s", "cbr.payload = \"400 B\"") + &datagram(0, 1, "1.001 s", "");
    assert_eq!(causes(&[0, 200, 600, 800], &flows), [("collision".to_owned(), 1)]);
}

#[test]
fn a_receiver_that_is_locked_on_a_stronger_frame_does_not_hear_another() {
    // All begin at once. At 1 the frame of 2, from 60 m, is 256 times as strong as that of 0, from 240 m.
    let flows = datagram(0, 1, "1 s", "") + &datagram(2, 3, "1 s", "");
    assert_eq!(causes(&[0, 240, 300, 400], &flows), [("captured".to_owned(), 1)]);
}

#[test]
fn nav_forbids_the_cts() {
    // 1 hears the CTS of 2 for the long frame of 3, which neither 0 nor 1 senses.
    let radio = "radio = { propagation = \"range\", range = \"250 m\", sense_range = \"250 m\" }\n";
    let flows = datagram(3, 2, "1 s", "") + &datagram(0, 1, "1.003 s", "");
    assert_eq!(causes(&[0, 200, 400, 600], &(radio.to_owned() + &flows)), [("refused".to_owned(), 1)]);
}

#[test]
fn the_answer_is_lost_to_a_terminal_that_the_receiver_does_not_hear() {
    // 1 and 2 begin at once; the long frame of 1, which 3 does not sense, destroys the CTS of 3.
    let flows = datagram(1, 0, "1 s", "cbr.payload = \"400 B\"") + &datagram(2, 3, "1 s", "");
    assert_eq!(causes(&[0, 200, 600, 840], &flows), [("response_lost".to_owned(), 1)]);
}
