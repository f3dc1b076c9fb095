"""Advice for a network: changes that are tried on it, over seeds until they are decided; their gains and costs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from chappe._common.progress import Progress
from chappe._common.words import count
from chappe.errors import ScenarioError
from chappe.measures import BY_NAME
from chappe.scenario.scenario import Scenario, ScenarioLike, scenario_of
from chappe.stories.journey import MAC, PARTS, QUEUE
from chappe.stories.overview import QUICK
from chappe.stories.story import has_aggregates, waiting
from chappe.study import Study
from chappe.study.execution.sweep import sweep
from chappe.study.linux_host import LOWEST_RATE, ON_LINUX, TRIALS, named
from chappe.text import relative

AS_IT_IS = "as it is"
"""Case of the network without a change."""

CHANGES = tuple(trial.change for trial in TRIALS)
"""Changes that are tried unless others are given."""

GOODPUT, DELAY, FAIRNESS = "goodput_bps", "mean_delay_s", "jain_index"
MEASURES = (GOODPUT, DELAY, FAIRNESS)

FIRST, LOOKS = 10, 3
"""Seeds of the first look, and looks, each of which doubles them."""

WITHIN = 0.1
"""Relative difference that is not worth a change, unless given."""

_LEVEL = 0.05

_NOTED = 0.02
"""Smallest certain difference that is told as a cost."""


@dataclass(frozen=True, repr=False)
class Advice:
    """Changes that were tried on a network.

    Attributes:
        findings: Recommended changes with their gains and costs, as sentences.
        table: A row for each change and measure: ``change``, ``measure``, ``estimate``, ``relative`` with
            ``relative_ci_low`` and ``relative_ci_high``, ``verdict``, ``doubt``, and ``linux`` (what a Linux host would
            have to be told; null for a change that is not in the list).
        study: The study, with the axis ``case``.
        seeds: Number of seeds.
    """

    findings: list[str]
    table: pl.DataFrame
    study: Study
    seeds: int

    def __repr__(self) -> str:
        return "\n".join(self.findings)


def advise(
    scenario: ScenarioLike,
    changes: Sequence[Mapping[str, Any]] = CHANGES,
    *,
    flows: str | None = None,
    within: float = WITHIN,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress = False,
) -> Advice:
    """Tries changes of a network and shows which of them help.

    Each change is compared with the network as it is, in goodput, delay and fairness, with 10 seeds, and with 20 and 40
    as long as a goodput is not decided; the three looks share the error of 5 % (Bonferroni), as do all changes (Holm).

    Args:
        scenario: A scenario, an equivalent dict, or the name of a scenario file.
        changes: Settings of each change; those without an effect on this network are left out.
        flows: Flows that are measured, such as ``"tcp"`` (:meth:`chappe.Results.summary`); ``None``: all.
        within: Relative difference that is not worth a change: changes that are certainly smaller are the same.
        out: Folder of the study; the same call continues from there. ``None``: a temporary folder.
        jobs: Number of parallel runs; ``None``: one per core.
        progress: True for a progress bar, or a function of the completed share.

    Raises:
        ScenarioError: If the scenario cannot be run.
        StudyError: If an argument is invalid.
        ValueError: If no change has an effect.
        StorageError: If the folder cannot be used.
    """
    base = scenario_of(scenario)
    cases = cases_of(base, changes)
    if len(cases) < 2:
        raise ValueError("none of the changes has an effect on this scenario")
    seeds = FIRST
    for look in range(LOOKS):
        seeds = FIRST << look
        # Runs of the looks before are in the folder, or in the study that is still open.
        study = sweep(base, cases=cases, seeds=seeds, out=out, jobs=jobs, progress=progress, title=f"Look {look + 1}")
        rows = _compared(study, flows, within)
        if not any(row["verdict"] == "open" for row in rows if row["measure"] == GOODPUT):
            break
    table = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"doubt": pl.String, "linux": pl.String})
    return Advice([*_findings(rows, seeds, len(cases) - 1), *_waits(base, study)], table, study, seeds)


def cases_of(base: Scenario, changes: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Changes by name that have an effect on a scenario, after the scenario as it is."""
    cases: dict[str, dict[str, Any]] = {AS_IT_IS: {}}
    known = {(w.code, w.path) for w in base.warnings}
    for change in changes:
        # Queues of mac80211 leave no queue of the radio to the command, only those of wires.
        if any(name.startswith("queue.") for name in change) and base["wlan.queues"] == "mac80211":
            continue
        # Without `wlan.response_rates` the basic rate is also that of responses, which no command changes.
        if change == LOWEST_RATE and not (has_aggregates(base) and base["wlan.response_rates"]):
            continue
        try:
            changed = base.with_settings(dict(change))
        except ScenarioError:
            if change in CHANGES:
                continue
            raise
        is_unused = any((w.code, w.path) not in known and w.code == "unused_setting" for w in changed.warnings)
        if changed.settings != base.settings and not is_unused:
            cases[named(change)] = dict(change)
    return cases


