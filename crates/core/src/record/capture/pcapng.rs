//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), in little-endian order.

use crate::unit::Time;

/// Link type of raw IP packets.
pub const RAW_IP: u16 = 101;
/// Link type of IEEE 802.11 frames behind a radiotap header.
pub const RADIOTAP: u16 = 127;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const ENHANCED_PACKET: u32 = 6;

/// Options: a comment, the application, the name, the resolution of time, the flags of a packet.
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const RESOLUTION: u16 = 9;
const FLAGS: u16 = 2;

/// Direction of a packet at its interface, as in the flags of a packet block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The node receives the packet.
    Inbound = 1,
    /// The node sends the packet.
    Outbound = 2,
}

/// A packet at an interface.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Number of the interface in its file.
    pub interface: u32,
    /// Time of the packet.
    pub at: Time,
    /// Contents from the link layer of the interface on.
    pub bytes: &'a [u8],
    /// Direction, if the packet is sent or received.
    pub direction: Option<Direction>,
    /// Text for people; empty: none.
    pub comment: &'a str,
}

/// Writes a block with its length at both ends.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - start + 4) as u32;
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
}

fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&[0; 3][..length.next_multiple_of(4) - length]);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out, value.len());
}

fn end_of_options(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; 4]);
}

/// Writes the section header, with which a file begins.
pub fn section(out: &mut Vec<u8>, application: &str, comment: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        out.extend_from_slice(&[1, 0, 0, 0]);
        // The length of the section is not known.
        out.extend_from_slice(&[0xff; 8]);
        option(out, COMMENT, comment.as_bytes());
        option(out, APPLICATION, application.as_bytes());
        end_of_options(out);
    });
}

/// Writes the description of an interface of a node, by which merged files tell the interfaces of nodes apart. Times
/// count nanoseconds; packets are not cut.
pub fn interface(out: &mut Vec<u8>, link_type: u16, name: &str, node: &str) {
    block(out, INTERFACE, |out| {
        out.extend_from_slice(&link_type.to_le_bytes());
        out.extend_from_slice(&[0; 6]);
        option(out, NAME, name.as_bytes());
        option(out, DESCRIPTION, node.as_bytes());
        option(out, RESOLUTION, &[9]);
        end_of_options(out);
    });
}

/// Writes the names of hosts by their IPv4 addresses.
pub fn names<'a>(out: &mut Vec<u8>, hosts: impl Iterator<Item = ([u8; 4], &'a str)>) {
    const IPV4: u16 = 1;
    block(out, NAMES, |out| {
        for (address, name) in hosts {
            // The name ends with a zero byte.
            option(out, IPV4, &[&address, name.as_bytes(), &[0]].concat());
        }
        end_of_options(out);
    });
}

/// Writes a packet.
pub fn packet(out: &mut Vec<u8>, record: &Record<'_>) {
    block(out, ENHANCED_PACKET, |out| {
        let (at, length) = (record.at.0, record.bytes.len());
        for word in [record.interface, (at >> 32) as u32, at as u32, length as u32, length as u32] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(record.bytes);
        pad(out, length);
        if record.direction.is_none() && record.comment.is_empty() {
            return;
        }
        if !record.comment.is_empty() {
            option(out, COMMENT, record.comment.as_bytes());
        }
        if let Some(direction) = record.direction {
            option(out, FLAGS, &(direction as u32).to_le_bytes());
        }
        end_of_options(out);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_begins_with_its_magic_and_ends_with_its_length() {
        let mut out = vec![];
        section(&mut out, "abc", "de");
        #[rustfmt::skip]
        let expected = [
            0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            1, 0, 2, 0, b'd', b'e', 0, 0, 4, 0, 3, 0, b'a', b'b', b'c', 0, 0, 0, 0, 0, 48, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn an_interface_counts_nanoseconds() {
        let mut out = vec![];
        interface(&mut out, RADIOTAP, "radio", "node 3");
        #[rustfmt::skip]
        let expected = [
            1, 0, 0, 0, 56, 0, 0, 0, 127, 0, 0, 0, 0, 0, 0, 0,
            2, 0, 5, 0, b'r', b'a', b'd', b'i', b'o', 0, 0, 0, 3, 0, 6, 0, b'n', b'o', b'd', b'e', b' ', b'3', 0, 0,
            9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 56, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn names_stand_behind_their_addresses() {
        let mut out = vec![];
        names(&mut out, [([10, 0, 0, 7], "roof")].into_iter());
        #[rustfmt::skip]
        let expected = [
            4, 0, 0, 0, 32, 0, 0, 0, 1, 0, 9, 0, 10, 0, 0, 7, b'r', b'o', b'o', b'f', 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn a_packet_has_its_time_in_two_halves_and_is_padded() {
        let mut out = vec![];
        let at = Time(0x1_0203_0405);
        let record = Record { interface: 1, at, bytes: &[7; 5], direction: Some(Direction::Outbound), comment: "x" };
        packet(&mut out, &record);
        #[rustfmt::skip]
        let expected = [
            6, 0, 0, 0, 60, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5, 4, 3, 2, 5, 0, 0, 0, 5, 0, 0, 0,
            7, 7, 7, 7, 7, 0, 0, 0, 1, 0, 1, 0, b'x', 0, 0, 0, 2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0,
        ];
        assert_eq!(out, expected);
        out.clear();
        packet(&mut out, &Record { bytes: &[], direction: None, comment: "", ..record });
        assert_eq!((out.len(), out[4], out[28]), (32, 32, 32), "no options, no data");
    }
}
