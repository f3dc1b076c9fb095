//! Queue of a node's packets in the kernel (NFQUEUE): a packet stays in the hands of its socket until the radio has sent
//! it, so that TCP small queues work.

use crate::enclosure::Refusal;
use crate::node::{DEVICE, Node};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket, sockopt};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Command;

/// Messages and attributes of linux/netfilter/nfnetlink_queue.h.
const PACKET: u16 = 0x0300;
const VERDICT: u16 = 0x0301;
const CONFIG: u16 = 0x0302;
const VERDICT_HEADER: u16 = 2;
const PACKET_HEADER: u16 = 1;
const PAYLOAD: u16 = 10;
const CONFIG_COMMAND: u16 = 1;
const CONFIG_PARAMETERS: u16 = 2;
const CONFIG_LENGTH: u16 = 3;
const BIND: u8 = 1;
const COPY_PACKET: u8 = 2;
/// Headers of a netlink message and of netfilter, and of an attribute \[B\].
const HEADERS: usize = 20;
const ATTRIBUTE: usize = 4;
/// Packets that wait for a verdict, at most, and memory for messages that were not read \[B\].
const LENGTH: u32 = 65_535;
const MEMORY: usize = 4 << 20;

/// Verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The kernel forgets it.
    Drop = 0,
    /// It goes on to the device.
    Accept = 1,
}

/// Ways to put packets into the queue, each a list of commands; one of them has to work.
const RULES: [&[&str]; 2] = [
    &[
        "iptables -t mangle -A POSTROUTING -o {} -j NFQUEUE --queue-num 0",
        "ip6tables -t mangle -A POSTROUTING -o {} -j NFQUEUE --queue-num 0",
    ],
    &[
        "nft add table inet chappe",
        "nft add chain inet chappe out { type filter hook postrouting priority -150 ; }",
        "nft add rule inet chappe out oifname {} queue num 0",
    ],
];

/// The queue of a node.
pub struct Queue(OwnedFd);

fn message(kind: u16, attributes: &[(u16, &[u8])]) -> Vec<u8> {
    // The family and the number of the queue are 0.
    let mut bytes = vec![0; HEADERS];
    for (kind, value) in attributes {
        let length = (ATTRIBUTE + value.len()) as u16;
        bytes.extend(length.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(*value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    // A request; failures come as messages of their own.
    bytes[6..8].copy_from_slice(&1_u16.to_ne_bytes());
    bytes
}

/// Attributes of a message behind its headers.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let head = bytes.get(..ATTRIBUTE)?;
        let (length, kind) = (u16::from_ne_bytes([head[0], head[1]]), u16::from_ne_bytes([head[2], head[3]]));
        let value = bytes.get(ATTRIBUTE..usize::from(length))?;
        bytes = bytes.get(usize::from(length).next_multiple_of(4)..).unwrap_or_default();
        Some((kind & 0x3fff, value))
    })
}

impl Queue {
    /// The queue of a node, into which all goes that is sent to the device.
    ///
    /// # Errors
    /// The missing right or module, with the way out.
    pub fn new(node: &Node) -> Result<Queue, Refusal> {
        let queue = node.inside(|| {
            let queue = socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::NETFILTER))?;
            // More than the limit of a user needs rights over the whole machine.
            let _ = sockopt::set_socket_recv_buffer_size_force(&queue, MEMORY)
                .or_else(|_| sockopt::set_socket_recv_buffer_size(&queue, MEMORY));
            let queue = Queue(queue);
            queue.send(CONFIG, &[(CONFIG_COMMAND, &[BIND, 0, 0, 0])])?;
            let mut parameters = LENGTH.to_be_bytes().to_vec();
            parameters.push(COPY_PACKET);
            queue.send(CONFIG, &[(CONFIG_PARAMETERS, &parameters), (CONFIG_LENGTH, &LENGTH.to_be_bytes())])?;
            Ok(queue)
        });
        let failed = |why: io::Error| {
            Refusal::new("make a queue for packets (NFQUEUE)", why, "let root load it: `modprobe nfnetlink_queue`")
        };
        let queue = queue.map_err(failed)?;
        fill(node)?;
        Ok(queue)
    }

    fn send(&self, kind: u16, attributes: &[(u16, &[u8])]) -> io::Result<()> {
        let bytes = message(kind, attributes);
        sendto(&self.0, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        Ok(())
    }

    /// The descriptor, which is readable if a packet waits.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    /// Reads the next message: the number of a packet and the packet, or `None` for one about anything else.
    ///
    /// # Errors
    /// No message waits.
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<(u32, &'a [u8])>> {
        let (_, length) = recv(&self.0, &mut *buffer, RecvFlags::DONTWAIT)?;
        let bytes = &buffer[..length.min(buffer.len())];
        if bytes.get(4..6) != Some(&PACKET.to_ne_bytes()[..]) {
            return Ok(None);
        }
        let (mut number, mut packet) = (None, None);
        for (kind, value) in attributes(bytes.get(HEADERS..).unwrap_or_default()) {
            match kind {
                PACKET_HEADER => number = value.first_chunk().map(|id| u32::from_be_bytes(*id)),
                PAYLOAD => packet = Some(value),
                _ => {}
            }
        }
        Ok(number.zip(packet))
    }

    /// Gives the verdict on a packet.
    pub fn decide(&self, number: u32, verdict: Verdict) {
        let mut header = (verdict as u32).to_be_bytes().to_vec();
        header.extend(number.to_be_bytes());
        // A packet that is no longer there needs none.
        let _ = self.send(VERDICT, &[(VERDICT_HEADER, &header)]);
    }
}

