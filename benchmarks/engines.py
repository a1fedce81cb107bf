"""Label many files on this machine and on Ray, and compare seconds, memory and bytes.

    python benchmarks/engines.py RUN --home FOLDER

Segments of the run's corpus, repeated, are written to files of 100,000 rows. The teacher labels them with
each engine in turn. Peak memory is that of the command with all its processes (Linux).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from aspectra import rundir
from aspectra.bench.processes import measured_with_children
from aspectra.rundir import checksum

SIZES = [1_000_000, 5_000_000]
ENGINES = ["local", "ray"]


def make_files(run: Path, folder: Path, segments: int, each: int) -> None:
    """Write files of `each` rows with one segment per row; the corpus is repeated as often as needed."""
    texts = pl.read_parquet(run / rundir.SEGMENTS, columns=["text"])["text"]
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(segments // each):
        rows = np.arange(number * each, (number + 1) * each)
        frame = pl.DataFrame({"id": rows, "text": texts.gather(rows % len(texts))})
        frame.write_parquet(folder / f"part-{number:04}.parquet")


def label(run: Path, inputs: Path, output: Path, engine: str) -> tuple[float, float, dict[str, str]]:
    """Label a folder; return seconds, peak memory in GB and the checksums of what was written."""
    shutil.rmtree(output, ignore_errors=True)
    words = f"label {run} {inputs} -o {output}/ --model teacher --engine {engine} --quiet"
    seconds, peak = measured_with_children(words.split())
    return seconds, peak, {path.name: checksum(path) for path in sorted(output.glob("*.parquet"))}


def main(
    run: Annotated[Path, typer.Argument(help="A mapped run.")],
    home: Annotated[Path, typer.Option(help="Folder for inputs and outputs.")],
    size: Annotated[list[int], typer.Option(help="How many segments; give it several times.")] = SIZES,
    engine: Annotated[list[str], typer.Option(help="local or ray; give it several times.")] = ENGINES,
    each: Annotated[int, typer.Option(help="Rows in a file.")] = 100_000,
) -> None:
    """Print a table row for each engine and size."""
    print(f"Load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print(
        "| engine | rows | seconds | rows/s | peak memory, all processes |\n|---|---|---|---|---|", flush=True
    )
    equal = True
    for rows in size:
        inputs = home / f"in-{rows}"
        make_files(run, inputs, rows, each)
        written = []
        for one in engine:
            seconds, peak, sums = label(run, inputs, home / f"out-{one}-{rows}", one)
            print(f"| {one} | {rows:,} | {seconds:.0f} | {rows / seconds:,.0f} | {peak:.2f} GB |", flush=True)
            written.append(sums)
        equal = equal and len(written[0]) == rows // each and all(sums == written[0] for sums in written)
    print(f"\nThe engines wrote the same bytes: {equal}. Load average after: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    typer.run(main)
