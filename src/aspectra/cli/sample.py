"""aspectra sample: write the embedded sample, to try the commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show


def command(
    folder: Annotated[Path, typer.Argument(help="Folder to write reviews.csv, dev.jsonl and test.jsonl to.")],
    reviews: Annotated[int, typer.Option(help="How many reviews.", min=1)] = 3000,
    seed: Annotated[int, typer.Option(help="Same seed, same reviews.", min=0)] = 0,
    quiet: show.Quiet = False,
) -> None:
    """Write a sample: made-up reviews of coffee machines with gold labels."""
    from aspectra.sample import generate, write

    paths = write(folder, generate(reviews, seed=seed))
    show.note("Wrote " + ", ".join(map(str, paths)) + ".", quiet)
