"""The report as a whole: the function and the command, and everything that may be missing or odd."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aspectra.detector import AspectDetector
from aspectra.errors import MapError
from aspectra.report import build_report
from aspectra.report.build import emerging, product_words
from aspectra.report.content import Content, Counts
from aspectra.report.pictures.charts import draw
from aspectra.report.read import open_labels
from aspectra.sample import Sample


def test_the_numbers_are_those_of_the_label_file(content: Content, labelled_file: Path) -> None:
    frame = pl.read_parquet(labelled_file)
    assert (content.facts.reviews, content.facts.segments) == (frame["review"].n_unique(), len(frame))
    for share in content.shares:
        mine = frame.filter(pl.col("aspect") == share.name)
        assert share.segments == len(mine)
        assert share.share == pytest.approx(len(mine) / len(frame))
        assert share.reviews == pytest.approx(mine["review"].n_unique() / frame["review"].n_unique())
        assert share.low < share.share < share.high
    assert content.shares[-1].name == "General"


def test_the_function_takes_paths_as_text_and_returns_what_the_page_says(
    run: Path, labelled_file: Path, tmp_path: Path
) -> None:
    stages: list[str] = []
    page = tmp_path / "report.html"
    content = build_report(
        str(run), str(labelled_file), str(page), against=str(labelled_file), by="product", title="Espresso",
        progress=lambda stage, done: stages.append(stage),
    )  # fmt: skip
    assert list(dict.fromkeys(stages)) == ["read", "model", "count", "evidence", "write"]
    assert content.comparison is not None
    assert content.columns.group == "product"
    assert all(line in page.read_text() for line in ("Espresso", content.headlines[0]))


def test_the_command_writes_page_pictures_and_workbook(
    run: Path, labelled_file: Path, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    page, png_folder, book = tmp_path / "r.html", tmp_path / "png", tmp_path / "r.xlsx"
    done = aspectra(
        "report", run, labelled_file, "-o", page, "--png", png_folder, "--xlsx", book, "--title", "A & B"
    )
    assert done.code == 0, done.err
    assert "% of segments" in done.err
    assert '<h1 dir="auto">A &amp; B</h1>' in page.read_text()
    assert {path.name for path in png_folder.iterdir()} >= {"shares.png", "trend.png"}
    with zipfile.ZipFile(book) as parts:
        names = parts.read("xl/workbook.xml").decode()
    assert all(f'name="{name}"' in names for name in ("shares", "trend", "segments", "settings"))


def test_reports_need_neither_dates_nor_ratings_nor_groups(
    report_of: Callable[..., Content], sample: Sample
) -> None:
    content = report_of(sample.reviews[:80].select("text"), {"Taste": range(8), "General": range(8, 16)})
    assert (content.trend, content.groups, content.ratings, content.changes) == (None, None, (), ())
    assert set(draw(content)) <= {"shares", "topics", "new", "coherence", "sentiment"}


def test_a_single_aspect_is_enough(report_of: Callable[..., Content], sample: Sample) -> None:
    content = report_of(sample.reviews[:80], {"Taste": range(16)})
    assert [share.share for share in content.shares] == [1.0]
    assert content.ratings[0].others is None
    assert "Taste" in content.headlines[0]


def test_dates_partly_unreadable_are_told(
    report_of: Callable[..., Content], sample: Sample, tmp_path: Path
) -> None:
    dates = pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("n/a")).otherwise(pl.col("date").cast(pl.String))
    content = report_of(sample.reviews.with_columns(date=dates), {"Taste": range(8), "General": range(8, 16)})
    assert any("5 of 700 reviews" in note for note in content.notes)
    assert "5 of 700 reviews" in (tmp_path / "report.html").read_text()


def test_gold_cannot_measure_labels_of_an_older_map(
    run: Path, labelled_file: Path, gold_file: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.parquet"
    pl.read_parquet(labelled_file).with_columns(pl.col("probability") * 0.5).write_parquet(old)
    with pytest.raises(MapError, match=r"map has changed since old.parquet was labelled"):
        build_report(run, old, tmp_path / "report.html", gold=gold_file)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "report.pdf"), "report.pdf: the report must be a file that ends in .html."),
        (("-o", "r.html", "--xlsx", "r.csv"), "r.csv: the workbook must be a file that ends in .xlsx."),
        (("-o", "r.html", "--by", "brand"), "has no carried column 'brand'"),
        (("-o", "r.html", "--gold", "none.jsonl"), "Cannot read none.jsonl"),
    ],
)
def test_wrong_requests_are_refused_in_one_line(
    run: Path, labelled_file: Path, aspectra: Callable[..., Any], options: tuple[str, ...], message: str
) -> None:
    done = aspectra("report", run, labelled_file, "--quiet", *options)
    assert done.code == 1
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_filtered_file_is_told_even_to_the_quiet(
    run: Path, labelled_file: Path, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    some = tmp_path / "some.parquet"
    pl.read_parquet(labelled_file).filter(pl.col("aspect") == "Taste").write_parquet(some)
    page = tmp_path / "report.html"
    told = aspectra("report", run, some, "-o", page, "--quiet").err
    assert told.count("some.parquet lack some of their segments") == 1
    assert "some.parquet lack some of their segments" in page.read_text()


def test_the_product_itself_is_not_told_as_a_new_aspect(
    detector: AspectDetector, labelled_file: Path
) -> None:
    labels = open_labels(labelled_file)
    words = product_words(labels, "en")
    assert {"machine", "espresso", "coffee"} & set(words)
    assert "husband" not in words
    found = emerging(labels, detector, Counts.of(labels, len(detector.topics_.items)))
    assert not {topic.keywords[0] for topic in found} & set(words)


def test_topics_of_too_few_reviews_are_left_out(
    run: Path, labelled_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aspectra.topics.COLLAPSED", 0.0)
    content = build_report(run, labelled_file, tmp_path / "r.html")
    assert content.subs == content.emerging == ()
    assert "topics" not in draw(content)
    assert any("too few reviews for topics" in note for note in content.notes)
