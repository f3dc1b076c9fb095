"""Lessons: pages with a text, a player, knobs, and questions whose answers are hidden until asked for.

A lesson is one TOML file of this folder. Its answers name runs and readings; the numbers come from runs that are made
with the page.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import jinja2

from chappe.results.results import Results, run
from chappe.scenario.scenario import Scenario

if TYPE_CHECKING:
    from chappe.page import Taught

FOLDER = resources.files(__package__)

ORDER = (
    *("hidden-terminal", "exposed-terminal", "rate-anomaly", "chain", "bufferbloat", "aggregation"),
    "moving-node",
)
"""Names of the lessons, in the order in which they build on each other."""

MINUTES = 45
"""Length of a lesson."""


class Kind(NamedTuple):
    """A number of a run: the sum of columns of a table, divided by that of others.

    Attributes:
        table: Name of the table.
        over: Columns of the numerator.
        under: Columns of the denominator; none: nothing is divided.
        scale: Factor from the quotient to the unit.
        unit: Unit; empty for counts.
    """

    table: str
    over: tuple[str, ...]
    under: tuple[str, ...]
    scale: float
    unit: str


KINDS = {
    "goodput_kbps": Kind("flows", ("goodput_bps",), (), 1e-3, "kbit/s"),
    "goodput_mbps": Kind("flows", ("goodput_bps",), (), 1e-6, "Mbit/s"),
    "delay": Kind("flows", ("mean_delay_s",), (), 1e3, "ms"),
    "window": Kind("flows", ("mean_window_segments",), (), 1.0, "segments"),
    "timeouts": Kind("flows", ("timeouts",), (), 1.0, ""),
    "timeout_wait": Kind("flows", ("timeout_wait_s",), (), 1.0, "s"),
    "route_breaks": Kind("flows", ("route_breaks",), (), 1.0, ""),
    "no_route": Kind("flows", ("no_route_s",), (), 1.0, "s"),
    "links_deleted": Kind("nodes", ("links_deleted",), (), 1.0, ""),
    "failed_frames": Kind("nodes", ("data_frames_failed",), ("data_frames_sent",), 100.0, "%"),
    "mpdus": Kind("nodes", ("mpdus_sent",), ("aggregates_sent",), 1.0, "MPDUs"),
    "given_up": Kind("packet_outcomes", ("dropped_retry_limit",), ("dropped_retry_limit", "delivered"), 100.0, "%"),
}
"""Kinds of readings by name. Those of ``packet_outcomes`` are of the whole run, the others of its measured part."""


class Reading(NamedTuple):
    """A number that a lesson reads from each run.

    Attributes:
        name: Name in answers.
        label: Name on the page.
        kind: A key of :data:`KINDS`.
        row: Row of the table, from its end if negative; ``None``: the sum of all rows.
    """

    name: str
    label: str
    kind: str
    row: int | None = None

    def of(self, results: Results) -> float:
        """The number of a run; NaN where there is none."""
        kind = KINDS[self.kind]
        table = getattr(results, kind.table)
        if kind.table == "packet_outcomes":
            table = table.filter(packet_class="data")

        def total(columns: Sequence[str]) -> float:
            values = [[math.nan if v is None else float(v) for v in table[name].to_list()] for name in columns]
            return sum(sum(column) if self.row is None else column[self.row] for column in values)

        under = total(kind.under) if kind.under else 1.0
        return kind.scale * total(kind.over) / under if under else math.nan

    def text(self, value: float) -> str:
        """A number as the page writes it: three digits, counts in full."""
        if math.isnan(value):
            return "-"
        if abs(value) >= 100 or not KINDS[self.kind].unit:
            return str(math.floor(value + 0.5))
        return f"{value:#.3g}".rstrip(".")

    @property
    def part(self) -> str:
        """Part of the run that the number is of."""
        return "whole run" if KINDS[self.kind].table == "packet_outcomes" else "measured part"

    @property
    def head(self) -> str:
        """Head of its column."""
        unit = KINDS[self.kind].unit
        return f"{self.label} [{unit}]" if unit else self.label


class Knob(NamedTuple):
    """Something that the class changes.

    Attributes:
        label: Its name.
        choices: Settings by word.
        slider: Whether it is a slider; otherwise it is a list.
        default: Word of the scenario as it is.
    """

    label: str
    choices: Mapping[str, Mapping[str, Any]]
    slider: bool
    default: str


class Lesson(NamedTuple):
    """A lesson, as its file has it.

    Attributes:
        title: Its title.
        about: What it is about, in one line.
        text: Paragraphs before the player.
        player: What to look at in the player.
        scenario: Settings.
        readings: Numbers of each run.
        knobs: What the class changes.
        presets: Words of knobs by the name of the preset; a knob that is not named stays as it is.
        questions: Questions with their answers, in which ``{PRESET|READING}`` is a number.
        plan: Minutes, and what is done in them.
    """

    title: str
    about: str
    text: Sequence[str]
    player: Sequence[str]
    scenario: Mapping[str, Any]
    readings: Sequence[Reading]
    knobs: Sequence[Knob]
    presets: Mapping[str, Mapping[str, str]]
    questions: Sequence[tuple[str, str]]
    plan: Sequence[tuple[int, str]]

    def positions(self, preset: str) -> list[int]:
        """Positions of all knobs in a preset."""
        words = self.presets[preset]
        return [list(knob.choices).index(words.get(knob.label, knob.default)) for knob in self.knobs]

    def changes(self, preset: str) -> dict[str, Any]:
        """Settings of a preset."""
        chosen = zip(self.knobs, self.positions(preset), strict=True)
        return {name: value for knob, at in chosen for name, value in list(knob.choices.values())[at].items()}


@cache
def lesson(name: str) -> Lesson:
    """A lesson by its name."""
    read = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return Lesson(
        **{key: read[key] for key in ("title", "about", "text", "player", "scenario")},
        readings=[Reading(**reading) for reading in read["reading"]],
        knobs=[
            Knob(knob["label"], dict(knob["choices"]), knob.get("slider", False), knob["default"])
            for knob in read["knob"]
        ],
        presets=read["presets"],
        questions=[(question["ask"], question["answer"]) for question in read["question"]],
        plan=read["plan"],
    )


def runs_of(taught: Lesson) -> dict[str, Results]:
    """Makes the runs of all presets."""
    base = Scenario(taught.scenario)
    return {preset: run(base.with_settings(taught.changes(preset))) for preset in taught.presets}


class Part(NamedTuple):
    """A number of an answer, and the text after it."""

    of: str
    """Preset and reading."""
    number: str
    unit: str
    text: str


def answered(taught: Lesson, runs: Mapping[str, Results], answer: str) -> tuple[str, list[Part]]:
    """The beginning of an answer, and its parts with the numbers of the runs."""
    readings = {reading.name: reading for reading in taught.readings}
    begin, *rest = re.split(r"\{(.*?)\|(.*?)\}", answer)
    parts = []
    for preset, name, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        reading = readings[name]
        number = reading.text(reading.of(runs[preset]))
        parts.append(Part(f"{preset}|{name}", number, KINDS[reading.kind].unit, text))
    return begin, parts


def page_of(name: str) -> str:
    """The page of a lesson as HTML; its runs are made.

    Args:
        name: One of :data:`ORDER`.
    """
    from chappe.page import page

    taught = lesson(name)
    results = run(Scenario(taught.scenario))
    return page(results, taught.title, taught=_additions(taught, results))


def _additions(taught: Lesson, results: Results) -> "Taught":
    """Additions of a lesson to the page of its scenario as it is."""
    from chappe.page import Taught

    texts = {
        name: (FOLDER / name).read_text(encoding="utf-8") for name in ("lesson.html.j2", "lesson.js", "lesson.css")
    }
    runs = runs_of(taught)
    warmup_s = results.simulated_s - max(results.flows["measured_s"].to_list())
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    made: Any = environment.from_string(texts["lesson.html.j2"]).make_module(
        {
            "lesson": taught,
            "answers": [answered(taught, runs, answer) for _, answer in taught.questions],
            "warmup": f"{warmup_s:.2f} s",
        }
    )
    data = {
        "knobs": [list(knob.choices.items()) for knob in taught.knobs],
        "defaults": [list(knob.choices).index(knob.default) for knob in taught.knobs],
        "presets": {preset: taught.positions(preset) for preset in taught.presets},
        "readings": [{**KINDS[r.kind]._asdict(), "row": r.row} for r in taught.readings],
    }
    return Taught(made.before(), made.knobs(), made.after(), texts["lesson.js"], texts["lesson.css"], data)
