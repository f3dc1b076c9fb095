"""Linux's TCP over meshes: which problems of 2003 to 2008 are gone, which are not, and what to change.

``python reproductions/experiments/linux_mesh/single_frames.py`` makes the runs and writes the page
``single-frames.md`` with its figure; ``--seeds`` and ``--stop`` make fewer and shorter runs. ``single_frames_runs.py``
has senders, techniques and networks, ``single_frames_compare.py`` their comparisons, ``single_frames_lines.py`` the
answers, ``single_frames_advice.py`` the recommendations of the papers.
"""

import argparse
import math
import textwrap
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import matplotlib as mpl
import single_frames_runs as runs
from chappe import RESULTS_EPOCH, __version__
from chappe_papers.pages.page import table
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from single_frames_advice import RECOMMENDATIONS
from single_frames_compare import SAME, Comparisons, plus_minus
from single_frames_lines import FAR, FLOWS, Lines

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "single-frames.md"
FIGURE = DOCS / "single-frames.svg"
SHOWN = (1, 3, 5, FAR)
"""Lengths of the tables of means [hops]."""

ASKED = [
    ["Reno, CUBIC, BBR of today; 1 to 10 hops of 802.11b and 802.11a", "figure, [means](#means)"],
    ["alone and four at a time", "all tables"],
    ["mesh and hybrid paths of Su", "rows *Su's mesh*, *to Europe*, *to the US* of all tables"],
    ["with and without small queues", "line 8, [small queues](#small-queues-of-the-sender)"],
    ["CoDel, FQ-CoDel, thinning, RTS", "lines 6, 7, 9, [what to change](#what-to-change)"],
    ["goodput, delay, fairness, time without delivery", "lines 3 and 5, [means](#means)"],
    ["recommendations of the five papers", "line 10, [one by one](#the-recommendations-of-the-five-papers)"],
]
"""Questions, and places of the answers."""


