"""The ten lines of ``linux_mesh.py``: verdicts, evidence and reasons, all of them from the runs."""

import math
from collections.abc import Collection, Iterable, Mapping
from itertools import product
from statistics import fmean

from linux_mesh_advice import Advice
from linux_mesh_compare import (
    OPPOSITE,
    YES,
    Change,
    Comparisons,
    advised,
    counted,
    plus_minus,
    problem,
    span,
)
from linux_mesh_runs import (
    ACKS,
    BREAKS,
    COLUMNS,
    DELAY,
    GAP,
    GOODPUT,
    JAIN,
    LINUX,
    NETWORKS,
    PLAIN,
    SENDERS,
    TABLED,
    TECHNIQUES,
    WINDOW,
    Network,
)

FLOWS = (1, 4)
OF_SU = ("mesh", "europe", "us")
FAR = 10
"""Length of the chains of which single numbers are given [hops]."""
GONE, STAYS, UNDECIDED = "gone", "not gone", "undecided"
VEGAS_AHEAD, VEGAS_OVER_AODV = "Vegas far ahead where routes stay", "Vegas far ahead over AODV"
FULL_QUEUES, BROKEN_ROUTES, SILENCE = "full queues", "routes that break under load", "silence of one of four flows"
CHANGE, DEPENDS, NOTHING, LEAVE = "worth a change", "a trade", "no effect shown", "leave it"
_CHOICES = tuple(t for t in COLUMNS if t != "aodv")
"""Techniques that a network can take or leave."""


