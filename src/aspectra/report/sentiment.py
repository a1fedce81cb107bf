"""How people feel about each aspect: net sentiment with intervals, by group and over time, and what drives
the rating.

Net sentiment is the share of positive segments minus that of negative ones, −1 to 1. The unit is the review,
as in stats.py: a `Tally` of signed segments gives means and variances that are robust to clusters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import polars as pl

from aspectra.config import GENERAL
from aspectra.report.compare import Difference, find_changes, find_contrasts
from aspectra.report.stats import MIN_REVIEWS, Tally, quantile

MIN_NET = 0.08
"""A smaller change of net sentiment is not worth a sentence."""
MIN_COST = 0.04
"""Of the ratings' standard deviation: a smaller cost is not worth a sentence."""
MIN_PERIOD, MIN_WITHIN = 8, 3
"""With fewer reviews a period's net sentiment is not drawn: in all reviews, and within one group."""


@dataclass(frozen=True)
class Feeling:
    """An aspect's net sentiment with its interval, and its shares of positive and negative segments."""

    aspect: str
    net: float
    low: float
    high: float
    positive: float
    negative: float
    segments: int


@dataclass(frozen=True)
class FeltCells:
    """Net sentiment in groups or periods × aspects, with intervals; NaN where too few reviews judge it."""

    names: tuple[str, ...]
    net: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reviews: np.ndarray
    starts: tuple[date, ...] = ()  # of periods


@dataclass(frozen=True)
class Driver:
    """What an aspect does to the rating, all other aspects being equal.

    `cost` is how much lower reviews are rated that complain of it, compared with reviews that do not;
    `gain` how many higher those that praise it. Both have intervals. `complaints` and `praises` are the
    shares of rated reviews, `claimed` tells whether the cost is beyond chance, all aspects together.
    """

    aspect: str
    cost: float
    cost_low: float
    cost_high: float
    gain: float
    gain_low: float
    gain_high: float
    complaints: float
    praises: float
    claimed: bool


@dataclass(frozen=True)
class Felt:
    """All that the report says about sentiment."""

    aspects: tuple[Feeling, ...]  # the worst first
    groups: FeltCells | None
    trend: FeltCells | None
    changes: tuple[Difference, ...]  # of net sentiment
    drivers: tuple[Driver, ...]  # the costliest first
    rating_unit: str = "star"
    worse: tuple[Difference, ...] = ()  # groups that are judged worse than all others on an aspect
    group_trends: Mapping[int, FeltCells] = field(
        default_factory=dict
    )  # of groups in which something changed


def felt_tally(frame: pl.DataFrame, n_aspects: int, n_groups: int, periods: Sequence[int]) -> Tally:
    """Add up feelings (−1, 0, 1) of each aspect's segments, in groups × (periods + 1) cells.

    The fields of the tally are here Σ x, Σ x², Σ x n, Σ n, Σ n² and the number of reviews, all …×A: x is the
    sum of an aspect's feelings in a review, n the number of its segments.
    """
    place = {number: at for at, number in enumerate(periods)}
    period = pl.lit(0, pl.Int64)
    if place:
        period = pl.col("period").replace_strict(place, default=len(place), return_dtype=pl.Int64)
    pairs = (
        frame.lazy()
        .filter(pl.col("feeling").is_not_null())
        .with_columns(cell=pl.col("group").cast(pl.Int64) * (len(place) + 1) + period)
        .group_by("review", aspect=pl.col("aspect").to_physical().cast(pl.Int64))
        .agg(pl.col("cell").first(), x=pl.col("feeling").cast(pl.Float64).sum(), n=pl.len().cast(pl.Float64))
        .collect()
    )
    shape = (n_groups, len(place) + 1, n_aspects)
    slot = (pairs["cell"] * n_aspects + pairs["aspect"]).to_numpy()
    x, n = pairs["x"].to_numpy(), pairs["n"].to_numpy()
    sums = (x, x * x, x * n, n, n * n, np.ones(len(n)))
    return Tally(*(np.bincount(slot, one, int(np.prod(shape))).reshape(shape) for one in sums))


def net_interval(one: Tally, two: Tally, comparisons: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the low and high ends of two − one, and whether it may be claimed."""
    gap = two.share - one.share
    reach = quantile(comparisons) * np.sqrt(least_variance(one) + least_variance(two))
    enough = (one.reviews >= MIN_REVIEWS) & (two.reviews >= MIN_REVIEWS)
    return gap - reach, gap + reach, enough & (np.abs(gap) > reach) & (np.abs(gap) >= MIN_NET)


def least_variance(counted: Tally) -> np.ndarray:
    """Return the variance of net sentiment; four segments that all praise do not make it certain."""
    return np.asarray(np.maximum(counted.variance, 0.25 / np.maximum(counted.segments, 1)))


def feelings(frame: pl.DataFrame, counted: Tally, aspects: Sequence[str]) -> tuple[Feeling, ...]:
    """Return each aspect's net sentiment, the worst first; aspects that nothing judges are left out."""
    whole = counted.merge(0).merge(0)
    reach = quantile() * np.sqrt(least_variance(whole))
    felt = frame.group_by("aspect").agg(
        positive=(pl.col("feeling") > 0).mean(), negative=(pl.col("feeling") < 0).mean()
    )
    shares = {name: (good, bad) for name, good, bad in felt.iter_rows()}
    found = [
        Feeling(name, float(whole.share[at]), float(max(-1, whole.share[at] - reach[at])),
                float(min(1, whole.share[at] + reach[at])), *shares[name], int(whole.segments[at]))
        for at, name in enumerate(aspects) if whole.reviews[at] > 1
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (one.aspect == GENERAL, one.net)))


