"""Study files: TOML descriptions of the runs of a study."""

import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from chappe import _core
from chappe._common.arguments import is_whole, not_whole, path_of, problem, quoted
from chappe.errors import Problem, ScenarioError, StudyError
from chappe.expressions.own_measures import Own, direction_in, own_of, split, with_rule
from chappe.expressions.run_measures import Warmup
from chappe.scenario import flow_selection
from chappe.scenario.scenario import Scenario, read_text, schema
from chappe.study.design.axes import grid, seeds_of
from chappe.study.design.search import Search, first_seeds, problems_of_search
from chappe.study.design.stop import Precision
from chappe.study.execution.sweep import (
    problems_of_choice,
    problems_of_labels,
    problems_of_measure,
    problems_of_own,
    problems_of_pool,
    problems_of_rules,
    problems_of_stop,
)

FORMAT = 1
"""Format of study files."""

LONGEST = 200_000
"""Size limit of a study file [B]."""

_HELPED = 20
"""Unknown names that get a suggestion at most."""

GROUPS: dict[str, tuple[str, ...]] = {
    "": (
        "format",
        "scenario",
        "seeds",
        "warmup",
        "measures",
        "flows",
        "baseline",
        "pool",
        "labels",
        "axes",
        "cases",
        "precision",
        "search",
    ),
    "precision": ("measure", "within", "max_seeds", "max_length", "min_seeds"),
    "search": ("setting", "low", "high", "resolution", "measure", "direction", "max_points", "max_runs"),
}
"""Valid names by group."""


@cache
def _of_scenarios() -> frozenset[str]:
    """Top-level names of scenarios, cached because the schema takes milliseconds to write."""
    return frozenset(schema()["properties"])


@dataclass(frozen=True)
class StudyFile:
    """Content of a study file."""

    scenario: Scenario
    axes: Mapping[str, list[Any]]
    cases: Mapping[str, Mapping[str, Any]] | None
    seeds: Sequence[int]
    precision: Precision | None
    warmup: Warmup
    search: Search | None
    measures: list[str]
    flows: str | None = None
    baseline: tuple[str, Any] | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    pool: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def load(path: str | os.PathLike[str]) -> StudyFile:
    """Reads a study file.

    Raises:
        StudyError: With all errors at once.
        OSError: If the file cannot be read.
    """
    try:
        text = read_text(path_of("path", path), LONGEST)
    except UnicodeDecodeError:
        raise
    except ValueError as e:
        raise StudyError([problem("", str(e), "put the scenario into a separate file")]) from None
    try:
        written = json.loads(_core.toml_json(os.fspath(path), text))
    except ScenarioError as e:
        raise StudyError([], [e]) from None
    return _Reader(os.fspath(path), text, written).read()


