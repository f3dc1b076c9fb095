"""What files say of a network: nodes with their names, addresses and places, and links in each direction."""

import difflib
import ipaddress
import math
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import stdev
from typing import Literal

from chappe._common.words import count

Kind = Literal["radio", "wire", "tunnel"]
"""Kind of a link."""

HT_MBPS = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)
"""Rates of HT-MCS 0 to 7: 20 MHz, one stream, long guard interval [Mbit/s] (IEEE 802.11-2020, table 19-27)."""

_SUBCARRIERS = {20: 52, 40: 108, 80: 234, 160: 468}
"""Subcarriers with data of a channel, by its width [MHz] (IEEE 802.11-2020, tables 19-6 and 21-5)."""


@dataclass
class Node:
    """A node of a survey.

    Attributes:
        names: Its names, as files give them.
        latlon: Latitude and longitude [degrees].
        xy: Position in a plane [m], where a file has no degrees.
        gateway: True if it has an uplink.
        down_mbps: Rate of its uplink towards it [Mbit/s].
        up_mbps: Rate of its uplink from it [Mbit/s].
        has_radio: False if a file says that it has no radio; ``None``: no file says so.
    """

    names: list[str] = field(default_factory=list)
    latlon: tuple[float, float] | None = None
    xy: tuple[float, float] | None = None
    gateway: bool = False
    down_mbps: float | None = None
    up_mbps: float | None = None
    has_radio: bool | None = None


@dataclass
class Link:
    """One direction of a link, as it was measured.

    Attributes:
        kinds: Kinds that files give it.
        signals_dbm: Received powers [dBm].
        losses: Shares of lost broadcasts.
        retries: Shares of repeated attempts of data frames.
        throughputs_bps: Throughputs that rate control expects [bit/s].
        mcs: Modulation and coding scheme of one stream.
        streams: Number of streams.
        width_mhz: Width of the channel [MHz].
    """

    kinds: set[Kind] = field(default_factory=set)
    signals_dbm: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    retries: list[float] = field(default_factory=list)
    throughputs_bps: list[float] = field(default_factory=list)
    mcs: int | None = None
    streams: int = 1
    width_mhz: int = 20

    @property
    def bitrate_bps(self) -> float | None:
        """Bitrate of its MCS of HT with the long guard interval, and of wider channels, too [bit/s]."""
        if self.mcs is None or self.mcs >= len(HT_MBPS):
            return None
        return 1e6 * HT_MBPS[self.mcs] * self.streams * _SUBCARRIERS.get(self.width_mhz, 52) / 52

    @property
    def signal_dbm(self) -> float | None:
        """Mean received power [dBm]."""
        return _mean(self.signals_dbm)

    @property
    def signal_sd_db(self) -> float | None:
        """Standard deviation of received powers that were measured several times and differ [dB]."""
        return stdev(self.signals_dbm) or None if len(self.signals_dbm) > 1 else None

    @property
    def loss(self) -> float | None:
        """Mean share of lost broadcasts."""
        return _mean(self.losses)

    @property
    def retry_share(self) -> float | None:
        """Mean share of repeated attempts."""
        return _mean(self.retries)

    @property
    def throughput_bps(self) -> float | None:
        """Mean throughput that rate control expects [bit/s]."""
        return _mean(self.throughputs_bps)

    @property
    def kind(self) -> Kind:
        """Kind of the link: a radio measured it, or a file calls it a tunnel or a wire; a radio by default."""
        if self.signals_dbm or self.mcs is not None:
            return "radio"
        return "tunnel" if "tunnel" in self.kinds else "wire" if "wire" in self.kinds else "radio"


@dataclass
class Flow:
    """A flow of a traffic file.

    Attributes:
        src: Key of the source.
        dst: Key of the destination.
        is_udp: True for datagrams at a constant rate.
        payload_bytes: Size of a datagram [B].
        interval_s: Time between datagrams [s].
        start_s: Start [s].
    """

    src: str
    dst: str
    is_udp: bool
    payload_bytes: int | None = None
    interval_s: float | None = None
    start_s: float = 0.0


