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
    png: Annotated[Path | None, typer.Option(help="Also write the pictures, into this folder.")] = None,
    xlsx: Annotated[Path | None, typer.Option(help="Also write the tables, into this Excel file.")] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Column to compare by, such as product. By default a column with such a name."),
    ] = None,
    date_column: Annotated[
        str | None, typer.Option(help="Column with the dates. By default a column with such a name.")
    ] = None,
    rating_column: Annotated[
        str | None, typer.Option(help="Column with the ratings. By default a column with such a name.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="JSONL file of gold segments, to measure how many labels are right: "
            '{"text": "…", "aspects": ["Image"]}'
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Another label file to compare with: of other reviews, or of the same ones by another run."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    quiet: show.Quiet = False,
) -> None:
    """Write a report about labels as one HTML file.

    It shows what reviews say, what changed and what is new.
    """
    from aspectra.report import build_report

    with show.stages(STAGE_LABELS, quiet) as progress:
        content = build_report(
            run, labels, output, png=png, xlsx=xlsx, by=by, date_column=date_column,
            rating_column=rating_column, gold=gold, against=against, title=title, progress=progress,
        )  # fmt: skip
    for line in (*content.notes, *content.headlines):
        show.note(line, quiet and line not in content.warnings)
    show.note(f"Wrote {', '.join(str(path) for path in (output, png, xlsx) if path)}.", quiet)
