"""Measure the first call of a process over https, and how long it blocks the event loop.

Run as `python -m measure.speed.first_call PYTHON`. It starts new processes of `first_call_process` in interleaved
rounds. It makes a certificate with openssl, which the clients trust beside the authorities of certifi.
"""

import asyncio
import json
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .data import make_data, stored
from .report import Spread
from .run import PROJECT
from .workloads import DEFAULT, FAST, HTTPX

ROUNDS = 15
_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
_NAMES = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key with its certificate; return that file, and a file of the authorities that clients trust."""
    import certifi

    pair, trusted = folder / "pair.pem", folder / "trusted.pem"
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", *_KEY, *_NAMES, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    pair.write_bytes(key.read_bytes() + certificate.read_bytes())
    trusted.write_bytes(Path(certifi.where()).read_bytes() + certificate.read_bytes())
    return pair, trusted


async def measure(python: str) -> dict[str, list[tuple[float, float, float]]]:
    """Start the server and the clients, one new process after the other."""
    body = stored("account")
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + body)
        await reader.read()
        writer.close()

    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in (HTTPX, DEFAULT, FAST)}
    with tempfile.TemporaryDirectory() as folder:
        pair, trusted = certificate(Path(folder))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair)
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
            address = f"https://localhost:{server.sockets[0].getsockname()[1]}"
            for number in range(ROUNDS + 1):
                for name, found in figures.items():
                    times = await first_call(python, name, address, trusted)
                    if number:
                        found.append(times)
    return figures


async def first_call(python: str, name: str, address: str, trusted: Path) -> tuple[float, float, float]:
    """Return elapsed and processor seconds of the first call of a new process, and the longest block of the loop."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "measure.speed.first_call_process", name, address),
        stdout=asyncio.subprocess.PIPE,
        cwd=PROJECT,
        env=os.environ | {"SSL_CERT_FILE": str(trusted)},
    )
    output, _ = await process.communicate()
    if process.returncode:
        raise SystemExit(f"{name} ended with status {process.returncode}")
    elapsed, processor, longest = json.loads(output)
    return elapsed, processor, longest


def lines(python: str) -> list[str]:
    """Measure in rounds and return milliseconds and ratios."""
    make_data()
    figures = asyncio.run(measure(python))
    output = ["client and first call over https, imported before, against httpx: median [quartiles] (bar 1)"]
    for name, found in figures.items():
        times = zip(("elapsed", "processor"), zip(*found, strict=True), zip(*figures[HTTPX], strict=True), strict=False)
        for what, ours, theirs in times:
            ratios = Spread.of([own / base for own, base in zip(ours, theirs, strict=True)])
            output.append(f"  {name:<16}{what:<10}{statistics.median(ours) * 1e3:>7.1f} ms  {ratios}")
        output.append(
            f"  {name:<16}{'longest block of the loop':<26}{statistics.median(f[2] for f in found) * 1e3:.1f} ms"
        )
    return output


if __name__ == "__main__":
    print("\n".join(lines(sys.argv[1])))
