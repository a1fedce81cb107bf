"""Dates as people write them → days, and days → periods of a length that suits the time span.

All ways of writing a day are tried. Of those that contradict each other (3/4/2024), the one that reads most
of a sample is used for the whole column.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

DATE_SAMPLE = 5_000
EARLIEST, LATEST = date(1970, 1, 1), date(2099, 12, 31)
"""Days outside are misread or mistyped: the year 24, or 2202."""
CLEAR_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m %d, %Y", "%B %d, %Y", "%b %d, %Y",
    "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%d %B, %Y", "%d-%b-%Y", "%d-%b-%y", "%Y%m%d",
)  # fmt: skip
SLASHED = ("%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y")
"""3/4/2024 and 3-4-2024 may be in March or April: one of these is used for a whole column."""
DASHED = r"^(\d{1,2})-(\d{1,2})-(\d{4})$"
WEEKDAY = r"(?i)^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+"
BEFORE = r"(?i)^.*\bon\s+"
"""What shops write before a day: "Reviewed in the United States on June 14, 2024"."""
EXCEL = date(1899, 12, 30)
"""Spreadsheets number the days from here."""
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
LONGEST_SPAN = {"month": 36, "quarter": 120}
"""A unit is used for reviews that span at most so many months; years are used for longer spans."""


def within_reason(day: pl.Expr) -> pl.Expr:
    """Return days, null where no review can be of that day."""
    return pl.when(day.is_between(EARLIEST, LATEST)).then(day)


def date_readers(name: str) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """Return one expression per way of writing a day, each null where it does not fit.

    They are in two lists: the clear ones, and those that contradict each other.
    """
    text = pl.col(name).cast(pl.String).str.strip_chars()
    day = text.str.replace(r"[T ,]+\d{1,2}:\d{2}.*$", "")  # without the time of day
    day = day.str.replace(BEFORE, "").str.replace(WEEKDAY, "")
    number = text.str.extract(r"^(\d{9,13})(?:\.0)?$").cast(pl.Int64, strict=False)
    seconds = pl.when(number > 10**11).then(number // 1000).otherwise(number)
    serial = text.str.extract(r"^(\d{5})(?:\.\d+)?$").cast(pl.Int32, strict=False)
    month = day.str.extract(r"^([A-Za-z]{3,9},? \d{4})$").str.replace(",", "").add(" 1")
    clear = [
        *(day.str.to_date(form, strict=False) for form in CLEAR_FORMATS),
        *(month.str.to_date(form, strict=False) for form in ("%B %Y %d", "%b %Y %d")),
        text.str.extract(r"^(\d{4}-\d{2})$").add("-01").str.to_date("%Y-%m-%d", strict=False),
        text.str.extract(r"^((?:19|20)\d{2})(?:\.0)?$").add("-01-01").str.to_date("%Y-%m-%d", strict=False),
        pl.from_epoch(seconds, time_unit="s").dt.date(),
        (pl.lit(EXCEL).cast(pl.Int32) + serial).cast(pl.Date),
    ]
    day = day.str.replace(DASHED, "$1/$2/$3")
    slashed = [day.str.to_date(form, strict=False) for form in SLASHED]
    return [within_reason(one) for one in clear], [within_reason(one) for one in slashed]


def day_of(rows: pl.LazyFrame, name: str) -> tuple[pl.Expr | None, bool]:
    """Return the expression that reads the column's days, and whether day and month may be interchanged.

    The first is None if less than half of them are dates.
    """
    kind = rows.collect_schema()[name]
    if kind.is_temporal():
        if kind in (pl.Time, pl.Duration):
            return None, False
        return within_reason(pl.col(name).dt.date() if kind == pl.Datetime else pl.col(name)), False
    given = rows.select(name).filter(pl.col(name).is_not_null())
    sample = given.head(DATE_SAMPLE).collect()
    if sample.is_empty() or kind.is_nested():
        return None, False
    clear, slashed = date_readers(name)
    order, unclear = choose_order(sample, slashed)
    if unclear:  # sorted reviews may all be of the first days of a month
        order, unclear = choose_order(given.collect(engine="streaming"), slashed)
    day = pl.coalesce(slashed[order], *clear)
    enough = sample.select(day.is_not_null().sum()).item() * 2 >= len(sample)
    return (day if enough else None), unclear


def choose_order(values: pl.DataFrame, slashed: list[pl.Expr]) -> tuple[int, bool]:
    """Return which of SLASHED reads most dates, and whether the other order reads as many, as other days."""
    counts = values.select(one.is_not_null().sum().alias(str(at)) for at, one in enumerate(slashed)).row(0)
    order = int(np.argmax(counts))
    other = slashed[order ^ 1]
    differs = values.select((slashed[order] != other).any()).item()
    return order, bool(differs) and counts[order] == counts[order ^ 1]


def choose_unit(days: pl.Series, enough: int) -> str:
    """Choose month, quarter or year by the span from the first to the last hundredth of the reviews' days.

    Where most reviews would be in periods with fewer than `enough`, periods are longer, if that helps.
    """
    low, high = (days.cast(pl.Int32).quantile(part, "nearest") for part in (0.01, 0.99))
    months = (float(high or 0) - float(low or 0)) / 30.4
    units = [unit for unit in MONTHS_IN if months <= LONGEST_SPAN.get(unit, months)]
    for unit in units:
        numbers = days.to_frame("day").select(period_number(pl.col("day"), unit))["day"]
        counts = numbers.value_counts()["count"]
        if 2 * counts.filter(counts >= enough).sum() >= len(days):
            return unit
    return units[0]


def period_number(day: pl.Expr, unit: str) -> pl.Expr:
    """Number the periods so that neighbours differ by one."""
    months = day.dt.year().cast(pl.Int32) * 12 + day.dt.month().cast(pl.Int32) - 1
    return months // MONTHS_IN[unit]


def period_start(number: int, unit: str) -> date:
    months = number * MONTHS_IN[unit]
    return date(months // 12, months % 12 + 1, 1)


def period_name(number: int, unit: str) -> str:
    """Write "March 2024", "Q1 2024" or "2024"."""
    start = period_start(number, unit)
    if unit == "quarter":
        return f"Q{start.month // 3 + 1} {start.year}"
    return start.strftime("%B %Y") if unit == "month" else str(start.year)
