"""Labelling many files here and on Ray: python -m aspectra.bench.engines RUN --home folder

Segments of the run's corpus, repeated, in a file for every 100,000; the teacher labels them into a folder with each engine in turn. Prints
seconds, segments/s and the peak memory of the command's process, and whether the engines wrote the same bytes.
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
from aspectra.bench.speed import measured
from aspectra.rundir import checksum

EACH = 100_000


def make_files(run: Path, folder: Path, segments: int) -> None:
    """Write files of 100,000 rows of one segment; the corpus is repeated as often as needed."""
    texts = pl.read_parquet(run / rundir.SEGMENTS, columns=["text"])["text"]
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(segments // EACH):
        rows = np.arange(number * EACH, (number + 1) * EACH)
        frame = pl.DataFrame({"id": rows, "text": texts.gather(rows % len(texts))})
        frame.write_parquet(folder / f"part-{number:04}.parquet")


def label(run: Path, inputs: Path, output: Path, engine: str) -> tuple[float, float, dict[str, str]]:
    """Label a folder; return seconds, peak memory in GB and the checksums of what was written."""
    shutil.rmtree(output, ignore_errors=True)
    words = ["label", str(run), str(inputs), "-o", f"{output}/", "--model", "teacher", "--engine", engine, "--quiet"]
    seconds, peak = measured(words)
    return seconds, peak, {path.name: checksum(path) for path in sorted(output.glob("*.parquet"))}


def main(
    run: Annotated[Path, typer.Argument(help="A mapped run.")],
    home: Annotated[Path, typer.Option(help="Folder for inputs and outputs.")],
    segments: Annotated[int, typer.Option(help="Segments for both engines.")] = 1_000_000,
    more: Annotated[int, typer.Option(help="Segments to label here once more, for memory; 0 skips it.")] = 5_000_000,
) -> None:
    """Print a table row for each engine and size."""
    print(f"Load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print("| engine | rows | seconds | rows/s | peak memory of the command |\n|---|---|---|---|---|", flush=True)
    written = []
    for engine, rows in (("local", segments), ("ray", segments), ("local", more)):
        if rows:
            make_files(run, home / f"in-{rows}", rows)
            seconds, peak, sums = label(run, home / f"in-{rows}", home / f"out-{engine}-{rows}", engine)
            print(f"| {engine} | {rows:,} | {seconds:.0f} | {rows / seconds:,.0f} | {peak:.2f} GB |", flush=True)
            written.append(sums)
    print(f"\nThe engines wrote the same bytes: {written[0] == written[1]}. Load average after: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    typer.run(main)
