"""Days as people write them, and periods."""

from datetime import UTC, date, datetime

import polars as pl
import pytest

from aspectra.report.dates import choose_unit, day_of, period_name, period_number, period_start


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-03-31", "2024-12-01"],
        ["2024-03-31T23:59:01Z", "2024-12-01 08:00"],
        ["03/31/2024", "12/1/2024"],
        ["31.03.2024", "01.12.2024"],
        ["31/03/2024", "1/12/2024"],
        ["03-31-2024", "12-01-2024"],
        ["31-03-2024", "1-12-2024"],
        ["March 31, 2024", "December 1, 2024"],
        ["3 31, 2024", "12 1, 2024"],
        ["1711843200", "1733011200"],
        ["1711843200000", "1733011200000"],
        ["3/31/24", "12/1/24"],
        ["31.03.24", "1.12.24"],
        ["31/03/2024, 10:15", "1/12/2024, 9:00"],
        ["Sun Mar 31 2024", "Sunday, December 1, 2024"],
        ["Reviewed in the United States on March 31, 2024", "Reviewed in Germany on 1 December 2024"],
        ["45382", "45627"],
        ["2024-03-31", "1.12.2024"],
    ],
)
def test_days_are_read_however_they_are_written(texts: list[str]) -> None:
    rows = pl.LazyFrame({"when": texts})
    day, _ = day_of(rows, "when")
    assert day is not None
    assert rows.select(day).collect().to_series().to_list() == [date(2024, 3, 31), date(2024, 12, 1)]


def test_numbers_and_bare_years_are_days_too() -> None:
    for values, expected in (([1711843200, 1733011200], date(2024, 3, 31)), ([2024, 2023], date(2024, 1, 1))):
        rows = pl.LazyFrame({"when": values})
        day, _ = day_of(rows, "when")
        assert day is not None
        assert rows.select(day).collect().item(0, 0) == expected


def test_words_are_no_days() -> None:
    assert day_of(pl.LazyFrame({"when": ["soon", "later", "2024-01-01"]}), "when")[0] is None


def test_periods_have_names_for_people() -> None:
    day = pl.select(pl.lit(date(2012, 8, 9))).to_series().alias("day").to_frame()
    for unit, name in (("month", "August 2012"), ("quarter", "Q3 2012"), ("year", "2012")):
        number = day.select(period_number(pl.col("day"), unit)).item()
        assert period_name(number, unit) == name
        assert period_start(number, unit) <= date(2012, 8, 9) < period_start(number + 1, unit)


def test_days_that_no_review_can_have_are_not_read() -> None:
    rows = pl.LazyFrame({"when": ["2024-03-31", "2024-04-01", "0202-01-05", "2202-01-05"]})
    day, _ = day_of(rows, "when")
    assert day is not None
    assert rows.select(day).collect().to_series().null_count() == 2


def test_months_alone_are_days_too() -> None:
    rows = pl.LazyFrame({"when": ["Jun 2024", "July 2024", "August, 2024"]})
    day, _ = day_of(rows, "when")
    assert day is not None
    assert rows.select(day).collect().to_series().dt.month().to_list() == [6, 7, 8]


def test_one_order_of_day_and_month_is_used_for_a_column() -> None:
    rows = pl.LazyFrame({"when": ["14/06/2024", "15/06/2024", "03/04/2024", "06/25/2024"]})
    day, _ = day_of(rows, "when")
    assert day is not None
    found = rows.select(day).collect().to_series().to_list()
    assert found == [date(2024, 6, 14), date(2024, 6, 15), date(2024, 4, 3), None]


def test_a_moment_has_the_day_of_its_own_time_zone() -> None:
    moments = pl.Series([datetime(2023, 12, 31, 17, tzinfo=UTC)]).dt.convert_time_zone("Asia/Tokyo")
    rows = pl.LazyFrame({"when": moments})
    day, _ = day_of(rows, "when")
    assert day is not None
    assert rows.select(day).collect().item() == date(2024, 1, 1)


@pytest.mark.parametrize("first", ["3/4/2024", "3-4-2024"])
def test_days_that_may_be_months_are_told_unless_a_later_one_decides(first: str) -> None:
    both = pl.LazyFrame({"when": [first, "12-11-2024", "5/5/2024"]})
    day, unclear = day_of(both, "when")
    assert unclear
    assert both.select(day).collect().item(0, 0) == date(2024, 3, 4)
    late = pl.LazyFrame({"when": [first] * 6_000 + ["13-4-2024"]})
    day, unclear = day_of(late, "when")
    assert not unclear
    assert late.select(day).collect().item(0, 0) == date(2024, 4, 3)
    assert not day_of(pl.LazyFrame({"when": ["5/5/2024", "2024-03-01"]}), "when")[1]


@pytest.mark.parametrize(
    ("per_month", "months", "unit"),
    [(30, 12, "month"), (12, 24, "quarter"), (4, 24, "year"), (1, 12, "month")],
)
def test_periods_are_longer_where_months_have_few_reviews(per_month: int, months: int, unit: str) -> None:
    days = [date(2022 + month // 12, month % 12 + 1, 15) for month in range(months) for _ in range(per_month)]
    assert choose_unit(pl.Series(days), 30) == unit
