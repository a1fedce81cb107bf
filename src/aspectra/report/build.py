"""A run and a label file → `Content`: reads, counts and chooses all that the report shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.config import GENERAL
from aspectra.report.content import Content, Facts, Fresh, Request, SubAspect
from aspectra.report.counts import Counts
from aspectra.report.dates import period_name, period_start
from aspectra.report.labels import Labels, open_labels
from aspectra.report.stats import ratings, share_interval
from aspectra.topicmap.topicmap import UNMAPPED

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector
    from aspectra.progress import Progress

LARGE = 0.01
"""A topic with this share of the segments is large enough to be an aspect of its own."""
MOST_FRESH = 8


def build(run: Path, path: Path, request: Request, progress: Progress) -> Content:
    """Read, count and choose all that the report shows."""
    progress("read", 0)
    labels = open_labels(path, request.roles)
    other = open_labels(request.against) if request.against else None
    progress("read", 1)
    progress("model", 0)
    from aspectra.detector import AspectDetector
    from aspectra.report.compare import compare
    from aspectra.report.evidence import gather
    from aspectra.report.origin import check_origin
    from aspectra.report.quality import assess
    from aspectra.student.card import has_student

    detector = AspectDetector.load(run)
    origin = check_origin(labels, detector, has_student(run))
    progress("model", 1)
    progress("count", 0)
    counts = Counts.of(labels, len(detector.topics_.items))
    topic_shares = counts.topics.merge(0).merge(0).share.tolist()
    quality = assess(labels, detector, run, origin, request.gold, topic_shares)
    comparison = compare(labels, other) if other else None
    progress("count", 1)
    progress("evidence", 0)
    notes = (*labels.notes, *([origin.note] if origin.note else []), *counts.notes())
    content = Content(
        title=request.title or "What the reviews say", source=path.name, roles=labels.roles,
        aspects=labels.aspects, unit=labels.unit, notes=notes, facts=facts(labels),
        period_names=tuple(period_name(number, labels.unit) for number in counts.periods),
        period_starts=tuple(period_start(number, labels.unit) for number in counts.periods),
        shares=counts.shares(), subs=sub_aspects(labels, detector), ratings=ratings(labels.frame, labels.aspects),
        trend=counts.trend(), changes=counts.changes, group_trends=counts.group_trends(), groups=counts.by_group(),
        contrasts=counts.contrasts(),
        fresh=fresh(labels, detector, counts), keywords=keywords(detector, topic_shares), segments=gather(labels, detector),
        quality=quality, comparison=comparison,
    )  # fmt: skip
    progress("evidence", 1)
    return content


def facts(labels: Labels) -> Facts:
    frame = labels.frame
    rating = frame.group_by("review").agg(pl.col("rating").first())["rating"].mean()
    first, last = frame.select(first=pl.col("day").min(), last=pl.col("day").max()).row(0)
    known, specific, confidence = frame.select(
        known=(pl.col("known_words") > 0).mean(), specific=(pl.col("aspect").cast(pl.String) != GENERAL).mean(),
        confidence=pl.col("probability").mean(),
    ).row(0)  # fmt: skip
    stars = None if rating is None else float(rating)  # type: ignore[arg-type]
    return Facts(frame["review"].n_unique(), len(frame), first, last, known, specific, confidence, stars)


def sub_aspects(labels: Labels, detector: AspectDetector) -> tuple[SubAspect, ...]:
    led = labels.frame.group_by("aspect", "topic").len().drop_nulls()
    count = {(aspect, topic): n for aspect, topic, n in led.iter_rows()}
    result = [
        SubAspect(
            choice.aspect,
            choice.topic,
            choice.keywords,
            count.get((choice.aspect, choice.topic), 0) / len(labels.frame),
        )
        for choice in detector.topic_map_.choices
        if choice.aspect
    ]
    return tuple(sorted(result, key=lambda sub: -sub.share))


def keywords(detector: AspectDetector, shares: list[float], most: int = 12) -> dict[str, tuple[str, ...]]:
    """Return for each aspect the keywords of its topics, taken in turn, the largest topic's first."""
    result: dict[str, tuple[str, ...]] = {}
    for aspect in detector.classes_:
        topics = sorted(
            (c for c in detector.topic_map_.choices if c.aspect == aspect),
            key=lambda choice: -shares[choice.topic],
        )
        turns = (
            choice.keywords[turn] for turn in range(10) for choice in topics if turn < len(choice.keywords)
        )
        result[aspect] = tuple(dict.fromkeys(turns))[:most]
    return result


def fresh(labels: Labels, detector: AspectDetector, counts: Counts) -> tuple[Fresh, ...]:
    """Find topics of no specific aspect that are as coherent as most of those that are, and large or growing."""
    from aspectra.report.evidence import topic_segments

    items, choices = detector.topics_.items, detector.topic_map_.choices
    listed = [
        item.coherence
        for item, choice in zip(items, choices, strict=True)
        if choice.aspect not in (None, GENERAL)
    ]
    least = float(np.quantile(listed or [item.coherence for item in items], 0.25))
    whole = counts.topics.merge(0).merge(0)
    low, high = share_interval(whole)
    growing = {
        topic: change for topic, change in counts.topic_changes().items() if change.after > change.before
    }
    found = [
        choice.topic
        for item, choice in zip(items, choices, strict=True)
        if choice.aspect in (None, GENERAL)
        and item.coherence >= least
        and (whole.share[item.id] >= LARGE or item.id in growing)
    ]
    found = sorted(
        found, key=lambda topic: (-growing[topic].effect if topic in growing else 0, -whole.share[topic])
    )[:MOST_FRESH]
    examples = topic_segments(labels, detector, found)
    return tuple(
        Fresh(topic, items[topic].keywords, choices[topic].aspect or UNMAPPED, float(whole.share[topic]), float(low[topic]),
              float(high[topic]), items[topic].coherence, growing.get(topic), examples.get(topic, []))
        for topic in found
    )  # fmt: skip
