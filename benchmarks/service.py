"""How many requests the service answers, and how fast.

    python benchmarks/service.py RUN [--onnx student.onnx]

Starts `aspectra serve` as a process and sends it reviews of the run, one per request, from several
connections at once. Prints requests/s, median and 99th percentile. Then it sends more than a short queue
holds: the service answers 429 and goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from aspectra import rundir
from aspectra.bench.processes import ASPECTRA

CONNECTIONS = (1, 16, 256)
LONGEST = 5000
"""Characters of a review that are sent."""


@dataclass
class Load:
    """What came back: how often each status, and the seconds that each 200 took."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    def line(self, name: str, connections: int) -> str:
        p50, p99 = 1000 * np.percentile(self.took or [0], [50, 99])
        rate = self.statuses[200] / self.seconds
        others = [f"{count:,} × {status}" for status, count in sorted(self.statuses.items()) if status != 200]
        cells = (name, connections, f"{rate:,.0f}", f"{p50:.0f}", f"{p99:.0f}", ", ".join(others) or "none")
        return "| " + " | ".join(map(str, cells)) + " |"


@contextlib.contextmanager
def serving(*arguments: object) -> Iterator[int]:
    """Run `aspectra serve …` on a free port while the block lasts; yield the port."""
    command = [*ASPECTRA, "serve", *map(str, arguments), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            if not address:
                raise SystemExit("The service did not start.")
            yield int(address.rpartition(":")[2])
        finally:
            process.terminate()


def request_for(text: str) -> bytes:
    body = json.dumps({"texts": [text]}).encode()
    head = (
        "POST /label HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join([*head, "", ""]).encode() + body


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """Send a request and read its whole answer; return the status."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return int(head.split(b" ", 2)[1])


async def client(port: int, requests: Iterator[bytes], end: float, load: Load) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end:
        began = time.perf_counter()
        status = await ask(reader, writer, next(requests))
        load.statuses[status] += 1
        if status == 200:
            load.took.append(time.perf_counter() - began)
        else:
            await asyncio.sleep(0.01)
    writer.close()


async def measure(port: int, requests: list[bytes], connections: int, seconds: float) -> Load:
    load, turn, began = Load(), itertools.cycle(requests), time.perf_counter()
    await asyncio.gather(*(client(port, turn, began + seconds, load) for _ in range(connections)))
    load.seconds = time.perf_counter() - began
    return load


def reviews(run: Path, count: int = 2000) -> list[str]:
    """Return reviews of the run's corpus, joined again from their segments."""
    segments = pl.scan_parquet(run / rundir.SEGMENTS).filter(pl.col("review") < count)
    joined = segments.group_by("review", maintain_order=True).agg(pl.col("text").str.join(" ")).collect()
    return joined["text"].str.slice(0, LONGEST).to_list()


def main(
    run: Annotated[Path, typer.Argument(help="A mapped run; its reviews are what is sent.")],
    onnx: Annotated[Path | None, typer.Option(help="Measure this exported student too.")] = None,
    seconds: Annotated[float, typer.Option(help="How long each row lasts.")] = 10.0,
    workers: Annotated[int, typer.Option(help="Processes of the service.")] = 1,
) -> None:
    """Print a table of the service under load."""
    requests = [request_for(text) for text in reviews(run)]
    models = {
        "teacher": (run, "--model", "teacher"),
        **({"fast student": (run, "--model", "fast")} if rundir.has_fast(run) else {}),
        **({f"ONNX {onnx.stem}": ("--onnx", onnx)} if onnx else {}),
    }
    print(
        f"Load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; the sender shares them.\n"
    )
    print("| model | connections | requests/s | p50 ms | p99 ms | other answers |\n|---|---|---|---|---|---|")
    for name, model in models.items():
        with serving(*model, "--workers", workers) as port:
            asyncio.run(measure(port, requests, 16, min(seconds, 1.0)))  # to warm up
            for connections in CONNECTIONS:
                load = asyncio.run(measure(port, requests, connections, seconds))
                print(load.line(name, connections), flush=True)
        with serving(*model, "--queue", 16) as port:
            load = asyncio.run(measure(port, requests, 256, seconds))
            print(load.line(f"{name}, queue of 16", 256))
            load = asyncio.run(measure(port, requests, 1, seconds / 4))
            print(load.line(f"{name}, right after that", 1), flush=True)


if __name__ == "__main__":
    typer.run(main)
