//! Network namespace of a node, with its device.

use crate::address;
use crate::enclosure::Refusal;
use crate::kernel::{become_tun, unshare};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::fs::OFlags;
use rustix::net::netdevice::name_to_index;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily as Family, RecvFlags, SendFlags, SocketType, recv, sendto, socket};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use std::fs::{File, OpenOptions};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::thread;

/// Name of the device of every node.
pub const DEVICE: &str = "mesh0";
/// Smallest MTU with which the kernel has IPv6 (RFC 8200, section 5).
const LEAST_V6: u32 = 1280;

/// A network namespace without a name, and its device.
pub struct Node {
    /// Number of the node.
    pub number: u32,
    namespace: OwnedFd,
    /// The device: what is read was sent by the kernel, and what is written arrives there.
    pub device: File,
}

/// Returns what a thread of its own makes, whose namespaces the others do not get.
fn apart<T: Send>(make: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(make).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Node {
    /// A node whose device takes packets up to this size.
    ///
    /// # Errors
    /// The missing right or device, with the way out.
    pub fn new(number: u32, mtu: u32) -> Result<Node, Refusal> {
        apart(|| {
            let failed = |why: io::Error| Refusal::new("make a network namespace", why, "run as root");
            unshare(UnshareFlags::NEWNET).map_err(|e| failed(e.into()))?;
            let namespace = File::open("/proc/thread-self/ns/net").map_err(failed)?.into();
            let device = open_tun()?;
            set_up(number, mtu).map_err(failed)?;
            Ok(Node { number, namespace, device })
        })
    }

    /// Calls a function in the network namespace: sockets and processes that it makes are of the node.
    ///
    /// # Errors
    /// That of the function, or of entering the namespace.
    pub fn inside<T: Send>(&self, make: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        apart(|| {
            move_into_link_name_space(self.namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            make()
        })
    }
}

/// A TUN device without offloads: the kernel cuts and sums what it hands over.
fn open_tun() -> Result<File, Refusal> {
    let nonblocking = OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open("/dev/net/tun");
    let file = file.map_err(|why| {
        let help = match why.kind() {
            io::ErrorKind::NotFound => {
                "let root make it: `mkdir -p /dev/net; mknod /dev/net/tun c 10 200; modprobe tun`; a container needs \
                 `--device /dev/net/tun`"
            }
            io::ErrorKind::PermissionDenied => "let root open it: `chmod 666 /dev/net/tun`",
            _ => "let root load the driver: `modprobe tun`",
        };
        Refusal::new("open /dev/net/tun", why, help)
    })?;
    let made = become_tun(&file, DEVICE);
    made.map_err(|why| Refusal::new("make a TUN device", why, "run as root, or with the capability NET_ADMIN"))?;
    Ok(file)
}

/// Sets up loopback and the device of the calling thread's namespace. There is no route to other addresses.
fn set_up(node: u32, mtu: u32) -> io::Result<()> {
    // Protocol 0 of netlink sockets is that of routes.
    let route = socket(Family::NETLINK, SocketType::RAW, None)?;
    let up = |index: u32, attributes: Vec<LinkAttribute>| {
        let mut link = LinkMessage::default();
        (link.header.index, link.attributes) = (index, attributes);
        (link.header.flags, link.header.change_mask) = (LinkFlags::Up, LinkFlags::Up);
        ask(&route, RouteNetlinkMessage::SetLink(link), 0)
    };
    let names = socket(Family::INET, SocketType::DGRAM, None)?;
    up(name_to_index(&names, "lo")?, vec![])?;
    let device = name_to_index(&names, DEVICE)?;
    // Single segments, as a card without offloads gets them.
    up(device, vec![LinkAttribute::Mtu(mtu), LinkAttribute::GsoMaxSegs(1)])?;
    let mut addresses = vec![(AddressFamily::Inet, IpAddr::V4(address::v4(node)), address::PREFIX_V4)];
    if mtu >= LEAST_V6 && std::path::Path::new("/proc/sys/net/ipv6").exists() {
        addresses.push((AddressFamily::Inet6, IpAddr::V6(address::v6(node)), address::PREFIX_V6));
    }
    for (family, address, prefix_len) in addresses {
        let mut message = AddressMessage::default();
        (message.header.family, message.header.index, message.header.prefix_len) = (family, device, prefix_len);
        (message.header.scope, message.header.flags) = (AddressScope::Universe, AddressHeaderFlags::Nodad);
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        ask(&route, RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE)?;
    }
    Ok(())
}

/// Sends a message to the kernel, and waits for its answer.
fn ask(route: &OwnedFd, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    sendto(route, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = vec![0; 8192];
    let (_, length) = recv(route, &mut answer, RecvFlags::empty())?;
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer[..length]).map_err(io::Error::other)?;
    match answer.payload {
        NetlinkPayload::Error(e) if e.code.is_some() => Err(e.to_io()),
        _ => Ok(()),
    }
}
