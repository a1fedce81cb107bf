"""aspectra check: is a run whole, and if not, what to type."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from aspectra.cli import show


def command(
    run: show.Run,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    quiet: show.Quiet = False,
) -> None:
    """Check every file of a run and say what to do.

    It says what is missing, damaged, stale (made for another map) or foreign (of another run or version); the
    exit code is then 1. Nothing is changed.
    """
    from aspectra.checking import OK, check_run

    found = check_run(run)
    wrong = [one for one in found if one.wrong]
    if as_json:
        files = [asdict(one) for one in found]
        show.as_json({"run": str(run), "whole": not wrong, "files": files})
    else:
        for one in found:
            if one.wrong or not quiet:
                show.line(f"{one.state:<9} {one.name}" + (f"\n{'':<10}{one.message}" if one.message else ""))
        whole = sum(one.state == OK for one in found)
        show.note(f"{whole} files are complete." if not wrong else f"{len(wrong)} need attention.", quiet)
    if wrong:
        raise typer.Exit(1)
