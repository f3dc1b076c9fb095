"""Congestion control of one's own in Python: what a rule is told and decides, in runs and in studies."""

import math
import pickle
import random
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import chappe
import pytest
from chappe.cli import main as command
from chappe.page import OF_RULE, page
from chappe.printing.studies import warnings as show_warnings
from chappe.study.design.axes import Item, Point
from chappe.study.execution.threads import execute_pickled
from command import environment

LOSSY = {"wlan.error": {"model": "uniform", "rate": 0.2, "frames": "data"}}
RECORDED = {"run.record": ["cwnd"]}


def chain(rule: object, **settings: Any) -> chappe.Scenario:
    return chappe.Scenario.chain(2, {"tcp.congestion_control": rule, **LOSSY, **settings}, stop="20 s")


class Reno:
    """RFC 5681."""

    def on_ack(self, ack: chappe.CongestionEvent) -> float:
        return ack.cwnd + (1.0 if ack.cwnd < ack.ssthresh else 1.0 / ack.cwnd)

    def on_congestion(self, signal: chappe.CongestionEvent) -> float:
        return max(signal.in_flight / 2, 2.0)


class Outer:
    class Constant:
        def on_ack(self, _: chappe.CongestionEvent) -> int:
            return 3

        def on_congestion(self, _: chappe.CongestionEvent) -> chappe.Decision:
            return chappe.Decision(3, 3)


class Paced:
    """Sends 584 kbit/s, and then as fast as its window allows."""

    def on_ack(self, ack: chappe.CongestionEvent) -> tuple[float, float] | chappe.Decision:
        return (20, 584e3) if ack.time_ns < 10e9 else chappe.Decision(20, None, math.inf)

    def on_congestion(self, _: chappe.CongestionEvent) -> None:
        return None


class Telling:
    """Keeps what it is told."""

    told: ClassVar[list[dict[str, Any]]] = []
    made: ClassVar[int] = 0

    def __init__(self) -> None:
        Telling.made += 1

    def on_ack(self, ack: chappe.CongestionEvent) -> float:
        names = [name for name in dir(ack) if not name.startswith("_")]
        self.told.append({name: getattr(ack, name) for name in names})
        return 4.0

    def on_congestion(self, signal: chappe.CongestionEvent) -> float:
        self.on_ack(signal)
        return 4.0

    def on_recovery_end(self, event: chappe.CongestionEvent) -> None:
        self.on_ack(event)


class Failing(Reno):
    """Returns `ANSWER` from 5 s on."""

    ANSWER: ClassVar[object] = None

    def on_ack(self, ack: chappe.CongestionEvent) -> Any:
        if ack.time_ns < 5_000_000_000:
            return super().on_ack(ack)
        if isinstance(self.ANSWER, type):
            raise self.ANSWER("no window")
        return self.ANSWER


@pytest.fixture
def told() -> Iterator[list[dict[str, Any]]]:
    Telling.told.clear()
    Telling.made = 0
    yield Telling.told
    Telling.told.clear()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with a rule in the current folder, which Python does not search."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my_rules.py"
    file.write_text(
        "class Half:\n"
        "    def on_ack(self, ack):\n        return ack.cwnd + 0.5 / ack.cwnd\n\n"
        "    def on_congestion(self, signal):\n        return signal.cwnd / 2\n\n\n"
        "class Quarter(Half):\n"
        "    def on_ack(self, ack):\n        return ack.cwnd + 0.25 / ack.cwnd\n\n\n"
        "class Deaf:\n    pass\n\n\nNUMBER = 3\n"
    )
    return file


@pytest.mark.parametrize("recovery", ["newreno", "sack"])
def test_reno_in_python_has_the_windows_of_reno(recovery: str) -> None:
    own, built_in = (
        chappe.run(chain(rule, **RECORDED, **{"tcp.loss_recovery": recovery}), seed=1) for rule in (Reno, "reno")
    )
    assert own.recorded["cwnd"].height > 100
    assert own.recorded["cwnd"].equals(built_in.recorded["cwnd"])
    assert own.flows.drop("variant").equals(built_in.flows.drop("variant"))
    assert own.flows["variant"].to_list() == [f"{__name__}:Reno+{recovery}"]
    assert own.flows["retransmissions"][0] > 0


