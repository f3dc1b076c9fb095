//! Recognition of files of other programs, and of the simulator's own tables, where another file is expected; gives
//! advice for each.

use super::csv::{Misread, lines};
use super::report::count;

/// Expected content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Positions of nodes.
    Positions,
    /// Flows.
    Flows,
    /// Received powers or path losses of links.
    Links,
    /// Movements of nodes.
    Movements,
    /// Error rates of frames or bits.
    ErrorRates,
}

/// Columns of a table of movements.
pub const MOVEMENT_COLUMNS: [&str; 7] = ["time_s", "node", "x_m", "y_m", "dest_x_m", "dest_y_m", "speed_mps"];

impl Wanted {
    const ALL: [Wanted; 5] = [Wanted::Positions, Wanted::Flows, Wanted::Links, Wanted::Movements, Wanted::ErrorRates];

    /// Required columns.
    pub(super) fn needed(self) -> &'static [&'static str] {
        match self {
            Wanted::Positions => &["x_m", "y_m"],
            Wanted::Flows => &["src", "dst"],
            Wanted::Links => &["src", "dst"],
            Wanted::Movements => &MOVEMENT_COLUMNS,
            Wanted::ErrorRates => &["mcs", "snr_db"],
        }
    }

    /// Optional columns.
    pub(super) fn others(self) -> &'static [&'static str] {
        match self {
            Wanted::Positions => &["node", "name"],
            Wanted::Flows => &["flow", "started_at_s", "min_hops"],
            Wanted::Links => &[
                "signal_dbm",
                "loss_db",
                "rate_bps",
                "sd_db",
                "frame_loss",
                "frame_loss_bps",
                "bitrate_bps",
                "retry_share",
                "expected_throughput_bps",
            ],
            Wanted::Movements => &[],
            Wanted::ErrorRates => &["bytes", "frame_error_rate", "bit_error_rate"],
        }
    }

    /// Content of a table with these columns.
    fn of(header: &[&str]) -> Option<Wanted> {
        let has = |c: &&str| header.contains(c);
        Wanted::ALL.into_iter().find(|w| {
            let known = |c: &&str| w.needed().contains(c) || w.others().contains(c);
            let is_whole = *w != Wanted::Links || ["signal_dbm", "loss_db", "frame_loss"].iter().any(has);
            is_whole && header.iter().all(known) && w.needed().iter().all(has)
        })
    }

    /// Name of the content, and setting that names such a file.
    fn named(self) -> (&'static str, &'static str) {
        match self {
            Wanted::Positions => ("places", "`topology.file`, with `topology.kind = \"file\"`"),
            Wanted::Flows => ("flows", "`traffic.file`"),
            Wanted::Links => ("links", "`radio.links_file`, with `radio.propagation = \"links\"`"),
            Wanted::Movements => ("ways", NAME_MOTION),
            Wanted::ErrorRates => ("error rates", "`radio.sinr.error_rates_file`, with `radio.reception = \"sinr\"`"),
        }
    }

    /// Accepted formats.
    fn expected(self) -> &'static str {
        match self {
            Wanted::Positions => "write a CSV file with the columns x_m, y_m: one node per line",
            Wanted::Flows => {
                "write a CSV file with the columns src, dst, and started_at_s if you like: one flow per line"
            }
            Wanted::Links => {
                "write a CSV file with the columns src, dst, and signal_dbm, loss_db or frame_loss: one direction per line"
            }
            Wanted::Movements => {
                "give a movement file of ns-2, a `.movements` file of BonnMotion, or CSV with the columns time_s, \
                 node, x_m, y_m, dest_x_m, dest_y_m, speed_mps"
            }
            Wanted::ErrorRates => {
                "write a CSV file with the columns mcs, snr_db, bytes, frame_error_rate: one ratio per line"
            }
        }
    }
}

/// Setting that names a movement file.
const NAME_MOTION: &str = "`mobility.file`, with `mobility.model = \"file\"` and `topology.kind = \"motion\"`";

/// Recognizes a file of another program or with another content.
pub fn recognized(text: &str, wanted: Wanted) -> Option<Misread> {
    let first = lines(text).next().map_or("", |l| l.0);
    let (what, help) = if is_json(first) {
        json(text, wanted)
    } else if first.starts_with('<') {
        xml(text, wanted)
    } else if is_tcl(text, first) {
        tcl(text, wanted)?
    } else if wanted == Wanted::Movements
        && let Some((what, help)) = samples(text)
    {
        return Some(Misread { why: what.to_owned(), help: Some(format!("{help}; else {}", wanted.expected())) });
    } else if first.starts_with("Table: ") {
        ("it is a table of olsrd (txtinfo), which is not read", (wanted == Wanted::Links).then(|| COSTS.to_owned()))
    } else {
        return table(first, wanted).map(|(why, help)| Misread { why, help: Some(help) });
    };
    Some(Misread { why: what.to_owned(), help: Some(help.unwrap_or_else(|| wanted.expected().to_owned())) })
}

