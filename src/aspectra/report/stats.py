"""Shares and mean ratings with their intervals. The unit is the review: its segments are not independent.

With n_ra segments of aspect a among the n_r segments of review r, the share is p = Σ n_ra / Σ n_r. Its
variance is Σ (n_ra − p·n_r)² / (Σ n_r)² (linearised, robust to clusters). Both need only sums over reviews:
a `Tally`. Therefore the cells of a tally (groups, periods) can be added up in any way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

CERTAINTY, CERTAINTY_OF_CLAIMS = 0.95, 0.99
"""Certainty of a single interval, and of all comparisons of one kind together before one is reported."""
MIN_REVIEWS = 30
"""With fewer reviews nothing is said about a period or about one side of a comparison."""


def quantile(comparisons: int | None = None) -> float:
    """Return how many standard errors an interval reaches.

    Without `comparisons` it holds for a single interval, else for so many of them together (Bonferroni).
    """
    error = 1 - CERTAINTY if comparisons is None else (1 - CERTAINTY_OF_CLAIMS) / max(1, comparisons)
    return NormalDist().inv_cdf(1 - error / 2)


@dataclass(frozen=True)
class Tally:
    """Sums over reviews of n_ra (segments of class a) and n_r (all segments), in cells of any shape.

    A class is an aspect or a topic. What is counted per class is …×A, what is counted once is …×1.
    """

    mentions: np.ndarray  # Σ n_ra
    squares: np.ndarray  # Σ n_ra²
    products: np.ndarray  # Σ n_ra n_r
    segments: np.ndarray  # Σ n_r, …×1
    segment_squares: np.ndarray  # Σ n_r², …×1
    reviews: np.ndarray  # Σ 1, …×1

    def parts(self) -> tuple[np.ndarray, ...]:
        return self.mentions, self.squares, self.products, self.segments, self.segment_squares, self.reviews

    def merge(self, axis: int) -> Tally:
        return Tally(*(part.sum(axis) for part in self.parts()))

    def cumulate(self, axis: int) -> Tally:
        return Tally(*(part.cumsum(axis) for part in self.parts()))

    def minus(self, other: Tally) -> Tally:
        return Tally(*(mine - theirs for mine, theirs in zip(self.parts(), other.parts(), strict=True)))

    def at(self, *index: Any) -> Tally:
        return Tally(*(part[index] for part in self.parts()))

    @property
    def share(self) -> np.ndarray:
        """…×A; 0 where there are no segments."""
        return np.asarray(self.mentions / np.maximum(self.segments, 1))

    @property
    def variance(self) -> np.ndarray:
        """The variance of the share, …×A."""
        spread = self.squares - 2 * self.share * self.products + self.share**2 * self.segment_squares
        small_sample = self.reviews / np.maximum(self.reviews - 1, 1)
        return np.asarray(np.maximum(spread, 0) * small_sample / np.maximum(self.segments, 1) ** 2)


def tally(frame: pl.DataFrame, code: str, n_codes: int, n_groups: int, periods: Sequence[int]) -> Tally:
    """Count segments by the class in column `code` (0 to n_codes − 1), in groups × (periods + 1) cells.

    The last period is for reviews without a date. Null codes count in the totals only.
    """
    place = {number: at for at, number in enumerate(periods)}
    cell = (
        pl.col("period").replace_strict(place, default=len(place), return_dtype=pl.Int64)
        if place
        else pl.lit(0, pl.Int64)
    )
    numbered = frame.lazy().select(
        "review", code=pl.col(code), cell=pl.col("group").cast(pl.Int64) * (len(place) + 1) + cell
    )
    totals = numbered.group_by("review").agg(total=pl.len().cast(pl.Int64), cell=pl.col("cell").first())
    pairs = numbered.group_by("review", "code").agg(n=pl.len().cast(pl.Int64))
    both = pairs.join(totals, on="review").drop_nulls("code").collect()
    whole = totals.collect()
    shape = (n_groups, len(place) + 1)

    def summed(cells: pl.Series, weights: pl.Series | np.ndarray, width: int) -> np.ndarray:
        counts = np.bincount(cells.to_numpy(), np.asarray(weights, np.float64), shape[0] * shape[1] * width)
        return counts.reshape(*shape, width)

    slot = both["cell"] * n_codes + both["code"].cast(pl.Int64)
    n, total = both["n"], both["total"]
    return Tally(
        summed(slot, n, n_codes), summed(slot, n * n, n_codes), summed(slot, n * total, n_codes),
        summed(whole["cell"], whole["total"], 1), summed(whole["cell"], whole["total"] ** 2, 1),
        summed(whole["cell"], np.ones(len(whole)), 1),
    )  # fmt: skip


def share_interval(counted: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and high ends of the shares' intervals, …×A.

    Wilson's interval, at the number of independent segments that would have this variance.
    """
    share, z = counted.share, quantile()
    spread = share * (1 - share)
    size = np.where(counted.variance > 0, spread / np.maximum(counted.variance, 1e-30), counted.reviews)
    size = np.maximum(np.minimum(size, counted.segments), 1)
    middle = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    reach = z * np.sqrt(spread / size + z**2 / (4 * size**2)) / (1 + z**2 / size)
    return np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)