def _compared(study: Study, flows: str | None, within: float) -> list[dict[str, Any]]:
    """Rows of all changes and measures."""
    rows = []
    defined = set(study.summary(MEASURES, flows=flows)["measure"].str.replace(" of .*", ""))
    for measure in (m for m in MEASURES if m in defined):
        level = 1 - _LEVEL / LOOKS
        compared = study.compare(measure, "case", baseline=AS_IT_IS, confidence=level, within=within, flows=flows)
        for row in compared.iter_rows(named=True):
            names = ("relative", "relative_ci_low", "relative_ci_high")
            rows.append(
                {
                    "change": row["case"],
                    "measure": measure,
                    "estimate": row["estimate_a"],
                    **{name: row[name] for name in names},
                    "verdict": _verdict(row, measure),
                    "doubt": row["doubt"],
                    "linux": ON_LINUX.get(row["case"]),
                }
            )
    return rows


def _verdict(row: Mapping[str, Any], measure: str) -> str:
    """``better``, ``worse``, ``same`` or ``open``."""
    if row["same"]:
        return "same"
    if not row["significant"]:
        return "open"
    is_higher = row["difference"] > 0
    return "better" if is_higher == (BY_NAME[measure].direction == "maximize") else "worse"


# ---- findings ----


def _findings(rows: Sequence[Mapping[str, Any]], seeds: int, tried: int) -> list[str]:
    """The change, its size and certainty, and its costs."""
    by_change: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_change.setdefault(row["change"], {})[row["measure"]] = row
    better = [c for c, of in by_change.items() if of[GOODPUT]["verdict"] == "better"]
    better.sort(key=lambda c: -by_change[c][GOODPUT]["relative"])
    sentences = [f"{count(tried, 'change')} tried with {seeds} seeds each; 95 % confidence for all of them together."]
    if better:
        sentences += [_advised(c, by_change[c], GOODPUT) for c in better[:3]]
    else:
        ends = [of[GOODPUT]["relative_ci_high"] for of in by_change.values()]
        bound = "" if None in ends else f": none brings more than {100 * max(max(ends), 0):.0f} %"
        sentences.append(f"No change certainly brings more goodput{bound}.")
    faster = [
        c for c, of in by_change.items()
        if of.get(DELAY, {}).get("verdict") == "better" and c not in better[:3] and of[GOODPUT]["verdict"] != "worse"
    ]  # fmt: skip
    faster.sort(key=lambda c: by_change[c][DELAY]["relative"])
    sentences += [_advised(c, by_change[c], DELAY) for c in faster[:2]]
    worse = [c for c, of in by_change.items() if of[GOODPUT]["verdict"] == "worse"]
    if worse:
        worse.sort(key=lambda c: by_change[c][GOODPUT]["relative"])
        sentences.append(f"Do not: {'; '.join(f'{c} ({relative(by_change[c][GOODPUT], 0)})' for c in worse[:4])}.")
    undecided = [c for c, of in by_change.items() if of[GOODPUT]["verdict"] == "open"]
    if undecided:
        sentences.append(f"Not decided with {seeds} seeds: {'; '.join(undecided)}.")
    return sentences


WORDS = {GOODPUT: "goodput", DELAY: "delay", FAIRNESS: "Jain's index"}
"""Measures in sentences."""


def _advised(change: str, of_change: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    """A change with its gain, its costs, and how a Linux host makes it."""
    on_linux = f" On Linux: {ON_LINUX[change]}." if change in ON_LINUX else ""
    return f"{change}: {_described(of_change, measure)}{_costs(of_change, measure)}.{on_linux}"


def _described(of_change: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    return f"{WORDS[measure]} {relative(of_change[measure], 0)}"


def _costs(of_change: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    """Effects of a change on the other measures, where they are certain."""
    others = [
        f"{WORDS[m]} {relative(row, 0)}"
        for m, row in of_change.items()
        if m != measure and row["verdict"] in ("better", "worse") and abs(row["relative"]) >= _NOTED
    ]
    unknown = [WORDS[m] for m, row in of_change.items() if m != measure and row["verdict"] == "open"]
    said = f"; {', '.join(others)}" if others else ""
    return said + (f"; {' and '.join(unknown)} not decided" if unknown else "")


def _waits(base: Scenario, study: Study) -> list[str]:
    """Says in which queues packets wait without any change, if the MAC holds several packets.

    Changes of the interface queue do not reach packets that the MAC holds.
    """
    if not has_aggregates(base):
        return []
    wlan = base.settings["wlan"]
    in_mac = wlan["queues"] == "mac80211"
    where = (
        "Packets wait in the queues of the MAC, which `wlan.mac80211` sets"
        if in_mac
        else f"The MAC holds up to {wlan['edca']['held_packets']} packets of a category, first in, first out "
        "(`wlan.edca.held_packets`); `queue` orders only those in front of it"
    )
    is_short = (study.runs.filter(pl.col("case") == AS_IT_IS)["frames_sent"] <= QUICK).all()
    if not (shares := waiting(base) if is_short else {}):
        return [f"{where}."]
    parts = [f"{100 * shares.get(part, 0):.0f} % {PARTS[part]}" for part in ((MAC,) if in_mac else (MAC, QUEUE))]
    return [f"{where}. In a run as it is, a packet spends {' and '.join(parts)}."]
