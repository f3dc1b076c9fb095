"""Linux's TCP over meshes: which problems of 2003 to 2008 are gone, which are not, and what to change.

``python docs/experiments/linux_mesh.py`` makes the runs and writes ``docs/linux-mesh.md`` with its figure; ``--seeds``
and ``--stop`` make fewer and shorter runs. Two senders, or two ways to run a network, are compared at equal lengths of
the chain and equal seeds: the change is the mean over the lengths, its interval is over the seeds, and all intervals of
the page hold together with 95 % (Bonferroni).
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import chappe
import matplotlib as mpl
import numpy as np
import polars as pl
from chappe.stats import Estimate
from chappe_papers.page import table
from matplotlib.figure import Figure
from numpy.typing import NDArray

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "linux-mesh.md"
FIGURE = DOCS / "linux-mesh.svg"


class Sender(NamedTuple):
    """A sender.

    Attributes:
        title: Name on the page.
        preset: Preset of its TCP.
        tcp: Settings of its TCP.
    """

    title: str
    preset: str
    tcp: dict[str, Any]


OLD = {
    "mss": "1448 B",
    "header_size": "52 B",
    "ack_size": "52 B",
    "receive_window": 64,
    "rto": {"min": "200 ms"},
}
"""Settings of the senders of the papers: a window of 64 segments; packets have the sizes of those of Linux."""

SENDERS: Mapping[str, Sender] = {
    "cubic": Sender("CUBIC", "linux", {"congestion_control": "cubic"}),
    "reno": Sender("Reno", "linux", {"congestion_control": "reno"}),
    "bbr": Sender("BBR", "linux", {"congestion_control": "bbr"}),
    "newreno": Sender("NewReno (2003)", "standard", {"variant": "newreno", **OLD}),
    "vegas": Sender("Vegas (2003)", "standard", {"variant": "vegas", **OLD}),
}
LINUX = ("cubic", "reno", "bbr")


class Technique(NamedTuple):
    """A way to run a network.

    Attributes:
        title: Name on the page.
        changes: Settings that differ.
        source: Paper that recommends it, or RFC.
    """

    title: str
    changes: dict[str, Any]
    source: str


MARKS = {"queue.discipline": "codel", "tcp.ecn.enabled": True}
TECHNIQUES: Mapping[str, Technique] = {
    "plain": Technique("as it is", {}, ""),
    "thinning": Technique("ACK thinning", {"tcp.ack_policy": "thinning"}, "ElRakabawy 2005"),
    "clamp": Technique("window of 4", {"tcp.max_cwnd": 4}, "Su 2008"),
    "small": Technique("queues of 2", {"queue.limit": 2}, "Su 2008"),
    "rts": Technique("RTS", {"wlan.rts_threshold": "500 B"}, "Su 2008"),
    "aodv": Technique("AODV", {"routing.protocol": "aodv"}, "Ramarathinam 2003"),
    "ecn": Technique("CoDel with ECN", MARKS, "Ahmed 2006"),
    "codel": Technique("CoDel", {"queue.discipline": "codel"}, "RFC 8289"),
    "fq_codel": Technique("FQ-CoDel", {"queue.discipline": "fq_codel"}, "RFC 8290"),
    "both": Technique("thinning, FQ-CoDel", {"tcp.ack_policy": "thinning", "queue.discipline": "fq_codel"}, ""),
}
OF_OLD = ("plain", "thinning")
"""Techniques that the senders of the papers are run with."""


class Network(NamedTuple):
    """A kind of network.

    Attributes:
        title: Name on the page.
        short: Its name in a sentence.
        presets: Presets below that of the sender.
        wlan: Settings of 802.11.
        hops: Lengths of the chain.
        wired: True if the flows go on over a wire to a host.
    """

    title: str
    short: str
    presets: tuple[str, ...]
    wlan: dict[str, Any]
    hops: tuple[int, ...]
    wired: bool = False


DSSS = {"data_rate": "11 Mbit/s", "basic_rate": "2 Mbit/s"}
NETWORKS: Mapping[str, Network] = {
    "b": Network("802.11b, 11 Mbit/s", "802.11b", (), DSSS, (1, 2, 3, 4, 5, 7, 10)),
    "a": Network("802.11a, 54 Mbit/s", "802.11a", ("802.11a",), {}, (1, 2, 4, 7, 10)),
    "hybrid": Network("802.11b and a wire to a host", "hybrid", (), DSSS, (1, 2, 3, 5), wired=True),
}
FLOWS = (1, 4)
MEASURES = ("goodput_bps", "mean_delay_s", "jain_index")
GAP = "longest_gap_s"
SAME = 5
"""Largest change that counts as none [%]."""

Values = dict[str, NDArray[np.float64]]
"""Values of measures, by length (rows) and seed (columns); the longest gap is the mean over the seeds."""
Key = tuple[str, int, str, str]
"""Network, number of flows, sender, technique."""
Found = dict[Key, Values]


def techniques(sender: str) -> list[str]:
    """Techniques that a sender is run with."""
    return list(TECHNIQUES if sender in LINUX else OF_OLD)


def case(network: Network, hops: int, flows: int, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a length, a number of flows and a technique."""
    ends = {"src": 0, "dst": hops + network.wired}
    wire = {"src": hops, "dst": hops + 1, "rate": "31.4 Mbit/s", "delay": "9 ms", "queue": {"limit": 100}}
    wires = {"topology.wired_nodes": 1, "wired_link": [wire]} if network.wired else {}
    return {"topology.hops": hops, "flow": [ends] * flows, **wires, **changes}


