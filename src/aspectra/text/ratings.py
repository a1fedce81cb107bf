"""Ratings as people write them → numbers: 4, "5 out of 5", "★★★★☆", 👍, "B+"; and which column has them.

A rating is the whole cell: a date, a price or a sentence with a number in it is none. The scale is taken from
the ratings ("out of 10") or else from the values: the smallest usual scale that holds them. What cannot be
read is null, never a guess.
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
SCALES = (
    (-1.0, 1.0), (0.0, 1.0), (1.0, 5.0), (0.0, 5.0), (1.0, 10.0), (0.0, 10.0), (-5.0, 5.0), (0.0, 100.0),
)  # fmt: skip
MOST = 0.99
"""Of the ratings so many decide on the scale, if a wrong one would make it more than twice as long."""
FEW_OUTSIDE = 0.005
"""A narrower usual scale is taken if fewer of the numbers are outside: a 10 among 1 to 5 is mistyped."""
ONE_OF = 10
"""Of so many ratings on a told scale, one may be outside."""
STAR_WORDS = r"(?:stars?|sterne?n?|étoiles?|points?|pts|[★⭐🌟]\x{FE0F}?)"
DECIMALS = r"\d+(?:\.\d+|,\d{1,2}|,\d{4,})?"
"""A number; 1,000 is a thousand in one country and one in another."""
NUMBER = (
    rf"^(?:rated|rating|score)?:?\s*([-−+]?{DECIMALS})(\s*½|\s+1/2)?\s*{STAR_WORDS}?"
    rf"\s*(?:(?:/|out of|von|sur|de|of)\s*({DECIMALS})|(%))?\s*{STAR_WORDS}?[.!]*"
    r"(?:\s*[-–:(]\s*\p{L}.*|\s*\(.*\))?$"
)
WRITTEN = {
    **{chr(ord("０") + digit): str(digit) for digit in range(10)}, "．": ".", "／": "/", "％": "%",
}  # fmt: skip
"""Full-width digits and signs."""
IN_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
STARS = r"^[★⭐🌟½⯨⯪☆✩\s\x{FE0F}]*[★⭐🌟☆✩][★⭐🌟½⯨⯪☆✩\s\x{FE0F}]*$"
FULL_STAR, HALF_STAR = "[★⭐🌟]", "[½⯨⯪]"
GRADE = r"^([a-f])([-−+]?)$"
GRADES = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 0.0, "f": 0.0}
VERDICTS = {
    word: value
    for value, words in (
        (
            1.0,
            "👍|up|thumbs up|yes|true|positive|pos|like|liked|love|loved|recommended|good|very good|great"
            "|excellent|perfect|happy|satisfied|very satisfied",
        ),
        (0.0, "neutral|ok|okay|mixed|average|fair|so-so"),
        (
            -1.0,
            "👎|down|thumbs down|no|false|negative|neg|dislike|disliked|hate|hated|not recommended|bad"
            "|very bad|poor|very poor|awful|terrible|unhappy|unsatisfied|dissatisfied|very dissatisfied",
        ),
    )
    for word in words.split("|")
}


@dataclass(frozen=True)
class Ratings:
    """Numbers, null where none could be read, and the scale that they are on.

    `left_out` are booleans: where a number could be read that is outside of the scale.
    """

    values: pl.Series  # Float64
    low: float
    high: float
    left_out: pl.Series

    @property
    def usual(self) -> bool:
        """Whether people rate on such a scale; a year, a price or a count is on none."""
        return self.low >= -5 and self.high <= 100

    @property
    def unit(self) -> str:
        """What one more is called: star or point."""
        return "star" if self.high == 5 and self.low >= 0 else "point"

    @property
    def shares(self) -> np.ndarray:
        """The ratings from 0, the worst, to 1; NaN where there is none."""
        values = self.values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return np.asarray(np.clip((values - self.low) / ((self.high - self.low) or 1), 0.0, 1.0))


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
    """Read a column of ratings, numbers or text; what lies outside of its scale is null."""
    if column.dtype.is_numeric():
        values, whole, bottom = column.cast(pl.Float64), None, None
    else:
        values, whole, bottom = read_texts(column.cast(pl.String))
    values = pl.select(pl.when(values.is_finite()).then(values).alias("rating"))["rating"]
    low, high = find_scale(values)
    there = values.drop_nulls().to_numpy()
    if whole is not None and (there > whole).sum() <= max(len(there) >= ONE_OF, (1 - MOST) * len(there)):
        least = 0.0 if whole > 10 or (len(there) and there.min() < 1) else 1.0
        low, high = least if bottom is None else bottom, whole
    kept = pl.select(pl.when(values.is_between(low, high)).then(values).alias("rating"))["rating"]
    return Ratings(kept, low, high, values.is_not_null() & kept.is_null())


def read_texts(column: pl.Series) -> tuple[pl.Series, float | None, float | None]:
    """Return the numbers that texts stand for, and the top and bottom of their scale where they tell it.

    Of numbers and stars, grades and verdicts, the kind that most of the texts are counts, no other.
    """
    text = column.str.strip_chars().str.to_lowercase()
    kinds = text.unique()
    plain = kinds.str.replace_all(r"[\x{FE0F}\x{1F3FB}-\x{1F3FF}_]", " ").str.strip_chars()
    number, whole = read_numbers(kinds)
    letter = kinds.str.extract(GRADE, 1).replace_strict(GRADES, default=None, return_dtype=pl.Float64)
    sign = kinds.str.extract(GRADE, 2)
    step = sign.replace_strict({"+": 0.3, "-": -0.3, "−": -0.3}, default=0.0, return_dtype=pl.Float64)
    grade = (letter + step).clip(0, 4)
    verdict = plain.replace_strict(VERDICTS, default=None, return_dtype=pl.Float64)
    read = pl.DataFrame([
        kinds.alias("text"), number.alias("number"), whole.alias("whole"), grade.alias("grade"),
        verdict.alias("verdict"),
    ])  # fmt: skip
    all_ = text.alias("text").to_frame().join(read, on="text", how="left", maintain_order="left")
    counts = {name: len(all_) - all_[name].null_count() for name in ("number", "grade", "verdict")}
    best = max(counts, key=lambda name: counts[name])
    if best != "number":
        return all_[best], *((4.0, 0.0) if best == "grade" else (1.0, -1.0))
    given = all_["whole"].drop_nulls()
    if len(given) < counts["number"] / 2 or not len(given):
        return all_["number"], None, None
    top = float(given.mode().max())  # type: ignore[arg-type]
    return all_.select(pl.col("number") * top / pl.col("whole").fill_null(top)).to_series(), top, None


def read_numbers(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return what numbers and drawn stars say, and out of how many where they tell it."""
    plain = text.str.replace_many(WRITTEN)
    for digit, word in enumerate(IN_WORDS):
        plain = plain.str.replace(rf"^{word}\b", str(digit))
    parts = plain.str.extract_groups(NUMBER).struct.unnest()
    number = parts["1"].str.replace(",", ".", literal=True).str.replace("−", "-", literal=True)
    number = number.cast(pl.Float64, strict=False) + 0.5 * parts["2"].is_not_null()
    stars = text.str.count_matches(FULL_STAR) + 0.5 * text.str.count_matches(HALF_STAR)
    whole = parts["3"].str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    frame = pl.DataFrame({"n": number, "w": whole, "p": parts["4"].is_not_null(), "s": stars})
    frame = frame.with_columns(d=text.str.contains(STARS).fill_null(False))
    read = frame.select(
        number=pl.when("d").then("s").otherwise("n"),
        whole=pl.when("d")
        .then(pl.max_horizontal("s", 5.0))
        .when("p")
        .then(100.0)
        .when(pl.col("w") > 0)
        .then("w"),
    )
    return read["number"], read["whole"]


def find_scale(values: pl.Series) -> tuple[float, float]:
    """Return the smallest usual scale that holds all values but very few, or else the least and the greatest.

    Only numbers up to 5 and more tell: of ones and a two, one is the worst.
    """
    there = np.sort(values.drop_nulls().to_numpy())
    if not len(there):
        return 1.0, 5.0
    low, high = scale_of(float(there[0]), float(there[-1]))
    for bottom, top in SCALES if high > 1 else ():
        inside = (there >= bottom) & (there <= top)
        if top > 1 and top - bottom < high - low and (~inside).sum() < FEW_OUTSIDE * len(there):
            return bottom, top
    spare = round(len(there) * (1 - MOST) / 2)
    least, most = float(there[spare]), float(there[len(there) - 1 - spare])
    usual = scale_of(least, most)
    tells = usual in SCALES and (usual[1] > 1 or least < most)
    return usual if tells and high - low > 2 * (usual[1] - usual[0]) + 1 else (low, high)


def scale_of(least: float, most: float) -> tuple[float, float]:
    for low, high in SCALES:
        if low <= least and most <= high and (low >= 0 or least < 0):
            return low, high
    return least, most