class _Reader:
    """Reads a study and collects problems."""

    def __init__(self, name: str, text: str, written: dict[str, Any]):
        self._name = name
        self._text = text
        self._places = _places(text)
        self._written = written
        self._problems: list[Problem] = []
        self._others: list[ScenarioError] = []

    def read(self) -> StudyFile:
        w = self._written
        self._names("", w)
        if w.get("format", FORMAT) != FORMAT:
            help_ = "leave it out, or use the version of Chappe that wrote the file"
            self._add("format", f"`format` is {w['format']!r}, and this version reads format {FORMAT}", help_)
        seeds: Sequence[int] | None = self._try(lambda: seeds_of(w.get("seeds", 1)))
        axes = self._axes(self._table(w, "axes"))
        cases = self._cases(self._table(w, "cases")) if "cases" in w else None
        pool = self._pool([*axes, *(["case"] if cases else [])])
        baseline = self._baseline(axes, cases, seeds, pool)
        warmup: Any = w.get("warmup", "discard")
        measures, own = self._measures([*axes, *(["case"] if cases else [])])
        labels = self._labels(self._table(w, "labels"))
        flows = self._flows()
        of_rules = None if flow_selection.is_each(flows) else flows
        measures = flow_selection.of(measures, of_rules)
        search = self._search(of_rules)
        own = self._with_rules(own, search)
        precision = self._precision(seeds, of_rules, list(own.values()))
        if search is not None and search.direction is None and (known := direction_in(own.values(), search.measure)):
            search = replace(search, direction=known)
        hints: set[str | None] = set()
        for m in measures:
            for p in problems_of_measure("measures", m, own):
                # The list of all names is printed once.
                self._problems.append(p._replace(help=None) if p.help in hints else p)
                hints.add(p.help)
        scenario = self._scenario()
        if scenario is not None:
            points = self._try(lambda: grid(scenario, axes, cases)) or []
            asked = dict.fromkeys(measures, "measures")
            asked |= {precision.measure: "precision.measure"} if precision is not None else {}
            asked |= {search.measure: "search.measure"} if search is not None else {}
            if flows is not None and (wrong := problems_of_labels(points, {flows: "flows"})):
                self._problems += [p._replace(message=f"`flows`: {p.message}") for p in wrong]
                asked = {name: path for name, path in asked.items() if not name.endswith(f"{flow_selection.OF}{flows}")}
            self._problems += problems_of_rules(points, warmup, asked)
            self._problems += problems_of_own(points, list(own.values()), "measures")
            if search is not None:
                self._problems += problems_of_search(search, points, cases, list(own.values()))
        if flows != of_rules and (rule := "precision" if precision else "search" if search else None):
            help_ = f"choose one set of flows, {flow_selection.FORM}"
            self._add("flows", f"`{rule}` needs one measure, and `flows` is {quoted(flows)}", help_)
        if precision is not None and search is not None:
            self._add("search", "a study has `search` or `precision`, not both", None)
        if self._problems or self._others or scenario is None or seeds is None:
            raise StudyError([*map(self._placed, self._problems)], self._others, self._text.splitlines())
        if search is not None:
            seeds = first_seeds(w.get("seeds", 1), seeds)
        texts = {name: str(measure.text) for name, measure in own.items()}
        return StudyFile(
            scenario, axes, cases, seeds, precision, warmup, search, measures, flows, baseline, texts, pool, labels
        )

    def _labels(self, written: Mapping[str, Any], group: str = "") -> dict[str, str]:
        """Words for settings, whose names may be nested tables, and for values."""
        found: dict[str, str] = {}
        for name, words in written.items():
            if isinstance(words, Mapping):
                found |= self._labels(words, f"{group}{name}.")
            elif isinstance(words, str) and words:
                found[f"{group}{name}"] = words
            else:
                self._add(f"labels.{group}{name}", f"`labels.{group}{name}` cannot be {quoted(words)}", "it is a text")
        return found

    def _add(self, path: str, message: str, help_: str | None) -> None:
        self._problems.append(Problem(path, message, help_, None, None, None))

    def _try(self, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except StudyError as e:
            self._problems += e.problems
            return None

    def _names(self, group: str, table: Mapping[str, Any]) -> None:
        valid = GROUPS[group]
        for name in table:
            if name not in valid:
                where = f"`{group}` has" if group else "a study has"
                if not group and name in _of_scenarios():
                    help_ = f"write it under [scenario], or [scenario.{name}]"
                    self._add(name, f"`{name}` is a setting of scenarios", help_)
                    continue
                near = difflib.get_close_matches(name, valid, 1) if len(self._problems) < _HELPED else []
                help_ = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(valid)}"
                self._add(f"{group}.{name}".strip("."), f"{where} no setting `{name}`", help_)

    def _table(self, table: Mapping[str, Any], name: str) -> dict[str, Any]:
        value = table.get(name, {})
        if isinstance(value, dict):
            return value
        self._add(name, f"`{name}` must be a table", f"[{name}]")
        return {}

    def _axes(self, table: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Values of the axes; dotted names without quotes are nested tables in TOML."""
        axes: dict[str, list[Any]] = {}
        for name, value in _flat(table):
            if isinstance(value, list):
                axes[name] = value
            else:
                self._add(f"axes.{name}", f"the axis `{name}` is not a list of values", f"{name} = [{value!r}, ...]")
        return axes

    def _cases(self, table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        cases = {}
        for name, changes in table.items():
            if isinstance(changes, dict):
                cases[name] = dict(_flat(changes))
            else:
                self._add(f"cases.{name}", f"the case `{name}` is not a table", f"[cases.{name}]")
        return cases

    def _pool(self, axes: list[str]) -> tuple[str, ...]:
        """Axes over which runs are pooled."""
        given = self._written.get("pool", [])
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            self._add("pool", "`pool` is not a list of axes", 'such as ["topology.seed"]')
            return ()
        pool = tuple(dict.fromkeys(given))
        self._problems += problems_of_pool(pool, axes, "precision" in self._written)
        if pool and "search" in self._written:
            self._add("pool", "`pool` is for studies without `search`", None)
        return pool

    def _baseline(
        self,
        axes: Mapping[str, list[Any]],
        cases: Mapping[str, Any] | None,
        seeds: Sequence[int] | None,
        pool: Sequence[str] = (),
    ) -> tuple[str, Any] | None:
        """Axis whose values are compared with one of them, and that value."""
        if "baseline" not in self._written:
            return None
        given = list(_flat(self._table(self._written, "baseline")))
        known = {**axes, **({"case": list(cases)} if cases else {})}
        if len(given) != 1:
            first = next(iter(known), "tcp.variant")
            self._add("baseline", "`baseline` is one value of one axis", f"baseline = {{ {first} = VALUE }}")
            return None
        ((name, value),) = given
        if name not in known:
            help_ = f"the axes are {', '.join(known) or 'none'}"
            self._add(f"baseline.{name}", f"`baseline` has `{name}`, which is not an axis", help_)
        elif value not in known[name]:
            help_ = f"known: {', '.join(map(str, known[name]))}"
            self._add(f"baseline.{name}", f"no point has `{name}` = {quoted(value)}", help_)
        if name in pool:
            self._add("baseline", f"`baseline` has `{name}`, over whose values `pool` pools", None)
        if "search" in self._written:
            self._add("baseline", "`baseline` is for studies without `search`", None)
        elif seeds is not None and len(seeds) < 2 and not pool:
            self._add("baseline", "a comparison needs at least 2 seeds, better 10", "add seeds = 10")
        return name, value

    def _measures(self, axes: list[str]) -> tuple[list[str], dict[str, Own]]:
        """Names of the measures that are printed, and user-defined measures."""
        given = self._written.get("measures", ["goodput_bps"])
        if isinstance(given, dict):
            own, problems = own_of(given, axes, "measures")
            self._problems += problems
            return ["goodput_bps", *(measure.name for measure in own)], {measure.name: measure for measure in own}
        if not isinstance(given, list) or not all(isinstance(m, str) for m in given) or not given:
            help_ = 'such as ["goodput_bps", "mean_delay_s"], or a table [measures] of expressions'
            self._add("measures", "`measures` is not a list of names", help_)
            return [], {}
        names, texts = split(given)
        own, problems = own_of(texts, axes, "measures")
        self._problems += problems
        for name in names:
            if not problems_of_measure("measures", name, [one.name for one in own]):
                self._problems += problems_of_choice("measures", name, own)
        return names, {measure.name: measure for measure in own}

    def _flows(self) -> str | None:
        """Flows of all measures that do not name their own."""
        flows = self._written.get("flows")
        if flows is None:
            return None
        try:
            flow_selection.known(flows if isinstance(flows, str) else "")
        except ValueError as e:
            message, _, help_ = str(e).partition("; ")
            self._add("flows", f"`flows`: {message}", help_ or None)
            return None
        return str(flows)

    def _with_rules(self, own: dict[str, Own], search: Search | None) -> dict[str, Own]:
        """User-defined measures, with that of a rule if it is one that a study makes when it is asked for."""
        rule = self._written.get("precision")
        asked = search.measure if search is not None else rule.get("measure") if isinstance(rule, dict) else None
        more, _ = own_of(with_rule([], asked), (), "measures")
        return {**{measure.name: measure for measure in more}, **own}

    def _precision(self, seeds: Sequence[int] | None, flows: str | None, own: Sequence[Own]) -> Precision | None:
        if "precision" not in self._written:
            return None
        table = self._table(self._written, "precision")
        self._names("precision", table)
        (measure,) = flow_selection.of([self._word("precision", table, "measure", "goodput_bps")], flows)
        within = share(table.get("within"))
        if within is None:
            self._add("precision.within", "`precision.within` is not a share of the mean", 'write it as a text: "5 %"')
        caps = {name: self._count("precision", table, name) for name in ("max_seeds", "max_length", "min_seeds")}
        rule = Precision(measure, 0.05 if within is None else within, **caps)
        if seeds is not None and within is not None:
            self._problems += problems_of_stop(rule, seeds, own)
        return rule

    def _search(self, flows: str | None) -> Search | None:
        if "search" not in self._written:
            return None
        table = self._table(self._written, "search")
        self._names("search", table)
        missing = [n for n in ("setting", "low", "high") if n not in table]
        for name in missing:
            self._add("search", f"`search.{name}` is missing", None)
        if missing:
            return None
        return Search(
            self._word("search", table, "setting", ""),
            table["low"],
            table["high"],
            resolution=table.get("resolution", 1),
            measure=flow_selection.of([self._word("search", table, "measure", "goodput_bps")], flows)[0],
            direction=self._direction(table),
            max_points=self._count("search", table, "max_points") or 40,
            max_runs=self._count("search", table, "max_runs") or 500,
        )

    def _direction(self, table: Mapping[str, Any]) -> Any:
        """Direction of a search, checked with the rest of the search."""
        return self._word("search", table, "direction", "maximize") if "direction" in table else None

    def _word(self, group: str, table: Mapping[str, Any], name: str, default: str) -> str:
        value = table.get(name, default)
        if isinstance(value, str):
            return value
        self._add(f"{group}.{name}", f"`{group}.{name}` must be a text", None)
        return default

    def _count(self, group: str, table: Mapping[str, Any], name: str) -> int | None:
        value = table.get(name)
        if value is None or (isinstance(value, int) and is_whole(value, 1)):
            return value
        self._add(f"{group}.{name}", f"`{group}.{name}`: {not_whole(value, 1)}", None)
        return None

    def _scenario(self) -> Scenario | None:
        written = self._written.get("scenario")
        folder = Path(self._name).parent
        try:
            if isinstance(written, str):
                return Scenario.load(folder / written)
            if isinstance(written, dict):
                return Scenario(written, base_dir=folder)
            what = "`scenario` is missing" if written is None else "`scenario` must be a file or a table"
            self._add("scenario", what, 'such as scenario = "chain.toml", or a table [scenario]')
        except ScenarioError as e:
            if isinstance(written, str):
                self._others.append(e)
            else:
                self._problems += [p._replace(path=f"scenario.{p.path}") for p in e.problems]
        except UnicodeDecodeError:
            self._add("scenario", f"{folder / str(written)} is not UTF-8 text", None)
        except OSError as e:
            self._add("scenario", f"cannot read {folder / str(written)}: {(e.strerror or str(e)).lower()}", None)
        return None

    def _placed(self, p: Problem) -> Problem:
        """Adds the file, and the line of the setting or of its group, to a problem."""
        if p.file is not None:
            return p
        for path in (p.path, f"axes.{p.path}", f"scenario.{p.path}"):
            names = path.split(".")
            for n in range(len(names), 0, -1):
                if line := self._places.get(".".join(names[:n])):
                    return p._replace(file=self._name, line=line)
        return p._replace(file=self._name)


def _places(text: str) -> dict[str, int]:
    """Line of each setting and table, which TOML parsers of Python do not give."""
    lines: dict[str, int] = {}
    group = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\[\]=]+)\]+\s*(#.*)?$", line):
            group = re.sub(r"[\s\"']", "", header[1])
            lines.setdefault(group, number)
        elif "=" in line and re.fullmatch(r"[\w.\"'\s-]+", key := line.partition("=")[0]):
            name = re.sub(r"[\s\"']", "", key)
            lines.setdefault(f"{group}.{name}" if group else name, number)
    return lines


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def share(value: object) -> float | None:
    """Share from a percentage; ``None`` for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value) if isinstance(value, str) else None
    return float(match[1]) / 100 if match else None
