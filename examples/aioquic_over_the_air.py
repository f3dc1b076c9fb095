"""Puts QUIC of the library aioquic, which is pure Python, on the simulated air: a client sends over three hops.

Client and server are objects of the library, which takes the time as an argument. This program hands them the datagrams
that arrive, sends what they have to send, and calls them when their timers expire, and at no other time.

Times of the run are whole nanoseconds, those of the library floating-point seconds. Instants of timers are rounded up:
rounded down, the run would reach them before the library does, and both would wait for each other.

Random numbers come from the seed of the run where the library takes them from `os.urandom`: connection IDs, tokens,
randoms of TLS. Keys are made by OpenSSL, which takes no seed: contents of packets differ from run to run, but not their
sizes and times, because the certificate has a key of Ed25519, whose signatures are equally long.

python examples/aioquic_over_the_air.py [FOLDER]   table is written to FOLDER (default: results/aioquic_over_the_air)
"""

import datetime
import importlib.metadata
import math
import random
import sys
from pathlib import Path
from unittest.mock import patch

import chappe
import polars as pl
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import HandshakeCompleted, StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HOPS = 3
SECONDS = 10
STACK = f"aioquic {importlib.metadata.version('aioquic')}"
FILE = 20_000_000
"""Bytes of a file that is longer than the run."""
ADDRESS = ("10.0.0.1", 4433)
"""Address of the other end, which has no meaning here."""


class Peer:
    """One end of a connection at an endpoint of the run."""

    def __init__(self, connection: QuicConnection, endpoint: chappe.Endpoint):
        self.connection = connection
        self.endpoint = endpoint
        self.sent: list[bytes] = []
        self.bytes_read = 0
        self.connected_at_ns: int | None = None

    def on_datagram(self, data: bytes, now_ns: int) -> None:
        """A datagram has arrived."""
        self.connection.receive_datagram(data, ADDRESS, now_ns / 1e9)

    def on_timer(self, now_ns: int) -> None:
        """The timer has expired."""
        due = self.connection.get_timer()
        if due is not None and due <= now_ns / 1e9:
            self.connection.handle_timer(now_ns / 1e9)

    def act(self, now_ns: int) -> None:
        """Reads what has happened, sends what is to be sent, and sets the timer."""
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, HandshakeCompleted):
                self.connected_at_ns = now_ns
            elif isinstance(event, StreamDataReceived):
                self.bytes_read += len(event.data)
        for data, _ in self.connection.datagrams_to_send(now_ns / 1e9):
            # The network carries sizes: what a datagram contains stays here, and its tag is its place.
            self.endpoint.send(len(data), tag=len(self.sent))
            self.sent.append(data)
        due = self.connection.get_timer()
        self.endpoint.wake(None if due is None else nanoseconds(due))


def nanoseconds(seconds: float) -> int:
    """The first whole nanosecond at which the library sees that an instant has come."""
    ns = math.ceil(seconds * 1e9)
    return ns if ns / 1e9 >= seconds else ns + 1


def certificate() -> tuple[x509.Certificate, Ed25519PrivateKey]:
    """A certificate of the server, signed by itself."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    # The library compares it with the clock of the computer.
    begin = datetime.datetime(2020, 1, 1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(begin).not_valid_after(begin.replace(year=2120))
    return builder.sign(key, None), key


def connect(sim: chappe.Simulation) -> tuple[Peer, Peer]:
    """A client at the first node, which begins its handshake, and a server at the last one."""
    asked = QuicConfiguration(is_client=True, server_name="server", verify_mode=0)  # nobody attacks
    client = QuicConnection(configuration=asked)
    client.connect(ADDRESS, now=0.0)
    answering = QuicConfiguration(is_client=False)
    answering.certificate, answering.private_key = certificate()
    first = client.original_destination_connection_id
    server = QuicConnection(configuration=answering, original_destination_connection_id=first)
    return Peer(client, sim.endpoint(0)), Peer(server, sim.endpoint(HOPS))


def main(folder: Path) -> None:
    """Drives a run and prints what the connection has reached."""
    flows = [{"src": 0, "dst": HOPS, "app": "external"}, {"src": HOPS, "dst": 0, "app": "external"}]
    changes = {"flow": flows, "run.batches": 1, "run.warmup_batches": 0}
    scenario = chappe.Scenario.chain(HOPS, changes, stop=f"{SECONDS} s")
    rows = []
    with patch("os.urandom", random.Random(1).randbytes), chappe.start(scenario, seed=1) as sim:
        client, server = connect(sim)
        peers = {0: client, HOPS: server}
        client.act(0)
        for event in sim.events():
            if event.kind == "wake":
                peer = peers[event.endpoint]
                peer.on_timer(event.at_ns)
            elif event.kind == "arrived" and not event.copy:
                peer = peers[event.endpoint]
                peer.on_datagram(peers[HOPS - event.endpoint].sent[event.tag], event.at_ns)
            else:
                continue
            peer.act(event.at_ns)
            if peer is client and client.connected_at_ns == event.at_ns:
                client.connection.send_stream_data(client.connection.get_next_available_stream_id(), bytes(FILE))
                client.act(event.at_ns)
            rows.append({"time_s": event.at_ns / 1e9, "bytes_read": server.bytes_read})
        results = sim.finish()
    data = results.flows.row(0, named=True)
    goodput = 8 * server.bytes_read / SECONDS / 1e3
    assert client.connected_at_ns is not None
    print(f"{STACK}, Reno over {HOPS} hops: goodput {goodput:,.0f} kbit/s, ", end="")
    print(f"handshake {client.connected_at_ns / 1e6:.1f} ms.")
    print(f"{data['packets_sent']:,} datagrams were sent by the client, {data['packets_delivered']:,} have arrived.")

    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_csv(folder / "read.csv")
    print(f"Written to {folder}: read.csv.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/aioquic_over_the_air"))
