"""aspectra label: a row a segment, streamed from file to file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from aspectra.detector import AspectDetector
    from aspectra.text.read import Source


def command(
    run: show.Run,
    files: show.Inputs,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .parquet, .csv or .jsonl.")],
    text_column: show.TextColumn = None,
    id_column: show.IdColumn = None,
    encoding: show.Encoding = "utf-8",
    quiet: show.Quiet = False,
) -> None:
    """Label every segment of every review with an aspect, confidence and evidence; other columns are carried through."""
    from aspectra.text.write import check_output, write_frames

    check_output(output)
    source = show.open_source(files, text_column, id_column, encoding, quiet)
    if output.resolve() in [path.resolve() for path in source.paths]:
        raise InputError(f"{output} is also an input. Choose another -o.")
    from aspectra.detector import AspectDetector

    detector = AspectDetector.load(run)
    with show.counter("Labelling:", quiet) as count:
        rows = write_frames(labelled(detector, source, count), output)
    for line in source.skipped.summary():
        show.note(line, quiet)
    show.note(f"Wrote {rows:,} segments to {output}.", quiet)


def free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"input_{name}"
    return name


def labelled(detector: AspectDetector, source: Source, count: Callable[[int], None]) -> Iterator[pl.DataFrame]:
    """Label batch by batch; carried columns come first, named input_… where ours have the same name."""
    import polars as pl

    reviews = 0
    for frame in source.batches():
        labels = detector.label(frame[source.text_column])
        carried = frame.drop(source.text_column)
        if source.id_column:
            carried = carried.select(source.id_column, pl.exclude(source.id_column))
        taken = {*labels.columns, *carried.columns}
        carried = carried.rename({name: free_name(name, taken) for name in carried.columns if name in labels.columns})
        yield carried[labels["review"]].hstack(labels.with_columns(pl.col("review") + reviews))
        reviews += len(frame)
        count(len(labels))
