//! Error models: damage to packets on a point-to-point link, and to frames at a receiver.
//!
//! A model decides about one packet after the other, in the order of their passage, and draws from a random stream of
//! its own. Its only input is the size of the packet.

pub mod gilbert_elliott;

use crate::packet::{Body, FlowId, Packet, Seq};
use crate::rng::Stream;
use crate::setting::limit::{LARGEST_PACKET, at_most, range};
use crate::unit::{Bytes, Time};
use crate::{keywords, settings};
use gilbert_elliott::GilbertElliott;

keywords! {
    /// Error models.
    pub enum Kind {
        /// No errors.
        None = "none",
        /// Independent errors: every unit is damaged with the same probability.
        Uniform = "uniform",
        /// Bursts of errors: good and bad states alternate (Gilbert 1960, Elliott 1963).
        GilbertElliott = "gilbert_elliott",
    }
}

keywords! {
    /// Unit that is damaged or not. A packet is lost when one of its units is damaged.
    pub enum Unit {
        /// Packets, regardless of their size.
        Packet = "packet",
        /// Bytes of a packet.
        Byte = "byte",
        /// Bits of a packet.
        Bit = "bit",
        /// Segments that a TCP sender hands over at once, which are lost together, as a GSO packet is in Linux.
        GsoPacket = "gso_packet",
    }
}

impl Unit {
    /// Number of units in a packet of this size \[B\].
    fn count(self, bytes: u32) -> u64 {
        match self {
            Unit::Packet | Unit::GsoPacket => 1,
            Unit::Byte => u64::from(bytes),
            Unit::Bit => 8 * u64::from(bytes),
        }
    }
}

