"""aspectra watch: what changed between two label files, a line each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show

CHANGED = 3
"""The exit code of --fail-on-change: 1 and 2 are errors."""
LONGEST = 200


def command(
    run: show.Run,
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="Labels of the latest reviews, from aspectra label.")
    ],
    against: Annotated[Path, typer.Option(help="Labels to compare with, of earlier reviews.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with code 3 if something changed, for cron.")
    ] = False,
) -> None:
    """Tell what rose, fell, soured or appeared since.

    Each change has a line and three quotes. If nothing changed, it reports something in at most 1 of
    100 runs.
    """
    from aspectra.watch import compare_files

    changes, doubts = compare_files(run, new, against)
    for line in doubts:
        show.note(line)
    if as_json:
        show.as_json([one.to_dict() for one in changes])
    else:
        for one in changes:
            show.line(one.line())
            for quote in one.quotes:
                show.line(f"    “{quote[:LONGEST]}”")
    if changes and fail_on_change:
        raise typer.Exit(CHANGED)
