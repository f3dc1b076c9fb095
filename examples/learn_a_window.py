"""Learns which window suits a path that the sender does not know, and compares it with the best fixed window.

An episode is a transfer of 20 s over a chain of 1, 2, 4 or 8 hops, behind which a wired link of 50 ms may follow. The
agent sends with a small window for 2 s, sees the smallest round-trip time, and chooses the window for the rest. It
learns for each range of round-trip times the mean reward of each window, and tries windows at random ever less often
(epsilon-greedy). The reward is the logarithm of the goodput, so that a gain of 10 % is worth the same on every path.
Then the agent and the best fixed window play new episodes, both with the same seeds, on which neither was chosen.

python examples/learn_a_window.py [FOLDER]   tables and figure are written to FOLDER (default: results/learn_a_window)
"""

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import chappe
import numpy as np
import polars as pl
from chappe import gym, plot, stats
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[Any]
Indices: TypeAlias = NDArray[Any]

WINDOWS = [2, 3, 4, 6, 8, 12, 16, 24, 32]
HOPS = [1, 2, 4, 8]
SECONDS, PROBE = 20, 2
BATCH, BATCHES = 80, 20
SEEDS = 240
RANGES = 24


def path(hops: int, wired: bool) -> chappe.Scenario:
    """A transfer over a chain, and over a wired link behind it."""
    changes: dict[str, Any] = {"tcp.congestion_control": "fixed", "tcp.loss_recovery": "newreno"}
    changes |= {"run.batches": 1, "run.warmup_batches": 0}
    if wired:
        changes |= {"topology.wired_nodes": 1, "wired": {"rate": "20 Mbit/s", "delay": "50 ms"}}
        changes |= {"wired_link": [{"src": hops, "dst": hops + 1}], "flow": [{"src": 0, "dst": hops + 1}]}
    return chappe.Scenario.chain(hops, changes, stop=f"{SECONDS} s")


def utility(flow: Mapping[str, float]) -> float:
    """Reward of a step: the logarithm of its goodput, or of 10 kbit/s."""
    return math.log(max(flow["goodput_bps"], 1e4))


def environments(number: int) -> gym.VectorEnv:
    """Environments that draw a path for each episode."""
    paths = [path(hops, wired) for hops in HOPS for wired in (False, True)]
    actions = {"tcp.fixed.window": WINDOWS}
    observations = ("min_rtt_s", "bytes_delivered")
    return gym.VectorEnv(paths, number, actions=actions, observations=observations, reward=utility, step="1 s")


def ranges(min_rtt_s: Numbers) -> Indices:
    """Range of each round-trip time: 0 if none was measured, or else 40 % wide, from 1 ms on."""
    found: Indices = np.clip(np.log2(np.maximum(min_rtt_s, 1e-3) / 1e-3) * 2, 0, RANGES - 1).astype(int)
    return found


def play(env: gym.VectorEnv, probe: int, choose: Callable[[Indices], Indices], seed: int) -> tuple[Indices, ...]:
    """Plays an episode in each environment, with the window number ``probe`` until the choice.

    Returns:
        Ranges of round-trip times, chosen windows, mean rewards after the choice, goodputs of whole episodes [bit/s].
    """
    seen, _ = env.reset(seed=seed)
    action, delivered, rewards = np.full(env.num_envs, probe), np.zeros(env.num_envs), []
    for second in range(SECONDS):
        if second == PROBE:
            state = ranges(seen[:, 0])
            action = choose(state)
        seen, reward, *_ = env.step(action)
        delivered += seen[:, 1]
        rewards.append(reward)
    return state, action, np.mean(rewards[PROBE:], axis=0), 8 * delivered / SECONDS


def learn() -> tuple[Numbers, list[stats.Estimate]]:
    """Mean reward of each window in each range, -inf where none is known, and the logarithms of goodputs meanwhile."""
    env, random = environments(BATCH), np.random.default_rng(1)
    value, tried = np.full((RANGES, len(WINDOWS)), -np.inf), np.zeros((RANGES, len(WINDOWS)))
    course = []

    def choose(state: Indices) -> Indices:
        at_random = random.random(BATCH) < max(0.1, 1 - 1.5 * batch / BATCHES)
        return np.where(at_random, random.integers(len(WINDOWS), size=BATCH), value[state].argmax(axis=1))

    for batch in range(BATCHES):
        state, action, rewards, goodput_bps = play(env, 2, choose, seed=BATCH * batch)
        for s, a, reward in zip(state, action, rewards, strict=True):
            tried[s, a] += 1
            value[s, a] = reward if tried[s, a] == 1 else value[s, a] + (reward - value[s, a]) / tried[s, a]
        course.append(stats.Estimate.of(np.log(goodput_bps)))
    return value, course


def always(window: int) -> Callable[[Indices], Indices]:
    """The choice of the same window in each range."""
    return lambda state: np.full(len(state), window)


def main(folder: Path) -> None:
    """Learns, chooses the best fixed window with as many episodes, and measures both anew."""
    value, course = learn()
    policy = value.argmax(axis=1)

    each = environments(BATCH * BATCHES // len(WINDOWS))
    means = [np.log(play(each, a, always(a), 100_000)[3]).mean() for a in range(len(WINDOWS))]
    best = int(np.argmax(means))
    print(f"The best fixed window has {WINDOWS[best]} segments.")
    known = [s for s in range(RANGES) if np.isfinite(value[s]).any()]
    columns = {"min_rtt_s": [1e-3 * 2 ** (s / 2) for s in known], "window": [WINDOWS[policy[s]] for s in known]}
    windows = pl.DataFrame(columns)
    learned = ", ".join(f"{1e3 * rtt:.0f} ms: {window}" for rtt, window in windows.iter_rows())
    print(f"Learned windows, from each smallest round-trip time on: {learned}.")

    env = environments(SEEDS)
    learned_bps = play(env, 2, lambda s: policy[s], 200_000)[3]
    fixed_bps = play(env, best, always(best), 200_000)[3]
    compared = stats.paired(np.log(learned_bps), np.log(fixed_bps)).difference
    gain, low, high = (100 * math.expm1(x) for x in (compared.mean, *compared.interval()))
    differs = "differs" if low > 0 or high < 0 else "does not differ"
    print(f"In {SEEDS} new episodes the geometric mean of the agent's goodput {differs} from that of the best fixed")
    print(f"window: by {gain:+.1f} %, 95 % interval {low:+.1f} to {high:+.1f} %.")

    folder.mkdir(parents=True, exist_ok=True)
    windows.write_csv(folder / "windows.csv")
    pl.DataFrame({"learned_bps": learned_bps, "fixed_bps": fixed_bps}).write_csv(folder / "episodes.csv")
    x = [BATCH * (i + 1) for i in range(BATCHES)]
    y = [math.exp(e.mean) / 1e6 for e in course]
    low_high = [[math.exp(end) / 1e6 for end in e.interval()] for e in course]
    ends = [(at - low, high - at) for at, (low, high) in zip(y, low_high, strict=True)]
    level = math.exp(max(means)) / 1e6
    fixed = plot.Curve(f"best fixed window, {WINDOWS[best]} segments", [x[0], x[-1]], [level, level], [0.0, 0.0], 1)
    panel = plot.Panel([plot.Curve("agent", x, y, ends, 0), fixed], "episodes", "goodput [Mbit/s]")
    plot.save(plot.draw([panel], title="Geometric mean of the goodput while the agent learns"), folder, "learning")
    print(f"Written to {folder}: windows.csv, episodes.csv, learning.pdf, learning.svg, learning.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/learn_a_window"))
