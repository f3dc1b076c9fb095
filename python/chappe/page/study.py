"""The report of a study: one HTML file that opens offline, without the simulator."""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jinja2

from chappe import __version__
from chappe import text as show
from chappe._common.words import count, plain
from chappe.measures import measure_of
from chappe.page import _hash, _read
from chappe.page.notebook import flat
from chappe.page.svg import Curve, Point, mark, plot, with_interval
from chappe.plot.studies import places_of
from chappe.printing import problems
from chappe.stats.doubts import meant
from chappe.stats.verdicts import LESS, MORE, verdict
from chappe.study import Study
from chappe.study.analysis.analysis import SAME
from chappe.study.study import named

_CURVES, _PLOTS = 8, 12
"""Curves of a plot, and plots of a measure, at most."""

_FACTS = 12
"""Sentences of an answer at most."""

_SHOWN, _MANY = 200, 2000
"""Rows of a table of more than ``_MANY`` that a page shows when it is opened."""

_RANKED = 60
"""Settings that are ranked at most: pairs of them are compared."""


class Entry(NamedTuple):
    """A curve in the legend."""

    label: str
    group: int
    mark: str


class Figure(NamedTuple):
    """Plots of a measure."""

    title: str
    plots: Sequence[str]
    legend: Sequence[Entry]
    note: str


