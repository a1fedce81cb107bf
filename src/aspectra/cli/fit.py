"""aspectra fit: discover topics in reviews."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aspectra import rundir
from aspectra.cli import show
from aspectra.cli.settings import with_settings
from aspectra.config import FitConfig
from aspectra.errors import quantity, typed

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

STAGE_LABELS = {
    "prepare": "Preparing segments",
    "vectors": "Learning word vectors",
    "teacher": "Discovering topics",
    "topics": "Describing topics",
    "sentiment": "Learning sentiment",
}


@with_settings(FitConfig)
def command(
    files: show.Inputs,
    run: Annotated[
        Path,
        typer.Option("--run", "-o", help="Folder for the result; an unfinished fit there is continued."),
    ],
    text_column: show.TextColumn = None,
    rating_column: Annotated[
        str | None,
        typer.Option(help="Column with ratings, to learn sentiment from. By default one with such a name."),
    ] = None,
    encoding: show.Encoding = "utf-8",
    skip_duplicates: show.SkipDuplicates = False,
    quiet: show.Quiet = False,
    **settings: Any,
) -> None:
    """Discover topics in reviews, without labels."""
    config = FitConfig(**settings)
    source = show.open_source(files, text_column, None, encoding, quiet, skip_duplicates)
    with show.stages(STAGE_LABELS, quiet) as progress:
        from aspectra.detector import AspectDetector

        detector = AspectDetector(**config.to_dict()).fit(
            source, run=run, ratings=rating_column, progress=progress
        )
    if rundir.inputs_of(run) != files:
        rundir.write_json(run / rundir.INPUTS, files)
    for line in source.skipped.summary():
        show.note(line)  # also with --quiet: rows are missing from the result
    for line in source.repeats.summary(skip_duplicates):
        show.note(line, quiet)
    for line in summary(detector, run):
        show.note(line, quiet)


def summary(detector: AspectDetector, run: Path) -> Iterator[str]:
    """Say what a fit learnt from and what it left out, and what to type next."""
    from aspectra.text.code import count_foreign
    from aspectra.topics import note_on_collapse

    corpus, topics = detector.corpus_, detector.topics_.items
    junk = corpus.segments.filter("junk")["text"]
    foreign = count_foreign(junk)
    if len(corpus.segments) < corpus.seen:
        yield f"Learnt from a random sample of the {corpus.seen:,} segments; raise --max-segments for more."
    yield from detector.fitted_.felt().notes()
    if len(junk) > foreign:
        yield f"{quantity(len(junk) - foreign, 'segment')} of pasted code or markup left out."
    yield from note_on_collapse(topics)
    yield (
        f"{corpus.segments['review'].n_unique():,} reviews, {len(corpus.segments):,} segments"
        + (f" ({foreign:,} in another language, left out of training), " if foreign else ", ")
        + f"{len(corpus.vocabulary):,} words, {len(topics)} topics.\n"
        f"See them: aspectra topics {typed(run)}\n"
        f"Next, with your own aspects: aspectra map {typed(run)} --aspects {show.example_names(detector)}\n"
        f"Or map on a page: aspectra map {typed(run)} --page"
    )
