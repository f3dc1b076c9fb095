//! Settings of a connection.

pub mod control;
pub mod handshake;
pub mod hop_limit;
pub mod pairs;
pub mod recoveries;
pub mod variants;

use super::cc::Rule;
use super::receiver::receive_buffer::ReceiveBuffer;
use super::receiver::{reader, receive_buffer};
use super::sender::writes::{Nagle, SendBuffer};
use super::sender::{elfn, rto};
use super::{ack, cc, door, ecn};
use crate::setting::limit::{HOUR, LARGEST_PACKET, at_most, range};
use crate::setting::{Node, Scalar, Shared, Value};
use crate::unit::{Bytes, Span};
use crate::{keywords, settings};
use control::Control;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::sync::Arc;
use variants::{Method, Variant};

keywords! {
    /// Quantity whose half becomes ssthresh after a loss.
    pub enum Halving {
        /// The amount of data outstanding, FlightSize (RFC 5681, equation 4).
        FlightSize = "flight_size",
        /// The window in use; its half is not rounded, ssthresh is (ns-2 since 2006).
        Window = "window",
        /// The window in use in whole segments (ns-2 before 2006, `precisionReduce_ false`).
        WholeWindow = "whole_window",
    }
}

keywords! {
    /// Acknowledgements without new data that count as duplicates.
    pub enum DupAcks {
        /// Acknowledgements that arrive while data are outstanding and repeat number and window of the previous one
        /// (RFC 5681, section 2).
        Rfc5681 = "rfc5681",
        /// All acknowledgements that repeat the number of the previous one (ns-2). After the last segment three of them
        /// make the sender send a segment that the application has not provided.
        Number = "number",
    }
}

keywords! {
    /// Congestion window of an idle sender.
    pub enum IdleRule {
        /// Keeps the window.
        Keep = "keep",
        /// Limits the window to the initial window after an idle time of one retransmission timeout (RFC 5681, 4.1).
        Restart = "restart",
        /// Halves the window for each retransmission timeout of the idle time, down to the initial window; ssthresh
        /// becomes at least three quarters of it (RFC 2861, 3.2; Linux). A congestion control that derives window and
        /// rate from measurements, such as `bbr`, keeps its window.
        Decay = "decay",
        /// Keeps the retransmission timer running, whose expiration sets the window to 1 (ns-2).
        Timer = "timer",
    }
}

keywords! {
    /// Unit of window growth.
    pub enum GrowthPer {
        /// Per acknowledgement, regardless of the segments that it covers (ns-2; RFC 5681, 3.1, if it covers one
        /// segment).
        Ack = "ack",
        /// Per acknowledged segment (Linux; RFC 3465 without its limit).
        Segment = "segment",
    }
}

keywords! {
    /// Growth of a congestion window that is not fully used.
    pub enum GrowthWhen {
        /// Grows the window whether it is used or not.
        Always = "always",
        /// In slow start the window grows up to twice the largest amount outstanding in the last round trip, in
        /// congestion avoidance only if all of it was in use (Linux).
        Used = "used",
    }
}

keywords! {
    /// Reaction of a sender to a segment that is dropped by the full queue of its own node.
    pub enum LocalDrop {
        /// The sender treats the drop like any loss and learns of it by acknowledgements or its timer.
        Lost = "lost",
        /// The sender learns of the drop at once as local congestion: it cuts the window as for an ECE, once per
        /// window, and counts a new segment as not yet sent (Linux: congestion window reduced). A retransmission is
        /// lost.
        Cwr = "cwr",
    }
}

/// Segments that may be sent before the first acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// A fixed number of segments.
    Segments(u32),
    /// 4, 3 or 2 by the segment size (RFC 5681, 3.1).
    Rfc5681,
    /// min(10 SMSS, max(2 SMSS, 14600 B)) (RFC 6928).
    Rfc6928,
}

