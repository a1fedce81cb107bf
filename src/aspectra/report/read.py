"""Read a file that `aspectra label` wrote: a compact table for counting, and the file's rows, still unread.

The columns with date, rating and group are given by name or guessed from their names. Values that cannot be
read are counted.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from aspectra.errors import InputError
from aspectra.report.dates import choose_unit, day_of, period_number
from aspectra.report.scan import BLANK, FELT, IS_REVIEW, OWN, check_rows, scan, unreadable_file
from aspectra.report.stats import MIN_REVIEWS
from aspectra.sentiment.rated import AGAINST, LEAST_TO_COMPARE
from aspectra.text.ratings import RATING_NAMES, read_ratings
from aspectra.text.tokens import TOKEN
from aspectra.text.write import LISTS
from aspectra.topicmap.gamma import PREFIX, not_review_note

FEELINGS = {"negative": -1, "neutral": 0, "positive": 1}
DATE_NAMES = (
    "date", "reviewdate", "reviewtime", "createdat", "created", "timestamp", "time", "unixreviewtime", "year",
)  # fmt: skip
GROUP_NAMES = ("product", "productname", "item", "brand", "model", "category", "store", "restaurant", "hotel")
MOST_GROUPS = 12
OTHERS = "all others"


@dataclass(frozen=True)
class ColumnNames:
    """The carried columns that hold date, rating and group; None for what the file does not have."""

    date: str | None = None
    rating: str | None = None
    group: str | None = None


NO_COLUMNS = ColumnNames()


@dataclass(frozen=True)
class Labels:
    """A label file. `rows` is the whole file, unread; `frame` has one row per segment, without the texts.

    `warnings` are those of the notes that tell of wrong numbers.

    The columns of `frame`: row, review, segment, aspect, topic, probability, margin, known_words, words (as
    written), feeling (−1, 0 or 1), score (−1 to 1), day, period, rating, group (its place in `groups`).
    """

    path: Path
    rows: pl.LazyFrame
    frame: pl.DataFrame
    aspects: tuple[str, ...]
    columns: ColumnNames
    unit: str = "month"
    rating_unit: str = "star"
    groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def dated(self) -> bool:
        return self.columns.date is not None

    @property
    def felt(self) -> bool:
        """Whether the file has sentiment."""
        return bool(self.frame["feeling"].is_not_null().any())

    def collect(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Read something that was selected from `rows`."""
        try:
            return rows.collect(engine="streaming")
        except pl.exceptions.PolarsError as error:
            raise unreadable_file(self.path, error) from None


def open_labels(path: Path, wanted: ColumnNames = NO_COLUMNS) -> Labels:
    """Read a label file, and guess the columns that are not named in `wanted`."""
    rows = scan(path)
    kinds = rows.collect_schema()
    try:
        aspects = find_aspects(path, rows, kinds.names())
        own = {"row", *OWN, *FELT, *LISTS, *(PREFIX + aspect for aspect in aspects)}
        carried = [name for name in kinds if name not in own and not kinds[name].is_nested()]
        columns = find_columns(path, carried, wanted)
        columns, day, dateless = find_days(path, rows, columns, required=wanted.date is not None)
        left_out, blank = check_rows(path, rows)
        rows = rows.filter(~BLANK)
        frame = compact(rows.filter(IS_REVIEW), aspects, columns, day)
        gaps = gaps_note(path, rows)
    except pl.exceptions.PolarsError as error:
        raise unreadable_file(path, error) from None
    if left_out and frame.is_empty():
        raise InputError(f"None of the {left_out:,} segments of {path} is a review. Label other reviews.")
    check_frame(path, frame)
    notes = (*gaps, *blank_note(path, blank), *not_review_note(left_out), *dateless)
    labels = Labels(path, rows, frame, aspects, columns, notes=notes, warnings=gaps)
    return with_groups(with_periods(with_ratings(labels, required=wanted.rating is not None)))


def blank_note(path: Path, count: int) -> tuple[str, ...]:
    rows = "row is" if count == 1 else "rows are"
    return (f"{count:,} blank {rows} left out of {path.name}.",) if count else ()


def gaps_note(path: Path, rows: pl.LazyFrame) -> tuple[str, ...]:
    """Say so if segments are missing: those of a review are numbered from 0 without a gap."""
    reviews = rows.group_by("review").agg(gap=pl.col("segment").max() + 1 != pl.col("segment").n_unique())
    lost, total = reviews.select(pl.col("gap").sum(), pl.len()).collect(engine="streaming").row(0)
    lack = "lacks some of its" if lost == 1 else "lack some of their"
    note = (
        f"{lost:,} of {total:,} reviews in {path.name} {lack} segments: it seems to be filtered, "
        "so shares and changes are of what is left, not of the reviews. Give the whole label file."
    )
    return (note,) if lost else ()


