//! Mobility: positions printed by ns-2, theory of random waypoint, movement files, and runs with moving nodes.

use chappe_core::mobility::formats::{self, Format};
use chappe_core::mobility::waypoint::Model;
use chappe_core::mobility::{Config, Courses, Kind, MobileNodes, Ns2, Plan, Start};
use chappe_core::packet::NodeId;
use chappe_core::sim::Sim;
use chappe_core::unit::{Meters, Position, Span, Speed, Time};
use chappe_scenario::{NoFiles, Scenario};

fn data(name: &str) -> String {
    let path = std::path::Path::new(crate::CORE).join("tests/data/motion").join(name);
    std::fs::read_to_string(path).expect("a file of the tests")
}

/// Reads a text that causes no warning.
fn read(text: &str) -> Result<Courses, String> {
    let mut warnings = vec![];
    let courses = formats::read(text, &mut warnings).map_err(|e| e.to_string())?;
    assert_eq!(warnings, Vec::<String>::new(), "{text}");
    Ok(courses)
}

fn write(courses: &Courses, format: Format, until: Time) -> String {
    formats::write(courses, format, until).expect("the format can express the movement")
}

fn seconds(s: f64) -> Time {
    Time((s * 1e9).round() as u64)
}

/// A plan with one profile for all nodes.
fn plan(nodes: usize, cfg: Config, seed: u64) -> Plan {
    Plan { profiles: vec![cfg], profile_of: vec![0; nodes], area: (Meters(1200.0), Meters(800.0)), seed }
}

fn random_waypoint(start: Start, min: f64, max: f64, pause: Span) -> Config {
    Config {
        model: Kind::RandomWaypoint,
        initial: start,
        min_speed: Speed(min),
        max_speed: Speed(max),
        pause,
        ..Config::default()
    }
}

fn follow(courses: &Courses) -> Plan {
    let cfg = Config { model: Kind::File, table: courses.clone(), ..Config::default() };
    plan(courses.nodes() as usize, cfg, 1)
}

/// The nodes of a plan.
fn mobile_nodes(plan: &Plan) -> MobileNodes {
    MobileNodes::new(plan, &vec![Position::default(); plan.profile_of.len()], plan.profile_of.len(), Meters(250.0))
}

/// Advances the nodes to an instant, deadline by deadline.
fn advance(mobile_nodes: &mut MobileNodes, at: Time) {
    while mobile_nodes.deadline() <= at {
        mobile_nodes.on_deadline(mobile_nodes.deadline(), |_, _, _| {});
    }
}

/// Positions of the nodes in ns-2: times, and all positions at each.
fn golden(name: &str) -> Vec<(Time, Vec<Position>)> {
    let row = |line: &str| {
        let numbers: Vec<f64> = line.split(',').map(|f| f.parse().expect("a number")).collect();
        let positions = numbers[1..].chunks_exact(2).map(|p| Position { x: p[0], y: p[1] }).collect();
        (seconds(numbers[0]), positions)
    };
    data(&format!("{name}.positions.csv")).lines().skip(1).map(row).collect()
}

#[test]
fn positions_are_those_of_ns2_to_a_micrometer() {
    for name in ["special", "waypoints_v1", "waypoints_v2", "commands"] {
        let courses = read(&data(&format!("{name}.mv"))).expect("a movement file");
        let mut mobile_nodes = mobile_nodes(&follow(&courses));
        let all = golden(name);
        assert_eq!(all.len(), 101);
        for (at, positions) in all {
            advance(&mut mobile_nodes, at);
            for (n, position) in (0..).zip(positions) {
                for ours in [mobile_nodes.position(NodeId(n), at), courses.position(n, at).expect("a node")] {
                    let wrong = ours.distance(position).0;
                    assert!(wrong < 1e-6, "{name}: node {n} at {at}: {ours:?} instead of {position:?}");
                }
            }
        }
    }
}

