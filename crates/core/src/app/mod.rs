//! Applications: what is sent, and when.

pub mod cbr;
pub mod ftp;

use crate::keywords;
use crate::unit::Time;

keywords! {
    /// Applications.
    pub enum Kind {
        /// A file transfer over TCP, without end unless `ftp.segments` says otherwise.
        Ftp = "ftp",
        /// Datagrams of one size at one rate over UDP.
        Cbr = "cbr",
    }
}

/// What an application says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Gives TCP so many segments to send; `None`: without end.
    Write {
        /// Number of segments.
        segments: Option<u32>,
    },
    /// Sends a datagram.
    Datagram {
        /// Its number.
        seq: u32,
        /// Size at the network layer \[B\].
        bytes: u32,
    },
}

/// The sending application of a flow.
#[derive(Clone, Debug)]
pub enum Application {
    /// File transfer.
    Ftp(ftp::Ftp),
    /// Constant bit rate.
    Cbr(cbr::Cbr),
}

impl Application {
    /// When the application wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Application::Ftp(a) => a.deadline(),
            Application::Cbr(a) => a.deadline(),
        }
    }

    /// Its deadline has come.
    pub fn on_deadline(&mut self) -> Out {
        match self {
            Application::Ftp(a) => a.on_deadline(),
            Application::Cbr(a) => a.on_deadline(),
        }
    }
}
