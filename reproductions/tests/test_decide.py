"""Further runs for undecided claims: errors of the sequential rule on drawn numbers, budget, and record."""

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import pytest
from chappe import StorageError, cli, plot
from chappe.stats import Estimate
from chappe_papers.judging import judge
from chappe_papers.judging.claims import Claim, compare
from chappe_papers.judging.decide import LOOKS, RECORD, Looks
from chappe_papers.judging.fresh import FIRST_SEED
from chappe_papers.judging.judge import more
from chappe_papers.judging.words import Verdict
from chappe_papers.paper import Wanted
from chappe_papers.reproduce import judge_anew
from chappe_papers.runs import runner
from chappe_papers.runs.estimates import Estimates
from command import contents
from scipy.stats import binom
from small_paper import PAPER
from small_paper.design import Point

RUNS = 10
FRESH = 2
CLAIM = Claim("C-1", "a is more than b", "", lambda data: compare(data, more, [("there", "a", "b")], "m"))


class Cache:
    """Runs that cost a second each."""

    def __init__(self) -> None:
        self.check: Callable[[], None] = lambda: None
        self.spent_s = 0.0


class Design:
    """A paper with two points."""

    class full:  # noqa: N801  # as the attribute of a design
        x = ()

    @staticmethod
    def repeats(_point: str) -> bool:
        return True


class Drawn:
    """The runs of two points, of which the first ones are known."""

    def __init__(self, rng: np.random.Generator, ratio: float, deviation: float):
        most = RUNS * 2 ** (LOOKS - 1)
        self.runs = {p: rng.normal(mean, deviation, most) for p, mean in (("a", ratio), ("b", 1.0))}

    def table(self, factor: int = 1) -> Estimates:
        return Estimates({p: {"m": Estimate.of(v[: RUNS * factor])} for p, v in self.runs.items()})


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Looks]:
    """Looks at drawn runs until the claim is decided or the budget is spent."""

    def look(drawn: Drawn, budget_s: float = 1e9, anew: Drawn | None = None) -> Looks:
        cache = Cache()

        class Done:
            def __init__(self, factor: int, first_seed: int):
                self.factor, self.first_seed = factor, first_seed

            def table(self, _points: Iterable[str]) -> Estimates:
                if self.first_seed == 1:
                    return drawn.table(self.factor)
                assert self.first_seed == FIRST_SEED
                assert anew is not None
                return anew.table(self.factor)

        def run(_design: Any, _points: Any, _length: Any, cache: Cache, factor: int, first_seed: int = 1) -> Done:
            for _ in range(RUNS * factor):
                cache.check()
                cache.spent_s += 1
            return Done(factor, first_seed)

        monkeypatch.setattr(runner, "run", run)
        monkeypatch.setattr(runner, "missing", lambda *arguments: [float(RUNS * arguments[4])])
        claim = replace(CLAIM, fresh=FRESH if anew is not None else 0)
        looks = Looks(Design(), [claim], drawn.table(), cache, {})  # type: ignore[arg-type]  # stand-ins
        looks.decide(budget_s, lambda: cache.spent_s)
        return looks

    return look


# ---- errors ----


@pytest.mark.parametrize(("ratio", "wrong"), [(1.0, Verdict.CONFIRMED), (1.05, Verdict.NONE)])
def test_a_wrong_decision_is_rare_over_all_looks(ratio: float, wrong: Verdict, looked: Callable[..., Looks]) -> None:
    """A claim of any gain of 5 %, where the truth is none, and where it is just enough: two-sided 5 % at most."""
    rng, trials = np.random.default_rng(1), 600
    verdicts = [looked(Drawn(rng, ratio, 0.2)).answers["C-1"].verdict for _ in range(trials)]
    assert verdicts.count(wrong) <= binom.ppf(0.999, trials, 0.025)
    # The same looks at 5 % each are wrong too often: the test would see it.
    at_5 = sum(
        any(CLAIM.judged(d.table(2**k)).verdict is wrong for k in range(LOOKS)) for d in _many(rng, ratio, trials)
    )
    assert at_5 > verdicts.count(wrong)


def _many(rng: np.random.Generator, ratio: float, trials: int) -> list[Drawn]:
    return [Drawn(rng, ratio, 0.2) for _ in range(trials)]


