//! Files of other programs that are given where they do not fit: they are recognised, and it is said what to do.

use super::csv::{Misread, lines};
use super::report::count;

/// Expected content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Places of nodes.
    Places,
    /// Flows.
    Flows,
    /// Signals or losses of links.
    Links,
    /// Ways of nodes.
    Motion,
}

impl Wanted {
    /// Formats that are read here.
    fn expected(self) -> &'static str {
        match self {
            Wanted::Places => "write a CSV file with the columns x_m, y_m: one node in a line",
            Wanted::Flows => "write a CSV file with the columns src, dst, and start_s if you like: one flow in a line",
            Wanted::Links => {
                "write a CSV file with the columns from, to, and signal_dbm or loss_db: one direction in a line"
            }
            Wanted::Motion => {
                "give a movement file of ns-2, a `.movements` file of BonnMotion, or CSV with the columns time_s, node, \
                 x_m, y_m, dest_x_m, dest_y_m, speed_mps"
            }
        }
    }
}

/// A file of another program, if it is one.
pub fn recognised(text: &str, wanted: Wanted) -> Option<Misread> {
    let first = lines(text).next().map_or("", |l| l.0);
    let (what, help) = if first.starts_with('{') || first.starts_with('[') {
        json(text, wanted)
    } else if first.starts_with('<') {
        xml(text, wanted)
    } else if first.starts_with('$') || first.starts_with("set ") {
        tcl(text, wanted)?
    } else if first.contains(';') && !first.contains(',') {
        ("its columns are separated by semicolons", Some("separate them by commas".to_owned()))
    } else if first.contains('\t') && !first.contains(',') && wanted != Wanted::Motion {
        ("its columns are separated by tabs", Some("separate them by commas".to_owned()))
    } else {
        return None;
    };
    Some(Misread { why: what.to_owned(), help: Some(help.unwrap_or_else(|| wanted.expected().to_owned())) })
}

fn json(text: &str, wanted: Wanted) -> (&'static str, Option<String>) {
    if text.contains("\"NetworkGraph\"") || text.contains("\"NetworkCollection\"") {
        let links = "it has links and their costs";
        let help = match wanted {
            Wanted::Places => format!("{links}, but no places; {}", wanted.expected()),
            Wanted::Links => {
                format!(
                    "{links}, which do not tell how strong a signal arrives; number its nodes from 0, and {EXPECTED_LINKS}"
                )
            }
            Wanted::Flows | Wanted::Motion => format!("{links} only; {}", wanted.expected()),
        };
        return ("it is NetJSON, which is not read", Some(help));
    }
    if text.contains("\"FeatureCollection\"") {
        let help = "project its degrees to metres, and write a CSV file with the columns x_m, y_m";
        return ("it is GeoJSON, which is not read", (wanted == Wanted::Places).then(|| help.to_owned()));
    }
    ("it is JSON, which is not read", None)
}

const EXPECTED_LINKS: &str =
    "write what was measured as a CSV file with the columns from, to, and signal_dbm or loss_db";

fn xml(text: &str, wanted: Wanted) -> (&'static str, Option<String>) {
    let sumo = text.contains("<fcd-export") || text.contains("<routes");
    let help = "SUMO's traceExporter.py writes a movement file of ns-2 from it (--ns2mobility-output), which is read";
    match (sumo, wanted) {
        (true, Wanted::Motion) => ("it is a trace of SUMO, which is not read", Some(help.to_owned())),
        _ => ("it is XML, which is not read", None),
    }
}

/// Scripts of ns-2. Movement files are read where ways are wanted.
fn tcl(text: &str, wanted: Wanted) -> Option<(&'static str, Option<String>)> {
    let lines = || lines(text).map(|l| l.0);
    let connections = lines().filter(|l| l.split_whitespace().nth(1) == Some("connect")).count() as u64;
    if connections > 0 || text.contains("attach-agent") {
        let cbr = text.contains("Application/Traffic/CBR");
        let app = if cbr {
            ", and set `traffic.app = \"cbr\"`, `cbr.payload` (packetSize_) and `cbr.interval` (interval_); intervals are not \
             random here (random_)"
        } else {
            ""
        };
        let its = if connections > 0 { count(connections, "connection") } else { "connections".to_owned() };
        let help = format!(
            "write its {its} as a CSV file with the columns src, dst, start_s, which `traffic.file` names{app}"
        );
        return Some(("it is a script of ns-2 with traffic, as cbrgen writes it, which is not read", Some(help)));
    }
    if wanted == Wanted::Motion {
        return None;
    }
    if text.contains("$node_(") {
        let help = "name it as `motion.file`, with `motion.kind = \"file\"` and `topology.kind = \"motion\"`";
        return Some(("it is a movement file of ns-2", Some(help.to_owned())));
    }
    Some(("it is a script of ns-2, which is not read", None))
}

/// Most likely meaning of a column of another program, and advice.
pub fn column(name: &str, wanted: Wanted) -> Option<String> {
    let name = name.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| name.split(['_', ' ', '-', '.']).any(|part| part == *word));
    let meant = |column: &str| Some(format!("did you mean `{column}`?"));
    match wanted {
        Wanted::Links if says(&["snr", "sinr"]) => Some(
            "a ratio of signal to noise becomes a signal by adding the noise, which is -93.6 dBm with the noise figure and \
             the bandwidth that `radio.sinr` has by default: write signal_dbm"
                .to_owned(),
        ),
        Wanted::Links if says(&["rssi", "signal", "power", "dbm", "rx"]) => meant("signal_dbm"),
        Wanted::Links if says(&["pathloss", "attenuation", "db", "gain"]) => meant("loss_db"),
        Wanted::Links if says(&["loss", "per", "prr", "pdr", "etx", "lq", "nlq", "probability", "quality", "delivery"]) => {
            Some(
                "how many frames a link loses follows here from what arrives: write signal_dbm or loss_db; a share that is \
                 lost whatever arrives is `receiver.error`, the same for all receivers, or `error` of a wire (`link`)"
                    .to_owned(),
            )
        }
        Wanted::Links if says(&["source", "src", "sender", "tx"]) => meant("from"),
        Wanted::Links if says(&["target", "dst", "destination", "receiver"]) => meant("to"),
        Wanted::Places if says(&["lat", "latitude", "lon", "lng", "long", "longitude"]) => {
            Some("project degrees to metres on a plane: x_m, y_m".to_owned())
        }
        Wanted::Places if name == "x" || name == "y" => meant(&format!("{name}_m")),
        Wanted::Places if says(&["z", "height", "altitude", "alt"]) => {
            Some("places have two dimensions; antennas are as high as `radio.antenna_height` says".to_owned())
        }
        Wanted::Flows if says(&["from", "source", "sender"]) => meant("src"),
        Wanted::Flows if says(&["to", "target", "destination", "receiver"]) => meant("dst"),
        Wanted::Flows if says(&["start", "time", "begin"]) => meant("start_s"),
        Wanted::Flows if says(&["stop", "end", "size", "bytes", "rate", "app", "interval"]) => Some(
            "what all flows of a file have in common stands under `traffic`, `ftp` and `cbr`; flows that differ are listed \
             as `flow`"
                .to_owned(),
        ),
        Wanted::Motion if says(&["z", "height", "altitude", "alt"]) => Some("ways have two dimensions".to_owned()),
        Wanted::Motion if says(&["speed", "velocity"]) => meant("speed_mps"),
        Wanted::Motion if says(&["time", "t"]) => meant("time_s"),
        _ => None,
    }
}