def felt_cells(
    counted: Tally, names: tuple[str, ...], least: int, starts: tuple[date, ...] = ()
) -> FeltCells | None:
    """Return the net sentiment of cells × aspects; None unless there are two cells to compare."""
    if len(names) < 2:
        return None
    reach = quantile() * np.sqrt(least_variance(counted))
    ends = (counted.share, np.maximum(counted.share - reach, -1), np.minimum(counted.share + reach, 1))
    net, low, high = (np.where(counted.reviews >= least, one, np.nan) for one in ends)
    return FeltCells(names, net, low, high, counted.reviews, starts)


def changes_of(
    counted: Tally, aspects: Sequence[str], shown: Sequence[int], n_periods: int, n_groups: int = 0
) -> tuple[Difference, ...]:
    """Find when each aspect's net sentiment changed most clearly, in all reviews and then in groups."""
    dated = counted.at(slice(None), slice(0, n_periods))
    found = find_changes(dated, aspects, shown, n_groups, net_interval)
    return tuple(sorted(found, key=lambda one: (one.group is not None, -abs(one.after - one.before))))


def worse_groups(counted: Tally, aspects: Sequence[str]) -> tuple[Difference, ...]:
    """Find groups whose net sentiment (groups × aspects) is below all other groups', the clearest first."""
    found = [one for one in find_contrasts(counted, aspects, net_interval) if one.after < one.before]
    return tuple(sorted((one for one in found if one.name != GENERAL), key=lambda one: one.high))


def drivers(frame: pl.DataFrame, aspects: Sequence[str]) -> tuple[Driver, ...]:
    """Regress ratings on which aspects a review complains of and which it praises, the costliest first.

    Least squares with errors that are robust to unequal variance. General is adjusted for, not reported;
    aspects with fewer than MIN_REVIEWS complaints are left out.
    """
    rated = frame.filter(pl.col("rating").is_not_null() & pl.col("feeling").is_not_null())
    pairs = rated.group_by("review", "aspect").agg(pl.col("feeling").cast(pl.Int64).sum())
    reviews = rated.group_by("review").agg(pl.col("rating").first().cast(pl.Float64)).sort("review")
    if len(reviews) < 2 * MIN_REVIEWS or reviews["rating"].n_unique() < 2:
        return ()
    row = pairs["review"].replace_strict(
        reviews["review"], pl.int_range(len(reviews), eager=True), return_dtype=pl.Int64
    )
    sides = np.zeros((len(reviews), 2, len(aspects)))
    signs, column = pairs["feeling"].to_numpy(), pairs["aspect"].to_physical().to_numpy()
    for side, chosen in enumerate((signs < 0, signs > 0)):
        sides[row.to_numpy()[chosen], side, column[chosen]] = 1
    flat = sides.reshape(len(reviews), -1)
    enough = flat.sum(0) >= MIN_REVIEWS
    rating = reviews["rating"].to_numpy()
    effects, errors = robust_regression(flat[:, enough], rating)
    return read_drivers(flat.mean(0), enough, effects, errors, aspects, MIN_COST * float(rating.std()))


def robust_regression(inputs: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the effects of inputs (N×F) by least squares, and their errors robust to unequal variance."""
    both = np.column_stack([inputs, np.ones(len(inputs))])
    inverse = np.linalg.pinv(both.T @ both)
    effects = inverse @ both.T @ target
    left = target - both @ effects
    scale = len(both) / max(1, len(both) - both.shape[1])
    meat = (both * (left**2)[:, None]).T @ both
    errors = np.sqrt(np.maximum(np.diag(scale * inverse @ meat @ inverse), 0))
    return effects[:-1], errors[:-1]


def read_drivers(
    shares: np.ndarray,
    enough: np.ndarray,
    effects: np.ndarray,
    errors: np.ndarray,
    aspects: Sequence[str],
    least: float,
) -> tuple[Driver, ...]:
    """Name the effects: the first half of the inputs are complaints, the second half praise.

    A cost is claimed if it is beyond chance and not smaller than `least`.
    """
    full, spread = np.zeros(len(shares)), np.full(len(shares), np.nan)
    full[enough], spread[enough] = effects, errors
    z, n = quantile(), len(aspects)
    claim = quantile(n)
    found = []
    for at, name in enumerate(aspects):
        if name == GENERAL or not enough[at]:
            continue
        cost, gain = float(-full[at]), float(full[n + at])
        wide, wider = z * float(spread[at]), z * float(spread[n + at])
        claimed = cost > claim * float(spread[at]) and cost >= least
        found.append(
            Driver(name, cost, cost - wide, cost + wide, gain, gain - wider, gain + wider,
                   float(shares[at]), float(shares[n + at]), claimed)
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: -one.cost))
