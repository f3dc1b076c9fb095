"""Measures of chosen flows: the same numbers by hand, the choices, and where they can be given."""

import contextlib
import io
import itertools
from pathlib import Path
from typing import NamedTuple

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.measures import MEASURES, NODES_ALONE, tables_of_flows, wrong
from chappe.results.results import Results
from chappe.scenario import flow_selection
from chappe.study.analysis.letters import letters
from hypothesis import given
from hypothesis import strategies as st

SETTINGS = {
    "extends": "ns2-2.35",
    "run.stop": "40 s",
    "topology.hops": 3,
    "flow": [
        {"src": 0, "dst": 3},
        {"src": 3, "dst": 0, "tcp": {"variant": "vegas"}},
        {"src": 0, "dst": 3, "app": "cbr", "cbr": {"interval": "50 ms"}},
        {"src": 1, "dst": 3, "app": "cbr", "cbr": {"interval": "80 ms"}},
    ],
}
SCENARIO = chappe.Scenario(SETTINGS)


@pytest.fixture(scope="module")
def results() -> Results:
    return chappe.run(SCENARIO)


@pytest.fixture(scope="module")
def study() -> chappe.Study:
    return chappe.sweep(SCENARIO, {"queue.limit": [5, 50]}, seeds=4)


def estimates(results: Results, flows: str | None) -> dict[str, float]:
    return dict(results.summary(flows=flows).select("measure", "estimate").iter_rows())


def by_hand(results: Results, numbers: list[int]) -> dict[str, float]:
    """Measures of some flows, from the table of flows."""
    flows = results.flows.filter(pl.col("flow").is_in(numbers))
    batches = results.batches.filter("used")
    time_s = float((batches["ended_at_s"] - batches["started_at_s"]).sum())
    delivered = flows["bytes_delivered"].to_numpy().astype(float)

    def mean(name: str, samples: str) -> float:
        seen = flows.filter(pl.col(samples) > 0)
        return float((seen[name] * seen[samples]).sum()) / float(seen[samples].sum())

    return {
        "goodput_bps": 8 * delivered.sum() / time_s,
        "jain_index": delivered.sum() ** 2 / (len(delivered) * (delivered**2).sum()),
        "timeouts_per_10000": 1e4 * float(flows["timeouts"].sum()) / float(flows["packets_delivered"].sum()),
        "mean_delay_s": mean("mean_delay_s", "delay_samples"),
    }


@pytest.mark.parametrize(
    ("choice", "numbers"),
    [
        ("tcp", [0, 1]),
        ("udp", [2, 3]),
        ("cbr", [2, 3]),
        ("vegas", [1]),
        ("src=0", [0, 2]),
        ("udp src=0", [2]),
        ("vegas, udp src=1", [1, 3]),
        ("flow=1, 3", [1, 3]),
        ("all", [0, 1, 2, 3]),
    ],
)
def test_measures_are_those_of_the_chosen_flows(results: Results, choice: str, numbers: list[int]) -> None:
    found = estimates(results, choice)
    for name, value in by_hand(results, numbers).items():
        if name == "jain_index" and len(numbers) == 1:
            assert f"jain_index of {choice}" not in found
        else:
            assert found[f"{name} of {choice}"] == pytest.approx(value, rel=1e-9), name


def test_all_flows_have_the_measures_without_a_choice(results: Results) -> None:
    every = estimates(results, None)
    of_all = {name.removesuffix(" of all"): value for name, value in estimates(results, "all").items()}
    assert of_all == pytest.approx({n: v for n, v in every.items() if n not in NODES_ALONE}, rel=1e-9)


def test_order_of_columns_does_not_matter(results: Results) -> None:
    tcp = flow_selection.flows_of("tcp")
    batches = tables_of_flows(results.table, tcp)["batches"]
    assert tables_of_flows(lambda name: results.table(name)[:, ::-1], tcp)["batches"][:, ::-1].equals(batches)


