"""Environments for agents: Gymnasium, vectors, PettingZoo."""

import copy
import json
import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import gym
from chappe._common.files import footer
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import iterate
from pettingzoo.test import parallel_api_test

FIXED = {"tcp.congestion_control": "fixed", "tcp.loss_recovery": "newreno", "run.batches": 1, "run.warmup_batches": 0}
CHAIN = chappe.Scenario.chain(3, FIXED, stop="3 s")
SHORT = chappe.Scenario.chain(1, FIXED, stop="2 s")
WINDOWS = {"tcp.fixed.window": [1, 2, 4, 8, 16]}
CROSSING = CHAIN.with_settings({"flow": [{"src": 0, "dst": 3}, {"src": 3, "dst": 0}], "run.stop": "5 s"})
EVERYTHING = {
    "tcp.fixed.window": range(1, 20),
    "tcp.fixed.pacing_rate": ["100 kbit/s", "1 Mbit/s", "unlimited"],
    "tcp.delayed_ack.segments": [1, 2, 4],
    "tcp.max_cwnd": [4, 100],
    "tcp.receive_window": [8, 64],
    "queue.limit": [5, 50],
}


RANGES: dict[str, Any] = {
    "tcp.fixed.window": gym.Range(1, 20),
    "tcp.fixed.pacing_rate": gym.Range(0.1, 2, "Mbit/s"),
    "queue.limit": gym.Range(2, 50),
}
BOTH: dict[str, Any] = {**RANGES, "tcp.delayed_ack.segments": [1, 2, 4], "tcp.max_cwnd": [4, 100]}
OF_FLOW: dict[str, Any] = {name: values for name, values in BOTH.items() if name.startswith("tcp.")}
ACTIONS: dict[str, Any] = {"window": WINDOWS, "lists": EVERYTHING, "ranges": RANGES, "both": BOTH}


def episode(env: gym.Env, actions: list[Any], seed: int | None = None) -> list[Any]:
    """Observations of an agent, as plain values."""
    seen, info = env.reset(seed=seed)
    found: list[Any] = [(seen.tolist(), info)]
    for action in actions:
        seen, reward, terminated, truncated, _ = env.step(action)
        found.append((seen.tolist(), reward, terminated, truncated))
        if terminated or truncated:
            break
    return found


def units_of(file: Path) -> dict[str, dict[str, str]]:
    """Units of columns in the metadata of a Parquet file."""
    with file.open("rb") as written:
        text = footer(written)[1].decode(errors="replace")
    begin = text.index("{", text.index("chappe.columns"))
    units: dict[str, dict[str, str]] = json.JSONDecoder().raw_decode(text[begin:])[0]
    return units


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize(
    "observations", [gym.OBSERVATIONS, ("goodput_bps", "node.2.queue_packets", "node.1.sending_share")]
)
def test_gymnasium_accepts_the_environment(
    kind: str, observations: tuple[str, ...], recwarn: pytest.WarningsRecorder
) -> None:
    env = gym.Env(CHAIN, actions=ACTIONS[kind], observations=observations)
    # Nothing is rendered, and no name is registered under which it could be made again.
    check_env(env, skip_render_check=True)
    assert not recwarn.list


@pytest.mark.parametrize(
    "actions", [WINDOWS, {"tcp.max_cwnd": gym.Range(1, 9)}, OF_FLOW], ids=["list", "range", "both"]
)
def test_pettingzoo_accepts_the_parallel_environment(
    actions: Mapping[str, Any], recwarn: pytest.WarningsRecorder
) -> None:
    parallel_api_test(gym.ParallelEnv(CROSSING, actions=actions), num_cycles=60)
    assert not recwarn.list


def test_spaces_have_an_entry_for_each_setting() -> None:
    of = {kind: gym.Env(CHAIN, actions=actions).action_space for kind, actions in ACTIONS.items()}
    assert of["window"] == spaces.Discrete(5)
    assert of["lists"] == spaces.MultiDiscrete([19, 3, 3, 2, 2, 2])
    assert of["ranges"] == spaces.Box(-1.0, 1.0, (3,))
    one = spaces.Box(-1.0, 1.0, (1,))
    lists = {"tcp.delayed_ack.segments": spaces.Discrete(3), "tcp.max_cwnd": spaces.Discrete(2)}
    assert of["both"] == spaces.Dict({**dict.fromkeys(RANGES, one), **lists})