/// Recognizes a table with another separator, without column names, or with other columns.
fn table(first: &str, wanted: Wanted) -> Option<(String, String)> {
    if first.contains(';') && !first.contains(',') {
        let help = "separate them by commas, and write decimals with a point";
        return Some(("its columns are separated by semicolons".to_owned(), help.to_owned()));
    }
    let (by_commas, by_blanks) = (first.contains(','), first.split_whitespace().collect::<Vec<_>>());
    let numbers = |fields: &[&str]| fields.len() > 1 && fields.iter().all(|f| f.parse::<f64>().is_ok());
    let names_columns = by_blanks.iter().any(|f| wanted.needed().contains(f));
    let is_columns = !by_commas && by_blanks.len() > 1 && names_columns;
    if is_columns || (first.contains('\t') && !by_commas && wanted != Wanted::Movements) {
        let by = if first.contains('\t') { "tabs" } else { "blanks" };
        return Some((format!("its columns are separated by {by}"), "separate them by commas".to_owned()));
    }
    if !by_commas && numbers(&by_blanks) && wanted != Wanted::Movements {
        let help = wanted.expected();
        return Some(if by_blanks.len() % 3 == 0 {
            let help = format!("name a movement file as {NAME_MOTION}; else {help}");
            ("its numbers are separated by blanks, as in a `.movements` file of BonnMotion".to_owned(), help)
        } else {
            ("its numbers are separated by blanks".to_owned(), help.to_owned())
        });
    }
    let fields: Vec<&str> = super::csv::fields(first).collect();
    if by_commas && numbers(&fields) {
        let help = format!("{}, with a first line that names them", wanted.expected());
        return Some(("its first line has numbers, and not the names of its columns".to_owned(), help));
    }
    let other = Wanted::of(&fields).filter(|&w| w != wanted)?;
    let (what, setting) = other.named();
    Some((format!("it is a table of {what}"), format!("name it as {setting}; here {}", wanted.expected())))
}

/// Returns true if a text that begins with this line may be JSON: groups of other files have names in brackets.
fn is_json(first: &str) -> bool {
    let list = |rest: &str| rest.trim_start().starts_with(|c: char| "[{\"-]".contains(c) || c.is_ascii_digit());
    first.starts_with('{') || first.strip_prefix('[').is_some_and(|rest| rest.is_empty() || list(rest))
}

/// Returns true if a text that begins with this line is a script of Tcl; other scripts contain `set`, too.
fn is_tcl(text: &str, first: &str) -> bool {
    let uses_tcl = || text.contains('$') || text.contains('[');
    let sets_entry = first.strip_prefix("set ").and_then(|rest| rest.split_whitespace().next()?.strip_suffix(')'));
    first.starts_with('$')
        || sets_entry.is_some_and(|name| name.contains('('))
        || ((first.starts_with("set ") || is_control(first)) && uses_tcl())
}

/// Returns true if a line begins with a command of Tcl that repeats, chooses or names other commands.
fn is_control(line: &str) -> bool {
    let word = line.split([' ', '\t', '{']).next().unwrap_or("");
    ["for", "foreach", "while", "if", "proc", "source", "global", "incr", "array", "puts", "expr"].contains(&word)
}

/// Recognizes tables of samples at each instant, whereas a `.movements` file has a line for each node.
fn samples(text: &str) -> Option<(&'static str, &'static str)> {
    const ONE_LINE: &str = "write the waypoints of each node into one line of its own, from the first to the last";
    let says_2d = |l: &str| l.trim().strip_prefix('#').is_some_and(|c| c.trim().eq_ignore_ascii_case("2d"));
    if text.contains(',') || text.lines().any(says_2d) {
        return None;
    }
    let mut rows: Vec<Vec<&str>> = lines(text).map(|l| l.0.split_whitespace().collect()).collect();
    let is_one = is_trace_of_the_one(&rows);
    if is_one {
        rows.remove(0);
    }
    let width = rows.first()?.len();
    if !(3..=5).contains(&width) || rows.len() < 2 || rows.iter().any(|row| row.len() != width) {
        return None;
    }
    let (first, second) = (numbers(&rows, 0), numbers(&rows, 1));
    let names = |ids: &[f64]| ids.iter().all(|id| id.fract() == 0.0 && *id >= 0.0);
    // Each node is there several times, at later and later instants.
    let by_node = |ids: &[f64], times: &[f64]| {
        let of_same = || ids.windows(2).zip(times.windows(2)).filter(|(id, _)| id[0] == id[1]);
        of_same().count() > 0 && of_same().all(|(_, at)| at[0] < at[1])
    };
    let said = match (first, second) {
        _ if is_one => "it is a trace of The ONE, which has a time, a node and its place in each line",
        (Some(at), None) if width > 3 && at.is_sorted() => "it has a time, a node and its place in each line",
        (Some(at), Some(ids)) if width > 3 && at.is_sorted() && names(&ids) && ids.windows(2).any(|w| w[0] != w[1]) => {
            "it has a time, a node and its place in each line"
        }
        (Some(ids), Some(at)) if width > 3 && names(&ids) && by_node(&ids, &at) => {
            "it has a node, a time and its place in each line"
        }
        (Some(at), _) if at.is_sorted() && at[0] < at[at.len() - 1] => {
            let help =
                "write all waypoints into one line; if these are nodes that stand still, begin with a line `#2D`";
            return Some(("it is the track of one node: each line is an instant, with a time and a place", help));
        }
        _ => return None,
    };
    Some((said, ONE_LINE))
}

