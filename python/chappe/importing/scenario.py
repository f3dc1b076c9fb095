"""The scenario of a survey: its text, its tables, and comments on what was taken, assumed and left out."""

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, median
from typing import NamedTuple

from chappe._common.words import count, plain
from chappe.importing.source import MisreadError
from chappe.importing.survey import Link, Survey, pairs

_EARTH_M = 6_371_008.8
"""Mean radius of the earth [m]."""

_NOISE_DBM = -94.0
"""Noise in 20 MHz with the noise figure of `radio.sinr`, 7 dB [dBm]."""

_SNR_DB = (5.0, 8.0, 10.0, 13.5, 17.0, 21.0, 22.5, 24.0, 28.0, 30.0)
"""SNR that MCS 0 to 9 need [dB]: that of the sensitivity of IEEE 802.11-2020, tables 19-23 and 21-25, minus 10 dB."""

_MARGIN_DB = 3.0
"""Margin above the SNR of an MCS that a radio uses."""

_EDGE_DBM, _FADING_DB = -88.0, 8.0
"""A broadcast is lost if its signal is below this power, in dBm; signals vary by this deviation, in dB."""

_LEAST_LOSS = 1 / 255
"""Smallest loss that a quality tells apart from none."""

_POWER_DBM, _EXPONENT = 20.0, 3.0
"""Power and path-loss exponent of links of which nothing was measured."""

_FAR_M = 10_000
"""Length of a radio link that its places make doubtful."""

_NAMED = 5
"""Nodes left out that are named."""


class Written(NamedTuple):
    """An imported network.

    Attributes:
        files: Text of each file, by its name.
        told: Sentences about the import.
        left_out: Sentences on what was left out.
        doubtful: Sentences on what hardly belongs together.
    """

    files: dict[str, str]
    told: list[str]
    left_out: list[str]
    doubtful: list[str]


def written(survey: Survey, files: Sequence[tuple[str, str]]) -> Written:
    """The files of a survey.

    Args:
        survey: What was read, merged.
        files: Name and format of each file.

    Raises:
        MisreadError: If it is no network of radios.
    """
    return _Writer(survey, files).written()