def test_a_range_goes_from_its_low_to_its_high_end() -> None:
    env = gym.Env(CHAIN, actions=BOTH, observations=gym.OBSERVATIONS, step="250 ms")
    _, info = env.reset(seed=3)
    sim = chappe.start(CHAIN.with_settings({"run.airtime": True}), seed=info["run_seed"])
    sim.look()
    steps = [
        ((-1, 1, 0), (2, 1), (1, "2.0 Mbit/s", 26)),
        ((1, -1, -1), (0, 0), (20, "0.1 Mbit/s", 2)),
        ((0.5, 0, 1), (1, 1), (15, "1.05 Mbit/s", 50)),
    ]
    for i, (shares, indices, values) in enumerate(steps):
        action: dict[str, Any] = {name: np.array([share]) for name, share in zip(RANGES, shares, strict=True)}
        action |= dict(zip(list(BOTH)[3:], indices, strict=True))
        seen, *_ = env.step(action)
        of_lists = [BOTH[name][index] for name, index in zip(list(BOTH)[3:], indices, strict=True)]
        for name, value in zip(BOTH, (*values, *of_lists), strict=True):
            sim.set(f"flow.0.{name}" if name.startswith("tcp.") else name, value)
        sim.run_until(0.25 * (i + 1))
        look = sim.look()
        expected = [*look.flows[0], *list(look.radios[0])[1:]]
        assert seen.tolist() == np.nan_to_num(np.array(expected)).astype(np.float32).tolist()
    for wrong in ({}, {**action, "queue.limit": [1.5]}, {**action, "queue.limit": [math.nan]}, {**action, "more": 1}):
        with pytest.raises(ValueError, match=r"an action is not in Dict"):
            env.step(wrong)
    with pytest.raises(TypeError, match="actions is a dict"):
        env.step([0, 0])


def test_the_queue_of_a_link_and_the_thinning_of_acknowledgements_are_actions(
    recwarn: pytest.WarningsRecorder,
) -> None:
    # A transfer over one link, and datagrams that overload the other.
    wired = {"topology": {"kind": "none", "wired_nodes": 3}, "wired": {"rate": "1 Mbit/s", "delay": "5 ms"}}
    wired |= {"wired_link": [{"src": 0, "dst": 1}, {"src": 0, "dst": 2}]}
    flows = [{"src": 0, "dst": 1}, {"src": 0, "dst": 2, "app": "cbr", "cbr": {"interval": "1 ms"}}]
    scenario = chappe.Scenario({**FIXED, "tcp.ack_policy": "thinning", **wired, "flow": flows, "run.stop": "9 s"})
    scenario = scenario.with_settings({"tcp.fixed.window": 12})
    actions = {"wired_link.1.queue.limit": gym.Range(4, 60), "tcp.ack_thinning.s1": gym.Range(0, 1_000_000)}
    env = gym.Env(scenario, actions=actions, observations="source_queue_packets", step="3 s")
    check_env(env, skip_render_check=True)
    assert not recwarn.list
    env.reset(seed=1)
    packets, acks = [], [0]
    for limit, thinning in ((1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)):
        seen, *_ = env.step(np.array([limit, thinning], dtype=np.float32))
        packets.append(seen[0])
        acks.append(env.simulation.results().flows["tcp_acks_received"][0])
    # The window of the transfer waits, too, but for what is transmitted or acknowledged.
    assert 60 < packets[0] <= 72
    assert all(4 < waiting <= 16 for waiting in packets[1:])
    # First an acknowledgement for every fourth segment, then for each: 86 a second.
    assert (np.diff(acks) / 3).tolist() == pytest.approx([86 / 4, 86 / 4, 86], rel=0.1)


