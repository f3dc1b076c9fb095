//! Timeline tests: what a room does, event by event, as tables that read like the protocol's specification.

mod tcp;
