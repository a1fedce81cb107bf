"""aspectra update: new reviews into a run that keeps its topics."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra import rundir
from aspectra.cli import show
from aspectra.config import FitConfig
from aspectra.errors import quantity, typed
from aspectra.rundir import RunDir

if TYPE_CHECKING:
    from aspectra.updating import Update

STAGES = {"prepare": "Reading new reviews", "update": "Learning new words"}
SHOWN = 8
"""So many words of a list are shown."""


def command(
    run: show.Run,
    files: show.Inputs,
    text_column: show.TextColumn = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column that tells reviews apart; without it, reviews are compared by their texts."
        ),
    ] = None,
    encoding: show.Encoding = "utf-8",
    rare_words: Annotated[
        bool,
        typer.Option(
            "--rare-words",
            help="Learn also words that earlier segments have, too rarely until now. "
            "The labels of those segments may change.",
        ),
    ] = False,
    skip_duplicates: show.SkipDuplicates = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    quiet: show.Quiet = False,
) -> None:
    """Add new reviews to a run, which keeps its topics, map and student.

    It learns new words, and tells what is new, what is not covered, and when to fit again. Labels of earlier
    segments stay the same. Reviews that the run has seen are left out.
    """
    source = show.open_source(files, text_column, id_column, encoding, quiet or as_json, skip_duplicates)
    with show.stages(STAGES, quiet) as progress:
        from aspectra.updating import update

        found = update(run, source, rare_words=rare_words, progress=progress)
    for line in source.skipped.summary():
        show.note(line)  # also with --quiet: rows are missing from the run
    for line in found.notes:
        show.note(f"Note: {line}", quiet)
    if as_json:
        show.as_json(found.to_dict())
        return
    for line in told(found):
        show.line(line)
    if found.reviews:
        show.note("\n".join(what_next(run, files, found)), quiet)


def told(found: Update) -> Iterator[str]:
    """Say what was added and what is new in it."""
    seen = f"Reviews that were in the run already and are left out: {found.left_out:,}."
    if not found.reviews:
        yield seen
        yield (
            f"New words: {counted(found.words)}." if found.words else "Nothing is new; the run is unchanged."
        )
        return
    yield f"{quantity(found.reviews, 'review')}, {quantity(found.segments, 'segment')} added." + (
        f" {seen}" if found.left_out else ""
    )
    yield f"New words: {counted(found.words)}." if found.words else "No new words."
    if found.risen:
        yield f"More frequent than before: {', '.join(found.risen)}."
    before, now = found.without_words
    yield f"Segments without a known word: {now:.1%}, before {before:.1%}."
    if found.outside:
        before, now = found.outside
        yield f"Segments of unmapped topics: {now:.1%}, before {before:.1%}."
    for one in found.grown:
        state = f"Topic {one.topic} ({one.aspect or 'unmapped'}: {' '.join(one.keywords)})"
        yield f"{state} grew: {one.now:.1%}, before {one.before:.1%}."
    if found.rare:
        yield (
            f"Rare before, frequent now: {counted(found.rare)}. --rare-words learns them, too; the labels "
            "of earlier segments that have them may then change."
        )


def counted(words: Mapping[str, int]) -> str:
    """Write words with their counts, the most frequent first, and how many more there are."""
    shown = ", ".join(f"{word} ({count:,})" for word, count in list(words.items())[:SHOWN])
    return shown + (f" and {len(words) - SHOWN:,} more" if len(words) > SHOWN else "")


def what_next(run: Path, files: list[str], found: Update) -> Iterator[str]:
    """Say whether to fit again, and what to type."""
    if found.refit:
        from aspectra.updating import files_of

        new, home = f"{run}-new", RunDir(run)
        everything = list(dict.fromkeys(files_of(home))) or ["reviews.csv", *files]
        same = FitConfig.from_dict(home.config()).changed_options()
        yield f"Time to fit again: {' '.join(found.refit)}"
        words = [*map(typed, everything), "--run", typed(new), *map(shlex.quote, same)]
        yield f"  aspectra fit {' '.join(words)}"
        yield f"  aspectra map {typed(new)} --from {typed(run)}"
    else:
        yield "No need to fit again."
    mapped = (run / rundir.TOPIC_MAP).exists()
    label = f"aspectra label {' '.join([typed(run), *map(typed, files)])} -o labelled.csv"
    yield f"Next: {label if mapped else f'aspectra map {typed(run)}'}"
