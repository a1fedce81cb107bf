"""A carried column of dates, however written → days, and days → periods (months, quarters or years) with names for people.

The format is the one that reads most of a sample; what it does not read becomes null, and is counted by the caller.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

SAMPLE = 5_000
FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m %d, %Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y",
    "%d %b %Y", "%Y%m%d",
)  # fmt: skip
UNITS = {"month": 1, "quarter": 3, "year": 12}
LONGEST = {"month": 36, "quarter": 120}
"""A unit serves spans up to so many months; years serve the rest."""


def readers(name: str) -> list[pl.Expr]:
    """Return one expression per way of writing a day, each null where it does not fit."""
    text = pl.col(name).cast(pl.String).str.strip_chars()
    day = text.str.replace(r"[T ]\d{1,2}:\d{2}.*$", "")  # without the time of day
    number = text.str.extract(r"^(\d{9,13})(?:\.0)?$").cast(pl.Int64, strict=False)
    seconds = pl.when(number > 10**11).then(number // 1000).otherwise(number)
    return [
        *(day.str.to_date(form, strict=False) for form in FORMATS),
        text.str.extract(r"^(\d{4}-\d{2})$").add("-01").str.to_date("%Y-%m-%d", strict=False),
        text.str.extract(r"^((?:19|20)\d{2})(?:\.0)?$").add("-01-01").str.to_date("%Y-%m-%d", strict=False),
        pl.from_epoch(seconds, time_unit="s").dt.date(),
    ]


def day_of(rows: pl.LazyFrame, name: str) -> pl.Expr | None:
    """Return the expression that reads the column's days; None if it holds hardly any."""
    kind = rows.collect_schema()[name]
    if kind.is_temporal():
        return None if kind in (pl.Time, pl.Duration) else pl.col(name).cast(pl.Date)
    sample = rows.select(name).filter(pl.col(name).is_not_null()).head(SAMPLE).collect()
    if sample.is_empty() or kind.is_nested():
        return None
    ways = readers(name)
    hits = sample.select(way.is_not_null().sum().alias(str(place)) for place, way in enumerate(ways)).row(0)
    best = int(np.argmax(hits))
    return ways[best] if hits[best] * 2 >= len(sample) else None


def choose_unit(days: pl.Series) -> str:
    """Choose a unit by the span of all but the first and last hundredth of the days."""
    low, high = (days.cast(pl.Int32).quantile(part, "nearest") for part in (0.01, 0.99))
    months = (float(high or 0) - float(low or 0)) / 30.4
    return next((unit for unit, most in LONGEST.items() if months <= most), "year")


def period_number(day: pl.Expr, unit: str) -> pl.Expr:
    """Number periods so that neighbours differ by one."""
    months = day.dt.year().cast(pl.Int32) * 12 + day.dt.month().cast(pl.Int32) - 1
    return months // UNITS[unit]


def period_start(number: int, unit: str) -> date:
    months = number * UNITS[unit]
    return date(months // 12, months % 12 + 1, 1)


def period_name(number: int, unit: str) -> str:
    """Write "March 2024", "Q1 2024" or "2024"."""
    start = period_start(number, unit)
    if unit == "quarter":
        return f"Q{start.month // 3 + 1} {start.year}"
    return start.strftime("%B %Y") if unit == "month" else str(start.year)
