//! Names of nodes: numbers take their place where a scenario or one of its tables has them, and they take the place of
//! numbers in messages.

use super::super::schema::nodes::{NodeName, NodeSet};
use super::source::{Files, Sources};
use chappe_core::setting::csv::{Csv, Misread, lines};
use chappe_core::setting::foreign::Wanted;
use chappe_core::setting::{Node, Report, Scalar, Value, join, shortened, suggest};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Settings whose values are nodes; `*` is any entry of a list.
const OF_NODES: [&str; 17] = [
    "arrival_process.*.dst",
    "arrival_process.*.src",
    "event.*.node",
    "flow.*.dst",
    "flow.*.src",
    "middlebox.*.node",
    "node.*.gateway",
    "node.*.nodes",
    "node.*.wlan.link_rate.*.dst",
    "node.*.wlan.link_rate.*.src",
    "routing.fixed.routes.*.dst",
    "routing.fixed.routes.*.next_hop",
    "routing.fixed.routes.*.node",
    "wired_link.*.dst",
    "wired_link.*.src",
    "wlan.link_rate.*.dst",
    "wlan.link_rate.*.src",
];

/// Settings with the text of a table, and its columns of nodes.
const TEXTS: [(&str, &[&str]); 2] = [("radio.links_table", &ENDS), ("mobility.table", &["node"])];

/// Columns of nodes in tables of links and flows.
pub const ENDS: [&str; 2] = ["src", "dst"];

/// Names of nodes, with their numbers.
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbers: BTreeMap<String, u32>,
    names: BTreeMap<u32, String>,
    /// Settings that name a node that does not exist, and what is said about them.
    unknown: BTreeMap<String, Misread>,
}

impl Names {
    /// Takes the names that a scenario gives to nodes, adds those of its file of positions to it, and puts numbers where
    /// it names nodes.
    pub fn resolve(tree: &mut Node, sources: &Sources, files: &dyn Files) -> Names {
        add_names_of_file(tree, sources, files);
        let mut names = Names::default();
        // A doubled or otherwise wrong name is reported when the settings are validated.
        if let Some(Node { value: Value::List(entries), .. }) = tree.at("node") {
            for entry in entries {
                let number = entry.at("nodes").and_then(|nodes| NodeSet::read(nodes).ok()?.single());
                let name = entry.at("name").and_then(|name| NodeName::read(name).ok());
                if let (Some(number), Some(NodeName(name))) = (number, name) {
                    names.numbers.entry(name.clone()).or_insert(number);
                    names.names.entry(number).or_insert(name);
                }
            }
        }
        if names.numbers.is_empty() {
            return names;
        }
        for pattern in OF_NODES {
            let steps: Vec<&str> = pattern.split('.').collect();
            visit(tree, &steps, "", &mut |node, path| {
                if let Err(misread) = names.number(node) {
                    names.unknown.insert(path.to_owned(), misread);
                }
            });
        }
        for (path, columns) in TEXTS {
            let steps: Vec<&str> = path.split('.').collect();
            visit(tree, &steps, "", &mut |node, path| {
                let Value::Text(text) = &mut node.value else { return };
                match names.in_table(text, columns) {
                    Ok(Cow::Owned(numbered)) => *text = numbered,
                    Ok(Cow::Borrowed(_)) => {}
                    Err(misread) => _ = names.unknown.insert(path.to_owned(), misread),
                }
            });
        }
        names
    }

    /// The nodes that have a name, in the order of their numbers.
    pub fn of_nodes(&self) -> &BTreeMap<u32, String> {
        &self.names
    }

