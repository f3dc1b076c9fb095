"""Further runs for undecided claims, up to a budget of CPU time: ``chappe paper NAME --decide TIME``.

The rule is group sequential (Pocock 1977; Jennison and Turnbull, *Group Sequential Methods*, 2000). A claim is judged
at most four times: with the planned runs, and each time that twice as many are made. At each of these looks it is
judged at a fourth of its level (Bonferroni), so that the error of all looks together is at most that level, whatever
the test is and however the looks depend on each other. Boundaries that use this dependence, such as Pocock's, would be
closer (at four looks 1.8 instead of 1.25 %), but hold for normal means alone, and claims are judged by ranks, shares
and quotients, too. A claim looks at the first runs of its points only: runs that another claim has asked for do not
count.

A claim that all looks left undecided goes on with its fresh experiment, where one was declared
(:mod:`chappe_papers.judging.fresh`).

``decided.json`` in the folder of the results records how often each claim was looked at, and the CPU time that it took.
The budget is that of the folder: the same command makes the same page again, to the byte, and one with a larger budget
goes on. A command without it judges the planned runs.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from chappe import StorageError
from chappe.cli.inputs import reason, write_file
from chappe.study import RunCache

from chappe_papers.judging import fresh
from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import Answer
from chappe_papers.judging.words import Verdict
from chappe_papers.runs import runner
from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import Estimates

LOOKS = 4
"""Number of times that a claim is judged at most, without its fresh experiment."""

_FRESH = LOOKS + 1
"""Number of looks of a claim that had its fresh experiment, too."""

RECORD = "decided.json"
"""File that records the looks."""


class SpentError(Exception):
    """Raised when the budget is spent, to end the runs."""


class Looks:
    """Looks at the claims of a paper: how many each had, and the data of each.

    Attributes:
        of: Number of looks by claim, 1 for the planned runs; one more than :data:`LOOKS` with a fresh experiment.
        answers: Answers of the last look.
        is_further: True if there was time for more than the recorded looks.
    """

    def __init__(
        self, design: Design, claims: Sequence[Claim], planned: Estimates, cache: RunCache, of: Mapping[str, int]
    ):
        """Repeats the recorded looks.

        Args:
            design: The runs of the paper.
            claims: Its claims.
            planned: Estimates of the planned runs.
            cache: The runs.
            of: Recorded looks by claim.
        """
        self._design, self._cache = design, cache
        self._claims = {c.id: c for c in claims}
        self._points = {c.id: list(c.needs(design.full.x)) for c in claims}
        self._costs: dict[str, float] = {}
        self.of = {c.id: of.get(c.id, 1) for c in claims}
        self.answers = {c.id: c.judged(planned, looks=LOOKS) for c in claims}
        self.is_further = False
        for name in [c for c, looks in self.of.items() if looks > 1]:
            self.answers[name] = self._at(name, self.of[name])

    def _at(self, name: str, look: int) -> Answer:
        """Judges a claim at a look, for which its missing runs are made."""
        if look == _FRESH:
            return fresh.judge(self._design, self._claims[name], self._cache)
        points, length = self._points[name], self._design.full
        done = runner.run(self._design, points, length, self._cache, 2 ** (look - 1))
        return self._claims[name].judged(done.table(points), looks=LOOKS)

    def _cost(self, name: str) -> float:
        """Amount of work of the next look."""
        if name not in self._costs and self.of[name] == LOOKS:
            self._costs[name] = fresh.work(self._design, self._claims[name], self._cache)
        elif name not in self._costs:
            points, factor = self._points[name], 2 ** self.of[name]
            self._costs[name] = sum(runner.missing(self._design, points, self._design.full, self._cache, factor))
        return self._costs[name]

    def _forget_costs(self, name: str) -> None:
        """Forgets costs that the look at a claim has changed: its own, and those of claims with points in common."""
        points = set(self._points[name])
        self._costs = {c: cost for c, cost in self._costs.items() if points.isdisjoint(self._points[c])}

    def _promise(self, name: str) -> float:
        """Expected work until a claim is decided; infinite if no number of runs would do."""
        return self.answers[name].times_the_runs * self._cost(name)

    def decide(self, budget_s: float, spent_s: Callable[[], float]) -> None:
        """Looks again at undecided claims, the most promising first, until the budget is spent.

        Args:
            budget_s: CPU time [s].
            spent_s: Clock of CPU time [s].
        """
        end = spent_s() + budget_s

        def check() -> None:
            if spent_s() >= end:
                raise SpentError

        self._cache.check = check
        try:
            while spent_s() < end and (name := self._most_promising()):
                self.is_further = True
                self.answers[name] = self._at(name, self.of[name] + 1)
                self.of[name] += 1
                self._forget_costs(name)
        except SpentError:
            # The runs that were made are kept, and make the next look of the same claim cheaper.
            pass
        finally:
            self._cache.check = lambda: None

    def _most_promising(self) -> str | None:
        undecided = [
            c
            for c, a in self.answers.items()
            if a.verdict is Verdict.OPEN and a.observations and self.of[c] < LOOKS + bool(self._claims[c].fresh)
        ]
        repeatable = [c for c in undecided if any(map(self._design.repeats, self._points[c]))]
        promises = {c: self._promise(c) for c in repeatable}
        best = min(promises, key=promises.__getitem__, default=None)
        return None if best is None or promises[best] == float("inf") else best


class Record(NamedTuple):
    """The record of a folder.

    Attributes:
        looks: Number of looks of the claims that had more than the first.
        cpu_s: CPU time for these looks [s].
    """

    looks: Mapping[str, int]
    cpu_s: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> "Record":
        """The record of a folder; an empty one if there is none.

        Raises:
            StorageError: If it cannot be read, or is not what :meth:`write` writes.
        """
        path = folder / RECORD
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            looks, cpu_s = dict(found["looks"]), float(found["cpu_s"])
            if all(n in range(2, _FRESH + 1) for n in looks.values()) and cpu_s >= 0:
                return cls(looks, cpu_s)
        except FileNotFoundError:
            return cls({})
        except OSError as e:
            raise StorageError(f"cannot read {path}: {reason(e)}") from None
        except (ValueError, LookupError, TypeError):
            pass
        raise StorageError(f"{path} is damaged: delete it, and undecided claims are judged anew; their runs are kept")

    def write(self, folder: Path) -> None:
        """Writes the record."""
        looks = {c: n for c, n in sorted(self.looks.items()) if n > 1}
        text = json.dumps({"looks": looks, "of": LOOKS, "cpu_s": round(self.cpu_s, 1)}, indent=2)
        write_file(folder / RECORD, f"{text}\n".encode())
