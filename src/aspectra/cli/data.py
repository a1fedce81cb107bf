"""aspectra data: get the published sets that the benchmark reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show

app = typer.Typer(no_args_is_help=True, help="Get the published sets that the benchmark reads.")


@app.callback()
def about() -> None:
    """Get the published sets that the benchmark reads."""


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="oposum, citysearch or semeval.")],
    to: Annotated[
        Path, typer.Option(help="Data folder; the files go below it as the benchmark expects them.")
    ] = Path("data"),
    quiet: show.Quiet = False,
) -> None:
    """Fetch a set with checksums; where that cannot be, say what to do by hand."""
    from aspectra.bench import fetch

    files = [file.to for file in fetch.ORIGINS[name].files] if name in fetch.ORIGINS else []
    with show.stages({file: file for file in files}, quiet) as progress:
        paths = fetch.get(name, to, progress)
    show.note(f"{len(paths)} files in {to}, checksums right.", quiet)
