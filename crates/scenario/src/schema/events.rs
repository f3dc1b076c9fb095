//! Actions of events, and the settings that each of them takes.

use super::{Any, Event};
use chappe_core::keywords;
use chappe_core::setting::{Node, Report, Setting, Value};
use serde_json::{Map, Value as Json, json};

keywords! {
    /// Change that an event makes.
    pub enum Action {
        /// Switches a node off, or one of its radios.
        NodeDown = "node_down",
        /// Switches a node on again, or one of its radios.
        NodeUp = "node_up",
        /// Cuts a point-to-point link, both ways: what waits for it or is on it is lost.
        WiredLinkDown = "wired_link_down",
        /// Joins a point-to-point link again.
        WiredLinkUp = "wired_link_up",
        /// Moves a node, to `position` at once or to `destination` with `speed`; it stays there for the rest of the
        /// run, whatever `mobility` says.
        NodeMove = "node_move",
        /// Starts the application of a flow, or restarts it.
        FlowStart = "flow_start",
        /// Stops the application of a flow.
        FlowStop = "flow_stop",
        /// Changes a setting.
        Set = "set",
    }
}

impl Action {
    /// Settings of an event with this action; the first one is required.
    pub fn takes(self) -> &'static [&'static str] {
        match self {
            Action::NodeDown | Action::NodeUp => &["node", "channel"],
            Action::WiredLinkDown | Action::WiredLinkUp => &["wired_link"],
            Action::NodeMove => &["node", "position", "destination", "speed"],
            Action::FlowStart | Action::FlowStop => &["flow"],
            Action::Set => &["setting", "value"],
        }
    }
}

impl Event {
    /// Returns true if the event moves a node.
    pub fn moves(&self) -> bool {
        self.action == Some(Action::NodeMove)
    }
}

/// Settings of an event that belong to some actions only, and true for each that is set.
pub fn arguments(event: &Event) -> [(&'static str, bool); 9] {
    [
        ("node", event.node.is_some()),
        ("channel", event.channel.is_some()),
        ("wired_link", event.wired_link.is_some()),
        ("position", event.position.is_some()),
        ("destination", event.destination.is_some()),
        ("speed", event.speed.is_some()),
        ("flow", event.flow.is_some()),
        ("setting", event.setting.is_some()),
        ("value", event.value.0.is_some()),
    ]
}

/// Adds to the schema of a scenario which settings of an event belong to which action.
pub fn describe(schema: &mut Json) {
    let given = json!({ "not": { "const": "none" } });
    let settings = schema["properties"]["event"]["items"]["properties"].clone();
    let all: Vec<&str> = arguments(&Event::default()).map(|a| a.0).into();
    let of_action = |action: &Action| {
        let takes = action.takes();
        let others = all.iter().filter(|name| !takes.contains(name));
        let absent = |name: &str| json!({ "const": settings[name]["anyOf"][0]["const"].as_str().unwrap_or("none") });
        let mut properties: Map<String, Json> = others.map(|name| ((*name).to_owned(), absent(name))).collect();
        properties.insert(takes[0].to_owned(), given.clone());
        let mut then = json!({ "required": [takes[0]], "properties": properties });
        match action {
            Action::Set => {
                then["required"] = json!(takes);
                then["properties"]["value"] = given.clone();
            }
            Action::NodeMove => {
                let absent = json!({ "const": "none" });
                then["oneOf"] = json!([
                    {
                        "required": ["position"],
                        "properties": { "position": given, "destination": absent, "speed": absent },
                    },
                    {
                        "required": ["destination", "speed"],
                        "properties": { "destination": given, "speed": given, "position": absent },
                    },
                ]);
            }
            _ => {}
        }
        json!({ "if": { "properties": { "action": { "const": action.word() } }, "required": ["action"] }, "then": then })
    };
    let event = &mut schema["properties"]["event"]["items"];
    event["required"] = json!(["at", "action"]);
    event["allOf"] = Action::ALL.iter().map(of_action).collect();
}

impl Setting for Any {
    fn apply(&mut self, node: &Node, _: &str, _: &mut Report) {
        self.0 = (node.value != Value::Text("none".into())).then(|| node.clone());
    }

    fn write(&self) -> Json {
        self.0.as_ref().map_or_else(|| "none".into(), super::super::schema::to_json)
    }

    fn schema(&self) -> Json {
        let kind = "a number, or text such as \"2 Mbit/s\"";
        serde_json::json!({ "type": ["string", "number"], "description": kind, "default": "none" })
    }

    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
        to(path, None);
    }
}
