"""Advice for a network: changes are screened, the best are measured anew over seeds until they are decided."""

import contextlib
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe._common.progress import Progress
from chappe._common.words import count
from chappe.errors import ScenarioError
from chappe.measures import BY_NAME
from chappe.results.results import run
from chappe.scenario.scenario import Scenario, ScenarioLike, scenario_of
from chappe.stories.journey import MAC, PARTS, QUEUE
from chappe.stories.overview import QUICK
from chappe.stories.story import has_aggregates, waiting
from chappe.study import Study
from chappe.study.execution.sweep import sweep
from chappe.study.execution.threads import cores
from chappe.study.trials import trials_of
from chappe.study.trials.trial import WHO, LeftOut, Trial, named
from chappe.text import relative

AS_IT_IS = "as it is"
"""Case of the network without a change."""

GOODPUT, DELAY, FAIRNESS = "goodput_bps", "mean_delay_s", "jain_index"
MEASURES = (GOODPUT, DELAY, FAIRNESS)

WORST = f"{GOODPUT} of worst"
"""Goodput of the flow with the least goodput of a run, which is compared if all flows are measured."""

_STARVED = -0.2
"""No change is advised that certainly lowers the goodput of the worst flow, by more than this share in the mean."""

FIRST, LOOKS = 10, 3
"""Seeds of the first look, and looks, each of which doubles them."""

SCREENED = (1_000_001, 1_000_002, 1_000_003)
"""Seeds of the screen: no later run has them, so that the best of a search gets no credit for its luck."""

KEPT = 6
"""Changes that are measured without a screen, and that a screen keeps at most."""

WITHIN = 0.1
"""Relative difference that is not worth a change, unless given."""

LIMIT_S = 600.0
"""Time for all runs, unless given [s]."""

_LEVEL = 0.05

_NOTED = 0.02
"""Smallest certain difference that is told as a cost."""


@dataclass(frozen=True, repr=False)
class Advice:
    """Changes that were tried on a network.

    Attributes:
        findings: The answer, then recommended changes with their gains and costs, as sentences.
        table: A row for each change that was measured and each measure: ``change``, ``who`` can make it (null for a
            change that is not in the list), ``measure``, ``estimate``, ``relative`` with ``relative_ci_low`` and
            ``relative_ci_high``, ``verdict``, ``doubt``, and ``linux`` (what a Linux host would have to be told; null
            as ``who``).
        screened: A row for each change of the screen: ``change``, ``who``, the relative differences of the means
            ``goodput`` and ``delay``, and whether it was ``kept``.
        left_out: Changes that were not tried, with the ``reason``.
        study: The study, with the axis ``case``.
        seeds: Number of seeds.
        changes: Settings of each change that fits the network, by its name, for :meth:`chappe.Scenario.with_settings`.
    """

    findings: list[str]
    table: pl.DataFrame
    screened: pl.DataFrame
    left_out: pl.DataFrame
    study: Study
    seeds: int
    changes: dict[str, dict[str, Any]]

    def __repr__(self) -> str:
        return "\n".join(self.findings)


