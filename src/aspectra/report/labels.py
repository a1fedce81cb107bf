"""A file that `aspectra label` wrote → `Labels`: a compact frame for counting, and the rows themselves, read only where they are shown.

Which carried columns hold date, rating and group is guessed from their names or told. What cannot be read in them is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from aspectra.errors import InputError
from aspectra.report.dates import choose_unit, day_of, period_number
from aspectra.text.read import find_delimiter
from aspectra.topicmap.gamma import PREFIX

OWN = {
    "review": pl.UInt32, "segment": pl.UInt32, "text": pl.String, "aspect": pl.String, "probability": pl.Float32,
    "entropy": pl.Float32, "margin": pl.Float32, "unmapped": pl.Float32, "topic": pl.Int32, "known_words": pl.Int32,
}  # fmt: skip
DATE_NAMES = (
    "date",
    "reviewdate",
    "reviewtime",
    "createdat",
    "created",
    "timestamp",
    "time",
    "unixreviewtime",
    "year",
)
RATING_NAMES = ("rating", "stars", "score", "overall", "starrating", "reviewrating")
GROUP_NAMES = ("product", "productname", "item", "brand", "model", "category", "store", "restaurant", "hotel")
MOST_GROUPS = 12
OTHERS = "all others"


@dataclass(frozen=True)
class Roles:
    """Names of the carried columns that hold these things; None if there is none."""

    date: str | None = None
    rating: str | None = None
    group: str | None = None


NO_ROLES = Roles()


@dataclass(frozen=True)
class Labels:
    """`frame` has a row per segment: row, review, aspect, topic, probability, margin, known_words, day, period, rating, group."""

    path: Path
    rows: pl.LazyFrame
    frame: pl.DataFrame
    aspects: tuple[str, ...]
    roles: Roles
    unit: str = "month"
    groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def dated(self) -> bool:
        return self.roles.date is not None


def open_labels(path: Path, wanted: Roles = NO_ROLES) -> Labels:
    """Read a label file, and find the columns that are not named in `wanted`."""
    rows = scan(path)
    names = rows.collect_schema().names()
    aspects = find_aspects(path, names)
    roles = find_roles(
        path, names[: names.index("review")] + names[names.index("known_words") + 1 + len(aspects) :], wanted
    )
    roles, day = find_days(path, rows, roles, told=wanted.date is not None)
    try:
        frame = compact(rows, aspects, roles, day)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path} is not a label file that can be read ({first_line(error)}). Label the reviews again."
        ) from None
    check_frame(path, frame)
    labels = Labels(path, rows, frame, aspects, roles)
    return with_groups(with_periods(with_ratings(labels, told=wanted.rating is not None)))


def first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def scan(path: Path) -> pl.LazyFrame:
    """Open the file, each row with its number; columns of a CSV that are not ours stay text."""
    if not path.is_file():
        raise InputError(f"No such file: {path}.")
    try:
        if path.suffix == ".parquet":
            rows = pl.scan_parquet(path)
        elif path.suffix == ".jsonl":
            rows = pl.scan_ndjson(path, infer_schema_length=None)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8", errors="replace") as file:
                header = file.readline()
            rows = pl.scan_csv(path, separator=find_delimiter(header), infer_schema=False)
        else:
            raise InputError(f"{path} is no label file: it must end in .parquet, .csv or .jsonl.")
        known = rows.collect_schema()
        return rows.with_columns(
            pl.col(name).cast(OWN[name]) for name in known if name in OWN
        ).with_row_index("row")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"Cannot read {path}: {first_line(error)}. Give a file that aspectra label wrote."
        ) from None


def find_aspects(path: Path, names: list[str]) -> tuple[str, ...]:
    missing = [name for name in OWN if name not in names]
    if missing:
        raise InputError(
            f"{path} is not a label file: it has no column {missing[0]!r}. Give a file that aspectra label wrote, as it was written."
        )
    aspects = [
        name.removeprefix(PREFIX)
        for name in names[names.index("known_words") + 1 :]
        if name.startswith(PREFIX)
    ]
    if not aspects:
        raise InputError(
            f"{path} is not a label file: it has no column {PREFIX}… of an aspect. Label the reviews again."
        )
    return tuple(aspects)


def find_roles(path: Path, carried: list[str], wanted: Roles) -> Roles:
    """Take the columns that were told, and guess the others by name."""
    carried = [name for name in carried if name != "row"]
    for name in (wanted.date, wanted.rating, wanted.group):
        if name is not None and name not in carried:
            raise InputError(f"{path} has no carried column {name!r}; it has {', '.join(carried) or 'none'}.")
    plain = {"".join(filter(str.isalnum, name.lower())): name for name in reversed(carried)}

    def guess(known: tuple[str, ...]) -> str | None:
        return next((plain[name] for name in known if name in plain), None)

    return Roles(
        wanted.date or guess(DATE_NAMES),
        wanted.rating or guess(RATING_NAMES),
        wanted.group or guess(GROUP_NAMES),
    )


def find_days(path: Path, rows: pl.LazyFrame, roles: Roles, told: bool) -> tuple[Roles, pl.Expr]:
    nothing = pl.lit(None, pl.Date)
    if roles.date is None:
        return roles, nothing
    try:
        day = day_of(rows, roles.date)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"Cannot read {path}: {first_line(error)}. Label the reviews again.") from None
    if day is None and told:
        raise InputError(
            f"Column {roles.date!r} of {path} holds no dates that can be read. Write them as 2024-03-31."
        )
    return (roles, day) if day is not None else (replace(roles, date=None), nothing)


def compact(rows: pl.LazyFrame, aspects: tuple[str, ...], roles: Roles, day: pl.Expr) -> pl.DataFrame:
    rating = pl.col(roles.rating).cast(pl.Float32, strict=False) if roles.rating else pl.lit(None, pl.Float32)
    group = (
        pl.col(roles.group).cast(pl.String).cast(pl.Categorical)
        if roles.group
        else pl.lit(None, pl.Categorical)
    )
    return rows.select(
        "row", "review", "segment", "topic", "probability", "margin", "known_words",
        aspect=pl.col("aspect").cast(pl.Enum(aspects), strict=False), day=day, rating=rating.replace(float("nan"), None), group=group,
    ).collect(engine="streaming")  # fmt: skip


def check_frame(path: Path, frame: pl.DataFrame) -> None:
    if frame.is_empty():
        raise InputError(f"{path} has no rows. Label some reviews first.")
    if frame["aspect"].null_count():
        row = frame["aspect"].is_null().arg_true()[0] + 1
        raise InputError(
            f"{path}, row {row} has an aspect without a column {PREFIX}… of its own. Label the reviews again."
        )
    if frame.select("review", "segment").null_count().sum_horizontal().item():
        raise InputError(f"{path} has rows without review and segment number. Label the reviews again.")
    if frame.select(pl.struct("review", "segment").is_duplicated().any()).item():
        raise InputError(
            f"{path} has a segment number twice in one review: are these several label files in one? "
            "Label the reviews together: aspectra label RUN one.csv two.csv"
        )


def unread(labels: Labels, column: str, role: str | None, what: str) -> tuple[str, ...]:
    """Say how many reviews have nothing that can be read in a column."""
    lost = labels.frame.filter(pl.col(column).is_null())["review"].n_unique() if role else 0
    total = labels.frame["review"].n_unique()
    return (
        (f"{lost:,} of {total:,} reviews have no readable {what} in column {role!r}.",)
        if 0 < lost < total
        else ()
    )


def with_ratings(labels: Labels, told: bool) -> Labels:
    role = labels.roles.rating
    if role and labels.frame["rating"].is_null().all():
        if told:
            raise InputError(
                f"Column {role!r} of {labels.path} holds no numbers. Name another --rating-column."
            )
        return replace(labels, roles=replace(labels.roles, rating=None))
    return replace(labels, notes=labels.notes + unread(labels, "rating", role, "rating"))


def with_periods(labels: Labels) -> Labels:
    """Number the periods, in a unit that suits the span."""
    if not labels.dated:
        return replace(labels, frame=labels.frame.with_columns(period=pl.lit(None, pl.Int32)))
    unit = choose_unit(labels.frame["day"].drop_nulls())
    frame = labels.frame.with_columns(period=period_number(pl.col("day"), unit))
    return replace(
        labels, frame=frame, unit=unit, notes=labels.notes + unread(labels, "day", labels.roles.date, "date")
    )


def with_groups(labels: Labels) -> Labels:
    """Number the groups with most reviews from 0 on; the rest share the next number."""
    frame = labels.frame
    if not labels.roles.group:
        return replace(labels, frame=frame.with_columns(group=pl.lit(0, pl.UInt16)))
    sizes = frame.group_by("group").agg(pl.col("review").n_unique()).drop_nulls().sort(
        "review", pl.col("group").cast(pl.String), descending=[True, False]
    )  # fmt: skip
    names = sizes["group"].cast(pl.String).head(MOST_GROUPS).to_list()
    if not names:
        return replace(
            labels,
            roles=replace(labels.roles, group=None),
            frame=frame.with_columns(group=pl.lit(0, pl.UInt16)),
        )
    number = (
        pl.col("group")
        .cast(pl.String)
        .replace_strict(names, range(len(names)), default=len(names), return_dtype=pl.UInt16)
    )
    rest = len(sizes) > len(names) or frame["group"].null_count() > 0
    return replace(
        labels, frame=frame.with_columns(group=number), groups=(*names, OTHERS) if rest else tuple(names)
    )