def measured(network: Network, flows: int, sender: str, seeds: int, stop: str) -> dict[str, Values]:
    """Runs a sender over a network, with each technique."""
    title, preset, tcp = SENDERS[sender]
    cases = {
        f"{technique} {hops}": case(network, hops, flows, TECHNIQUES[technique].changes)
        for technique, hops in product(techniques(sender), network.hops)
    }
    scenario = {
        "extends": [*network.presets, preset],
        "wlan": network.wlan,
        "routing": {"protocol": "shortest_path"},
        "tcp": tcp,
        "run": {"stop": stop},
    }
    study = chappe.sweep(
        scenario, seeds=seeds, cases=cases, measures=[GAP], title=f"{title}, {network.title}", progress=True
    )
    gaps = {row["case"]: row["estimate"] for row in study.summary(GAP).iter_rows(named=True)}
    totals = study.table("totals").with_columns(value=pl.col("numerator") / pl.col("denominator")).sort("seed")
    of_case = totals.partition_by("case", "measure", as_dict=True)
    found: dict[str, Values] = {}
    for technique in techniques(sender):
        names = [f"{technique} {hops}" for hops in network.hops]
        values = {m: np.array([of_case[name, m]["value"] for name in names]) for m in MEASURES[: 1 + min(flows, 2)]}
        found[technique] = values | {GAP: np.array([[gaps[name]] for name in names])}
    return found