#[test]
fn every_form_of_file_can_be_written_and_read_again() {
    let end = Time::ZERO + Span::secs(500);
    for name in ["special.mv", "commands.mv", "waypoints_v1.mv", "waypoints_v2.mv", "motion_v10_s1.csv"] {
        let courses = read(&data(name)).expect("a movement file");
        for format in [Format::Setdest, Format::BonnMotion, Format::Csv] {
            let text = write(&courses, format, end);
            assert_eq!(formats::format_of(&text), format);
            let again = read(&text).unwrap_or_else(|e| panic!("{name}, {}: {e}\n{text}", format.word()));
            assert_eq!(again.nodes(), courses.nodes());
            for (n, s) in (0..courses.nodes()).flat_map(|n| (0..1500).map(move |i| (n, f64::from(i) / 3.0))) {
                let [a, b] = [&courses, &again].map(|c| c.position(n, seconds(s)).expect("a node"));
                // Positions of the CSV file are rounded to the millimeter, and ns-2's format has no jumps.
                let limit = if name.ends_with("csv") { 2e-3 } else { 1e-6 };
                assert!(a.distance(b).0 < limit, "{name}, {}: node {n} at {s} s: {a:?}, {b:?}", format.word());
            }
        }
    }
}

#[test]
fn courses_of_csv_survive_to_the_byte() {
    let text = write(&read(&data("waypoints_v2.mv")).expect("a file"), Format::Csv, Time::ZERO);
    let again = write(&read(&text).expect("a file"), Format::Csv, Time::ZERO);
    assert_eq!(text, again);
}

#[test]
fn errors_in_movement_files_name_their_line() {
    let header = "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps";
    for (text, said) in [
        ("$node_(0) set X_ 1.0\n", "node 0 has no `X_` or no `Y_`"),
        ("$node_(0) set X_ one\n", "line 1 has no coordinate"),
        ("$node_(i) set X_ 1\n", "line 1 names no node, as `$node_(0)` does"),
        ("$mobile(0) set X_ 1\n", "line 1 names no node, as `$node_(0)` does"),
        ("# $node_(0)\n$ns_ at 1.0 \"$node_(3) setdest 1 1 1\"\n", "line 2 moves node 3, which has no place"),
        ("$node_(0) set X_ 1\n$ns_ at 1.0 \"$node_(0) setdest 1 1\"\n", "line 2 is no `setdest` as ns-2 knows it"),
        ("$node_(0) set X_ 1\n$ns_ at 1 \"$node_(0) setdest 1 1 1 1\"\n", "line 2 is no `setdest` as ns-2 knows it"),
        ("$node_(0) set X_ 1\n$ns_ at 1 $node_(0) setdest 1 1 1\n", "line 2 is no `setdest` as ns-2 knows it"),
        ("$node_(0) set X_ 1\n$ns_ at -1 \"$node_(0) setdest 1 1 1\"\n", "line 2 has no time"),
        ("$node_(0) set X_ 1 2\n", "line 1 is no command of a movement file: `$node_(0) set X_ 1 2`"),
        ("$node_(0) random-motion 0\n", "line 1 is no command of a movement file: `$node_(0) random-motion 0`"),
        (
            "$node_(0) set X_ 1; $node_(0) set Y_ 1\n\nset val(nn) 3; # $node_(0)\n",
            "line 3 is no command of a movement file: `set val(nn) 3`",
        ),
        ("$node_(0) set X_ 1\n$ns_ at 1 \"$node_(0) set X_ 2\n\n", "line 2 has a `\"` without its end"),
        ("$ns_ at 1 \"$node_(0) set X_ 2; $node_(0) set Y_ 2\"", "node 0 has no place before 1 s"),
        (
            "$node_(0) set X_ 1; $node_(0) set Y_ 1\n$ns_ at 1 \"$node_(0) setdest 2 1 1\"\n\
             $ns_ at 9 \"$node_(0) set X_ 0\"\n",
            "line 3 sets a coordinate of node 0 after it has walked, from where ns-2 lets it go on towards its old \
             destination; a node that has walked can only walk (`setdest`)",
        ),
        ("0 1 1 5 2\n", "line 1 has 5 numbers, and a waypoint has three: time, x, y"),
        ("0 1 1\n5 2 2 4 1 1\n", "the times in line 2 go back"),
        ("0 1 1 5 2 x\n", "line 1 has something that is no waypoint"),
        ("0 0 0 1 900000 0\n", "line 1 has a node that goes faster than 10000 m/s"),
        (
            "time_s,node,x_m,y_m\n",
            "it has no column `dest_x_m`; its header is `time_s,node,x_m,y_m`; its columns are time_s, node, x_m, y_m, \
             dest_x_m, dest_y_m, speed_mps",
        ),
        (&format!("{header}\n0,0,1,1,2,2,-1\n"), "line 2 has nothing that fits in column `speed_mps`"),
        (&format!("{header},time_s\n0,0,1,1,2,2,1,5\n"), "line 1 has the column `time_s` twice"),
        (
            &format!("{header},z\n0,0,1,1,2,2,1,5\n"),
            "line 1 has a column `z`, which is not known here; movements have two dimensions",
        ),
        (&format!("{header}\n"), "it has no rows below its header"),
        ("", "it is empty"),
    ] {
        assert_eq!(read(text).expect_err("it is wrong"), said, "{text}");
    }
}