class _Writer:
    """Chooses nodes, places, signals and rates of a survey, and writes them."""

    def __init__(self, survey: Survey, files: Sequence[tuple[str, str]]):
        self.survey, self.imported = survey, files
        self.taken: list[str] = []
        self.assumed = list(survey.assumed)
        self.left_out = [f"{n:,} x {what}" for what, n in survey.left_out.items()]
        self.radio = self._links("radio")
        self.wires = self._links("wire")
        tunnels = self._links("tunnel")
        self._wired_nodes()
        self.keys = self._nodes(tunnels)
        self.names = self._names()
        self.places = self._places()
        self.frequency = survey.frequency_mhz
        self.noise = survey.noise_dbm if survey.noise_dbm is not None else _NOISE_DBM
        self.number = {key: n for n, key in enumerate(self.keys)}

    def _links(self, kind: str) -> dict[tuple[str, str], Link]:
        """Directions of a kind; a tunnel or a wire in one direction is one in both."""
        kinds = {ends: link.kind for ends, link in self.survey.links.items()}
        return {e: link for e, link in self.survey.links.items() if {kinds[e], kinds.get(e[::-1], kinds[e])} == {kind}
                or (kind == "radio" and "radio" in (kinds[e], kinds.get(e[::-1])))}  # fmt: skip

    def _wired_nodes(self) -> None:
        """A radio link of a node that has no radio is a wire."""
        for ends in list(self.radio):
            if any(self.survey.nodes[end].has_radio is False for end in ends):
                self.wires[ends] = self.radio.pop(ends)

    def _nodes(self, tunnels: Mapping[tuple[str, str], Link]) -> list[str]:
        """Keys of the nodes: first those with a radio, then those behind wires."""
        nodes = self.survey.nodes
        has_links = bool(self.radio or self.wires)
        on_air = {end for ends in self.radio for end in ends}
        wired = {end for ends in self.wires for end in ends} - on_air
        flows = {self.survey.find(end) for f in self.survey.flows for end in (f.src, f.dst)}
        placed = {key for key, node in nodes.items() if node.latlon or node.xy}
        if not has_links:
            on_air = placed or on_air
        if flows and not placed and not has_links:
            raise MisreadError(
                "the files have flows, and neither places nor links: import them with a file of positions"
            )
        if len(on_air) < 2 and not self.wires:
            raise MisreadError("there are fewer than two nodes with a place or a radio link")
        if lost := [key for key in nodes if key not in on_air | wired]:
            behind = {end for ends in tunnels for end in ends}
            if tunneled := [key for key in lost if key in behind]:
                self.left_out.append(f"{count(len(tunneled), 'node')} behind tunnels alone: {self._called(tunneled)}")
            if alone := [key for key in lost if key not in behind]:
                said = f"{count(len(alone), 'node')} without a radio link or a wire: {self._called(alone)}"
                self.left_out.append(said)
        if n := pairs(iter(tunnels)):
            self.left_out.append(f"{count(n, 'tunnel')}, no radio link{'s' * (n > 1)}")
        self.radios = [key for key in nodes if key in on_air]
        return [*self.radios, *(key for key in nodes if key in wired)]

    def _called(self, keys: Sequence[str]) -> str:
        """The first nodes as the files call them, and the number of the rest."""
        first = [self.survey.called(key) for key in keys[:_NAMED]]
        return ", ".join(first) + (f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else "")

    def _names(self) -> dict[str, str]:
        """A name for each node that a scenario accepts; a second node of a name gets a number behind it."""
        names: dict[str, str] = {}
        changed = 0
        for key in self.keys:
            given = self.survey.nodes[key].names
            raw = given[0] if given else key.rpartition("#")[2]
            name = re.sub(r"[^\w.-]+", "-", raw).strip("-.")[:50] or "node"
            if (
                re.fullmatch(r"[\d._+-]*", name)
                or _is_float(name)
                or name in ("none", "random", "all", "inherit", "nearest")
            ):
                name = f"n-{name}"
            whole, n = name, 2
            while whole in names.values():
                whole, n = f"{name}-{n}", n + 1
            names[key] = whole
            changed += bool(given) and whole != given[0]
        if changed:
            self.assumed.append(
                f"Names of {count(changed, 'node')} were changed: a name has letters, digits, _, - and ., and one node."
            )
        return names

    def _places(self) -> dict[str, tuple[float, float]]:
        """Places of nodes with a radio [m], east and north of an origin."""
        nodes = self.survey.nodes
        degrees = {key: place for key in self.radios if (place := nodes[key].latlon)}
        plane = {key: place for key in self.radios if (place := nodes[key].xy) and key not in degrees}
        places: dict[str, tuple[float, float]] = {}
        if degrees:
            lat0, lon0 = (round(median(p[i] for p in degrees.values()), 6) for i in (0, 1))
            self.taken.append(
                f"Places of {count(len(degrees), 'node')}: x = R cos(lat0) (lon - lon0), y = R (lat - lat0) with "
                f"R = {_EARTH_M:.0f} m, lat0 = {lat0:.6f}, lon0 = {lon0:.6f} degrees."
            )
            across = _EARTH_M * math.cos(math.radians(lat0))
            for key, (lat, lon) in degrees.items():
                places[key] = across * math.radians(lon - lon0), _EARTH_M * math.radians(lat - lat0)
            if plane:
                self.left_out.append(f"{count(len(plane), 'place')} in meters, since others are in degrees")
        else:
            places = dict(plane)
            if plane:
                self.taken.append(f"Places of {count(len(plane), 'node')}, as the file has them [m].")
        self.unplaced = [key for key in self.radios if key not in places]
        for n, key in enumerate(self.unplaced):
            near = [places[b] for a, b in self.radio if a == key and b in places]
            middle = near or list(places.values()) or [(0.0, 0.0)]
            x, y = (sum(p[i] for p in middle) / len(middle) for i in (0, 1))
            angle = 2 * math.pi * n / len(self.unplaced)
            ring = 100.0 if places else 100.0 * max(1.0, len(self.unplaced) / 6)
            places[key] = x + ring * math.cos(angle), y + ring * math.sin(angle)
        if self.unplaced:
            why = "amid their neighbors" if len(self.unplaced) < len(self.radios) else "on a circle"
            self.assumed.append(
                f"{count(len(self.unplaced), 'node')} without a place: drawn {why}. With measured links, places set "
                "delays alone."
            )
        taken: Counter[tuple[float, float]] = Counter()
        for key, (x, y) in places.items():
            spot = round(x, 1), round(y, 1)
            places[key] = x + taken[spot], y
            taken[spot] += 1
        if moved := sum(n - 1 for n in taken.values() if n > 1):
            self.assumed.append(f"{count(moved, 'node')} at the place of another: moved 1 m apart.")
        return {key: places[key] for key in self.radios}

    # ---- links ----

    def _signals(self) -> dict[tuple[str, str], tuple[float, str]]:
        """Received power of each direction [dBm], and where it is from."""
        found: dict[tuple[str, str], tuple[float, str]] = {}
        for ends in sorted({e for pair in self.radio for e in (pair, pair[::-1])}, key=self._order):
            there, back = self.radio.get(ends, Link()), self.radio.get(ends[::-1], Link())
            if there.signal_dbm is not None:
                found[ends] = there.signal_dbm, "measured"
            elif back.signal_dbm is not None:
                found[ends] = back.signal_dbm, "the other direction"
            elif there.mcs is not None or back.mcs is not None:
                mcs = there.mcs if there.mcs is not None else back.mcs
                assert mcs is not None
                found[ends] = self.noise + _SNR_DB[min(mcs, 9)] + _MARGIN_DB, "its MCS"
            elif there.loss is not None or back.loss is not None:
                loss = there.loss if there.loss is not None else back.loss
                assert loss is not None
                margin = -NormalDist(0, _FADING_DB).inv_cdf(min(max(loss, _LEAST_LOSS), 0.99))
                found[ends] = _EDGE_DBM + margin, "its loss"
            elif not {*ends} & {*self.unplaced}:
                distance = max(math.dist(*(self.places[end] for end in ends)), 1.0)
                first = 20 * math.log10(4 * math.pi * (self.frequency or 2412.0) * 1e6 / 299_792_458)
                weakest = self.noise + _SNR_DB[0] + _MARGIN_DB
                found[ends] = max(_POWER_DBM - first - 10 * _EXPONENT * math.log10(distance), weakest), "its length"
            else:
                found[ends] = -75.0, "nothing"
        return found

    def _order(self, ends: tuple[str, str]) -> tuple[int, int]:
        return self.number[ends[0]], self.number[ends[1]]

    def _explain_signals(self, signals: Mapping[tuple[str, str], tuple[float, str]]) -> None:
        why = {
            "the other direction": "have the signal of the other direction, which alone was measured",
            "its MCS": f"have the SNR that their MCS needs, plus {_MARGIN_DB:g} dB, over a noise of {self.noise:g} dBm",
            "its loss": f"have a signal by their loss of broadcasts: {_EDGE_DBM:g} dBm plus the margin with which one "
            f"of a deviation of {_FADING_DB:g} dB is below it with this probability",
            "its length": f"have a signal by their length: {_POWER_DBM:g} dBm, path loss of exponent {_EXPONENT:g}, "
            "and at least what MCS 0 needs",
            "nothing": "have -75 dBm, since nothing is known of them",
        }
        sources = Counter(source for _, source in signals.values())
        if n := sources.pop("measured", 0):
            self.taken.append(f"Signals of {count(n, 'direction')} of radio links, as the receiver measured them.")
        self.assumed += [f"{count(n, 'direction')} of links {why[source]}." for source, n in sources.items()]
        far = [e for e in signals if math.dist(self.places[e[0]], self.places[e[1]]) > _FAR_M]
        if far and not {*far[0]} & {*self.unplaced}:
            a, b = (self.names[end] for end in far[0])
            self.assumed.append(
                f"{count(len(far), 'direction')} of radio links longer than {_FAR_M // 1000} km, as {a} to {b}: are "
                "the places right?"
            )

    def _rates(
        self, signals: Mapping[tuple[str, str], tuple[float, str]]
    ) -> Iterator[tuple[tuple[str, str], int, int]]:
        """MCS and streams of each direction, if any direction has one."""
        known = {e: link for e, link in self.radio.items() if link.mcs is not None}
        if not known:
            return
        for ends, (signal, _) in signals.items():
            if ends in known:
                link = known[ends]
                yield ends, min(link.mcs or 0, 7), min(link.streams, 2)
            else:
                fitting = [m for m in range(8) if _SNR_DB[m] + _MARGIN_DB <= signal - self.noise]
                yield ends, max(fitting, default=0), 1
        self.taken.append(f"MCS of {count(len(known), 'direction')}, from bitrates: `wlan.link_rate`.")
        if rest := len(signals) - len(known):
            self.assumed.append(
                f"{count(rest, 'direction')} without a bitrate {'has' if rest == 1 else 'have'} the highest MCS of one "
                f"stream whose SNR, plus {_MARGIN_DB:g} dB, the signal has."
            )
        if any(link.streams > 2 or (link.mcs or 0) > 7 for link in known.values()):
            self.assumed.append("At most MCS 7 of HT and two streams are modeled: higher ones have these.")
        if wide := [link.width_mhz for link in known.values() if link.width_mhz > 20]:
            self.assumed.append(
                f"{count(len(wide), 'direction')} {'was' if len(wide) == 1 else 'were'} measured in channels of up to "
                f"{max(wide)} MHz: the scenario has 20 MHz, with the same MCS (`wlan.ppdu.channel_width`)."
            )

    # ---- texts ----

    def written(self) -> Written:
        files: dict[str, str] = {}
        settings: list[str] = []
        signals = self._signals() if self.radio else {}
        channel = "802.11n" if (self.frequency or 0) > 4000 else "802.11n-2.4ghz"
        if self.frequency is None:
            self.assumed.append("The band is 2.4 GHz, with 802.11n in 20 MHz.")
        elif self.radio or self.radios:
            self.taken.append(f"The channel is at {self.frequency:g} MHz.")
        if self.radios:
            files["nodes.csv"] = "".join(self._csv(("name", "x_m", "y_m"), self._node_rows()))
            settings += ["[topology]", 'kind = "file"', 'file = "nodes.csv"']
            wired = len(self.keys) - len(self.radios) + bool(self._gateways())
            settings += [f"wired_nodes = {wired}"] * bool(wired) + [""]
        else:
            settings += ["[topology]", 'kind = "none"', f"wired_nodes = {len(self.keys) + bool(self._gateways())}", ""]
        settings += ["[radio]", 'reception = "sinr"'] if self.radios else []
        if self.frequency is not None and self.radios:
            settings.append(f'frequency = "{self.frequency:g} MHz"')
        if self.radios and self.survey.noise_dbm is not None:
            # -174 dBm/Hz in 20 MHz are -101 dBm.
            settings.append(f'sinr.noise_figure = "{max(self.noise + 101, 0):g} dB"    # noise of {self.noise:g} dBm')
        if signals:
            self._explain_signals(signals)
            files["links.csv"] = "".join(self._csv(_LINKS, self._link_rows(signals)))
            settings += ['propagation = "links"', 'links_file = "links.csv"', ""]
            self._explain_measures()
        elif self.radios:
            self.assumed.append(
                f"No link was measured: signals of {_POWER_DBM:g} dBm follow from places, by the loss of free space."
            )
            settings += ['propagation = "friis"', f'transmit_power = "{_POWER_DBM:g} dBm"', ""]
        if self.radios:
            self.assumed.append(
                f'Queues and TCP are not those of Linux and OpenWrt: `extends = ["linux-mesh", "{channel}"]` has them.'
            )
        rates = list(self._rates(signals))
        if self.radios:
            settings += ["[routing]", 'protocol = "shortest_path"', *self._metric(), ""]
            if rates:
                # The rate of broadcasts' neighbors must not decide who is one.
                settings += ["[wlan]", "ppdu.mcs = 0", *(["ppdu.streams = 1"] * any(s > 1 for *_, s in rates)), ""]
            else:
                self.assumed.append(
                    "Radios choose their rates as Minstrel-HT of Linux does, since no bitrate is known."
                )
                settings += ["[wlan]", 'rate_control.algorithm = "minstrel_ht"', ""]
        else:
            settings += ["[routing]", 'protocol = "shortest_path"', ""]
        for (a, b), mcs, streams in rates:
            settings += ["[[wlan.link_rate]]", f'src = "{self.names[a]}"', f'dst = "{self.names[b]}"', f"mcs = {mcs}"]
            settings += [f"streams = {streams}"] * (streams > 1) + [""]
        settings += self._wired()
        settings += self._flows(signals)
        files["scenario.toml"] = "\n".join(
            [*self._comments(), f'extends = "{channel}"', 'run.stop = "10 s"', "", *settings]
        )
        told = [f"{count(len(self.radios), 'node')} with a radio, {count(pairs(iter(self.radio)), 'radio link')}"]
        if len(self.keys) > len(self.radios):
            told.append(f"{count(len(self.keys) - len(self.radios), 'node')} behind wires")
        return Written(files, told, self.left_out, self.survey.doubtful)

    def _metric(self) -> Iterator[str]:
        """The metric of the routing daemon, if the files tell which one runs."""
        metrics = self.survey.metrics
        words = list(dict.fromkeys(metrics.values()))
        if len(words) == 1:
            yield f'metric = "{words[0]}"    # by {", ".join(metrics)}'
            self.taken.append(
                f'The metric of routes is that of {", ".join(metrics)}: `routing.metric = "{words[0]}"`, computed from '
                "measured losses of broadcasts, and for other links from the model."
            )
            if words[0] == "ett":
                self.assumed.append(
                    "ETT is the nearest to the metrics of olsrd2 (RFC 7779) and batman-adv V, which compare rates, too."
                )
        elif words:
            self.assumed.append(
                "Routes have the fewest hops, since the files are of several daemons: choose "
                + " or ".join(
                    f'`routing.metric = "{word}"` ({", ".join(d for d in metrics if metrics[d] == word)})'
                    for word in words
                )
                + "."
            )
        else:
            self.assumed.append(
                "Routes have the fewest hops, since no file tells the routing daemon: set `routing.metric`, e.g. to "
                '"babel", "etx" (olsrd), "tq" (batman-adv IV) or "linux_airtime" (802.11s).'
            )

    def _comments(self) -> Iterator[str]:
        yield "# Imported by `chappe import` from:"
        yield from (f"# - {plain(Path(file).name)}: {title}" for file, title in self.imported)
        said = {"Doubtful": self.survey.doubtful, "Taken": self.taken, "Assumed": self.assumed}
        for heading, texts in {**said, "Left out": self.left_out}.items():
            if texts:
                yield f"# {heading}:"
                yield from (f"# - {plain(text)}" for text in texts)
        yield ""

    @staticmethod
    def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
        yield ",".join(header) + "\n"
        yield from (",".join(row) + "\n" for row in rows)

    def _node_rows(self) -> Iterator[tuple[str, str, str]]:
        for key, (x, y) in self.places.items():
            yield self.names[key], f"{x:.1f}", f"{y:.1f}"

    def _link_rows(self, signals: Mapping[tuple[str, str], tuple[float, str]]) -> Iterator[list[str]]:
        """Rows of links, those of measured signals first; comments say where the signals of the others are from."""
        known = "measured"
        for ends, (signal, source) in sorted(signals.items(), key=lambda s: (s[1][1] != known, s[1][1])):
            if source != known:
                yield [f"# signals by {source}"]
                known = source
            link = self.radio.get(ends, Link())
            yield [
                *(self.names[end] for end in ends),
                f"{signal:.1f}",
                _written(link.signal_sd_db, 1),
                _written(link.loss, 4),
                "" if link.bitrate_bps is None else f"{link.bitrate_bps:.0f}",
                _written(link.retry_share, 4),
                "" if link.throughput_bps is None else f"{link.throughput_bps:.0f}",
            ]

    def _explain_measures(self) -> None:
        """Says what is uncertain, and what is kept beside the signals for a comparison."""
        links = self.radio.values()
        if n := sum(link.signal_sd_db is not None for link in links):
            self.taken.append(f"Standard deviations of {count(n, 'signal')} that were measured several times.")
        if len(self.radio) > n:
            self.assumed.append('Signals measured once are exact: `radio.links_sd = "3 dB"` draws them for each run.')
        measures = {
            "losses of broadcasts": sum(link.loss is not None for link in links),
            "shares of repeated attempts": sum(link.retry_share is not None for link in links),
            "expected throughputs": sum(link.throughput_bps is not None for link in links),
        }
        if told := [f"{what} of {count(n, 'direction')}" for what, n in measures.items() if n]:
            self.left_out.append(
                f"{', '.join(told)}: they are in links.csv, and `chappe check` compares them; radios lose frames by "
                'signal and noise, and by fading only with `radio.sinr.fading = "rayleigh"`'
            )

    def _gateways(self) -> list[str]:
        return [key for key in self.keys if self.survey.nodes[key].gateway]

    def _wired(self) -> list[str]:
        """Wires between nodes, and those of gateways to a node for the Internet; names of nodes without a radio."""
        lines: list[str] = []
        for n, key in enumerate(self.keys[len(self.radios) :], len(self.radios)):
            lines += ["[[node]]", f"nodes = {n}", f'name = "{self.names[key]}"', ""]
        joined = sorted({tuple(sorted(e, key=self.number.__getitem__)) for e in self.wires}, key=str)
        for a, b in joined:
            lines += [
                "[[wired_link]]",
                f'src = "{self.names[a]}"',
                f'dst = "{self.names[b]}"',
                'rate = "100 Mbit/s"',
                "",
            ]
        if joined:
            self.assumed.append(f"{count(len(joined), 'wire')} between nodes of 100 Mbit/s and 1 ms.")
        if gateways := self._gateways():
            if len(gateways) > 1:
                self.assumed.append(
                    'Flows keep the gateways of the start: with `routing.gateways = "announced"` they change them.'
                )
            self.uplink = "internet" if "internet" not in self.names.values() else "internet-uplink"
            lines += ["[[node]]", f"nodes = {len(self.keys)}", f'name = "{self.uplink}"', ""]
            for key in gateways:
                node = self.survey.nodes[key]
                down, up = node.down_mbps or 50.0, node.up_mbps or 10.0
                if node.down_mbps is None:
                    self.assumed.append(f"The uplink of {self.names[key]} has 50 Mbit/s down and 10 Mbit/s up.")
                lines += ["[[wired_link]]", f'src = "{self.uplink}"', f'dst = "{self.names[key]}"']
                lines += [f'rate = "{down:g} Mbit/s"', 'delay = "10 ms"', f'back.rate = "{up:g} Mbit/s"', ""]
            self.taken.append(f"{count(len(gateways), 'gateway')} with an uplink to the node `{self.uplink}`.")
        return lines

    def _flows(self, signals: Mapping[tuple[str, str], tuple[float, str]]) -> list[str]:
        """The flows of traffic files, or one over the longest path."""
        lines: list[str] = []
        for flow in self.survey.flows:
            src, dst = (self.names[self.survey.find(end)] for end in (flow.src, flow.dst))
            lines += ["[[flow]]", f'src = "{src}"', f'dst = "{dst}"', f'start = "{flow.start_s:g} s"']
            if flow.is_udp:
                lines += ['app = "cbr"']
                lines += [f'cbr.payload = "{flow.payload_bytes} B"'] if flow.payload_bytes else []
                lines += [f'cbr.interval = "{flow.interval_s:g} s"'] if flow.interval_s else []
            lines.append("")
        if lines:
            self.taken.append(f"{count(len(self.survey.flows), 'flow')} of traffic files.")
            return lines
        near: dict[str, set[str]] = {}
        weakest = self.noise + _SNR_DB[0] + _MARGIN_DB / 2
        heard = [e for e, (signal, _) in signals.items() if min(signal, signals[e[::-1]][0]) >= weakest]
        for a, b in [*(heard or signals), *self.wires]:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        if not near:
            ends = min(combinations(self.keys[:500], 2), key=lambda e: math.dist(self.places[e[0]], self.places[e[1]]))
            src_name, dst_name = (self.names[end] for end in ends)
            why = "between the two nodes that are next to each other"
        else:
            gateways = [key for key in self._gateways() if key in near]
            if gateways:
                near[""] = set(gateways)
            starts = [""] if gateways else list(near)[:50]
            (last, _), first = max(((_farthest(near, start), start) for start in starts), key=lambda found: found[0][1])
            src_name, dst_name = self.uplink if gateways else self.names[first], self.names[last]
            why = "from the uplink to the node with the most hops" if gateways else "over the most hops"
        self.assumed.append(f"One file transfer, {why}: write the flows that matter.")
        return ["[[flow]]", f'src = "{src_name}"', f'dst = "{dst_name}"', ""]


_LINKS = (
    "src",
    "dst",
    "signal_dbm",
    "sd_db",
    "frame_loss",
    "bitrate_bps",
    "retry_share",
    "expected_throughput_bps",
)
"""Columns of links."""


def _farthest(near: Mapping[str, set[str]], start: str) -> tuple[str, int]:
    """Node with the most hops from a node, and their number."""
    hops, last, waiting = {start: 0}, start, deque([start])
    while waiting:
        last = waiting.popleft()
        for other in sorted(near[last]):
            if other not in hops:
                hops[other] = hops[last] + 1
                waiting.append(other)
    return last, hops[last]


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _written(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}".rstrip("0").rstrip(".")