def test_a_constant_window_is_that_of_fixed() -> None:
    start = {"tcp.initial_window": 3, "tcp.initial_ssthresh": 3, "tcp.fixed.window": 3}
    with pytest.warns(chappe.ChappeWarning, match=r"fixed\.window"):
        own = chappe.run(chain(Outer.Constant, **start, **RECORDED), seed=1)
    assert own.recorded["cwnd"].equals(chappe.run(chain("fixed", **start, **RECORDED), seed=1).recorded["cwnd"])


def test_a_rule_is_told_of_acknowledgements_and_congestion(told: list[dict[str, Any]]) -> None:
    lossy = {"wlan.error": {"model": "uniform", "rate": 0.4}, "routing.protocol": "shortest_path"}
    limits = {"wlan.long_retry_limit": 3, "wlan.short_retry_limit": 3}
    chappe.run(chain(Telling, **lossy, **limits, **{"tcp.loss_recovery": "rack_tlp"}), seed=1)
    assert Telling.made == 1
    kinds = {event["kind"] for event in told}
    assert {"ack", "fast_retransmit", "recovery_end"} <= kinds <= {"ack", "fast_retransmit", "timeout", "recovery_end"}
    times = [event["time_ns"] for event in told]
    assert times == sorted(times)
    assert all(isinstance(t, int) for t in times)
    for event in told:
        assert event["flow"] == 0
        assert event["mss_bytes"] == 1460
        assert event["acked_bytes"] == 1460 * event["acked"]
        assert (event["acked"] > 0) == (event["kind"] == "ack")
        assert event["min_rtt_ns"] <= event["rtt_ns"]
        assert event["cwnd"] >= 1
    rates = [e["delivery_rate_bps"] for e in told if e["delivery_rate_bps"] is not None]
    assert rates
    assert all(0 < rate < 2e6 for rate in rates)


def test_a_rule_paces() -> None:
    changes = {"tcp.congestion_control": Paced, "run.batches": 20}
    batches = chappe.run(chappe.Scenario.chain(1, changes, stop="20 s"), seed=1).batches
    rates = batches["goodput_bps"].to_list()
    assert all(abs(rate / 584e3 - 1) < 0.05 for rate in rates[2:9])
    assert all(rate > 1e6 for rate in rates[11:])


def test_a_driven_run_gives_the_same() -> None:
    scenario = chain(Reno)
    with chappe.start(scenario, seed=1) as sim:
        sim.run_until("7 s")
        sim.results()
        driven = sim.finish()
    assert driven.flows.equals(chappe.run(scenario, seed=1).flows)
    # A driven run with an error stops there.
    Failing.ANSWER = "fast"
    with chappe.start(chain(Failing), seed=1) as sim, pytest.raises(chappe.RunError, match="'fast'"):
        sim.finish()


def test_a_program_decides_a_window_between_two_advances() -> None:
    scenario = chappe.Scenario.chain(
        1, {"tcp.congestion_control": "external", "run.sample_interval": "1 s"}, stop="9 s"
    )
    with chappe.start(scenario, seed=1) as sim:
        for second, window in enumerate((3, 7, 5.5), 1):
            sim.run_until(second)
            sim.decide(0, window)
        for wrong in ({"cwnd": 0.5}, {"ssthresh": math.nan}, {"pacing_bps": 0}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                sim.decide(0, **wrong)
        with pytest.raises(ValueError, match="flow 1 has no window to decide"):
            sim.decide(1, 4)
        samples = sim.finish().samples
        with pytest.raises(chappe.RunError, match="over"):
            sim.decide(0, 4)
    assert samples["cwnd_segments"].to_list()[2:6] == [3, 7, 5.5, 5.5]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (-1.0, "returned -1.0"),
        (math.nan, "returned nan"),
        (math.inf, "returned inf"),
        ("4", "returned '4'"),
        (True, "returned True"),
        ((4, -1), r"returned \(4, -1\)"),
        ((4, 5, 6), r"returned \(4, 5, 6\)"),
        ((4, 1, 2, 3), r"returned \(4, 1, 2, 3\)"),
        ([4], r"returned \[4\]"),
        (ZeroDivisionError, rf"raised ZeroDivisionError: no window \({re.escape(__file__)}, line \d+\)$"),
        (SystemExit, r"raised SystemExit: no window \("),
    ],
)
def test_an_error_names_flow_time_and_value(answer: object, text: str) -> None:
    Failing.ANSWER = answer
    pattern = rf"flow 0 at 5\.\d+ s: on_ack of the congestion control `{__name__}:Failing` {text}"
    with pytest.raises(chappe.RunError, match=pattern) as raised:
        chappe.run(chain(Failing), seed=1)
    assert type(raised.value.__cause__) is (answer if isinstance(answer, type) else type(None))