impl InitialWindow {
    /// Initial window in segments of this size.
    pub fn segments(self, segment: Bytes) -> u32 {
        match (self, segment.0) {
            (InitialWindow::Segments(n), _) => n,
            (InitialWindow::Rfc5681, 0..=1095) => 4,
            (InitialWindow::Rfc5681, 1096..=2190) => 3,
            (InitialWindow::Rfc5681, _) => 2,
            (InitialWindow::Rfc6928, smss) => (14_600 / smss.max(1)).clamp(2, 10),
        }
    }
}

impl Scalar for InitialWindow {
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(t) if t == "rfc5681" => Ok(InitialWindow::Rfc5681),
            Value::Text(t) if t == "rfc6928" => Ok(InitialWindow::Rfc6928),
            Value::Int(n @ 1..=1_000_000) => Ok(InitialWindow::Segments(*n as u32)),
            _ => Err("expected a number of segments from 1 to 1000000, \"rfc5681\" or \"rfc6928\"".into()),
        }
    }

    fn written(&self) -> Json {
        match self {
            InitialWindow::Segments(n) => json!(n),
            InitialWindow::Rfc5681 => json!("rfc5681"),
            InitialWindow::Rfc6928 => json!("rfc6928"),
        }
    }

    fn describe() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 1_000_000 }, { "enum": ["rfc5681", "rfc6928"] }] })
    }
}

/// Limit on the packets of a connection in its own node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallQueue {
    /// A fixed number of packets.
    Packets(u32),
    /// Memory of two packets, or the data that the pacing rate sends in 1/1024 s, over an 802.11 radio in 1/128 s, if
    /// they take more (Linux).
    Auto,
    /// The same with 1/1024 s over a radio, too: its device is no Wi-Fi device for the host.
    AnyDevice,
}

impl Scalar for SmallQueue {
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(t) if t == "auto" => Ok(SmallQueue::Auto),
            Value::Text(t) if t == "any_device" => Ok(SmallQueue::AnyDevice),
            Value::Int(n @ 1..=1_000_000) => Ok(SmallQueue::Packets(*n as u32)),
            _ => Err("expected a number of packets from 1 to 1000000, or \"auto\", or \"any_device\"".into()),
        }
    }

    fn written(&self) -> Json {
        match self {
            SmallQueue::Auto => json!("auto"),
            SmallQueue::AnyDevice => json!("any_device"),
            SmallQueue::Packets(n) => json!(n),
        }
    }

    fn describe() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 1_000_000 }, { "enum": ["auto", "any_device"] }] })
    }
}

/// Adds the settings of the acknowledgement policies of a list, between two lists of settings.
macro_rules! with_ack_policies {
    ({ $($before:tt)* } { $($after:tt)* } $cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $word:literal: $new:expr $(, settings $group:ident: $module:ident = $about:literal)?;
    )*) => {
        cc::window_rules! {
            config {
                $($before)*
                $( $(
                    #[doc = $about]
                    pub $group: ack::$module::Config = ack::$module::Config::default()
                        ; used when |c| c.ack_policy == ack::Policy::$Part,
                        else concat!("`tcp.ack_policy` is not `", $word, "`"),
                )? )*
                $($after)*
            }
        }
    };
}

