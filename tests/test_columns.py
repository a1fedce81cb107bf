import time
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from aspectra.errors import InputError
from aspectra.text.columns import choose_columns, find_types, with_types
from aspectra.text.read import open_source

REVIEWS = pl.DataFrame(
    {
        "id": ["007", "008"],
        "stars": ["4", ""],
        "price": ["4", "9.95"],
        "day": ["2024-05-01", "2024-02-29"],
        "at": ["2024-05-01T10:00:00", "2024-05-01 10:00:01"],
        "not_a_day": ["2024-02-30", "2024-05-01"],
        "nothing": ["", ""],
        "text": ["Good.", "Bad."],
    }
)


def test_columns_of_a_csv_become_numbers_and_dates_where_every_value_is_one(tmp_path: Path) -> None:
    REVIEWS.write_csv(tmp_path / "a.csv")
    source = open_source([str(tmp_path / "a.csv")])
    source.find_types()
    rows = next(source.batches())
    assert rows["stars"].to_list() == [4, None]
    assert rows["price"].to_list() == [4.0, 9.95]
    assert rows["day"].to_list() == [date(2024, 5, 1), date(2024, 2, 29)]
    assert rows["at"].to_list() == [datetime(2024, 5, 1, 10), datetime(2024, 5, 1, 10, 0, 1)]
    assert [rows[name].dtype for name in ("id", "not_a_day", "nothing", "text")] == [pl.String] * 4


def test_a_later_batch_may_show_that_a_column_is_text() -> None:
    frames = [pl.DataFrame({"stars": ["4"]}), pl.DataFrame({"stars": ["four"]})]
    assert find_types(frames[:1], numbers=True) == {"stars": pl.Int64}
    assert find_types(frames, numbers=True) == {}


def test_text_that_looks_like_a_number_stays_text_where_numbers_exist(tmp_path: Path) -> None:
    REVIEWS.write_ndjson(tmp_path / "a.jsonl")
    source = open_source([str(tmp_path / "a.jsonl")])
    source.find_types()
    assert set(source.types) == {"day", "at"}


def test_columns_are_chosen_by_name_and_pattern_in_order() -> None:
    frame = pl.DataFrame({"id": [1], "text": ["a"], "p_Image": [0.5], "p_Sound": [0.5]})
    assert choose_columns(frame, ["p_*", "id", "p_Sound"]).columns == ["p_Image", "p_Sound", "id"]
    with pytest.raises(InputError, match="no column 'aspects' to write; there are id, text"):
        choose_columns(frame, ["aspects"])


def test_types_of_many_columns_are_found_and_given_fast() -> None:
    began = time.process_time()  # of the processor: the machine may be busy
    frame = pl.DataFrame({f"c{n}": ["4", "5"] for n in range(5_000)})
    types = find_types([frame, frame], numbers=True)
    assert set(types.values()) == {pl.Int64()}
    assert with_types(frame, types).row(1) == (5,) * 5_000
    assert time.process_time() - began < 5


def test_names_that_mean_something_to_polars_are_names() -> None:
    frame = pl.DataFrame({"*": ["4"], "^c.*$": ["2024-05-01"], "c1": ["x"]})
    typed = with_types(frame, find_types([frame], numbers=True))
    assert typed.rows() == [(4, date(2024, 5, 1), "x")]
