"""Goodput of Linux senders over the radios of Chappe: a kernel behind TUN devices or NFQUEUE, and Chappe's senders.

``python reproductions/experiments/techniques/kernel_over_radios.py`` makes the runs and writes
``reproductions/docs/kernel-over-radios.md``.
"""

import math
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import chappe
from chappe.stats import Estimate

PAGE = Path(__file__).parents[2] / "docs" / "kernel-over-radios.md"
SEEDS = range(1, 21)
WITHIN = 0.03
WITHIN_NFQUEUE = 0.04

SENDERS = {"cubic": "CUBIC", "bbr": "BBR"}
BY_NFQUEUE = {"small_queue": "any_device"}


class Goodput(NamedTuple):
    """Mean goodput of several runs, and half of its interval of 95 % [Mbit/s]."""

    mean: float
    half: float

    def __str__(self) -> str:
        digits = 2 if self.mean >= 10 else 3
        return f"{self.mean:.{digits}f} ± {self.half:.{digits}f}"


class Network(NamedTuple):
    """A radio, and the goodput of the kernel by sender and hops.

    Attributes:
        name: Its name.
        preset: Presets before that of the sender.
        settings: Settings that differ.
        kernel: Over TUN devices, of 5 or 6 runs.
        by_nfqueue: Through NFQUEUE, of 4 runs.
        has_aggregates: True where frames are aggregated.
    """

    name: str
    preset: list[str]
    settings: dict[str, Any]
    kernel: dict[str, dict[int, Goodput]]
    by_nfqueue: dict[str, dict[int, Goodput]]
    has_aggregates: bool = False


NETWORKS = (
    Network(
        "802.11b, 11 Mbit/s",
        [],
        {"wlan": {"data_rate": "11 Mbit/s", "basic_rate": "2 Mbit/s"}},
        {
            "cubic": {1: Goodput(5.057, 0.013), 3: Goodput(1.656, 0.031), 7: Goodput(0.915, 0.038)},
            "bbr": {1: Goodput(5.096, 0.017), 3: Goodput(1.692, 0.008), 7: Goodput(0.998, 0.006)},
        },
        {"bbr": {3: Goodput(1.677, 0.016), 7: Goodput(0.998, 0.004)}},
    ),
    Network(
        "`802.11n`",
        ["802.11n"],
        {"wlan.edca.held_airtime": "unlimited"},  # The nodes of the kernel's network, which `linux` would change.
        {
            "cubic": {1: Goodput(52.66, 0.28), 3: Goodput(17.15, 0.08), 7: Goodput(7.304, 0.097)},
            "bbr": {1: Goodput(51.70, 0.29), 3: Goodput(16.25, 0.08), 7: Goodput(5.341, 0.072)},
        },
        {
            "cubic": {1: Goodput(45.7, 2.0), 3: Goodput(15.42, 0.29), 7: Goodput(4.765, 0.061)},
            "bbr": {1: Goodput(34.33, 0.28), 3: Goodput(11.35, 0.09), 7: Goodput(4.011, 0.045)},
        },
        has_aggregates=True,
    ),
)


def runs(network: Network, sender: str, hops: int, preset: str, tcp: dict[str, Any]) -> tuple[Goodput, float]:
    """Goodput over a chain, and acknowledgements per segment."""
    scenario = chappe.Scenario(
        {
            "extends": [*network.preset, preset],
            "run": {"stop": "18 s", "batches": 6, "warmup_batches": 1},
            "topology.hops": hops,
            "routing.protocol": "shortest_path",
            "tcp": {"congestion_control": sender, **tcp},
            **network.settings,
        }
    )
    flows = [chappe.run(scenario, seed=seed).flows for seed in SEEDS]
    goodput = Estimate.of([float(of_run["goodput_bps"].item()) / 1e6 for of_run in flows])
    acks, segments = (sum(of_run[n].item() for of_run in flows) for n in ("tcp_acks_received", "packets_delivered"))
    return Goodput(goodput.mean, goodput.half_width()), acks / segments


class Difference(NamedTuple):
    """Relative difference from the kernel, and half of its interval, in which both means are uncertain."""

    value: float
    half: float

    @classmethod
    def of(cls, ours: Goodput, kernel: Goodput) -> "Difference":
        """The difference of our goodput."""
        ratio = ours.mean / kernel.mean
        return cls(ratio - 1, math.hypot(ours.half, ratio * kernel.half) / kernel.mean)

    def __str__(self) -> str:
        return f"{100 * self.value:+.1f} ± {100 * self.half:.1f} %"


def through_nfqueue() -> tuple[list[str], str]:
    """The table of the kernel through NFQUEUE, and what it shows."""
    table = [
        "| radio | hops | sender | kernel | `linux`, small queues as of any device | difference |",
        "|---|---|---|---|---|---|",
    ]
    differences = {}
    for network in NETWORKS:
        for sender, by_hops in network.by_nfqueue.items():
            for hops, kernel in by_hops.items():
                goodput, _ = runs(network, sender, hops, "linux", BY_NFQUEUE)
                difference = Difference.of(goodput, kernel)
                differences[f"{SENDERS[sender]} over {hops} hop{'s' * (hops > 1)} of {network.name}"] = difference
                cells = [network.name, str(hops), SENDERS[sender], str(kernel), str(goodput), str(difference)]
                table.append(f"| {' | '.join(cells)} |")
                print(table[-1], flush=True)
    outside = {place: d for place, d in differences.items() if abs(d.value) > WITHIN_NFQUEUE}
    said = f"{len(differences) - len(outside)} of {len(differences)} are within {100 * WITHIN_NFQUEUE:.0f} %"
    return table, "; ".join([said, *(f"{place} differs by {100 * d.value:+.0f} %" for place, d in outside.items())])


