"""Build a report: from a run and a label file to an HTML page and, if wanted, pictures and a workbook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.arguments import as_path, check_function, check_text
from aspectra.aspects.aspects import Aspect, aspects_of_run
from aspectra.aspects.sentences import find_products
from aspectra.config import GENERAL, NOT_REVIEW, UNMAPPED
from aspectra.disk import write_atomic
from aspectra.errors import InputError
from aspectra.progress import Progress, quiet
from aspectra.report.compare import compare
from aspectra.report.content import Content, Counts, EmergingTopic, Facts, SubAspect, find_felt
from aspectra.report.dates import period_name, period_start
from aspectra.report.evidence import choose_segments, topic_segments
from aspectra.report.html import to_html
from aspectra.report.pictures.charts import draw
from aspectra.report.pictures.vega import write_pictures
from aspectra.report.quality import assess, find_origin
from aspectra.report.read import ColumnNames, Labels, open_labels
from aspectra.report.stats import ratings, share_interval
from aspectra.report.wording import headlines
from aspectra.report.workbook import write_workbook
from aspectra.rundir import has_student, refuse_own_file
from aspectra.text.tokens import stop_words
from aspectra.topics import has_collapsed

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

LARGE = 0.01
"""A topic with this share of the segments is large enough to be an aspect."""
EVERYTHING = 1 / 3
"""One with a larger share speaks of everything: few reviews often have such a topic."""
MOST_EMERGING = 8
FEW_TOPICS = "The run was fitted on too few reviews for topics, so the report shows none."
READ_FOR_PRODUCTS = 20_000
"""Segments."""


def build_report(
    run: str | Path,
    labels: str | Path,
    output: str | Path,
    *,
    png: str | Path | None = None,
    xlsx: str | Path | None = None,
    by: str | None = None,
    date_column: str | None = None,
    rating_column: str | None = None,
    gold: str | Path | None = None,
    against: str | Path | None = None,
    title: str | None = None,
    progress: Progress = quiet,
) -> Content:
    """Write a report about labelled reviews as one HTML file; return its content, every number and sentence.

    It does what the command `aspectra report` does. Paths are text or `Path`.

    - `run`: the folder of the run that made the labels.
    - `labels`: the file that `aspectra label` wrote (.parquet, .csv or .jsonl).
    - `output`: the page to write, ending in .html.
    - `png`: also write the pictures, as PNG files into this folder.
    - `xlsx`: also write the tables, into this Excel file.
    - `by`: the column to compare by, such as "product". By default a column with such a name is used.
    - `date_column`: the column with the dates. By default a column with such a name is used.
    - `rating_column`: the column with the ratings. By default a column with such a name is used.
    - `gold`: JSON lines of segments with their right aspects, to measure how many labels are right.
    - `against`: another label file to compare with: of other reviews, or of the same ones by another run.
    - `title`: the title of the page.
    - `progress`: called as `progress(stage, done)`, where `done` goes from 0 to 1 in each of the stages
      "read", "model", "count", "evidence" and "write".
    """
    check_function(progress, "progress")
    for name, text in (("by", by), ("date_column", date_column), ("rating_column", rating_column)):
        check_text(text, name, optional=True)
    check_text(title, "title", optional=True)
    page, pictures, book = as_path(output, "output"), optional_path(png, "png"), optional_path(xlsx, "xlsx")
    check_outputs(page, pictures, book)
    columns = ColumnNames(date_column, rating_column, by)
    others = optional_path(gold, "gold"), optional_path(against, "against")
    paths = as_path(run, "run"), as_path(labels, "labels")
    content = build_content(*paths, columns, *others, title, progress)
    progress("write", 0)
    charts = draw(content)
    write_atomic(page, to_html(content, charts).encode())
    if pictures is not None:
        write_pictures(charts, pictures)
    if book is not None:
        write_workbook(content, book)
    progress("write", 1)
    return content


def optional_path(path: str | Path | None, name: str) -> Path | None:
    return None if path is None else as_path(path, name)


def check_outputs(page: Path, pictures: Path | None, workbook: Path | None) -> None:
    """Check the names of the outputs before any work is done."""
    if page.suffix != ".html" or page.is_dir():
        raise InputError(f"{page}: the report must be a file that ends in .html.")
    if workbook is not None and (workbook.suffix != ".xlsx" or workbook.is_dir()):
        raise InputError(f"{workbook}: the workbook must be a file that ends in .xlsx.")
    if pictures is not None and pictures.exists() and not pictures.is_dir():
        raise InputError(f"{pictures} is a file. Name a folder for the pictures.")
    for path in filter(None, (page, pictures, workbook)):
        refuse_own_file(path)


def build_content(
    run: Path,
    path: Path,
    columns: ColumnNames,
    gold: Path | None,
    against: Path | None,
    title: str | None,
    progress: Progress,
) -> Content:
    """Read, count and choose everything that the report shows."""
    progress("read", 0)
    labels = open_labels(path, columns)
    other = open_labels(against) if against else None
    progress("read", 1)
    progress("model", 0)
    from aspectra.detector import AspectDetector

    detector = AspectDetector.load(run)
    origin = find_origin(labels, detector, run if has_student(run) else None)
    progress("model", 1)
    progress("count", 0)
    counts = Counts.of(labels, len(detector.topics_.items))
    shares = counts.topics.merge(0).merge(0).share.tolist()
    quality = assess(labels, detector, run, origin, gold, shares)
    comparison = compare(labels, other) if other else None
    progress("count", 1)
    progress("evidence", 0)
    doubts = other.warnings if other else ()
    few = (FEW_TOPICS,) * has_collapsed(detector.topics_.items)
    notes = (
        *doubts,
        *labels.notes,
        *few,
        *([origin.note] if origin.note else []),
        *quality.notes,
        *counts.notes(),
    )
    said = [one for one in aspects_of_run(run) if one != Aspect(one.name)]
    content = Content(
        title=title or "What the reviews say", source=path.name, columns=labels.columns,
        aspects=labels.aspects, unit=labels.unit, notes=notes, facts=find_facts(labels),
        period_names=tuple(period_name(number, labels.unit) for number in counts.periods),
        period_starts=tuple(period_start(number, labels.unit) for number in counts.periods),
        shares=counts.shares(), subs=sub_aspects(labels, detector),
        ratings=ratings(labels.frame, labels.aspects), trend=counts.trend(), changes=counts.changes,
        group_trends=counts.group_trends(),
        groups=counts.by_group(), contrasts=counts.contrasts(), emerging=emerging(labels, detector, counts),
        keywords=aspect_keywords(detector, shares), segments=choose_segments(labels, detector),
        quality=quality, comparison=comparison, described=tuple(said), felt=find_felt(labels, counts),
        warnings=(*labels.warnings, *doubts),
    )  # fmt: skip
    progress("evidence", 1)
    return replace(content, headlines=headlines(content))


def find_facts(labels: Labels) -> Facts:
    frame = labels.frame
    rating = frame.group_by("review").agg(pl.col("rating").first())["rating"].mean()
    first, last = frame.select(first=pl.col("day").min(), last=pl.col("day").max()).row(0)
    known, specific, confidence = frame.select(
        known=(pl.col("known_words") > 0).mean(),
        specific=(pl.col("aspect").cast(pl.String) != GENERAL).mean(),
        confidence=pl.col("probability").mean(),
    ).row(0)
    mean_rating = None if rating is None else float(rating)  # type: ignore[arg-type]
    return Facts(
        frame["review"].n_unique(), len(frame), first, last, known, specific, confidence, mean_rating
    )


def sub_aspects(labels: Labels, detector: AspectDetector) -> tuple[SubAspect, ...]:
    """Return the mapped topics, the largest first; none if one topic has most segments."""
    if has_collapsed(detector.topics_.items):
        return ()
    led = labels.frame.group_by("aspect", "topic").len().drop_nulls()
    share = {(aspect, topic): n / len(labels.frame) for aspect, topic, n in led.iter_rows()}
    found = [
        SubAspect(choice.aspect, choice.topic, choice.keywords, share.get((choice.aspect, choice.topic), 0.0))
        for choice in detector.topic_map_.choices
        if choice.aspect and choice.aspect != NOT_REVIEW
    ]
    return tuple(sorted(found, key=lambda sub: -sub.share))


def aspect_keywords(
    detector: AspectDetector, shares: list[float], most: int = 12
) -> dict[str, tuple[str, ...]]:
    """Return each aspect's keywords: its topics give theirs in turn, the largest topic first."""
    result: dict[str, tuple[str, ...]] = {}
    for aspect in detector.classes_:
        topics = [choice for choice in detector.topic_map_.choices if aspect in choice.weights]
        topics = sorted(topics, key=lambda choice: -shares[choice.topic])
        in_turn = (
            choice.keywords[turn] for turn in range(10) for choice in topics if turn < len(choice.keywords)
        )
        result[aspect] = tuple(dict.fromkeys(in_turn))[:most]
    return result


