"""`Content`: every number, sentence and segment of the report before it is drawn, and the counting for it.

Page, pictures and workbook are all made from one `Content`, so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.config import GENERAL
from aspectra.errors import quantity
from aspectra.report.compare import Comparison, Difference, find_changes, find_contrasts
from aspectra.report.dates import period_name, period_start
from aspectra.report.evidence import Segment
from aspectra.report.quality import Quality
from aspectra.report.read import OTHERS, ColumnNames, Labels
from aspectra.report.sentiment import (
    MIN_PERIOD,
    MIN_WITHIN,
    Felt,
    FeltCells,
    changes_of,
    drivers,
    feelings,
    felt_cells,
    felt_tally,
    worse_groups,
)
from aspectra.report.stats import MIN_REVIEWS, Rating, Tally, share_interval, tally

if TYPE_CHECKING:
    from aspectra.aspects.aspects import Aspect
    from aspectra.attention import Pieces


@dataclass(frozen=True)
class Facts:
    """The numbers at the top of the page.

    `known` is the share of segments with a known word, `specific` of those with an aspect other than General;
    `confidence` is the mean probability, `rating` the mean over reviews.
    """

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
    """An aspect's share of the segments with its interval; `reviews` is its share of the reviews."""

    name: str
    segments: int
    share: float
    low: float
    high: float
    reviews: float


@dataclass(frozen=True)
class Cells:
    """Shares in periods or groups × aspects, with intervals; `reviews` counts each period's or group's."""

    names: tuple[str, ...]
    starts: tuple[date, ...]  # of periods; empty for groups
    reviews: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class SubAspect:
    """A topic under its aspect: its share is of the segments where it leads and that got the aspect."""

    aspect: str
    topic: int
    keywords: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class EmergingTopic:
    """A coherent topic outside the specific aspects, large or growing; `mapped` is General or unmapped."""

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
    """All that a report says. `notes` and `headlines` are sentences; shares are fractions from 0 to 1.

    `warnings` are those of the notes that tell of wrong numbers.
    """

    title: str
    source: str
    columns: ColumnNames
    aspects: tuple[str, ...]  # in the order of the columns of `Cells`
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
    group_trends: dict[int, Cells]  # of the groups with a change
    groups: Cells | None
    contrasts: tuple[Difference, ...]
    emerging: tuple[EmergingTopic, ...]
    keywords: dict[str, tuple[str, ...]]
    segments: tuple[Segment, ...]
    quality: Quality
    comparison: Comparison | None
    described: tuple[Aspect, ...]  # those of which aspects.toml says more than the name
    felt: Felt | None = None
    headlines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counts:
    """How often aspects and topics occur, in groups × (periods + 1, the last without a date) × classes."""

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
        return [place for place, n in enumerate(reviews) if n >= MIN_REVIEWS]

    def notes(self) -> list[str]:
        reviews = self.aspects.merge(0).reviews[: len(self.periods), 0]
        hidden = int(reviews[reviews < MIN_REVIEWS].sum())
        unit = f"{self.labels.unit}s with fewer than {MIN_REVIEWS} reviews"
        are = "is" if hidden == 1 else "are"
        return (
            [f"{quantity(hidden, 'review')} {are} from {unit}; these {self.labels.unit}s are not drawn."]
            if hidden
            else []
        )

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
        return self.periodic(self.aspects.merge(0)) if len(self.shown()) > 1 else None

    def group_trends(self) -> dict[int, Cells]:
        changed = {change.group for change in self.changes if change.group is not None}
        return {group: self.periodic(self.aspects.at(group)) for group in sorted(changed)}

    def periodic(self, counted: Tally) -> Cells:
        """Take the shown periods in which there is a review."""
        shown = [place for place in self.shown() if counted.reviews[place, 0] > 0]
        numbers, unit = [self.periods[place] for place in shown], self.labels.unit
        names = tuple(period_name(number, unit) for number in numbers)
        return cells(counted.at(shown), names, tuple(period_start(number, unit) for number in numbers))

    def by_group(self) -> Cells | None:
        return cells(self.aspects.merge(1), self.labels.groups) if len(self.labels.groups) > 1 else None

    @cached_property
    def changes(self) -> tuple[Difference, ...]:
        """The changes of aspects over time, in all reviews and within each named group."""
        dated = self.aspects.at(slice(None), slice(0, len(self.periods)))
        return tuple(find_changes(dated, self.labels.aspects, self.shown(), count_named_groups(self.labels)))

    def topic_changes(self) -> dict[int, Difference]:
        """Return the change of each topic that has one, in all reviews."""
        dated = self.topics.at(slice(None), slice(0, len(self.periods))).merge(0).at(np.newaxis)
        names = [str(topic) for topic in range(dated.mentions.shape[-1])]
        return {int(change.name): change for change in find_changes(dated, names, self.shown(), 0)}

    def contrasts(self) -> tuple[Difference, ...]:
        found = find_contrasts(self.aspects.merge(1), self.labels.aspects)
        return tuple(contrast for contrast in found if self.labels.groups[contrast.at] != OTHERS)


def count_named_groups(labels: Labels) -> int:
    """Count the groups that have a name; none if there is only one."""
    return sum(name != OTHERS for name in labels.groups) if len(labels.groups) > 1 else 0


def find_felt(labels: Labels, counts: Counts) -> Felt | None:
    """Count feelings, if the labels have any."""
    if not labels.felt:
        return None
    periods = counts.periods
    counted = felt_tally(labels.frame, len(labels.aspects), max(1, len(labels.groups)), periods)
    shown = counts.shown()
    names = tuple(period_name(periods[place], labels.unit) for place in shown)
    starts = tuple(period_start(periods[place], labels.unit) for place in shown)
    changes = changes_of(counted, labels.aspects, shown, len(periods), count_named_groups(labels))

    def over_time(part: Tally, least: int) -> FeltCells | None:
        return felt_cells(part.at(shown), names, least, starts)

    changed = {change.group for change in changes if change.group is not None}
    within = {group: over_time(counted.at(group), MIN_WITHIN) for group in sorted(changed)}
    return Felt(
        feelings(labels.frame, counted, labels.aspects),
        felt_cells(counted.merge(1), labels.groups, MIN_REVIEWS),
        over_time(counted.merge(0), MIN_PERIOD),
        changes,
        drivers(labels.frame, labels.aspects),
        labels.rating_unit,
        tuple(
            one for one in worse_groups(counted.merge(1), labels.aspects) if labels.groups[one.at] != OTHERS
        ),
        {group: part for group, part in within.items() if part},
    )


def cells(counted: Tally, names: tuple[str, ...], starts: tuple[date, ...] = ()) -> Cells:
    return Cells(names, starts, counted.reviews[:, 0], counted.share, *share_interval(counted))