/// Numbers of a column of rows.
fn numbers(rows: &[Vec<&str>], column: usize) -> Option<Vec<f64>> {
    rows.iter().map(|row| row.get(column)?.parse().ok()).collect()
}

/// Returns true if rows begin with the bounds of time and place, as traces of The ONE do, and go on with times, nodes
/// and places.
fn is_trace_of_the_one(rows: &[Vec<&str>]) -> bool {
    let [bounds, rest @ ..] = rows else { return false };
    let ends: Option<Vec<f64>> = bounds.iter().map(|field| field.parse().ok()).collect();
    let are_bounds = ends.is_some_and(|n| matches!(n.len(), 6 | 8) && n.chunks(2).all(|pair| pair[0] <= pair[1]));
    let grows = || numbers(rest, 0).is_some_and(|at| at.is_sorted() && at[0] < at[at.len() - 1]);
    are_bounds && rest.first().is_some_and(|row| row.len() == bounds.len() / 2 + 1 || (row.len() == 4 && grows()))
}

/// Advice on link costs.
const COSTS: &str = "it has links and their costs, which do not tell how strong a signal arrives; number its nodes \
                     from 0, and write what was measured as a CSV file with the columns src, dst, and signal_dbm or \
                     loss_db";

fn json(text: &str, wanted: Wanted) -> (&'static str, Option<String>) {
    if text.contains("\"NetworkGraph\"") || text.contains("\"NetworkCollection\"") {
        let help = match wanted {
            Wanted::Positions => format!("it has links and their costs, but no places; {}", wanted.expected()),
            Wanted::Links => COSTS.to_owned(),
            Wanted::Flows | Wanted::Movements | Wanted::ErrorRates => {
                format!("it has links and their costs only; {}", wanted.expected())
            }
        };
        return ("it is NetJSON, which is not read", Some(help));
    }
    if text.contains("\"FeatureCollection\"") {
        let help = "project its degrees to meters, and write a CSV file with the columns x_m, y_m";
        return ("it is GeoJSON, which is not read", (wanted == Wanted::Positions).then(|| help.to_owned()));
    }
    ("it is JSON, which is not read", None)
}

fn xml(text: &str, wanted: Wanted) -> (&'static str, Option<String>) {
    let sumo = text.contains("<fcd-export") || text.contains("<routes");
    let help = "SUMO's traceExporter.py writes a movement file of ns-2 from it (--ns2mobility-output), which is read";
    match (sumo, wanted) {
        (true, Wanted::Movements) => ("it is a trace of SUMO, which is not read", Some(help.to_owned())),
        _ => ("it is XML, which is not read", None),
    }
}

/// Scripts of ns-2; movement files are valid where movements are expected.
fn tcl(text: &str, wanted: Wanted) -> Option<(&'static str, Option<String>)> {
    let lines = || lines(text).map(|l| l.0);
    let joins = |l: &&str| l.split_whitespace().nth(1) == Some("connect") || l.contains("create-connection ");
    let connections = lines().filter(joins).count() as u64;
    if connections > 0 || text.contains("attach-agent") {
        let app = if text.contains("Application/Traffic/CBR") {
            ", and set `traffic.app = \"cbr\"`, `cbr.payload` (packetSize_) and `cbr.interval` (interval_); intervals \
             are not random here (random_)"
        } else if text.contains("FTP") {
            ", and set `tcp.mss` (packetSize_) and `tcp.receive_window` (window_)"
        } else {
            ""
        };
        let its = if connections > 0 { count(connections, "connection") } else { "connections".to_owned() };
        let help = format!(
            "write its {its} as a CSV file with the columns src, dst, started_at_s, which `traffic.file` names{app}"
        );
        return Some(("it is a script of ns-2 with traffic, as cbrgen writes it, which is not read", Some(help)));
    }
    if wanted == Wanted::Movements {
        let begins = lines().next().is_some_and(|l| l.starts_with("set ") && !l.starts_with("set god_"));
        let computes = begins || lines().any(is_control);
        let help = "run it in Tcl, and write down the commands that it gives, such as `$node_(0) set X_ 5` and `$ns_ at \
                    10 \"$node_(0) setdest 50 5 2\"`, with numbers in place of variables";
        return computes
            .then(|| ("it is a script of Tcl with loops or variables, which is not read", Some(help.to_owned())));
    }
    if text.contains("$node_(") {
        return Some(("it is a movement file of ns-2", Some(format!("name it as {NAME_MOTION}"))));
    }
    Some(("it is a script of ns-2, which is not read", None))
}

