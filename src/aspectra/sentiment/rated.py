"""Rated reviews of a source → a bounded sample to learn sentiment from, and a sentence on what was found.

A review's title is kept as a review of its own: its rating tells more of one line than of a long text.
Each way in which ratings can be of no use (none, all equal, too few, against the texts) is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from aspectra import rundir
from aspectra.arguments import as_list, as_plain, shown, wrong_kind
from aspectra.errors import InputError, RunError
from aspectra.rundir import RunDir
from aspectra.sampling import Reservoir, keys
from aspectra.sentiment.model import AGAIN, SentimentModel
from aspectra.sentiment.rules import judge
from aspectra.sentiment.words import WordReader
from aspectra.text import memory
from aspectra.text.ratings import TITLE_NAMES, Ratings, find_rating_column, read_ratings, with_usual_name
from aspectra.text.read import Source
from aspectra.text.rows import Skipped
from aspectra.text.segment import split_reviews
from aspectra.text.write import write_frames

MOST_REVIEWS, MOST_TITLES, DRAWN = 8_000, 12_000, 48_000
"""Kept in the run, half of the reviews if they have titles, and drawn before: of these as many below the
middle of the scale as above it are kept."""
TELLS = 0.15
"""Correlation with the ratings from which on titles are taken for the reviewers' words: a product's name has
none."""
LEAST_REVIEWS = 30
MOSTLY = 0.5
LEAST_TO_COMPARE = 100
"""Fewer ratings cannot be said to contradict the texts."""
AGAINST, WITH = -0.15, 0.1
"""Correlation with the lexicon's scores up to which ratings contradict the texts, and from which on they go
with them: a column that has the name of a rating may be a count or a number of something else."""
COLUMNS = {"text": pl.String, "rating": pl.Float64}


class Rows(Protocol):
    """Reviews with their other columns, such as a `Source` of files."""

    text_column: str

    def batches(self) -> Iterator[pl.DataFrame]: ...


@dataclass(frozen=True)
class RatedReviews:
    """`frame` has text and rating (0 the worst, 1 the best), empty if none can be used; `note` says why."""

    frame: pl.DataFrame
    column: str | None
    note: str

    def segments(self, segment: str, language: str) -> tuple[pl.Series, np.ndarray, np.ndarray] | None:
        """Return the segments, the review that each belongs to, and the reviews' ratings; None if empty."""
        if self.frame.is_empty():
            return None
        split = split_reviews(self.frame["text"], segment, language)
        return split["text"], split["review"].to_numpy(), self.frame["rating"].to_numpy()

    def fingerprint(self) -> str:
        return rundir.fingerprint(self.frame.to_dict(as_series=False))

    def save(self, run: Path) -> None:
        """Write the reviews into a run; those of an earlier fit are removed if there are none."""
        if self.frame.is_empty():
            (run / rundir.RATED).unlink(missing_ok=True)
        else:
            write_frames([self.frame], run / rundir.RATED)

    @classmethod
    def load(cls, run: Path) -> RatedReviews:
        """Read what a fit kept; nothing if it found no ratings."""
        path = run / rundir.RATED
        if not path.exists():
            return NONE
        try:
            frame = pl.read_parquet(path, glob=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise rundir.damaged(path, error) from None
        if dict(frame.schema) != COLUMNS:
            raise rundir.damaged(path, f"its columns are {frame.columns}")
        if frame.null_count().row(0) != (0, 0) or not frame["rating"].is_between(0, 1).all():
            raise rundir.damaged(path, "a text is missing, or a rating is not from 0 to 1")
        return cls(frame, None, "")


NONE = RatedReviews(pl.DataFrame(schema=COLUMNS), None, "")


class RatedTexts:
    """Reviews in memory, each with its rating."""

    text_column = "text"

    def __init__(self, texts: pl.Series, ratings: list[Any]) -> None:
        self.frame = pl.DataFrame({"text": texts, "rating": written(ratings)})

    def batches(self) -> Iterator[pl.DataFrame]:
        yield self.frame.filter(pl.col("text").is_not_null())


def written(ratings: list[Any]) -> pl.Series:
    """Return ratings as text: 5, 4.5 and "4" may be mixed."""
    return pl.Series([None if one is None else str(one) for one in ratings], dtype=pl.String)


def given_ratings(source: Any, ratings: Any) -> str | list[Any] | None:
    """Return ratings as JSON can hold them; refuse, before any work, those that cannot be the source's."""
    if ratings is None:
        return None
    if isinstance(ratings, str):
        if not isinstance(source, Source):
            raise InputError(
                f"ratings={ratings!r} is the name of a column, but the reviews are not in files. "
                "Give a list with one rating per review."
            )
        names = next(unread(source).batches()).columns
        find_rating_column([name for name in names if name != source.text_column], ratings)
        return ratings
    given = [plain_rating(one) for one in as_list(ratings, "ratings", "a list with one rating per review")]
    if isinstance(source, memory.Texts):
        check_number(given, len(source.series))
    found = [one for one in given if one is not None]
    if found and not read_ratings(written(found)).values.count():
        raise InputError(
            f"No rating can be read in ratings, such as {shown(found[0])}. "
            "Give numbers, or texts such as '4 stars', or leave them out."
        )
    return given


def unread(source: Source) -> Source:
    """Return a source to read once more: what the first reading left out is told once."""
    return replace(source, skipped=Skipped())


def plain_rating(given: Any) -> bool | int | float | str | None:
    """Return a rating as Python's own value; None if it is missing."""
    one = as_plain(given)
    one = float(one) if isinstance(one, Decimal) else one
    if isinstance(one, str) or str(one) in memory.MISSING:
        return memory.as_text(one)
    if isinstance(one, bool | int | float):
        return one
    raise wrong_kind("A rating", "a number or text", given)


def check_number(ratings: list[Any], n: int) -> None:
    if len(ratings) != n:
        raise InputError(f"There are {len(ratings)} ratings for {n} reviews. Give one for each, or None.")


def find_rated(source: Any, ratings: Any, language: str, seed: int) -> RatedReviews:
    """Return the rated reviews of a source of files or of texts in memory; `ratings` from `given_ratings`."""
    if ratings is None or isinstance(ratings, str):
        if not isinstance(source, Source):
            return NONE
        return collect_rated(unread(source), ratings, language, seed)
    texts = pl.concat(list(source.texts()))
    check_number(ratings, len(texts))
    return collect_rated(RatedTexts(texts, ratings), "rating", language, seed)


def collect_rated(source: Rows, wanted: str | None, language: str, seed: int = 0) -> RatedReviews:
    """Find the rating column and draw a sample of rated reviews; `wanted` names the column."""
    sample, seen, column, title = Reservoir(DRAWN), 0, None, None
    for number, frame in enumerate(source.batches()):
        if number == 0:
            others = [name for name in frame.columns if name != source.text_column]
            column = find_rating_column(others, wanted)
            if column is None:
                return NONE
            title = with_usual_name(others, TITLE_NAMES)
        key = keys(np.arange(seen, seen + len(frame)), seed)
        given, titles = (as_text(frame, name) for name in (column, title))
        sample.add(
            pl.DataFrame({"text": frame[source.text_column], "title": titles, "given": given, "key": key})
        )
        seen += len(frame)
    rows = sample.rows()
    if wanted is not None and isinstance(source, Source) and not read_ratings(rows["given"]).values.count():
        found = rows["given"].drop_nulls().head(1).to_list()
        raise InputError(
            f"No rating can be read in column {wanted!r}"
            + (f", such as {found[0][:80]!r}" if found else "")
            + ". Name another --rating-column, or none."
        )
    return judged(rows, str(column), language, named=wanted is not None)


def as_text(frame: pl.DataFrame, column: str | None) -> pl.Series:
    """Return a column as text; nulls if it is not there, or if it holds lists."""
    if column is None or column not in frame.columns or frame[column].dtype.is_nested():
        return pl.Series([None] * len(frame), dtype=pl.String)
    return frame[column].cast(pl.String, strict=False)


def judged(rows: pl.DataFrame, column: str, language: str, named: bool) -> RatedReviews:
    """Read the ratings of sampled reviews and decide whether they can be learnt from."""
    ratings = read_ratings(rows["given"])
    frame = rows.select("text", "title", rating=pl.Series(ratings.shares))
    frame = frame.filter(pl.col("rating").is_not_nan())
    there = len(frame) / max(1, len(rows))
    scale = f"{ratings.low:g} to {ratings.high:g}"
    why = why_unused(ratings, frame, language, named)
    if why:
        note = f"The ratings in column {column!r} are not used for sentiment: {why}."
        return RatedReviews(NONE.frame, column, note)
    note = f"Sentiment is learnt from the ratings in column {column!r} ({scale}), too."
    if there < MOSTLY:
        note += f" Only {there:.0%} of the reviews have one."
    texts, titles = (
        frame.select("text", "rating"),
        frame.select("rating", text="title").select("text", "rating"),
    )
    titles = titles.filter(pl.col("text").str.strip_chars() != "")
    if (agreement(titles, language) or 0) < TELLS:
        return RatedReviews(both_sides(texts, MOST_REVIEWS), column, note)
    kept = pl.concat([both_sides(texts, MOST_REVIEWS // 2), both_sides(titles, MOST_TITLES)])
    return RatedReviews(kept, column, f"{note} Titles count as reviews.")


def both_sides(frame: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep at most so many: those below the middle as far as they go, then as many of the others."""
    low = frame.filter(pl.col("rating") < 0.5).head(most // 2)
    high = frame.filter(pl.col("rating") > 0.5).head(most - len(low))
    middle = frame.filter(pl.col("rating") == 0.5).head(most - len(low) - len(high))
    return pl.concat([low, middle, high])


def why_unused(ratings: Ratings, frame: pl.DataFrame, language: str, named: bool) -> str:
    """Say why ratings cannot be learnt from, or nothing; `named`: the user says that they are ratings."""
    if len(frame) < LEAST_REVIEWS:
        return f"it has {len(frame)} ratings that can be read"
    if frame["rating"].n_unique() < 2:
        return f"all ratings are {ratings.values.drop_nulls()[0]:g}"
    if not (ratings.usual or named):
        scale = f"{ratings.low:g} to {ratings.high:g}"
        return f"{scale} is not a usual rating scale. If it is one, name --rating-column"
    agrees = agreement(frame, language)
    if agrees is not None and agrees < AGAINST:
        return f"low ratings go with praise, so {ratings.low:g} seems to be the best"
    if agrees is not None and agrees < WITH and not named:
        return "high ones do not go with praise. If they are ratings, name --rating-column"
    return ""


def agreement(frame: pl.DataFrame, language: str) -> float | None:
    """Return the correlation of the lexicon's scores and the ratings; None if there is too little to tell."""
    scores = judge(WordReader(language).read(frame["text"])).scores
    ratings = frame["rating"].to_numpy()
    if len(frame) < LEAST_TO_COMPARE or scores.std() == 0 or ratings.std() == 0:
        return None
    return float(np.corrcoef(scores, ratings)[0, 1])


def load_rated(run: RunDir, sentiment: SentimentModel | None) -> RatedReviews:
    """Read the rated reviews that a run's sentiment was learnt from; refuse others."""
    rated = RatedReviews.load(run.path)
    if sentiment and sentiment.about.get("ratings") not in (None, rated.fingerprint()):
        raise RunError(f"{run / rundir.RATED} is missing, or its reviews are not those of the fit. {AGAIN}")
    return rated
