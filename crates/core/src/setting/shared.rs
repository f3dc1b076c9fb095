//! A group of settings that few scenarios change: copies share the group, so that connections save its memory.

use super::{Node, Report, Setting};
use serde_json::Value as Json;
use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A group that copies share until one of them changes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Setting + Clone> Setting for Shared<T> {
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report) {
        (**self).apply(node, path, report);
    }

    fn write(&self) -> Json {
        self.0.write()
    }

    fn changes(&self, from: &Self) -> Option<Json> {
        self.0.changes(&from.0)
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
        self.0.show(path, to);
    }

    fn unused_within(&self, path: &str, above: &dyn Any) -> Option<&'static str> {
        self.0.unused_within(path, above)
    }
}
