"""What differs beyond chance: before and after a moment, a group and the others, two label files.

All differences of one kind are tested together: the intervals are wide enough for all of them to hold
(Bonferroni). A difference is claimed if its interval does not include zero, both sides have enough reviews,
and it is large enough to matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from aspectra.report.read import Labels
from aspectra.report.scan import IS_REVIEW
from aspectra.report.stats import MIN_REVIEWS, Tally, quantile, tally
from aspectra.scores import cohens_kappa

MIN_POINTS = 0.01
MIN_RATIO = 1.25
"""A difference matters if it is one point, or a quarter of the smaller share and MIN_ANY."""
MIN_ANY = 0.003
SAME_SEGMENT = ["review", "segment", "wording"]


@dataclass(frozen=True)
class Difference:
    """A class's share before and after a moment, or in all other groups (before) and in one group (after).

    `low` and `high` bound after − before. `at` is the place of the first period after, or of the group.
    `group` is None if the difference is over all reviews.
    """

    name: str
    before: float
    after: float
    low: float
    high: float
    at: int
    group: int | None = None

    @property
    def effect(self) -> float:
        """Return Cohen's h between `before` and the near end of the interval: how large it is at least."""
        certain = self.low if self.low > 0 else min(self.high, 0.0)
        return abs(angle(self.before + certain) - angle(self.before))


def angle(share: float) -> float:
    """Stretch shares for Cohen's h: from 1 to 4 % is as far as from 42 to 50 %."""
    return 2 * math.asin(math.sqrt(min(1.0, max(0.0, share))))