@pytest.mark.parametrize(("n", "share"), [(10, 0.04), (20, 0.0125), (40, 0.0125)])
def test_stalls_are_rarely_taken_for_a_gain(n: int, share: float) -> None:
    """A setting of which 30 % of runs stall, compared at one look with an even one of the same mean.

    Of ten runs 3 % show no stall, and no test helps. At twenty and forty Student's t alone is wrong in 4 and 2 %.
    """
    rng, trials, wrong, by_t = np.random.default_rng(1), 300, 0, 0
    for _ in range(trials):
        stalling = np.where(rng.random(n) < 0.3, 0.1, 0.97 / 0.7) * rng.normal(1, 0.01, n)
        found = Estimates({"a": {"m": Estimate.of(stalling)}, "b": {"m": Estimate.of(rng.normal(1, 0.01, n))}})
        wrong += CLAIM.judged(found, looks=LOOKS).verdict is Verdict.CONFIRMED
        none = {p: {"m": dataclasses.replace(of["m"], skewness=0.0)} for p, of in found.values.items()}
        by_t += CLAIM.judged(Estimates(none), looks=LOOKS).verdict is Verdict.CONFIRMED
    assert wrong <= binom.ppf(0.999, trials, share)
    assert by_t > wrong or n == 10


def test_more_runs_find_what_few_do_not(looked: Callable[..., Looks]) -> None:
    rng = np.random.default_rng(2)
    drawn = [Drawn(rng, 1.15, 0.2) for _ in range(100)]
    at_once = sum(CLAIM.judged(d.table()).verdict is Verdict.CONFIRMED for d in drawn)
    in_the_end = sum(looked(d).answers["C-1"].verdict is Verdict.CONFIRMED for d in drawn)
    assert at_once < 50
    assert in_the_end > 85


def test_a_fresh_experiment_decides_alone_at_the_whole_level(looked: Callable[..., Looks]) -> None:
    """The experiment counts no run of the looks, neither for nor against the statement, and needs no stricter level."""
    spread, equal = np.linspace(-1, 1, RUNS * FRESH), Drawn(np.random.default_rng(4), 1.03, 0.2)
    anew = Drawn(np.random.default_rng(4), 1.0, 0.2)
    error = float(np.std(spread, ddof=1)) / (RUNS * FRESH) ** 0.5
    # Just significant at 5 %, and not at a quarter of it.
    anew.runs = {"a": 1 + 2.3 * 0.03 + 0.03 / error * spread, "b": np.ones(RUNS * FRESH)}
    assert looked(equal).answers["C-1"].verdict is Verdict.OPEN
    looks = looked(equal, anew=anew)
    assert looks.of == {"C-1": LOOKS + 1}
    assert looks.answers["C-1"].verdict is Verdict.CONFIRMED
    assert CLAIM.judged(anew.table(FRESH), looks=LOOKS).verdict is Verdict.OPEN


def test_what_a_decision_takes() -> None:
    """An effect at half of the deviations that are needed takes four times the runs."""
    one, error = Estimate(1.0, 0.0, 10**6), Estimate(1.1, 0.1**2, 10**6)
    answer = CLAIM.judged(Estimates({"a": {"m": error}, "b": {"m": one}}))
    assert answer.verdict is Verdict.OPEN
    assert answer.times_the_runs == pytest.approx(1.96**2, rel=0.01)
    assert CLAIM.judged(Estimates({})).times_the_runs == float("inf")


# ---- budget and record ----


def test_the_budget_ends_runs_and_is_not_a_look(looked: Callable[..., Looks]) -> None:
    drawn = Drawn(np.random.default_rng(3), 1.06, 0.2)
    assert CLAIM.judged(drawn.table(), looks=LOOKS).verdict is Verdict.OPEN
    looks = looked(drawn, budget_s=RUNS)
    assert looks.of == {"C-1": 1}
    assert looks.answers["C-1"].verdict is Verdict.OPEN


def test_a_page_is_made_again_to_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "FORMATS", ("svg",))

    def made(**options: Any) -> dict[str, bytes]:
        assert PAPER.reproduce(tmp_path, wanted=Wanted(), quick=False, jobs=1, **options) == 0
        return {n: d for n, d in contents(tmp_path).items() if not n.startswith("runs/") and n != "paper.md"}

    plain = made()
    assert RECORD not in plain
    # No claim is decided by the planned runs at a level that small.
    monkeypatch.setattr(judge, "LEVEL", 1e-9)
    decided = made(decide_s=60.0)
    looks = json.loads(decided[RECORD])["looks"]
    assert looks
    assert set(looks.values()) <= set(range(2, LOOKS + 1))
    assert b"times" in decided["index.html"]
    assert made(decide_s=60.0) == decided
    monkeypatch.undo()
    monkeypatch.setattr(plot, "FORMATS", ("svg",))
    assert {n: d for n, d in made().items() if n != RECORD} == plain


