"""Additions to a paper: figures and tables besides its own."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.judging.judge import times
from chappe_papers.pages import figures, page
from chappe_papers.pages.answers import FURTHER, Answer
from chappe_papers.pages.figures import Chart, Legend, Sheet
from chappe_papers.runs.estimates import Estimates
from chappe_papers.runs.runner import Runner

ADDITION = "Addition to the paper: "
"""Titles of what is added begin with this."""


@dataclass(frozen=True)
class Extra:
    """Tables that are added, and a figure if there is one.

    Attributes:
        name: Of the files of the figure.
        points: Points to run, given the length.
        chart: Its figure.
        legend: Names of the variants of the figure.
        sheets: Its tables by the names of their files.
        also: Adds to our numbers.
        answers: What follows from them: questions, or what they are about, and answers, of runs of any length.
        place: Of its answers on the page of the paper.
    """

    name: str
    points: Callable[[Any], list[Any]]
    chart: Callable[[Any], Chart] | None
    legend: Legend | None
    sheets: Mapping[str, Sheet]
    also: Callable[[Estimates], Estimates] = lambda data: data
    answers: Callable[[Estimates], list[tuple[str, str]]] = lambda _: []
    place: str = FURTHER

    def write(
        self, runner: Runner, ours: Estimates, ns2: Estimates, folder: Path
    ) -> tuple[list[page.DrawnFigure], list[page.WrittenSheet]]:
        """Writes and prints them."""
        data = self.also(ours)
        drawn = []
        if self.chart is not None and self.legend is not None:
            chart = self.chart(runner.length)
            drawn.append(figures.figure(self.name, ADDITION + chart.title, chart, self.legend, data, ns2, folder))
        sheets = [figures.sheet(n, ADDITION + s.title, s, data, ns2, folder) for n, s in self.sheets.items()]
        return drawn, sheets

    def answered(self, paper: str, ours: Estimates) -> list[Answer]:
        """Answers of this addition to a paper."""
        table = next(iter(self.sheets))
        said = self.answers(self.also(ours))
        return [Answer(paper, self.name, self.place, question, text, f"{table}.csv") for question, text in said]


def median(e: Estimate | None) -> str:
    """A median without its interval."""
    return "-" if e is None else show.number(e.mean, 2)


def gain(a: Estimate, b: Estimate) -> str:
    """A ratio as a gain [%], with both ends of its interval where they are known; none has less than nothing."""
    e = times(a, b)
    low, high = (100 * max(end - 1, -1.0) for end in e.interval())
    ends = f" ({low:+.0f} to {high:+.0f})" if math.isfinite(low) and math.isfinite(high) else ""
    return f"{100 * (e.mean - 1):+.0f}{ends}"


def percent(a: Estimate, b: Estimate) -> str:
    """A gain with its unit."""
    return f"{gain(a, b)} %"
