"""Follows one packet: a file transfer over seven hops, and a segment that is lost on the path.

python examples/follow_a_packet.py [FOLDER]  tables and figure are written to FOLDER (default: results/follow_a_packet)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot


def main(folder: Path) -> None:
    """Records frames and packets, and follows the first segment that was given up in the middle of the chain."""
    scenario = chappe.Scenario.chain(
        7, {"tcp.receive_window": 32, "run.record": ["frames", "packets"]}, stop="1100 delivered", extends="ns2-2.35"
    )
    results = chappe.run(scenario, seed=1, out=folder)
    packets, frames = results.recorded["packets"], results.recorded["frames"]

    lost = packets.filter(pl.col("node") > 2, packet_type="tcp_data", drop_reason="retry_limit").row(0, named=True)
    number, node = lost["packet"], lost["node"]
    life = packets.filter(packet=number)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True):
        print(f"Packet {number}, segment {lost['sequence']} of flow {lost['flow']}, from creation to loss:")
        print(life.select("time_s", "node", "event", "next_hop", "drop_reason", "retry_cause"))

        # The MAC of the last node retried; its RTS frames have no packet number.
        taken = life.filter(node=node, event="dequeued")["time_s"][-1]
        tries = frames.filter(pl.col("time_s").is_between(taken, lost["time_s"]), src=node, frame_type="rts")
        print(f"The last attempts of node {node}, and their outcome at the receiver:")
        print(tries.select("time_s", "dst", "frame_type", "outcome"))

    why = (
        packets.filter(event="dropped")
        .group_by("packet_type", "drop_reason", "retry_cause", maintain_order=True)
        .len("packets")
    )
    print("All packets that were dropped:")
    print(why)
    results.save(folder)
    plot.save(results.plot("air", from_s=taken, until_s=lost["time_s"]), folder, "air")
    print(f"Written to {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/follow_a_packet"))
