//! Scratch.
#![allow(clippy::print_stdout)]
use chappe_core::app::{self, Application, cbr, ftp};
use chappe_core::net::{arp, queue, routing, routing::aodv};
use chappe_core::packet::NodeId;
use chappe_core::sim::*;
use chappe_core::tcp::{self, *};
use chappe_core::tcp::rto::Estimator;
use chappe_core::tcp::variants::Variant;
use chappe_core::unit::*;
use chappe_core::{net, radio, wlan};

pub fn ns2(hops: u32, rate: f64, variant: &str, stop: Stop, seed: u64) -> Setup {
    let mut tcpc = tcp::Config {
        variant: match variant { v if v.starts_with("vegas") => Variant::Vegas, "sack1" => Variant::Sack, "tahoe" => Variant::Tahoe, "reno" => Variant::Reno, _ => Variant::NewReno },
        window: 64,
        initial_window: InitialWindow::Segments(1),
        halving: Halving::Window,
        idle: IdleRule::Timer,
        rto: rto::Config { estimator: Estimator::Ticks, tick: Span::ms(10), min: Span::ms(200), max: Span::secs(60), initial: Span::secs(3) },
        ..Default::default()
    };
    tcpc.fast_recovery.grow_at_end = true; tcpc.fast_recovery.limit_at_end = false; tcpc.fast_recovery.burst = Some(2);
    tcpc.sack.rule = recovery::SackRule::Sack1;
    let v = &mut tcpc.vegas;
    (v.alpha, v.beta, v.gamma) = (2.0, 2.0, 2.0);
    v.bare_segments = true;
    for b in [&mut v.bug_send_time_sentinels, &mut v.bug_inflation_stays, &mut v.bug_backoff_on_fast_retransmit, &mut v.bug_timeout_when_idle, &mut v.bug_clearing_stops_at_wrap, &mut v.bug_base_rtt_grows, &mut v.bug_rounded_difference, &mut v.bug_mark_survives_timeout, &mut v.bug_restart_at_two] { *b = true; }
    let w = wlan::Config {
        data_rate: BitRate((rate * 1e6) as u64), header: Bytes(34), llc: Bytes(0),
        backoff_range: wlan::BackoffRange::Exclusive, first_access: wlan::FirstAccess::Backoff, backoff_clock: wlan::BackoffClock::Continuous,
        post_backoff_after_failure: false, eifs: wlan::EifsRule::Nav, captured_frame: wlan::CapturedFrame::Nav,
        response_timeout: wlan::ResponseTimeout::Fixed, cts: wlan::CtsRule::MediumIdle, data_needs_idle: true, boundary_slot: wlan::BoundarySlot::Rounded, nav_reset: false,
        duplicates: wlan::DuplicateRule::Sequence, airtime_rounding: wlan::AirtimeRounding::None, ..Default::default()
    };
    let a = aodv::Config {
        active_route_timeout: Span::secs(10), my_route_timeout: Span::secs(10), reverse_route_life: Span::secs(6), path_discovery_time: Span::secs(6),
        id_timer: Some(Span::secs(6)), node_traversal_time: Span::ms(30), net_diameter: if hops > 30 { 64 } else { 30 }, ttl_start: 5, rreq_retries: 3, rreq_ratelimit: None, rerr_ratelimit: None,
        request_wait: aodv::RequestWait::PerHop, max_request_wait: Some(Span::secs(10)), hold_off: Span::secs(10), first_ring: aodv::FirstRing::Network,
        sequence_numbers: aodv::SequenceRule::Even, refresh_source: false, route_timer: Some(Span::ms(500)), local_repair: aodv::RepairRule::CloserToDestination,
        repair_timer: aodv::RepairTimer::InstantAsDelay, repair_error: false, delete_period: None, release_spacing: Span::ms(10),
        rreq_bytes: Bytes(48), rrep_bytes: Bytes(44), rerr_bytes: Bytes(24), ..Default::default()
    };
    let udp = variant.starts_with("udp");
    let start = Time::ZERO + Span::secs(1);
    let app = if udp { Application::Cbr(cbr::Cbr::new(&cbr::Config { interval: Span::from_secs(variant[3..].parse::<f64>().unwrap_or(6.4) / 1e3), header: Bytes(20), ..Default::default() }, start)) } else { Application::Ftp(ftp::Ftp::new(&ftp::Config::default(), start)) };
    Setup {
        places: (0..=hops).map(|i| Position { x: 200.0 * f64::from(i), y: 0.0 }).collect(),
        radio: radio::Config { receive_threshold: Some(Watts(3.652e-10)), sense_threshold: Some(Watts(1.559e-11)), ..Default::default() },
        wlan: w,
        net: net::Config { link_delay: Span::us(25) },
        queue: queue::Config { limit: 50, limit_includes_arrival: true, ..Default::default() },
        arp: arp::Config { enabled: true, delay: Span::us(5), ..Default::default() },
        routing: routing::Config { aodv: a, ..Default::default() },
        flows: vec![FlowSetup { from: NodeId(0), to: NodeId(hops), transport: if udp { Transport::Udp } else { Transport::Tcp(Box::new(tcpc)) }, app, app_kind: app::Kind::Ftp, start, payload: Bytes(1460) }],
        seed, stop, limit: Time::ZERO + Span::secs(200_000), batches: 11, discard: 1, sample: None,
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let hops: u32 = args[1].parse().unwrap();
    let rate: f64 = args[2].parse().unwrap();
    let variant = &args[3];
    let n: u64 = args[4].parse().unwrap();
    let seeds: u64 = args.get(5).map_or(1, |s| s.parse().unwrap());
    let stop = if n > 0 { Stop::Delivered(n) } else { Stop::At(Time::ZERO + Span::secs(1000)) };
    for seed in 1..=seeds {
        let t = std::time::Instant::now();
        let mut sim = Sim::new(&ns2(hops, rate, variant, stop, seed));
        let end = sim.run();
        let wall = t.elapsed().as_secs_f64();
        let r = sim.recorder();
        let f = r.flows();
        let g = |n: &str| f.numbers(n).unwrap()[0];
        let net = r.network();
        let d = g("delivered_packets") / 1e4;
        println!("{end:?} t={:.1} goodput {:.2} kbit/s rexmit/10k {:.1} timeouts/10k {:.1} window {:.3} macdrop {:.3e} ff/10k {:.1} frames/s {:.1} ns/frame {:.1}",
            sim.now().as_secs(), g("goodput_bps") / 1e3, g("retransmissions") / d, g("timeouts") / d, g("mean_window_segments"),
            net.mac_given_up() as f64 / net.mac_packets() as f64, net.route_failures() as f64 / (r.delivered() as f64 / 1e4),
            net.frames() as f64 / sim.now().as_secs(), wall * 1e9 / net.frames() as f64);
        if std::env::var("V").is_ok() { println!("{net:?}\n{:?}", r.ledger()); }
    }
}
