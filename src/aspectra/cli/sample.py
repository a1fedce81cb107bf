"""aspectra sample: write reviews to try the commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show


def command(
    folder: Annotated[
        Path, typer.Argument(help="Folder for reviews.csv and the gold labels dev.jsonl and test.jsonl.")
    ],
    reviews: Annotated[int, typer.Option(help="Number of reviews.", min=1, max=1_000_000)] = 3000,
    seed: Annotated[int, typer.Option(help="Same seed, same reviews.", min=0)] = 0,
    quiet: show.Quiet = False,
) -> None:
    """Write invented reviews of coffee machines, to try it on."""
    from aspectra.sample import generate, write

    paths = write(folder, generate(reviews, seed=seed))
    show.note("Wrote " + ", ".join(map(str, paths)) + ".", quiet)