/// PATH with the folders of system programs at its end.
fn with_system_programs(path: &OsStr) -> OsString {
    let own = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
    let all = own.chain(["/usr/sbin".into(), "/sbin".into()]);
    std::env::join_paths(all).expect("folders of a PATH have no separator")
}

/// Puts all that is sent to the device of a node into its queue.
fn fill(node: &Node) -> Result<(), Refusal> {
    let mut why = String::new();
    let path = with_system_programs(&std::env::var_os("PATH").unwrap_or_default());
    for rule in RULES {
        let done = rule.iter().try_for_each(|line| {
            let mut words = line.split(' ').map(|word| if word == "{}" { DEVICE } else { word });
            let mut command = Command::new(words.next().unwrap_or_default());
            // An unprivileged user may not write the lock file of iptables, and may have no folder of such programs in
            // PATH.
            command.args(words).env("XTABLES_LOCKFILE", "/dev/null").env("PATH", &path);
            let shown = line.replace("{}", DEVICE);
            match node.inside(|| command.output()) {
                Ok(output) if output.status.success() => Ok(()),
                Ok(output) => Err(format!("`{shown}`: {}", String::from_utf8_lossy(&output.stderr).trim())),
                Err(e) => Err(format!("`{shown}`: {e}")),
            }
        });
        match done {
            Ok(()) => return Ok(()),
            Err(reason) => {
                let _ = write!(why, "{}{reason}", if why.is_empty() { "" } else { "; " });
            }
        }
    }
    let help = "install iptables or nftables, let root load `modprobe xt_NFQUEUE nft_queue`, or take `--door tun`";
    Err(Refusal::new("put packets into a queue", why.replace('\n', " "), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_folder_is_no_folder_of_programs() {
        for (path, all) in [("/bin:/usr/bin", "/bin:/usr/bin:/usr/sbin:/sbin"), ("", "/usr/sbin:/sbin")] {
            assert_eq!(with_system_programs(path.as_ref()), all);
        }
    }

    #[test]
    fn a_message_has_the_attributes_that_were_written() {
        let bytes = message(VERDICT, &[(2, &[0, 0, 0, 0, 0, 0, 0, 7]), (10, &[1, 2, 3]), (1, &[])]);
        assert_eq!((bytes.len(), bytes[0], &bytes[4..6]), (20 + 12 + 8 + 4, 44, &VERDICT.to_ne_bytes()[..]));
        let read: Vec<_> = attributes(&bytes[HEADERS..]).collect();
        assert_eq!(read, [(2, &[0, 0, 0, 0, 0, 0, 0, 7][..]), (10, &[1, 2, 3]), (1, &[])]);
    }

    #[test]
    fn a_message_that_is_cut_off_has_fewer_attributes() {
        let bytes = message(PACKET, &[(1, &[0; 7]), (10, &[5; 100])]);
        for end in HEADERS..bytes.len() {
            let read = attributes(&bytes[HEADERS..end]).count();
            assert!(read <= usize::from(end >= HEADERS + 11), "{end}");
        }
    }
}
