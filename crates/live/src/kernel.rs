//! Calls of the kernel that no safe function gives.
#![allow(unsafe_code, reason = "each call says why it is sound")]

use rustix::io::Result;
use rustix::ioctl::{self, Opcode, Updater};
use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;
use std::fs::File;

/// TUNSETIFF, flags and size of `struct ifreq` (linux/if_tun.h, linux/if.h).
const TUN_SET_IFF: Opcode = 0x4004_54ca;
const IFF_TUN: i16 = 0x0001;
const IFF_NO_PI: i16 = 0x1000;
const IFREQ: usize = 40;
const IF_NAME: usize = 16;

/// Makes an open `/dev/net/tun` a device of the calling thread's network namespace, which carries IP packets. It ends
/// with its file.
pub fn become_tun(file: &File, name: &str) -> Result<()> {
    let mut request = [0_u8; IFREQ];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[IF_NAME..IF_NAME + 2].copy_from_slice(&(IFF_TUN | IFF_NO_PI).to_ne_bytes());
    // SAFETY: TUNSETIFF reads and writes a `struct ifreq`, whose size the array has.
    unsafe { ioctl::ioctl(file, Updater::<TUN_SET_IFF, _>::new(&mut request)) }
}

/// Leaves the namespaces that others share.
pub fn unshare(flags: UnshareFlags) -> Result<()> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: only a table of files that is no longer shared could surprise threads that own files.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Sends a signal to all other processes of the PID namespace whose process 1 calls this.
pub fn signal_all(signal: Signal) {
    debug_assert_eq!(rustix::process::getpid(), Pid::INIT);
    // SAFETY: `kill` touches no memory. A failure says that there is no other process.
    unsafe { libc::kill(-1, signal.as_raw()) };
}

/// Gives the calling thread real-time priority, which its children do not inherit. Returns false where this is not
/// allowed.
pub fn become_real_time() -> bool {
    let wanted = libc::sched_param { sched_priority: 10 };
    // SAFETY: the call reads the parameters, which outlive it.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const wanted) == 0 }
}
