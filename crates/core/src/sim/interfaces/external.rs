//! Interface between a run and the driver of its external flows.

use crate::packet::{Body, Datagram, FlowId, NodeId};
use crate::run::external::{Event, HEADER, Injection, Refused};
use crate::sim::Sim;
use crate::sim::flows::Ends;
use crate::sim::schedule::Halt;
use crate::unit::{Bytes, Time};

impl Sim {
    /// Sends a datagram of an external flow now. As with every command, all other events at this instant precede it; at
    /// 0 s it precedes them.
    ///
    /// # Errors
    /// The reason why the datagram was not accepted; the run is then unchanged.
    pub fn inject(&mut self, flow: FlowId, datagram: Injection) -> Result<(), Refused> {
        let f = flow.index();
        if self.end().is_some() {
            return Err(Refused::RunOver);
        }
        let listed = self.flows.list.get(f).filter(|flow| flow.app.is_external());
        let (from, to, dscp) = listed.map(|f| (f.from, f.to, f.dscp)).ok_or(Refused::NotExternal(flow))?;
        let Injection { bytes, ecn, tag, .. } = datagram;
        let most = Bytes(self.net.cfg.mtu.0.saturating_sub(HEADER.0));
        if bytes > most.0 {
            return Err(Refused::TooLarge { bytes, most });
        }
        let dscp = datagram.dscp.unwrap_or(dscp);
        if dscp > 63 {
            return Err(Refused::NoCodepoint(dscp));
        }
        // A battery may run down before the present time.
        self.catch_up();
        if self.net.is_off(from) {
            return Err(Refused::NodeOff(from));
        }
        let external = self.watch.external.as_mut().expect("a flow is external");
        if !external.has_room(f) {
            return Err(Refused::TooMany(flow));
        }
        external.begin(f, tag);
        self.begin_transfer(f);
        let Ends::Udp { sent, .. } = &mut self.flows.list[f].ends else { unreachable!("an external flow is over UDP") };
        let seq = *sent as u32;
        *sent += 1;
        self.send(f, from, to, Body::Datagram(Datagram { seq, dscp }), bytes + HEADER.0, ecn);
        self.watch.note_packets(&mut self.pool);
        Ok(())
    }

    /// The application at the destination of an external flow has read bytes from its transport. From the first call on,
    /// also with 0, goodput counts these and not the payloads that arrive. Nothing happens to other flows.
    pub fn read(&mut self, flow: FlowId, bytes: u64) {
        if let Some(flow) = self.flows.list.get_mut(flow.index()).filter(|flow| flow.app.is_external()) {
            flow.transfer.read(bytes);
        }
    }

    /// Sets the timer of an endpoint, which has one: the run halts with [`Event::Wake`] at this instant, or at once if
    /// it has passed, after all other events of the instant. `Time::NEVER` clears the timer. In a run without external
    /// flows there are no endpoints, and nothing happens.
    pub fn wake(&mut self, endpoint: NodeId, at: Time) {
        if let Some(external) = &mut self.watch.external {
            external.set_timer(endpoint, at);
        }
    }

    /// Removes and returns the events of external flows at the present time, in the order in which they happened. The
    /// run does not go on before they are taken.
    pub fn events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.watch.external.iter_mut().flat_map(|external| external.take())
    }

    /// Advances the run, and halts for events after all that is due at their instant.
    #[inline(never)]
    pub(in crate::sim) fn advance_to_events(&mut self, at: Time, steps: u64) -> Option<Halt> {
        if self.has_events() {
            return Some(Halt::Events);
        }
        let timer = self.watch.external.as_ref().map_or(Time::NEVER, |external| external.deadline());
        let until = at.min(timer);
        let mut halt = self.halt_before(until);
        let mut left = if halt.is_none() { steps } else { 0 };
        if halt.is_none() {
            self.schedule.horizon = until;
        }
        while halt.is_none() && if self.has_events() { self.timers.next_at() <= self.now } else { left > 0 } {
            halt = self.run_steps(1);
            left = left.saturating_sub(1);
        }
        if halt == Some(Halt::Reached)
            && let Some(external) = &mut self.watch.external
        {
            external.expire(self.now);
        }
        if self.has_events() { Some(Halt::Events) } else { halt }
    }

    fn has_events(&self) -> bool {
        self.watch.external.as_ref().is_some_and(|external| external.has_events())
    }
}
