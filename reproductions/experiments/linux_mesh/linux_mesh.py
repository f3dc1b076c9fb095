"""Linux hosts over 802.11n, 802.11ac and single frames: what to set, how much it gains, how sure, and why.

``python reproductions/experiments/linux_mesh/linux_mesh.py`` makes the runs and writes the page ``linux-mesh.md``; with
``--seeds`` fewer. ``linux_mesh_runs.py`` has the networks and the changes. A question is a change and a measure: its
comparisons, over all networks and both congestion controls, are one family (Holm). Intervals are those of each
comparison alone.
"""

import argparse
import math
import statistics
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import chappe
from chappe import text as show
from chappe.stats import holm
from chappe_papers.pages.page import table
from linux_mesh_runs import (
    CHANGES,
    MPDUS,
    NETWORKS,
    NO_SWITCH,
    PLAIN,
    REPEATED,
    SENDERS,
    STOP,
    STOP_AFAR,
    UNANSWERED,
    study,
)

PAGE = Path(__file__).parents[2] / "docs" / "linux-mesh.md"

GOODPUT, DELAY, JAIN, GAP = "goodput_bps", "delay_p95_s", "jain_index", "longest_gap_s"
MEASURES = {
    GOODPUT: "goodput",
    DELAY: "95 % quantile of the delay",
    GAP: "longest time in which a flow gets nothing",
    JAIN: "Jain's index",
}
"""Names of the measures."""

LEVEL = 0.05
LEAST = 0.05
"""Smallest change worth a row of the first table."""
TOLD = 0.02
"""Smallest loss that a recommendation must not have."""

BBR = "bbr"
"""The change of CUBIC to BBR."""

TITLES = {name: change.title for name, change in CHANGES.items()} | {BBR: "BBR instead of CUBIC"}
HOW = {name: change.how for name, change in CHANGES.items()} | {BBR: "`sysctl net.ipv4.tcp_congestion_control=bbr`"}
SETTABLE = [name for name, how in HOW.items() if not how.startswith(NO_SWITCH)]
"""Changes that a Linux host can be told."""
WHY = {name: change.why for name, change in CHANGES.items()} | {BBR: "paced by the measured rate, it fills queues less"}


class Effect(NamedTuple):
    """A relative change with its own 95 % interval.

    Attributes:
        value: The change; NaN if it is not known.
        low: Lower end.
        high: Upper end.
        p: Probability of such a change by chance, adjusted for all comparisons of its question.
    """

    value: float
    low: float
    high: float
    p: float

    @property
    def is_decided(self) -> bool:
        """True if it is significant among the comparisons of its question."""
        return self.p < LEVEL

    def is_loss(self, *, larger_is_better: bool) -> bool:
        """True if its own interval says that something is lost, and it is large enough to tell."""
        value, low, high = self[:3] if larger_is_better else (-self.value, -self.high, -self.low)
        return value <= -TOLD and low < high < 0

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        ends = "" if math.isnan(self.low) else f" ({100 * self.low:+.0f} to {100 * self.high:+.0f})"
        return f"{100 * self.value:+.0f} %{ends}"


Place = tuple[str, str]
"""Network and congestion control."""

Effects = Mapping[tuple[str, str], Mapping[Place, Effect]]
"""Effects by change and measure."""


def effects(studies: Mapping[str, chappe.Study]) -> Effects:
    """The effects of all changes on all measures."""
    found: dict[tuple[str, str], dict[Place, Effect]] = {}
    for name, done in studies.items():
        cases = done.runs["case"].unique().to_list()
        for measure in MEASURES:
            for case in cases:
                if case != PLAIN:
                    for row in _compared(done, measure, "case", case, PLAIN):
                        place = name, row["tcp.congestion_control"]
                        found.setdefault((case, measure), {})[place] = _effect(row)
            for row in _compared(done, measure, "tcp.congestion_control", "bbr", "cubic"):
                if row["case"] == PLAIN:
                    found.setdefault((BBR, measure), {})[name, "cubic"] = _effect(row)
    return {question: _adjusted(of_question) for question, of_question in found.items()}


def _compared(done: chappe.Study, measure: str, axis: str, a: str, b: str) -> list[dict[str, float]]:
    """Comparisons of two values of an axis, each with its own 95 % interval."""
    if measure == JAIN and len(done.scenario.settings["flow"]) < 2:
        return []
    others = len(SENDERS) if axis == "case" else done.runs["case"].n_unique()
    return done.compare(measure, {axis: a}, {axis: b}, confidence=1 - LEVEL * others).to_dicts()


def _effect(row: Mapping[str, float | None]) -> Effect:
    names = ("relative", "relative_ci_low", "relative_ci_high", "p")
    return Effect(*(math.nan if (value := row[name]) is None else value for name in names))


