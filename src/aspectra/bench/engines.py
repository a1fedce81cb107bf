"""Labelling many files here and on Ray: python -m aspectra.bench.engines RUN --home folder

Segments of the run's corpus, repeated, in a file for every 100,000; the teacher labels them into a folder with each engine in turn. Prints
seconds, rows/s and the peak memory of the command with all its processes (Linux), and whether the engines wrote the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from aspectra import rundir
from aspectra.bench.speed import ASPECTRA
from aspectra.rundir import checksum

EACH = 100_000
PAUSE = 0.25
"""Seconds between two looks at the memory."""

SIZES = [1_000_000, 5_000_000]


def make_files(run: Path, folder: Path, segments: int) -> None:
    """Write files of 100,000 rows of one segment; the corpus is repeated as often as needed."""
    texts = pl.read_parquet(run / rundir.SEGMENTS, columns=["text"])["text"]
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(segments // EACH):
        rows = np.arange(number * EACH, (number + 1) * EACH)
        frame = pl.DataFrame({"id": rows, "text": texts.gather(rows % len(texts))})
        frame.write_parquet(folder / f"part-{number:04}.parquet")


def measured_with_children(arguments: list[str]) -> tuple[float, float]:
    """Run `aspectra …`; return its seconds and the largest memory in GB of it and all it started, shared pages counted once."""
    began, peak = time.perf_counter(), 0
    with subprocess.Popen([*ASPECTRA, *arguments]) as process:
        while process.poll() is None:
            peak = max(peak, sum(map(memory, family(process.pid))))
            time.sleep(PAUSE)
    if process.returncode:
        raise SystemExit(f"aspectra {' '.join(arguments)} failed.")
    return time.perf_counter() - began, peak / 1e9


def family(first: int) -> list[int]:
    """Return a process and all that descend from it."""
    children = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children[parent].append(int(folder.name))
    found = [first]
    for process in found:  # grows meanwhile
        found += children[process]
    return found


def memory(process: int) -> int:
    """Return a process's share of the memory in bytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def label(run: Path, inputs: Path, output: Path, engine: str) -> tuple[float, float, dict[str, str]]:
    """Label a folder; return seconds, peak memory in GB and the checksums of what was written."""
    shutil.rmtree(output, ignore_errors=True)
    words = [
        "label",
        str(run),
        str(inputs),
        "-o",
        f"{output}/",
        "--model",
        "teacher",
        "--engine",
        engine,
        "--quiet",
    ]
    seconds, peak = measured_with_children(words)
    return seconds, peak, {path.name: checksum(path) for path in sorted(output.glob("*.parquet"))}


def main(
    run: Annotated[Path, typer.Argument(help="A mapped run.")],
    home: Annotated[Path, typer.Option(help="Folder for inputs and outputs.")],
    size: Annotated[list[int], typer.Option(help="How many segments; give it several times.")] = SIZES,
) -> None:
    """Print a table row for each engine and size."""
    print(f"Load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print(
        "| engine | rows | seconds | rows/s | peak memory, all processes |\n|---|---|---|---|---|", flush=True
    )
    equal = True
    for rows in size:
        make_files(run, home / f"in-{rows}", rows)
        written = []
        for engine in ("local", "ray"):
            seconds, peak, sums = label(run, home / f"in-{rows}", home / f"out-{engine}-{rows}", engine)
            print(
                f"| {engine} | {rows:,} | {seconds:.0f} | {rows / seconds:,.0f} | {peak:.2f} GB |", flush=True
            )
            written.append(sums)
        equal = equal and len(written[0]) == rows // EACH and written[0] == written[1]
    print(f"\nThe engines wrote the same bytes: {equal}. Load average after: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    typer.run(main)
