//! Addresses and names of nodes: node 3 is `node3`, 10.0.3.1 and fd00::3:1, and may have a name of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Length of the prefix of IPv4 addresses, which all nodes share.
pub const PREFIX_V4: u8 = 8;
/// Length of the prefix of IPv6 addresses, which all nodes share.
pub const PREFIX_V6: u8 = 64;
/// Nodes from this number on have no address.
pub const NODES: u32 = 1 << 16;

/// IPv4 address of a node below [`NODES`].
pub fn v4(node: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, (node >> 8) as u8, node as u8, 1)
}

/// IPv6 address of a node below [`NODES`].
pub fn v6(node: u32) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, node as u16, 1)
}

/// Node with an address.
pub fn node_of(address: IpAddr) -> Option<u32> {
    let node = match address {
        IpAddr::V4(a) => u32::from(a.octets()[1]) << 8 | u32::from(a.octets()[2]),
        IpAddr::V6(a) => u32::from(a.segments()[6]),
    };
    (address == IpAddr::V4(v4(node)) || address == IpAddr::V6(v6(node))).then_some(node)
}

/// Names of nodes in the form of `/etc/hosts`. A name of its own is that of one node: it precedes the `node3` of
/// another, and case makes no difference.
pub fn hosts(nodes: &[u32], own: &BTreeMap<u32, String>) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    let mut taken = BTreeSet::from(["localhost".to_owned()]);
    let named = nodes.iter().filter_map(|node| Some((*node, own.get(node)?.clone())));
    for (node, name) in named.chain(nodes.iter().map(|&node| (node, format!("node{node}")))) {
        if taken.insert(name.to_lowercase()) {
            let _ = writeln!(text, "{} {name}\n{} {name}", v4(node), v6(node));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_node() {
        for node in [0, 3, 255, 256, NODES - 1] {
            assert_eq!(node_of(IpAddr::V4(v4(node))), Some(node));
            assert_eq!(node_of(IpAddr::V6(v6(node))), Some(node));
        }
        assert_eq!((v4(300).to_string(), v6(300).to_string()), ("10.1.44.1".into(), "fd00::12c:1".into()));
        for other in ["10.0.3.2", "192.168.0.1", "10.255.255.255", "fd00::3:2", "ff02::2", "fe80::3:1"] {
            assert_eq!(node_of(other.parse().expect("an address")), None, "{other}");
        }
    }

    #[test]
    fn a_name_is_that_of_one_node() {
        let lines = |names: &[(u32, &str)]| {
            let own = names.iter().map(|(node, name)| (*node, (*name).to_owned())).collect();
            let text = hosts(&[3, 4], &own);
            let v4 = text.lines().filter(|line| line.starts_with("10.")).map(str::to_owned);
            (text.lines().count(), v4.collect::<Vec<_>>().join(", "))
        };
        assert!(hosts(&[3], &BTreeMap::new()).ends_with("10.0.3.1 node3\nfd00::3:1 node3\n"));
        assert_eq!(lines(&[(3, "mill")]), (8, "10.0.3.1 mill, 10.0.3.1 node3, 10.0.4.1 node4".into()));
        // A name that looks like the number of another node, two that differ in case, and one that has a meaning.
        assert_eq!(lines(&[(3, "Node4")]), (6, "10.0.3.1 Node4, 10.0.3.1 node3".into()));
        assert_eq!(lines(&[(3, "a"), (4, "A")]), (8, "10.0.3.1 a, 10.0.3.1 node3, 10.0.4.1 node4".into()));
        assert_eq!(lines(&[(3, "localhost")]), (6, "10.0.3.1 node3, 10.0.4.1 node4".into()));
    }
}