@pytest.mark.parametrize(
    ("ends", "error", "message"),
    [
        ((4, 4), ValueError, "from a number to a larger one, not from 4 to 4"),
        ((1, math.inf), ValueError, "not from 1 to inf"),
        ((math.nan, 2), ValueError, "not from nan to 2"),
        (("1", 2), TypeError, "the ends of a Range are numbers, not '1' and 2"),
        ((1, 2, 3), TypeError, "the unit of a Range is a text such as"),
    ],
)
def test_a_range_has_two_ends(ends: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gym.Range(*ends)


def test_the_seed_decides_everything() -> None:
    scenarios = [CHAIN, SHORT]
    env, other = (gym.Env(scenarios, actions=WINDOWS) for _ in range(2))
    actions = [3, 1, 4, 1, 2, 0, 3, 3, 2, 1]
    first = [episode(env, actions, seed=7), episode(env, actions), episode(env, actions)]
    assert [episode(other, actions, seed=7), episode(other, actions), episode(other, actions)] == first
    assert episode(env, actions, seed=7) == first[0]
    assert episode(env, actions, seed=8) != first[0]
    assert len({str(e) for e in first}) == 3, "each episode has another seed"


def test_topologies_are_drawn_for_each_episode() -> None:
    def draw(random: np.random.Generator) -> chappe.Scenario:
        return chappe.Scenario.chain(int(random.integers(1, 6)), FIXED, stop="1 s")

    env = gym.Env(draw, actions=WINDOWS)
    hops: list[int] = []
    for _ in range(30):
        env.reset(seed=None if hops else 1)
        hops.append(len(env.simulation.scenario.nodes) - 1)
    assert {*hops} == {1, 2, 3, 4, 5}
    env.reset(seed=1)
    assert len(env.simulation.scenario.nodes) - 1 == hops[0]


def test_a_step_is_what_the_commands_do() -> None:
    env = gym.Env(CHAIN, actions=EVERYTHING, observations=gym.OBSERVATIONS, reward="goodput", step="250 ms")
    _, info = env.reset(seed=3)
    sim = chappe.start(CHAIN.with_settings({"run.airtime": True}), seed=info["run_seed"])
    sim.look()
    actions = [[5, 2, 0, 1, 1, 1], [11, 0, 2, 1, 1, 0], [11, 1, 2, 0, 0, 0]]
    for i, action in enumerate(actions):
        seen, reward, *over, _ = env.step(np.array(action))
        for (name, values), chosen in zip(EVERYTHING.items(), action, strict=True):
            of_flow = name.startswith("tcp.")
            sim.set(f"flow.0.{name}" if of_flow else name, list(values)[chosen])
        sim.run_until(0.25 * (i + 1))
        look = sim.look()
        expected = [*look.flows[0], *list(look.radios[0])[1:]]
        assert seen.tolist() == np.nan_to_num(np.array(expected)).astype(np.float32).tolist()
        assert reward == look.flows["goodput_bps"][0] / 1e6
        assert over == [False, False]


@pytest.mark.parametrize("kind", ACTIONS)
def test_a_vector_does_what_its_environments_do(kind: str) -> None:
    scenarios, actions_of = [CHAIN, SHORT], ACTIONS[kind]
    vector = gym.VectorEnv(scenarios, 3, actions=actions_of, reward="power", step="400 ms")
    single = SyncVectorEnv([lambda: gym.Env(scenarios, actions=actions_of, reward="power", step="400 ms")] * 3)
    assert vector.observation_space == single.observation_space
    assert vector.action_space == single.action_space
    (seen, info), (expected, expected_info) = vector.reset(seed=11), single.reset(seed=11)
    assert seen.tolist() == expected.tolist()
    assert info["run_seed"].tolist() == expected_info["run_seed"].tolist()
    vector.action_space.seed(1)
    ends = 0
    for _ in range(40):
        actions = vector.action_space.sample()
        a, b = vector.step(actions), single.step(actions)
        for mine, theirs in zip(a[:4], b[:4], strict=True):
            assert np.asarray(mine).tolist() == np.asarray(theirs).tolist()
        for key, values in b[4].items():
            at = a[4]["_run_seed"]
            assert a[4][key][at].tolist() == np.asarray(values)[at].tolist()
        ends += int((a[2] | a[3]).sum())
    assert ends > 6
    single.close()
    vector.close()


def test_a_deep_copy_goes_on_by_itself() -> None:
    env = gym.Env([CHAIN, SHORT], actions=WINDOWS)
    env.reset(seed=4)
    env.step(1)
    other = copy.deepcopy(env)
    rest = [(seen.tolist(), reward) for seen, reward, *_ in (env.step(i % 5) for i in range(10))]
    assert [(seen.tolist(), reward) for seen, reward, *_ in (other.step(i % 5) for i in range(10))] == rest
    assert env.simulation.results().flows.equals(other.simulation.results().flows)
    assert env.reset()[1] == other.reset()[1]
    vector = gym.VectorEnv(CHAIN, 2, actions=WINDOWS)
    vector.reset(seed=4)
    again = copy.deepcopy(vector)
    assert vector.step(np.array([1, 4]))[1].tolist() == again.step(np.array([1, 4]))[1].tolist()
    with pytest.raises(TypeError, match="a run that goes on cannot be pickled: start it in the process that drives it"):
        pickle.dumps(env)


def test_agents_of_several_flows_act_on_their_own() -> None:
    env = gym.ParallelEnv(CROSSING, actions=WINDOWS, reward=lambda flow: flow["cwnd_segments"])
    seen, infos = env.reset(seed=2)
    assert env.agents == ["flow_0", "flow_1"]
    assert infos["flow_0"] == infos["flow_1"]
    for _ in range(30):
        seen, rewards, _, _, _ = env.step({"flow_0": 4, "flow_1": 1})
    assert rewards == {"flow_0": 16.0, "flow_1": 2.0}
    assert seen["flow_0"].tolist() != seen["flow_1"].tolist()
    _, rewards, *_ = env.step({"flow_1": 0})
    assert rewards == {"flow_0": 16.0, "flow_1": 1.0}
    while env.agents:
        _, _, terminated, truncated, _ = env.step({})
    assert (terminated, truncated) == ({"flow_0": False, "flow_1": False}, {"flow_0": True, "flow_1": True})


def test_an_episode_ends_with_the_run() -> None:
    env = gym.Env(SHORT, actions=WINDOWS)
    steps = episode(env, [2] * 100, seed=1)
    assert len(steps) - 1 == 20
    assert steps[-1][2:] == (False, True)
    with pytest.raises(chappe.RunError, match="the episode has ended: call `reset`"):
        env.step(0)
    delivering = gym.Env(chappe.Scenario.chain(1, FIXED, stop="50 delivered"), actions=WINDOWS)
    assert episode(delivering, [2] * 100, seed=1)[-1][2:] == (True, False)


def test_transitions_are_a_file_whose_sums_are_those_of_the_run(tmp_path: Path) -> None:
    env = gym.Transitions(
        gym.Env(
            [CHAIN, SHORT],
            actions={"tcp.fixed.window": [1, 4], "tcp.fixed.pacing_rate": ["1 Mbit/s", "unlimited"]},
            observations=("bytes_delivered", "goodput_bps"),
        )
    )
    totals, rewards = [], []
    for number in range(3):
        env.reset(seed=None if number else 5)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(np.array([1, number % 2]))
            rewards.append(reward)
            over = terminated or truncated
        totals.append(env.unwrapped.simulation.results().flows["bytes_delivered"][0])  # type: ignore[attr-defined]
    file = env.write(tmp_path / "transitions.parquet")
    table = pl.read_parquet(file)
    assert table.equals(env.table(), null_equal=True)
    assert table.group_by("episode", maintain_order=True).agg(pl.col("bytes_delivered").sum())[
        "bytes_delivered"
    ].to_list() == pytest.approx(totals)
    assert table["reward"].drop_nulls().to_list() == rewards
    assert table.filter(pl.col("step") == 0)["tcp.fixed.window"].to_list() == [None] * 3
    assert table["tcp.fixed.window"].drop_nulls().unique().to_list() == [4]
    assert table["tcp.fixed.pacing_rate"].drop_nulls().unique(maintain_order=True).to_list() == [
        "1 Mbit/s",
        "unlimited",
    ]
    assert table.group_by("episode").agg(pl.col("truncated").sum())["truncated"].to_list() == [1] * 3
    units = units_of(file)
    assert (units["goodput_bps"], units["time_s"]) == ({"unit": "bit/s"}, {"unit": "s"})
    assert env.write(file) == file  # its own file is replaced
    other = tmp_path / "other.parquet"
    other.write_bytes(b"of somebody else")
    with pytest.raises(FileExistsError, match="is not a table that Chappe wrote"):
        env.write(other)


class Slow:
    """A congestion control of one's own."""

    def on_ack(self, ack: chappe.CongestionEvent) -> float:
        return min(ack.cwnd + 0.5 / ack.cwnd, 8.0)

    def on_congestion(self, signal: chappe.CongestionEvent) -> float:
        return max(signal.cwnd / 2, 1.0)


@pytest.mark.parametrize("order", [(0, 3), (3, 0)])
def test_an_agent_shares_its_run_with_rules_and_external_flows(order: tuple[int, int]) -> None:
    flows = [
        {"src": 0, "dst": 3},
        {"src": 3, "dst": 0, "tcp.congestion_control": Slow},
        {"src": 1, "dst": 3, "tcp.congestion_control": "reno"},
        {"src": 0, "dst": 3, "app": "external"},
        {"src": 3, "dst": 0, "app": "external"},
        {"src": 2, "dst": 0, "tcp.congestion_control": "external"},
    ]
    faster = {"wlan.data_rate": "11 Mbit/s", "routing.protocol": "shortest_path", "run.stop": "8 s"}
    scenario = CHAIN.with_settings({"flow": flows, "run.record": ["packets"], **faster})

    def play(sim: chappe.Simulation, endpoints: tuple[int, int], act: Callable[[int, float], object]) -> chappe.Results:
        """Each endpoint sends a datagram when its timer expires; between two steps the agent and a program act."""
        at = {node: sim.endpoint(node) for node in endpoints}
        for endpoint in at.values():
            endpoint.wake(0)
        for number in range(1, 80):
            for event in sim.events(until=number * 0.1 - 0.05):
                if event.kind == "wake":
                    at[event.endpoint].send(100, tag=event.at_ns)
                    at[event.endpoint].wake(event.at_ns + 40_000_000)
            sim.decide(5, 1 + number % 4)
            act(number, number * 0.1)
        return sim.results()

    env = gym.Env(scenario, actions={"tcp.fixed.window": gym.Range(1, 9)})
    _, info = env.reset(seed=3)
    by_agent = play(env.simulation, order, lambda number, _: env.step(np.array([number % 3 - 1])))
    sim = chappe.start(scenario, seed=info["run_seed"])

    def by_hand(number: int, at_s: float) -> None:
        sim.set("flow.0.tcp.fixed.window", 1 + 4 * (number % 3))
        sim.run_until(at_s)

    driven = play(sim, (0, 3), by_hand)
    assert by_agent.flows.equals(driven.flows)
    assert by_agent.recorded["packets"].equals(driven.recorded["packets"])
    assert (by_agent.flows["packets_delivered"] > 0).all()


def test_transitions_of_a_vector_are_those_of_its_environments(tmp_path: Path) -> None:
    scenarios, number = [CHAIN, SHORT], 3
    vector = gym.VectorTransitions(gym.VectorEnv(scenarios, number, actions=BOTH, step="400 ms"))
    singles = [gym.Transitions(gym.Env(scenarios, actions=BOTH, step="400 ms")) for _ in range(number)]
    vector.action_space.seed(2)
    vector.reset(seed=11)
    for i, env in enumerate(singles):
        env.reset(seed=11 + i)
    over = np.zeros(number, dtype=bool)
    for _ in range(20):
        actions = vector.action_space.sample()
        for env, action, ends in zip(singles, iterate(vector.action_space, actions), over, strict=True):
            env.reset() if ends else env.step(action)
        _, _, terminated, truncated, _ = vector.step(actions)
        over = terminated | truncated
    table = vector.table()
    assert table.columns[:4] == ["environment", "episode", "step", "run_seed"]
    for i, env in enumerate(singles):
        own = table.filter(pl.col("environment") == i).drop("environment")
        assert own.equals(env.table(), null_equal=True)
        assert own["episode"].max() >= 2  # type: ignore[operator]
    assert table["queue.limit"].drop_nulls().is_between(2, 50).all()
    assert table["tcp.fixed.pacing_rate"].drop_nulls().is_between(0.1, 2).all()
    file = vector.write(tmp_path / "transitions.parquet")
    assert pl.read_parquet(file).equals(table, null_equal=True)
    units = units_of(file)
    assert units["tcp.fixed.pacing_rate"] == {"unit": "Mbit/s"}
    assert units["goodput_bps"] == {"unit": "bit/s"}


def test_transitions_of_several_agents_have_their_names(tmp_path: Path) -> None:
    env = gym.ParallelTransitions(gym.ParallelEnv(CROSSING, actions=OF_FLOW, observations="bytes_delivered"))
    for number in range(2):
        env.reset(seed=None if number else 4)
        rewards: list[list[float]] = []
        while env.agents:
            actions = {agent: env.action_space(agent).sample() for agent in env.agents}
            acting = actions if len(rewards) % 3 else {"flow_1": actions["flow_1"]}
            _, given, *_ = env.step(acting)
            rewards.append(list(given.values()))
        totals = env.unwrapped.simulation.results().flows["bytes_delivered"].to_list()
        table = env.table().filter(pl.col("episode") == number)
        for agent, total in zip(("flow_0", "flow_1"), totals, strict=True):
            own = table.filter(pl.col("agent") == agent)
            assert own["step"].to_list() == list(range(len(rewards) + 1))
            assert own["bytes_delivered"].sum() == pytest.approx(total)
            assert own["truncated"].to_list() == [False] * len(rewards) + [True]
            mine = [row[int(agent[-1])] for row in rewards]
            assert own["reward"].to_list() == [None, *mine]
            acted = own["tcp.fixed.window"].is_not_null().to_list()[1:]
            assert acted == [agent == "flow_1" or i % 3 > 0 for i in range(len(rewards))]
    file = env.write(tmp_path / "transitions.parquet")
    assert pl.read_parquet(file).equals(env.table(), null_equal=True)
    parallel_api_test(env, num_cycles=5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"action": WINDOWS}, TypeError, "there is no argument 'action'; known: actions, observations, reward, step"),
        ({"actions": {}}, ValueError, "actions: name a setting with its values"),
        ({"actions": {"tcp.fixed.window": []}}, ValueError, "'tcp.fixed.window' has no values to choose from"),
        ({"actions": {"tcp.fixed.window": 4}}, TypeError, "'tcp.fixed.window' has a list of values or a Range, not 4"),
        ({"actions": {1: [2]}}, TypeError, "actions: 1 is no name of a setting"),
        ({"actions": {"tcp.mss": [500]}}, chappe.ScenarioError, "`flow.0.tcp.mss` cannot change during a run"),
        (
            {"actions": {"tcp.fixed.window": [0], "queue.limit": [-1]}},
            chappe.ScenarioError,
            r"(?s)`flow.0.tcp.fixed.window` is 0.*`value` cannot be -1",
        ),
        (
            {"actions": {"tcp.fixed.window": gym.Range(0, 9), "tcp.max_cwnd": gym.Range(1, 2, "kB")}},
            chappe.ScenarioError,
            r"(?s)`flow.0.tcp.fixed.window` is 0.*`value` cannot be .1 kB",
        ),
        ({"observations": "goodput"}, ValueError, "observations: there is no 'goodput'; known: goodput_bps"),
        ({"observations": ["srtt_s", "srtt_s"]}, ValueError, "observations: 'srtt_s' twice"),
        ({"observations": []}, ValueError, "observations: name at least one"),
        ({"observations": "node.4.queue_packets"}, ValueError, "node 4 has no radio in this scenario"),
        (
            {"reward": "throughput"},
            ValueError,
            "reward: there is no 'throughput'; known: goodput, power, or a function",
        ),
        ({"reward": 3}, TypeError, "reward is a name or a function"),
        ({"step": 0}, ValueError, "step: 0 is no length of time"),
        ({"step": "soon"}, ValueError, "'soon' is not an instant"),
        ({"flow": 1}, ValueError, "flow 1 of an agent is not in the scenario, which has 1 flow$"),
        ({"scenario": []}, ValueError, "the list of scenarios is empty"),
        ({"scenario": lambda random: random.random()}, TypeError, "the function that draws scenarios returned 0"),
    ],
)
def test_mistakes_are_told_before_a_run_begins(
    arguments: Mapping[str, Any], error: type[Exception], message: str
) -> None:
    known = {"scenario": CHAIN, "actions": WINDOWS, **arguments}
    with pytest.raises(error, match=message):
        gym.Env(known.pop("scenario"), **known)


