"""Quality by the size of the sample that a fit learns from: python -m aspectra.bench.sizes --data folder --home runs/sizes

Every fit of TVs reads the whole corpus and keeps so many segments; topics are mapped by dev, and test is scored once. Prints a table
and, with --figures, draws the curve. Fits are kept and resumed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from aspectra.bench.figures import COLOURS, plotting, save
from aspectra.bench.sets import SETS, BenchmarkSet
from aspectra.detector import AspectDetector
from aspectra.evaluate import Scores, score

SIZES = (25_000, 50_000, 100_000, 200_000, 400_000, 2_000_000)
SCORES = {"f1_micro": "micro F1", "f1_macro": "macro F1"}


def run_seed(bench: BenchmarkSet, data: Path, run: Path, config: dict[str, int]) -> Scores:
    detector = AspectDetector(**bench.config(**config).to_dict()).fit(bench.reviews(data), run=run)
    detector.suggest_map(dev=bench.read_dev(bench.files(data, bench.dev)))
    gold = bench.read_test(bench.files(data, bench.test))
    predicted = detector.label_segments(gold.texts)["aspect"].to_list()
    return score(gold.aspects, predicted, tuple(detector.classes_))


def draw(scores: dict[str, dict[int, list[float]]], folder: Path) -> None:
    """Draw the mean over seeds against the size, and every seed as a point; `scores` are those of each kind, size and seed."""
    figure, panel = plotting().subplots(figsize=(6, 3.4), layout="constrained")
    for (name, values), colour in zip(scores.items(), COLOURS, strict=False):
        panel.plot(
            list(values),
            [np.mean(one) for one in values.values()],
            "-o",
            color=colour,
            label=f"{SCORES[name]}, mean",
        )
        for size, one in values.items():
            panel.scatter([size] * len(one), one, s=10, color=colour, alpha=0.5)
    panel.set(xscale="log", xlabel="segments in the sample", ylabel="F1 on test, %")
    panel.legend()
    save(figure, folder, "sample-size")


def main(
    data: Annotated[Path, typer.Option(help="Folder with the published sets.")],
    home: Annotated[Path, typer.Option(help="Folder for the fits.")],
    seeds: Annotated[int, typer.Option(help="Seeds for each size.")] = 2,
    size: Annotated[list[int], typer.Option(help="Sizes to measure.")] = list(SIZES),  # noqa: B006
    figures: Annotated[Path | None, typer.Option(help="Folder for the figure.")] = None,
) -> None:
    """Print a table row for each size."""
    bench = SETS["tv"]
    print(
        f"| segments ({seeds} seeds) | "
        + " | ".join(SCORES.values())
        + " |\n|---"
        + "|---" * len(SCORES)
        + "|",
        flush=True,
    )
    scores: dict[str, dict[int, list[float]]] = {name: {} for name in SCORES}
    for most in size:
        made = [
            run_seed(bench, data, home / f"{most}-{seed}", {"max_segments": most, "seed": seed})
            for seed in range(seeds)
        ]
        cells = []
        for name, found in scores.items():
            values = found[most] = [100 * getattr(report, name) for report in made]
            cells.append(f"{np.mean(values):.1f} ({', '.join(f'{value:.1f}' for value in values)})")
        print(f"| {most:,} | " + " | ".join(cells) + " |", flush=True)
    if figures:
        figures.mkdir(parents=True, exist_ok=True)
        draw(scores, figures)


if __name__ == "__main__":
    typer.run(main)
