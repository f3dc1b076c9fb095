"""Measures a transport protocol of your own: a window of datagrams that keeps the delay of a chain near a target.

The sender at node 0 increases its window by one datagram per round trip while acknowledgements come back sooner than
TARGET_MS, reduces it by 30 % when they come later, and halves it when one does not come within a second. The receiver
at node 3 acknowledges each datagram. Both are this program; the network carries their datagrams as any other.

python examples/own_transport.py [FOLDER]   table is written to FOLDER (default: results/own_transport)
"""

import sys
from pathlib import Path

import chappe
import polars as pl

HOPS = 3
SECONDS = 60
TARGET_MS = 80
PAYLOAD, ACK = 1200, 12
TIMEOUT_NS = 10**9


class Sender:
    """A window of datagrams, by additive increase and multiplicative decrease."""

    def __init__(self, endpoint: chappe.Endpoint):
        self.endpoint = endpoint
        self.window = 2.0
        self.under_way: dict[int, int] = {}  # tag: time of sending [ns]
        self.next = 0
        self.reduced_ns = 0

    def fill(self, now_ns: int) -> None:
        """Sends what the window allows, and sets the timer for the oldest datagram without acknowledgement."""
        while len(self.under_way) < int(self.window):
            self.endpoint.send(PAYLOAD, tag=self.next)
            self.under_way[self.next] = now_ns
            self.next += 1
        self.endpoint.wake(min(self.under_way.values()) + TIMEOUT_NS)

    def on_ack(self, tag: int, now_ns: int) -> None:
        """An acknowledgement has come."""
        sent_ns = self.under_way.pop(tag, None)
        if sent_ns is None:
            return  # it comes after the timeout
        if now_ns - sent_ns < TARGET_MS * 10**6:
            self.window += 1 / self.window
        else:
            self.reduce(0.7, sent_ns, now_ns)
        self.fill(now_ns)

    def on_timer(self, now_ns: int) -> None:
        """No acknowledgement has come for some datagrams."""
        for tag, sent_ns in list(self.under_way.items()):
            if now_ns - sent_ns >= TIMEOUT_NS:
                del self.under_way[tag]
                self.reduce(0.5, sent_ns, now_ns)
        self.fill(now_ns)

    def reduce(self, factor: float, sent_ns: int, now_ns: int) -> None:
        """Reduces the window, once per round trip."""
        if sent_ns >= self.reduced_ns:
            self.window = max(1.0, self.window * factor)
            self.reduced_ns = now_ns


def main(folder: Path) -> None:
    """Drives a run and prints what the protocol has reached."""
    flows = [{"src": 0, "dst": HOPS, "app": "external"}, {"src": HOPS, "dst": 0, "app": "external"}]
    changes = {"flow": flows, "run.batches": 1, "run.warmup_batches": 0}
    scenario = chappe.Scenario.chain(HOPS, changes, stop=f"{SECONDS} s")
    rows = []
    with chappe.start(scenario, seed=1) as sim:
        sender, receiver = Sender(sim.endpoint(0)), sim.endpoint(HOPS)
        sender.fill(0)
        for event in sim.events():
            if event.kind == "wake":
                sender.on_timer(event.at_ns)
            elif event.kind == "arrived" and not event.copy:
                if event.endpoint == HOPS:
                    receiver.send(ACK, tag=event.tag)
                else:
                    sender.on_ack(event.tag, event.at_ns)
                    rows.append({"time_s": event.at_ns / 1e9, "window": sender.window})
        results = sim.finish()
    data = results.flows.row(0, named=True)
    goodput, delay = data["goodput_bps"] / 1e3, 1e3 * data["mean_delay_s"]
    print(f"Goodput: {goodput:,.0f} kbit/s over {HOPS} hops, mean delay {delay:.1f} ms.")
    print(f"{data['packets_sent']:,} datagrams were sent, {data['packets_delivered']:,} have arrived.")

    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_csv(folder / "window.csv")
    print(f"Written to {folder}: window.csv.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/own_transport"))
