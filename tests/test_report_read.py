"""Label files as the report reads them: every format, many ways to write dates, and wrong files."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as arrow
import pyarrow.parquet
import pytest
from conftest import label_file

from aspectra.config import NOT_REVIEW
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.report.build import find_facts
from aspectra.report.read import (
    OTHERS,
    ColumnNames,
    open_labels,
)
from aspectra.sample import Sample
from aspectra.text.write import write_frames


@pytest.fixture(scope="module")
def folder(detector: AspectDetector, sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same labels in every format."""
    home = tmp_path_factory.mktemp("labels")
    for suffix in (".parquet", ".csv", ".jsonl"):
        label_file(detector, sample.reviews[:120], home / f"labelled{suffix}")
    return home


@pytest.fixture
def labelled(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "labelled.parquet")


def rewritten(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_every_format_gives_the_same_labels(folder: Path, suffix: str) -> None:
    first, second = open_labels(folder / "labelled.parquet"), open_labels(folder / f"labelled{suffix}")
    assert first.columns == second.columns == ColumnNames("date", "rating", "product")
    assert (first.aspects, first.groups, first.unit) == (second.aspects, second.groups, second.unit)
    columns = ["row", "review", "topic", "aspect", "day", "period", "rating", "group"]
    assert first.frame.select(columns).equals(second.frame.select(columns))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_a_segment_counts_with_the_sentiment_of_its_aspect(
    labelled: pl.DataFrame, tmp_path: Path, suffix: str
) -> None:
    mixed = labelled[:3].with_columns(
        sentiment=pl.lit("positive"),
        aspects=pl.Series([["Taste", "Noise"], ["Taste"], []]),
        aspect_sentiments=pl.Series([["negative", "positive"], ["neutral"], []]),
    )
    write_frames([mixed], tmp_path / f"mixed{suffix}")
    assert open_labels(tmp_path / f"mixed{suffix}").frame["feeling"].to_list() == [-1, 0, 1]


def test_a_csv_that_a_spreadsheet_wrote_with_semicolons_is_read(
    labelled: pl.DataFrame, tmp_path: Path
) -> None:
    flat = labelled.with_columns(pl.col(pl.List(pl.String)).list.join(";"))
    flat.write_csv(tmp_path / "saved.csv", separator=";", include_bom=True)
    assert len(open_labels(tmp_path / "saved.csv").frame) == len(labelled)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_the_order_of_columns_does_not_matter(labelled: pl.DataFrame, tmp_path: Path, suffix: str) -> None:
    names = labelled.columns
    usual = open_labels(rewritten(labelled, tmp_path / "usual.parquet"))
    for at, order in enumerate((names[4:7] + names[:4] + names[7:], sorted(names), names[::-1])):
        write_frames([labelled.select(order)], tmp_path / f"{at}{suffix}")
        labels = open_labels(tmp_path / f"{at}{suffix}")
        assert (labels.columns, labels.groups) == (usual.columns, usual.groups)
        assert set(labels.aspects) == set(usual.aspects)


def test_a_column_of_the_user_may_be_called_like_a_probability(
    labelled: pl.DataFrame, tmp_path: Path
) -> None:
    own = labelled.select(pl.lit("own").alias("p_value"), "p_Taste", pl.exclude("p_Taste"))
    labels = open_labels(rewritten(own, tmp_path / "own.parquet"), ColumnNames(group="p_value"))
    assert set(labels.aspects) == {"Taste", "Noise", "General"}
    assert labels.groups == ("own",)


def test_a_csv_of_pandas_gives_the_same_labels(folder: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    saved = tmp_path / "saved.csv"
    pandas.read_parquet(folder / "labelled.parquet").astype({"topic": float, "review": float}).to_csv(saved)
    columns = ["review", "segment", "topic", "aspect", "feeling", "day", "rating"]
    found, expected = open_labels(saved).frame, open_labels(folder / "labelled.parquet").frame
    assert found.select(columns).equals(expected.select(columns))


def test_numbers_are_read_as_spreadsheets_write_them(labelled: pl.DataFrame, tmp_path: Path) -> None:
    flat = labelled.with_columns(pl.col(pl.List(pl.String)).list.join(";"))
    comma = pl.col(pl.Float32).round(6).cast(pl.String).str.replace(".", ",", literal=True)
    margin = ((pl.col("margin") * 100).cast(pl.String) + " %").str.replace(".", ",", literal=True)
    lines = flat.with_columns(margin.alias("percent")).with_columns(comma).with_columns(margin="percent")
    text = lines.drop("percent").write_csv(separator=";") + ";" * (flat.width - 1) + "\n"
    (tmp_path / "saved.txt").write_bytes(f"sep=;\n{text}".encode("utf-16"))
    labels = open_labels(tmp_path / "saved.txt")
    for name in ("probability", "margin"):
        np.testing.assert_allclose(labels.frame[name], labelled[name], atol=1e-5)
    assert labels.notes == ("1 blank row is left out of saved.txt.",)


def test_why_a_csv_cannot_be_read_is_said(labelled: pl.DataFrame, tmp_path: Path) -> None:
    flat = labelled.with_columns(pl.col(pl.List(pl.String)).list.join(";"))
    spoilt = flat.with_columns(product=pl.lit("Café"))
    (tmp_path / "latin.csv").write_bytes(spoilt.write_csv().encode("cp1252", "replace"))
    with pytest.raises(InputError, match=r"not UTF-8 \(byte 0xe9 in line 2\); save it as CSV UTF-8"):
        open_labels(tmp_path / "latin.csv")
    (tmp_path / "quote.csv").write_text(flat.head(3).write_csv().replace(",0,0,", ',0,0,"', 1))
    with pytest.raises(InputError, match=r"a quote does not close, or a row has more cells"):
        open_labels(tmp_path / "quote.csv")
    flat.with_columns(topic=pl.lit("six")).write_csv(tmp_path / "words.csv")
    with pytest.raises(InputError, match=r"row 1: its topic is 'six', not a number from 0"):
        open_labels(tmp_path / "words.csv")


def test_a_filtered_file_is_told_from_a_whole_one(labelled: pl.DataFrame, tmp_path: Path) -> None:
    assert open_labels(rewritten(labelled, tmp_path / "whole.parquet")).warnings == ()
    some = labelled.filter(pl.col("review") < 50)
    assert open_labels(rewritten(some, tmp_path / "reviews.parquet")).warnings == ()
    labels = open_labels(rewritten(labelled.filter(pl.col("aspect") == "Taste"), tmp_path / "one.parquet"))
    assert ["one.parquet lack some of their segments" in note for note in labels.warnings] == [True]
    assert set(labels.warnings) <= set(labels.notes)


def test_dates_that_cannot_be_read_are_counted(labelled: pl.DataFrame, tmp_path: Path) -> None:
    spoilt = labelled.with_columns(
        date=pl.when(pl.col("review") < 7).then(pl.lit("?")).otherwise(pl.col("date").cast(pl.String))
    )
    labels = open_labels(rewritten(spoilt, tmp_path / "spoilt.parquet"))
    assert ["7 of 120" in note and "'date'" in note for note in labels.notes] == [True]
    assert labels.frame.filter(pl.col("period").is_null())["review"].n_unique() == 7


def test_impossible_dates_and_endless_ratings_are_counted_too(labelled: pl.DataFrame, tmp_path: Path) -> None:
    first = pl.col("review") < 7
    spoilt = labelled.with_columns(
        date=pl.when(first).then(pl.lit(2**31 - 1, pl.Int32)).otherwise(pl.col("date").to_physical()),
        rating=pl.when(first).then(float("inf")).otherwise("rating"),
    ).with_columns(pl.col("date").cast(pl.Date))
    labels = open_labels(rewritten(spoilt, tmp_path / "spoilt.parquet"))
    assert ["7 of 120" in note for note in labels.notes] == [True, True]
    assert find_facts(labels).last == labelled.filter(~first)["date"].max()


def test_ratings_are_read_as_fit_reads_them(labelled: pl.DataFrame, tmp_path: Path) -> None:
    number = pl.col("rating").cast(pl.Int64).cast(pl.String)
    words = labelled.with_columns(rating=number + " out of 10")
    labels = open_labels(rewritten(words, tmp_path / "words.parquet"))
    assert labels.frame["rating"].to_list() == labelled["rating"].to_list()
    assert labels.rating_unit == "point"
    years = labelled.with_columns(rating=pl.col("rating") + 2000)
    labels = open_labels(rewritten(years, tmp_path / "years.parquet"))
    assert labels.columns.rating is None
    assert ["not a usual rating scale" in note for note in labels.notes] == [True]


def test_a_quote_in_the_name_of_a_column_comes_back_from_csv(folder: Path, tmp_path: Path) -> None:
    odd = pl.read_parquet(folder / "labelled.parquet").rename({"product": '5" screen'})
    write_frames([odd], tmp_path / "labels.csv")
    groups = open_labels(tmp_path / "labels.csv", ColumnNames(group='5" screen')).groups
    assert groups == open_labels(folder / "labelled.csv").groups


def test_a_column_called_row_and_dates_that_nobody_can_read_stop_nothing(
    labelled: pl.DataFrame, tmp_path: Path
) -> None:
    odd = labelled.rename({"product": "row"}).with_columns(date=pl.lit("n/a"))
    labels = open_labels(rewritten(odd, tmp_path / "odd.parquet"))
    assert len(labels.frame) == len(labelled)
    assert labels.notes[0].startswith("Less than half of column 'date' can be read as dates")


def test_a_mistyped_rating_is_left_out_and_counted(labelled: pl.DataFrame, tmp_path: Path) -> None:
    typed = pl.when(pl.col("review") == 3).then(10).otherwise(pl.col("rating").cast(pl.Int64))
    frame = pl.concat([
        labelled.with_columns(rating=typed if not part else "rating", review=pl.col("review") + 1000 * part)
        for part in range(3)
    ])  # fmt: skip
    labels = open_labels(rewritten(frame, tmp_path / "typed.parquet"))
    assert labels.frame["rating"].max() == 5
    assert [note for note in labels.notes if "rating" in note] == [
        "Column 'rating': 1 rating is outside of 1 to 5 and left out."
    ]


def test_ratings_of_which_the_lowest_is_the_best_are_left_out(labelled: pl.DataFrame, tmp_path: Path) -> None:
    assert open_labels(rewritten(labelled, tmp_path / "usual.parquet")).columns.rating == "rating"
    turned = labelled.with_columns(rating=6 - pl.col("rating"))
    labels = open_labels(rewritten(turned, tmp_path / "turned.parquet"))
    assert labels.columns.rating is None
    assert ["1 seems to be the best" in note for note in labels.notes] == [True]


def test_a_column_of_lists_is_no_rating_and_no_group(labelled: pl.DataFrame, tmp_path: Path) -> None:
    lists = labelled.with_columns(pl.concat_list("product"), pl.concat_list("rating"))
    labels = open_labels(rewritten(lists, tmp_path / "lists.parquet"))
    assert (labels.columns.rating, labels.columns.group) == (None, None)


def test_labels_need_no_carried_columns(labelled: pl.DataFrame, tmp_path: Path) -> None:
    labels = open_labels(
        rewritten(labelled.drop("date", "rating", "product", "review_id"), tmp_path / "bare.parquet")
    )
    assert labels.columns == ColumnNames()
    assert (labels.groups, labels.notes, labels.dated) == ((), (), False)


def test_the_largest_groups_have_names_and_the_rest_share_one(labelled: pl.DataFrame, tmp_path: Path) -> None:
    many = labelled.with_columns(product=pl.lit("P") + pl.col("review").floordiv(4).cast(pl.String))
    labels = open_labels(rewritten(many, tmp_path / "many.parquet"))
    assert len(labels.groups) == 13
    assert labels.groups[-1] == OTHERS
    assert labels.frame["group"].max() == 12


def test_a_file_that_is_no_label_file_is_refused(sample_files: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Give one label file"):
        open_labels(tmp_path)
    with pytest.raises(InputError, match=r"reviews.csv is not a label file: it has no column 'review'"):
        open_labels(sample_files / "reviews.csv")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(
        InputError, match=r"Cannot read .*broken.parquet: .* Give a file that aspectra label wrote"
    ):
        open_labels(tmp_path / "broken.parquet")
    with pytest.raises(InputError, match=r"No such file"):
        open_labels(tmp_path / "none.csv")
    book = tmp_path / "labels.xls"
    book.write_text("text")
    with pytest.raises(InputError, match=r"must end in .parquet, .jsonl, .csv"):
        open_labels(book)


def test_damaged_labels_are_refused(labelled: pl.DataFrame, tmp_path: Path) -> None:
    twice = rewritten(pl.concat([labelled, labelled]), tmp_path / "twice.parquet")
    with pytest.raises(InputError, match=r"same segment number twice in one review"):
        open_labels(twice)
    strange = rewritten(labelled.with_columns(aspect=pl.lit("Else")), tmp_path / "strange.parquet")
    with pytest.raises(InputError, match=r"row 1 has an aspect without a column p_…"):
        open_labels(strange)
    with pytest.raises(InputError, match=r"has no rows"):
        open_labels(rewritten(labelled.head(0), tmp_path / "empty.parquet"))
    words = labelled.with_columns(probability=pl.lit("high"))
    with pytest.raises(InputError, match=r"row 1: its probability is 'high', not a number from 0 to 1"):
        open_labels(rewritten(words, tmp_path / "words.parquet"))


@pytest.mark.parametrize(
    "change",
    [
        pl.lit(None, pl.String).alias("text"),
        pl.lit(float("nan")).alias("probability"),
        pl.lit(7.0).alias("margin"),
        pl.lit(-5).alias("topic"),
        pl.lit(float("inf")).alias("sentiment_score"),
    ],
)
def test_values_that_no_label_has_are_refused(
    labelled: pl.DataFrame, tmp_path: Path, change: pl.Expr
) -> None:
    name = change.meta.output_name()
    second = pl.when(pl.col("row") == 1).then(change).otherwise(name).alias(name)
    path = rewritten(labelled.with_row_index("row").with_columns(second).drop("row"), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=rf"row 2: its {name} is (missing|\S+, not a number from)"):
        open_labels(path)


def test_a_time_zone_that_is_unknown_is_named(labelled: pl.DataFrame, tmp_path: Path) -> None:
    at = arrow.array([0] * len(labelled), arrow.timestamp("us", "+05:30"))
    arrow.parquet.write_table(labelled.to_arrow().append_column("at", at), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"Column 'at' .* Write times in UTC"):
        open_labels(tmp_path / "a.parquet")


def test_a_named_column_must_be_there_and_fit(folder: Path) -> None:
    path = folder / "labelled.parquet"
    with pytest.raises(
        InputError, match=r"no carried column 'brand'; it has review_id, product, date, rating"
    ):
        open_labels(path, ColumnNames(group="brand"))
    with pytest.raises(InputError, match=r"Column 'product' of .* has no readable dates"):
        open_labels(path, ColumnNames(date="product"))
    with pytest.raises(InputError, match=r"Column 'product' of .* has no ratings"):
        open_labels(path, ColumnNames(rating="product"))


def test_segments_that_are_not_reviews_are_counted_and_left_out(
    labelled: pl.DataFrame, tmp_path: Path
) -> None:
    some = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit(NOT_REVIEW)).otherwise("aspect").alias("aspect")
    labels = open_labels(rewritten(labelled.with_columns(some), tmp_path / "some.parquet"))
    assert len(labels.frame) == len(labelled) - 3
    assert labels.frame["row"][0] == 3
    assert "3 segments are not reviews and are left out of the shares." in labels.notes
    assert NOT_REVIEW not in labels.aspects


def test_a_file_without_any_review_is_refused(labelled: pl.DataFrame, tmp_path: Path) -> None:
    path = rewritten(labelled.with_columns(aspect=pl.lit(NOT_REVIEW)), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="None of the"):
        open_labels(path)
