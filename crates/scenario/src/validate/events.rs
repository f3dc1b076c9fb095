//! Events: validation.

use super::super::build::events::{after_fin, commands};
use super::super::build::layout::Layout;
use super::super::schema::events::Action;
use super::Checker;
use chappe_core::run::Command;
use chappe_core::setting::{Code, join};
use chappe_core::unit::Time;

impl Checker<'_> {
    /// Validates the events, and adds their commands to the layout.
    pub(super) fn events(&mut self, layout: &mut Layout) {
        for (i, event) in self.cfg.event.0.iter().enumerate() {
            let at = format!("event.{i}");
            let Some(time) = event.at else {
                self.error(&at, format!("event {i} has no time"), &format!("set `{at}.at`, such as \"3 s\""));
                continue;
            };
            match commands(self.cfg, layout, event) {
                Ok(commands) => {
                    self.start_after_fin(i, &commands, time, layout);
                    layout.events.extend(commands.into_iter().map(|c| (time, c)));
                }
                Err((name, message, help)) => {
                    let path = if name.is_empty() { at.clone() } else { join(&at, name) };
                    self.error(&path, format!("event {i}: {message}"), &help);
                }
            }
        }
    }

    /// Refuses an event that starts a flow again whose connection ends with a FIN: it takes no more data.
    fn start_after_fin(&mut self, i: usize, commands: &[Command], time: Time, layout: &Layout) {
        let [Command::FlowStart(f)] = commands else { return };
        let flow = &layout.flows[f.index()];
        let others = self.cfg.event.0.iter().enumerate().filter(|(k, e)| {
            let before = e.at.is_some_and(|at| at < time || (at == time && *k < i));
            before && e.action == Some(Action::FlowStart) && e.flow == Some(f.0)
        });
        let began = flow.start.filter(|at| *at < time).or(others.filter_map(|(_, e)| e.at).min());
        if let Some(began) = began
            && flow.is_tcp(self.cfg)
            && flow.tcp.over(&self.cfg.tcp).ends_with_fin()
        {
            let message = format!("event {i}: {}", after_fin(*f, began));
            let help = format!("list another flow that starts at {time}, or set `flow.{}.tcp.fin = false`", f.0);
            self.error(&format!("event.{i}.flow"), message, &help);
        }
    }

    /// Warns of events after the end of the run.
    pub(super) fn late_events(&mut self, end: Time) {
        let late = self.cfg.event.0.iter().enumerate().find(|(_, e)| e.at.is_some_and(|at| at >= end));
        if let Some((i, at)) = late.and_then(|(i, e)| Some((i, e.at?))) {
            let message = format!("event {i} comes at {at}, and the run ends at {end}");
            let help = "move it to an earlier time, or make the run longer";
            self.warn(Code::LateEvent, &format!("event.{i}.at"), message, help);
        }
    }
}
