"""Quality by the size of the sample that a fit learns from: python -m aspectra.bench.sizes --data folder --home runs/sizes

Every fit of TVs reads the whole corpus and keeps so many segments; topics are mapped by dev, and test is scored once.
Fits are kept and resumed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from aspectra.bench.sets import SETS, BenchmarkSet
from aspectra.detector import AspectDetector
from aspectra.evaluate import Report, score

SIZES = (25_000, 50_000, 100_000, 200_000, 400_000, 0)
SCORES = ("f1_micro", "f1_macro")


def run_seed(bench: BenchmarkSet, data: Path, run: Path, config: dict[str, int]) -> Report:
    detector = AspectDetector(**bench.config(**config).to_dict()).fit(bench.reviews(data), run=run)
    detector.suggest_map(dev=bench.read_dev(bench.files(data, bench.dev)))
    gold = bench.read_test(bench.files(data, bench.test))
    predicted = detector.label_segments(gold.texts)["aspect"].to_list()
    return score(gold.aspects, predicted, tuple(detector.classes_))


def main(
    data: Annotated[Path, typer.Option(help="Folder with the published sets.")],
    home: Annotated[Path, typer.Option(help="Folder for the fits.")],
    seeds: Annotated[int, typer.Option(help="Seeds for each size.")] = 2,
    size: Annotated[list[int], typer.Option(help="Sizes to measure; 0 is all.")] = list(SIZES),  # noqa: B006
) -> None:
    """Print a table row for each size."""
    bench = next(one for one in SETS.values() if one.name == "tv")
    print(f"| segments ({seeds} seeds) | " + " | ".join(SCORES) + " |\n|---" + "|---" * len(SCORES) + "|", flush=True)
    for most in size:
        made = [run_seed(bench, data, home / f"{most}-{seed}", {"max_segments": most, "seed": seed}) for seed in range(seeds)]
        cells = []
        for name in SCORES:
            values = [100 * getattr(report, name) for report in made]
            cells.append(f"{np.mean(values):.1f} ({', '.join(f'{value:.1f}' for value in values)})")
        print(f"| {most or 'all'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    typer.run(main)
