//! Programs on nodes.

use crate::address;
use crate::kernel::signal_all;
use crate::node::Node;
use rustix::process::{Signal, WaitOptions, wait};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};

/// A program on a node.
#[derive(Clone, Debug)]
pub struct Program {
    /// Number of the node.
    pub node: u32,
    /// Name of the program and its arguments.
    pub words: Vec<OsString>,
    /// The run ends with it, and its standard input is that of the caller.
    pub is_main: bool,
}

/// Programs that have been started.
#[derive(Default)]
pub struct Programs {
    /// Exit codes in the order in which the programs were started.
    codes: Vec<Option<i32>>,
    running: HashMap<i32, usize>,
}

/// Exit code in the way of shells.
fn code(status: i32) -> i32 {
    let status = ExitStatus::from_raw(status);
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

impl Programs {
    /// Starts a program on its node; with `quiet` its output goes to standard error.
    ///
    /// # Errors
    /// There is no such program.
    pub fn start(&mut self, program: &Program, node: &Node, all: &[u32], quiet: bool) -> io::Result<()> {
        let mut command = Command::new(&program.words[0]);
        command.args(&program.words[1..]);
        command.env("CHAPPE_NODE", node.number.to_string());
        command.env("CHAPPE_ADDRESS", address::v4(node.number).to_string());
        command.env("CHAPPE_ADDRESS6", address::v6(node.number).to_string());
        for other in all {
            command.env(format!("CHAPPE_NODE{other}"), address::v4(*other).to_string());
        }
        if !program.is_main {
            command.stdin(Stdio::null());
        }
        if quiet {
            command.stdout(io::stderr().as_fd().try_clone_to_owned()?);
        }
        let child = node.inside(|| command.spawn())?;
        self.running.insert(child.id() as i32, self.codes.len());
        self.codes.push(None);
        Ok(())
    }

    /// Notes programs that have ended, and takes away orphans, as process 1 does.
    pub fn collect(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if let Some(place) = self.running.remove(&pid.as_raw_nonzero().get()) {
                self.codes[place] = Some(code(status.as_raw()));
            }
        }
    }

    /// Returns true if a program runs.
    pub fn run(&self) -> bool {
        !self.running.is_empty()
    }

    /// Exit code of a program that has ended.
    pub fn code(&self, place: usize) -> Option<i32> {
        self.codes.get(place).copied().flatten()
    }

    /// The first exit code that is not 0, or 0.
    pub fn first_failure(&self) -> i32 {
        self.codes.iter().flatten().copied().find(|code| *code != 0).unwrap_or(0)
    }

    /// Sends a signal to all programs and their descendants.
    pub fn signal(&self, signal: Signal) {
        signal_all(signal);
    }
}
