//! Namespaces of a whole live run: what its processes see, and that nothing is left of them.

use crate::address;
use crate::kernel::unshare;
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount};
use rustix::process::{Signal, getgid, getuid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fmt;
use std::fs;

/// Reason why there is no live run, with the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The impossible step, and the reason.
    pub what: String,
    /// The way out.
    pub help: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.help)
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(crate) fn new(what: &str, why: impl fmt::Display, help: &str) -> Refusal {
        Refusal { what: format!("cannot {what}: {why}"), help: help.into() }
    }
}

/// Number in a file of `/proc/sys`.
fn limit(name: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().parse().ok()
}

/// Refusal of namespaces to an unprivileged user, with the way out.
fn of_users(why: impl fmt::Display) -> Refusal {
    let help = if limit("user/max_user_namespaces") == Some(0) {
        "user namespaces are limited to 0: run as root, or let root set `sysctl user.max_user_namespaces=10000`"
    } else if limit("kernel/unprivileged_userns_clone") == Some(0) {
        "user namespaces are for root here: run as root, or let root set `sysctl kernel.unprivileged_userns_clone=1`"
    } else if limit("kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        "AppArmor keeps capabilities from user namespaces: run as root, or let root set \
         `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
    } else {
        "run as root, or with the capability SYS_ADMIN; a container needs `--cap-add SYS_ADMIN` and a seccomp profile \
         that allows unshare"
    };
    Refusal::new("make namespaces", why, help)
}

/// Leaves the namespaces of the caller, as root directly and otherwise through a user namespace in which the caller is
/// root. The next child is process 1 of a PID namespace: nothing of it outlives it.
///
/// # Errors
/// The missing right, device or limit, with the way out.
pub fn enclose() -> Result<(), Refusal> {
    let wanted = UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    match unshare(wanted) {
        Err(Errno::PERM) => {}
        done => return done.map_err(of_users),
    }
    let threads = fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if threads != 1 {
        let why = format!("the process has {threads} threads");
        return Err(Refusal::new("make a user namespace", why, "run as root, or from a process with one thread"));
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(UnshareFlags::NEWUSER | wanted).map_err(of_users)?;
    let write = |name, text: &str| fs::write(format!("/proc/self/{name}"), text).map_err(of_users);
    write("setgroups", "deny")?;
    write("uid_map", &format!("0 {user} 1"))?;
    write("gid_map", &format!("0 {group} 1"))
}

/// Prepares process 1, a child of the process that called [`enclose`]: it dies with its parent, and nodes have names. A
/// parent that died before is not noticed.
///
/// # Errors
/// The missing right, device or limit, with the way out.
pub fn settle(nodes: &[u32], names: &BTreeMap<u32, String>) -> Result<(), Refusal> {
    let failed = |why: Errno| Refusal::new("follow the parent process", why, "run as root");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(of_users)?;
    name_nodes(&address::hosts(nodes, names))?;
    // A container may forbid it; then /proc shows the processes of others.
    mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None::<&CStr>).ok();
    Ok(())
}

/// Puts a file of its own over `/etc/hosts`, of which nothing is left outside the mount namespace, and an empty one over
/// `/etc/resolv.conf`: there is no server to ask for other names, so that programs do not wait for one.
fn name_nodes(hosts: &str) -> Result<(), Refusal> {
    const PLACE: &str = "/tmp";
    let failed =
        |why: &dyn fmt::Display| Refusal::new("write names of nodes over /etc/hosts", why, "let root create it");
    mount("tmpfs", PLACE, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None::<&CStr>).map_err(|e| failed(&e))?;
    let cover = |name: &str, text: &str| {
        let file = format!("{PLACE}/{name}");
        fs::write(&file, text).map_err(|e| failed(&e))?;
        mount_bind(&file, format!("/etc/{name}")).map_err(|e| failed(&e))
    };
    let named = cover("hosts", hosts);
    // A machine without this file asks no server either.
    let _ = cover("resolv.conf", "");
    unmount(PLACE, UnmountFlags::DETACH).map_err(|e| failed(&e))?;
    named
}