def _adjusted(of_question: Mapping[Place, Effect]) -> dict[Place, Effect]:
    adjusted = holm([e.p for e in of_question.values()])
    return {place: e._replace(p=p) for (place, e), p in zip(of_question.items(), adjusted, strict=True)}


class Advice(NamedTuple):
    """A change that is worth making in a network."""

    change: str
    goodput: Effect
    delay: Effect
    says: str


class Page:
    """The page, from the effects and the means of all runs."""

    def __init__(self, studies: Mapping[str, chappe.Study], seeds: int):
        self.studies, self.seeds = studies, seeds
        self.effects = effects(studies)
        self.networks = {name: NETWORKS[name] for name in studies}

    def effect(self, change: str, measure: str, name: str, sender: str = "cubic") -> Effect:
        """An effect; unknown where the change was not tried."""
        unknown = Effect(math.nan, math.nan, math.nan, math.nan)
        return self.effects.get((change, measure), {}).get((name, sender), unknown)

    def advice(self, name: str) -> Advice | None:
        """The best setting of a network of CUBIC: a decided gain of goodput, or else of delay, and no loss."""
        worth = []
        for change in SETTABLE:
            good = {m: self.effect(change, m, name) for m in MEASURES}
            gains = [good[GOODPUT].value, -good[DELAY].value]
            decided = [good[GOODPUT].is_decided, good[DELAY].is_decided]
            is_bad = any(e.is_loss(larger_is_better=m in (GOODPUT, JAIN)) for m, e in good.items())
            large = [gain for gain, is_sure in zip(gains, decided, strict=True) if is_sure and gain >= LEAST]
            if large and not is_bad:
                by_goodput = decided[0] and gains[0] >= LEAST
                worth.append((by_goodput, max(large), change))
        if not worth:
            return None
        change = max(worth)[2]
        return Advice(
            change, self.effect(change, GOODPUT, name), self.effect(change, DELAY, name), self._sure(change, name)
        )

    def _sure(self, change: str, name: str) -> str:
        """Certainty of a change of CUBIC, and its effect on BBR."""
        with_cubic = [self.effect(change, m, name) for m in (GOODPUT, DELAY)]
        p = min(e.p for e in with_cubic if not math.isnan(e.p))
        said = f"p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
        if change == BBR:
            return said
        goodput, delay = with_bbr = [self.effect(change, m, name, "bbr") for m in (GOODPUT, DELAY)]
        if goodput.is_decided and goodput.value < 0:
            return f"{said}; with BBR goodput {100 * goodput.value:+.0f} %"
        if delay.is_decided and delay.value > 0:
            return f"{said}; with BBR delay {100 * delay.value:+.0f} %"
        alike = any(a.is_decided and b.is_decided for a, b in zip(with_cubic, with_bbr, strict=True))
        return f"{said}; with BBR {'too' if alike else 'not shown'}"

    def first_table(self) -> list[str]:
        """The setting to make, by radio, path and routes."""
        rows = []
        for name, n in self.networks.items():
            if (a := self.advice(name)) is None:
                most = max(SETTABLE, key=lambda change: _known(self.effect(change, GOODPUT, name).value))
                gain = f"most by {TITLES[most]}: goodput {self.effect(most, GOODPUT, name)}"
                rows.append([n.radio, n.path, n.routes, "nothing", f"{gain}; delay {self.effect(most, DELAY, name)}",
                             "no gain is sure and without a loss", "-", "-"])  # fmt: skip
                continue
            gain = f"goodput {a.goodput}; delay {a.delay}"
            rows.append(
                [n.radio, n.path, n.routes, f"**{TITLES[a.change]}**", gain, a.says, WHY[a.change], HOW[a.change]]
            )
        header = ("radio", "path", "routes", "set", "gain", "how sure", "why", "how a Linux host is told")
        return table(header, rows)

    def spread(self, change: str, measure: str, *, is_single: bool = False) -> str:
        """The smallest and the largest effect over aggregates or over single frames, and how many are decided."""
        found = [e for (name, _), e in self.effects.get((change, measure), {}).items()
                 if NETWORKS[name].is_single == is_single and not math.isnan(e.value)]  # fmt: skip
        return spread(found)

    def answer(self) -> list[str]:
        """The first lines."""
        said, settings, losing = [], 0, 0
        for is_single, over in ((False, "with aggregates"), (True, "over single frames")):
            places = [name for name, n in self.networks.items() if n.is_single == is_single]
            of = {name: a.change for name in places if (a := self.advice(name)) is not None}
            advised = Counter(of.values())
            settings += len(of)
            with_bbr = [self.effect(change, GOODPUT, name, BBR) for name, change in of.items()]
            losing += sum(e.is_decided and e.value < 0 for e in with_bbr)
            found = ", ".join(f"{TITLES[change]} in {number}" for change, number in advised.most_common())
            said.append(f"{over} {found or 'nothing'} of {len(places)} networks")
        return [
            f"**What to set where CUBIC sends: {'; '.join(said)}.** With these settings BBR loses goodput in {losing} "
            f"of these {settings} networks. In the others no setting certainly gains {100 * LEAST:.0f} % of goodput or "
            f"delay without a loss. BBR instead of CUBIC, with aggregates: goodput {self.spread(BBR, GOODPUT)}, "
            f"95 % quantile of the delay {self.spread(BBR, DELAY)}. ACK thinning (ElRakabawy 2005): goodput "
            f"{self.spread('thinning', GOODPUT)} with aggregates, {self.spread('thinning', GOODPUT, is_single=True)} "
            "over single frames.",
        ]

    def gone(self) -> list[str]:
        """Gains of 2003 to 2008, over single frames and with aggregates."""
        lines = []
        for change in ("thinning", "window_4", "rts"):
            one, many = (self.spread(change, GOODPUT, is_single=is_single) for is_single in (True, False))
            lines.append(f"- {TITLES[change]}: goodput {one} over single frames, {many} with aggregates.")
        return lines

    def frames(self) -> list[str]:
        """Frames without and with RTS, those of the most MPDUs first, and what RTS changes there."""
        rows = []
        for name, n in self.networks.items():
            if n.is_single:
                continue
            shares = {m: self._of_frames(name, m) for m in (MPDUS, REPEATED, UNANSWERED)}
            for sender, title in SENDERS.items():
                mpdus, repeated, _ = (shares[m][PLAIN, sender] for m in shares)
                _, repeated_then, unanswered = (shares[m]["rts", sender] for m in shares)
                effect = self.effect("rts", GOODPUT, name, sender)
                rows.append((mpdus, repeated, repeated_then, unanswered, effect, [n.radio, n.path, n.routes, title]))
        rows.sort(key=lambda row: -row[0])
        said = []
        for verb, sign in (("gains", 1), ("costs", -1)):
            part = [row for row in rows if row[4].is_decided and sign * row[4].value > 0]
            if part:
                mpdus = statistics.median(row[0] for row in part)
                left = statistics.median(row[2] / row[1] for row in part)
                said.append(
                    f"where RTS certainly {verb} goodput, in {len(part)} of {len(rows)} cases, a frame carries "
                    f"{mpdus:.1f} MPDUs, and {100 * left:.0f} % of the frames without an answer remain"
                )
        header = ("radio", "path", "routes", "sender", "MPDUs a frame", "frames without answer [%]", "with RTS [%]",
                  "RTS without answer [%]", "goodput with RTS")  # fmt: skip
        return [
            "## Why RTS gains or costs", "",
            wrapped(
                "RTS and CTS cost each frame the same time, at a low rate. They are worth it where a frame carries "
                f"much, and where most of those that get no answer collided. In the median, {'; '.join(said)}."
            ), "",
            *table(header, [
                [*cells, f"{mpdus:.1f}", *(f"{100 * share:.0f}" for share in shares), self._cell(effect)]
                for mpdus, *shares, effect, cells in rows
            ]),
        ]  # fmt: skip

    def _of_frames(self, name: str, measure: str) -> dict[tuple[str, str], float]:
        """A share of frames by case and sender."""
        rows = self.studies[name].summary([measure]).to_dicts()
        return {(row["case"], row["tcp.congestion_control"]): row["estimate"] for row in rows}

    def question(self, change: str) -> list[str]:
        """The effects of a change in all networks, with both congestion controls."""
        says = f"{WHY[change][0].upper()}{WHY[change][1:]}. How: {HOW[change]}."
        lines = [f"### {TITLES[change]}", "", says, ""]
        senders = ["cubic"] if change == BBR else list(SENDERS)
        asked = [
            m
            for m in MEASURES
            if any((n, s) in self.effects.get((change, m), {}) for n in self.networks for s in senders)
        ]
        rows = []
        for name, n in self.networks.items():
            cells = [self._cell(self.effect(change, m, name, s)) for m in asked for s in senders]
            if any(c != "-" for c in cells):
                rows.append([n.radio, n.path, n.routes, *cells])
        names = [MEASURES[m] + (f", {SENDERS[s]}" if change != BBR else "") for m in asked for s in senders]
        return [*lines, *table(("radio", "path", "routes", *names), rows)]

    @staticmethod
    def _cell(e: Effect) -> str:
        return f"**{e}**" if e.is_decided else str(e)

    def means(self) -> list[str]:
        """Means as Linux has it."""
        scales = {GOODPUT: (1e-6, "goodput [Mbit/s]"), DELAY: (1e3, "95 % of the delay [ms]"),
                  GAP: (1e3, "longest silence [ms]"), JAIN: (1.0, "Jain's index")}  # fmt: skip
        rows = []
        for name, n in self.networks.items():
            done = self.studies[name]
            by_sender = {s: [n.radio, n.path, n.routes, SENDERS[s]] for s in SENDERS}
            for measure, (scale, _) in scales.items():
                if measure == JAIN and len(done.scenario.settings["flow"]) < 2:
                    continue
                for row in done.summary([measure]).to_dicts():
                    if row["case"] == PLAIN:
                        by_sender[row["tcp.congestion_control"]].append(show.estimate(row, scale))
            rows += [[*cells, *["-"] * (4 + len(scales) - len(cells))] for cells in by_sender.values()]
        header = ("radio", "path", "routes", "sender", *(title for _, title in scales.values()))
        return ["## Means, as Linux has it", "", *table(header, rows)]

    def lines(self) -> list[str]:
        """The page."""
        runs = sum(len(done.runs) for done in self.studies.values())
        return [
            "# Linux hosts over Wi-Fi meshes", "", *(wrapped(line) for line in self.answer()), "",
            *self.first_table(),
            wrapped(
                "*Set*: the setting of a network of CUBIC that certainly gains most goodput, or else most delay, at "
                f"least {100 * LEAST:.0f} %, and of which no interval of its own says that it loses "
                f"{100 * TOLD:.0f} % or more of goodput, delay, fairness or silence. Delay: its 95 % quantile. "
                f"Brackets: the 95 % interval of each comparison alone. Sure: p below {LEVEL:g} among all networks and "
                "both congestion controls of the question (Holm), which few runs seldom reach; these are **bold** "
                "below. A change without brackets has no interval: the runs differ too much."
            ), "",
            "## What of 2003 to 2008 is gone with aggregates", "", *self.gone(), "",
            *self.frames(),
            "## Each change", "",
            *(line for change in TITLES for line in self.question(change)),
            *self.means(),
            "## Method", "",
            wrapped(
                f"{runs:,} runs, {self.seeds} of each kind, of {STOP}, to Europe and the US of {STOP_AFAR}; the first "
                "two sevenths do not count. 802.11n and 802.11ac are the preset `linux-mesh`: the TCP of Linux 6.18, "
                "mac80211's queues with CoDel, airtime fairness and airtime limits, GRO, Minstrel-HT, 32 MPDUs in at "
                "most 4 ms, of which the driver makes two ahead, as ath9k does; ath9k has no 802.11ac, where firmware "
                "that aggregates when it sends is nearer to one aggregate in the driver. Nodes are 200 m apart. Their "
                "signals are 27 dB above the noise over 200 m, which is enough for 65 Mbit/s of 802.11n and for 292.5 "
                "of the 390 Mbit/s of 802.11ac, and 12 dB over 400 m; nodes farther away are hidden. AODV uses hops of "
                "400 m. The access point has stations at 100 m; the far one, at 480 m, does not hear that on the other "
                "side. The wires to Europe and the US have 31 and 115 ms. A window of 4 is `tcp.max_cwnd = 4`. 802.11b "
                "and 802.11a send single frames, over ns-2's radios. [single-frames.md](single-frames.md) has more of "
                "them: Su's mesh, lossy links, the classroom, walking nodes, and the recommendations of the papers. "
                "The TCP of the preset was compared with a kernel over a wire "
                "([validation-linux.md](validation-linux.md)) and over radios with queues of first in, first out "
                "([kernel-over-radios.md](kernel-over-radios.md)), where BBR has more goodput than here; "
                "the queues of mac80211 and their driver were compared with no kernel. "
                f"`python reproductions/experiments/linux_mesh/linux_mesh.py --seeds {self.seeds}` makes the runs and "
                "writes this page; for your own mesh, `chappe advise`."
            ), "",
        ]  # fmt: skip


def spread(found: Sequence[Effect]) -> str:
    """The smallest and the largest effect, and how many are decided."""
    if not found:
        return "not tried"
    low, high = min(e.value for e in found), max(e.value for e in found)
    up, down = (sum(e.is_decided and sign * e.value > 0 for e in found) for sign in (1, -1))
    return f"{100 * low:+.0f} to {100 * high:+.0f} % (more in {up}, less in {down} of {len(found)})"


def _known(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def wrapped(text: str) -> str:
    """Lines of a paragraph."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def main(arguments: Sequence[str] | None = None, networks: Iterable[str] = NETWORKS) -> None:
    """Makes the runs and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each kind (10), at least 3")
    parser.add_argument("-j", "--jobs", type=int, help="processes (one for each processor)")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/linux-mesh"), help="folder of the runs")
    args = parser.parse_args(arguments)
    studies = {}
    for name in networks:
        print(f"{name}", flush=True)
        studies[name] = study(NETWORKS[name], args.seeds, args.output, args.jobs)
    page = Page(studies, args.seeds)
    PAGE.write_text("\n".join(page.lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
