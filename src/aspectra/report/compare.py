"""Two label files → what changed between them: each aspect's share in both, and, for segments that stand in both, their agreement.

If both files hold the very same segments, differences are taken within each review (paired); else the files count as independent,
which is on the safe side where they overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aspectra.evaluate import cohens_kappa
from aspectra.report.change import gaps, matters
from aspectra.report.labels import Labels
from aspectra.report.stats import FEW, Tally, quantile, tally

KEY = ["review", "segment", "wording"]


@dataclass(frozen=True)
class Shift:
    """An aspect's share in the other file and in this one; `low` and `high` bound the difference; `claimed` if it is beyond chance."""

    name: str
    before: float
    after: float
    low: float
    high: float
    claimed: bool


@dataclass(frozen=True)
class Comparison:
    """`agreement` and `kappa` are over the `matched` segments, None if there are none; `moves` are (from, to, segments)."""

    name: str
    matched: int
    same_segments: bool
    agreement: float | None
    kappa: float | None
    moves: tuple[tuple[str, str, int], ...]
    shifts: tuple[Shift, ...]


def compare(labels: Labels, other: Labels) -> Comparison:
    names = tuple(dict.fromkeys((*labels.aspects, *other.aspects)))
    both = match(labels, other)
    same = len(both) == len(labels.frame) == len(other.frame)
    agreement, kappa = agree(both)
    moved = both.filter(pl.col("aspect") != pl.col("aspect_other")).group_by("aspect_other", "aspect").len()
    moves = moved.sort("len", "aspect_other", "aspect", descending=[True, False, False]).head(10)
    return Comparison(
        other.path.name, len(both), same, agreement, kappa, tuple(moves.iter_rows()),
        shifts(labels, other, names, same),
    )  # fmt: skip


def match(labels: Labels, other: Labels) -> pl.DataFrame:
    """Join on the numbers of review and segment and on the wording."""
    this, that = (
        side.rows.select("review", "segment", "aspect", wording=pl.col("text").hash(0))
        for side in (labels, other)
    )
    return this.join(that, on=KEY, suffix="_other").select("aspect", "aspect_other").collect()


def agree(both: pl.DataFrame) -> tuple[float | None, float | None]:
    """Return the share of equal labels and Cohen's kappa."""
    if both.is_empty():
        return None, None
    observed = float(both.select((pl.col("aspect") == pl.col("aspect_other")).mean()).item())
    counted = both.group_by("aspect", "aspect_other").len()
    return observed, cohens_kappa({(one, other): n for one, other, n in counted.iter_rows()})


def coded(labels: Labels, names: tuple[str, ...]) -> pl.DataFrame:
    number = {name: place for place, name in enumerate(names)}
    code = pl.col("aspect").cast(pl.String).replace_strict(number, return_dtype=pl.Int64)
    return labels.frame.select("review", code=code, group=pl.lit(0), period=pl.lit(None, pl.Int32))


def shifts(labels: Labels, other: Labels, names: tuple[str, ...], same: bool) -> tuple[Shift, ...]:
    this, that = (coded(side, names) for side in (labels, other))
    after, before = (tally(frame, "code", len(names), 1, ()).at(0, 0) for frame in (this, that))
    low, high, claimed = gaps(before, after, len(names))
    if same:
        low, high, claimed = paired(this, that, before, after)
    return tuple(
        Shift(
            name,
            float(before.share[at]),
            float(after.share[at]),
            float(low[at]),
            float(high[at]),
            bool(claimed[at]),
        )
        for at, name in enumerate(names)
    )


def paired(
    this: pl.DataFrame, that: pl.DataFrame, before: Tally, after: Tally
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bound the difference by how it varies from review to review: Σ (d_ra − δ_a n_r)² / (Σ n_r)², d being the difference in n_ra."""
    signed = pl.concat([this.with_columns(sign=pl.lit(1)), that.with_columns(sign=pl.lit(-1))])
    moved = signed.group_by("review", "code").agg(d=pl.col("sign").sum()).filter(pl.col("d") != 0)
    totals = this.group_by("review").agg(total=pl.len().cast(pl.Int64))
    sums = moved.join(totals, on="review").group_by("code").agg(
        squares=(pl.col("d") ** 2).sum(), products=(pl.col("d") * pl.col("total")).sum()
    )  # fmt: skip
    squares, products = np.zeros((2, after.mentions.shape[-1]))
    squares[sums["code"].to_numpy()], products[sums["code"].to_numpy()] = (
        sums["squares"].to_numpy(),
        sums["products"].to_numpy(),
    )
    difference = Tally(
        after.mentions - before.mentions,
        squares,
        products,
        after.segments,
        after.segment_squares,
        after.reviews,
    )
    reach = quantile(len(squares)) * np.sqrt(difference.variance)
    gap = difference.share
    claimed = (np.abs(gap) > reach) & (after.reviews >= FEW) & matters(before.share, after.share)
    return gap - reach, gap + reach, claimed
