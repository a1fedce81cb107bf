"""The report in a real browser: drawn without errors or requests, searched, filtered, small, printed."""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import label_file

from aspectra.detector import AspectDetector
from aspectra.report import build_report
from aspectra.sample import Sample

api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

HOSTILE = "<img src=x onerror=\"document.title='broken'\"></script><b>bold</b>"
ASPECT = "<b>Noise</b>"
HEBREW = "הטעם של הקפה"


@pytest.fixture(scope="module")
def report(run: Path, sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose texts, products and aspects are hostile, and partly written from right to left."""
    home = tmp_path_factory.mktemp("report")
    detector = AspectDetector.load(shutil.copytree(run, home / "run"))
    detector.map_topics({"Taste": range(6), ASPECT: range(6, 11), "General": range(11, 16)}).save(
        home / "run"
    )
    hostile, hebrew = (
        pl.col("text").str.replace_all(r"(^|[.!?] )", "${1}" + before + " ") for before in (HOSTILE, HEBREW)
    )
    text = pl.when(pl.int_range(pl.len()) % 2 == 0).then(hostile).otherwise(hebrew)
    reviews = sample.reviews.with_columns(text=text, product=pl.lit("<i>") + pl.col("product"))
    labels = label_file(detector, reviews, home / "labelled.parquet")
    build_report(home / "run", labels, home / "report.html", title=HOSTILE)
    return home / "report.html"


def opened(browser: Any, report: Path, width: int = 1280) -> Any:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(report.as_uri())
    expect(page.locator("html[data-ready]")).to_be_attached()
    return page


@pytest.fixture(scope="module")
def shared_page(browser: Any, report: Path) -> Any:
    return opened(browser, report)


@pytest.fixture
def page(shared_page: Any) -> Any:
    """The page with all filters open."""
    for name in ("aspect", "kind", "group"):
        shared_page.locator(f"#{name}").select_option("")
    shared_page.locator("#search").fill("")
    return shared_page


def test_it_draws_everything_without_a_word_on_the_console_or_a_request(page: Any, report: Path) -> None:
    panels = page.locator(".panel")
    assert panels.count() >= 8
    assert page.locator(".panel svg").count() == panels.count()
    assert page.said == []
    assert page.asked == [report.as_uri()]


def test_pictures_are_not_blank(page: Any) -> None:
    marks = page.evaluate(
        "[...document.querySelectorAll('.panel svg')].map((svg) => "
        "[...svg.querySelectorAll('.role-mark path, .role-mark line')].map((mark) => "
        "mark.getBoundingClientRect()).filter((box) => box.width + box.height > 2).length)"
    )
    assert min(marks) >= 1
    assert sum(marks) > 40


def test_hostile_text_stays_text(page: Any) -> None:
    expect(page.locator("h1")).to_have_text(HOSTILE)
    page.locator("#search").fill("onerror")
    expect(page.locator("#segments .said").first).to_contain_text("<img src=x onerror=")
    assert ASPECT in page.locator("#chart-shares svg").text_content()
    assert page.locator("main img, main b, main i, h1 b").count() == 0
    assert page.title() == HOSTILE


def test_a_script_that_got_in_would_not_run(page: Any) -> None:
    evil = '<img id=evil src=x onerror="window.broken = true">'
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '{evil}')")
    page.wait_for_timeout(100)
    assert page.evaluate("window.broken") is None
    page.evaluate("document.getElementById('evil').remove()")
    page.said.clear()  # the browser's own word about what it blocked


def found(page: Any) -> int:
    return int(page.locator("#found").inner_text().split()[0])


def test_search_and_filters_narrow_the_segments(page: Any) -> None:
    everything = found(page)
    page.locator("#aspect").select_option(label=ASPECT)
    of_aspect = found(page)
    assert 0 < of_aspect < everything
    expect(page.locator("#keywords")).to_contain_text("Keywords:")
    assert set(page.locator("#segments .aspect").all_inner_texts()) == {ASPECT}
    page.locator("#kind").select_option(label="least certain")
    of_kind = found(page)
    assert 0 < of_kind < of_aspect
    page.locator("#group").select_option(index=1)
    assert found(page) < of_kind
    page.locator("#search").fill("no such words at all")
    expect(page.locator("#found")).to_have_text("0 segments")


def test_more_segments_come_when_asked_for(page: Any) -> None:
    shown = page.locator("#segments li")
    expect(shown).to_have_count(20)
    page.locator("#more").click()
    expect(shown).to_have_count(40)


def test_a_click_on_a_bar_shows_its_segments(page: Any) -> None:
    page.locator("#chart-shares .mark-rect path").first.click()
    expect(page.locator("#aspect")).not_to_have_value("")
    assert len(set(page.locator("#segments .aspect").all_inner_texts())) == 1


def test_hebrew_is_set_from_right_to_left(page: Any) -> None:
    page.locator("#search").fill("הקפה")
    said = page.locator("#segments .said").first
    expect(said).to_contain_text("הטעם")
    assert said.evaluate("(line) => getComputedStyle(line).direction") == "rtl"


def test_a_phone_needs_no_sideways_scrolling(browser: Any, report: Path) -> None:
    phone = opened(browser, report, 390)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.locator("#chart-shares svg").bounding_box()["width"] <= 390
    assert phone.said == []
    phone.close()


def test_it_prints_without_controls(browser: Any, report: Path) -> None:
    paper = opened(browser, report)
    paper.emulate_media(media="print")
    expect(paper.locator(".filters")).to_be_hidden()
    expect(paper.locator("#chart-shares svg")).to_be_visible()
    assert paper.pdf(format="A4").startswith(b"%PDF")
    paper.close()