/// Likely meaning of a column of another program, and advice.
pub fn column(name: &str, header: &[&str], wanted: Wanted) -> Option<String> {
    let name = name.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| name.split(['_', ' ', '-', '.']).any(|part| part == *word));
    // Does not suggest a column that the table already has.
    let meant = |column: &str| (!header.contains(&column)).then(|| format!("did you mean `{column}`?"));
    match wanted {
        Wanted::Links if says(&["snr", "sinr"]) => Some(
            "a ratio of signal to noise becomes a signal by adding the noise, which is -93.6 dBm with the noise figure \
             and the bandwidth that `radio.sinr` has by default: write signal_dbm"
                .to_owned(),
        ),
        Wanted::Links if says(&["noise"]) => {
            Some("noise is the same everywhere: `radio.sinr.noise_figure` and `radio.sinr.bandwidth`".to_owned())
        }
        Wanted::Links if says(&["distance", "dist"]) => {
            Some("distances follow from places (`topology`), and received powers from `radio.propagation`".to_owned())
        }
        Wanted::Links if says(&["delay", "latency", "bandwidth", "capacity"]) => {
            Some("links that have a rate and a delay are wired links: list them as `wired_link`".to_owned())
        }
        Wanted::Links if says(&["rssi", "signal", "power", "dbm", "rx"]) => meant("signal_dbm"),
        Wanted::Links if says(&["pathloss", "attenuation", "db", "gain"]) => meant("loss_db"),
        Wanted::Links if says(&["loss", "per", "prr", "pdr", "etx", "lq", "nlq", "probability", "quality", "delivery"]) => {
            Some(
                "write signal_dbm or loss_db; or frame_loss, from which a signal follows; a share that is lost \
                 whatever arrives is `wlan.error`, the same for all receivers, or `error` of a wired link \
                 (`wired_link`)"
                    .to_owned(),
            )
        }
        Wanted::Links if says(&["source", "sender", "tx", "from"]) => meant("src"),
        Wanted::Links if says(&["target", "destination", "receiver", "to"]) => meant("dst"),
        Wanted::Positions if says(&["lat", "latitude", "lon", "lng", "long", "longitude"]) => {
            Some("project degrees to meters on a plane: x_m, y_m".to_owned())
        }
        Wanted::Positions if name == "x" || name == "y" => meant(&format!("{name}_m")),
        Wanted::Positions if says(&["z", "height", "altitude", "alt"]) => {
            Some("places have two dimensions; antennas are as high as `radio.antenna_height` says".to_owned())
        }
        Wanted::Flows if says(&["from", "source", "sender"]) => meant("src"),
        Wanted::Flows if says(&["to", "target", "destination", "receiver"]) => meant("dst"),
        Wanted::Flows if says(&["start", "time", "begin"]) => meant("started_at_s"),
        Wanted::Flows if says(&["stop", "end", "size", "bytes", "rate", "app", "interval"]) => Some(
            "what all flows of a file have in common stands under `traffic`, `bulk` and `cbr`; flows that differ are \
             listed as `flow`"
                .to_owned(),
        ),
        Wanted::Movements if says(&["z", "height", "altitude", "alt"]) => Some("movements have two dimensions".to_owned()),
        Wanted::Movements if says(&["speed", "velocity"]) => meant("speed_mps"),
        Wanted::Movements if says(&["time", "t"]) => meant("time_s"),
        Wanted::ErrorRates if says(&["snr", "sinr", "db", "ratio"]) => meant("snr_db"),
        Wanted::ErrorRates if says(&["ber"]) => meant("bit_error_rate"),
        Wanted::ErrorRates if says(&["per", "fer", "mpdu", "loss", "error"]) => meant("frame_error_rate"),
        Wanted::ErrorRates if says(&["length", "size", "length_bytes"]) => meant("bytes"),
        Wanted::ErrorRates if says(&["rate", "mbps", "modulation"]) => {
            Some("number the modulations and codes as MCS 0 to 9: 6 Mbit/s of 802.11a has those of MCS 0".to_owned())
        }
        _ => None,
    }
}
