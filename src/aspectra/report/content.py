"""A run and a label file → `Content`: every number, sentence's ground and segment of the report, before anything is drawn.

Page, pictures and workbook are all made from this, so that they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.config import GENERAL
from aspectra.mapping.topicmap import UNMAPPED
from aspectra.report.change import Difference, changes, contrasts
from aspectra.report.dates import period_name, period_start
from aspectra.report.labels import NO_ROLES, OTHERS, Labels, Roles, open_labels
from aspectra.report.stats import FEW, Rating, Tally, ratings, share_interval, tally

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector
    from aspectra.fitting import Progress
    from aspectra.mapping.evidence import Pieces
    from aspectra.report.compare import Comparison
    from aspectra.report.evidence import Segment
    from aspectra.report.quality import Quality

LARGE = 0.01
"""A topic with this share of the segments is large enough to be an aspect of its own."""
MOST_FRESH = 8


@dataclass(frozen=True)
class Facts:
    """`known` is the share of segments with a known word, `specific` of those with an aspect other than General."""

    reviews: int
    segments: int
    first: date | None
    last: date | None
    known: float
    specific: float
    confidence: float
    rating: float | None


@dataclass(frozen=True)
class Share:
    """Of the segments, with its interval; `reviews` is the share of reviews that mention it at least once."""

    name: str
    segments: int
    share: float
    low: float
    high: float
    reviews: float


@dataclass(frozen=True)
class Cells:
    """Shares in periods or groups × aspects, with intervals; `reviews` counts those of each period or group."""

    names: tuple[str, ...]
    starts: tuple[date, ...]  # of periods; empty for groups
    reviews: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class SubAspect:
    """A topic under its aspect: the share of all segments that it leads and that got the aspect."""

    aspect: str
    topic: int
    keywords: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Fresh:
    """A coherent topic that is on nobody's list, large or growing."""

    topic: int
    keywords: tuple[str, ...]
    mapped: str
    share: float
    low: float
    high: float
    coherence: float
    growth: Difference | None
    examples: list[Pieces]


@dataclass(frozen=True)
class Content:
    title: str
    source: str
    roles: Roles
    aspects: tuple[str, ...]  # in the order of the cells' columns
    unit: str
    period_names: tuple[str, ...]
    period_starts: tuple[date, ...]
    notes: tuple[str, ...]
    facts: Facts
    shares: tuple[Share, ...]
    subs: tuple[SubAspect, ...]
    ratings: tuple[Rating, ...]
    trend: Cells | None
    changes: tuple[Difference, ...]
    groups: Cells | None
    contrasts: tuple[Difference, ...]
    fresh: tuple[Fresh, ...]
    keywords: dict[str, tuple[str, ...]]
    segments: tuple[Segment, ...]
    quality: Quality
    comparison: Comparison | None


@dataclass(frozen=True)
class Request:
    """What the report is asked to hold beside the labels."""

    roles: Roles = NO_ROLES
    title: str | None = None
    gold: Path | None = None
    against: Path | None = None


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
    from aspectra.student.labelling import has_student

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
        title=request.title or f"What the reviews say: {path.stem}", source=path.name, roles=labels.roles,
        aspects=labels.aspects, unit=labels.unit, notes=notes, facts=facts(labels),
        period_names=tuple(period_name(number, labels.unit) for number in counts.periods),
        period_starts=tuple(period_start(number, labels.unit) for number in counts.periods),
        shares=counts.shares(), subs=sub_aspects(labels, detector), ratings=ratings(labels.frame, labels.aspects),
        trend=counts.trend(), changes=counts.changes(), groups=counts.by_group(), contrasts=counts.contrasts(),
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


