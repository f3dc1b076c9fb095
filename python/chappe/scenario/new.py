"""A new scenario with comments, from a few answers."""

from collections.abc import Mapping
from typing import NamedTuple


class Question(NamedTuple):
    """A question about a new scenario.

    Attributes:
        name: Option that answers it.
        text: The question.
        default: Answer that is taken without another.
        known: Words that answer it; without any, it is a number or a quantity.
    """

    name: str
    text: str
    default: str
    known: tuple[str, ...] = ()


_VARIANTS = ("newreno", "reno", "sack", "vegas", "westwood")

_LINUX = ("cubic", "bbr")
"""Congestion controls of Linux: with the preset ``linux``, so that they differ in nothing else."""

_PROTOCOLS = ("aodv", "babel", "batman_adv", "dsr", "dsdv", "olsr")

QUESTIONS = (
    Question("topology", "How are the nodes placed", "chain", ("chain", "grid", "random")),
    Question("nodes", "How many nodes", "8"),
    Question("mobility", "Do they move", "none", ("none", "random_waypoint")),
    Question("flows", "How many flows", "1"),
    Question("app", "What do they carry", "bulk", ("bulk", "cbr", "on_off", "requests")),
    Question("variant", "Which TCP variant", "newreno", (*_VARIANTS, *_LINUX)),
    Question("routing", "Which routing protocol", "aodv", (*_PROTOCOLS, "shortest_path")),
    Question("rate", "At which rate are data sent", "2 Mbit/s"),
    Question("stop", "How long is a run", "60 s"),
)
"""Questions of ``chappe new``, in order; defaults make a chain with one file transfer."""


def text_of(answers: Mapping[str, str]) -> str:
    """Text of the scenario file.

    Args:
        answers: Answer to each question, by its name.
    """
    nodes, flows = int(answers["nodes"]), int(answers["flows"])
    lines = [
        "# A scenario for `chappe run`, `chappe sweep` and `chappe plot`.",
        "# `chappe check` finds mistakes, `chappe explain` explains settings, `chappe explain --list` lists models.",
        *(["", 'extends = "linux"             # the TCP of Linux 6.18'] if answers["variant"] in _LINUX else []),
        "",
        "[run]",
        f'stop = "{answers["stop"]}"                # or a number of packets: "11000 delivered"',
        "seed = 1                      # another seed is another run of the same network",
        "",
        "[topology]",
        *_topology(answers["topology"], nodes),
    ]
    if answers["mobility"] != "none":
        lines += [
            "",
            "[mobility]",
            'model = "random_waypoint"     # each node walks to a random place, and rests',
            'min_speed = "1 m/s"',
            'max_speed = "5 m/s"',
            'pause = "10 s"',
            *(['width = "1000 m"', 'height = "1000 m"'] if answers["topology"] != "random" else []),
        ]
    lines += [
        "",
        "[wlan]",
        f'data_rate = "{answers["rate"]}"',
        'rts_threshold = "never"       # "0 B": an RTS before every data frame',
        "",
        "[routing]",
        f'protocol = "{answers["routing"]}"',
    ]
    if answers["app"] != "cbr" and answers["variant"] in _LINUX:
        others = " or ".join(f'"{name}"' for name in (*_LINUX, "reno") if name != answers["variant"])
        setting = f'congestion_control = "{answers["variant"]}"'
        lines += ["", "[tcp]", f"{setting:<30}# {others}: another sender"]
    elif answers["app"] != "cbr":
        lines += ["", "[tcp]", f'variant = "{answers["variant"]}"', "receive_window = 32            # segments"]
    else:
        lines += ["", "[cbr]", 'interval = "100 ms"            # a datagram every 100 ms', 'payload = "512 B"']
    return "\n".join([*lines, "", *_flows(answers, nodes, flows)]) + "\n"


def _topology(kind: str, nodes: int) -> list[str]:
    match kind:
        case "chain":
            return [
                f"hops = {nodes - 1}                      # nodes in a row, from 0 to {nodes - 1}",
                'spacing = "200 m"',
            ]
        case "grid":
            rows = max(r for r in range(1, int(nodes**0.5) + 1) if nodes % r == 0)
            return ['kind = "grid"', f"rows = {rows}", f"columns = {nodes // rows}", 'spacing = "200 m"']
        case _:
            # About 10 neighbors in a range of 250 m.
            side = max(200, round(250 * (3.14 * nodes / 10) ** 0.5, -1))
            return [
                'kind = "random"',
                f"nodes = {nodes}",
                f'width = "{side:.0f} m"',
                f'height = "{side:.0f} m"',
                'seed = "run"                   # each seed has a map of its own; a number: the same map',
            ]


def _flows(answers: Mapping[str, str], nodes: int, flows: int) -> list[str]:
    app = [] if answers["app"] == "bulk" else [f'app = "{answers["app"]}"']
    if flows == 1:
        return ["[[flow]]", "src = 0", f"dst = {nodes - 1}", *app]
    return [
        "[traffic]                     # flows between nodes that are drawn at random",
        f"flows = {flows}",
        *(["distinct_ends = false         # a node may be the end of several flows"] if 2 * flows > nodes else []),
        *app,
        'start = "1 s"                  # of the first flow; the next begins 1 s later',
    ]