class Sheet(NamedTuple):
    """A table that can be sorted and copied."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str

    @property
    def shown(self) -> Sequence[Sequence[str]]:
        """Rows that a page shows when it is opened."""
        return self.rows if len(self.rows) <= _MANY else self.rows[:_SHOWN]

    @property
    def rest(self) -> Sequence[Sequence[str]]:
        """The other rows."""
        return self.rows[len(self.shown) :]


def page(
    study: Study,
    measures: Sequence[str],
    *,
    title: str,
    flows: str | None = None,
    baseline: tuple[str, Any] | None = None,
    commands: Sequence[str] = (),
) -> str:
    """The report of a study as HTML.

    Args:
        study: The study.
        measures: Names of its measures.
        title: Title of the page.
        flows: Flows that are measured.
        baseline: Axis and value with which its other values are compared; ``None``: the first value of each axis.
        commands: Commands that make the page again.
    """
    style, script = _read("page.css"), _read("study.js")
    names = [study.measure_of_search] if study.is_search else study._measures_of(measures, flows, each=True)
    rows = {name: study.summary(name).to_dicts() for name in names}
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(_read("study.html.j2"))
    return template.render(
        title=plain(title),
        question=_question(study, names),
        sketch=f"The scenario: {problems.sketch(study.scenario)}",
        answers=[fact for name in names for fact in _answers(study, name, rows[name], baseline)],
        figures=[figure for name in names if (figure := _figure(study, name, rows[name])) is not None],
        tables=[*_curve(study), _numbers(study, [row for name in names for row in rows[name]]), _changes(study)],
        doubts=[plain(text) for text in _doubts(study, names, rows)],
        made=_made(study),
        commands=[plain(command) for command in commands],
        file=study_file(study, names),
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
        version=__version__,
    )


def _question(study: Study, measures: Sequence[str]) -> str:
    what = _listed([measure_of(name).label for name in measures])
    if study.is_search:
        rule = study._rule
        return f"Which value of {rule.setting} gives the {_best(rule.direction)} {what}?"
    axes = study._own_axes
    return (
        f"How {'do' if len(measures) > 1 else 'does'} {what} depend on {_listed(axes)}?" if axes else f"What is {what}?"
    )


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _best(direction: str | None) -> str:
    return "lowest" if direction == "minimize" else "highest"


# ---- the answer ----


def _answers(study: Study, name: str, rows: Sequence[Mapping[str, Any]], baseline: tuple[str, Any] | None) -> list[str]:
    """The findings, in sentences with their certainty."""
    m = measure_of(name)
    label = f"{m.label[0].upper()}{m.label[1:]}"
    known = [row for row in rows if row["estimate"] is not None]
    if not known:
        return [f"{label} is not defined at any point."]
    axes = study._own_axes
    if study.is_search:
        return _found(study, label, known)
    if len(known) == 1:
        return [f"{label}: {with_interval(known[0], m.scale, m.unit)} (95 %, {known[0]['n']} {known[0]['of']})."]
    low, high = (pick(known, key=lambda row: row["estimate"]) for pick in (min, max))
    facts = [
        f"{label} lies between {with_interval(low, m.scale, m.unit)}, with {_at(low, axes)}, and "
        f"{with_interval(high, m.scale, m.unit)}, with {_at(high, axes)}."
    ]
    direction = m.direction or study._direction_of(name)
    if direction is not None and 1 < len(known) <= _RANKED and all(row["of"] != "batches" for row in known):
        ranked = study.rank(name, axes, direction=direction).to_dicts()
        best = [_at(row, axes) for row in ranked if row["can_be_best"]]
        if len(best) == 1:
            facts.append(f"The {_best(direction)}, certainly (95 %, all pairs together): {best[0]}.")
        elif best:
            rest = f" and {len(best) - 3} more" if len(best) > 3 else ""
            facts.append(f"Indistinguishable as the {_best(direction)}: {'; '.join(best[:3])}{rest}.")
    if all(row["of"] != "batches" for row in known):
        facts += _differences(study, name, label, baseline)
    else:
        facts.append("With one seed nothing is compared: other seeds may differ by more than the batches of one run.")
    return facts[:_FACTS]


def _found(study: Study, label: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    rule, m = study._rule, measure_of(study.measure_of_search)
    facts = []
    for row in study.curve().filter("is_best").to_dicts():
        axes = [axis for axis in study.axes if axis != rule.setting]
        at = f" at {_at(row, axes)}" if axes else ""
        facts.append(
            f"{label} is {_best(rule.direction)}{at} with {rule.setting} = {row[rule.setting]}: "
            f"{with_interval(row, m.scale, m.unit)}, from fresh seeds."
        )
    return facts[:_FACTS] or [f"{label}: the search is not finished, {len(rows)} values were measured."]


def _differences(study: Study, name: str, label: str, baseline: tuple[str, Any] | None) -> list[str]:
    """Differences from a value of each axis of few words or numbers, with verdicts."""
    facts = []
    for axis in study._own_axes if baseline is None else [baseline[0]]:
        values = study.runs[axis].unique(maintain_order=True).to_list()
        first = values[0] if baseline is None else baseline[1]
        if not 1 < len(values) <= _CURVES:
            continue
        every = study.compare(name, axis, baseline=first).to_dicts()
        for value in values:
            of_value = [row for row in every if row[axis] == value]
            if not of_value:
                continue
            verdicts = [verdict(row, SAME) for row in of_value]
            if len(of_value) == 1:
                doubt = f" ({of_value[0]['doubt']})" if of_value[0]["doubt"] else ""
                facts.append(
                    f"{label} with {axis} = {value} compared with {first}: {verdicts[0]}, "
                    f"{show.relative(of_value[0])}{doubt}."
                )
                continue
            found = {word: sum(v == word for v in verdicts) for word in (MORE, LESS)}
            rest = len(verdicts) - sum(found.values())
            said = [f"{word} at {n}" for word, n in found.items() if n] + (
                [f"not decided or the same at {rest}"] if rest else []
            )
            facts.append(
                f"{label} with {axis} = {value} compared with {first}: {', '.join(said)} of {len(verdicts)} points."
            )
    return facts


def _at(row: Mapping[str, Any], axes: Sequence[str]) -> str:
    return named({axis: row[axis] for axis in axes})


# ---- plots ----


def _figure(study: Study, name: str, rows: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Plots of a measure: over the axis with most values, a curve for each value of the next, a plot for each other."""
    if study.is_search:
        rows = [{**row, "of": "runs"} for row in study.curve().to_dicts()]
    rows = [row for row in rows if row["estimate"] is not None]
    axes = study.axes if study.is_search else study._own_axes
    values = {axis: list(dict.fromkeys(row[axis] for row in rows)) for axis in axes}
    varied = [axis for axis in axes if len(values[axis]) > 1]
    if not varied:
        return None
    m = measure_of(name).near(max(abs(row["estimate"]) for row in rows))
    numeric = [axis for axis in varied if places_of(values[axis])[1] is not None]
    x = study._rule.setting if study.is_search else max(numeric or varied, key=lambda axis: len(values[axis]))
    others = [axis for axis in varied if axis != x]
    by = next((axis for axis in others if len(values[axis]) <= _CURVES), None)
    across = [axis for axis in others if axis != by]
    parts = list(itertools.product(*(values[axis] for axis in across)))
    places, unit = places_of(values[x])
    words = {} if unit is not None else {place: str(value) for value, place in places.items()}
    groups: list[Any] = [None] if by is None else values[by]
    plots = []
    for part in parts[:_PLOTS]:
        of_part = [row for row in rows if all(row[axis] == v for axis, v in zip(across, part, strict=True))]
        curves = []
        for number, group in enumerate(groups):
            of_group = [row for row in of_part if by is None or row[by] == group]
            label = m.label if by is None else f"{by} = {group}"
            points = [
                _point(row, places[row[x]], m.scale, f"{_at(row, varied)}: {with_interval(row, m.scale, m.unit)}")
                for row in of_group
            ]
            curves.append(Curve(label, number, sorted(points, key=lambda point: point.x)))
        x_label = f"{x} [{unit}]" if unit else x
        y_label = f"{m.label} [{m.unit}]" if m.unit else m.label
        at = named(dict(zip(across, part, strict=True)))
        plots.append(plot(curves, title=at, x_label=x_label, y_label=y_label, words=words, connected=unit is not None))
    more = (
        f"The first {_PLOTS} of {len(parts)} plots are shown; the table has all points." if len(parts) > _PLOTS else ""
    )
    legend = [Entry(f"{by} = {group}", n, mark(n, 0.0, 0.0)) for n, group in enumerate(groups)] if by else []
    return Figure(f"{m.label[0].upper()}{m.label[1:]}", plots, legend, more)


