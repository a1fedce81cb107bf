"""The page as text: one safe file, whatever the reviews say."""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl

from aspectra.report.content import Content
from aspectra.rundir import ASPECTS
from aspectra.sample import Sample

HOSTILE = "<img src=x onerror=alert(1)></script><b>bold</b>"


def test_the_page_is_one_safe_file(report_of: Callable[..., Content], sample: Sample, tmp_path: Path) -> None:
    odd = sample.reviews[:60].with_columns(
        text=pl.lit(HOSTILE + " the pump is loud and the taste bitter. ") + pl.col("text"),
        product=pl.lit(HOSTILE),
    )
    report_of(odd, {HOSTILE: range(8), "General": range(8, 14)}, title=HOSTILE)
    html = (tmp_path / "report.html").read_text()
    outside = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert "<img" not in outside
    assert "<b>bold" not in outside
    assert html.count("</script>") == 4
    assert "'unsafe-eval'" not in html
    assert len(html) < 2_000_000


def test_right_to_left_text_keeps_its_direction(
    report_of: Callable[..., Content], sample: Sample, tmp_path: Path
) -> None:
    hebrew = sample.reviews[:40].with_columns(
        text=pl.lit("הקפה טעים מאוד grinder pump noise loud. ") + pl.col("text")
    )
    report_of(hebrew, {"טעם": range(8), "General": range(8, 16)})
    html = (tmp_path / "report.html").read_text()
    assert "טעם" in html
    assert 'line.dir = "auto"' in html


def test_what_was_said_of_aspects_is_shown_and_those_that_nothing_speaks_of(
    report_of: Callable[..., Content], sample: Sample, own_run: Path, tmp_path: Path
) -> None:
    (own_run / ASPECTS).write_text('[Taste]\nabout = "How <good> it is."\nwords = ["crema"]\n[Noise]\n')
    content = report_of(sample.reviews[:40].select("text"), {"Taste": range(8), "Noise": [], "General": [9]})
    assert [aspect.name for aspect in content.described] == ["Taste"]
    assert [note for note in content.notes if "Nothing speaks of Noise" in note]
    html = (tmp_path / "report.html").read_text()
    assert all(text in html for text in ("How &lt;good&gt; it is.", "crema", "Nothing speaks of Noise"))


def test_a_section_without_content_is_left_out(
    report_of: Callable[..., Content], sample: Sample, tmp_path: Path
) -> None:
    report_of(sample.reviews[:80].select("text"), {"Taste": range(8), "General": range(8, 16)})
    html = (tmp_path / "report.html").read_text()
    assert 'id="change"' not in html
    assert 'id="evidence"' in html


def test_groups_without_dates_and_ratings_stand_under_their_own_heading(
    report_of: Callable[..., Content], sample: Sample, tmp_path: Path
) -> None:
    reviews = sample.reviews[:80].select("text", "product")
    report_of(reviews, {"Taste": range(8), "General": range(8, 16)})
    html = (tmp_path / "report.html").read_text()
    assert 'id="groups"' in html
    for absent in ('id="change"', "In brackets", "lowers the rating", "complains of"):
        assert absent not in html
