"""A link between a sender and a receiver of the kernel, in two network namespaces.

Each end is a process in a network namespace of its own with a TUN device, whose packets this program reads and writes.
Towards the receiver there is one server with a queue and then a constant delay, back there is the delay alone. Times of
departure are computed, so that late wake-ups of this program do not add up. A namespace ends with its process. Needs
Linux, the rights of root, and `ip`.
"""

import array
import ctypes
import fcntl
import functools
import gc
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MSS = 1448
"""Payload of a packet of 1500 B with 52 B of headers [B]."""

RATE_BPS = 10_000_000
"""Rate of the link, if a script says no other [bit/s]."""

TICK_NS = 4_000_000
"""Time between two ticks of the kernel's timers (HZ 250) [ns]."""

MOST_LOSSES = 2
"""Losses of a segment by a script: with more, timeouts grow to minutes."""

SETTINGS = {"ipv6/conf/all/disable_ipv6": "1", "ipv4/tcp_no_metrics_save": "1"}
"""Settings of both namespaces: the other protocol is off, and nothing is kept from one connection to the next."""

_NEW_NETWORK, _SET_INTERFACE, _TUN_WITHOUT_HEADER = 0x40000000, 0x400454CA, 0x1001
_SEND_BUFFER_FORCE, _RECEIVE_BUFFER_FORCE, _UNSENT = 32, 33, 0x5411
_BUFFER = 8 << 20
_ADDRESSES, _PORT = ("10.39.0.1", "10.39.0.2"), 5001
FIN, SYN, _RST, PUSH = 1, 2, 4, 8
_END_S = 30.0
_AWAKE_NS = 150_000
"""The link is awake for this time before a packet is due, so that it wakes up in time [ns]."""


@dataclass(frozen=True)
class Script:
    """Conditions of one transfer."""

    control: str
    """Congestion control."""
    rtt_ms: float
    queue: int
    """Packets that may wait, without the one in service."""
    segments: int
    lost: frozenset[int]
    """Lost data packets, by their number on the wire from 1 on, retransmissions included; no segment is lost more often
    than `MOST_LOSSES`."""
    lost_acks: frozenset[int]
    """Lost packets of the receiver, by their number; its SYN-ACK is the first."""
    rate_bps: float = RATE_BPS
    """Rate of the link."""
    size: int = 0
    """Bytes to write, in place of `segments`."""
    write: int = 0
    """Bytes that the program writes at a time; 0: all at once."""
    nagle: bool = True
    """Nagle's algorithm; False: `TCP_NODELAY`."""
    waits: bool = False
    """The send buffer is that of the kernel, and the program writes when it has room; otherwise the buffer takes
    everything."""
    closes: bool = False
    """Both programs close their ends: the sender when it has written everything, the receiver when it has read it."""
    close_wait_ms: float = 0.0
    """Time that the program of the receiver takes to close its end."""
    lost_syns: int = 0
    """SYNs that are lost, the first ones."""
    lost_answers: int = 0
    """SYNs whose answers are lost, the first ones."""
    clears_push: bool = False
    """The link clears the flag PSH, so that no segment is acknowledged at once for it."""


Work = Callable[[socket.socket, Script], None]
"""Program of an end, which begins and ends by messages over a socket."""

Seen = tuple[int, int, bytes, str]
"""Time, direction, headers and fate of a packet."""


@dataclass(frozen=True)
class Packet:
    """A packet at the entrance of the link."""

    ms: float
    """Time since the SYN."""
    acked: int | None
    """Bytes acknowledged, the FIN as one; None: a packet of the sender: data, its FIN, or the acknowledgement of
    the receiver's."""
    first: int
    """Bytes before the payload of a data packet."""
    size: int
    """Payload [B]."""
    flags: int
    """Flags of the header."""
    blocks: tuple[tuple[int, int], ...]
    """SACK blocks: bytes before them, and before their end."""
    fate: str
    """``ok``, ``script`` or ``queue``."""


@dataclass(frozen=True)
class Answer:
    """A transfer of the kernel."""

    tick_ns: int
    """Time of the SYN on the clock of the kernel's timers, with its ticks at multiples of `TICK_NS`."""
    late_ms: float
    """Time that a packet left the link late at most: the machine was busy."""
    min_rtt_us: int
    """Smallest round-trip time that the sender has measured, with what the kernel and this program take."""
    packets: tuple[Packet, ...]

    @property
    def tick_us(self) -> int:
        """Time of the SYN on that clock, modulo the span on which timers of a minute and less depend [us]."""
        return self.tick_ns % (4096 * TICK_NS) // 1000


def ask(script: Script) -> Answer:
    """Lets the kernel transfer the data of a script.

    Raises:
        RuntimeError: The transfer has not ended in time.
    """
    seen, tick_ns, late_ms, min_rtt_us = transfer(script, send, receive)
    return Answer(tick_ns, late_ms, min_rtt_us, _read(seen))