    /// Number of the node with a name.
    fn find(&self, name: &str) -> Result<u32, Misread> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let known: Vec<&str> = self.numbers.keys().map(String::as_str).collect();
            let near = suggest(name, &known).unwrap_or_else(|| match known.len() {
                0..10 => format!("names are {}", known.join(", ")),
                n => format!("{n} nodes have a name, such as {}", known[..3].join(", ")),
            });
            Misread { why: format!("no node is named \"{}\"", shortened(name)), help: Some(near) }
        })
    }

    /// Puts numbers in place of the names in the value of a setting.
    fn number(&self, node: &mut Node) -> Result<(), Misread> {
        match &mut node.value {
            Value::Text(text) if !NodeName::is_taken(text) && !text.is_empty() => {
                let part = |part: &str| {
                    let part = part.trim();
                    if NodeName::is_number(part) { Ok(part.to_owned()) } else { self.find(part).map(|n| n.to_string()) }
                };
                let numbered = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?.join(", ");
                if numbered != *text {
                    // One number is a number also for a setting that takes no sets.
                    node.value = numbered.parse().map_or(Value::Text(numbered), Value::Int);
                }
                Ok(())
            }
            Value::List(list) => list.iter_mut().try_for_each(|n| self.number(n)),
            _ => Ok(()),
        }
    }

    /// A table with numbers in place of the names in these columns; its lines keep their numbers.
    ///
    /// # Errors
    /// A line names a node that does not exist.
    pub fn in_table<'a>(&self, text: &'a str, columns: &[&str]) -> Result<Cow<'a, str>, Misread> {
        if self.numbers.is_empty() {
            return Ok(text.into());
        }
        let mut places: Option<Vec<bool>> = None;
        let mut numbered = String::with_capacity(text.len());
        let mut at = 1;
        for (line, number) in lines(text) {
            while at < number {
                numbered.push('\n');
                at += 1;
            }
            let fields = line.split(',').map(|f| f.trim().trim_matches('"'));
            let Some(places) = &places else {
                let of_nodes: Vec<bool> = fields.map(|f| columns.contains(&f)).collect();
                if !of_nodes.contains(&true) {
                    return Ok(text.into());
                }
                places = Some(of_nodes);
                numbered.push_str(line);
                continue;
            };
            for (i, field) in fields.enumerate() {
                let comma = if i == 0 { "" } else { "," };
                let is_name = places.get(i).is_some_and(|p| *p) && !field.is_empty() && !NodeName::is_number(field);
                _ = if is_name {
                    let n = self.find(field).map_err(|m| Misread { why: format!("line {number}: {}", m.why), ..m })?;
                    write!(numbered, "{comma}{n}")
                } else {
                    write!(numbered, "{comma}{field}")
                };
            }
        }
        numbered.push('\n');
        Ok(if places.is_some() { numbered.into() } else { text.into() })
    }

    /// Tells of names that no node has, where the settings could not be read for them, and names the nodes in messages.
    pub fn tell(&self, report: &mut Report) {
        for problem in &mut report.problems {
            let entry = |(path, _): &(&String, &Misread)| problem.path == **path;
            if let Some((_, Misread { why, help })) = self.unknown.iter().find(entry) {
                (problem.message, problem.help) = (format!("`{}`: {why}", problem.path), help.clone());
            } else if !self.names.is_empty() {
                problem.message = self.in_text(&problem.message).into_owned();
                problem.help = problem.help.take().map(|help| self.in_text(&help).into_owned());
            }
        }
    }

    /// A text for people in which "node 17" is "node roof-17", and "nodes 3 and 17" are "nodes 3 and roof-17".
    pub fn in_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const BEFORE: [&str; 4] = ["node ", "nodes ", "Node ", "Nodes "];
        if self.names.is_empty() || !text.contains("ode") {
            return text.into();
        }
        let mut named = String::with_capacity(text.len());
        let mut rest = text;
        // Numbers follow the word, and with its plural each other.
        while let Some((start, word)) =
            BEFORE.iter().filter_map(|word| Some((rest.find(word)?, *word))).min_by_key(|(at, word)| (*at, word.len()))
        {
            // A number of which "there is no node" is the name of none.
            let is_other = rest[..start].ends_with(char::is_alphanumeric) || rest[..start].ends_with("no ");
            named.push_str(&rest[..start + word.len()]);
            rest = &rest[start + word.len()..];
            if is_other {
                continue;
            }
            loop {
                let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let Ok(number) = rest[..digits].parse::<u32>() else { break };
                let tail = &rest[digits..];
                // "3.5" and "and 3 more" are no nodes.
                let is_part = tail.starts_with(" more")
                    || tail.strip_prefix(['.', '-']).is_some_and(|after| after.starts_with(char::is_alphanumeric));
                match self.names.get(&number) {
                    Some(name) if !is_part => named.push_str(name),
                    _ => named.push_str(&rest[..digits]),
                }
                rest = tail;
                let plural = word.ends_with("s ");
                let Some(next) = [" and ", ", "].into_iter().find(|and| plural && rest.starts_with(and)) else { break };
                named.push_str(next);
                rest = &rest[next.len()..];
            }
        }
        named.push_str(rest);
        named.into()
    }
}

