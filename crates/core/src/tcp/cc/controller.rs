//! Congestion control of one's own: the rules of the program that drives a run, and what they are asked.
//!
//! A connection with `tcp.congestion_control = "external"`, or with the name of a rule such as `my_rules:Aimd`, asks
//! where a rule of Chappe is called: while an acknowledgement, a loss or a timeout is processed, before anything is sent
//! for it. The program lends its rules to the thread that advances the run ([`Controllers::drive`]).

use super::interface::{Signal, Window};
use crate::packet::FlowId;
use crate::unit::{Span, Time};
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State of a connection, as its rule sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Flow of the connection.
    pub flow: FlowId,
    /// Time of the event.
    pub now: Time,
    /// Segments newly acknowledged, with `rack_tlp` also those reported in SACK blocks.
    pub acked: u32,
    /// Segments that are known to have arrived since the connection began, the SYN included.
    pub delivered: u32,
    /// The window now.
    pub window: Window,
    /// Segments in flight (RFC 5681: FlightSize; `rack_tlp`: those neither reported nor lost); at a congestion signal
    /// before it.
    pub in_flight: u32,
    /// Time since the transmission of the segment whose timestamp the last acknowledgement echoes.
    pub rtt: Option<Span>,
    /// SRTT of the retransmission timer.
    pub srtt: Option<Span>,
    /// Smallest `rtt` of the connection.
    pub min_rtt: Option<Span>,
    /// Delivery rate of the last round trip \[bit/s\]; measured by `rack_tlp` only.
    pub delivery_rate_bps: Option<f64>,
    /// The window was in use, so that it may grow by the rule of `tcp.growth_when` or of `rack_tlp`.
    pub used: bool,
    /// Payload of a full segment \[B\].
    pub mss: u32,
}

impl View {
    /// A connection before its first acknowledgement.
    pub(super) fn new(mss: u32) -> View {
        View {
            flow: FlowId(0),
            now: Time::ZERO,
            acked: 0,
            delivered: 0,
            window: Window { cwnd: 1.0, ssthresh: 1.0 },
            in_flight: 0,
            rtt: None,
            srtt: None,
            min_rtt: None,
            delivery_rate_bps: None,
            used: true,
            mss,
        }
    }
}

/// Event of which a rule is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An acknowledgement of new data outside of a loss recovery.
    Ack,
    /// A loss, a timeout or a congestion mark.
    Congestion(Signal),
    /// Everything is repaired that was outstanding when a fast recovery began.
    RecoveryEnd,
}

/// Decision of a rule; `None`: as before. Windows are in segments, at least 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Congestion window. After a congestion signal without one: ssthresh, after a timeout `tcp.loss_window`; without
    /// both the window stays. `rack_tlp` has its own window while it repairs losses and after timeouts.
    pub cwnd: Option<f64>,
    /// Slow-start threshold: the window with which a recovery ends.
    pub ssthresh: Option<f64>,
    /// Rate of the payload of new segments \[bit/s\], at least 8; infinite: not paced.
    pub pacing_bps: Option<f64>,
}

impl Decision {
    /// Everything remains as before.
    pub const KEEP: Decision = Decision { cwnd: None, ssthresh: None, pacing_bps: None };

    /// The congestion window after an acknowledgement \[segments\].
    pub fn cwnd(cwnd: f64) -> Decision {
        Decision { cwnd: Some(cwnd), ..Decision::KEEP }
    }

    /// The window after a congestion signal \[segments\]: ssthresh, from which the congestion window follows.
    pub fn ssthresh(ssthresh: f64) -> Decision {
        Decision { ssthresh: Some(ssthresh), ..Decision::KEEP }
    }
}

/// A rule of one connection.
pub trait Controller {
    /// Answers an acknowledgement of new data outside of a loss recovery.
    fn on_ack(&mut self, view: &View) -> Decision;

    /// Answers a loss, a timeout or a congestion mark.
    fn on_congestion(&mut self, view: &View, signal: Signal) -> Decision;

    /// Answers the end of a fast recovery.
    fn on_recovery_end(&mut self, _view: &View) -> Decision {
        Decision::KEEP
    }
}

/// The controllers of the connections of a run, each made by `make` when its connection first asks: from the flow, and
/// from the name of the rule in the settings. A clone of the run needs a clone of its controllers.
pub struct Controllers<R, F>(Arc<Mutex<Inner<R, F>>>);

#[derive(Clone)]
struct Inner<R, F> {
    make: F,
    list: Vec<R>,
}

/// Controllers of any type.
trait Rules: Send {
    fn open(&mut self, flow: FlowId, name: &str) -> u32;
    fn decide(&mut self, controller: u32, view: &View, event: Event) -> Decision;
}

type Lent = Option<Arc<Mutex<dyn Rules>>>;

thread_local! {
    /// Rules that the program has lent to this thread.
    static RULES: RefCell<Lent> = const { RefCell::new(None) };
}

/// Takes the rules back, also after a panic.
struct Return(Lent);

impl Drop for Return {
    fn drop(&mut self) {
        RULES.set(self.0.take());
    }
}

impl<R, F> Rules for Inner<R, F>
where
    R: Controller + Send,
    F: FnMut(FlowId, &str) -> R + Send,
{
    fn open(&mut self, flow: FlowId, name: &str) -> u32 {
        self.list.push((self.make)(flow, name));
        self.list.len() as u32 - 1
    }

    fn decide(&mut self, controller: u32, view: &View, event: Event) -> Decision {
        let rule = &mut self.list[controller as usize];
        match event {
            Event::Ack => rule.on_ack(view),
            Event::Congestion(signal) => rule.on_congestion(view, signal),
            Event::RecoveryEnd => rule.on_recovery_end(view),
        }
    }
}

impl<R, F> Controllers<R, F>
where
    R: Controller + Send + 'static,
    F: FnMut(FlowId, &str) -> R + Send + 'static,
{
    /// Controllers of a run at its start.
    pub fn new(make: F) -> Controllers<R, F> {
        Controllers(Arc::new(Mutex::new(Inner { make, list: Vec::new() })))
    }

    /// Lets the controllers decide in all that `advance` does with a run in this thread.
    pub fn drive<T>(&self, advance: impl FnOnce() -> T) -> T {
        let lent: Arc<Mutex<dyn Rules>> = self.0.clone();
        let _back = Return(RULES.replace(Some(lent)));
        advance()
    }
}

impl<R, F> Controllers<R, F> {
    /// Controllers for a clone of the run: `copy` copies those that exist, and `make` makes further ones.
    pub fn copied(&self, make: F, copy: impl FnMut(&R) -> R) -> Controllers<R, F> {
        let list = self.inner().list.iter().map(copy).collect();
        Controllers(Arc::new(Mutex::new(Inner { make, list })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner<R, F>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Clone, F: Clone> Clone for Controllers<R, F> {
    /// Controllers in the same state, for a clone of the run.
    fn clone(&self) -> Controllers<R, F> {
        let make = self.inner().make.clone();
        self.copied(make, R::clone)
    }
}

impl<R: fmt::Debug, F> fmt::Debug for Controllers<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.inner().list).finish()
    }
}

/// Asks the rules of this thread; `None`: there are none. `controller` is the number of the controller of the
/// connection, which gets one at its first question.
pub(super) fn ask(controller: &mut Option<u32>, name: &str, view: &View, event: Event) -> Option<Decision> {
    // A rule may drive another run.
    let rules = RULES.with_borrow(Clone::clone)?;
    let mut rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
    let number = *controller.get_or_insert_with(|| rules.open(view.flow, name));
    Some(rules.decide(number, view, event))
}
