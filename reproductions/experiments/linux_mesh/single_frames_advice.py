"""Recommendations of the five papers, tried with the senders of ``single_frames.py``."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from single_frames_compare import OPEN, YES, Change, Comparisons
from single_frames_runs import (
    DELAY,
    ENERGY,
    FIVE_HOPS,
    GOODPUT,
    JAIN,
    LINUX,
    NETWORKS,
    PAPERS,
    PATHS_OF_SU,
    PLAIN,
    SENDERS,
)

ALL = NETWORKS | PAPERS


class Trial(NamedTuple):
    """A recommendation in a network.

    Attributes:
        network: Its network.
        technique: Technique of the senders.
        sender: Sender that is recommended; ``None``: the senders of today keep their own.
        flows: Number of flows; 0: the first of the network.
        measure: Measure that is to change.
        more: True if it is to become larger.
        beside: Technique that is compared with.
        lengths: Lengths; ``None``: all that are compared.
        note: Remark.
    """

    network: str
    technique: str = PLAIN
    sender: str | None = None
    flows: int = 0
    measure: str = GOODPUT
    more: bool = True
    beside: str = PLAIN
    lengths: tuple[float, ...] | None = None
    note: str = ""


class Recommendation(NamedTuple):
    """A recommendation of a paper.

    Attributes:
        text: The recommendation.
        trials: Trials; none if senders of today cannot follow it.
        note: Remark.
        ours: True if it is ours, not one of the paper: it does not count.
    """

    text: str
    trials: tuple[Trial, ...]
    note: str = ""
    ours: bool = False


_CHAINS = ("b", "a")

RECOMMENDATIONS: dict[str, tuple[Recommendation, ...]] = {
    "ElRakabawy, Lindemann, Vernon 2005": (
        Recommendation(
            "Vegas with alpha = beta = 2, for goodput",
            tuple(Trial(n, sender="linux_vegas", flows=f) for n in _CHAINS for f in (1, 4)),
        ),
        Recommendation(
            "the same over routes of AODV, as in the paper",
            tuple(Trial(n, "aodv", "linux_vegas", flows=f, beside="aodv") for n in _CHAINS for f in (1, 4)),
        ),
        Recommendation(
            "Vegas for fairness", tuple(Trial(n, sender="linux_vegas", flows=4, measure=JAIN) for n in _CHAINS)
        ),
        Recommendation("Vegas for energy", (Trial("b", sender="linux_vegas", measure=ENERGY, more=False),)),
        Recommendation(
            "ACK thinning", tuple(Trial(n, "thinning", flows=f) for n in (*_CHAINS, "mesh") for f in (1, 4))
        ),
        Recommendation(
            "Vegas with ACK thinning, the best",
            tuple(Trial(n, "thinning", "linux_vegas", flows=f, beside="thinning") for n in _CHAINS for f in (1, 4)),
            "compared with the others with ACK thinning",
        ),
    ),
    "Zhou, Leis, Hoang, Nhan 2004": (
        Recommendation("Snoop above 2 % loss, for goodput", (Trial("lossy", "snoop", lengths=(4, 8)),)),
        Recommendation(
            "mechanisms for fairness, for which Snoop is tried",
            (Trial("lossy", "snoop", measure=JAIN, lengths=(4, 8)),),
        ),
        Recommendation("Vegas at low loss", (Trial("lossy", sender="linux_vegas", lengths=(0.1,)),)),
        Recommendation("ELN, alone or with Snoop", (), "Linux has no ELN"),
    ),
    "Ramarathinam, Labrador 2003": (
        Recommendation("DSR instead of AODV (with Reno), for short transfers", (Trial("classroom", "dsr"),)),
        Recommendation("Reno", (Trial("classroom", sender="reno"),)),
        Recommendation(
            "reactive routing instead of DSDV, for energy",
            (
                Trial("classroom", PLAIN, measure=ENERGY, more=False, beside="dsdv", note="AODV"),
                Trial("classroom", "dsr", measure=ENERGY, more=False, beside="dsdv", note="DSR"),
            ),
        ),
        Recommendation("SACK, perhaps", (), "all senders of today have it"),
    ),
    "Ahmed, Zaidi, Sharif 2006": (
        Recommendation(
            "E-NewReno",
            (),
            "its sender of 2006 has a receiver of then: with that, its goodput compared with NewReno's of 2003 is "
            "-0.1 % [-5.0, +5.0], 20 walks",
        ),
        Recommendation(
            "probes after timeouts",
            (Trial("walking", PLAIN, beside="no_probes"),),
            "Linux's own, F-RTO and tail loss probes, compared with none",
        ),
        Recommendation("ECN, for goodput", tuple(Trial(n, "ecn") for n in ("walking", *_CHAINS, "mesh"))),
        Recommendation(
            "short queues, for delay",
            (Trial("walking", "fq_codel", measure=DELAY, more=False),),
            "FQ-CoDel; ours, not counted",
            ours=True,
        ),
    ),
    "Su, Steenkiste, Gross 2008": (
        Recommendation(
            "buffers of 2 over five hops",
            tuple(Trial(n, "small", flows=f, lengths=FIVE_HOPS) for n in PATHS_OF_SU for f in (1, 4)),
        ),
        Recommendation(
            "a window of 4 over five hops of a mesh",
            (Trial("mesh", "clamp", lengths=FIVE_HOPS), Trial("mesh", "clamp", flows=4, lengths=FIVE_HOPS)),
        ),
        Recommendation(
            "a window of the bandwidth-delay product of five hops and the Internet, 7 and 13",
            (Trial("europe", "clamp", lengths=FIVE_HOPS), Trial("us", "clamp", lengths=FIVE_HOPS)),
        ),
        Recommendation("RTS with rate adaptation", (Trial("mesh", "rts", lengths=FIVE_HOPS),)),
        Recommendation("no RTS at a fixed rate", tuple(Trial(n, "rts", more=False) for n in _CHAINS)),
        Recommendation("a fixed rate over five hops", tuple(Trial(n, "fixed", lengths=FIVE_HOPS) for n in PATHS_OF_SU)),
        Recommendation(
            "limits of rate adaptation: 5.5 and 11 Mbit/s only",
            tuple(Trial(n, "fast_rates", lengths=FIVE_HOPS) for n in PATHS_OF_SU),
        ),
        Recommendation("losses told from collisions: CARA", (Trial("mesh", "cara", lengths=FIVE_HOPS),)),
        Recommendation(
            "flow control of links, with buffers of 2",
            tuple(Trial(n, "flow_control", lengths=FIVE_HOPS) for n in PATHS_OF_SU),
        ),
        Recommendation(
            "Vegas over five hops and the Internet",
            tuple(Trial(n, sender="linux_vegas", lengths=FIVE_HOPS) for n in ("europe", "us")),
        ),
    ),
}

MEASURED = {GOODPUT: "goodput", JAIN: "Jain's index", ENERGY: "energy per bit", DELAY: "delay"}


HOLDS, PARTLY, FAILS = "holds", "holds in some", "does not hold"
TOLD = {
    HOLDS: "hold in every trial",
    PARTLY: "in some trials",
    FAILS: "hold in none",
    OPEN: "hold in none but are undecided in some trials or all",
}
"""Words for numbers of recommendations with a verdict."""


def verdict(words: Sequence[str]) -> str:
    """Verdict on a recommendation from the judgments of its trials."""
    yes, undecided = words.count(YES), words.count(OPEN)
    if yes:
        return HOLDS if yes == len(words) else f"holds in {yes} of {len(words)} trials"
    if not undecided:
        return FAILS
    return OPEN if undecided == len(words) else f"{OPEN} in {undecided} of {len(words)} trials, no gain in the others"


def kind(word: str) -> str:
    """Verdict without its numbers, a key of :data:`TOLD`."""
    return word if word in TOLD else OPEN if word.startswith(OPEN) else PARTLY


class Advice:
    """The recommendations with what came of them."""

    def __init__(self, comparisons: Comparisons):
        self.comparisons = comparisons

    def changes(self, trial: Trial) -> dict[str, Change] | None:
        """Changes by sender of today; ``None`` without runs. A sender is not compared with itself."""
        flows = trial.flows or ALL[trial.network].flows[0]
        if not any(key[:2] == (trial.network, flows) for key in self.comparisons.found):
            return None
        of = trial.network, flows
        return {
            s: self.comparisons.change(
                (*of, trial.sender or s, trial.technique), (*of, s, trial.beside), trial.measure, trial.lengths
            )
            for s in LINUX
            if trial.sender != s
        }

    def words(self, recommendation: Recommendation) -> list[str]:
        """Judgments of the trials of a recommendation, one for each sender of today."""
        trials = [(trial, self.changes(trial)) for trial in recommendation.trials]
        return [c.judged(trial.more) for trial, changes in trials if changes for c in changes.values()]

    def total(self) -> str:
        """Numbers of recommendations that hold, in a sentence."""
        tried = {r.text: self.words(r) for of_paper in RECOMMENDATIONS.values() for r in of_paper if not r.ours}
        verdicts = {text: verdict(words) for text, words in tried.items() if words}
        held = "; ".join(text for text, word in verdicts.items() if word == HOLDS)
        counts = Counter(map(kind, verdicts.values()))
        told = ", ".join(f"{counts[word]} {of}" for word, of in TOLD.items() if counts[word])
        return f"of {counts.total()} tried with senders of today {told}{f' (in every: {held})' if held else ''}"

    def rows(self, recommendations: Sequence[Recommendation]) -> list[list[str]]:
        """Rows of a table: recommendation and verdict, network, measure, senders."""
        rows = []
        for recommendation in recommendations:
            words = self.words(recommendation)
            note = f" ({recommendation.note})" if recommendation.note else ""
            first = f"{recommendation.text}{note}: **{verdict(words) if words else 'not tried'}**"
            for trial in recommendation.trials:
                if (changes := self.changes(trial)) is not None:
                    cells = (self.cell(changes[s], trial) if s in changes else "-" for s in LINUX)
                    rows.append([first, self.where(trial), self.measured(trial), *cells])
                    first = ""
            if not recommendation.trials:
                rows.append([first, "-", "-", *["-"] * len(LINUX)])
        return rows

    @staticmethod
    def cell(change: Change, trial: Trial) -> str:
        """A change, bold where the recommendation holds, in italics where that is undecided."""
        mark = {YES: "**", OPEN: "*"}.get(change.judged(trial.more), "")
        return f"{mark}{change}{mark}"

    def where(self, trial: Trial) -> str:
        """Network, lengths and flows of a trial."""
        network = ALL[trial.network]
        flows = trial.flows or network.flows[0]
        unit = " %" if trial.network == "lossy" else " hops"
        lengths = f", {' and '.join(f'{x:g}' for x in trial.lengths)}{unit}" if trial.lengths else ""
        many = f", {flows} flow{'s' * (flows > 1)}" if len(network.flows) > 1 else ""
        note = f", {trial.note}" if trial.note else ""
        return f"{network.short}{lengths}{many}{note}"

    @staticmethod
    def measured(trial: Trial) -> str:
        """Measure of a trial, and sender if it is another one."""
        return MEASURED[trial.measure] + (f" of {SENDERS[trial.sender].title}" if trial.sender else "")