impl NodeSet {
    /// The node of a set of one.
    pub fn single(&self) -> Option<u32> {
        match self.0[..] {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }
}

/// Adds the column `name` of the file of positions to the settings of single nodes. Mistakes in the file are reported
/// when its positions are read.
fn add_names_of_file(tree: &mut Node, sources: &Sources, files: &dyn Files) {
    if tree.at("topology.kind").is_none_or(|kind| kind.value != Value::Text("file".into())) {
        return;
    }
    let named = tree.at("topology.file");
    let Some(Node { value: Value::Text(file), .. }) = named else { return };
    let Ok((_, text)) = files.read(file, sources.named_by(named)) else { return };
    let Ok(csv) = Csv::read(&text, Wanted::Positions) else { return };
    let Some(column) = csv.column("name") else { return };
    let Ok(of_rows) = csv.in_order("node", csv.rows().iter().map(|row| row.get(column)).collect()) else { return };
    let named = of_rows.into_iter().zip(0u32..).filter(|(name, _)| !name.is_empty());
    let mut entries: Vec<Node> = named.map(|(name, n)| Node::from_json(&json!({ "nodes": n, "name": name }))).collect();
    let Value::Table(root) = &mut tree.value else { return };
    match root.entry("node") {
        Some((_, Node { value: Value::List(list), .. })) => {
            entries.retain(|new| !list.iter().any(|old| same_name(old, new)));
            list.append(&mut entries);
        }
        Some(_) => {}
        None => root.insert("node".into(), None, Node { value: Value::List(entries), origin: None }),
    }
}

/// Returns true if two entries give the same name to the same node.
fn same_name(a: &Node, b: &Node) -> bool {
    ["nodes", "name"].iter().all(|key| a.at(key).map(|n| &n.value) == b.at(key).map(|n| &n.value))
}

/// Calls a function with each value at a path of these steps, and with its path.
fn visit(node: &mut Node, steps: &[&str], path: &str, to: &mut dyn FnMut(&mut Node, &str)) {
    let Some((step, rest)) = steps.split_first() else { return to(node, path) };
    match (&mut node.value, *step) {
        (Value::List(list), "*") => {
            for (i, inner) in list.iter_mut().enumerate() {
                visit(inner, rest, &join(path, &i.to_string()), to);
            }
        }
        (Value::Table(table), key) => {
            if let Some((_, inner)) = table.entry(key) {
                visit(inner, rest, &join(path, key), to);
            }
        }
        _ => {}
    }
}

/// Adds to the schema of a scenario that nodes may be given by their names.
pub fn describe(schema: &mut Json) {
    for pattern in OF_NODES {
        let at: String = pattern.split('.').fold(String::new(), |at, step| match step {
            "*" => at + "/items",
            step => at + "/properties/" + step,
        });
        let setting = schema.pointer_mut(&at).unwrap_or_else(|| panic!("{pattern} is no setting"));
        let types: Vec<&mut Json> = match setting.get_mut("anyOf").and_then(Json::as_array_mut) {
            Some(all) => all.iter_mut().collect(),
            None => vec![setting],
        };
        for kind in types.into_iter().filter_map(|t| t.get_mut("type")).filter(|t| *t == "integer") {
            *kind = json!(["integer", "string"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::schema::Config;
    use super::*;
    use chappe_core::setting::Setting;

    fn names() -> Names {
        let mut tree = Node::from_json(&json!({
            "node": [{ "nodes": 3, "name": "roof-3" }, { "nodes": 12, "name": "mill" }, { "nodes": "0-9" }],
        }));
        Names::resolve(&mut tree, &Sources::default(), &super::super::source::NoFiles)
    }

    #[test]
    fn every_setting_of_nodes_takes_names() {
        let mut of_nodes = vec![];
        Config::default().show("", &mut |path, _| {
            let last = path.rsplit('.').next().unwrap_or_default();
            let is_node = ["src", "dst", "node", "nodes", "next_hop", "gateway"].contains(&last);
            if is_node && path != "topology.nodes" {
                of_nodes.push(path.to_owned());
            }
        });
        of_nodes.sort();
        assert_eq!(of_nodes, OF_NODES);
    }

    #[test]
    fn numbers_of_nodes_in_texts_are_named() {
        let names = names();
        for (text, named) in [
            ("node 3 cannot be reached from node 12", "node roof-3 cannot be reached from node mill"),
            ("Node 12, node 4", "Node mill, node 4"),
            ("nodes 3, 4 and 12 and 3 more", "nodes roof-3, 4 and mill and 3 more"),
            ("nodes are numbered from 0 to 12", "nodes are numbered from 0 to 12"),
            ("`node.3.name`, flow 3, anode 3, node 3.5, node 30", "`node.3.name`, flow 3, anode 3, node 3.5, node 30"),
            ("link 12 of node 3: 3 packets", "link 12 of node roof-3: 3 packets"),
        ] {
            assert_eq!(names.in_text(text), named);
        }
    }

    #[test]
    fn names_in_tables_become_numbers() {
        let names = names();
        let text = "# a comment\n\nsrc, dst,signal_dbm\nroof-3,\"mill\",-70\n1,roof-3,-71\n";
        assert_eq!(names.in_table(text, &ENDS).expect("right"), "\n\nsrc, dst,signal_dbm\n3,12,-70\n1,3,-71\n");
        let wrong = names.in_table("src,dst\n1,rof-3\n", &ENDS).expect_err("wrong").to_string();
        assert_eq!(wrong, "line 2: no node is named \"rof-3\"; did you mean `roof-3`?");
    }
}
