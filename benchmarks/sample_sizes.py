"""Quality by the number of segments that a fit learns from.

    python benchmarks/sample_sizes.py --data FOLDER --home runs/sizes --figures docs/figures

Every fit reads the whole corpus and keeps so many segments. Topics are mapped by dev, and test is scored
once, by the benchmark's protocol. Finished scores are kept in `--home`. With --figures, the curve is drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from aspectra.bench.figures import COLOURS, plotting, save
from aspectra.bench.runner import Cell, run_cells
from aspectra.bench.systems.ours import TeacherSystem

SIZES = [25_000, 50_000, 100_000, 200_000, 400_000, 2_000_000]
METRICS = {"f1_micro": "micro F1", "f1_macro": "macro F1"}
Values = dict[str, dict[int, list[float]]]  # metric -> size -> one value per seed, in percent


def measure(name: str, data: Path | None, home: Path, sizes: list[int], seeds: int) -> Values:
    """Score the teacher on test for every size and seed."""
    cells = [
        Cell(name, TeacherSystem(settings={"max_segments": size}), seed, f"{size} segments")
        for size in sizes
        for seed in range(seeds)
    ]
    outcomes = run_cells(cells, data, home, 1, lambda progress: None)
    failed = [one.error for one in outcomes if one.error]
    if failed:
        raise SystemExit(f"A fit failed: {failed[0]}")
    tests = [one.values["test"] for one in outcomes]
    return {
        metric: {
            size: [100 * test[metric] for test in tests[place * seeds : (place + 1) * seeds]]
            for place, size in enumerate(sizes)
        }
        for metric in METRICS
    }


def draw(values: Values, folder: Path) -> None:
    """Draw the mean over seeds against the size, and every seed as a point."""
    figure, panel = plotting().subplots(figsize=(6, 3.4), layout="constrained")
    for (name, by_size), colour in zip(values.items(), COLOURS, strict=False):
        means = [np.mean(seeds) for seeds in by_size.values()]
        panel.plot(list(by_size), means, "-o", color=colour, label=f"{METRICS[name]}, mean")
        for size, seeds in by_size.items():
            panel.scatter([size] * len(seeds), seeds, s=10, color=colour, alpha=0.5)
    panel.set(xscale="log", xlabel="segments in the sample", ylabel="F1 on test, %")
    panel.legend()
    save(figure, folder, "sample-size")


def main(
    home: Annotated[Path, typer.Option(help="Folder for fits and finished scores.")],
    data: Annotated[Path | None, typer.Option(help="Folder with the published sets.")] = None,
    name: Annotated[str, typer.Option("--set", help="The set to measure on.")] = "tv",
    seeds: Annotated[int, typer.Option(help="Seeds for each size.")] = 2,
    size: Annotated[list[int], typer.Option(help="How many segments; give it several times.")] = SIZES,
    figures: Annotated[Path | None, typer.Option(help="Folder for the figure.")] = None,
) -> None:
    """Print a table row for each size."""
    values = measure(name, data, home, size, seeds)
    print(f"| segments ({seeds} seeds) | {' | '.join(METRICS.values())} |\n|---{'|---' * len(METRICS)}|")
    for one in size:
        found = [by_size[one] for by_size in values.values()]
        cells = [f"{np.mean(seeds):.1f} ({', '.join(f'{value:.1f}' for value in seeds)})" for seeds in found]
        print(f"| {one:,} | {' | '.join(cells)} |")
    if figures:
        figures.mkdir(parents=True, exist_ok=True)
        draw(values, figures)


if __name__ == "__main__":
    typer.run(main)