@dataclass
class Survey:
    """All that was read so far.

    Attributes:
        nodes: Nodes by one of their keys, which are addresses and what files number.
        links: Links by the keys of source and destination.
        flows: Flows of traffic files.
        assumed: Sentences on what the files do not say.
        left_out: Sentences on what was not taken.
        doubtful: Sentences on what hardly belongs together.
        metrics: Word of ``routing.metric`` that comes nearest to the metric of each routing daemon.
        frequency_mhz: Frequency of the channel [MHz].
        noise_dbm: Noise that was measured [dBm].
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    assumed: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    doubtful: list[str] = field(default_factory=list)
    metrics: dict[str, str] = field(default_factory=dict)
    frequency_mhz: float | None = None
    noise_dbm: float | None = None
    _of_files: list[tuple[str, str, set[str]]] = field(default_factory=list)
    _same: dict[str, str] = field(default_factory=dict)
    _named: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def begin(self, file: str, owner: str) -> None:
        """Begins a file, which was made on the node ``owner``, if that has a name."""
        self._of_files.append((file, owner, set()))

    def find(self, key: str) -> str:
        """The key under which a node is kept, from any of its keys."""
        while (above := self._same.get(key, key)) != key:
            key = above
        return key

    def node(self, *keys: str, file: str = "", name: str = "") -> Node:
        """The node with these keys, which are of one node; a new one, if none of them is known."""
        first = self.find(keys[0])
        self.nodes.setdefault(first, Node())
        if self._of_files:
            self._of_files[-1][2].add(first)
        for key in keys[1:]:
            self._join(first, key)
        node = self.nodes[first]
        if name and name not in node.names:
            node.names.append(name)
        if name and (file, first) not in (of_name := self._named.setdefault(name.casefold(), [])):
            of_name.append((file, first))
        return node

    def link(self, src: str, dst: str, kind: Kind = "radio") -> Link:
        """The direction of a link between nodes of these keys; a new one, if it is not known."""
        self.node(src)
        self.node(dst)
        link = self.links.setdefault((src, dst), Link())
        link.kinds.add(kind)
        return link

    def lose(self, what: str) -> None:
        """Counts something that was not taken."""
        self.left_out[what] = self.left_out.get(what, 0) + 1

    def merge(self) -> None:
        """Makes one of nodes with the same name in different files, and of links of one pair of nodes.

        A name that stands for several nodes of one file joins none.
        """
        for of_name in self._named.values():
            found = {(file, self.find(key)) for file, key in of_name}
            if len({file for file, _ in found}) == len(found):
                keys = [key for _, key in sorted(found)]
                for key in keys[1:]:
                    self._join(self.find(keys[0]), key)
        links: dict[tuple[str, str], Link] = {}
        selves: dict[str, None] = {}
        for (src, dst), link in self.links.items():
            ends = self.find(src), self.find(dst)
            if ends[0] == ends[1]:
                if link.signals_dbm:
                    selves[ends[0]] = None
                continue
            if (there := links.setdefault(ends, link)) is not link:
                there.kinds |= link.kinds
                there.signals_dbm += link.signals_dbm
                there.losses += link.losses
                there.retries += link.retries
                there.throughputs_bps += link.throughputs_bps
                if there.mcs is None:
                    there.mcs, there.streams, there.width_mhz = link.mcs, link.streams, link.width_mhz
        self.links = links
        self.doubtful += [
            f"a file says that {name} hears itself: was the file made on another node?"
            for name in map(self.called, selves)
        ]
        if bare := sum(any(dbm > 0 for dbm in link.signals_dbm) for link in links.values()):
            self.doubtful.append(f"{count(bare, 'link')} with signals above 0 dBm: is a minus missing?")
        self.doubtful += [*self._strangers(), *self._new(), *self._islands()]

    def called(self, key: str) -> str:
        """A node as the files call it, or else its key."""
        return (self.nodes[key].names or [key.rpartition("#")[2]])[0]

    def _strangers(self) -> Iterator[str]:
        """Owners of files that have names where others have names, too, but none of these."""
        for file, owner, _ in self._of_files:
            named = {name for name, places in self._named.items() if any(other != file for other, _ in places)}
            if owner and named and owner.casefold() not in named:
                near = difflib.get_close_matches(owner.casefold(), sorted(named), 1)
                meant = f": did you mean {self._written(near[0])}?" if near else ""
                yield f"no other file names {owner}, on which {Path(file).name} was made{meant}"

    def _new(self) -> Iterator[str]:
        """Dumps of a node of which no neighbor is in another file: its addresses may be unknown there."""
        nodes_of = [{self.find(key) for key in keys} for _, _, keys in self._of_files]
        for n, (file, owner, _) in enumerate(self._of_files):
            others = set().union(*(nodes for m, nodes in enumerate(nodes_of) if m != n))
            if owner and others - nodes_of[n] and len(new := nodes_of[n] - others) == len(nodes_of[n]) - 1 > 0:
                yield (
                    f"no neighbor in {Path(file).name} is a node of another file, by name or address: it makes "
                    f"{count(len(new), 'new node')}; a file with names and addresses joins them"
                )

    def _written(self, folded: str) -> str:
        """A name as a file gives it."""
        names = (name for node in self.nodes.values() for name in node.names)
        return next(name for name in names if name.casefold() == folded)

    def _islands(self) -> Iterator[str]:
        """Files that have no node in common with the others, by name or by address."""
        groups: list[tuple[list[str], set[str]]] = []
        for file, _, keys in self._of_files:
            nodes = {self.find(key) for key in keys}
            if not nodes:
                continue
            joined = [group for group in groups if group[1] & nodes]
            names = [name for group in joined for name in group[0]]
            groups = [group for group in groups if group not in joined]
            groups.append(([*names, Path(file).name], nodes.union(*(group[1] for group in joined))))
        if len(groups) > 1:
            islands = "; ".join(", ".join(names) for names, _ in groups)
            yield f"files have no node in common, by name or address, and make {len(groups)} networks: {islands}"

    def _join(self, first: str, key: str) -> None:
        other = self.find(key)
        if other == first:
            return
        self._same[other] = first
        node, there = self.nodes[first], self.nodes.pop(other, Node())
        node.names += [name for name in there.names if name not in node.names]
        node.latlon, node.xy = node.latlon or there.latlon, node.xy or there.xy
        node.gateway = node.gateway or there.gateway
        node.down_mbps, node.up_mbps = node.down_mbps or there.down_mbps, node.up_mbps or there.up_mbps
        node.has_radio = there.has_radio if node.has_radio is None else node.has_radio


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def address(text: str) -> str | None:
    """An address in the form in which it is a key: MAC, IPv4 or IPv6; ``None`` if the text is none.

    A link-local address that is made of a MAC (RFC 4291, appendix A) is this MAC, and so is an id of 12 digits.
    """
    text = text.strip().lower()
    if re.fullmatch(r"[0-9a-f]{12}|[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}", text):
        digits = re.sub("[:-]", "", text)
        return ":".join(digits[i : i + 2] for i in range(0, 12, 2))
    try:
        ip = ipaddress.ip_address(text.partition("%")[0].removesuffix("/32").removesuffix("/128"))
    except ValueError:
        return None
    octets = ip.packed
    if ip.version == 6 and ip.is_link_local and octets[11:13] == b"\xff\xfe":
        return ":".join(f"{b:02x}" for b in (octets[8] ^ 2, *octets[9:11], *octets[13:]))
    return str(ip)


def key_of(text: Hashable, file: str) -> str:
    """Key of a node: its address, or what a file calls it, which is valid in that file alone."""
    return address(str(text)) or f"{file}#{text}"


def set_rate(link: Link, mbps: float) -> None:
    """Sets the MCS of a bitrate [Mbit/s], if there is one, with 20 or 40 MHz, one or two streams, any guard."""
    for width, factor in ((20, 1.0), (40, 13.5 / 6.5)):
        for streams in (1, 2):
            for mcs, base in enumerate(HT_MBPS):
                whole = base * factor * streams
                if any(math.isclose(mbps, whole * gi, rel_tol=0.012) for gi in (1.0, 10 / 9)):
                    link.mcs, link.streams, link.width_mhz = mcs, streams, width
                    return


def share(value: float) -> float:
    """A share between 0 and 1."""
    return min(max(value, 0.0), 1.0)


def pairs(links: Iterator[tuple[str, str]]) -> int:
    """Number of pairs of nodes that directions of links join."""
    return len({frozenset(ends) for ends in links})


def kind_of(name: str) -> Kind:
    """Kind of the links of an interface, by its name on Linux."""
    if name.startswith(("tun", "tap", "wg", "vpn", "l2tp", "mesh-vpn", "fastd", "gre")):
        return "tunnel"
    return "wire" if name.startswith(("eth", "lan", "wan", "br-", "en")) else "radio"