def test_a_fresh_experiment_has_seeds_that_no_look_has_seen(tmp_path: Path) -> None:
    def made() -> str:
        assert judge_anew(PAPER, tmp_path, "S-2", jobs=1) == 0
        return (tmp_path / "fresh.csv").read_text()

    written = made()
    planned = PAPER.design.seeds(Point("vegas", 1), PAPER.design.full)
    seeds = chappe.Study(tmp_path / "runs").runs["seed"].unique().sort().to_list()
    assert seeds == list(range(FIRST_SEED, FIRST_SEED + 2 * planned))
    # Again, beside another claim.
    header, *rows = written.splitlines(keepends=True)
    assert [row.split(",")[0] for row in rows] == ["S-2"]
    other = rows[0].replace("S-2", "S-0")
    (tmp_path / "fresh.csv").write_text("".join([header, other, *rows]))
    assert made() == "".join([header, other, *rows])


def test_an_interrupted_decision_keeps_its_runs_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "FORMATS", ("svg",))
    monkeypatch.setattr(judge, "LEVEL", 1e-9)

    def made(folder: Path) -> dict[str, bytes]:
        assert PAPER.reproduce(folder, wanted=Wanted(), quick=False, jobs=1, decide_s=60.0) == 0
        return {
            n: d for n, d in contents(folder).items() if not n.startswith("runs/") and n not in ("paper.md", RECORD)
        }

    whole = made(tmp_path / "whole")
    looks = 0

    def interrupted(*args: Any, **named: Any) -> runner.Runner:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise KeyboardInterrupt
        return run(*args, **named)

    run = runner.run
    with monkeypatch.context() as context:
        context.setattr(runner, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path / "parts")
    kept = {n for n in contents(tmp_path / "parts") if n.startswith("runs/")}
    assert kept
    assert RECORD not in contents(tmp_path / "parts"), "a look that was not finished is not recorded"
    assert made(tmp_path / "parts") == whole


@pytest.mark.parametrize(
    "text", ["{broken", "[]", "{}", '{"looks": {"S-1": 9}, "cpu_s": 1}', '{"looks": {}, "cpu_s": -1}']
)
def test_a_damaged_record_is_an_error_before_any_run(text: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(StorageError, match=r"decided\.json is damaged: delete it"):
        PAPER.reproduce(tmp_path, wanted=Wanted(), quick=False, jobs=1, decide_s=1.0)
    assert list((tmp_path / "runs").iterdir()) == []


def test_runs_are_repeated_with_other_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["paper", "zhou2004", "--quick", "--claim", "P3-F2-1", "--jobs", "1", "--quiet"]
    for other in ([], ["--first-seed", "101"]):
        assert cli.main([*asked, *other]) == 0
    seeds = {}
    for name in ("zhou2004", "zhou2004-from-101"):
        study = chappe.Study(tmp_path / "results" / name / "runs")
        seeds[name] = sorted(set(study.runs["seed"]))
        said = (tmp_path / "results" / name / "paper.md").read_text("utf-8")
        assert ("seeds: from 101 on" in said) is (name != "zhou2004")
    assert [seed + 100 for seed in seeds["zhou2004"]] == seeds["zhou2004-from-101"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--decide", "15"], "a CPU time is above 0 and has a unit"),
        (["--decide", "0 s"], "a CPU time is above 0 and has a unit"),
        (["--decide", "1 min", "--quick"], "--decide makes further runs of full length for undecided claims"),
        (["--decide", "1 min", "--compare"], "--decide makes further runs of full length for undecided claims"),
        (["--fresh"], "--fresh makes the fresh experiment of one claim, which --claim names; claims of zhou2004"),
        (["--first-seed", "0"], "the first seed is a whole number from 1 to 999,999,999, not 0"),
        (["--first-seed", "101", "--compare"], "--first-seed makes the planned runs with other seeds: it excludes"),
        (["--fresh", "--claim", "P3-F2-1"], "P3-F2-1 declares no fresh experiment; claims of zhou2004 that declare"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = cli.main(["paper", "zhou2004", *arguments])
    except SystemExit as e:
        code = int(e.code or 0)
    assert code == 2
    assert message in capsys.readouterr().err
