"""aspectra fit: discover topics in reviews."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aspectra import rundir
from aspectra.cli import show
from aspectra.cli.settings import with_settings
from aspectra.config import FitConfig
from aspectra.errors import typed

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
        from aspectra.text.code import count_foreign

        detector = AspectDetector(**config.to_dict()).fit(
            source, run=run, ratings=rating_column, progress=progress
        )
    if rundir.inputs_of(run) != files:
        rundir.write_json(run / rundir.INPUTS, files)
    for line in source.skipped.summary():
        show.note(line)  # also with --quiet: rows are missing from the result
    for line in source.repeats.summary(skip_duplicates):
        show.note(line, quiet)
    corpus = detector.corpus_
    junk = corpus.segments.filter("junk")["text"]
    foreign = count_foreign(junk)
    code = len(junk) - foreign
    if len(corpus.segments) < corpus.seen:
        show.note(
            f"Learnt from a random sample of the {corpus.seen:,} segments; raise --max-segments for more.",
            quiet,
        )
    for line in detector.fitted_.felt().notes():
        show.note(line, quiet)
    if code:
        show.note(f"{code:,} segments of pasted code or markup left out.", quiet)
    show.note(
        f"{corpus.segments['review'].n_unique():,} reviews, {len(corpus.segments):,} segments"
        + (f" ({foreign:,} of them in another language, not trained on), " if foreign else ", ")
        + f"{len(corpus.vocabulary):,} words, {config.n_topics} topics.\n"
        f"See them: aspectra topics {typed(run)}\n"
        f"Next, with your own aspects: aspectra map {typed(run)} --aspects {show.example_names(detector)}\n"
        f"Or map on a page: aspectra map {typed(run)} --page",
        quiet,
    )