def page() -> str:
    """The page."""
    table = [
        "| radio | hops | sender | kernel | `linux-tun` | difference | ACKs | with `tcp.gro` | difference | ACKs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    differences: dict[bool, list[Difference]] = {False: [], True: []}
    for network in NETWORKS:
        for sender, by_hops in network.kernel.items():
            for hops, kernel in by_hops.items():
                cells = [network.name, str(hops), SENDERS[sender], str(kernel)]
                for gro in (False, True)[: 1 + network.has_aggregates]:
                    goodput, acks = runs(network, sender, hops, "linux-tun", {"gro": gro})
                    differences[gro].append(Difference.of(goodput, kernel))
                    cells += [str(goodput), str(differences[gro][-1]), f"{acks:.2f}"]
                table.append(f"| {' | '.join([*cells, *['-'] * (10 - len(cells))])} |")
                print(table[-1], flush=True)
    own = differences[False]
    within, certain = (sum(abs(d.value) + half <= WITHIN for d, half in zip(own, halves, strict=True))
                       for halves in ([0.0] * len(own), [d.half for d in own]))  # fmt: skip
    aggregates = {gro: of_gro[-len(differences[True]) :] for gro, of_gro in differences.items()}
    spans = {gro: f"{100 * min(d.value for d in of):+.1f} to {100 * max(d.value for d in of):+.1f} %"
             for gro, of in aggregates.items()}  # fmt: skip
    answer = (
        f"**{within} of {len(own)} mean goodputs of Chappe lie within {100 * WITHIN:.0f} % of those of a Linux kernel "
        f"over the same radios, {certain} with their whole intervals; the largest difference is "
        f"{100 * max((d.value for d in own), key=abs):+.2f} %.** Over 802.11n the differences are {spans[False]} with "
        f"the preset, and {spans[True]} with `tcp.gro`."
    )
    driver = NETWORKS[1]._replace(settings={"wlan.edca.held_airtime": "10 ms"})
    bbr, _ = runs(driver, "bbr", 3, "linux-tun", {})
    qos = NETWORKS[1]._replace(settings={**NETWORKS[1].settings, "wlan.header_size": "30 B"})
    far, _ = runs(qos, "bbr", 7, "linux-tun", {})
    method = (
        "A kernel of Linux 6.18 sent through the radios of Chappe in real time: iperf3 over TUN devices, 15 s after 3 "
        "s, one segment per packet (`gso_max_segs 1`), 5 or 6 runs. Chappe's own senders have the preset `linux-tun` "
        f"over the same chains, {len(SEEDS)} runs of 15 s after 3 s. The table has goodput \\[Mbit/s\\] and "
        "differences with intervals of 95 %, and acknowledgements per segment; over 802.11n, on the right, with "
        "`tcp.gro`, which joins nothing where frames arrive singly. No setting was adapted to the goodput of the "
        "kernel. Its record names neither the basic rate of 802.11b nor the routes: `2 Mbit/s` and `shortest_path` "
        "were chosen because with them Chappe repeats the goodput of its own senders in that record, within 1.2 %. "
        "Nodes of 802.11n hold 128 packets there, whatever their airtime. With the 10 ms of a driver of Linux "
        f"(`wlan.edca.held_airtime`, preset `linux`) the difference of BBR over 3 hops is "
        f"{Difference.of(bbr, driver.kernel['bbr'][3])}. MAC headers have the 28 B of the sender's preset, which is "
        "read last and with which those numbers are repeated; with the 30 B of QoS stations BBR over 7 hops differs by "
        f"{Difference.of(far, qos.kernel['bbr'][7])}. "
        "`python reproductions/experiments/techniques/kernel_over_radios.py` writes this page."
    )
    acks_of_kernel = (
        "Over 802.11n the kernel sent 0.17 to 0.26 acknowledgements per segment. Chappe sends more without `tcp.gro`. "
        "With it CUBIC sends fewer, and BBR as many over one hop, and more over 3 and 7, where its aggregates are "
        "short. A TUN device has no receive offload unless a program opens it with `IFF_NAPI`, so the preset has none. "
        "But a kernel also joins segments while the application reads (`tcp_add_backlog`): as many as arrive "
        "meanwhile, which depends on the speed of the host. Chappe does not model this."
    )
    cubic, _ = runs(driver, "cubic", 1, "linux", BY_NFQUEUE)
    nfqueue, said = through_nfqueue()
    answer += f" Of a kernel with small queues, through NFQUEUE, {said}."
    small = (
        "Through NFQUEUE the network holds each packet of a program on the node until its radio has sent it. TCP small "
        "queues then work, by the rule of a device that is no Wi-Fi device: 1/1024 s of the pacing rate, where "
        "mac80211 sets 1/128 s. The kernel had 4 runs of each kind. CUBIC over one hop of 802.11n is an open case of "
        "that record, too, which found the small queue refilled 50 to 150 us late. Chappe refills it at once, and no "
        f"setting delays this; with the driver's 10 ms it has {cubic} Mbit/s."
    )
    paragraphs = [textwrap.fill(p, 118, break_long_words=False, break_on_hyphens=False)
                  for p in (answer, method, acks_of_kernel, small)]  # fmt: skip
    head = ["# A Linux kernel over the same radios", "", paragraphs[0], "", paragraphs[1], ""]
    rest = ["", paragraphs[2], "", "## With small queues", "", paragraphs[3], "", *nfqueue]
    return "\n".join([*head, *table, *rest]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