def test_the_worst_flow_and_each(results: Results) -> None:
    least = int(results.flows.sort("bytes_delivered")["flow"][0])
    of_tcp = int(results.flows.filter(transport="tcp").sort("bytes_delivered")["flow"][0])
    for choice, flow in (("worst", least), ("worst tcp", of_tcp)):
        goodput = estimates(results, choice)[f"goodput_bps of {choice}"]
        assert goodput == pytest.approx(by_hand(results, [flow])["goodput_bps"])
    each = estimates(results, "each udp")
    assert [n for n in each if n.startswith("goodput")] == ["goodput_bps of flow=2", "goodput_bps of flow=3"]
    assert each["goodput_bps of flow=3"] == pytest.approx(by_hand(results, [3])["goodput_bps"])


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("tpc", "there are no flows 'tpc' in the choice 'tpc'; did you mean `tcp`?"),
        ("tcp,", "'tcp,' chooses no flows: give a choice such as"),
        ("", "'' chooses no flows"),
        ("each olsr", "there are no flows 'olsr'"),
        ("voice", "there are no flows 'voice'"),
        ("sack", "no flow is 'sack': there are 2 udp, 1 newreno, 1 vegas"),
        ("7", "no flow is '7'"),
    ],
)
def test_choices_of_no_flows(results: Results, study: chappe.Study, choice: str, message: str) -> None:
    with pytest.raises(ValueError, match="flow") as e:
        results.summary(flows=choice)
    assert sorted(message.split(", ")) == sorted(str(e.value).split(", ")) or str(e.value).startswith(message[:20])
    with pytest.raises(ValueError, match="flow"):
        study.summary(flows=choice)


def test_measures_of_nodes_have_no_flows(study: chappe.Study) -> None:
    message, help_ = wrong("energy_per_bit_j of tcp") or ("", "")
    assert message == "`energy_per_bit_j` is a measure of all nodes, not of chosen flows"
    assert "goodput_bps" in help_
    with pytest.raises(ValueError, match="measure of all nodes"):
        study.summary("route_failures_per_10000", flows="tcp")
    with pytest.raises(ValueError, match="is for summaries"):
        study.rank("goodput_bps", "queue.limit", flows="each")


def test_studies_measure_chosen_flows(study: chappe.Study) -> None:
    flows, batches = study.table("flows"), study.table("batches").filter("used")
    times = batches.group_by("queue.limit").agg((pl.col("ended_at_s") - pl.col("started_at_s")).sum().alias("s"))
    of_tcp = flows.filter(transport="tcp").group_by("queue.limit").agg(8 * pl.col("bytes_delivered").sum())
    wanted = {limit: bits / s for limit, bits, s in of_tcp.join(times, on="queue.limit").iter_rows()}
    summary = study.summary(["goodput_bps", "mean_delay_s of udp"], flows="tcp")
    assert summary["measure"].unique(maintain_order=True).to_list() == ["goodput_bps of tcp", "mean_delay_s of udp"]
    found = dict(summary.filter(measure="goodput_bps of tcp").select("queue.limit", "estimate").iter_rows())
    assert found == pytest.approx(wanted)
    compared = study.compare("goodput_bps", "queue.limit", baseline=5, flows="tcp").row(0, named=True)
    assert (compared["estimate_a"], compared["estimate_b"]) == pytest.approx((wanted[50], wanted[5]))
    ranked = study.rank("goodput_bps of tcp", "queue.limit")
    assert dict(ranked.select("queue.limit", "estimate").iter_rows()) == pytest.approx(wanted)
    assert study.plot("queue.limit", "jain_index", flows="udp").axes[0].get_ylabel() == "Jain's index of udp"


def test_jain_of_chosen_flows_has_their_number_as_limit() -> None:
    """One of two TCP flows starves: the index is 1/2 at least, whatever the other flows are."""
    swept = chappe.sweep(SCENARIO, seeds=[1, 2, 3])
    row = swept.summary("jain_index", flows="tcp").row(0, named=True)
    assert 0.5 <= row["ci_low"] <= row["estimate"] <= row["ci_high"] <= 1


def test_rules_and_searches_of_chosen_flows() -> None:
    short = SCENARIO.with_settings({"run.stop": "10 s"})
    swept = chappe.sweep(short, {}, seeds=2, precision=0.9, measure="goodput_bps of udp", max_seeds=4, min_seeds=2)
    assert swept.summary("goodput_bps of udp")["met"].to_list() == [True]
    found = chappe.search(short, "queue.limit", low=2, high=5, measure="mean_delay_s of udp", seeds=2, max_runs=8)
    assert found.measure_of_search == "mean_delay_s of udp"
    assert found.curve()["is_best"].sum() == 1


class Done(NamedTuple):
    """A command that has ended, in this process."""

    returncode: int
    stdout: str
    stderr: str