def test_an_interrupt_ends_the_run() -> None:
    Failing.ANSWER = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        chappe.run(chain(Failing), seed=1)


def test_a_rule_that_cannot_be_made_is_an_error() -> None:
    class Needing(Reno):
        pass

    with pytest.raises(ValueError, match="Needing is inside of a function"):
        chain(Needing)


def test_other_runs_of_a_study_are_kept(tmp_path: Path) -> None:
    Failing.ANSWER = -2
    axes = {"tcp.congestion_control": [Failing, Reno, "cubic"]}
    study = chappe.sweep(chain("reno"), axes, seeds=2, out=tmp_path)
    assert len(study.failed) == 2
    assert all("Failing` returned -2" in str(failure) for failure in study.failed)
    assert study.runs["tcp.congestion_control"].unique().sort().to_list() == ["cubic", f"{__name__}:Reno"]
    Failing.ANSWER = 5
    assert not chappe.sweep(chain("reno"), axes, seeds=2, out=tmp_path).failed


SOMETIMES = """
import math


class Sometimes:
    def on_ack(self, ack):
        return math.nan if ack.seed % 2 == 0 and ack.time_ns > 1e9 else ack.cwnd + 1 / ack.cwnd

    def on_congestion(self, signal):
        return max(2.0, signal.cwnd / 2)


class Never(Sometimes):
    def on_ack(self, ack):
        raise LookupError("no window")
"""
TOLD_OF = r"flow 0 at \d\.\d+ s: on_ack of the congestion control `failing:Sometimes` returned nan; "


def test_commands_go_on_with_the_runs_that_have_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("failing.py").write_text(SOMETIMES)
    Path("mine.toml").write_text('run.stop = "3 s"\ntopology.hops = 1\n')
    values = "tcp.congestion_control=failing:Sometimes,failing:Never,reno"
    words = ["sweep", "mine.toml", "--axis", values, "--seeds", "6", "-o", "made", "--report", "made.html"]
    assert command(words) == 1
    written = capsys.readouterr()
    # Ten are told of one by one.
    assert len(re.findall(TOLD_OF, written.err)) == 3
    assert written.err.count("`failing:Never` raised LookupError: no window") == 6
    assert "9 runs failed; finished runs are kept in made." in written.err
    assert "failing:Sometimes" in written.out
    for words in (["rank", "made"], ["compare", "made", "--baseline", "reno"]):
        assert command(words) == 0
        assert "failing:Sometimes" in capsys.readouterr().out
    assert "failing:Sometimes" in Path("made.html").read_text()
    # A repetition hides no run: those that failed were never shown.
    assert command(["sweep", "mine.toml", "--axis", values, "--seeds", "6", "-o", "made"]) == 1
    assert "no longer shown" not in capsys.readouterr().err
    # The axis with several values is meant, whatever others the study has.
    words = ["sweep", "mine.toml", "--axis", "tcp.congestion_control=reno,cubic", "--axis", "topology.hops=1"]
    assert command([*words, "--seeds", "2", "-o", "two", "-q"]) == 0
    assert command(["compare", "two", "--baseline", "reno"]) == 0
    assert (
        command(["run", "mine.toml", "--measure", "lost = sum(flows.quic_packets_lost) / sum(flows.quic_packets_sent)"])
        == 0
    )
    assert "these flows do not have what the measures need" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["search", "precision"])