def find_aspects(path: Path, rows: pl.LazyFrame, names: list[str]) -> tuple[str, ...]:
    """Find the columns p_…; a column of the user's that is so called is not among them."""
    missing = [name for name in OWN if name not in names]
    if missing:
        raise InputError(
            f"{path} is not a label file: it has no column {missing[0]!r}. Give a file that aspectra label "
            "wrote without --columns, with all its columns."
        )
    found = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    if not found:
        raise InputError(
            f"{path} is not a label file: it has no column {PREFIX}… of an aspect. Label the reviews again."
        )
    after = names[names.index("known_words") + 1 :]
    usual = [name.removeprefix(PREFIX) for name in itertools.takewhile(is_probability, after)]
    if usual and usual != found:
        answered = rows.select(pl.col("aspect").unique()).collect(engine="streaming")["aspect"].to_list()
        found = [name for name in found if name in usual or name in answered]
    return tuple(found)


def is_probability(name: str) -> bool:
    return name.startswith(PREFIX)


def find_columns(path: Path, carried: list[str], wanted: ColumnNames) -> ColumnNames:
    """Take the columns that were named, and guess the others by their names."""
    for name in (wanted.date, wanted.rating, wanted.group):
        if name is not None and name not in carried:
            raise InputError(f"{path} has no carried column {name!r}; it has {', '.join(carried) or 'none'}.")
    plain = {"".join(filter(str.isalnum, name.lower())): name for name in reversed(carried)}

    def guess(known: tuple[str, ...]) -> str | None:
        return next((plain[name] for name in known if name in plain), None)

    return ColumnNames(
        wanted.date or guess(DATE_NAMES),
        wanted.rating or guess(RATING_NAMES),
        wanted.group or guess(GROUP_NAMES),
    )


def find_days(
    path: Path, rows: pl.LazyFrame, columns: ColumnNames, required: bool
) -> tuple[ColumnNames, pl.Expr, tuple[str, ...]]:
    """Return the expression that reads the days; a guessed column without dates is dropped, and said."""
    nothing = pl.lit(None, pl.Date)
    if columns.date is None:
        return columns, nothing, ()
    day, unclear = day_of(rows, columns.date)
    if day is None and required:
        raise InputError(
            f"Column {columns.date!r} of {path} has no readable dates. Write them as 2024-03-31."
        )
    if day is not None:
        note = (
            f"Column {columns.date!r}: dates such as 3/4/2024 may be in March or in April. The month is read"
        )
        return columns, day, (f"{note} first. Write them as 2024-04-03 if that is wrong.",) * unclear
    note = f"Less than half of column {columns.date!r} can be read as dates, so nothing is said about time."
    return replace(columns, date=None), nothing, (f"{note} Write them as 2024-03-31.",)


def compact(rows: pl.LazyFrame, aspects: tuple[str, ...], columns: ColumnNames, day: pl.Expr) -> pl.DataFrame:
    rating, group = pl.lit(None, pl.Float32), pl.lit(None, pl.Categorical)
    if columns.rating:
        number = rows.collect_schema()[columns.rating].is_numeric()
        rating = pl.col(columns.rating).cast(pl.Float32 if number else pl.String, strict=False)
    if columns.group:
        group = pl.col(columns.group).cast(pl.String).cast(pl.Categorical)
    feeling, score = pl.lit(None, pl.Int8), pl.lit(None, pl.Float32)
    names = rows.collect_schema()
    if "sentiment" in names and "sentiment_score" in names:
        feeling = felt_of(names).replace_strict(FEELINGS, default=None, return_dtype=pl.Int8)
        score = pl.col("sentiment_score")
    return rows.select(
        "row", "review", "segment", "topic", "probability", "margin", "known_words",
        words=pl.col("text").str.count_matches(TOKEN),
        feeling=feeling, score=score, aspect=pl.col("aspect").cast(pl.Enum(aspects), strict=False),
        day=day, rating=rating, group=group,
    ).collect(engine="streaming")  # fmt: skip


def felt_of(names: pl.Schema) -> pl.Expr:
    """Return how the answer's aspect is spoken of; where that is not said, the segment."""
    listed, kind = pl.col("aspect_sentiments"), names.get("aspect_sentiments")
    if kind == pl.List(pl.String):
        return pl.coalesce(listed.list.first(), "sentiment")
    if kind == pl.String:  # as CSV has it, or pandas
        return pl.coalesce(listed.str.extract(f"({'|'.join(FEELINGS)})"), "sentiment")
    return pl.col("sentiment")


