"""Fetches a file over QUIC of the library aioquic, between two nodes of a live run.

Nothing here knows of Chappe: the sockets are those of the machine.

python examples/live/quic_file.py serve        answers with files of the wanted size, until it is ended
python examples/live/quic_file.py fetch HOST   fetches 1 MB from HOST, and prints the goodput
"""

import asyncio
import datetime
import sys
import time

from aioquic.asyncio.client import connect
from aioquic.asyncio.server import serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PORT = 4433
SIZE = 1_000_000
"""Size of the file [B]."""


def identified() -> QuicConfiguration:
    """Configuration of a server with a certificate that it has signed itself."""
    configuration = QuicConfiguration(is_client=False)
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    configuration.certificate, configuration.private_key = builder.sign(key, None), key
    return configuration


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends as many bytes as are asked for."""
    writer.write(bytes(int(await reader.read())))
    writer.write_eof()


def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Begins an answer."""
    task = asyncio.ensure_future(answer(reader, writer))
    answers.add(task)
    task.add_done_callback(answers.discard)


answers: set["asyncio.Future[None]"] = set()
"""Answers that are being sent."""


async def run_server() -> None:
    """Serves until the process is ended."""
    await serve("::", PORT, configuration=identified(), stream_handler=handle)
    await asyncio.Event().wait()


async def fetch(host: str) -> None:
    """Fetches a file, and prints how fast it came."""
    # Nobody attacks in a network of one's own.
    configuration = QuicConfiguration(is_client=True, verify_mode=0)
    begin = time.monotonic()
    async with connect(host, PORT, configuration=configuration) as connection:
        connected = time.monotonic()
        reader, writer = await connection.create_stream()
        writer.write(str(SIZE).encode())
        writer.write_eof()
        size = len(await reader.read())
        end = time.monotonic()
    print(f"Connected after {1e3 * (connected - begin):.0f} ms.")
    print(f"{size:,} B in {end - connected:.2f} s: {8e-3 * size / (end - connected):,.0f} kbit/s.")


if __name__ == "__main__":
    asyncio.run(run_server() if sys.argv[1:] == ["serve"] else fetch(sys.argv[2]))