class Page:
    """The page, from comparisons of all runs."""

    def __init__(self, comparisons: Comparisons, networks: Mapping[str, runs.Network]):
        self.comparisons = comparisons
        self.found = comparisons.found
        self.networks = networks
        self.answers = Lines(comparisons, networks)

    def lines(self, seeds: int | None, stop: str | None) -> list[str]:
        """The page."""
        stops = ", ".join(f"{network.stop} ({network.short})" for network in self.networks.values())
        lines = [
            "# Linux's TCP over meshes of single frames",
            "",
            *self.answers.short(),
            "",
            *(f"{i}. {line}" for i, line in enumerate(self.answers.ten(), 1)),
            "",
            *wrapped(
                f"{self.numbers(seeds)} Lines 1 and 3 are of one flow where they do not say four, line 5 is of four; a "
                "case of lines 2, 4 and 6 to 9 is a network with one flow or four and a sender of today. Single "
                f"numbers over {FAR} hops of 802.11b are of one flow, but for line 5. *By X to Y % in N of M*: the "
                "smallest and the largest of the N mean changes that are decided. *X to Y %* without *by*: from the "
                "smallest mean change to the largest. The ends of a range are the extremes of up to 30 means, some of "
                "them undecided, and overstate the difference."
            ),
            "",
            *wrapped(
                f"*Decided*: the interval is free of zero, or all within {SAME} %; *within*: all within {SAME} %; "
                f"*more*, *less*: free of zero, and not all within {SAME} %. Brackets, and ± in tables of changes: "
                "intervals over the seeds, paired, which hold together with 95 % for all comparisons of the page; "
                "changes are means over the lengths. ± of a mean: its own 95 % interval; both ends where it is cut at "
                "what the quantity can be."
            ),
            "",
            *wrapped(
                "CUBIC, Reno and BBR are those of the preset `linux`, with a small queue of the sender "
                "(`tcp.small_queue`); *Vegas (Linux)* is Linux's window rule with alpha and beta 2 and SACK recovery, "
                "all else as in `linux`; NewReno and Vegas of 2003 are those of `standard` with packets of the same "
                "sizes, a window of 64 segments and timeouts of at least 200 ms. "
                "Routes are shortest paths, but for AODV. Su's mesh is that of [his page](papers/su2008.md), with "
                f"rate adaptation and a path for each seed; {self.same_paths(seeds)}Europe is 31 ms and the US 115 ms "
                f"behind it. Runs last {stop or stops}; BBR first probes the round-trip time at 10 s, which runs of "
                f"10 s do not reach. {self.silent()}"
            ),
            "",
            *wrapped(
                "802.11n and 802.11ac, which aggregate frames, have [a page of their own](linux-mesh.md). "
                "Known for transfers without end and nodes that rest, walking nodes and classroom apart; the preset "
                "was compared with a kernel over a wire ([validation-linux.md](validation-linux.md)) and over "
                "radios ([kernel-over-radios.md](kernel-over-radios.md)). "
                "`python reproductions/experiments/linux_mesh/single_frames.py` makes all runs and writes this page "
                "in half an hour of CPU time; `chappe sweep examples/linux_mesh.toml` is a small study to begin "
                f"with. Made with Chappe {__version__}, results epoch {RESULTS_EPOCH}."
            ),
            "",
            f"![Goodput, delay and longest time without delivery, by hops]({FIGURE.name})",
            "",
            *table(["asked", "answered"], ASKED),
            "## What to change",
            "",
            *wrapped(
                "In all networks, with one flow and four, with the three senders of today. *Worth a change*: a decided "
                "gain in goodput or delay, and no decided loss of either; *a trade*: a decided gain and a decided "
                "loss; *leave it*: decided losses alone. Fairness and silence are not judged; undecided cases count "
                "as no loss. Small queues are not in the list: Linux senders have them already (line 8)."
            ),
            "",
            *self.answers.reasons(),
            "",
            *wrapped(
                "In tables, parentheses stand where the interval contains zero. Windows are limited to 4 segments, "
                "to Europe to 7, to the US to 13; buffers of 2 of Su's mesh hold the packet that is sent, too."
            ),
            "",
            *self.techniques(runs.GOODPUT, "Goodput"),
            *self.techniques(runs.DELAY, "Delay"),
            *self.senders(runs.GOODPUT, "Goodput"),
            *self.senders(runs.DELAY, "Delay"),
            *self.small_queues(),
            *self.recommendations(),
            "## Means",
            "",
            "Each with its own 95 % interval; the figure has all lengths.",
            "",
            *self.means(runs.GOODPUT, "Goodput [Mbit/s]", 2, 1e-6),
            *self.means(runs.DELAY, "Delay [ms]", 0, 1e3),
            *self.means(runs.GAP, "Longest time in which a flow gets nothing [s]", 2),
            *self.means(runs.JAIN, "Jain's index", 3),
        ]
        return [line.replace("[", "\\[").replace("]", "\\]") if line.startswith("##") else line for line in lines]

    def numbers(self, seeds: int | None) -> str:
        """Numbers of runs of each kind, and lengths at which techniques are tried."""
        networks = self.networks.values()
        each = ", ".join(f"{network.short} {seeds or network.seeds}" for network in (*networks, *runs.PAPERS.values()))
        tried = ", ".join(f"{'/'.join(map(str, network.compared))} ({network.short})" for network in networks)
        everywhere = {runs.TECHNIQUES[t].title for network in networks for t in network.everywhere if t != runs.PLAIN}
        return (
            f"Runs of each kind: {each}. Senders are compared over all lengths, techniques over hops {tried}; "
            f"{', '.join(sorted(everywhere))} over all lengths of Su's paths."
        )

    def same_paths(self, seeds: int | None) -> str:
        """Number of cases on Su's paths, and of these paths, in words."""
        cases = sum(len(runs.LINUX) * len(n.flows) for n in self.networks.values() if n.is_drawn)
        paths = {seeds or n.seeds for n in self.networks.values() if n.is_drawn}
        return f"his {cases} cases are all on the same {max(paths)} paths; " if paths else ""

    def silent(self) -> str:
        """Runs that delivered nothing, in words."""
        total = sum(v.size for values in self.found.values() for v in values[runs.GOODPUT].values())
        where = []
        for (n, flows, sender, technique), values in self.found.items():
            if silent := sum(int((v == 0).sum()) for v in values[runs.GOODPUT].values()):
                network = (runs.NETWORKS | runs.PAPERS)[n].short
                many = f"{flows} flow{'s' * (flows > 1)}"
                where.append(
                    f"{silent} with {runs.SENDERS[sender].title}, {runs.TECHNIQUES[technique].title}, {network}, {many}"
                )
        return (
            f"Of {total:,} runs these delivered nothing: {'; '.join(where)}."
            if where
            else f"Every one of {total:,} runs delivered something."
        )

    def techniques(self, measure: str, title: str) -> list[str]:
        """Changes by technique."""
        columns = [t for t in runs.COLUMNS if any(key[3] == t for key in self.found)]
        rows = [
            [network.short, str(f), runs.SENDERS[s].title, *(self.cell((n, f, s), t, measure) for t in columns)]
            for n, network in self.networks.items()
            for f, s in product(network.flows, runs.LINUX)
        ]
        header = ["network", "flows", "sender", *(runs.TECHNIQUES[t].title for t in columns)]
        return [f"## {title} compared with the network as it is [%]", "", *table(header, rows)]

    def cell(self, of: tuple[str, int, str], technique: str, measure: str) -> str:
        """Change by a technique [%]."""
        return self.comparisons.technique(of, technique, measure).cell if (*of, technique) in self.found else "-"

    def senders(self, measure: str, title: str) -> list[str]:
        """Changes by sender."""
        others = [s for s in runs.TABLED if s != "cubic"]
        rows = [
            [network.short, str(f), *(self.answers.of_senders(s, "cubic", measure, flows=f)[n].cell for s in others)]
            for n, network in self.networks.items()
            for f in FLOWS
        ]
        header = ["network", "flows", *(runs.SENDERS[s].title for s in others)]
        return [f"## {title} compared with CUBIC [%]", "", *table(header, rows)]

    def small_queues(self) -> list[str]:
        """Goodput and delay with and without small queues."""
        rows = []
        for n, network in self.networks.items():
            for of in product([n], FLOWS, runs.LINUX):
                row = [network.short, str(of[1]), runs.SENDERS[of[2]].title]
                for measure, digits, factor in ((runs.GOODPUT, 2, 1e-6), (runs.DELAY, 0, 1e3)):
                    both = [(*of, t) for t in ("no_small_queue", runs.PLAIN)]
                    means = [self.comparisons.mean(key, measure, network.lengths[-1]) for key in both]
                    row += [plus_minus(e, digits, factor) for e in means]
                    row.append(self.comparisons.change(both[1], both[0], measure, network.lengths[-1:]).cell)
                rows.append(row)
        header = ["network", "flows", "sender", "goodput without", "with", "[%]", "delay without", "with", "[%]"]
        return [
            "## Small queues of the sender",
            "",
            *wrapped(
                "Packets of a connection in its own node take no more memory than two packets, or than what its rate "
                'sends in 1/128 s, if that is more (`tcp.small_queue = "auto"`; 1/1024 s where the outlet is no '
                "radio). Every Linux sender since 3.6 has a small queue, also those of this page; without it "
                "`tcp.small_queue` is unlimited. Goodput [Mbit/s] and delay [ms] without and with small queues, and "
                "their changes [%], are all of the longest paths, "
                f"{', '.join(f'{network.lengths[-1]:g} hops ({network.short})' for network in self.networks.values())}."
            ),
            "",
            *table(header, rows),
        ]

    def recommendations(self) -> list[str]:
        """Recommendations of the papers, one by one."""
        lines = [
            "## The recommendations of the five papers",
            "",
            *wrapped(
                f"Recommendations: {self.answers.advice.total()}. A trial is a network with a sender; a "
                f"recommendation holds in it where the change that it promises is decided and not all within {SAME} "
                "%. Bold: it holds, by unrounded numbers; italics: undecided. Five flows share the lossy link, 130 the "
                "classroom, of which the 30 short transfers count; twenty nodes walk at 10 m/s; all else is as above."
            ),
            "",
        ]
        header = ["recommendation", "where", "change of", *(runs.SENDERS[s].title for s in runs.LINUX)]
        for paper, of_paper in RECOMMENDATIONS.items():
            lines += [f"### {paper}", "", *table(header, self.answers.advice.rows(of_paper))]
        return lines

    def means(self, measure: str, title: str, digits: int, factor: float = 1) -> list[str]:
        """Means of all senders, without any technique."""
        most = runs.MOST.get(measure, math.inf)
        rows = []
        for n, network in self.networks.items():
            for f, s in product(network.flows if measure != runs.JAIN else FLOWS[1:], network.senders):
                means = {
                    x: self.comparisons.mean((n, f, s, runs.PLAIN), measure, x) for x in SHOWN if x in network.lengths
                }
                cells = (plus_minus(means[x], digits, factor, most) if x in means else "-" for x in SHOWN)
                rows.append([network.short, str(f), runs.SENDERS[s].title, *cells])
        header = ["network", "flows", "sender", *(f"{x} hop{'s' * (x > 1)}" for x in SHOWN)]
        return [f"### {title}", "", *table(header, rows)]

    def figure(self) -> Figure:
        """Goodput and delay of one flow, and longest time without delivery of four, by hops, with their intervals."""
        chains = [n for n, network in self.networks.items() if not network.is_drawn]
        figure = Figure(figsize=(10, 3 * len(chains)), layout="constrained")
        panels = (
            (1, runs.GOODPUT, 1e-6, "goodput [Mbit/s]"),
            (1, runs.DELAY, 1e3, "delay [ms]"),
            (4, runs.GAP, 1, "longest gap [s]"),
        )
        all_axes = figure.subplots(len(chains), len(panels), squeeze=False)
        for (n, (flows, measure, factor, label)), ax in zip(product(chains, panels), all_axes.flat, strict=True):
            network = self.networks[n]
            for s in network.senders:
                means = [self.comparisons.mean((n, flows, s, runs.PLAIN), measure, x) for x in network.lengths]
                values, widths = [factor * e.mean for e in means], [factor * e.half_width() for e in means]
                style = "o-" if s in runs.LINUX else "s--"
                title = runs.SENDERS[s].title
                ax.errorbar(network.lengths, values, widths, fmt=style, label=title, markersize=3, linewidth=1)
            title = f"{network.short}, {flows} flow{'s' * (flows > 1)}"
            ax.set(xlabel="hops", ylabel=label, yscale="log", title=title)
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter("{x:g}")
            ax.yaxis.set_minor_locator(NullLocator())
        all_axes[0, 0].legend(frameon=False, fontsize=7)
        return figure


def wrapped(text: str) -> list[str]:
    """Lines of a paragraph."""
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def main(argv: Sequence[str] | None = None, networks: Mapping[str, runs.Network] = runs.NETWORKS) -> None:
    """Makes the runs and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, help="runs of each kind, at least 2 (10 to 25, see `Network.seeds`)")
    parser.add_argument("--stop", help="how long each run lasts (10 to 500 s, see `Network.stop`)")
    options = parser.parse_args(argv)
    papers = runs.PAPERS if networks is runs.NETWORKS else {}
    found = runs.runs({**networks, **papers}, options.seeds, options.stop)
    # First without correct intervals, to count the comparisons.
    first = Comparisons(found)
    Page(first, networks).lines(options.seeds, options.stop)
    page = Page(Comparisons(found, len(first.made)), networks)
    with mpl.rc_context({"svg.hashsalt": "chappe", "font.size": 9}):
        page.figure().savefig(FIGURE, metadata={"Date": None})
    PAGE.write_text("\n".join(page.lines(options.seeds, options.stop)), encoding="utf-8")


if __name__ == "__main__":
    main()