/// Declares a group with the settings of an error model, and further ones.
macro_rules! error_settings {
    ($(#[doc = $doc:literal])* pub struct $Name:ident { $($more:tt)* }) => {
        settings! {
            $(#[doc = $doc])*
            pub struct $Name {
                /// Error model.
                pub model: Kind = Kind::None,
                /// Unit to which the probabilities apply.
                pub unit: Unit = Unit::Packet
                    ; used when |c| c.model != Kind::None, else "the error model is `none`",
                /// Probability that a unit is damaged, for the model `uniform`.
                pub rate: f64 = 0.0 => range(0.0, 1.0)
                    ; used when |c| c.model == Kind::Uniform, else "the error model is not `uniform`",
                /// The error model `gilbert_elliott`.
                pub gilbert_elliott: gilbert_elliott::Config = gilbert_elliott::Config::default()
                    ; used when |c| c.model == Kind::GilbertElliott, else "the error model is not `gilbert_elliott`",
                $($more)*
            }
        }
    };
}

error_settings! {
    /// Settings of an error model.
    pub struct Config {}
}

keywords! {
    /// Position of the errors on a point-to-point link.
    pub enum Place {
        /// Before the queue: a lost packet takes neither room nor time (ns-2's `lossmodel`).
        BeforeQueue = "before_queue",
        /// After the transmitter: a lost packet has used the link (ns-2's `link-lossmodel`).
        AfterTransmitter = "after_transmitter",
    }
}

keywords! {
    /// Frames subject to errors.
    pub enum Frames {
        /// All frames.
        All = "all",
        /// Unicast data frames.
        Data = "data",
    }
}

keywords! {
    /// Layer at which errors occur at a receiver.
    pub enum Layer {
        /// Below the MAC: a damaged frame is not acknowledged and makes the stations that sense it wait, as a collision
        /// does.
        Phy = "phy",
        /// Above the MAC: the packet of an acknowledged frame, or of a broadcast, is lost.
        Net = "net",
    }
}

error_settings! {
    /// Errors at the receivers of otherwise undamaged 802.11 frames, drawn for each receiver.
    pub struct FrameErrors {
        /// Frames subject to errors.
        pub frames: Frames = Frames::All
            ; used when |c| c.model != Kind::None, else "the error model is `none`",
        /// Layer at which errors occur.
        pub layer: Layer = Layer::Phy
            ; used when |c| c.model != Kind::None, else "the error model is `none`",
        /// Bytes added to the size of a frame when errors apply to bytes or bits (ns-2: 24 B for the PLCP header).
        pub extra_size: Bytes = Bytes(0) => at_most(LARGEST_PACKET)
            ; used when |c| c.model != Kind::None && c.unit != Unit::Packet, else "errors do not hit bytes or bits",
    }
}

impl FrameErrors {
    /// The error model.
    pub fn model(&self) -> Config {
        Config { model: self.model, unit: self.unit, rate: self.rate, gilbert_elliott: self.gilbert_elliott.clone() }
    }
}

/// An error model with its state and random stream.
#[derive(Clone, Debug)]
pub struct ErrorModel {
    law: Law,
    unit: Unit,
    rng: Stream,
    /// The last GSO packet.
    last: GsoPacket,
}

/// Segments of a flow that were handed over at once.
#[derive(Clone, Copy, Debug)]
struct GsoPacket {
    flow: FlowId,
    born: Time,
    /// The next segment, and how many may follow.
    next: Seq,
    left: u32,
    damaged: bool,
}

#[derive(Clone, Debug)]
enum Law {
    None,
    Uniform { rate: f64 },
    GilbertElliott(Box<GilbertElliott>),
}

impl ErrorModel {
    /// The model with its random stream.
    pub fn new(cfg: &Config, mut rng: Stream) -> ErrorModel {
        let law = match cfg.model {
            Kind::None => Law::None,
            Kind::Uniform => Law::Uniform { rate: cfg.rate },
            Kind::GilbertElliott => Law::GilbertElliott(Box::new(GilbertElliott::new(&cfg.gilbert_elliott, &mut rng))),
        };
        let last = GsoPacket { flow: FlowId::NONE, born: Time::ZERO, next: 0, left: 0, damaged: false };
        ErrorModel { law, unit: cfg.unit, rng, last }
    }

    /// Changes the rate of the model `uniform`; other models ignore it.
    pub fn set_rate(&mut self, to: f64) {
        if let Law::Uniform { rate } = &mut self.law {
            *rate = to;
        }
    }

    /// Returns true if a packet is damaged. `at_once`: number of segments that the sender of a flow hands over at once.
    pub fn damages_packet(&mut self, p: &Packet, at_once: impl FnOnce(FlowId) -> u32) -> bool {
        if self.unit != Unit::GsoPacket {
            return self.damages(p.bytes);
        }
        let Body::Data(segment) = p.body else { return self.damages(p.bytes) };
        let last = &mut self.last;
        if last.left > 0 && (last.flow, last.born, last.next) == (p.flow, p.born, segment.seq) {
            (last.next, last.left) = (last.next + 1, last.left - 1);
            return last.damaged;
        }
        let damaged = self.damages(p.bytes);
        let (next, left) = (segment.seq.saturating_add(1), at_once(p.flow) - 1);
        self.last = GsoPacket { flow: p.flow, born: p.born, next, left, damaged };
        damaged
    }

    /// Returns true if the next packet, of this size \[B\], is damaged.
    pub fn damages(&mut self, bytes: u32) -> bool {
        match &mut self.law {
            Law::None => false,
            Law::Uniform { rate } => {
                let survives = match self.unit {
                    Unit::Packet => 1.0 - *rate,
                    unit => libm::pow(1.0 - *rate, unit.count(bytes) as f64),
                };
                self.rng.uniform() >= survives
            }
            Law::GilbertElliott(model) => model.damages(self.unit.count(bytes), &mut self.rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn lost(cfg: &Config, bytes: u32, packets: u32) -> f64 {
        let mut model = ErrorModel::new(cfg, Stream::new(1, Purpose::Errors, 0));
        (0..packets).filter(|_| model.damages(bytes)).count() as f64
    }

    #[test]
    fn a_packet_survives_when_all_its_units_do() {
        let cfg = |unit, rate| Config { model: Kind::Uniform, unit, rate, ..Config::default() };
        for (cfg, bytes, p) in [
            (cfg(Unit::Packet, 0.03), 1040, 0.03),
            // 1 - (1 - 1e-4)^1000 and 1 - (1 - 1e-5)^(8 * 1040)
            (cfg(Unit::Byte, 1e-4), 1000, 0.095_167_106),
            (cfg(Unit::Bit, 1e-5), 1040, 0.079_833_287),
        ] {
            let n = 100_000;
            let sd = (f64::from(n) * p * (1.0 - p)).sqrt();
            let lost = lost(&cfg, bytes, n);
            assert!((lost - f64::from(n) * p).abs() < 4.0 * sd, "{cfg:?}: {lost}");
        }
    }

    #[test]
    fn certain_and_impossible_errors() {
        for unit in [Unit::Packet, Unit::Byte, Unit::Bit] {
            let cfg = |rate| Config { model: Kind::Uniform, unit, rate, ..Config::default() };
            assert_eq!(lost(&cfg(0.0), 100, 1000), 0.0);
            assert_eq!(lost(&cfg(1.0), 100, 1000), 1000.0);
        }
        assert_eq!(lost(&Config { rate: 1.0, ..Config::default() }, 100, 1000), 0.0);
    }
}