class Lines:
    """Answers, from comparisons of all runs."""

    def __init__(self, comparisons: Comparisons, networks: Mapping[str, Network]):
        self.comparisons = comparisons
        self.networks = networks
        self.advice = Advice(comparisons)

    def ten(self) -> list[str]:
        """Answers with their evidence."""
        return [
            self.vegas(),
            self.newer(),
            self.queues(),
            self.routes(),
            self.fairness(),
            self.codel(),
            self.thinning(),
            self.own_queue(),
            self.of_su(),
            f"**The five papers' recommendations**: {self.advice.total()} ([one by "
            "one](#the-recommendations-of-the-five-papers)).",
        ]

    def vegas(self) -> str:
        """The advantage of Vegas."""
        static = self.of_senders("linux_vegas", "cubic", GOODPUT).values()
        over_aodv = self.of_senders("linux_vegas", "cubic", GOODPUT, "aodv").values()
        old = self.of_senders("vegas", "cubic", GOODPUT).values()
        keys = [("b", 1, s, "aodv") for s in ("linux_vegas", "cubic")]
        breaks = self.comparisons.change(keys[0], keys[1], BREAKS, [FAR])
        why = "Its small window breaks fewer routes" if breaks.judged(more=False) == YES else "Windows and routes"
        pair = ("cubic", "linux_vegas")
        return (
            f"**Vegas far ahead of the usual sender (ElRakabawy 2005)**: where routes stay "
            f"{self.problems()[VEGAS_AHEAD]}; over AODV {self.problems()[VEGAS_OVER_AODV]}. Goodput of Vegas compared "
            f"with CUBIC: {span(static)}, over AODV {span(over_aodv)}. {why}: windows over {FAR} hops of 802.11b "
            f"{self.far(1, WINDOW, 0, pair)} segments, over AODV route failures per 10,000 segments "
            f"{self.far(1, BREAKS, 0, pair, technique='aodv')}. Vegas of 2003, with the receiver of 2003: {span(old)}."
        )

    def newer(self) -> str:
        """Goodput of the senders of today."""
        cases = list(product(self.networks, FLOWS, LINUX))
        newer = [self.comparisons.change((n, f, s, PLAIN), (n, f, "newreno", PLAIN)) for n, f, s in cases]
        words = [change.judged(more=True) for change in newer]
        verdict = f"in {words.count(YES)} of {len(words)} cases" if YES in words else "nowhere"
        later = [self.comparisons.change((n, f, s, "delayed"), (n, f, "newreno", PLAIN)) for n, f, s in cases]
        acks = self.comparisons.change(("b", 1, "cubic", PLAIN), ("b", 1, "newreno", PLAIN), ACKS, [FAR])
        why = (
            "Receivers of today acknowledge more segments one by one"
            if acks.judged(more=True) == YES
            else "Acknowledgements"
        )
        return (
            f"**More goodput by senders of today**: {verdict}. CUBIC, Reno and BBR compared with NewReno of 2003: "
            f"{span(newer)}; {counted(newer)}. {why}: per segment {self.far(1, ACKS, 2, ('cubic', 'newreno'))} ({FAR} "
            f"hops of 802.11b); without quick ACKs goodput is {span(later)}; {counted(later)}."
        )

    def queues(self) -> str:
        """Delay in queues."""
        filled = self.of_senders("cubic", "linux_vegas", DELAY).values()
        low, cost = (self.of_senders("bbr", "cubic", m).values() for m in (DELAY, GOODPUT))
        return (
            f"**Full queues**: {self.problems()[FULL_QUEUES]} with CUBIC, whose delay compared with Vegas is "
            f"{span(filled)}. BBR compared with CUBIC: delay {span(low)}, goodput {span(cost)}. Delay over {FAR} hops "
            f"of 802.11b [ms]: {self.far(1, DELAY, 0, factor=1e3)}; windows: "
            f"{self.far(1, WINDOW, 0, ('cubic', 'bbr', 'linux_vegas'))} segments."
        )

    def routes(self) -> str:
        """Routes that break."""
        aodv = self.of_today("aodv", GOODPUT)
        return (
            f"**Routes that break under load (AODV)**: {self.problems()[BROKEN_ROUTES]}. Goodput of CUBIC, Reno and "
            f"BBR compared with routes that stay: {span(aodv)}. No node moves: a frame that nobody answers breaks a "
            f"route, {self.with_and_without('aodv', BREAKS, 0)} times per 10,000 segments of CUBIC over {FAR} hops of "
            "802.11b."
        )

    def fairness(self) -> str:
        """Four flows."""
        of = "b", 4, "cubic"
        vegas, bbr = (
            self.comparisons.change(("b", 4, s, PLAIN), (*of, PLAIN), GAP, [FAR]) for s in ("linux_vegas", "bbr")
        )
        gap, jain = (self.comparisons.technique(of, "fq_codel", m, [FAR]) for m in (GAP, JAIN))
        return (
            f"**Unfairness and silence of four flows**: {self.problems()[SILENCE]}. Over {FAR} hops of 802.11b Jain's "
            f"index is {self.far(4, JAIN, 2)}; the longest time in which a flow gets nothing [s]: "
            f"{self.far(4, GAP, 1)}. That time compared with CUBIC: Vegas {vegas}, BBR {bbr}, CUBIC with FQ-CoDel "
            f"{gap} (Jain's index {jain})."
        )

    def codel(self) -> str:
        """Queue disciplines at each hop."""
        kinds = ("fq_codel", "codel", "ecn")
        delays = {t: self.of_today(t, DELAY) for t in kinds}
        costs = "; ".join(f"{TECHNIQUES[t].title} {counted(self.of_today(t, GOODPUT))}" for t in kinds)
        window = self.comparisons.technique(("b", 1, "cubic"), "fq_codel", WINDOW, [FAR])
        why = "They keep the window of CUBIC small" if window.judged(more=False) == YES else "Windows of CUBIC"
        return (
            f"**CoDel and FQ-CoDel at each hop**: {advised(delays['fq_codel'], more=False)} for delay, with FQ-CoDel "
            f"{span(delays['fq_codel'])}, with CoDel and ECN {span(delays['ecn'])}. Goodput: {costs}. {why}: "
            f"{self.with_and_without('fq_codel', WINDOW, 0)} (FQ-CoDel, {FAR} hops of 802.11b)."
        )

    def thinning(self) -> str:
        """ACK thinning."""
        goodput, delay = (self.of_today("thinning", m) for m in (GOODPUT, DELAY))
        fewer = self.comparisons.technique(("b", 1, "cubic"), "thinning", ACKS, [FAR]).judged(more=False) == YES
        why = "Acknowledgements take less of the air: per segment" if fewer else "Acknowledgements per segment:"
        return (
            f"**ACK thinning (ElRakabawy 2005)**: {advised(goodput)} for goodput, {span(goodput)}; delay "
            f"{counted(delay, 'longer', 'shorter')}. {why} {self.with_and_without('thinning', ACKS, 2)} (CUBIC, {FAR} "
            "hops of 802.11b)."
        )

    def own_queue(self) -> str:
        """Small queues."""
        goodput, delay = (self.of_today("small_queue", m, OF_SU) for m in (GOODPUT, DELAY))
        near, far = (self.of_today("small_queue", DELAY, OF_SU, [x]) for x in (1, 5))
        others = self.of_today("fq_codel", DELAY, OF_SU, [5])
        is_less = fmean(c.mean for c in far) > fmean(c.mean for c in others)
        why = (
            f" They empty the queue of the first node alone; FQ-CoDel empties all: {span(others)} over 5."
            if is_less
            else ""
        )
        first = f"{span(near)} over 1 hop, " if near else ""
        return (
            f"**Small queues of the sender (`auto`), on Su's paths**: {advised(delay, more=False)} for delay, "
            f"{first}{span(far)} over 5; goodput {counted(goodput)}.{why}"
        )

    def of_su(self) -> str:
        """Techniques of Su."""
        tried = {t: self.of_today(t, GOODPUT) for t in ("rts", "clamp", "small", "fixed")}
        said = "; ".join(f"{TECHNIQUES[t].title} {advised(c)}, {span(c)}" for t, c in tried.items() if c)
        return f"**What Su 2008 tries**, for the goodput of senders of today: {said}."

    def short(self) -> str:
        """The answers in a sentence for each verdict."""
        named = {}
        for title, verdict in self.problems().items():
            word, _, where = verdict.partition(" in ")
            named[f"{title} (in {where})" if where else title] = word
        named |= {TECHNIQUES[t].title: word for t, word in self.verdicts().items()}
        words = (GONE, STAYS, UNDECIDED, CHANGE, DEPENDS, NOTHING, LEAVE)
        titles = {word: [title for title, of_title in named.items() if of_title == word] for word in words}
        return " ".join(f"**{w[0].upper()}{w[1:]}**: {', '.join(of_word)}." for w, of_word in titles.items() if of_word)

    def problems(self) -> dict[str, str]:
        """Verdicts on problems of 2003 to 2008."""
        four = [("b", 4, s, PLAIN) for s in ("linux_vegas", "cubic")]
        silence = self.comparisons.change(four[0], four[1], GAP, [FAR])
        return {
            VEGAS_AHEAD: problem(self.of_senders("linux_vegas", "cubic", GOODPUT).values()),
            VEGAS_OVER_AODV: problem(self.of_senders("linux_vegas", "cubic", GOODPUT, "aodv").values()),
            FULL_QUEUES: problem(self.of_senders("cubic", "linux_vegas", DELAY).values()),
            BROKEN_ROUTES: problem(self.of_today("aodv", GOODPUT), more=False, of="cases"),
            SILENCE: problem([silence], more=False),
        }

    def reasons(self) -> list[str]:
        """Verdicts on techniques, with the numbers that they follow from."""
        lines = []
        for key, verdict in self.verdicts().items():
            (more, less), (longer, shorter) = (self.decided(key, m) for m in (GOODPUT, DELAY))
            source = f" ({TECHNIQUES[key].source})" if TECHNIQUES[key].source else ""
            lines.append(
                f"- **{TECHNIQUES[key].title}**{source}: {verdict}. More goodput in {more}, less in {less}; shorter "
                f"delay in {shorter}, longer in {longer} of {len(self.of_today(key, GOODPUT))}."
            )
        return lines

    def verdicts(self) -> dict[str, str]:
        """Verdict on each technique, from all networks, numbers of flows and senders of today."""
        verdicts = {}
        for technique in _CHOICES:
            (more, less), (longer, shorter) = (self.decided(technique, m) for m in (GOODPUT, DELAY))
            if less or longer:
                verdicts[technique] = DEPENDS if more or shorter else LEAVE
            else:
                verdicts[technique] = CHANGE if more or shorter else NOTHING
        return verdicts

    def decided(self, technique: str, measure: str) -> tuple[int, int]:
        """Numbers of increases and of decreases by a technique."""
        words = [change.judged(more=True) for change in self.of_today(technique, measure)]
        return words.count(YES), words.count(OPPOSITE)

    def of_today(
        self,
        technique: str,
        measure: str,
        networks: Iterable[str] = NETWORKS,
        lengths: Collection[float] | None = None,
    ) -> list[Change]:
        """Changes by a technique, for each network, number of flows and sender of today."""
        keys = [k for k in product(networks, FLOWS, LINUX) if (*k, technique) in self.comparisons.found]
        changes = (self.comparisons.technique(k, technique, measure, lengths) for k in keys)
        return [change for change in changes if not math.isnan(change.mean)]

    def of_senders(
        self, one: str, other: str, measure: str, technique: str = PLAIN, flows: int = 1
    ) -> dict[str, Change]:
        """Changes from a sender to another, both with a technique, by network."""
        keys = {n: [(n, flows, s, technique) for s in (one, other)] for n in self.networks}
        return {
            n: self.comparisons.change(a, b, measure)
            for n, (a, b) in keys.items()
            if a in self.comparisons.found and b in self.comparisons.found
        }

    def far(
        self,
        flows: int,
        measure: str,
        digits: int,
        senders: Iterable[str] = TABLED,
        factor: float = 1,
        technique: str = PLAIN,
    ) -> str:
        """Means of senders over the longest chain of 802.11b."""
        means = {s: self.comparisons.mean(("b", flows, s, technique), measure, FAR) for s in senders}
        return ", ".join(f"{SENDERS[s].title} {plus_minus(e, digits, factor)}" for s, e in means.items())

    def with_and_without(self, technique: str, measure: str, digits: int) -> str:
        """Means of CUBIC over the longest chain of 802.11b, without and with a technique."""
        keys = [("b", 1, "cubic", t) for t in (PLAIN, technique)]
        one, other = (plus_minus(self.comparisons.mean(k, measure, FAR), digits) for k in keys)
        return f"{one} without, {other} with it"