@dataclass(frozen=True)
class Rating:
    """Mean rating of the reviews that mention an aspect.

    `others` is the mean of the reviews that do not mention it, None if there are none. `differs` says whether
    the two differ beyond chance, all aspects compared together.
    """

    aspect: str
    reviews: int
    mean: float
    low: float
    high: float
    others: float | None
    differs: bool


def mean_interval(n: int, mean: float, sd: float) -> tuple[float, float]:
    """Return Student's interval of a mean of independent reviews."""
    from scipy.stats import t

    if n < 2:
        return float("-inf"), float("inf")
    reach = float(t.ppf(1 - (1 - CERTAINTY) / 2, n - 1)) * sd / n**0.5
    return mean - reach, mean + reach


def ratings(frame: pl.DataFrame, aspects: Sequence[str]) -> tuple[Rating, ...]:
    """Compare the ratings of reviews that mention an aspect with those that do not, lowest mean first.

    Aspects that fewer than two rated reviews mention are left out.
    """
    rated = frame.lazy().filter(pl.col("rating").is_not_null())
    given = rated.group_by("review").agg(pl.col("rating").first()).collect()["rating"]
    totals = moments(given)
    pairs = rated.group_by("review", "aspect").agg(pl.col("rating").first())
    by_aspect = pairs.group_by("aspect").agg(pl.col("rating")).collect()
    result = []
    for aspect, values in by_aspect.iter_rows():
        mine = moments(pl.Series(values))
        if mine[0] >= 2:
            theirs = tuple(whole - part for whole, part in zip(totals, mine, strict=True))
            found = rate(aspect, mine, theirs, len(aspects))
            lowest, highest = float(given.min()), float(given.max())  # type: ignore[arg-type]
            result.append(replace(found, low=max(found.low, lowest), high=min(found.high, highest)))
    return tuple(sorted(result, key=lambda rating: (rating.mean, rating.aspect)))


Moments = tuple[float, ...]


def moments(values: pl.Series) -> Moments:
    """Return n, Σ x, Σ x²."""
    numbers = values.cast(pl.Float64).to_numpy()
    return float(len(numbers)), float(numbers.sum()), float((numbers**2).sum())


def mean_sd(sums: Moments) -> tuple[float, float]:
    n, total, squares = sums
    mean = total / n
    return mean, max(0.0, (squares - n * mean**2) / max(1.0, n - 1)) ** 0.5


def rate(aspect: str, mine: Moments, theirs: Moments, comparisons: int) -> Rating:
    mean, sd = mean_sd(mine)
    low, high = mean_interval(int(mine[0]), mean, sd)
    others, differs = None, False
    if theirs[0] >= 2:
        others, other_sd = mean_sd(theirs)
        error = (sd**2 / mine[0] + other_sd**2 / theirs[0]) ** 0.5
        enough = min(mine[0], theirs[0]) >= MIN_REVIEWS
        differs = enough and abs(mean - others) > quantile(comparisons) * error
    return Rating(aspect, int(mine[0]), mean, low, high, others, differs)
