#!/bin/sh
# Wireshark: editcap and mergecap refuse files that begin with names of hosts
#
# Behavior: a pcapng file whose name resolution block stands between the section header and the first interface is read
#   by tshark, but editcap and mergecap end with exit code 2: the file "can't be written as a "pcapng" file". The same
#   blocks with the interface first are written and merged.
# Guess: mergecap merges them. The draft of pcapng (draft-ietf-opsawg-pcapng) lets name resolution blocks stand anywhere
#   in a section behind its header; only packets have to follow the interface that they name.
# Package: wireshark-common 4.0.17-0+deb12u3 (Debian 12), with libwiretap13 and libwsutil14 of the same version,
#   libglib2.0-0 2.74.6-2+deb12u9
# Date: 2026-12-01
# Why it matters: programs that know the names of their hosts write them first. Their captures look right in Wireshark,
#   and cannot be cut, converted for tools that want one link type, or merged by node.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq wireshark-common=4.0.17-0+deb12u3 libwiretap13=4.0.17-0+deb12u3 libwsutil14=4.0.17-0+deb12u3 \
    libglib2.0-0=2.74.6-2+deb12u9 >download.log 2>&1 || { cat download.log >&2; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$work/$(dirname "$(find root/usr/lib -name 'libwiretap.so*' -print -quit)")
export LD_LIBRARY_PATH
python3 - <<'PYTHON'
import struct


def block(kind, body):
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
# 10.0.0.1 is "roof", and the end of the records.
names = block(4, struct.pack("<HH4s5s3x", 1, 9, bytes([10, 0, 0, 1]), b"roof\0") + bytes(4))
interface = block(1, struct.pack("<HHI", 101, 0, 0))
header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20, 0, 0, 64, 253, 0x66E7, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
packet = block(6, struct.pack("<IIIII", 0, 0, 1, 20, 20) + header)
for name, blocks in {"first": [names, interface], "second": [interface, names]}.items():
    with open(f"names-{name}.pcapng", "wb") as file:
        file.write(section + b"".join(blocks) + packet)
PYTHON
for place in first second; do
    for tool in editcap mergecap; do
        case $tool in
            editcap) set -- "names-$place.pcapng" out.pcapng ;;
            mergecap) set -- -w out.pcapng "names-$place.pcapng" "names-$place.pcapng" ;;
        esac
        code=0
        root/usr/bin/$tool "$@" >said.txt 2>&1 || code=$?
        echo "names $place, $tool: exit code $code $(sed 's/^[a-z]*: //' said.txt)"
    done
done | tee seen.txt
cat >expected.txt <<'TEXT'
names first, editcap: exit code 2 The capture file being read can't be written as a "pcapng" file.
names first, mergecap: exit code 2 The capture file being read can't be written as a "pcapng" file.
names second, editcap: exit code 0 
names second, mergecap: exit code 0 
TEXT
cmp -s seen.txt expected.txt || { echo "this has changed; it was:"; cat expected.txt; exit 1; }