def _point(row: Mapping[str, Any], x: float, scale: float, text: str) -> Point:
    low, high = (None if row[end] is None else row[end] * scale for end in ("ci_low", "ci_high"))
    return Point(x, row["estimate"] * scale, low, high, text)


# ---- tables ----


def _numbers(study: Study, rows: Sequence[Mapping[str, Any]]) -> Sheet:
    axes = study._own_axes
    has_rule = any(row["met"] is not None for row in rows)
    lines = []
    for row in rows:
        m = measure_of(row["measure"]).near(row["estimate"])
        cells = [*(str(row[axis]) for axis in axes), m.label]
        cells += [
            show.number(None if row[end] is None else row[end] * m.scale) for end in ("estimate", "ci_low", "ci_high")
        ]
        cells += [m.unit, f"{row['n']} {row['of']}", row["doubt"] or ""]
        lines.append([*cells, {True: "met", False: "missed", None: ""}[row["met"]]] if has_rule else cells)
    columns = [
        *axes,
        "measure",
        "estimate",
        "95 % from",
        "to",
        "unit",
        "of",
        "doubt",
        *(["precision"] if has_rule else []),
    ]
    return Sheet("All numbers", columns, lines, "Ratios of totals over all runs; sort by a click on a heading.")


def _curve(study: Study) -> list[Sheet]:
    if not study.is_search:
        return []
    m, rows = measure_of(study.measure_of_search), study.curve().to_dicts()
    notes = {
        row_number: "best" if row["is_best"] else "tied" if row["is_tied"] else ""
        for row_number, row in enumerate(rows)
    }
    lines = [
        [
            *(str(row[axis]) for axis in study.axes),
            with_interval(row, m.scale, m.unit),
            str(row["n"]),
            notes[n],
            row["doubt"] or "",
        ]
        for n, row in enumerate(rows)
    ]
    return [Sheet("Values of the search", [*study.axes, m.label, "runs", "note", "doubt"], lines, "")]