def test_a_point_whose_runs_all_fail_gets_no_more_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("failing.py").write_text(SOMETIMES)
    rules = ["failing:Never", "failing:Sometimes", "reno"]
    base = {"run.stop": "3 s", "topology.hops": 1, "run.batches": 3}
    axes = {"tcp.congestion_control": rules}
    if how == "search":
        study = chappe.search(base, "tcp.max_cwnd", low=2, high=4, axes=axes, seeds=2)
    else:
        study = chappe.sweep(base, axes, seeds=3, precision=1e-4, max_seeds=40)
    named = [failed.item.point.labels["tcp.congestion_control"] for failed in study.failed]
    assert named.count("failing:Never") <= 10
    assert named.count("failing:Sometimes") > 0
    assert {*study.runs["tcp.congestion_control"].to_list()} == {"failing:Sometimes", "reno"}
    show_warnings(study, ["goodput_bps"])
    told = capsys.readouterr().err
    assert told.count("failed: RunError") == min(10, len(named))
    assert (f"error: {len(named) - 10:,} more run" in told) == (len(named) > 10)


def test_worker_processes_return_failures_with_the_other_runs(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(SOMETIMES)
    program = (
        "import pickle, sys, chappe\n"
        "from chappe.study.design.axes import Item, Point\n"
        "from chappe.study.execution.threads import execute_pickled\n"
        "chain = chappe.Scenario.chain(1, {'tcp.congestion_control': 'failing:Sometimes'}, stop='3 s')\n"
        "items = [Item(Point({}, chain), seed) for seed in (1, 2, 3)]\n"
        "sys.stdout.buffer.write(execute_pickled(pickle.dumps(items)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), cwd=tmp_path, capture_output=True, check=True
    )
    first, failed, last = pickle.loads(done.stdout)
    assert (first.end, last.end) == ("done", "done")
    assert re.match(rf"RuntimeError: RunError: {TOLD_OF}", str(failed))


def test_a_module_in_the_current_folder_is_found_by_files_and_options(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = module.with_name("mine.toml")
    file.write_text('run.stop = "5 s"\ntopology.hops = 1\ntcp.congestion_control = "my_rules:Half"\n')
    assert command(["run", str(file)]) == 0
    assert "my_rules:Half+newreno" in capsys.readouterr().out
    assert command(["run", str(file), "--set", "tcp.congestion_control=my_rules:Quarter"]) == 0
    assert "my_rules:Quarter+newreno" in capsys.readouterr().out
    assert command(["check", str(file)]) == 0
    values = "tcp.congestion_control=my_rules:Half,my_rules:Quarter,reno"
    assert command(["sweep", str(file), "--axis", values, "--seeds", "3", "-o", "made", "--report", "made.html"]) == 0
    assert "my_rules:Quarter" in capsys.readouterr().out
    for verb in ("compare", "rank"):
        assert command([verb, "made", "--measure", "goodput_bps"]) == 0
        assert "my_rules:Quarter" in capsys.readouterr().out
    assert "my_rules:Quarter" in Path("made.html").read_text()
    axes = {"tcp.congestion_control": ["my_rules:Half", "reno"]}
    found = chappe.search(file, "tcp.max_cwnd", low=2, high=4, axes=axes, seeds=2)
    assert "my_rules:Half" in found.runs["tcp.congestion_control"].to_list()


@pytest.mark.parametrize(
    ("name", "message", "help_"),
    [
        ("no_rules:Half", "there is no module `no_rules`", "it was sought in"),
        ("my_rule:Half", "there is no module `my_rule`", "did you mean `my_rules`? it was sought in"),
        ("my_rules:Halve", "my_rules.py has no class `Halve`", "did you mean `Half`? its congestion controls: Half"),
        ("my_rules:Third", "my_rules.py has no class `Third`", "its congestion controls: Half, Quarter"),
        ("my_rules:NUMBER", "my_rules.py has no class `NUMBER`", "Half"),
        ("my_rules:Deaf", "has no method `on_ack` and no `on_congestion`", "which return a window"),
    ],
)
def test_a_rule_that_is_not_there_is_an_error_for_people(
    module: Path, name: str, message: str, help_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(chappe.ScenarioError) as raised:
        chappe.run(chain(name))
    problem = raised.value.problems[0]
    assert problem.path == "tcp.congestion_control"
    assert message in problem.message
    assert help_ in (problem.help or "")
    with pytest.raises((chappe.StudyError, chappe.ScenarioError), match=message):
        chappe.sweep(chain("reno"), {"tcp.congestion_control": [name, "reno"]})
    file = module.with_name("mine.toml")
    file.write_text(f'run.stop = "5 s"\ntopology.hops = 1\ntcp.congestion_control = "{name}"\n')
    for verb in ("run", "check"):
        assert command([verb, str(file)]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n1 / 0\n", r"my_rules\.py, line 2: ZeroDivisionError: "),
        ("class Half(:\n", r"the module `my_rules`: SyntaxError: .*\(my_rules\.py, line 1\)"),
        ("import no_such_module\n", r"my_rules\.py, line 1: ModuleNotFoundError: .*'no_such_module'"),
        ("raise SystemExit(3)\n", r"my_rules\.py, line 1: SystemExit: 3"),
    ],
)
def test_a_module_with_an_error_is_named(module: Path, text: str, message: str) -> None:
    module.write_text(text)
    with pytest.raises(chappe.ScenarioError, match=f"cannot be read: .*{message}"):
        chappe.run(chain("my_rules:Half"))


@pytest.mark.parametrize("name", ["my rules:Half", ":Half", "my_rules:", "a:b:c", "1a:B"])
def test_a_name_of_another_form_is_an_error(name: str) -> None:
    with pytest.raises(chappe.ScenarioError, match="module:Class"):
        chain(name)


def test_a_changed_rule_is_another_run(module: Path) -> None:
    def key() -> str:
        return Item(Point({}, chain("my_rules:Half")), 1).key

    first = key()
    assert first == key()
    sys.modules.pop("my_rules")
    assert first == key()
    sys.modules.pop("my_rules")
    module.write_text(module.read_text().replace("0.5", "0.75"))
    assert key() != first


def test_worker_processes_run_rules(module: Path) -> None:
    items = [Item(Point({}, chain("my_rules:Half")), seed) for seed in (1, 2)]
    answer = execute_pickled(pickle.dumps(items))
    assert isinstance(answer, bytes)
    here = pickle.loads(answer)
    program = (
        "import sys, pickle; from chappe.study.execution.threads import execute_pickled;"
        "sys.stdout.buffer.write(execute_pickled(sys.stdin.buffer.read()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(items),
        env=environment(),
        cwd=module.parent,
        capture_output=True,
        check=True,
    )
    there = pickle.loads(done.stdout)
    facts = [[(run.key, run.simulated_s, run.frames_sent) for run in runs] for runs in (here, there)]
    assert facts[0] == facts[1]


def test_a_page_says_why_it_has_no_player() -> None:
    results = chappe.run(chain(Reno), seed=1)
    text = page(results, "Own")
    assert OF_RULE in text
    with pytest.raises(RuntimeError, match="decided in Python"):
        results.player()


class Counting(Reno):
    """Closes its window after a number of acknowledgements, so that what it has counted decides the results."""

    def __init__(self) -> None:
        self.acks = 0

    def on_ack(self, ack: chappe.CongestionEvent) -> float:
        self.acks += 1
        return 1.0 if self.acks % 40 < 20 else super().on_ack(ack)


def test_a_copy_of_a_run_has_rules_of_its_own() -> None:
    scenario = chain(Counting)
    whole = chappe.run(scenario)
    with chappe.start(scenario) as sim:
        sim.run_until("7 s")
        copy = sim.copy()
        # The rule of the one has counted to the end when the other goes on.
        ended = sim.finish()
        of_copy = copy.finish()
    assert ended.flows.equals(whole.flows)
    assert of_copy.flows.equals(whole.flows)


class Locked(Reno):
    """Has an attribute that cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def test_an_object_that_cannot_be_copied_is_named() -> None:
    with chappe.start(chain(Locked)) as sim:
        sim.run_until("1 s")
        with pytest.raises(chappe.RunError, match=r"an object of the congestion control `.*Locked` cannot be copied"):
            sim.copy()
        # The run itself goes on.
        assert sim.finish().flows["packets_delivered"][0] > 0


@pytest.mark.parametrize("rule", ["reno", "vegas"])
def test_a_refused_decision_changes_nothing(rule: str) -> None:
    scenario = chain(rule)
    with chappe.start(scenario) as sim:
        while sim.run_until(sim.time_s + 0.013):
            with pytest.raises(ValueError, match="no window to decide"):
                sim.decide(0, 40)
        assert sim.finish().flows.equals(chappe.run(scenario).flows)


class Random(Reno):
    """Draws its window."""

    def __init__(self) -> None:
        self.draw: random.Random | None = None

    def on_ack(self, ack: chappe.CongestionEvent) -> float:
        self.draw = self.draw or random.Random(ack.seed)
        return self.draw.uniform(1, 8)


def test_a_rule_draws_by_the_seed_of_the_run() -> None:
    first, again = (chappe.run(chain(Random), seed=7).flows for _ in range(2))
    assert first.equals(again)
    assert not first.equals(chappe.run(chain(Random), seed=8).flows)


SCRIPT = """
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import chappe


class Own:
    class Three:
        def on_ack(self, ack):
            return 3.0

        def on_congestion(self, signal):
            return 3.0


if __name__ == "__main__":
    chain = chappe.Scenario.chain(2, {"tcp.congestion_control": Own.Three}, stop="2 s")
    variants = [chappe.run(chain).flows["variant"][0]]
    for method in ("spawn", "forkserver"):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
            variants.append(pool.submit(chappe.run, chain).result().flows["variant"][0])
    chappe.sweep(chain, {"tcp.congestion_control": [Own.Three, "reno"]}, seeds=2, out=sys.argv[1])
    print(*variants)
"""


@pytest.mark.parametrize(("file", "module_name"), [("own_rules.py", "own_rules"), ("own-rules.py", "__main__")])
def test_a_rule_of_a_script_has_the_name_of_its_file(tmp_path: Path, file: str, module_name: str) -> None:
    (tmp_path / file).write_text(SCRIPT)
    name = f"{module_name}:Own.Three"
    done = subprocess.run(
        [sys.executable, file, "study"], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [f"{name}+newreno"] * 3, "also in processes that it starts"
    study = chappe.open(tmp_path / "study")
    assert isinstance(study, chappe.Study)
    assert {*study.runs["tcp.congestion_control"].to_list()} == {name, "reno"}
    # Another program finds it by this name.
    chain = f"chappe.Scenario.chain(2, {{'tcp.congestion_control': '{name}'}}, stop='2 s')"
    program = f"import chappe; print(chappe.run({chain}))"
    again = subprocess.run(
        [sys.executable, "-c", program], env=environment(), cwd=tmp_path, capture_output=True, text=True
    )
    assert (again.returncode == 0) == (module_name == "own_rules"), again.stderr


def test_a_window_that_nobody_decides_causes_a_warning(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = "leaves the window to a program.*name a rule, `module:Class`, or drive the run with `chappe.start`"
    with pytest.warns(chappe.ChappeWarning, match=told):
        chappe.run(chain("external"))
    with pytest.warns(chappe.ChappeWarning, match=told):
        study = chappe.sweep(chain("reno"), {"tcp.congestion_control": ["external", "reno"]}, seeds=2)
    assert [notice.code for notice in study.warnings] == ["no_driver"]
    file = tmp_path / "mine.toml"
    file.write_text('run.stop = "5 s"\ntopology.hops = 1\ntcp.congestion_control = "external"\n')
    for words in (["run"], ["check"], ["sweep", "--axis", "tcp.receive_window=2,4", "--seeds", "2"]):
        assert command([words[0], str(file), *words[1:]]) == 0
        assert "leaves the window to a program" in capsys.readouterr().err
    # A program that drives the run, and a rule, need no word.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chappe.start(chain("external"))
        chappe.run(chain(Reno))