class Plan(NamedTuple):
    """What is tried.

    Attributes:
        trials: Changes by name.
        left_out: Changes that are not tried.
    """

    trials: dict[str, Trial]
    left_out: list[LeftOut]

    def cases(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Cases of a study: the network as it is, and these changes."""
        return {AS_IT_IS: {}, **{name: dict(self.trials[name].change) for name in names}}


def advise(
    scenario: ScenarioLike,
    changes: Sequence[Mapping[str, Any]] | None = None,
    *,
    flows: str | None = None,
    within: float = WITHIN,
    limit_s: float = LIMIT_S,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress = False,
    told: Callable[[str], object] | None = None,
) -> Advice:
    """Tries changes of a network and shows which of them help.

    Of more than 6 changes, 3 runs each choose those that are measured: at most 6 of the best in goodput and in delay.
    These are compared with the network as it is anew, with seeds that the choice did not see, in goodput, delay and
    fairness: with 10 seeds, and with 20 and 40 as long as a goodput is not decided and the time permits. The three
    looks share the error of 5 % (Bonferroni), as do all changes that are measured (Holm).

    Args:
        scenario: A scenario, an equivalent dict, or the name of a scenario file.
        changes: Settings of each change; ``None``: those of a list that fit the network. Changes that have no effect on
            it are left out.
        flows: Flows that are measured, such as ``"tcp"`` (:meth:`chappe.Results.summary`); ``None``: all.
        within: Relative difference that is not worth a change: changes that are certainly smaller are the same.
        limit_s: Time that the runs may take [s]. A look that would take longer is not begun; changes for whose screen
            or first look there is no time are left out. One change is measured in any case.
        out: Folder of the study; the same call continues from there. The screen is beside it, in ``OUT-screen``.
            ``None``: a temporary folder.
        jobs: Number of parallel runs; ``None``: one per core.
        progress: True for a progress bar, or a function of the completed share.
        told: Receives how long it will take, before it begins.

    Raises:
        ScenarioError: If the scenario cannot be run.
        StudyError: If an argument is invalid.
        ValueError: If no change has an effect, or ``limit_s`` is not positive.
        StorageError: If the folder cannot be used.
    """
    if not limit_s > 0:
        raise ValueError(f"limit_s is a time above 0 s, not {limit_s}")
    base = scenario_of(scenario)
    plan = plan_of(base, changes)
    if not plan.trials:
        raise ValueError("none of the changes has an effect on this scenario")
    clock = _Clock(base, limit_s, cores(jobs))
    how: dict[str, Any] = {"jobs": jobs, "progress": progress}
    names, screened = list(plan.trials), []
    if is_screened := len(names) > KEPT:
        fitting = clock.runs_left() // len(SCREENED) - 1
        plan.left_out.extend(
            LeftOut(name, "the time limit leaves no time to try it") for name in names[max(fitting, 1) :]
        )
        names = names[: max(fitting, 1)]
    if told:
        told(clock.expected(len(names), is_screened))
    if is_screened:
        folder = None if out is None else Path(f"{out}-screen")
        with clock.timed(len(SCREENED) * (len(names) + 1)):
            study = sweep(base, cases=plan.cases(names), seeds=SCREENED, out=folder, title="Screen", **how)
        screened = _screened(_compared(study, plan, flows, within), plan, within)
        best = [row["change"] for row in screened if row["kept"]] or [screened[0]["change"]]
        names = best[: max(clock.runs_left() // FIRST - 1, 1)]
        plan.left_out.extend(LeftOut(n, "the time limit leaves no time to measure it anew") for n in best[len(names) :])
    seeds, is_cut = FIRST, False
    for look in range(LOOKS):
        seeds = FIRST << look
        # Runs of the looks before are in the folder, or in the study that is still open.
        cases = plan.cases(names)
        with clock.timed(len(cases) * (seeds // 2 if look else seeds)):
            study = sweep(base, cases=cases, seeds=seeds, out=out, title=f"Look {look + 1}", **how)
        rows = _compared(study, plan, flows, within)
        if not any(row["verdict"] == "open" for row in rows if row["measure"] == GOODPUT):
            break
        if is_cut := look + 1 < LOOKS and len(cases) * seeds > clock.runs_left():
            break
    kinds = {"doubt": pl.String, "linux": pl.String, "who": pl.String}
    table = pl.DataFrame(rows, infer_schema_length=None, schema_overrides=kinds)
    findings = [*_findings(rows, screened, seeds), *_waits(base, study)]
    if is_cut:
        findings.append(f"The time limit of {limit_s:g} s ended the looks: more time decides more.")
    columns = {"change": pl.String, "who": pl.String, "goodput": pl.Float64, "delay": pl.Float64, "kept": pl.Boolean}
    reasons = pl.DataFrame(plan.left_out, schema={"change": pl.String, "reason": pl.String}, orient="row")
    settings = {name: dict(trial.change) for name, trial in plan.trials.items()}
    return Advice(findings, table, pl.DataFrame(screened, schema=columns), reasons, study, seeds, settings)


class _Clock:
    """The time that runs take and that is left."""

    def __init__(self, base: Scenario, limit_s: float, jobs: int):
        """Measures a run of the network as it is, the shorter of two: the first one also loads what it needs."""
        self._begin = time.perf_counter()
        self._limit_s, self._jobs = limit_s, jobs
        self._run_s = min(_run_s(base) for _ in range(2))

    def runs_left(self) -> int:
        """Runs that fit into the rest of the time."""
        left_s = self._limit_s - (time.perf_counter() - self._begin)
        return max(0, math.floor(left_s * self._jobs / self._run_s))

    @contextlib.contextmanager
    def timed(self, runs: int) -> Iterator[None]:
        """Learns from these runs how long one takes beside others, unless they were there already."""
        begin = time.perf_counter()
        yield
        self._run_s = max(self._run_s, (time.perf_counter() - begin) * self._jobs / runs)

    def expected(self, changes: int, is_screened: bool) -> str:
        """Sentence about the time of some changes."""
        screen = len(SCREENED) * (changes + 1) if is_screened else 0
        least = screen + (min(changes, KEPT) + 1) * FIRST
        most = screen + (min(changes, KEPT) + 1) * (FIRST << (LOOKS - 1))
        low_s, high_s = (min(runs * self._run_s / self._jobs, self._limit_s) for runs in (least, most))
        first = f"{len(SCREENED)} runs of each, then the best anew" if is_screened else f"{FIRST} runs of each or more"
        return f"{count(changes, 'change')}: {first}, {_about(low_s)} to {_about(high_s)} for the runs."


def _run_s(base: Scenario) -> float:
    begin = time.perf_counter()
    run(base)
    return time.perf_counter() - begin


def _about(seconds: float) -> str:
    """A time of a machine, roughly."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{round(seconds / 60)} min"


def plan_of(base: Scenario, changes: Sequence[Mapping[str, Any]] | None) -> Plan:
    """Changes that have an effect on a scenario, and reasons to leave out the others."""
    listed, left_out = trials_of(base)
    known = {trial.title: trial for trial in listed}
    chosen = listed if changes is None else [known.get(named(c), Trial(c, "", named(c))) for c in changes]
    before = {(w.code, w.path) for w in base.warnings}
    ways, trials = _ways(base), {}
    reasons = [] if changes is not None else left_out
    for trial in chosen:
        try:
            changed = base.with_settings(dict(trial.change))
        except ScenarioError as e:
            if changes is not None:
                raise
            reasons.append(LeftOut(trial.title, e.problems[0].message))
            continue
        unused = [w.message for w in changed.warnings if w.code == "unused_setting" and (w.code, w.path) not in before]
        if changed.settings == base.settings:
            reasons.append(LeftOut(trial.title, "the network has it"))
        elif unused:
            reasons.append(LeftOut(trial.title, unused[0]))
        elif set(trial.change) == {"routing.metric"} and changes is None and _ways(changed) == ways:
            reasons.append(LeftOut(trial.title, "routes of the flows are the same"))
        else:
            trials[trial.title] = trial
    return Plan(trials, reasons)


def _ways(scenario: Scenario) -> list[Any]:
    """Ways of the packets of the flows, and of their acknowledgements, if they have ways back."""
    ways = [scenario._core.paths()]
    back = [{"src": dst, "dst": src} for src, dst, _ in scenario._core.flows()]
    with contextlib.suppress(ScenarioError):  # datagrams need no way back
        ways.append(scenario.with_settings({"flow": back, "traffic.flows": 0})._core.paths())
    return ways


def _screened(rows: Sequence[Mapping[str, Any]], plan: Plan, within: float) -> list[dict[str, Any]]:
    """Changes of the screen, the best in goodput first, with those that are kept."""
    gains = {row["change"]: {"goodput": None, "delay": None} for row in rows}
    for row in rows:
        if row["measure"] in (GOODPUT, DELAY):
            gains[row["change"]]["goodput" if row["measure"] == GOODPUT else "delay"] = row["relative"]
    by_goodput = sorted(gains, key=lambda change: -(gains[change]["goodput"] or 0.0))
    faster = [c for c in gains if (gains[c]["goodput"] or 0.0) > -within and (gains[c]["delay"] or 0.0) < 0]
    faster.sort(key=lambda change: gains[change]["delay"] or 0.0)
    kept = [c for c in by_goodput if (gains[c]["goodput"] or 0.0) > 0][: KEPT - 2]
    kept += [c for c in faster if c not in kept][: KEPT - len(kept)]
    return [{"change": c, "who": plan.trials[c].who or None, **gains[c], "kept": c in kept} for c in by_goodput]


def _compared(study: Study, plan: Plan, flows: str | None, within: float) -> list[dict[str, Any]]:
    """Rows of all changes and measures."""
    rows = []
    defined = set(study.summary(MEASURES, flows=flows)["measure"].str.replace(" of .*", ""))
    asked = {m: (m, flows) for m in MEASURES if m in defined}
    if flows is None and FAIRNESS in defined:
        asked[WORST] = (GOODPUT, "worst")
    level = 1 - _LEVEL / LOOKS
    for measure, (name, of) in asked.items():
        compared = study.compare(name, "case", baseline=AS_IT_IS, confidence=level, within=within, flows=of)
        for row in compared.iter_rows(named=True):
            names = ("relative", "relative_ci_low", "relative_ci_high")
            trial = plan.trials[row["case"]]
            rows.append(
                {
                    "change": row["case"],
                    "who": trial.who or None,
                    "measure": measure,
                    "estimate": row["estimate_a"],
                    **{name: row[name] for name in names},
                    "verdict": _verdict(row, name),
                    "doubt": row["doubt"],
                    "linux": trial.said if trial.who else None,
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


def _findings(rows: Sequence[Mapping[str, Any]], screened: Sequence[Mapping[str, Any]], seeds: int) -> list[str]:
    """The answer, the other recommended changes by who can make them, what not to do, and how sure this is."""
    by_change: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_change.setdefault(row["change"], {})[row["measure"]] = row
    starved = {c: of[WORST] for c, of in by_change.items() if _starves(of)}
    better = [c for c, of in by_change.items() if of[GOODPUT]["verdict"] == "better" and c not in starved]
    better.sort(key=lambda c: -by_change[c][GOODPUT]["relative"])
    faster = [
        c for c, of in by_change.items()
        if of.get(DELAY, {}).get("verdict") == "better" and c not in (*better, *starved)
        and of[GOODPUT]["verdict"] != "worse"
    ]  # fmt: skip
    faster.sort(key=lambda c: by_change[c][DELAY]["relative"])
    advised = [(c, GOODPUT) for c in better[:3]] + [(c, DELAY) for c in faster[:2]]
    sentences = [f"Best: {_advised(*advised[0], by_change)}"] if better else [_no_gain(by_change, starved)]
    rest = advised[1:] if better else advised
    for who in (*WHO, None):
        sentences += [_advised(*one, by_change) for one in rest if by_change[one[0]][GOODPUT].get("who") == who]
    worse = {c: relative(of[GOODPUT], 0) for c, of in by_change.items() if of[GOODPUT]["verdict"] == "worse"}
    worse = {c: f"{WORDS[WORST]} {relative(row, 0)}" for c, row in starved.items()} | worse
    lost = {row["change"]: f"{100 * row['goodput']:+.0f} % in the screen" for row in screened[::-1] if _is_worse(row)}
    if bad := [*worse.items(), *lost.items()][:4]:
        sentences.append(f"Do not: {'; '.join(f'{c} ({size})' for c, size in bad)}.")
    undecided = [c for c, of in by_change.items() if of[GOODPUT]["verdict"] == "open" and c not in starved]
    if undecided:
        sentences.append(f"Not decided with {seeds} seeds: {'; '.join(undecided)}.")
    sure = (
        f"{count(len(by_change), 'change')} measured with {seeds} seeds each; 95 % confidence for all of them together."
    )
    if len(screened) > len(by_change):
        sure += (
            f" They are the best of {len(screened)} in {count(len(SCREENED), 'run')} of each, measured anew with other "
            "seeds; a gain of the others may have been missed."
        )
    return [*sentences, sure]


def _no_gain(by_change: Mapping[str, Mapping[str, Mapping[str, Any]]], starved: Collection[str]) -> str:
    """The answer without a better change, with the most that a change may bring that does not starve the worst flow."""
    ends = [of[GOODPUT]["relative_ci_high"] for c, of in by_change.items() if c not in starved]
    bound = "" if None in ends or not ends else f": none brings more than {100 * max(*ends, 0):.0f} %"
    kept = " and keeps the worst flow" if starved else ""
    return f"No change certainly brings more goodput{kept}{bound}."


def _starves(of_change: Mapping[str, Mapping[str, Any]]) -> bool:
    """True if a change certainly takes much of the goodput of the worst flow."""
    row = of_change.get(WORST)
    return row is not None and row["verdict"] == "worse" and row["relative"] < _STARVED


def _is_worse(row: Mapping[str, Any]) -> bool:
    """True for a change that lost more than a fifth in the screen."""
    return (row["goodput"] or 0.0) < -0.2


WORDS = {GOODPUT: "goodput", DELAY: "delay", FAIRNESS: "Jain's index", WORST: "goodput of the worst flow"}
"""Measures in sentences."""


def _advised(change: str, measure: str, by_change: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """A change with its gain, its costs, who can make it, and how a Linux host makes it."""
    of = by_change[change]
    said, linux = WHO.get(of[measure].get("who") or ""), of[measure].get("linux")
    who = f" For {said}." if said else ""
    on_linux = f" On Linux: {linux}." if linux else ""
    return f"{change}: {_described(of, measure)}{_costs(of, measure)}.{who}{on_linux}"


def _described(of_change: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    return f"{WORDS[measure]} {relative(of_change[measure], 0)}"


def _costs(of_change: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    """Effects of a change on the other measures, where they are certain."""
    others = [
        f"{WORDS[m]} {relative(row, 0)}"
        for m, row in of_change.items()
        if m != measure and row["verdict"] in ("better", "worse") and abs(row["relative"]) >= _NOTED
    ]
    unknown = [WORDS[m] for m, row in of_change.items() if m not in (measure, WORST) and row["verdict"] == "open"]
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
