//! Events that a program gives to a run of a scenario, in the form in which a scenario lists them.

use super::build::events::{after_fin, commands};
use super::schema::{self, Event};
use super::{Errors, Scenario, Sources};
use chappe_core::packet::FlowId;
use chappe_core::run::Command;
use chappe_core::setting::{Problem, Report, Setting, Value};
use chappe_core::unit::Time;
use serde_json::Value as Json;

/// Problems of an event of a program that drives a run.
fn of_program(problems: Vec<Problem>) -> Errors {
    Errors { problems, more: 0, sources: Sources::default() }
}

impl Scenario {
    /// Refuses commands of a program that restart a flow whose connection ends with a FIN. `began` is the time at
    /// which a flow has begun, if it has.
    ///
    /// # Errors
    /// The problem of the first of these commands.
    pub fn check_start(&self, commands: &[Command], began: impl Fn(FlowId) -> Option<Time>) -> Result<(), Errors> {
        let cfg = self.config();
        let again = commands.iter().find_map(|command| match command {
            Command::FlowStart(f) => {
                let flow = &self.layout().flows[f.index()];
                let ends = flow.is_tcp(cfg) && flow.tcp.over(&cfg.tcp).ends_with_fin();
                Some((*f, began(*f).filter(|_| ends)?))
            }
            _ => None,
        });
        again.map_or(Ok(()), |(flow, began)| {
            let help = Some(format!("start another flow, or set `flow.{}.tcp.fin = false`", flow.0));
            let message = after_fin(flow, began);
            Err(of_program(vec![Problem { code: None, path: "flow".into(), origin: None, message, help }]))
        })
    }

    /// Commands for an event without a time, as given by a program that drives a run of this scenario.
    ///
    /// # Errors
    /// All problems of the event.
    pub fn commands(&self, json: &Json) -> Result<Vec<Command>, Errors> {
        let (mut event, mut report) = (Event::default(), Report::default());
        let node = schema::node(json, "event.0");
        event.apply(&node, "", &mut report);
        if let Value::Table(t) = &node.value
            && t.get("at").is_some()
        {
            let help = "call `run_until` first to advance to another time".to_owned();
            report.add("at", None, "`apply` acts at the present time and takes no `at`", Some(help));
        }
        if !report.problems.is_empty() {
            return Err(of_program(report.problems));
        }
        commands(self.config(), self.layout(), &event).map_err(|(path, message, help)| {
            of_program(vec![Problem { code: None, path: path.into(), origin: None, message, help: Some(help) }])
        })
    }
}
