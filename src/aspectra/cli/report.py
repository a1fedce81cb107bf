"""aspectra report: labels as a page, pictures and tables for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show

STAGE_LABELS = {
    "read": "Reading labels",
    "model": "Loading the run",
    "count": "Counting",
    "evidence": "Choosing segments",
    "write": "Drawing",
}


def command(
    run: show.Run,
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS", help="The file that aspectra label wrote: .parquet, .csv or .jsonl."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, ending in .html.")],
    png: Annotated[Path | None, typer.Option(help="Folder to write the pictures to, too.")] = None,
    xlsx: Annotated[Path | None, typer.Option(help="File to write the tables to, too.")] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Carried column to compare by, such as product; found by itself if it has such a name."
        ),
    ] = None,
    date_column: Annotated[
        str | None, typer.Option(help="Carried column with the dates; found by itself if its name says so.")
    ] = None,
    rating_column: Annotated[
        str | None, typer.Option(help="Carried column with the ratings; found by itself if its name says so.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help='JSONL file of gold segments, to say how many labels are right: {"text": "…", "aspects": ["Image"]}'
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Another label file, to compare with: of other reviews, or of the same by another run."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    quiet: show.Quiet = False,
) -> None:
    """Write a report of labels: what is said, what changed, what is new, with examples; one HTML file that needs no network."""
    from aspectra.report.build import build
    from aspectra.report.content import Request
    from aspectra.report.labels import Roles
    from aspectra.report.words import headlines
    from aspectra.report.write import check_outputs, write_report

    check_outputs(output, png, xlsx)
    request = Request(Roles(date_column, rating_column, by), title, gold, against)
    with show.stages(STAGE_LABELS, quiet) as progress:
        content = build(run, labels, request, progress)
        progress("write", 0)
        write_report(content, output, png, xlsx)
        progress("write", 1)
    for line in (*content.notes, *headlines(content)):
        show.note(line, quiet)
    show.note(f"Wrote {', '.join(str(path) for path in (output, png, xlsx) if path)}.", quiet)