def _changes(study: Study) -> Sheet:
    """Settings of the scenario that differ from the defaults."""
    changes = flat(_written(study))
    rows = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in changes]
    return Sheet("What differs from the defaults", ["setting", "value"], [list(map(plain, row)) for row in rows], "")


def _written(study: Study) -> dict[str, Any]:
    """Changed settings of the scenario, without the flow that every chain without flows has, whatever its length."""
    changes: dict[str, Any] = json.loads(study.scenario._core.changes_json())
    topology = study.scenario.settings["topology"]
    if topology["kind"] == "chain" and changes.get("flow") == [{"dst": topology["hops"]}]:
        del changes["flow"]
    return changes


def _doubts(study: Study, names: Sequence[str], rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    return [*study.doubts(names), *meant(row["doubt"] for name in names for row in rows[name])]


def _made(study: Study) -> str:
    about, runs = study._about, study.runs
    seeds = f"Seeds {', '.join(map(str, study.seeds[:12]))}{', ...' if len(study.seeds) > 12 else ''}."
    frames = int(runs["frames_sent"].sum()) if "frames_sent" in runs.columns else 0
    simulated = float(runs["simulated_s"].sum()) if "simulated_s" in runs.columns else 0.0
    cost = f"{count(len(runs), 'run')}, {simulated:,.0f} s simulated, {count(frames, 'frame')} on the air."
    pooled = f" Pooled over {_listed(study.pool)}." if study.pool else ""
    return f"{cost} {seeds}{pooled} Chappe {__version__}, results epoch {about['results_epoch']}."


# ---- the study again ----


def study_file(study: Study, measures: Sequence[str]) -> str:
    """Text of a study file that makes the runs again; empty for a study of named cases, whose changes are not kept."""
    about = study._about
    if "case" in study.axes:
        return ""
    own = {name: one.text for name, one in study._own.items()}
    lines = [f"seeds = {_toml(study.seeds)}"]
    names = [name for name in dict.fromkeys(measures) if not any(name.partition(" of ")[0] == mine for mine in own)]
    if any(text is None for text in own.values()):
        return ""
    if not own:
        lines.append(f"measures = {_toml(names)}")
    if study.pool:
        lines.append(f"pool = {_toml(study.pool)}")
    if about["warmup"] != "discard":
        lines.append(f"warmup = {_toml(about['warmup'])}")
    lines += ["", "[scenario]"]
    lines += [f"{name} = {_toml(value)}" for name, value in flat(_written(study))]
    searched = study._rule.setting if study.is_search else None
    axes = [axis for axis in study.axes if axis != searched]
    if axes:
        points = study._all_points
        lines += ["", "[axes]"]
        for axis in axes:
            values = points[axis].unique(maintain_order=True).to_list()
            lines.append(f"{axis} = [{', '.join(_axis_value(value) for value in values)}]")
    if own:
        lines += ["", "[measures]", *(f"{name} = {_toml(text)}" for name, text in own.items())]
    if (rule := study._precision) is not None:
        lines += ["", "[precision]", f"measure = {_toml(rule.measure)}", f'within = "{100 * rule.within:g} %"']
        caps = {"max_seeds": rule.max_seeds, "max_length": rule.max_length, "min_seeds": rule.min_seeds}
        lines += [f"{name} = {value}" for name, value in caps.items() if value is not None]
    if study.is_search:
        search = study._rule
        lines += ["", "[search]"]
        lines += [f"{name} = {_toml(value)}" for name, value in vars(search).items() if value is not None]
    return "\n".join(lines) + "\n"


def _axis_value(value: Any) -> str:
    """Value of an axis, which the table of points has as JSON unless it is a number or a text."""
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return _toml(json.loads(value))
        except ValueError:
            pass
    return _toml(value)


def _toml(value: Any) -> str:
    """A value as TOML on one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else "nan"
        case Mapping():
            return "{ " + ", ".join(f"{name} = {_toml(of)}" for name, of in value.items()) + " }"
        case _:
            return f"[{', '.join(_toml(of) for of in value)}]"
