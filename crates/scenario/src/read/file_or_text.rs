//! Pairs of settings, of which the first names a file and the second has the text of the file: a scenario sets either,
//! and has the text once the file is read.

use chappe_core::setting::{Node, Report, Table, Value};

/// A file and its text.
pub struct FileOrText {
    /// Dotted name of the group of both settings.
    pub group: &'static str,
    /// Setting that names the file.
    pub file: &'static str,
    /// Setting that has the text.
    pub text: &'static str,
    /// Meaning of both.
    meaning: &'static str,
}

/// Measured links between nodes.
pub const LINKS: FileOrText =
    FileOrText { group: "radio", file: "links_file", text: "links_table", meaning: "which links there are" };
/// Error rates of frames.
pub const ERROR_RATES: FileOrText = FileOrText {
    group: "radio.sinr",
    file: "error_rates_file",
    text: "error_rates_table",
    meaning: "which errors frames have",
};
const ALL: [FileOrText; 2] = [LINKS, ERROR_RATES];

/// Returns true if a dotted name is one of these settings, or a group around them.
pub fn concerns(path: &str) -> bool {
    ALL.iter().any(|of| {
        let mine = path.strip_prefix(of.group).and_then(|rest| rest.strip_prefix('.'));
        mine.is_some_and(|key| [of.file, of.text].contains(&key)) || is_around(path, of.group)
    })
}

/// Returns true if a group is this group or has it in it.
fn is_around(path: &str, group: &str) -> bool {
    group == path || group.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

/// Prepares a scenario for changes that lie over it: a text replaces the file below, and a file the text.
pub fn replace(base: &mut Table, over: &Table, report: &mut Report) {
    for of in &ALL {
        of.replace(base, over, report);
    }
}

impl FileOrText {
    /// Name of the file in a tree, and of its group.
    pub fn name(&self, key: &str) -> String {
        format!("{}.{key}", self.group)
    }

    /// The file was read: the scenario has its text, and no longer depends on it.
    pub fn put(&self, tree: &mut Node, text: Node) {
        if let Value::Table(root) = &mut tree.value
            && let Some(group) = group_mut(root, self.group)
        {
            group.insert(self.text.to_owned(), None, text);
            group.remove(self.file);
        }
    }

    fn replace(&self, base: &mut Table, over: &Table, report: &mut Report) {
        let steps = self.group.split('.');
        let own = steps.clone().try_fold(over, |table, step| match table.get(step) {
            Some(Node { value: Value::Table(inner), .. }) => Some(inner),
            _ => None,
        });
        let Some(own) = own else { return };
        let is_name = |file: &&Node| file.value != Value::Text("none".into());
        let outdated = match (own.get(self.file).filter(is_name), own.get(self.text)) {
            (Some(_), Some(Node { value: Value::Text(text), origin })) if !text.is_empty() => {
                let (file, text) = (self.name(self.file), self.name(self.text));
                let message = format!("`{file}` and `{text}` both say {}", self.meaning);
                report.add(&text, *origin, message, Some("leave one of them out".to_owned()));
                return;
            }
            (Some(_), None) => self.text,
            (None, Some(_)) => self.file,
            _ => return,
        };
        if let Some(group) = group_mut(base, self.group) {
            group.remove(outdated);
        }
    }
}

/// Group with a dotted name in a table, if it exists.
fn group_mut<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    name.split('.').try_fold(table, |table, step| match table.entry(step) {
        Some((_, Node { value: Value::Table(inner), .. })) => Some(inner),
        _ => None,
    })
}