#[test]
fn three_dimensions_are_never_taken_for_two() {
    let flat = |text: &str| read(text).map(|c| c.all().len());
    for text in [
        // 3 n waypoints of four numbers, whose times do not go back as 4 n waypoints of three.
        "0 10 20 0 10 50 20 0 90 90 20 0\n0 10 60 0 10 50 60 0 90 90 60 0\n",
        "#3D\n0 10 20 0 10 50 20 0 90 90 20 0\n0 10 60 0 10 50 60 0 90 90 60 0\n",
        "# BonnMotion 3d\n0 10 20 30 10 90\n",
        "0 10 20 5 10 50 20 5 20 90 20 5\n0 10 60 5 10 10 60 5 20 10 60 5\n",
        "0 10 20 5\n0 10 60 5\n",
        "0 10 20 5 10 50 20 5\n0 10 60 5\n",
    ] {
        let said = flat(text).expect_err("it may have three dimensions");
        assert!(said.contains("three dimensions"), "{text}{said}");
    }
    assert_eq!(flat("#2D\n0 10 20 0 10 50 20 0 90 90 20 0\n"), Ok(3));
    assert_eq!(flat("0 10 20 5 10 50 20 5 20 90 20 5\n"), Err("its waypoints may have two dimensions (time, x, y) or three (time, x, y, z), for times never go back either way; \
             begin it with a line `#2D` if they have two; of waypoints in three dimensions leave the fourth number of each \
             out, the height".to_owned()));
    // One line that cannot have three is enough.
    assert_eq!(flat("0 10 20 0 10 50 20 0 90 90 20 0\n0 10 60\n"), Ok(4));
    // Files written by Chappe cause no warning.
    let text = "#2D\n0 10 20 5 10 50 20 15 20 90 20 16\n";
    let courses = read(text).expect("it has two dimensions");
    let again = write(&courses, Format::BonnMotion, seconds(20.0));
    assert_eq!(read(&again).map(|c| c.start(0)), Ok(courses.start(0)), "{again}");
}

#[test]
fn heights_are_told_to_have_no_effect() {
    let mut warnings = vec![];
    let text = "$node_(0) set X_ 1; $node_(0) set Y_ 1\n$node_(0) set Z_ 2.5\n$node_(0) set Z_ 3\n";
    formats::read(text, &mut warnings).expect("it can be read");
    assert_eq!(warnings, ["line 2 sets node 0 2.5 m high (`Z_`), which has no effect, and 1 height more"]);
}