/// Declares the settings of a connection, with those of the window rules of a list.
macro_rules! config {
    ({ $($fields:tt)* } $cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $word:literal: $new:expr
        $(, settings $group:ident: $module:ident = $about:literal $(, shared with $Other:ident)?, else $why:literal)?;
    )*) => {
        settings! {
            /// TCP.
            pub struct Config {
                $($fields)*
                $( $(
                    #[doc = $about]
                    pub $group: cc::$module::Config = cc::$module::Config::default()
                        ; used when |c| matches!(c.rule(), Rule::$Part $(| Rule::$Other)?), else $why,
                )? )*
            } where {
                "ecn.beta", "ecn.ns2.spare_ssthresh", "ecn.ns2.below_one"
                    used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`";
                "ecn.beta"
                    used when |c| c.rule().reads_remainder(), else "the congestion control has its own rule for it";
                "ecn.beta"
                    used when |c| c.rule() != Rule::Vegas || c.vegas.ecn_cut == cc::vegas::EcnCut::Half,
                    else "the congestion control is `vegas`, and `tcp.vegas.ecn_cut` is `quarter`";
                "ecn.ns2.recover_from_cut"
                    used when |c| !matches!(c.method(), Method::RackTlp | Method::Vegas),
                    else "the loss recovery is `rack_tlp` or `vegas`";
                "fast_recovery.partial_ack_timer", "fast_recovery.partial_window_deflation", "fast_recovery.burst",
                "fast_recovery.grow_at_end", "fast_recovery.limit_at_end"
                    used when |c| matches!(c.method(), Method::NewReno | Method::ENewReno),
                    else "the loss recovery is neither `newreno` nor `e_newreno`";
                "fast_recovery.inflate_in_recovery_only"
                    used when |c| matches!(c.method(), Method::Reno | Method::NewReno | Method::ENewReno),
                    else "the loss recovery is none of `reno`, `newreno` and `e_newreno`";
                "fast_recovery.burst"
                    used when |c| c.rule() != Rule::AdaptivePacing, else "`tcp_ap` sends new segments one by one";
                "rack_tlp.hystart" used when |c| !matches!(c.rule(), Rule::Bbr | Rule::Bbr3 | Rule::External),
                    else "the congestion control is `bbr`, `bbr3` or one of a program";
                "rack_tlp.hystart"
                    used when |c| c.rule() != Rule::Reno || c.rack_tlp.hystart != recoveries::HyStartRule::HyStart,
                    else "the congestion control is `reno` and the rule is `hystart`";
                "vegas.ns2.bare_segments", "vegas.ns2.not_ect", "vegas.ns2.send_time_sentinels",
                "vegas.ns2.inflation_stays", "vegas.ns2.backoff_on_fast_retransmit", "vegas.ns2.timeout_when_idle",
                "vegas.ns2.clearing_stops_at_wrap"
                    used when |c| c.method() == Method::Vegas, else "the loss recovery is not `vegas`";
            }
        }
    };
}

/// Reason for a setting without effect.
pub const NO_FIN: &str = "no FIN is sent, which needs `tcp.fin` and `tcp.syn`";

ack::policies! {
    with_ack_policies {
        /// TCP variant: a loss recovery with a congestion control.
        pub(everyday) variant: Variant = Variant::NewReno
            ; used when |c| c.loss_recovery.is_none() || c.congestion_control.is_none(),
            else "`tcp.loss_recovery` and `tcp.congestion_control` are both set",
        /// Congestion control, the rule of the congestion window; "variant": as in `tcp.variant`; "module:Class": a rule of
        /// your own in Python.
        pub(everyday) congestion_control: Option<Control> | "variant" = None,
        /// Loss recovery; "variant": as in `tcp.variant`.
        pub(everyday) loss_recovery: Option<Method> | "variant" = None,
        /// Maximum segment size: payload of a full segment.
        pub(everyday) mss: Bytes = Bytes(1460) => range(Bytes(1), LARGEST_PACKET),
        /// Size of the TCP and IP headers of a segment.
        pub header_size: Bytes = Bytes(40) => at_most(LARGEST_PACKET),
        /// Size of an acknowledgement with its headers.
        pub ack_size: Bytes = Bytes(40) => at_most(LARGEST_PACKET),
        /// Size of each SACK block in an acknowledgement.
        pub sack_block_size: Bytes = Bytes(8) => at_most(LARGEST_PACKET)
            ; used when Config::sack_permitted, else "the receiver sends no SACK blocks",
        /// Window that the receiver advertises \[segments\].
        pub(everyday) receive_window: u32 = 64 => range(1, 1_000_000),
        /// Largest congestion window (clamp) \[segments\]; "unlimited": no limit but the receive window. The initial
        /// window may be larger.
        pub max_cwnd: Option<u32> | "unlimited" = None => range(1, 1_000_000),
        /// Congestion window at the start of a connection.
        pub(everyday) initial_window: InitialWindow = InitialWindow::Rfc5681,
        /// Initial slow-start threshold \[segments\]; "receive_window": the window of the receiver.
        pub initial_ssthresh: Option<u32> | "receive_window" = None => range(1, 1_000_000),
        /// Congestion window after a retransmission timeout \[segments\].
        pub loss_window: u32 = 1 => range(1, 1_000_000)
            ; used when |c| !c.is_rack_tlp() || c.resets_after_standby(),
            else "the loss recovery is `rack_tlp`, and ELFN does not reset the window"
            ; used when |c| !c.holds_window() || c.resets_after_standby(),
            else "the congestion control is `fixed`, and ELFN does not reset the window",
        /// Unit of window growth: per acknowledgement or per acknowledged segment.
        pub growth_per: GrowthPer = GrowthPer::Ack
            ; used when |c| c.rule().grows_by_steps(), else "the congestion control has its own rule for it"
            ; used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`",
        /// Growth of a congestion window that is not fully used.
        pub growth_when: GrowthWhen = GrowthWhen::Always
            ; used when |c| c.rule().asks_for_use(), else "the congestion control has its own rule for it"
            ; used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`",
        /// Opens a connection with a SYN and its acknowledgement.
        pub syn: bool = true,
        /// Connection setup.
        pub handshake: Shared<handshake::Config> = Shared::default()
            ; used when Config::starts_with_syn, else "there is no SYN",
        /// Sends a FIN after everything that the application has written, which closes one direction (half-close).
        pub fin: bool = false ; used when Config::starts_with_syn, else "there is no SYN",
        /// Time from the end of the data to the FIN of the receiver, whose application then closes its end, too
        /// (CLOSE-WAIT); "unlimited": never.
        pub close_wait: Option<Span> | "unlimited" = None => at_most(HOUR)
            ; used when Config::ends_with_fin, else NO_FIN,
        /// Acknowledgements without new data that count as duplicates.
        pub dup_acks: DupAcks = DupAcks::Rfc5681,
        /// Number of duplicate acknowledgements that indicate a loss.
        pub dup_threshold: u32 = 3 => range(1, 1000),
        /// Limited transmit: sends new segments on the first two duplicate acknowledgements (RFC 3042).
        pub limited_transmit: bool = true
            ; used when |c| !matches!(c.method(), Method::RackTlp | Method::Vegas),
            else "the loss recovery is `rack_tlp` or `vegas`"
            ; used when |c| c.rule() != Rule::AdaptivePacing, else "the congestion control is `tcp_ap`",
        /// Largest number of segments that one acknowledgement may release.
        pub max_burst: Option<u32> | "unlimited" = None => range(1, 1_000_000)
            ; used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`"
            ; used when Config::may_burst, else "`tcp_ap` sends new segments one by one",
        /// TCP small queues: limit on the packets of a connection in its own node, from TCP to the end of their
        /// transmission. "auto": the memory of two packets, or the data that the pacing rate sends in 1/1024 s (1/128 s
        /// over an 802.11 radio) if that is more (Linux). "any_device": the same without the exception of radios. The
        /// limit does not apply to the segment that begins a recovery, nor to retransmissions of Reno, NewReno and Vegas
        /// during recovery.
        pub small_queue: Option<SmallQueue> | "unlimited" = None,
        /// Nagle's algorithm: rule for a short segment at the end of the data that the application has written, at once
        /// or in pieces (`bulk.write_size`).
        pub nagle: Nagle = Nagle::Rfc9293,
        /// Size of the send buffer, for applications that write in pieces (`bulk.write_size`).
        pub send_buffer: SendBuffer = SendBuffer::Unlimited,
        /// Reaction to a segment that is dropped by the full queue of the sender's node.
        pub local_drop: LocalDrop = LocalDrop::Lost,
        /// Quantity whose half becomes ssthresh after a loss.
        pub ssthresh_base: Halving = Halving::FlightSize
            ; used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`"
            ; used when |c| !c.holds_window(), else "the congestion control is `fixed`",
        /// Congestion window of an idle sender.
        pub after_idle: IdleRule = IdleRule::Restart,
        /// Timestamps (RFC 7323): measures a round-trip time with every acknowledgement; otherwise with one segment at
        /// a time.
        pub timestamps: bool = false,
        /// Number of consecutive timeouts after which the connection is given up (R2 of RFC 9293, 3.8.3).
        pub max_timeouts: Option<u32> | "unlimited" = Some(15) => range(1, 1000),
        /// Retransmission timeout.
        pub rto: Shared<rto::Config> = Shared::default(),
        /// Explicit congestion notification.
        pub ecn: ecn::Config = ecn::Config::default(),
        /// Segments that arrive at one instant, such as those of an aggregate, reach the receiver as one of up to 64 KiB,
        /// which one acknowledgement may cover (Linux: generic receive offload). It ends with a PSH flag, and before a
        /// timestamp of another millisecond.
        pub gro: bool = false,
        /// Acknowledgement policy of the receiver.
        pub(everyday) ack_policy: ack::Policy = ack::Policy::Delayed,
    } {
        /// Fast recovery of Reno and NewReno.
        pub fast_recovery: recoveries::FastRecoveryConfig = recoveries::FastRecoveryConfig::default()
            ; used when |c| !matches!(c.method(), Method::RackTlp | Method::Vegas),
            else "the loss recovery is `rack_tlp` or `vegas`",
        /// Enhanced NewReno.
        pub e_newreno: Shared<recoveries::ENewRenoConfig> = Shared::default()
            ; used when |c| c.method() == Method::ENewReno, else "the loss recovery is not `e_newreno`",
        /// Loss recovery with SACK.
        pub sack: recoveries::SackConfig = recoveries::SackConfig::default()
            ; used when |c| c.method() == Method::Sack, else "the loss recovery is not `sack`",
        /// RACK-TLP.
        pub rack_tlp: recoveries::RackTlpConfig = recoveries::RackTlpConfig::default()
            ; used when Config::is_rack_tlp, else "the loss recovery is not `rack_tlp`",
        /// Explicit loss notification.
        pub eln: recoveries::ElnConfig = recoveries::ElnConfig::default()
            ; used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`",
        /// Explicit link failure notification.
        pub elfn: Shared<elfn::Config> = Shared::default(),
        /// Detection of out-of-order delivery and response.
        pub door: Shared<door::Config> = Shared::default()
            ; used when |c| !c.is_rack_tlp(), else "the loss recovery is `rack_tlp`",
        /// Buffer of the receiver in bytes of memory, with the auto-tuning of Linux.
        pub receive_buffer: Shared<receive_buffer::Config> = Shared::default(),
        /// Application that reads the data of a receiver.
        pub reader: Shared<reader::Config> = Shared::default(),
        /// Congestion window limit from the hop count of the path.
        pub hop_limit: hop_limit::Config = hop_limit::Config::default(),
    }
}

/// Requirements of the loss recovery at both ends.
#[derive(Clone, Copy, Debug, Default)]
struct Wants {
    /// The receiver sends SACK blocks.
    sack: bool,
    /// It reports duplicates in SACK blocks.
    dsack: bool,
    /// It remembers the last blocks alone.
    sack_memory: bool,
    /// Segments have no header, and there is no SYN.
    bare_segments: bool,
    /// Segments are never ECN-capable.
    not_ect: bool,
}

impl Config {
    /// Loss recovery in effect.
    pub fn method(&self) -> Method {
        self.loss_recovery.unwrap_or_else(|| self.variant.parts().0)
    }

    /// Window rule in effect.
    pub fn rule(&self) -> Rule {
        self.congestion_control.as_ref().map_or_else(|| self.variant.parts().1, Control::rule)
    }

    /// Name of the rule of a program that decides the window.
    pub(super) fn name_of_rule(&self) -> Arc<str> {
        let name = self.congestion_control.as_ref().and_then(Control::name);
        name.map_or_else(|| Rule::External.word().into(), Clone::clone)
    }

    /// Name of the pair in effect: the word of its variant, or those of both parts such as `westwood+sack`.
    pub fn pair(&self) -> Cow<'static, str> {
        if let Some(name) = self.congestion_control.as_ref().and_then(Control::name) {
            return format!("{name}+{}", self.method().word()).into();
        }
        variants::name(self.method(), self.rule())
    }

    fn wants(&self) -> Wants {
        match self.method() {
            Method::Sack => Wants { sack: true, ..Wants::default() },
            Method::RackTlp => {
                let sack = self.rack_tlp.sack;
                Wants { sack, dsack: sack, sack_memory: sack, ..Wants::default() }
            }
            Method::Vegas => Wants {
                bare_segments: self.vegas.ns2.bare_segments,
                not_ect: self.vegas.ns2.not_ect,
                ..Wants::default()
            },
            Method::Tahoe | Method::Reno | Method::NewReno | Method::ENewReno => Wants::default(),
        }
    }

    /// Returns true if the loss recovery is `rack_tlp`, the sender of Linux: it sets the window itself, does not send a
    /// segment again whose last copy is still in its own node, and ignores explicit loss notifications.
    pub fn is_rack_tlp(&self) -> bool {
        self.method() == Method::RackTlp
    }

    /// Returns true if segments may be released without waiting for the pace of the window rule, for which ns-2's sack1
    /// does not wait during a recovery.
    fn may_burst(&self) -> bool {
        let is_sack1 = self.method() == Method::Sack && self.sack.rule == recoveries::SackRule::Sack1;
        self.rule() != Rule::AdaptivePacing || is_sack1
    }

    /// Returns true if no loss changes the window. After a cut that DOOR withholds the window has at least
    /// `tcp.loss_window` segments, whatever the window rule.
    fn holds_window(&self) -> bool {
        self.rule() == Rule::Fixed && !self.door.enabled
    }

    /// Returns true if the end of a standby sets the window to the loss window.
    fn resets_after_standby(&self) -> bool {
        self.elfn.enabled && self.elfn.cwnd == elfn::After::Reset
    }

    /// Returns true if a sender reacts to what happens to its packets in its own node.
    pub fn watches_own_queue(&self) -> bool {
        self.small_queue.is_some() || self.local_drop != LocalDrop::Lost || self.is_rack_tlp()
    }

    /// Size of a segment at the network layer \[B\]; of a SYN or a probe, which have no data, that of their header.
    pub fn segment_bytes(&self, bare_header: bool) -> u32 {
        match (bare_header, self.is_bare()) {
            (true, _) => self.header_size.0,
            (false, true) => self.mss.0,
            (false, false) => self.mss.0 + self.header_size.0,
        }
    }

    /// Returns true if the connection begins with a SYN.
    pub fn starts_with_syn(&self) -> bool {
        self.syn && !self.is_bare()
    }

    /// Returns true if the connection ends with a FIN.
    pub fn ends_with_fin(&self) -> bool {
        self.fin && self.starts_with_syn()
    }

    /// Returns true if segments have no header and there is no SYN, as with ns-2's Vegas.
    pub fn is_bare(&self) -> bool {
        self.wants().bare_segments
    }

    /// Returns true if segments are never ECN-capable, as with ns-2's Vegas.
    pub fn never_ect(&self) -> bool {
        self.wants().not_ect
    }

    /// Returns true if the sender has a table for all segments of the window from the beginning.
    pub fn has_table_of_window(&self) -> bool {
        self.method() == Method::Vegas && self.vegas.ns2.clearing_stops_at_wrap
    }

    /// Returns true if the receiver reports duplicates in SACK blocks (RFC 2883).
    pub fn reports_duplicates(&self) -> bool {
        self.wants().dsack
    }

    /// Returns true if the receiver remembers its last SACK blocks and no others.
    pub fn remembers_blocks(&self) -> bool {
        self.wants().sack_memory
    }

    /// Window that the receiver offers first \[segments\].
    pub fn first_offer(&self) -> u32 {
        if self.receive_buffer.enabled { self.buffer().first_offer() } else { self.receive_window }
    }

    /// The empty buffer of a receiver.
    pub(super) fn buffer(&self) -> ReceiveBuffer {
        ReceiveBuffer::new(&self.receive_buffer, self.mss, self.receive_window, self.rto.min)
    }

    /// Returns true if the receiver sends SACK blocks.
    pub fn sack_permitted(&self) -> bool {
        self.wants().sack
    }
}
