"""Ratings as people write them → numbers: 4, "4,5", "5 out of 5", "8/10", "★★★★☆"; and which column has them.

The scale is taken from the ratings ("out of 10") or else from the values: the smallest usual scale that holds
them. What cannot be read is null, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from aspectra.errors import InputError

RATING_NAMES = (
    "rating", "stars", "score", "overall", "starrating", "reviewrating", "reviewscore", "reviewstars", "note",
    "bewertung", "sterne",
)  # fmt: skip
TITLE_NAMES = ("reviewtitle", "title", "headline", "summary", "subject")
"""Names of columns of ratings and of reviews' titles, likeliest first; compared without case, spaces and
punctuation."""
SCALES = ((-1.0, 1.0), (0.0, 1.0), (1.0, 5.0), (0.0, 5.0), (1.0, 10.0), (0.0, 10.0), (0.0, 100.0))
NUMBER = r"([-−+]?\d+(?:[.,]\d+)?)"
OF_HOW_MANY = r"(?:/|out of|von|sur|de|of)\s*(\d+)"
FULL_STAR, HALF_STAR, EMPTY_STAR = "[★⭐🌟]", "[½⯨⯪]", "[☆✩]"


@dataclass(frozen=True)
class Ratings:
    """Numbers, null where none could be read, and the scale that they are on."""

    values: pl.Series  # Float64
    low: float
    high: float

    @property
    def shares(self) -> np.ndarray:
        """The ratings from 0, the worst, to 1; NaN where there is none."""
        values = self.values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return np.asarray(np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0))


def find_rating_column(names: Sequence[str], wanted: str | None = None) -> str | None:
    """Return the column with the ratings: the one wanted, or one with a usual name, or None."""
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"There is no column {wanted!r}; there are {', '.join(names)}. Name another --rating-column."
            )
        return wanted
    return with_usual_name(names, RATING_NAMES)


def with_usual_name(names: Sequence[str], usual: Sequence[str]) -> str | None:
    """Return the column that has the likeliest of some names, or None."""
    plain = {"".join(filter(str.isalnum, name.lower())): name for name in reversed(names)}
    return next((plain[name] for name in usual if name in plain), None)


def read_ratings(column: pl.Series) -> Ratings:
    """Read a column of ratings, numbers or text."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        values = column.cast(pl.Float64).fill_nan(None)
        return Ratings(values, *find_scale(values))
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    number = as_number(text.str.extract(NUMBER))
    whole = text.str.extract(rf"{NUMBER}\s*{OF_HOW_MANY}", 2).cast(pl.Float64, strict=False)
    stars = text.str.count_matches(FULL_STAR) + 0.5 * text.str.count_matches(HALF_STAR)
    drawn = text.str.contains(FULL_STAR) | text.str.contains(EMPTY_STAR)
    values = pl.DataFrame({"n": number, "s": stars, "d": drawn & number.is_null()}).select(
        pl.when("d").then("s").otherwise("n").cast(pl.Float64).alias("rating")
    )["rating"]
    low, high = find_scale(values)
    there = values.drop_nulls().to_numpy()
    bottom = 0.0 if len(there) and there.min() < 1 else 1.0
    if whole.drop_nulls().n_unique() == 1 and whole.null_count() < len(whole) / 2:
        low, high = bottom, max(float(whole.drop_nulls()[0]), float(there.max()))
    elif drawn.sum() > len(drawn) / 2:
        low, high = bottom, max(5.0, high)
    return Ratings(values, low, high)


def as_number(text: pl.Series) -> pl.Series:
    plain = text.str.replace(",", ".", literal=True).str.replace("−", "-", literal=True)
    return plain.cast(pl.Float64, strict=False)


def find_scale(values: pl.Series) -> tuple[float, float]:
    """Return the smallest usual scale that holds all values, or else the least and the greatest of them."""
    there = values.drop_nulls().to_numpy()
    if not len(there):
        return 1.0, 5.0
    least, most = float(there.min()), float(there.max())
    for low, high in SCALES:
        if low <= least and most <= high and (low >= 0 or least < 0):
            return low, high
    return least, most
