"""Names alone on small piles of TV reviews: what a user with a few hundred reviews and no labels gets.

    python benchmarks/piles.py --data FOLDER --home runs/piles

Each pile is drawn at random from the set's corpus, fitted with the set's settings, and labelled by the
student that learnt from the aspects' names. Test is scored once, by the benchmark's protocol.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from aspectra.bench.protocol import Task
from aspectra.bench.runner import examine
from aspectra.bench.sets import SETS, find_set
from aspectra.bench.systems.names import LinearSystem
from aspectra.config import StudentConfig

SIZES = [300, 1_000, 10_000]
METRICS = ("f1_micro", "f1_macro")


def pile(name: str, data: Path, home: Path, size: int, seed: int) -> Task:
    """Draw so many reviews of a set's corpus; return the task with them as its corpus."""
    bench = find_set(name, data)
    path = (home / f"{name}-{size}-{seed}.jsonl").resolve()
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        texts = pl.concat(list(bench.reviews(data).texts())).drop_nulls()
        texts.sample(min(size, len(texts)), seed=seed).alias("text").to_frame().write_ndjson(path)
    return Task(replace(bench, name=f"{name}-{size}", corpus=(str(path),)), data, home, seed)


def main(
    data: Annotated[Path, typer.Option(help="Folder with the published sets.")],
    home: Annotated[Path, typer.Option(help="Folder for piles and fits.")],
    name: Annotated[str, typer.Option("--set", help="The set to draw from.")] = "tv",
    seeds: Annotated[int, typer.Option(help="Piles of each size.")] = 1,
    size: Annotated[list[int], typer.Option(help="How many reviews; give it several times.")] = SIZES,
    encoder: Annotated[str, typer.Option(help="The student's encoder.")] = StudentConfig.encoder,
) -> None:
    """Print a table row for each size."""
    system = LinearSystem(settings={"encoder": encoder})
    print(f"| {SETS[name].title}, reviews ({seeds} seeds) | micro / macro F1 |\n|---|---|")
    for one in size:
        found = [examine(system, pile(name, data, home, one, seed))["test"] for seed in range(seeds)]
        means = [100 * np.mean([values[metric] for values in found]) for metric in METRICS]
        print(f"| {one:,} | {means[0]:.1f} / {means[1]:.1f} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