@dataclass(frozen=True)
class Counts:
    """Tallies of aspects and of topics: groups × (periods + 1, the last without a date) × classes."""

    labels: Labels
    periods: tuple[int, ...]
    aspects: Tally
    topics: Tally

    @classmethod
    def of(cls, labels: Labels, n_topics: int) -> Counts:
        frame = labels.frame.with_columns(code=pl.col("aspect").to_physical())
        periods = tuple(sorted(frame["period"].drop_nulls().unique()))
        n_groups = max(1, len(labels.groups))
        aspects = tally(frame, "code", len(labels.aspects), n_groups, periods)
        return cls(labels, periods, aspects, tally(frame, "topic", n_topics, n_groups, periods))

    def shown(self) -> list[int]:
        """Return the places of periods with enough reviews to be shown."""
        reviews = self.aspects.merge(0).reviews[: len(self.periods), 0]
        return [place for place, n in enumerate(reviews) if n >= FEW]

    def notes(self) -> list[str]:
        reviews = self.aspects.merge(0).reviews[: len(self.periods), 0]
        hidden = int(reviews[reviews < FEW].sum())
        unit = self.labels.unit
        return [f"{hidden:,} reviews are of a {unit} with fewer than {FEW} reviews, which is not drawn."] if hidden else []

    def shares(self) -> tuple[Share, ...]:
        whole = self.aspects.merge(0).merge(0)
        low, high = share_interval(whole)
        reviews = dict(self.labels.frame.group_by("aspect").agg(pl.col("review").n_unique()).iter_rows())
        result = [
            Share(name, int(whole.mentions[at]), float(whole.share[at]), float(low[at]), float(high[at]),
                  reviews.get(name, 0) / float(whole.reviews[0]))
            for at, name in enumerate(self.labels.aspects)
        ]  # fmt: skip
        return tuple(sorted(result, key=lambda share: (share.name == GENERAL, -share.share)))

    def trend(self) -> Cells | None:
        shown = self.shown()
        if len(shown) < 2:
            return None
        numbers = [self.periods[place] for place in shown]
        unit = self.labels.unit
        return cells(
            self.aspects.merge(0).at(shown),
            tuple(period_name(number, unit) for number in numbers),
            tuple(period_start(number, unit) for number in numbers),
        )

    def by_group(self) -> Cells | None:
        return cells(self.aspects.merge(1), self.labels.groups) if len(self.labels.groups) > 1 else None

    def changes(self, topics: bool = False) -> tuple[Difference, ...]:
        """Find changes over time of all and within named groups; of topics only over all."""
        counted, names = (self.topics, range(self.topics.mentions.shape[-1])) if topics else (self.aspects, self.labels.aspects)
        dated = counted.at(slice(None), slice(0, len(self.periods)))
        if topics:
            dated = dated.merge(0).at(np.newaxis)
        elif self.labels.groups[-1:] == (OTHERS,):
            return tuple(changes(dated, list(map(str, names)), self.shown(), dated.mentions.shape[0] - 1))
        return tuple(changes(dated, list(map(str, names)), self.shown(), dated.mentions.shape[0]))

    def contrasts(self) -> tuple[Difference, ...]:
        found = contrasts(self.aspects.merge(1), self.labels.aspects)
        return tuple(contrast for contrast in found if self.labels.groups[contrast.at] != OTHERS)


def cells(counted: Tally, names: tuple[str, ...], starts: tuple[date, ...] = ()) -> Cells:
    return Cells(names, starts, counted.reviews[:, 0], counted.share, *share_interval(counted))


def sub_aspects(labels: Labels, detector: AspectDetector) -> tuple[SubAspect, ...]:
    led = labels.frame.group_by("aspect", "topic").len().drop_nulls()
    count = {(aspect, topic): n for aspect, topic, n in led.iter_rows()}
    result = [
        SubAspect(choice.aspect, choice.topic, choice.keywords, count.get((choice.aspect, choice.topic), 0) / len(labels.frame))
        for choice in detector.topic_map_.choices
        if choice.aspect
    ]
    return tuple(sorted(result, key=lambda sub: -sub.share))


def keywords(detector: AspectDetector, shares: list[float], most: int = 12) -> dict[str, tuple[str, ...]]:
    """Return for each aspect the keywords of its topics, taken in turn, the largest topic's first."""
    result: dict[str, tuple[str, ...]] = {}
    for aspect in detector.classes_:
        topics = sorted((c for c in detector.topic_map_.choices if c.aspect == aspect), key=lambda choice: -shares[choice.topic])
        turns = (choice.keywords[turn] for turn in range(10) for choice in topics if turn < len(choice.keywords))
        result[aspect] = tuple(dict.fromkeys(turns))[:most]
    return result


def fresh(labels: Labels, detector: AspectDetector, counts: Counts) -> tuple[Fresh, ...]:
    """Find topics of no specific aspect that are as coherent as most of those that are, and large or growing."""
    from aspectra.report.evidence import topic_segments

    items, choices = detector.topics_.items, detector.topic_map_.choices
    listed = [item.coherence for item, choice in zip(items, choices, strict=True) if choice.aspect not in (None, GENERAL)]
    least = float(np.quantile(listed or [item.coherence for item in items], 0.25))
    whole = counts.topics.merge(0).merge(0)
    low, high = share_interval(whole)
    growing = {int(change.name): change for change in counts.changes(topics=True) if change.after > change.before}
    found = [
        choice.topic
        for item, choice in zip(items, choices, strict=True)
        if choice.aspect in (None, GENERAL) and item.coherence >= least and (whole.share[item.id] >= LARGE or item.id in growing)
    ]
    found = sorted(found, key=lambda topic: (-growing[topic].effect if topic in growing else 0, -whole.share[topic]))[:MOST_FRESH]
    examples = topic_segments(labels, detector, found)
    return tuple(
        Fresh(topic, items[topic].keywords, choices[topic].aspect or UNMAPPED, float(whole.share[topic]), float(low[topic]),
              float(high[topic]), items[topic].coherence, growing.get(topic), examples.get(topic, []))
        for topic in found
    )  # fmt: skip