#[test]
fn a_jump_after_a_walk_has_no_form_in_ns2() {
    let csv = |rows: &str| read(&format!("time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n{rows}")).expect("a file");
    let form = |courses: &Courses| formats::write(courses, Format::Setdest, seconds(100.0));
    let rests = csv("0,0,1,1,1,1,0\n5,0,9,9,9,9,0\n7,0,20,9,30,9,1\n40,0,30,9,30,9,0\n");
    let text = form(&rests).expect("it has not walked before");
    let again = read(&text).expect("it is right");
    for s in [0.0, 4.0, 6.0, 8.0, 16.0, 50.0] {
        assert_eq!(again.position(0, seconds(s)), rests.position(0, seconds(s)), "{text}");
    }
    let moves = csv("0,0,1,1,2,1,1\n5,0,9,9,9,9,0\n");
    assert_eq!(
        form(&moves).expect_err("it has walked"),
        "node 0 jumps at 5 s, and movement files of ns-2 have no jumps after a walk"
    );
}

/// Speeds and positions of all nodes at an instant.
fn snapshot(plan: &Plan, at: f64) -> (Vec<f64>, Vec<Position>) {
    let at = seconds(at);
    let mut mobile_nodes = mobile_nodes(plan);
    advance(&mut mobile_nodes, at);
    let all = || (0..plan.profile_of.len() as u32).map(NodeId);
    (all().map(|n| mobile_nodes.segment(n).speed.0).collect(), all().map(|n| mobile_nodes.position(n, at)).collect())
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

/// Largest distance between the distributions of two samples, and the value that it exceeds with a probability of 0.001
/// if both are drawn from one distribution (Kolmogorov and Smirnov).
fn smirnov(mut a: Vec<f64>, mut b: Vec<f64>) -> (f64, f64) {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let below = |all: &[f64], x: f64| all.partition_point(|&y| y <= x) as f64 / all.len() as f64;
    let largest = a.iter().chain(&b).map(|&x| (below(&a, x) - below(&b, x)).abs()).fold(0.0, f64::max);
    let (n, m) = (a.len() as f64, b.len() as f64);
    (largest, 1.95 * ((n + m) / (n * m)).sqrt())
}

const MANY: usize = 8000;

#[test]
fn stationary_start_keeps_its_distribution() {
    let plan = plan(MANY, random_waypoint(Start::Stationary, 0.5, 20.0, Span::secs(20)), 11);
    let (speeds, positions) = snapshot(&plan, 0.0);
    let (later, then) = snapshot(&plan, 1000.0);
    let compare = |what: &str, a: Vec<f64>, b: Vec<f64>| {
        let (distance, limit) = smirnov(a, b);
        assert!(distance < limit, "{what}: {distance} of {limit}");
    };
    let of = |positions: &[Position], f: fn(&Position) -> f64| positions.iter().map(f).collect::<Vec<f64>>();
    compare("x", of(&positions, |p| p.x), of(&then, |p| p.x));
    compare("y", of(&positions, |p| p.y), of(&then, |p| p.y));
    let middle = |p: &Position| (p.x - 600.0).hypot(p.y - 400.0);
    compare("distance from the middle", of(&positions, middle), of(&then, middle));
    compare("speed", speeds.clone(), later);
    // Moving nodes have the mean speed of the formula, and the share that pauses is that of the times.
    let model = Model::new(&plan.profiles[0], plan.area);
    let moving: Vec<f64> = speeds.iter().copied().filter(|&v| v > 0.0).collect();
    let variance = moving.iter().map(|v| (v - mean(&moving)).powi(2)).sum::<f64>() / moving.len() as f64;
    let four_errors = 4.0 * (variance / moving.len() as f64).sqrt();
    assert!((mean(&moving) - model.mean_speed()).abs() < four_errors, "{}", mean(&moving));
    let (share, expected) = (1.0 - moving.len() as f64 / MANY as f64, model.share_of_pauses());
    assert!((share - expected).abs() < 4.0 * (expected * (1.0 - expected) / MANY as f64).sqrt(), "{share}, {expected}");
}

#[test]
fn a_classic_start_slows_down_to_the_stationary_speed() {
    let cfg = random_waypoint(Start::Uniform, 1.0, 20.0, Span::ZERO);
    let classic = plan(MANY, cfg, 12);
    let model = Model::new(&classic.profiles[0], classic.area);
    let [first, last] = [1e-9, 2000.0].map(|at| mean(&snapshot(&classic, at).0));
    // The standard deviation of the first speeds is 5.5 m/s, of the last ones less.
    let four_errors = 4.0 * 5.5 / (MANY as f64).sqrt();
    assert!((first - 10.5).abs() < four_errors, "{first} m/s at the beginning");
    assert!((last - model.mean_speed()).abs() < four_errors, "{last} m/s, {} expected", model.mean_speed());
    assert!((model.mean_speed() - 6.34).abs() < 0.005);
    // With a minimum speed of 0 the mean speed falls without end.
    let decays = plan(MANY, random_waypoint(Start::Uniform, 0.0, 20.0, Span::ZERO), 13);
    let means = [1e-9, 100.0, 1000.0, 10_000.0].map(|at| mean(&snapshot(&decays, at).0));
    assert!(means.windows(2).all(|w| w[1] < w[0] - four_errors), "{means:?}");
}

/// Density of moving nodes in the unit square in the stationary state, at (x, y): the integral over all directions of
/// the segments through this point. A segment through the point at angle a, with lengths r and s to the border on
/// both sides, contributes r s (r + s) / 2 (Navidi and Camp 2004; Bettstetter, Resta and Santi 2003).
fn density(x: f64, y: f64) -> f64 {
    let steps = 720;
    let to_border = |c: f64, s: f64| {
        let along = |p: f64, d: f64| {
            if d > 0.0 {
                (1.0 - p) / d
            } else if d < 0.0 {
                -p / d
            } else {
                f64::INFINITY
            }
        };
        along(x, c).min(along(y, s))
    };
    let step = std::f64::consts::PI / f64::from(steps);
    let sum: f64 = (0..steps)
        .map(|i| {
            let (s, c) = ((f64::from(i) + 0.5) * step).sin_cos();
            let (r, q) = (to_border(c, s), to_border(-c, -s));
            r * q * (r + q) * step
        })
        .sum();
    // Mean length of a segment in the unit square.
    sum / 0.521_405_433
}

#[test]
fn density_of_moving_nodes_matches_theory() {
    // In one dimension the density is 6 x (1 - x): of a strip that is hardly high.
    let strip = Config {
        width: Some(Meters(1000.0)),
        height: Some(Meters(1.0)),
        ..random_waypoint(Start::Stationary, 5.0, 5.0, Span::ZERO)
    };
    let square = Config { height: Some(Meters(1000.0)), ..strip.clone() };
    let tenths = 10;
    let check = |what: &str, counts: &[usize], expected: &[f64]| {
        let all = counts.iter().sum::<usize>() as f64;
        let chi: f64 = counts.iter().zip(expected).map(|(&n, p)| (n as f64 - all * p).powi(2) / (all * p)).sum();
        // The 99.9 % point of chi-square, as Wilson and Hilferty approximate it.
        let f = counts.len() as f64 - 1.0;
        let limit = f * (1.0 - 2.0 / (9.0 * f) + 3.09 * (2.0 / (9.0 * f)).sqrt()).powi(3);
        assert!(chi < limit, "{what}: {chi} of {limit}");
    };
    for (start, at) in [(Start::Stationary, 0.0), (Start::Stationary, 700.0), (Start::Uniform, 5000.0)] {
        let (_, positions) = snapshot(&plan(MANY, Config { initial: start, ..strip.clone() }, 14), at);
        let mut counts = vec![0; tenths];
        positions.iter().for_each(|p| counts[(p.x / 100.0) as usize] += 1);
        let share = |x: f64| x * x * (3.0 - 2.0 * x);
        let expected: Vec<f64> = (0..10).map(|i| share(f64::from(i + 1) / 10.0) - share(f64::from(i) / 10.0)).collect();
        check("strip", &counts, &expected);

        let (_, positions) = snapshot(&plan(MANY, Config { initial: start, ..square.clone() }, 15), at);
        let mut counts = vec![0; 25];
        positions.iter().for_each(|p| counts[(p.x / 200.0) as usize + 5 * (p.y / 200.0) as usize] += 1);
        let cell = |i: u32| {
            let points = (0..100).map(|k| (f64::from(k % 10) + 0.5, f64::from(k / 10) + 0.5));
            let at =
                |(x, y): (f64, f64)| density((f64::from(i % 5) + x / 10.0) / 5.0, (f64::from(i / 5) + y / 10.0) / 5.0);
            points.map(at).sum::<f64>() / 100.0 / 25.0
        };
        let expected: Vec<f64> = (0..25).map(cell).collect();
        assert!((expected.iter().sum::<f64>() - 1.0).abs() < 2e-3, "{}", expected.iter().sum::<f64>());
        check("square", &counts, &expected);
    }
    // The polynomial that is often taken for it: 2.25 times the mean in the middle, and none at the border.
    assert!((density(0.5, 0.5) / 2.25 - 1.0).abs() < 0.05, "{}", density(0.5, 0.5));
    assert!(density(0.5, 0.001) < 0.05);
}

#[test]
fn all_nodes_in_range_are_listed() {
    let cfg = random_waypoint(Start::Stationary, 1.0, 40.0, Span::secs(3));
    let nodes = 300;
    let plan = Plan { area: (Meters(3000.0), Meters(2000.0)), ..plan(nodes, cfg, 3) };
    let mut mobile_nodes = MobileNodes::new(&plan, &vec![Position::default(); nodes], nodes, Meters(250.0));
    let mut listed = 0;
    for step in 0..4000_u64 {
        let at = Time(step * 37_000_000);
        advance(&mut mobile_nodes, at);
        let n = NodeId((step * 7 % nodes as u64) as u32);
        if step == 1000 {
            mobile_nodes.put(NodeId(5), Position { x: -900.0, y: 9000.0 }, at);
            mobile_nodes.send(NodeId(9), Position { x: 3000.0, y: 1000.0 }, Speed(500.0), at);
        }
        mobile_nodes.look_around(n, chappe_core::packet::RadioId(n.0), at);
        let candidates: Vec<u32> = mobile_nodes.near(n, at).map(|m| m.0.0).collect();
        assert!(candidates.windows(2).all(|w| w[0] < w[1]));
        let position = mobile_nodes.position(n, at);
        for m in (0..nodes as u32).filter(|&m| m != n.0) {
            let distance = mobile_nodes.position(NodeId(m), at).distance(position).0;
            assert!(distance > 250.0 || candidates.binary_search(&m).is_ok(), "{distance} m at {at}");
        }
        listed += candidates.len();
    }
    assert!(listed < 4000 * 40, "{listed}");
}

#[test]
fn no_search_while_no_near_node_moves() {
    // Nodes 0 and 1 rest near each other; node 2 moves far away, and comes near from 8 s on.
    let text = "0 0 0\n0 100 0\n0 5000 0 10 5000 0 20 100 100\n";
    let mut mobile_nodes = mobile_nodes(&follow(&read(text).expect("a file")));
    let mut asked = vec![];
    for s in 0..40 {
        let at = seconds(f64::from(s));
        advance(&mut mobile_nodes, at);
        if mobile_nodes.look_around(NodeId(0), chappe_core::packet::RadioId(0), at) {
            asked.push(s);
        }
    }
    // Node 2 comes near within the last second of its movement, then rests.
    assert_eq!(asked, [0, 20]);
}

#[test]
fn recorded_positions_have_a_limited_age() {
    // Node 1 goes away from node 0 at 25 m/s and is 555 m away at 10 s.
    let text = "0 0 0\n0 305 0 20 805 0\n";
    let courses = read(text).expect("a file");
    let candidates = |known_for: Span, times: &[f64]| {
        let ns2 = Ns2 { neighbor_list_interval: known_for, ..Ns2::default() };
        let cfg = Config { model: Kind::File, table: courses.clone(), ns2, ..Config::default() };
        let mut mobile_nodes = MobileNodes::new(&plan(2, cfg, 1), &[Position::default(); 2], 2, Meters(550.0));
        times
            .iter()
            .map(|&s| {
                advance(&mut mobile_nodes, seconds(s));
                mobile_nodes.look_around(NodeId(0), chappe_core::packet::RadioId(0), seconds(s));
                mobile_nodes.near(NodeId(0), seconds(s)).filter(|m| m.2).count()
            })
            .collect::<Vec<_>>()
    };
    let times = [9.5, 9.9, 10.1, 10.4, 10.6, 12.0];
    // Exact: within 551 m and a tenth.
    assert_eq!(candidates(Span::ZERO, &times), [1, 1, 1, 1, 1, 1]);
    // A queried node is then known exactly: at 10.1 s its position of 9.9 s is used, and it is found beyond the range.
    assert_eq!(candidates(Span::secs(1), &times), [1, 1, 1, 0, 0, 0]);
    assert_eq!(candidates(Span::secs(1), &[0.0, 10.4, 11.5]), [1, 1, 0], "known of 10.0 s, then of 11.4 s");
    assert_eq!(candidates(Span::secs(1), &[0.0, 11.5]), [1, 0]);
}

/// All tables of a run, and the numbers of rows of the recorded ones.
fn results(text: &str, seed: u64) -> String {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    let recorded: Vec<String> = sim.tables().map(|(table, rows)| format!("{table:?} {}", rows.len())).collect();
    let r = sim.into_recorder();
    format!("{:?}\n{:?}\n{:?}\n{:?}\n{recorded:?}", r.flows(), r.nodes(), r.packet_outcomes(), r.airtime())
}

#[test]
fn still_nodes_equal_nodes_that_cannot_move() {
    for preset in ["standard", "ns2-2.35"] {
        for (topology, more) in [
            ("{ kind = \"grid\", rows = 3, columns = 3, spacing = \"250 m\" }", ""),
            ("{ kind = \"random\", nodes = 30, width = \"900 m\", height = \"900 m\" }", "run.airtime = true\n"),
            (
                "{ kind = \"list\", positions = [[\"0 m\", \"0 m\"], [\"190 m\", \"0 m\"], [\"333 m\", \"100 m\"]] }",
                "radio.channels = [1, 6]\nradio.sensitivity = [{ rate = \"11 Mbit/s\", range = \"180 m\" }]\n",
            ),
        ] {
            let still = format!(
                "extends = \"{preset}\"\nrun.stop = \"5 s\"\nrun.batches = 2\n{more}topology = {topology}\n\
                 flow = [{{ src = 0, dst = 2 }}, {{ src = 2, dst = 1 }}]\n"
            );
            // Nodes are placed at their own positions, so that candidates are searched at each frame.
            let put = "event = [{ at = \"0 s\", action = \"node_move\", node = 0, position = [\"0 m\", \"0 m\"] }]\n";
            let put = if topology.contains("random") {
                let scenario = Scenario::from_toml("test", &still, &[], &NoFiles).expect("a good scenario");
                let p = scenario.layout().positions[0];
                put.replace("[\"0 m\", \"0 m\"]", &format!("[\"{} m\", \"{} m\"]", p.x, p.y))
            } else {
                put.to_owned()
            };
            assert_eq!(results(&still, 1), results(&format!("{still}{put}"), 1), "{preset}, {topology}");
        }
    }
}

const RANDOM_WAYPOINT: &str = r#"
    run = { stop = "30 s", batches = 2, record = ["positions"] }
    topology = { kind = "random", nodes = 20, width = "900 m", height = "600 m" }
    mobility.model = "random_waypoint"
    mobility.min_speed = "5 m/s"
    mobility.max_speed = "25 m/s"
    mobility.pause = "1 s"
    flow = [{ src = 0, dst = 1 }, { src = 2, dst = 3 }, { src = 4, dst = 5 }]
"#;

/// The rows of the table of positions.
fn segments(text: &str, seed: u64) -> String {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    let (_, rows) = sim.tables().next().expect("a table");
    format!("{:?}", rows.values())
}

#[test]
fn movement_depends_on_the_seed_alone() {
    let once = segments(RANDOM_WAYPOINT, 7);
    assert_eq!(once, segments(RANDOM_WAYPOINT, 7));
    assert_ne!(once, segments(RANDOM_WAYPOINT, 8));
    assert_eq!(once, segments(&format!("{RANDOM_WAYPOINT}\ntcp.variant = \"vegas\"\nrouting.protocol = \"dsr\""), 7));
    let paired = format!("{RANDOM_WAYPOINT}\nmobility.seed = 7");
    assert_eq!(segments(&paired, 1), segments(&paired, 2));
    assert_eq!(segments(&paired, 1), once);
    assert_ne!(results(&paired, 1), results(&paired, 2), "everything else goes by the seed of the run");
    assert_eq!(results(&paired, 1), results(&paired, 1));
}

#[test]
fn a_link_lasts_as_long_as_the_nodes_are_near() {
    // Node 1 moves away from node 0 at 10 m/s, and is 250 m away 10 s after its start.
    let text = r#"
        run = { stop = "30 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 1, spacing = "150 m" }
        routing.protocol = "shortest_path"
        flow = [{ src = 0, dst = 1, app = "cbr", cbr = { interval = "10 ms", payload = "100 B" } }]
        event = [{ at = "5 s", action = "node_move", node = 1, destination = ["1000 m", "0 m"], speed = "10 m/s" }]
    "#;
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).expect("a good scenario");
    let mut sim = Sim::new(&scenario.setup(None));
    let mut delivered = |at: u64| {
        sim.until(Time::ZERO + Span::ms(at));
        sim.recorder().delivered()
    };
    let [before, at_the_border, after, later] = [14_900, 15_000, 15_100, 29_000].map(&mut delivered);
    assert!((1485..=1491).contains(&before), "{before}");
    assert!((1495..=1501).contains(&at_the_border), "{at_the_border}");
    assert!(after <= at_the_border + 1, "{after}");
    assert_eq!(later, after);
}

/// Two nodes send to each other, and one of them moves along the line between them from 5 s on. In ns-2.35 no RTS fails
/// while they approach (0 and 0 in 50 s), and 632 and 593 fail while they part; 582 and 608 with fixed nodes.
#[test]
fn approaching_sender_wins_ties_with_a_slot() {
    let failed = |to: &str, ties: bool| {
        let text = format!(
            "extends = \"ns2-2.35\"\nrun = {{ stop = \"60 s\", batches = 6, warmup_batches = 1 }}\n\
             topology = {{ kind = \"list\", positions = [[\"0 m\", \"0 m\"], [\"100 m\", \"0 m\"]] }}\n\
             routing.protocol = \"shortest_path\"\nmobility.ns2.decides_ties = {ties}\n\
             wlan = {{ data_rate = \"2 Mbit/s\", basic_rate = \"1 Mbit/s\", rts_threshold = \"always\" }}\n\
             queue.discipline = \"droptail\"\ncbr = {{ interval = \"4 ms\", payload = \"1000 B\", header_size = \"0 B\" }}\n\
             flow = [{{ src = 0, dst = 1, app = \"cbr\" }}, {{ src = 1, dst = 0, app = \"cbr\" }}]\n\
             event = [{{ at = \"5 s\", action = \"node_move\", node = 0, destination = [\"{to} m\", \"0 m\"], speed = \"1 m/s\" }}]"
        );
        let scenario = Scenario::from_toml("ties", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(Some(1)));
        sim.run();
        let batches = sim.recorder().batches();
        batches.counts("rts_frames_failed").expect("a column")[1..].iter().sum::<u64>()
    };
    assert_eq!(failed("60", true), 0, "they come closer");
    for (to, ties) in [("-60", true), ("60", false), ("-60", false)] {
        let n = failed(to, ties);
        assert!((500..700).contains(&n), "{to} m, {ties}: {n}");
    }
}