def transfer(script: Script, send: Work, receive: Work) -> tuple[list[Seen], int, float, int]:
    """Lets two programs transfer data over the link of a script.

    Returns:
        Packets, the time of the first one on the clock of the kernel's timers [ns], the time that a packet left the
        link late at most [ms], and what the sender has measured as its smallest round-trip time [us].

    Raises:
        RuntimeError: The transfer has not ended in time.
    """
    ends, channels, children = [], [], []
    try:
        for work in (send, receive):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            child = os.fork()
            if child == 0:
                ours.close()
                _be(work, work is receive, theirs, script)
            theirs.close()
            channels.append(ours)
            children.append(child)
        for channel in channels:
            _, passed, _, _ = socket.recv_fds(channel, 16, 1)
            ends.append(passed[0])
        ticks = _ticks()
        seen, late_ms, min_rtt_us = _link(ends, channels, script)
    finally:
        for channel in channels:
            channel.close()
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        for end in ends:
            os.close(end)
    return seen, seen[0][0] + ticks, late_ms, min_rtt_us


def _be(work: Work, receives: bool, channel: socket.socket, script: Script) -> None:
    """Is one end, in a process of its own."""
    try:
        if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "no network namespace")
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(end, _SET_INTERFACE, struct.pack("16sH22x", b"tun0", _TUN_WITHOUT_HEADER))
        for name, value in SETTINGS.items():
            Path("/proc/sys/net", name).write_text(value)
        address = _ADDRESSES[receives]
        for words in (f"addr add {address}/24 dev tun0", "link set tun0 mtu 1500 gso_max_segs 1 txqueuelen 5000 up"):
            subprocess.run(["ip", *words.split()], check=True)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        socket.send_fds(channel, [b"device"], [end])
        work(channel, script)
        os._exit(0)
    except BaseException as e:
        print(f"{work.__name__}: {e}", file=sys.stderr)
        os._exit(1)


