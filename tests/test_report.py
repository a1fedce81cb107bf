"""The report as a whole: its content, pictures, tables and page, on the sample and on everything that may be missing or odd."""

import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import label_file

from aspectra.detector import AspectDetector
from aspectra.report import words
from aspectra.report.build import build
from aspectra.report.content import Content, Request
from aspectra.report.page import to_html
from aspectra.report.render import png
from aspectra.report.tables import tables
from aspectra.report.write import draw
from aspectra.sample import Sample

HOSTILE = "<img src=x onerror=alert(1)></script><b>bold</b>"


def quiet(stage: str, done: float) -> None:
    pass


@pytest.fixture(scope="module")
def labelled(detector: AspectDetector, sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return label_file(detector, sample.reviews, tmp_path_factory.mktemp("labels") / "labelled.parquet")


@pytest.fixture(scope="module")
def gold_file(sample: Sample, labelled: Path) -> Path:
    """Gold segments of the aspects that the run has."""
    known = sample.gold.filter(
        pl.col("aspects").list.eval(pl.element().is_in(["Taste", "Noise", "General"])).list.all()
    )
    known.write_ndjson(labelled.parent / "gold.jsonl")
    return labelled.parent / "gold.jsonl"


@pytest.fixture(scope="module")
def content(run: Path, labelled: Path, gold_file: Path) -> Content:
    return build(run, labelled, Request(gold=gold_file), quiet)


@pytest.fixture
def report_of(detector: AspectDetector, run: Path, tmp_path: Path) -> Callable[..., Content]:
    """Map the topics anew, label reviews and build the report of them."""

    def make(reviews: pl.DataFrame, aspects: dict[str, Any], **asked: Any) -> Content:
        own = AspectDetector.load(shutil.copytree(run, tmp_path / "run")).map_topics(aspects)
        own.save(tmp_path / "run")
        return build(
            tmp_path / "run", label_file(own, reviews, tmp_path / "own.parquet"), Request(**asked), quiet
        )

    return make


def test_the_numbers_are_those_of_the_label_file(content: Content, labelled: Path) -> None:
    frame = pl.read_parquet(labelled)
    assert (content.facts.reviews, content.facts.segments) == (frame["review"].n_unique(), len(frame))
    for share in content.shares:
        mine = frame.filter(pl.col("aspect") == share.name)
        assert share.segments == len(mine)
        assert share.share == pytest.approx(len(mine) / len(frame))
        assert share.reviews == pytest.approx(mine["review"].n_unique() / frame["review"].n_unique())
        assert share.low < share.share < share.high
    assert content.shares[-1].name == "General"


def test_topics_and_scores_are_those_that_the_other_commands_print(
    content: Content, run: Path, gold_file: Path, aspectra: Callable[..., Any]
) -> None:
    told = json.loads(aspectra("evaluate", run, gold_file, "--json").out)
    assert content.quality.grade is not None
    assert json.loads(json.dumps(content.quality.grade.scores.to_dict())) == told
    topics = json.loads(aspectra("topics", run, "--json").out)["items"]
    assert {line.id: line.coherence for line in content.quality.topics} == {
        item["id"]: item["coherence"] for item in topics
    }


def test_evidence_is_of_its_aspect_and_kind(content: Content, labelled: Path) -> None:
    frame = pl.read_parquet(labelled)
    for aspect in content.aspects:
        shown = {
            kind: [s for s in content.segments if (s.aspect, s.kind) == (aspect, kind)]
            for kind in ("typical", "recent", "random")
        }
        mine = frame.filter(pl.col("aspect") == aspect)
        texts = set(mine["text"])
        assert all(
            "".join(text for text, _ in segment.pieces) in texts
            for part in shown.values()
            for segment in part
        )
        assert min(s.probability for s in shown["typical"]) > float(mine["probability"].median() or 0)  # type: ignore[arg-type]
        assert min(s.day for s in shown["recent"] if s.day) > mine["date"].sort()[len(mine) // 2]


def test_every_picture_has_a_finding_and_is_not_blank(content: Content) -> None:
    charts = draw(content)
    assert set(charts) >= {
        "shares",
        "topics",
        "ratings",
        "trend",
        "groups",
        "confusion",
        "coverage",
        "coherence",
    }
    for chart in charts.values():
        data = png(chart)
        assert len(pixels(data)) > 30, chart.name
        assert chart.title


def pixels(data: bytes) -> set[int]:
    """Return the distinct bytes of a PNG's rows; a blank picture has two or three."""
    assert data.startswith(b"\x89PNG")
    parts, at = b"", 8
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        parts += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return set(zlib.decompress(parts))


def test_the_tables_hold_what_the_pictures_show(content: Content) -> None:
    made = tables(content)
    assert made["shares"].frame()["share of segments"].to_list() == [share.share for share in content.shares]
    assert content.trend is not None
    assert len(made["trend"].rows) == len(content.trend.names) * len(content.aspects)
    assert (
        made["confusion"].frame().drop("gold ↓ answer →").sum_horizontal().sum()
        == content.quality.grade.scores.n
    )  # type: ignore[union-attr]


def test_the_command_writes_page_pictures_and_workbook(
    run: Path, labelled: Path, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    page, png_folder, book = tmp_path / "r.html", tmp_path / "png", tmp_path / "r.xlsx"
    done = aspectra(
        "report", run, labelled, "-o", page, "--png", png_folder, "--xlsx", book, "--title", "A & B"
    )
    assert done.code == 0, done.err
    assert "is discussed most" in done.err or "are discussed most" in done.err
    assert '<h1 dir="auto">A &amp; B</h1>' in page.read_text()
    assert {path.name for path in png_folder.iterdir()} >= {"shares.png", "trend.png"}
    with zipfile.ZipFile(book) as parts:
        names = parts.read("xl/workbook.xml").decode()
    assert all(f'name="{name}"' in names for name in ("shares", "trend", "segments", "settings"))


def test_the_page_is_one_safe_file(report_of: Callable[..., Content], sample: Sample) -> None:
    odd = sample.reviews[:60].with_columns(
        text=pl.lit(HOSTILE + " the pump is loud and the taste bitter. ") + pl.col("text"),
        product=pl.lit(HOSTILE),
    )
    content = report_of(odd, {HOSTILE: range(8), "General": range(8, 14)}, title=HOSTILE)
    html = to_html(content, draw(content))
    outside = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert "<img" not in outside
    assert "<b>bold" not in outside
    assert html.count("</script>") == 4
    assert "'unsafe-eval'" not in html
    assert len(html) < 2_000_000


def test_reports_need_neither_dates_nor_ratings_nor_groups(
    report_of: Callable[..., Content], sample: Sample
) -> None:
    content = report_of(sample.reviews[:80].select("text"), {"Taste": range(8), "General": range(8, 16)})
    assert (content.trend, content.groups, content.ratings, content.changes) == (None, None, (), ())
    assert set(draw(content)) <= {"shares", "topics", "new", "coherence"}
    html = to_html(content, draw(content))
    assert 'id="change"' not in html
    assert 'id="evidence"' in html


def test_a_single_aspect_is_enough(report_of: Callable[..., Content], sample: Sample) -> None:
    content = report_of(sample.reviews[:80], {"Taste": range(16)})
    assert [share.share for share in content.shares] == [1.0]
    assert content.ratings[0].others is None
    assert "Taste is discussed most: 100\u202f% of segments" in to_html(content, draw(content))


def test_a_hundred_aspects_fit(report_of: Callable[..., Content], sample: Sample) -> None:
    aspects = {f"Aspect {number}": [number] if number < 16 else [] for number in range(100)}
    content = report_of(sample.reviews[:80], aspects)
    charts = draw(content)
    assert len(content.shares) == 100
    assert len(charts["shares"].panels[0]["data"]["values"]) == 40
    assert len(charts["topics"].panels) <= 12
    assert len(to_html(content, charts)) < 3_000_000


def test_dates_partly_unreadable_are_told(report_of: Callable[..., Content], sample: Sample) -> None:
    dates = pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("n/a")).otherwise(pl.col("date").cast(pl.String))
    content = report_of(sample.reviews.with_columns(date=dates), {"Taste": range(8), "General": range(8, 16)})
    assert "5 of 700 reviews have no readable date in column 'date'." in content.notes
    assert escape_note("5 of 700 reviews have no readable date in column 'date'.") in to_html(
        content, draw(content)
    )


def escape_note(text: str) -> str:
    return text.replace("'", "&#x27;")


def test_right_to_left_text_keeps_its_direction(report_of: Callable[..., Content], sample: Sample) -> None:
    hebrew = sample.reviews[:40].with_columns(
        text=pl.lit("הקפה טעים מאוד grinder pump noise loud. ") + pl.col("text")
    )
    content = report_of(hebrew, {"טעם": range(8), "General": range(8, 16)})
    html = to_html(content, draw(content))
    assert "טעם" in html
    assert 'line.dir = "auto"' in html


def test_the_same_labels_compared_agree(run: Path, labelled: Path) -> None:
    comparison = build(run, labelled, Request(against=labelled), quiet).comparison
    assert comparison is not None
    assert (comparison.agreement, comparison.kappa, comparison.moves) == (1.0, 1.0, ())
    assert comparison.same_segments
    assert not any(shift.claimed for shift in comparison.shifts)
    assert words.comparison_title(comparison) == "No share differs beyond chance from labelled.parquet"


def test_labels_that_moved_are_found_by_comparison(run: Path, labelled: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(labelled)
    moved = (pl.col("aspect") == "Noise") & (pl.col("segment") == 0)
    changed = frame.with_columns(aspect=pl.when(moved).then(pl.lit("Taste")).otherwise(pl.col("aspect")))
    changed.write_parquet(tmp_path / "changed.parquet")
    comparison = build(run, labelled, Request(against=tmp_path / "changed.parquet"), quiet).comparison
    n = frame.filter(moved).height
    assert comparison is not None
    assert comparison.moves == (("Taste", "Noise", n),)
    assert comparison.agreement == pytest.approx(1 - n / len(frame))
    assert {shift.name for shift in comparison.shifts if shift.claimed} == {"Taste", "Noise"}


def test_other_reviews_are_compared_without_agreement(
    run: Path, labelled: Path, detector: AspectDetector, sample: Sample, tmp_path: Path
) -> None:
    other = label_file(
        detector,
        sample.reviews[:300].with_columns(text=pl.lit("So. ") + pl.col("text")),
        tmp_path / "other.csv",
    )
    comparison = build(run, labelled, Request(against=other), quiet).comparison
    assert comparison is not None
    assert not comparison.same_segments
    assert comparison.matched < 30
    assert "segments stand in both files" in words.agreement_sentence(comparison) or comparison.matched == 0


def test_titles_claim_no_more_than_is_known(content: Content) -> None:
    first, second = (
        replace(content.shares[0], name=name, low=0.1, high=0.14, share=0.12) for name in ("Taste", "Noise")
    )
    assert words.shares_title((first, second)).startswith("Taste and Noise are discussed most")
    clear = replace(first, low=0.2, high=0.3, share=0.25)
    assert words.shares_title((clear, second)) == "Taste is discussed most: 25\u202f% of segments"
    none = replace(content, changes=(), contrasts=())
    assert words.changes_title(none) == "No aspect's share changed beyond chance"
    assert words.groups_title(none) == "No product differs beyond chance from the others"


@pytest.mark.parametrize(
    ("words_", "message"),
    [
        (("-o", "report.pdf"), "report.pdf: the report must be a file that ends in .html."),
        (("-o", "r.html", "--xlsx", "r.csv"), "r.csv: the workbook must be a file that ends in .xlsx."),
        (("-o", "r.html", "--by", "brand"), "has no carried column 'brand'"),
        (("-o", "r.html", "--gold", "none.jsonl"), "Cannot read none.jsonl"),
    ],
)
def test_wrong_requests_are_refused_in_one_line(
    run: Path, labelled: Path, aspectra: Callable[..., Any], words_: tuple[str, ...], message: str
) -> None:
    done = aspectra("report", run, labelled, "--quiet", *words_)
    assert done.code == 1
    assert message in done.err
    assert done.err.count("\n") == 1