def emerging(labels: Labels, detector: AspectDetector, counts: Counts) -> tuple[EmergingTopic, ...]:
    """Find topics outside the specific aspects that are large or growing, those that grew most first.

    They must be more coherent than the lowest quarter of the topics that are mapped to a specific aspect. A
    topic whose first keyword is what the reviews call the product is left out, and so is one that speaks of
    everything. If one topic has most segments, there are none.
    """
    if has_collapsed(detector.topics_.items):
        return ()
    pairs = list(zip(detector.topics_.items, detector.topic_map_.choices, strict=True))
    mapped = [item.coherence for item, choice in pairs if choice.aspect not in (None, GENERAL, NOT_REVIEW)]
    least = float(np.quantile(mapped, 0.25)) if mapped else 0.0
    whole = counts.topics.merge(0).merge(0)
    low, high = share_interval(whole)
    changes = counts.topic_changes()
    growing = {topic: change for topic, change in changes.items() if change.after > change.before}
    products = product_words(labels, detector.config.language)
    found = [
        item.id for item, choice in pairs
        if choice.aspect in (None, GENERAL) and item.coherence >= least and item.keywords[0] not in products
        and whole.share[item.id] <= EVERYTHING and (whole.share[item.id] >= LARGE or item.id in growing)
    ]  # fmt: skip
    growth = {topic: growing[topic].effect if topic in growing else 0 for topic in found}
    found = sorted(found, key=lambda topic: (-growth[topic], -whole.share[topic]))[:MOST_EMERGING]
    examples = topic_segments(labels, detector, found)
    return tuple(
        EmergingTopic(
            topic, pairs[topic][0].keywords, pairs[topic][1].aspect or UNMAPPED, float(whole.share[topic]),
            float(low[topic]), float(high[topic]), pairs[topic][0].coherence, growing.get(topic),
            examples.get(topic, []),
        )
        for topic in found
    )  # fmt: skip


def product_words(labels: Labels, language: str) -> list[str]:
    """Find what the reviews call the product, in some of the segments; "my dog" is no product."""
    step = max(1, len(labels.frame) // READ_FOR_PRODUCTS)
    some = labels.rows.filter(pl.col("row") % step == 0).select(
        pl.col("text").str.replace_all(r"(?i)\bmy\b", "a")
    )
    return find_products(labels.collect(some)["text"], labels.aspects, stop_words(language))