def large_enough(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    gap = np.abs(after - before)
    ratio = np.maximum(before, after) / np.maximum(np.minimum(before, after), 1e-9)
    return np.asarray((gap >= MIN_POINTS) | ((gap >= MIN_ANY) & (ratio >= MIN_RATIO)))


def difference_interval(
    one: Tally, two: Tally, comparisons: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the low and high ends of two − one, and whether it may be claimed. They share no review.

    A side with few mentions underestimates its variance, so the variance is at least that of independent
    segments at the common share.
    """
    gap = two.share - one.share
    common = (one.mentions + two.mentions) / np.maximum(one.segments + two.segments, 1)
    least = common * (1 - common)
    variance = sum(np.maximum(side.variance, least / np.maximum(side.segments, 1)) for side in (one, two))
    reach = quantile(comparisons) * np.sqrt(variance)
    enough = (one.reviews >= MIN_REVIEWS) & (two.reviews >= MIN_REVIEWS)
    enough = enough & (one.mentions + two.mentions >= MIN_REVIEWS)
    claimed = enough & (np.abs(gap) > reach) & (reach > 0) & large_enough(one.share, two.share)
    return gap - reach, gap + reach, claimed


Interval = Callable[[Tally, Tally, int], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Bounds the difference of two tallies, and tells where it may be claimed."""


def find_changes(
    counted: Tally,
    names: Sequence[str],
    shown: Sequence[int],
    n_groups: int,
    interval: Interval = difference_interval,
) -> list[Difference]:
    """Find when each class's share changed most clearly, in all reviews and in each of the first groups.

    `counted` is groups × periods × classes, in order of time; a change may begin in the periods `shown`.
    """
    whole = counted.merge(0)
    parts = [(None, whole), *((group, counted.at(group)) for group in range(n_groups))]
    moments = [place for place in shown if place > 0]
    comparisons = len(parts) * len(moments) * len(names)
    found = []
    for group, part in parts if moments else ():
        running = part.cumulate(0)
        before = running.at([place - 1 for place in moments])
        after = running.at([-1] * len(moments)).minus(before)
        low, high, claimed = interval(before, after, comparisons)
        certain = np.where(claimed, np.maximum(low, -high), 0)
        for number, name in enumerate(names):
            best = int(certain[:, number].argmax())
            if certain[best, number] > 0:
                ends = float(low[best, number]), float(high[best, number])
                shares = float(before.share[best, number]), float(after.share[best, number])
                found.append(Difference(name, *shares, *ends, moments[best], group))
    return sorted(found, key=lambda change: -change.effect)


def find_contrasts(
    counted: Tally, names: Sequence[str], interval: Interval = difference_interval
) -> list[Difference]:
    """Find where one group's share of a class (groups × classes) differs from that of all other groups."""
    n_groups = counted.mentions.shape[0]
    if n_groups < 2:
        return []
    others = counted.merge(0).at(np.newaxis).minus(counted)
    low, high, claimed = interval(others, counted, n_groups * len(names))
    found = [
        Difference(names[number], float(others.share[group, number]), float(counted.share[group, number]),
                   float(low[group, number]), float(high[group, number]), int(group), int(group))
        for group, number in np.argwhere(claimed)
    ]  # fmt: skip
    return sorted(found, key=lambda contrast: -contrast.effect)


@dataclass(frozen=True)
class Shift:
    """An aspect's share in the other file (before) and in this one (after).

    `low` and `high` bound after − before; `claimed` says whether the difference is beyond chance.
    """

    name: str
    before: float
    after: float
    low: float
    high: float
    claimed: bool


@dataclass(frozen=True)
class Comparison:
    """This label file compared with another one, named `name`.

    `agreement` and `kappa` are over the `matched` segments that both files have; None if there are none.
    `moves` are (aspect there, aspect here, segments).
    """

    name: str
    matched: int
    same_segments: bool
    agreement: float | None
    kappa: float | None
    moves: tuple[tuple[str, str, int], ...]
    shifts: tuple[Shift, ...]


def compare(labels: Labels, other: Labels) -> Comparison:
    """Compare the shares of two label files, and the labels of the segments that both have.

    If both have exactly the same segments, differences are taken within each review (paired). Otherwise the
    files count as independent, which is cautious where they overlap.
    """
    names = tuple(dict.fromkeys((*labels.aspects, *other.aspects)))
    pairs = match(labels, other)
    matched = sum(pairs.values())
    same = matched == len(labels.frame) == len(other.frame)
    agreed = sum(n for (here, there), n in pairs.items() if here == there)
    moves = [(str(there), str(here), n) for (here, there), n in pairs.items() if here != there]
    moves = sorted(moves, key=lambda move: (-move[2], move[0], move[1]))[:10]
    return Comparison(
        other.path.name, matched, same, agreed / matched if matched else None, cohens_kappa(pairs),
        tuple(moves), shifts(labels, other, names, same),
    )  # fmt: skip


def match(labels: Labels, other: Labels) -> dict[tuple[str | None, str | None], int]:
    """Count the (aspect here, aspect there) of segments with the same review, number and wording."""
    this, that = (
        side.rows.filter(IS_REVIEW).select("review", "segment", "aspect", wording=pl.col("text").hash(0))
        for side in (labels, other)
    )
    both = this.join(that, on=SAME_SEGMENT, suffix="_other").group_by("aspect", "aspect_other").len()
    return {(here, there): n for here, there, n in other.collect(both).iter_rows()}


def shifts(labels: Labels, other: Labels, names: tuple[str, ...], same: bool) -> tuple[Shift, ...]:
    this, that = (numbered(side, names) for side in (labels, other))
    after, before = (tally(frame, "code", len(names), 1, ()).at(0, 0) for frame in (this, that))
    bounds = (
        paired_interval(this, that, before, after) if same else difference_interval(before, after, len(names))
    )
    low, high, claimed = (part.tolist() for part in bounds)
    parts = zip(names, before.share.tolist(), after.share.tolist(), low, high, claimed, strict=True)
    return tuple(Shift(*part) for part in parts)


def numbered(labels: Labels, names: tuple[str, ...]) -> pl.DataFrame:
    number = {name: place for place, name in enumerate(names)}
    code = pl.col("aspect").cast(pl.String).replace_strict(number, return_dtype=pl.Int64)
    return labels.frame.select("review", code=code, group=pl.lit(0), period=pl.lit(None, pl.Int32))


def paired_interval(
    this: pl.DataFrame, that: pl.DataFrame, before: Tally, after: Tally
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bound the differences of the same reviews by how they vary from review to review.

    With d_ra the difference in n_ra and δ_a that in shares, the variance is Σ (d_ra − δ_a n_r)² / (Σ n_r)².
    """
    signed = pl.concat([this.with_columns(sign=pl.lit(1)), that.with_columns(sign=pl.lit(-1))])
    moved = signed.group_by("review", "code").agg(d=pl.col("sign").sum()).filter(pl.col("d") != 0)
    totals = this.group_by("review").agg(total=pl.len().cast(pl.Int64))
    sums = moved.join(totals, on="review").group_by("code").agg(
        squares=(pl.col("d") ** 2).sum(), products=(pl.col("d") * pl.col("total")).sum()
    )  # fmt: skip
    squares, products = np.zeros((2, after.mentions.shape[-1]))
    codes = sums["code"].to_numpy()
    squares[codes], products[codes] = sums["squares"].to_numpy(), sums["products"].to_numpy()
    mentions = after.mentions - before.mentions
    difference = Tally(mentions, squares, products, after.segments, after.segment_squares, after.reviews)
    reach = quantile(len(squares)) * np.sqrt(difference.variance)
    gap = difference.share
    claimed = (np.abs(gap) > reach) & (after.reviews >= MIN_REVIEWS) & large_enough(before.share, after.share)
    return gap - reach, gap + reach, claimed