def receive(channel: socket.socket, script: Script) -> None:
    """Reads everything at once from a buffer that never limits the sender."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, _BUFFER)
    listening.bind(("", _PORT))
    listening.listen(1)
    channel.send(b"ready")
    connection, _ = listening.accept()
    while connection.recv(1 << 16):
        pass
    if script.closes:
        time.sleep(script.close_wait_ms / 1e3)
        connection.close()
        channel.recv(16)


def send(channel: socket.socket, script: Script) -> None:
    """Writes the data of a script, and ends when they are acknowledged, and both ends closed if the script says so."""
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, script.control.encode())
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not script.nagle)
    if not script.waits:
        sender.setsockopt(socket.SOL_SOCKET, _SEND_BUFFER_FORCE, _BUFFER)
    data = memoryview(bytes(script.size or script.segments * MSS))
    piece = script.write or len(data)
    channel.recv(16)
    sender.connect((_ADDRESSES[1], _PORT))
    sender.setblocking(not script.waits)
    at = 0
    while at < len(data):
        if script.waits:
            select.select([], [sender], [])
        at += sender.send(data[at : at + piece])
    if script.closes:
        sender.shutdown(socket.SHUT_WR)
    unsent = array.array("i", [1])
    while unsent[0]:
        time.sleep(0.005)
        fcntl.ioctl(sender, _UNSENT, unsent)
    min_rtt = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 152)[148:]
    if script.closes:
        sender.setblocking(True)
        sender.recv(1)
    channel.send(min_rtt)
    channel.recv(16)


class _Way:
    """A direction of the link."""

    def __init__(self, out: int, rate_bps: float, delay_ns: int, queue: float) -> None:
        self.out, self.rate_bps, self.delay_ns, self.queue = out, rate_bps, delay_ns, queue
        self.packets: deque[tuple[int, bytes]] = deque()
        self.starts: deque[int] = deque()
        self.free_ns = 0
        self.late_ns = 0

    def take(self, packet: bytes, now_ns: int) -> bool:
        """Takes a packet; False: the queue is full."""
        while self.starts and self.starts[0] <= now_ns:
            self.starts.popleft()
        if len(self.starts) >= self.queue and self.free_ns > now_ns:
            return False
        start = max(now_ns, self.free_ns)
        self.starts.append(start)
        self.free_ns = start + int(len(packet) * 8e9 / self.rate_bps)
        self.packets.append((self.free_ns + self.delay_ns, packet))
        return True

    def due(self, now_ns: int) -> Iterator[int]:
        """Passes on what is due, one packet after the other, and says when each was due."""
        while self.packets and self.packets[0][0] <= now_ns:
            at_ns, packet = self.packets.popleft()
            self.late_ns = max(self.late_ns, time.monotonic_ns() - at_ns)
            os.write(self.out, packet)
            yield at_ns


def _link(ends: list[int], channels: list[socket.socket], script: Script) -> tuple[list[Seen], float, int]:
    """Is the link, ahead of other programs, until the sender has done."""
    delay_ns = int(script.rtt_ms * 5e5)
    ways = (
        _Way(ends[1], script.rate_bps, delay_ns, script.queue),
        _Way(ends[0], float("inf"), delay_ns, float("inf")),
    )
    seen: list[Seen] = []
    numbers, syns = [0, 0], 0
    losses: Counter[bytes] = Counter()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    gc.disable()
    channels[1].recv(16)
    channels[0].send(b"begin")
    end_ns = time.monotonic_ns() + int(_END_S * 1e9)

    def read(i: int, at_ns: int | None) -> None:
        """Takes the packets that wait at an end. They answer a packet that was due at this time, if any."""
        nonlocal syns
        for packet in _waiting(ends[i]):
            now_ns = at_ns or time.monotonic_ns()
            head = 4 * (packet[0] & 15)
            empty = head + 4 * (packet[head + 12] >> 4) == len(packet)
            if i == 1 or not empty:
                numbers[i] += 1
            syn = bool(packet[head + 13] & SYN)
            syns += syn and i == 0
            if syn and (script.lost_syns or script.lost_answers):
                lost = syns <= (script.lost_answers if i else script.lost_syns)
            elif i == 1:
                lost = numbers[i] in script.lost_acks
            else:
                seq = packet[head + 4 : head + 8]
                lost = not empty and numbers[i] in script.lost and losses[seq] < MOST_LOSSES
                losses[seq] += lost
            if script.clears_push:
                packet = _without_push(packet, head)
            fate = "script" if lost else "ok" if ways[i].take(packet, now_ns) else "queue"
            seen.append((now_ns, i, packet[: 60 + head], fate))

    try:
        while True:
            # The kernel answers a packet before the call that passes it on returns.
            for i, way in enumerate(ways):
                for at_ns in way.due(time.monotonic_ns()):
                    read(1 - i, at_ns)
            due = min((way.packets[0][0] for way in ways if way.packets), default=end_ns)
            # Awake for the SYN, from which the sender takes its smallest round-trip time.
            wait = max(due - time.monotonic_ns() - _AWAKE_NS, 0) / 1e9 if seen else 0
            ready = select.select([*ends, channels[0]], [], [], wait)[0]
            if channels[0] in ready:
                min_rtt = channels[0].recv(16)
                if not min_rtt:
                    raise RuntimeError("the sender has failed")
                return seen, max(way.late_ns for way in ways) / 1e6, struct.unpack("I", min_rtt)[0]
            if time.monotonic_ns() > end_ns:
                raise RuntimeError(f"no end within {_END_S} s")
            for i in (0, 1):
                if ends[i] in ready:
                    read(i, None)
    finally:
        gc.enable()
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _without_push(packet: bytes, head: int) -> bytes:
    """Clears the flag PSH, and corrects the checksum (RFC 1624)."""
    if not packet[head + 13] & PUSH:
        return packet
    changed = bytearray(packet)
    changed[head + 13] &= ~PUSH
    checksum = struct.unpack_from(">H", packet, head + 16)[0] + PUSH
    struct.pack_into(">H", changed, head + 16, (checksum & 0xFFFF) + (checksum >> 16))
    return bytes(changed)


def _waiting(end: int) -> Iterator[bytes]:
    while True:
        try:
            packet = os.read(end, 2048)
        except BlockingIOError:
            return
        if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
            yield packet


@functools.cache
def _ticks() -> int:
    """Time of the clock of the timers when the monotonic clock begins [ns]: a multiple of the tick.

    The kernel prints both clocks one after the other, so that a tick may lie between them.
    """
    found = []
    for _ in range(20):
        text = Path("/proc/timer_list").read_text()
        now, jiffies = (int(re.findall(p, text)[0]) for p in (r"now at (\d+) nsecs", r"jiffies: (\d+)"))
        found.append(jiffies - now // TICK_NS)
    return min(found) * TICK_NS


def _read(seen: list[Seen]) -> tuple[Packet, ...]:
    """Reads the headers of packets in both directions."""
    begin, isn, of_receiver, out = seen[0][0], 0, 0, []

    def bytes_before(number: int) -> int:
        return (number - isn - 1) & 0xFFFFFFFF

    for at, way, packet, fate in seen:
        head = 4 * (packet[0] & 15)
        seq, ack, words, flags = struct.unpack_from(">IIBB", packet, head + 4)
        payload = struct.unpack_from(">H", packet, 2)[0] - head - 4 * (words >> 4)
        if flags & SYN and way == 0:
            isn = seq
        elif flags & SYN:
            of_receiver = seq
        acks_fin = (ack - of_receiver) & 0xFFFFFFFF > 1
        if flags & (SYN | _RST) or (way == 0 and payload == 0 and not flags & FIN and not acks_fin):
            continue
        ms = (at - begin) / 1e6
        if way == 0:
            out.append(Packet(ms, None, bytes_before(seq), payload, flags, (), fate))
            continue
        options = packet[head + 20 : head + 4 * (words >> 4)]
        blocks: list[tuple[int, int]] = []
        while options and options[0]:
            size = 1 if options[0] == 1 else options[1]
            if options[0] == 5:
                edges = [bytes_before(e) for e in struct.unpack(f">{(size - 2) // 4}I", options[2:size])]
                blocks += zip(edges[::2], edges[1::2], strict=True)
            options = options[size:]
        out.append(Packet(ms, bytes_before(ack), 0, 0, flags, tuple(blocks), fate))
    return tuple(out)
