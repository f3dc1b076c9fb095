"""Tcl files of ns-2: traffic of ``cbrgen.tcl``, and initial positions of ``setdest``."""

import re

from chappe.importing.source import MisreadError, Source
from chappe.importing.survey import Flow, Survey


def is_this(s: Source) -> bool:
    """True for agents at nodes, or coordinates of nodes."""
    return bool(
        re.search(r"\$ns_? attach-agent \$node_\(\d+\)|\$ns_? create-connection |\$node_\(\d+\) set [XY]_ ", s.text)
    )


def read(s: Source, survey: Survey) -> None:
    """Reads flows with their starts, and positions."""

    def node(number: str) -> str:
        # Numbers of nodes are the same in all files of a simulation.
        survey.node(f"ns2#{number}")
        return f"ns2#{number}"

    agents: dict[str, str] = {}
    tcp: set[str] = set()
    of_agent: dict[str, str] = {}
    values: dict[str, dict[str, float]] = {}
    starts: dict[str, float] = {}
    ends: list[tuple[str, str]] = []
    for line in s.lines():
        if found := re.match(r"\s*\$node_\((\d+)\) set ([XY])_ ([-\d.eE+]+)", line):
            place = survey.node(node(found[1]))
            x, y = place.xy or (0.0, 0.0)
            place.xy = (float(found[3]), y) if found[2] == "X" else (x, float(found[3]))
        elif found := re.match(
            r"\s*set (\w+\(\d+\)|\w+) \[\$ns_? create-connection \w+ \$node_\((\d+)\) \w+ \$node_\((\d+)\)", line
        ):
            tcp.add(found[1])
            agents[found[1]], agents[f"{found[1]} sink"] = node(found[2]), node(found[3])
            ends.append((found[1], f"{found[1]} sink"))
        elif found := re.match(r"\s*set (\w+\(\d+\)|\w+) \[new Agent/(\w+)", line):
            (tcp.add if found[2].startswith("TCP") else tcp.discard)(found[1])
        elif found := re.match(r"\s*\$ns_? attach-agent \$node_\((\d+)\) \$(\w+\(\d+\)|\w+)", line):
            agents[found[2]] = node(found[1])
        elif found := re.match(r"\s*\$(\w+\(\d+\)|\w+) attach-agent \$(\w+\(\d+\)|\w+)", line) or re.match(
            r"\s*set (\w+\(\d+\)|\w+) \[\$(\w+\(\d+\)|\w+) attach-source FTP\]", line
        ):
            of_agent[found[2]] = found[1]
        elif found := re.match(r"\s*\$(\w+\(\d+\)|\w+) set (packetSize_|interval_) ([\d.]+)", line):
            values.setdefault(found[1], {})[found[2]] = float(found[3])
        elif found := re.match(r"\s*\$ns_? connect \$(\w+\(\d+\)|\w+) \$(\w+\(\d+\)|\w+)", line):
            ends.append((found[1], found[2]))
        elif found := re.match(r"\s*\$ns_? at ([\d.]+) \"\$(\w+\(\d+\)|\w+) start\"", line):
            starts[found[2]] = float(found[1])
    for src, dst in ends:
        if src not in agents or dst not in agents:
            raise MisreadError(f"it connects {src} with {dst}, of which one is at no node; is the file cut off?")
        app = of_agent.get(src, "")
        of_app = values.get(app, {})
        size = of_app.get("packetSize_")
        survey.flows.append(
            Flow(agents[src], agents[dst], src not in tcp, None if size is None or src in tcp else int(size),
                 of_app.get("interval_"), starts.get(app, 0.0))
        )  # fmt: skip
