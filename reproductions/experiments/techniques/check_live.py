"""The kernel of this machine over live chains, beside the kernel of the record and Chappe's own senders.

    python reproductions/experiments/techniques/check_live.py [RUNS [ROWS]]

needs Linux, and the rights of root for real-time priority. ROWS chooses rows by a part of their name, such as
``"802.11b"`` or ``"bbr 3"``. Each run takes 20 s; a machine that does other work is late, which the last columns tell.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import chappe
from chappe.stats import Estimate
from kernel_over_radios import BY_NFQUEUE, NETWORKS, SENDERS, Difference, Goodput, Network, runs

SENDER = """
import socket
s = socket.socket()
# Before the handshake: BBR leaves its pace behind, and not every namespace may have another default.
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{sender}")
s.connect(("10.0.{hops}.1", 7))
try:
    while True:
        s.sendall(bytes(1 << 17))
except OSError:
    pass  # the receiver has seen enough
"""

RECEIVER = """
import socket, time
s = socket.socket()
s.bind(("10.0.{hops}.1", 7))
s.listen()
c, _ = s.accept()
begin, counted = time.monotonic(), 0
while (passed := time.monotonic() - begin) < 18:
    bytes_ = len(c.recv(1 << 17))
    counted += bytes_ if passed > 3 else 0
open("goodput", "w").write(str(counted * 8 / 15e6))
"""

DOORS: dict[str, tuple[str, dict[str, Any]]] = {"tun": ("linux-tun", {}), "nfqueue": ("linux", BY_NFQUEUE)}
"""Preset of Chappe's sender, and its settings, by door."""


def kernel(network: Network, sender: str, hops: int, door: str, seed: int) -> tuple[float, dict[str, Any]]:
    """Goodput of one run [Mbit/s], and what the live run tells of itself."""
    settings = {
        "extends": [*network.preset, "linux-tun"],
        "run.stop": "60 s",
        "topology.hops": hops,
        "routing.protocol": "shortest_path",
        **network.settings,
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "chain.toml")
        file.write_text(chappe.Scenario(settings).to_toml(), encoding="utf-8")
        options = ["--seed", str(seed), "--door", door, "--real-time", "--json", "--ignore", "unused_setting"]
        Path(folder, "receive.py").write_text(RECEIVER.format(hops=hops), encoding="utf-8")
        Path(folder, "send.py").write_text(SENDER.format(hops=hops, sender=sender), encoding="utf-8")
        receiver = ["--node", str(hops), f"exec {sys.executable} receive.py"]
        sends = ["--", sys.executable, "send.py"]
        done = subprocess.run(
            [sys.executable, "-m", "chappe.cli", "live", file.name, *options, *receiver, *sends],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        goodput = float(Path(folder, "goodput").read_text(encoding="utf-8"))
    return goodput, json.loads(done.stdout)["live"]


def main() -> None:
    """Prints the table."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    print("| door | radio | hops | sender | kernel here | recorded | Chappe | differs | late 99 % [ms] | behind [ms] |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for door, (preset, tcp) in DOORS.items():
        for network in NETWORKS:
            for sender, by_hops in (network.kernel if door == "tun" else network.by_nfqueue).items():
                for hops, recorded in by_hops.items():
                    if wanted not in f"{door} {network.name} {sender} {hops}":
                        continue
                    measured = [kernel(network, sender, hops, door, seed) for seed in range(1, number + 1)]
                    of_runs = Estimate.of([goodput for goodput, _ in measured])
                    here = Goodput(of_runs.mean, of_runs.half_width())
                    chappe_has, _ = runs(network, sender, hops, preset, tcp)
                    late, behind = (max(1e3 * told[n] for _, told in measured) for n in ("late_p99_s", "behind_s"))
                    names = [door, network.name, str(hops), SENDERS[sender]]
                    numbers = [
                        here,
                        recorded,
                        chappe_has,
                        Difference.of(chappe_has, here),
                        f"{late:.2f}",
                        f"{behind:.1f}",
                    ]
                    print(f"| {' | '.join([*names, *map(str, numbers)])} |", flush=True)


if __name__ == "__main__":
    main()
