"""The ten lines of ``single_frames.py``: verdicts, evidence and reasons, all of them from the runs."""

import math
from collections.abc import Collection, Iterable, Mapping
from itertools import product

import single_frames_runs as runs
from single_frames_advice import Advice
from single_frames_compare import (
    AHEAD,
    GONE,
    NEVER,
    OPEN,
    OPPOSITE,
    STAYS,
    YES,
    Change,
    Comparisons,
    advised,
    counted,
    ends,
    gains,
    lead,
    plus_minus,
    problem,
    span,
)

FLOWS = (1, 4)
FAR = 10
"""Length of the chains of which single numbers are given [hops]."""
VEGAS_AHEAD, VEGAS_OVER_AODV = "Vegas far ahead with static routes", "Vegas far ahead over AODV"
FULL_QUEUES, BROKEN_ROUTES = "full queues", "routes that break under load"
SILENCE = f"silence of one of four flows over {FAR} hops of 802.11b"
CHANGE, DEPENDS, NOTHING, LEAVE = "worth a change", "a trade", "no effect shown", "leave it"
_CHOICES = tuple(t for t in runs.COLUMNS if t not in ("aodv", "no_small_queue"))
"""Techniques that a network can take or leave; Linux senders have small queues."""


class Lines:
    """Answers, from comparisons of all runs."""

    def __init__(self, comparisons: Comparisons, networks: Mapping[str, runs.Network]):
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
        then, now, then_over_aodv, now_over_aodv = (
            f"{gains(changes.values())} networks ({ends(changes.values())})"
            for technique in (runs.PLAIN, "aodv")
            for changes in self.of_vegas(technique)
        )
        keys = [("b", 1, s) for s in ("linux_vegas", "cubic")]
        less = [
            self.comparisons.change((*keys[0], t), (*keys[1], t), measure, [FAR]).judged(more=False) == YES
            for t, measure in ((runs.PLAIN, runs.WINDOW), ("aodv", runs.BREAKS))
        ]
        why = "Vegas has a smaller window and fewer route failures" if all(less) else "Windows and route failures"
        pair = ("cubic", "linux_vegas")
        return (
            "**Vegas far ahead of the usual sender (ElRakabawy 2005)**: with static routes: "
            f"{self.problems()[VEGAS_AHEAD]}. Over AODV: {self.problems()[VEGAS_OVER_AODV]}. "
            f'("Far": at least {AHEAD} %, significant; the smallest lead the paper reports.) '
            f"Goodput with static routes: Vegas of 2003 is ahead of NewReno of 2003 {then}, Vegas (Linux) is ahead of "
            f"CUBIC {now}; over AODV in 2003 {then_over_aodv}, today {now_over_aodv}. "
            f"{why}: windows over {FAR} hops of 802.11b {self.far(1, runs.WINDOW, 0, pair)} segments, over AODV route "
            f"failures per 10,000 segments {self.far(1, runs.BREAKS, 0, pair, technique='aodv')}."
        )

    def of_vegas(self, technique: str) -> tuple[dict[str, Change], dict[str, Change]]:
        """Goodput of Vegas compared with the usual sender by network, in 2003 and today."""
        then, now = (
            self.of_senders(one, other, runs.GOODPUT, technique)
            for one, other in (("vegas", "newreno"), ("linux_vegas", "cubic"))
        )
        return then, now

    def newer(self) -> str:
        """Goodput of the senders of today."""
        cases = list(product(self.networks, FLOWS, runs.LINUX))
        newer = [self.comparisons.change((n, f, s, runs.PLAIN), (n, f, "newreno", runs.PLAIN)) for n, f, s in cases]
        words = [change.judged(more=True) for change in newer]
        verdict = f"in {words.count(YES)} of {len(words)} cases" if YES in words else "nowhere"
        later = [self.comparisons.change((n, f, s, "delayed"), (n, f, "newreno", runs.PLAIN)) for n, f, s in cases]
        acks = self.comparisons.change(("b", 1, "cubic", runs.PLAIN), ("b", 1, "newreno", runs.PLAIN), runs.ACKS, [FAR])
        why = "Receivers of today send more acknowledgements" if acks.judged(more=True) == YES else "Acknowledgements"
        return (
            f"**More goodput by senders of today**: {verdict}. CUBIC, Reno and BBR compared with NewReno of 2003: "
            f"{span(newer)}; {counted(newer)}. {why}: per segment "
            f"{self.far(1, runs.ACKS, 2, ('cubic', 'newreno'))} ({FAR} hops of 802.11b); without quick ACKs their "
            f"goodput compared with NewReno's is {span(later)}; {counted(later)}."
        )

    def queues(self) -> str:
        """Delay in queues."""
        vegas, bbr, cost = (
            [self.of_senders(s, "cubic", measure, flows=f).values() for f in FLOWS]
            for s, measure in (("linux_vegas", runs.DELAY), ("bbr", runs.DELAY), ("bbr", runs.GOODPUT))
        )
        return (
            f"**Full queues**: {self.problems()[FULL_QUEUES]} with CUBIC: Vegas reduces its delay "
            f"{gains(vegas[0], more=False)} networks, with four flows {gains(vegas[1], more=False)}. BBR compared with "
            f"CUBIC: delay {span(bbr[0])}, with four flows {span(bbr[1])}; goodput {span(cost[0])}, with four flows "
            f"{span(cost[1])}. Delay over {FAR} hops of 802.11b [ms]: {self.far(1, runs.DELAY, 0, factor=1e3)}; "
            f"windows: {self.far(1, runs.WINDOW, 0, ('cubic', 'bbr', 'linux_vegas'))} segments."
        )

    def routes(self) -> str:
        """Routes that break."""
        aodv = self.of_today("aodv", runs.GOODPUT)
        breaks = plus_minus(self.comparisons.mean(("b", 1, "cubic", "aodv"), runs.BREAKS, FAR), 0)
        return (
            f"**Routes that break under load (AODV)**: {self.problems()[BROKEN_ROUTES]}. Goodput of CUBIC, Reno and "
            f"BBR compared with shortest paths, which cannot break: {span(aodv)}. No node moves: a frame without an "
            f"acknowledgement breaks a route, {breaks} times per 10,000 segments of CUBIC over {FAR} hops of 802.11b."
        )

    def fairness(self) -> str:
        """Four flows."""
        of = "b", 4, "cubic"
        (vegas, fair), (bbr, _) = (
            [
                self.comparisons.change(("b", 4, s, runs.PLAIN), (*of, runs.PLAIN), m, [FAR])
                for m in (runs.GAP, runs.JAIN)
            ]
            for s in ("linux_vegas", "bbr")
        )
        gap, jain = (self.comparisons.technique(of, "fq_codel", m, [FAR]) for m in (runs.GAP, runs.JAIN))
        return (
            f"**Silence and unfairness of four flows**: silence {self.problems()[SILENCE]}, unfairness "
            f"{problem([fair])}, each by one comparison ({FAR} hops of 802.11b, CUBIC compared with Vegas). There the "
            f"longest time in which a flow gets nothing is [s]: {self.far(4, runs.GAP, 1)}; Jain's index: "
            f"{self.far(4, runs.JAIN, 2)}. Compared with CUBIC: that time with Vegas {vegas}, with BBR {bbr}, with "
            f"CUBIC and FQ-CoDel {gap}; Jain's index with Vegas {fair}, with CUBIC and FQ-CoDel {jain}."
        )

    def codel(self) -> str:
        """Queue disciplines at each hop."""
        kinds = ("fq_codel", "codel", "ecn")
        delays = {t: self.of_today(t, runs.DELAY) for t in kinds}
        gained = "; ".join(
            f"{runs.TECHNIQUES[t].title} {advised(delay, more=False)}, {span(delay)}" for t, delay in delays.items()
        )
        costs = "; ".join(f"{runs.TECHNIQUES[t].title} {counted(self.of_today(t, runs.GOODPUT))}" for t in kinds)
        window = self.comparisons.technique(("b", 1, "cubic"), "fq_codel", runs.WINDOW, [FAR])
        why = "FQ-CoDel makes the window of CUBIC smaller" if window.judged(more=False) == YES else "Windows of CUBIC"
        return (
            f"**CoDel and FQ-CoDel at each hop**, for delay: {gained}. Goodput: {costs}. {why}: "
            f"{self.with_and_without('fq_codel', runs.WINDOW, 0)} ({FAR} hops of 802.11b)."
        )

    def thinning(self) -> str:
        """ACK thinning."""
        goodput, delay = (self.of_today("thinning", m) for m in (runs.GOODPUT, runs.DELAY))
        fewer = self.comparisons.technique(("b", 1, "cubic"), "thinning", runs.ACKS, [FAR]).judged(more=False) == YES
        why = "Receivers send fewer acknowledgements: per segment" if fewer else "Acknowledgements per segment:"
        return (
            f"**ACK thinning (ElRakabawy 2005)**: {advised(goodput)} for goodput, {span(goodput)}; delay "
            f"{counted(delay, 'longer', 'shorter')}. {why} {self.with_and_without('thinning', runs.ACKS, 2)} "
            f"(CUBIC, {FAR} hops of 802.11b)."
        )

    def own_queue(self) -> str:
        """Small queues."""
        found = self.comparisons.found
        pairs = [
            ((*key, runs.PLAIN), (*key, "no_small_queue"))
            for key in product(runs.PATHS_OF_SU, FLOWS, runs.LINUX)
            if (*key, "no_small_queue") in found
        ]
        near, far = (
            [self.comparisons.change(with_it, without, runs.DELAY, [x]) for with_it, without in pairs]
            for x in (1, *runs.FIVE_HOPS)
        )
        goodput = [self.comparisons.change(with_it, without, runs.GOODPUT) for with_it, without in pairs]
        further = self.of_today("fq_codel", runs.DELAY, runs.PATHS_OF_SU, runs.FIVE_HOPS)
        return (
            "**Small queues**, which Linux senders have, shorten the delay over one hop of Su's paths "
            f"{gains(near, more=False)} cases, compared with senders without them, and over five hops "
            f"{gains(far, more=False)}; goodput over all lengths {counted(goodput)}. FQ-CoDel shortens the delay over "
            f"five hops further, {gains(further, more=False)}."
        )

    def of_su(self) -> str:
        """Techniques of Su."""
        tried = {
            t: self.of_today(t, runs.GOODPUT, runs.PATHS_OF_SU, runs.FIVE_HOPS)
            for t in ("rts", "clamp", "small", "fixed")
        }
        said = "; ".join(f"{runs.TECHNIQUES[t].title} {advised(c)}, {span(c)}" for t, c in tried.items() if c)
        return f"**What Su 2008 tries over five hops**, for the goodput of senders of today over his paths: {said}."

    def short(self) -> list[str]:
        """The answer with its sizes, and the verdicts."""
        goodput = gains(self.of_today("thinning", runs.GOODPUT))
        fq_codel, codel = (
            f"{gains(self.of_today(t, runs.DELAY), more=False)} cases, at the cost of goodput in "
            f"{self.decided(t, runs.GOODPUT)[1]}"
            for t in ("fq_codel", "codel")
        )
        fixed = gains(self.of_today("fixed", runs.GOODPUT, runs.PATHS_OF_SU))
        return [
            f"**In a mesh of Linux senders ACK thinning raises the goodput {goodput} cases. FQ-CoDel reduces the "
            f"delay {fq_codel}; CoDel {codel}. On Su's paths a fixed rate raises the goodput {fixed} cases.** All "
            "changes are significant. Simulated, with the preset `linux`.",
            "",
            self.by_verdict(),
        ]

    def by_verdict(self) -> str:
        """The verdicts, in a sentence for each."""
        named = {}
        for title, verdict in self.problems().items():
            word, _, where = verdict.partition(" in ")
            named[f"{title} (in {where})" if where else title] = word
        named |= {runs.TECHNIQUES[t].title: word for t, word in self.verdicts().items()}
        words = (GONE, STAYS, NEVER, OPEN, CHANGE, DEPENDS, NOTHING, LEAVE)
        titles = {word: [title for title, of_title in named.items() if of_title == word] for word in words}
        return " ".join(f"**{w[0].upper()}{w[1:]}**: {', '.join(of_word)}." for w, of_word in titles.items() if of_word)

    def problems(self) -> dict[str, str]:
        """Verdicts on problems of 2003 to 2008."""
        four = [("b", 4, s, runs.PLAIN) for s in ("linux_vegas", "cubic")]
        silence = self.comparisons.change(four[0], four[1], runs.GAP, [FAR])
        return {
            VEGAS_AHEAD: lead(*self.of_vegas(runs.PLAIN)),
            VEGAS_OVER_AODV: lead(*self.of_vegas("aodv")),
            FULL_QUEUES: problem(self.of_senders("linux_vegas", "cubic", runs.DELAY).values(), more=False),
            BROKEN_ROUTES: problem(self.of_today("aodv", runs.GOODPUT), more=False, of="cases"),
            SILENCE: problem([silence], more=False),
        }

    def reasons(self) -> list[str]:
        """Verdicts on techniques, with the numbers that they follow from."""
        lines = []
        for key, verdict in self.verdicts().items():
            (more, less), (longer, shorter) = (self.decided(key, m) for m in (runs.GOODPUT, runs.DELAY))
            source = f" ({runs.TECHNIQUES[key].source})" if runs.TECHNIQUES[key].source else ""
            lines.append(
                f"- **{runs.TECHNIQUES[key].title}**{source}: {verdict}. More goodput in {more}, less in {less}; "
                f"shorter delay in {shorter}, longer in {longer} of {len(self.of_today(key, runs.GOODPUT))}."
            )
        return lines

    def verdicts(self) -> dict[str, str]:
        """Verdict on each technique, from all networks, numbers of flows and senders of today."""
        verdicts = {}
        for technique in _CHOICES:
            (more, less), (longer, shorter) = (self.decided(technique, m) for m in (runs.GOODPUT, runs.DELAY))
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
        networks: Iterable[str] = runs.NETWORKS,
        lengths: Collection[float] | None = None,
    ) -> list[Change]:
        """Changes by a technique, for each network, number of flows and sender of today."""
        keys = [k for k in product(networks, FLOWS, runs.LINUX) if (*k, technique) in self.comparisons.found]
        changes = (self.comparisons.technique(k, technique, measure, lengths) for k in keys)
        return [change for change in changes if not math.isnan(change.mean)]

    def of_senders(
        self, one: str, other: str, measure: str, technique: str = runs.PLAIN, flows: int = 1
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
        senders: Iterable[str] = runs.TABLED,
        factor: float = 1,
        technique: str = runs.PLAIN,
    ) -> str:
        """Means of senders over the longest chain of 802.11b."""
        means = {s: self.comparisons.mean(("b", flows, s, technique), measure, FAR) for s in senders}
        most = runs.MOST.get(measure, math.inf)
        return ", ".join(f"{runs.SENDERS[s].title} {plus_minus(e, digits, factor, most)}" for s, e in means.items())

    def with_and_without(self, technique: str, measure: str, digits: int) -> str:
        """Means of CUBIC over the longest chain of 802.11b, without and with a technique."""
        keys = [("b", 1, "cubic", t) for t in (runs.PLAIN, technique)]
        one, other = (plus_minus(self.comparisons.mean(k, measure, FAR), digits) for k in keys)
        return f"{one} without, {other} with {runs.TECHNIQUES[technique].title}"