class Page:
    """The page, from the values of all runs."""

    def __init__(self, found: Found, seeds: int, stop: str):
        self.found = found
        self.seeds = seeds
        self.stop = stop
        pairs = 2 * len(found)
        self.confidence = 1 - 0.05 / pairs

    def change(self, one: Key, other: Key, measure: str = "goodput_bps") -> tuple[float, float, float]:
        """Relative change from the other to the one [%], the mean over the lengths, with its interval.

        A run that delivers nothing has a goodput of zero and no delay.
        """
        a, b = self.found[one][measure], self.found[other][measure]
        by_seed = np.nanmean((a - b) / np.nanmean(b, axis=1, keepdims=True), axis=0)
        estimate = Estimate.of(100 * by_seed)
        low, high = estimate.interval(self.confidence)
        return estimate.mean, low, high

    def answer(self, one: tuple[str, str], other: tuple[str, str], measure: str, more: bool, flows: int = 1) -> str:
        """Tells for each network if a sender with a technique has more, or less, of a measure than another."""
        words = []
        for n, network in NETWORKS.items():
            mean, low, high = self.change((n, flows, *one), (n, flows, *other), measure)
            wanted, opposite = (low > 0, high < 0) if more else (high < 0, low > 0)
            same = low > -SAME and high < SAME
            word = "no" if same else "yes" if wanted else "no, the opposite" if opposite else "undecided"
            words.append(f"{network.short} {word}, {mean:+.0f} % [{low:+.0f}, {high:+.0f}]")
        return "; ".join(words) + "."

    def with_cubic(self, technique: str, measure: str, more: bool, flows: int = 1) -> str:
        """Tells if CUBIC has more, or less, of a measure with a technique than without."""
        return self.answer(("cubic", technique), ("cubic", "plain"), measure, more, flows)

    def silent(self) -> str:
        """Runs that delivered nothing, in words."""
        runs = {key: int((values["goodput_bps"] == 0).sum()) for key, values in self.found.items()}
        where = [
            f"{n} with {SENDERS[s].title}, {TECHNIQUES[t].title}, {NETWORKS[net].short}, {f} flow{'s' * (f > 1)}"
            for (net, f, s, t), n in runs.items()
            if n
        ]
        total = sum(values["goodput_bps"].size for values in self.found.values())
        return f"Of {total:,} runs {sum(runs.values())} delivered nothing{': ' + '; '.join(where) if where else ''}."

    def mean(self, key: Key, measure: str, row: int) -> float:
        """Mean over the seeds at a length."""
        return float(self.found[key][measure][row].mean())

    def everywhere(self, technique: str, measure: str = "goodput_bps") -> tuple[int, int, int]:
        """Combinations of network, flows and Linux's senders with more, with less, and with neither."""
        changes = [
            self.change((n, f, s, technique), (n, f, s, "plain"), measure)
            for n, f, s in product(NETWORKS, FLOWS, LINUX)
        ]
        more = sum(low > 0 and mean > SAME for mean, low, _ in changes)
        less = sum(high < 0 and mean < -SAME for mean, _, high in changes)
        return more, less, len(changes) - more - less

    def ten_lines(self) -> list[str]:
        """Questions and answers."""
        far = len(NETWORKS["b"].hops) - 1
        hops = NETWORKS["b"].hops[far]

        def of_each(flows: int, measure: str, digits: int, factor: float = 1) -> str:
            means = {s: self.mean(("b", flows, s, "plain"), measure, far) for s in SENDERS}
            return ", ".join(f"{SENDERS[s].title} {factor * mean:.{digits}f}" for s, mean in means.items())

        cubic, bbr = ("cubic", "plain"), ("bbr", "plain")
        goodput, delay = "goodput_bps", "mean_delay_s"
        return [
            "Does CUBIC deliver less than Vegas, as NewReno did in 2005? "
            + self.answer(cubic, ("vegas", "plain"), goodput, more=False),
            f"Does CUBIC deliver more than NewReno? {self.answer(cubic, ('newreno', 'plain'), goodput, more=True)}",
            f"How long does a segment take over {hops} hops of 802.11b [ms]? {of_each(1, delay, 0, 1e3)}.",
            f"Is BBR's delay below CUBIC's? {self.answer(bbr, cubic, delay, more=False)} "
            f"Does that cost goodput? {self.answer(bbr, cubic, goodput, more=False)}",
            f"Does ACK thinning (ElRakabawy 2005) raise CUBIC's goodput? {self.with_cubic('thinning', goodput, True)}",
            f"Does a window of 4 (Su 2008) raise CUBIC's goodput? {self.with_cubic('clamp', goodput, True)} "
            f"Do queues of 2 raise CUBIC's goodput? {self.with_cubic('small', goodput, True)}",
            f"Does RTS (Su 2008) raise CUBIC's goodput? {self.with_cubic('rts', goodput, True)}",
            f"Does FQ-CoDel at each hop reduce the delay? {self.with_cubic('fq_codel', delay, False)} "
            f"Does FQ-CoDel cost goodput? {self.with_cubic('fq_codel', goodput, False)} "
            f"Does CoDel with ECN (Ahmed 2006) cost goodput? {self.with_cubic('ecn', goodput, False)}",
            f"Do routes that break, as with AODV, still cost goodput? {self.with_cubic('aodv', goodput, False)}",
            f"How evenly do four flows share {hops} hops of 802.11b (Jain's index)? {of_each(4, 'jain_index', 2)}. "
            f"How long does a flow get nothing, at the longest in a run, mean of the runs [s]? {of_each(4, GAP, 1)}.",
        ]

    def advice(self) -> list[str]:
        """Recommendations, from all combinations of network, number of flows and Linux's senders."""
        lines = []
        for key, technique in TECHNIQUES.items():
            if key == "plain":
                continue
            (more, less, _), (longer, shorter, _) = self.everywhere(key), self.everywhere(key, "mean_delay_s")
            if less == 0 and more + shorter > 0 and longer == 0:
                word = "change it"
            elif more == 0 and shorter == 0:
                word = "leave it"
            else:
                word = "it depends"
            source = f" ({technique.source})" if technique.source else ""
            lines.append(
                f"- **{technique.title}**{source}: {word}. More goodput in {more}, less in {less}; shorter delay in "
                f"{shorter}, longer in {longer} of {len(NETWORKS) * len(FLOWS) * len(LINUX)}."
            )
        return lines

    def lines(self) -> list[str]:
        """The page."""
        longest = max(max(network.hops) for network in NETWORKS.values())
        numbered = [f"{i}. {line}" for i, line in enumerate(self.ten_lines(), 1)]
        lines = [
            "# Linux's TCP over meshes",
            "",
            "Which problem of 2003 to 2008 is gone, which is not, and what should a network of Linux senders",
            "change?",
            f"One flow where nothing else is said, chains of 1 to {longest} hops, {self.seeds} runs of {self.stop};",
            "`python docs/experiments/linux_mesh.py` writes this page.",
            "",
            *numbered,
            "",
            "Brackets: intervals over seeds, which hold together with 95 %; changes are means over the",
            f"lengths. *No*: the whole interval is within {SAME} % either way. Parentheses: the interval contains",
            f"zero. Numbers of points 3 and 10 and of the last tables are means of {self.seeds} runs without",
            "intervals: small differences may be chance. CUBIC, Reno and BBR are those of the",
            "preset `linux`; NewReno and Vegas those of `standard` with packets of the same sizes, a window of 64",
            "segments and timeouts of at least 200 ms. Routes are shortest paths, but for AODV.",
            "",
            self.silent(),
            "",
            "## What to change",
            "",
            "Of all networks, one flow and four, and the three senders of Linux; a change of goodput or delay counts",
            f"where it is decided and above {SAME} %:",
            "",
            *self.advice(),
            "",
            f"![Goodput and delay over 802.11b, one flow]({FIGURE.name})",
            "",
        ]
        others = {key: technique.title for key, technique in TECHNIQUES.items() if key != "plain"}
        for measure, title in (("goodput_bps", "Goodput"), ("mean_delay_s", "Delay")):
            rows = [
                [NETWORKS[n].short, str(f), SENDERS[s].title, *(self.cell((n, f, s), key, measure) for key in others)]
                for n, f, s in product(NETWORKS, FLOWS, LINUX)
            ]
            lines += [f"## {title} beside the network as it is [%]", ""]
            lines += table(["network", "flows", "sender", *others.values()], rows)
        for n, network in NETWORKS.items():
            rows = [
                [str(f), SENDERS[s].title, *(self.absolute((n, f, s, "plain"), i) for i in range(len(network.hops)))]
                for f, s in product(FLOWS, SENDERS)
            ]
            lines += [f"## {network.title}: goodput [Mbit/s], delay [ms], longest gap [s]", ""]
            lines += table(["flows", "sender", *(f"{h} hop{'s' * (h > 1)}" for h in network.hops)], rows)
        return [line.replace("[", "\\[").replace("]", "\\]") if line.startswith("## ") else line for line in lines]

    def cell(self, of: tuple[str, int, str], technique: str, measure: str) -> str:
        """Change by a technique [%], in brackets where it is undecided."""
        mean, low, high = self.change((*of, technique), (*of, "plain"), measure)
        return f"{mean:+.0f}" if low > 0 or high < 0 else f"({mean:+.0f})"

    def absolute(self, key: Key, row: int) -> str:
        """Goodput [Mbit/s], delay [ms] and longest gap [s] at a length."""
        goodput, delay, gap = (self.mean(key, m, row) for m in ("goodput_bps", "mean_delay_s", GAP))
        return f"{goodput / 1e6:.2f}, {1e3 * delay:.0f}, {gap:.1f}"

    def figure(self) -> Figure:
        """Goodput and delay by hops, one flow, 802.11b."""
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        axes = figure.subplots(1, 2)
        for s, sender in SENDERS.items():
            values = self.found["b", 1, s, "plain"]
            style = "o-" if s in LINUX else "s--"
            axes[0].plot(NETWORKS["b"].hops, values["goodput_bps"].mean(axis=1) / 1e6, style, label=sender.title, ms=3)
            axes[1].plot(NETWORKS["b"].hops, 1e3 * values["mean_delay_s"].mean(axis=1), style, label=sender.title, ms=3)
        for ax, label in zip(axes, ("goodput [Mbit/s]", "delay [ms]"), strict=True):
            ax.set(xlabel="hops", ylabel=label, yscale="log")
        axes[0].legend(frameon=False, fontsize=8)
        return figure


def main(argv: Sequence[str] | None = None) -> None:
    """Makes the runs and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8, help="runs of each kind (8), at least 2")
    parser.add_argument("--stop", default="20 s", help='how long each run lasts ("20 s")')
    options = parser.parse_args(argv)
    found: Found = {}
    for n, f, s in product(NETWORKS, FLOWS, SENDERS):
        for technique, values in measured(NETWORKS[n], f, s, options.seeds, options.stop).items():
            found[n, f, s, technique] = values
    page = Page(found, options.seeds, options.stop)
    with mpl.rc_context({"svg.hashsalt": "chappe", "font.size": 9}):
        page.figure().savefig(FIGURE, metadata={"Date": None})
    PAGE.write_text("\n".join(page.lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