def command(*arguments: str, cwd: Path) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(arguments)
        except SystemExit as e:
            code = int(e.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


STUDY = """
scenario = "two.toml"
seeds = 3
measures = ["goodput_bps", "mean_delay_s of udp"]
flows = "tcp"
baseline = { tcp.variant = "newreno" }
[axes]
"tcp.variant" = ["newreno", "vegas"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chosen")
    (folder / "two.toml").write_text(SCENARIO.with_settings({"run.stop": "10 s"}).to_toml(), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    done = command("sweep", "study.toml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "goodput of tcp" in done.stdout
    assert "One-way delay of udp compared with tcp.variant = newreno: " in done.stdout
    return folder


def test_commands_compare_and_rank(folder: Path) -> None:
    """Findings stand first, and tables are those of the methods."""
    study = chappe.Study(folder / "out")
    compared = command("compare", "out", "--flows", "udp", "--csv", cwd=folder)
    rows = study.compare("goodput_bps", "tcp.variant", baseline="newreno", flows="udp")
    assert compared.stdout == rows.write_csv()
    ranked = command("rank", "out", "--measure", "mean_delay_s of udp", cwd=folder)
    assert ranked.stdout.startswith("One-way delay of udp, ")
    assert "letters" in ranked.stdout
    shown = command("show", "out", "--flows", "worst tcp", cwd=folder)
    assert "goodput of worst tcp" in shown.stdout
    again = command("show", "out", cwd=folder).stdout
    assert "goodput of tcp" in again
    told = command("show", "out", "--measure", "goodput_bps", cwd=folder).stdout
    assert "Measures pool 2 TCP and 2 UDP flows; `--flows tcp` measures those of TCP alone." in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "out", "--baseline", "sack"], "no point has tcp.variant = sack; known: newreno, vegas"),
        (["compare", "out", "--by", "queue.limit"], "'queue.limit' is not an axis; the axes are tcp.variant"),
        (["rank", "out", "--measure", "delay"], "there is no measure 'delay'; did you mean `mean_delay_s`?"),
        (["rank", "out", "--measure", "throughput_bps"], "add `--direction maximize` or minimize"),
        (["rank", "out", "--flows", "each"], "'each' is for summaries"),
        (["rank", "out", "--flows", "sack"], "no flow is 'sack'"),
        (["rank", "nothing"], "nothing"),
        (["compare", "out", "--within", "3"], "a share is between 0 % and 100 %"),
        (["run", "two.toml", "--flows", "tpc"], "did you mean `tcp`?"),
        (["run", "two.toml", "--flows", "sack"], "no flow is 'sack'"),
        (
            ["sweep", "two.toml", "--seeds", "2", "--flows", "each", "--precision", "5 %"],
            "--precision needs one measure",
        ),
    ],
)
def test_commands_refuse(folder: Path, arguments: list[str], message: str) -> None:
    done = command(*arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('flows = "tpc"', "`flows`: there are no flows 'tpc'"),
        ("flows = 3", "`flows`: '' chooses no flows"),
        ("seeds = 1", "a comparison needs at least 2 seeds"),
        ('baseline = { "tcp.variant" = "sack" }', "no point has `tcp.variant` = 'sack'"),
        ('baseline = { "queue.limit" = 3 }', "`baseline` has `queue.limit`, which is not an axis"),
        ("baseline = {}", "`baseline` is one value of one axis"),
        ('measures = ["energy_per_bit_j"]', "`energy_per_bit_j` is a measure of all nodes"),
    ],
)
def test_study_files_refuse(folder: Path, change: str, message: str) -> None:
    name = change.partition(" ")[0]
    lines = [change if line.startswith(f"{name} =") else line for line in STUDY.splitlines()]
    (folder / "wrong.toml").write_text("\n".join(lines), encoding="utf-8")
    done = command("sweep", "wrong.toml", "--out", "wrong", cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr


NAMED = SCENARIO.with_settings(
    {"run.stop": "10 s", "flow.0.group": "web", "flow.1.group": "web", "flow.2.name": "voice", "flow.3.group": "bg-2"}
)


def test_flows_are_chosen_by_name_and_by_group() -> None:
    """A name or a group is the same choice as the numbers of its flows."""
    results = chappe.run(NAMED)
    assert results.flows["name"].to_list() == [None, None, "voice", None]
    assert results.flows["group"].to_list() == ["web", "web", None, "bg-2"]
    for choice, numbers in (("voice", "2"), ("web", "0, 1"), ("voice, bg-2", "2, 3"), ("web vegas", "1")):
        by_name, by_number = results.summary(flows=choice), results.summary(flows=numbers)
        assert by_name.drop("measure").equals(by_number.drop("measure")), choice
    with pytest.raises(ValueError, match=r"no flows 'voise' in the choice 'voise'; did you mean `voice`\?"):
        results.summary(flows="voise")
    nameless = NAMED.with_settings(dict.fromkeys(("flow.0.group", "flow.1.group", "flow.3.group"), "none"))
    assert "group" not in chappe.run(nameless).flows.columns


def test_names_change_no_results() -> None:
    """Without names the table has no columns of names; with them all other columns are the same."""
    named, nameless = chappe.run(NAMED), chappe.run(SCENARIO.with_settings({"run.stop": "10 s"}))
    assert not set(flow_selection.LABELS) & set(nameless.flows.columns)
    assert named.flows.drop(flow_selection.LABELS).equals(nameless.flows)
    assert named.nodes.equals(nameless.nodes)


def test_studies_choose_flows_by_name(tmp_path: Path) -> None:
    study = chappe.sweep(NAMED, seeds=3, out=tmp_path / "out")
    first = study.summary("goodput_bps", flows="web").drop("measure")
    assert first.equals(study.summary("goodput_bps of 0, 1").drop("measure"))
    assert chappe.Study(tmp_path / "out").summary("goodput_bps of web").drop("measure").equals(first)
    with pytest.raises(ValueError, match=r"did you mean `web`\?"):
        study.summary("goodput_bps of wep")
    cases = {"named": {"flow.0.name": "one"}, "nameless": {}}
    both = chappe.sweep(SCENARIO.with_settings({"run.stop": "5 s"}), cases=cases, seeds=2)
    assert both.table("flows")["name"].drop_nulls().to_list() == ["one", "one"]
    assert both.summary("goodput_bps of one")["case"].to_list() == ["named"]
    with pytest.raises(chappe.StudyError, match="there are no flows 'wep'"):
        chappe.sweep(NAMED, seeds=2, precision=0.5, max_seeds=4, measure="goodput_bps of wep")
    with pytest.raises(chappe.StudyError, match="there are no flows 'wep'"):
        chappe.search(NAMED, "queue.limit", low=1, high=9, measure="goodput_bps of wep")


def test_commands_choose_flows_by_name(tmp_path: Path) -> None:
    (tmp_path / "named.toml").write_text(NAMED.to_toml(), encoding="utf-8")
    assert "goodput of voice" in command("run", "named.toml", "--flows", "voice", cwd=tmp_path).stdout
    done = command("sweep", "named.toml", "--seeds", "2", "--flows", "web", "--out", "out", cwd=tmp_path)
    assert "goodput of web" in done.stdout, done.stderr
    for arguments in (["run", "named.toml"], ["sweep", "named.toml", "--seeds", "2"], ["show", "out"]):
        done = command(*arguments, "--flows", "wep", cwd=tmp_path)
        assert done.returncode == 2
        assert "did you mean `web`?" in done.stderr
    (tmp_path / "study.toml").write_text('scenario = "named.toml"\nseeds = 2\nflows = "each wep"\n', encoding="utf-8")
    done = command("sweep", "study.toml", cwd=tmp_path)
    assert "study.toml:3" in done.stderr
    assert "`flows`: there are no flows 'wep' in the choice 'each wep'" in done.stderr


@given(st.integers(1, 7), st.randoms(use_true_random=False))
def test_settings_share_a_letter_unless_they_differ(n: int, random: object) -> None:
    pairs = list(itertools.combinations(range(n), 2))
    apart = {pair for pair in pairs if random.random() < 0.4}  # type: ignore[attr-defined]
    found = letters(list(range(n)), sorted(apart))
    assert all(found.values())
    for a, b in pairs:
        assert bool(set(found[a]) & set(found[b])) == ((a, b) not in apart)


def test_every_measure_of_flows_is_one_of_the_tables(results: Results) -> None:
    """A measure that is not of nodes alone is taken of every choice that has samples of it."""
    names = {m.name for m in MEASURES} - set(NODES_ALONE)
    found = {name.partition(flow_selection.OF)[0] for name in estimates(results, "tcp")}
    assert found == names
    assert np.isfinite(list(estimates(results, "tcp").values())).all()