def test_mistakes_of_calls() -> None:
    with pytest.raises(TypeError, match="actions is missing: name settings with their values"):
        gym.Env(CHAIN)  # type: ignore[call-arg]
    env = gym.Env(CHAIN, actions=WINDOWS)
    with pytest.raises(chappe.RunError, match="no episode has begun: call `reset` first"):
        env.step(0)
    env.reset(seed=1)
    for action in (5, -1, 0.5, [1, 2], "4"):
        with pytest.raises(ValueError, match=r"an action is not in Discrete\(5\)"):
            env.step(action)
    with pytest.raises(ValueError, match="num_envs: 0 is not a whole number of at least 1"):
        gym.VectorEnv(CHAIN, 0, actions=WINDOWS)
    with pytest.raises(ValueError, match="num_envs: 1,000,000,000 environments are more than 10,000"):
        gym.VectorEnv(CHAIN, 10**9, actions=WINDOWS)
    vector = gym.VectorEnv(CHAIN, 2, actions=WINDOWS)
    with pytest.raises(chappe.RunError, match="no episode has begun"):
        vector.step([0, 0])
    with pytest.raises(ValueError, match="there are 3 seeds for 2 environments"):
        vector.reset(seed=[1, 2, 3])
    vector.reset(seed=1)
    with pytest.raises(ValueError, match="1 action for 2 environments"):
        vector.step([0])
    with pytest.raises(TypeError, match="actions are one for each environment, not 0"):
        vector.step(0)
    parallel = gym.ParallelEnv(CROSSING, actions=WINDOWS)
    parallel.reset(seed=1)
    with pytest.raises(ValueError, match="there is no agent 'flow_2'; known: flow_0, flow_1"):
        parallel.step({"flow_2": 0})
    with pytest.raises(TypeError, match="actions is a dict of agents and their actions, not 0"):
        parallel.step(0)  # type: ignore[arg-type]
    while parallel.agents:
        parallel.step({})
    with pytest.raises(chappe.RunError, match="the episode has ended: call `reset`"):
        parallel.step({})
    speechless = gym.Env(CHAIN, actions=WINDOWS, reward=lambda _: "high")  # type: ignore[arg-type, return-value]
    speechless.reset(seed=1)
    with pytest.raises(TypeError, match="reward: the function returned 'high', no number"):
        speechless.step(0)
    unmeasured = gym.Env(CHAIN, actions=WINDOWS, reward=lambda flow: -flow["mean_rtt_s"], step="1 ms")
    unmeasured.reset(seed=1)
    with pytest.raises(ValueError, match="reward: the function returned nan, no finite number"):
        unmeasured.step(0)
    with pytest.raises(ValueError, match=r"'queue.limit' belongs to no flow, and there are several agents"):
        gym.ParallelEnv(CROSSING, actions={"queue.limit": [5]})
    for wrapper, kind in (
        (gym.Transitions, "Env"),
        (gym.VectorTransitions, "VectorEnv"),
        (gym.ParallelTransitions, "ParallelEnv"),
    ):
        with pytest.raises(TypeError, match=f"Transitions record a {kind} of chappe.gym"):
            wrapper(object())  # type: ignore[arg-type]


PROGRAM = """
import sys
sys.modules["{missing}"] = None
import chappe
assert not {{"gymnasium", "pettingzoo"}} & {{name for name, module in sys.modules.items() if module}}
chappe.gym
"""


@pytest.mark.parametrize("missing", ["gymnasium", "pettingzoo"])
def test_without_the_extra_the_error_says_how_to_install_it(missing: str) -> None:
    program = PROGRAM.format(missing=missing)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    advice = f'chappe.gym needs the package {missing}, which comes with an extra: pip install "chappe[gym]"'
    assert done.stderr.rstrip().endswith(advice)
