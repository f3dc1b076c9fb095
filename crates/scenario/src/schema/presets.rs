//! Presets: scenario files that ship with the simulator and that others extend.

macro_rules! presets {
    ($( $name:literal = $doc:literal, )*) => {
        /// Name and description of every preset.
        pub const WORDS: &[(&str, &str)] = &[ $( ($name, $doc), )* ];

        /// Name of every preset.
        pub const NAMES: &[&str] = &[ $( $name, )* ];

        /// Text of a preset.
        pub fn text(name: &str) -> Option<&'static str> {
            match name {
                $( $name => Some(include_str!(concat!("../../presets/", $name, ".toml"))), )*
                _ => None,
            }
        }
    };
}

presets! {
    "standard" = "IEEE 802.11-2020 DCF and the RFCs: the defaults, written out.",
    "802.11a" = "IEEE 802.11a at 5 GHz: its timing, data at 54 Mbit/s, other frames at 24 Mbit/s.",
    "802.11g" = "IEEE 802.11g at 2.4 GHz without stations of 802.11b: its timing, data at 54 Mbit/s, other frames at 24 Mbit/s.",
    "802.11n" = "IEEE 802.11n at 5 GHz: HT in 20 MHz, EDCA, aggregates with block acknowledgement, SINR reception.",
    "802.11n-2.4ghz" = "IEEE 802.11n at 2.4 GHz: as 802.11n, with long slots and the signal extension.",
    "802.11ac" = "IEEE 802.11ac at 5 GHz: VHT in 80 MHz, EDCA, aggregates with block acknowledgement, SINR reception.",
    "ns2-2.35" = "ns-2.35: its radio, MAC, AODV and TCP agents with their defaults and peculiarities.",
    "ns2-2004" = "ns-2 as of 2004 (2.27): minimum RTO 1 s, initial RTO 6 s.",
    "ns2-2002" = "ns-2 as of 2002 (2.26): as of 2004, with the NewReno of that time.",
    "linux-2.6.16" = "The TCP of Linux 2.6.16, over the defaults: quick and delayed acknowledgements, its timer, notification of local drops.",
    "linux" = "The TCP of Linux 6.18, over the defaults: CUBIC with HyStart, RACK-TLP, PRR, quick and delayed acknowledgements.",
    "linux-tun" = "Linux 6.18 behind a TUN device: as `linux`, without small queues, local drops and a driver's limits.",
    "linux-mesh" = "Linux 6.18 over 802.11n, or 802.11ac after it: the TCP of `linux`, the queues of mac80211, Minstrel-HT.",
    "ivynet" = "The testbed of Su 2008, calibrated with four of its results: 802.11b by SINR, SampleRate, Linux 2.6.16.",
    "snoop-1995" = "Snoop as its authors describe it: the defaults, written out.",
    "snoop-ns2" = "Snoop as in ns-2.35; part of the presets of ns-2.",
}
