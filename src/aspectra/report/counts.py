"""Labels → tallies of aspects and topics by group and period, and what follows from them: shares, trends, changes, contrasts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import polars as pl

from aspectra.config import GENERAL
from aspectra.report.change import Difference, changes, contrasts
from aspectra.report.content import Cells, Share
from aspectra.report.dates import period_name, period_start
from aspectra.report.labels import OTHERS, Labels
from aspectra.report.stats import FEW, Tally, share_interval, tally


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
        return (
            [f"{hidden:,} reviews are of a {unit} with fewer than {FEW} reviews, which is not drawn."]
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
        """Changes of aspects over time, in all reviews and within each group that has a name."""
        dated = self.aspects.at(slice(None), slice(0, len(self.periods)))
        groups = self.labels.groups
        n_named = sum(name != OTHERS for name in groups) if len(groups) > 1 else 0
        return tuple(changes(dated, self.labels.aspects, self.shown(), n_named))

    def topic_changes(self) -> dict[int, Difference]:
        """Return the change of each topic that has one, in all reviews."""
        dated = self.topics.at(slice(None), slice(0, len(self.periods))).merge(0).at(np.newaxis)
        names = [str(topic) for topic in range(dated.mentions.shape[-1])]
        return {int(change.name): change for change in changes(dated, names, self.shown(), 0)}

    def contrasts(self) -> tuple[Difference, ...]:
        found = contrasts(self.aspects.merge(1), self.labels.aspects)
        return tuple(contrast for contrast in found if self.labels.groups[contrast.at] != OTHERS)


def cells(counted: Tally, names: tuple[str, ...], starts: tuple[date, ...] = ()) -> Cells:
    return Cells(names, starts, counted.reviews[:, 0], counted.share, *share_interval(counted))