def check_frame(path: Path, frame: pl.DataFrame) -> None:
    if frame.is_empty():
        raise InputError(f"{path} has no rows. Label some reviews first.")
    if frame["aspect"].null_count():
        row = frame.filter(pl.col("aspect").is_null())["row"][0] + 1
        raise InputError(
            f"{path}, row {row} has an aspect without a column {PREFIX}…. Label the reviews again."
        )
    if frame.select(pl.struct("review", "segment").is_duplicated().any()).item():
        raise InputError(
            f"{path} has the same segment number twice in one review. Was it put together from several label "
            "files? Label the reviews together: aspectra label RUN one.csv two.csv"
        )


def unreadable(labels: Labels, values: str, what: str, column: str | None) -> tuple[str, ...]:
    """Say how many reviews have no readable value in a column."""
    lost = labels.frame.filter(pl.col(values).is_null())["review"].n_unique() if column else 0
    total = labels.frame["review"].n_unique()
    have = "has" if lost == 1 else "have"
    note = f"{lost:,} of {total:,} reviews {have} no readable {what} in column {column!r}."
    return (note,) if 0 < lost < total else ()


def with_ratings(labels: Labels, required: bool) -> Labels:
    """Read the ratings; a column that was guessed and has none is dropped."""
    column = labels.columns.rating
    if column is None:
        return labels
    found = read_ratings(labels.frame["rating"])
    frame = labels.frame.with_columns(rating=found.values.cast(pl.Float32))
    scale = f"{found.low:g} to {found.high:g}"
    if found.values.is_null().all():
        if required:
            raise InputError(
                f"Column {column!r} of {labels.path} has no ratings. Name another --rating-column."
            )
        return replace(labels, frame=frame, columns=replace(labels.columns, rating=None))
    note = ""
    if not (found.usual or required):
        note = (
            f"Column {column!r} is not taken for ratings: {scale} is not a usual rating scale. Else name it."
        )
    elif is_turned_round(frame):
        best = f"low ratings go with praise, so {found.low:g} seems to be the best"
        note = f"Column {column!r} is not used: {best}."
    if note:
        frame = frame.with_columns(rating=pl.lit(None, pl.Float32))
        columns = replace(labels.columns, rating=None)
        return replace(labels, frame=frame, columns=columns, notes=(*labels.notes, note))
    outside = frame.filter(found.left_out)["review"].n_unique()
    lost = unreadable(replace(labels, frame=frame.filter(~found.left_out)), "rating", "rating", column)
    notes = (*labels.notes, *outside_note(outside, column, scale), *lost)
    return replace(labels, frame=frame, rating_unit=found.unit, notes=notes)


def outside_note(count: int, column: str, scale: str) -> tuple[str, ...]:
    are = "rating is" if count == 1 else "ratings are"
    return (f"Column {column!r}: {count:,} {are} outside of {scale} and left out.",) if count else ()


def is_turned_round(frame: pl.DataFrame) -> bool:
    """Tell whether reviews with low ratings are the friendly ones, as `fit` does by a lexicon."""
    reviews = frame.group_by("review").agg(pl.col("score", "rating").mean()).drop_nulls()
    if len(reviews) < LEAST_TO_COMPARE:
        return False
    found = reviews.select(pl.corr("score", "rating")).item()
    return found is not None and float(found) < AGAINST


def with_periods(labels: Labels) -> Labels:
    """Number the periods, in a unit that suits the time span."""
    if not labels.dated:
        return replace(labels, frame=labels.frame.with_columns(period=pl.lit(None, pl.Int32)))
    days = labels.frame.select("review", "day").drop_nulls().unique("review")["day"]
    unit = choose_unit(days, MIN_REVIEWS)
    frame = labels.frame.with_columns(period=period_number(pl.col("day"), unit))
    notes = labels.notes + unreadable(labels, "day", "date", labels.columns.date)
    return replace(labels, frame=frame, unit=unit, notes=notes)


def with_groups(labels: Labels) -> Labels:
    """Number the groups by size, the one with most reviews first; the smallest share the last number."""
    frame, names, rest = labels.frame, [], False
    if labels.columns.group:
        sizes = frame.group_by("group").agg(pl.col("review").n_unique()).drop_nulls()
        sizes = sizes.sort("review", pl.col("group").cast(pl.String), descending=[True, False])
        names = sizes["group"].cast(pl.String).head(MOST_GROUPS).to_list()
        rest = len(sizes) > len(names) or frame["group"].null_count() > 0
    if not names:
        frame = frame.with_columns(group=pl.lit(0, pl.UInt16))
        return replace(labels, columns=replace(labels.columns, group=None), frame=frame)
    number = pl.col("group").cast(pl.String).replace_strict(
        names, range(len(names)), default=len(names), return_dtype=pl.UInt16
    )  # fmt: skip
    groups = (*names, OTHERS) if rest else tuple(names)
    return replace(labels, frame=frame.with_columns(group=number), groups=groups)
