"""The studio in a real browser: a person's whole way through a map, and what may go wrong on it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

from aspectra.aspects.aspects import aspects_of_run
from aspectra.detector import AspectDetector
from aspectra.sample import Sample
from aspectra.scores import Gold
from aspectra.studio.opening import Opening, open_studio
from aspectra.studio.server import free_socket, make_server, serve
from aspectra.studio.studio import Studio
from aspectra.topicmap.topicmap import read_map

api = pytest.importorskip("playwright.sync_api")
expect = api.expect
expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

ELEVEN = ("Taste", "Noise", "Price", "Design", "Service", "Pump", "Crema", "Tray", "Milk", "Cup", "Water")
HOSTILE = "<img src=x onerror=\"document.title='broken'\"></script><b>bold</b>"


@dataclass
class OpenPage:
    """A studio that is being served, and a browser to look at it with."""

    studio: Studio
    address: str
    context: Any

    def open(self) -> Any:
        page = self.context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(self.address)
        expect(page.locator("#card .segment").first).to_be_visible()
        return page

    def aspects(self) -> list[str | None]:
        return [choice.aspect for choice in read_map(self.studio.session.path).choices]

    def settle(self, page: Any) -> None:
        page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )  # else an old "Saved" is read
        expect(page.locator("#saved")).to_have_text("Saved")


@pytest.fixture
def open_page(own_run: Path, browser: Any) -> Iterator[Callable[..., OpenPage]]:
    ends = []

    def begin(
        run: Path = own_run, change: Callable[[Studio], None] = lambda studio: None, **options: Any
    ) -> OpenPage:
        studio = open_studio(
            run,
            Opening(
                by="Ada",
                encoder="none",
                **{"aspects": ("Taste", "Noise", "Price"), "replace": True, **options},
            ),
        )
        change(studio)
        listener = free_socket(None)
        server, address = make_server(studio, listener)
        thread = threading.Thread(target=serve, args=(server, listener), daemon=True)
        thread.start()
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        ends.append((server, thread, context))
        return OpenPage(studio, address, context)

    yield begin
    for server, thread, context in ends:
        context.close()
        server.should_exit = True
        thread.join(5)


def card_topic(page: Any) -> int:
    return int(page.locator("#card h1").inner_text().split()[1])


def test_a_whole_map_by_keyboard_alone(open_page: Callable[..., OpenPage]) -> None:
    here = open_page(aspects=())
    page = here.open()
    expect(page.locator("#aspects")).to_contain_text("No aspects yet")
    page.keyboard.press("a")
    page.keyboard.type("Taste, Noise, Price")
    page.keyboard.press("Enter")
    expect(page.locator("#aspects li")).to_have_count(6)
    for key in "123gxs12g3x21s1g":
        page.keyboard.press(key)
    expect(page.locator("#progress")).to_have_text("16 of 16 decided")
    here.settle(page)
    order = sorted(range(16), key=lambda topic: (-here.studio.shares[topic], topic))
    chosen = {"1": "Taste", "2": "Noise", "3": "Price", "g": "General", "x": None}
    for topic, key in zip(order, "123gxs12g3x21s1g", strict=True):
        assert key == "s" or here.aspects()[topic] == chosen[key]
    assert {choice.by for choice in read_map(here.studio.session.path).choices} == {"Ada"}
    assert page.errors == []


def test_undo_redo_and_moving_about(open_page: Callable[..., OpenPage]) -> None:
    here = open_page()
    page = here.open()
    first = card_topic(page)
    page.keyboard.press("3")
    expect(page.locator("#progress")).to_have_text("1 of 16 decided")
    page.keyboard.press("j")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Control+z")
    expect(page.locator("#progress")).to_have_text("0 of 16 decided")
    assert card_topic(page) == first
    page.keyboard.press("r")
    expect(page.locator("#progress")).to_have_text("1 of 16 decided")
    here.settle(page)
    assert here.aspects()[first] == "Price"


def test_keys_typed_faster_than_the_server_answers_reach_their_topics(
    open_page: Callable[..., OpenPage],
) -> None:
    here = open_page()
    act = here.studio.act
    here.studio.act = lambda *given: (time.sleep(0.15), act(*given))[1]  # type: ignore[method-assign]
    page = here.open()
    first = card_topic(page)
    for key in "12u3gx":
        page.keyboard.press(key)
    expect(page.locator("#progress")).to_have_text("4 of 16 decided")
    here.settle(page)
    order = sorted(range(16), key=lambda topic: (-here.studio.shares[topic], topic))
    assert first == order[0]
    assert [here.aspects()[topic] for topic in order[:4]] == ["Taste", "Price", "General", None]


def test_a_reload_keeps_map_undo_and_notes(open_page: Callable[..., OpenPage]) -> None:
    here = open_page()
    page = here.open()
    first = card_topic(page)
    page.keyboard.press("n")
    page.keyboard.type("a note")
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("2")
    expect(page.locator("#progress")).to_have_text("1 of 16 decided")
    here.settle(page)
    page.reload()
    expect(page.locator("#progress")).to_have_text("1 of 16 decided")
    page.keyboard.press("u")
    expect(page.locator("#progress")).to_have_text("0 of 16 decided")
    expect(page.locator("#card .note")).to_have_text("a note")
    assert card_topic(page) == first


def test_two_tabs_do_not_overwrite_each_other(open_page: Callable[..., OpenPage]) -> None:
    here = open_page()
    one, two = here.open(), here.open()
    topic = card_topic(one)
    one.keyboard.press("1")
    here.settle(one)
    expect(one.locator("#progress")).to_have_text("1 of 16 decided")
    two.keyboard.press("2")
    expect(two.locator("#notice")).to_contain_text("changed in another tab")
    expect(two.locator("#progress")).to_have_text("1 of 16 decided")
    assert here.aspects()[topic] == "Taste"


def test_the_effect_of_a_choice_comes_true(open_page: Callable[..., OpenPage], sample_files: Path) -> None:
    here = open_page(aspects=(), dev=sample_files / "dev.jsonl")
    page = here.open()
    figure = page.locator('[data-figure="f1_micro"] strong')
    delta = page.locator(".choice .delta").first
    expect(delta).to_be_visible()
    before, promised = float(figure.inner_text()), delta.inner_text().replace("−", "-").replace("±", "")
    assert "95 % interval" in delta.get_attribute("title")
    page.locator(".choice", has=page.locator(".delta")).first.click()
    here.settle(page)
    expect(figure).to_have_text(f"{here.studio.state()['effect']['figures']['f1_micro'][0] * 100:.1f}")
    assert float(figure.inner_text()) == pytest.approx(before + float(promised), abs=0.11)


def hostile(studio: Studio) -> None:
    """Put hostile words into everything that the page shows."""
    topics = studio.detector.topics_
    items = tuple(replace(item, keywords=(HOSTILE, *item.keywords[1:])) for item in topics.items)
    studio.detector.fitted_ = replace(studio.detector.fitted_, topics=replace(topics, items=items))
    studio.sample.texts[:] = [HOSTILE] * len(studio.sample)


def test_hostile_text_stays_text(open_page: Callable[..., OpenPage]) -> None:
    here = open_page(change=hostile, aspects=("<b>Taste</b>", "<img src=x>"))
    page = here.open()
    page.keyboard.press("1")
    page.locator("#try").fill(HOSTILE)
    expect(page.locator("#tried .segment")).to_contain_text(HOSTILE)
    expect(page.locator(".keywords")).to_contain_text("onerror")
    expect(page.locator(".previews li").first).to_contain_text("<b>bold</b>")
    assert page.locator("main img, main b, main script").count() == 0
    assert "broken" not in page.title()
    assert page.errors == []


def test_inline_script_is_blocked_even_if_it_got_in(open_page: Callable[..., OpenPage]) -> None:
    page = open_page().open()
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.broken = true\">')"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.broken") is None


def test_choices_wait_in_the_browser_while_they_cannot_be_saved(
    open_page: Callable[..., OpenPage], own_run: Path
) -> None:
    page = (here := open_page()).open()
    page.keyboard.press("1")
    here.settle(page)
    aside = own_run.rename(own_run.parent / "aside")
    page.keyboard.press("2")
    page.keyboard.press("3")
    expect(page.locator("#notice")).to_contain_text("Not saved.")
    expect(page.locator("#notice")).to_contain_text("2 choices are kept in this browser")
    page.add_init_script("window.setTimeout = () => 0")  # it does not try again by itself
    page.reload()
    expect(page.locator("#saved")).to_have_text("Not saved")
    aside.rename(own_run)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#notice")).to_contain_text("Saved what was kept in the browser: 2 choices")
    assert len([choice for choice in read_map(own_run / "topic_map.json").choices if choice.by == "Ada"]) == 3


def test_aspects_are_renamed_recoloured_moved_and_deleted(open_page: Callable[..., OpenPage]) -> None:
    here = open_page()
    page = here.open()
    page.locator("#aspects button.name", has_text="Noise").click()
    page.get_by_label("Name", exact=True).fill("Taste")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("There is an aspect 'Taste' already")
    for name, button in (("Noise", "Move up"), ("Noise", "Colour 8"), ("Price", "Delete")):
        page.locator("#aspects button.name", has_text=name).click()
        page.get_by_role("button", name=button, exact=True).click()
        here.settle(page)
    names = ["Noise", "Taste", "General", "Leave unmapped", "Not a review"]
    expect(page.locator("#aspects .name")).to_have_text(names)
    expect(page.locator("#aspects li").first).to_have_attribute("data-hue", "7")


def test_choices_carried_over_leave_only_the_changed_topics_open(
    open_page: Callable[..., OpenPage], own_run: Path, run: Path, sample: Sample, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    AspectDetector(**{**SMALL, "seed": 5, "steps": 100}).fit(sample.reviews["text"], run=new)
    here = open_page(run=new, aspects=(), replace=False, old=run)
    page = here.open()
    decided = sum(choice.by != "suggestion" for choice in read_map(new / "topic_map.json").choices)
    assert 0 < decided < 16
    expect(page.locator("#progress")).to_have_text(f"{decided} of 16 decided")
    page.get_by_role("button", name=f"Open {16 - decided}").click()
    expect(page.locator("#topics .list li")).to_have_count(16 - decided)
    expect(page.locator(".suggestion p")).to_contain_text("like topic")


def test_segments_labelled_by_key_give_a_first_estimate(
    open_page: Callable[..., OpenPage], own_run: Path
) -> None:
    here = open_page()
    page = here.open()
    page.get_by_role("button", name="Label some segments").click()
    expect(page.locator("dialog blockquote")).to_be_visible()
    for number, key in enumerate("12g3" * 5):
        expect(page.locator("dialog p.quiet")).to_contain_text(f"{number} labelled")
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(page.locator('[data-figure="f1_micro"] strong')).to_be_visible()
    assert len((own_run / "dev.jsonl").read_text().splitlines()) == 20


def test_a_finished_map_opens_read_only(
    open_page: Callable[..., OpenPage], snapshot: Callable[..., Any], own_run: Path
) -> None:
    before = snapshot(own_run)
    page = open_page(aspects=(), replace=False, read_only=True).open()
    expect(page.locator("#saved")).to_have_text("Read only")
    page.keyboard.press("1")
    expect(page.locator("#notice")).to_contain_text("reading only")
    expect(page.locator(".choice").first).to_be_disabled()
    assert snapshot(own_run) == before


def test_done_ends_the_server_and_says_what_comes_next(open_page: Callable[..., OpenPage]) -> None:
    page = open_page().open()
    page.get_by_role("button", name="Done").click()
    expect(page.locator("dialog")).to_contain_text("aspectra distill")


@pytest.mark.parametrize("words", [("القهوة", "لذيذة", "جدا"), ("コーヒー", "美味しい", "静か")])
def test_other_scripts_are_shown_in_their_direction(
    open_page: Callable[..., OpenPage], words: tuple[str, ...]
) -> None:
    def change(studio: Studio) -> None:
        topics = studio.detector.topics_
        items = tuple(replace(item, keywords=(*words, *item.keywords[3:])) for item in topics.items)
        studio.detector.fitted_ = replace(studio.detector.fitted_, topics=replace(topics, items=items))
        studio.sample.texts[:] = [" ".join(words) + "."] * len(studio.sample)

    page = open_page(change=change).open()
    direction = page.locator("#card .segment").first.evaluate("one => getComputedStyle(one).direction")
    assert direction == ("rtl" if words[0] == "القهوة" else "ltr")
    expect(page.locator(".keywords")).to_contain_text(words[0])


def test_a_narrow_window_has_everything_and_does_not_scroll_sideways(
    open_page: Callable[..., OpenPage],
) -> None:
    here = open_page()
    page = here.open()
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    for part in ("#spectrum", "#aspects", "#topics", "#card", "#effect", "#preview", "#tools"):
        assert page.locator(part).is_visible(), part


def test_every_control_has_a_name_for_a_screen_reader(open_page: Callable[..., OpenPage], gold: Gold) -> None:
    page = open_page().open()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input")]
        .filter((e) => !(e.innerText || e.ariaLabel || "").trim()).length"""
    )
    assert nameless == 0
    assert page.locator("#announce").get_attribute("aria-live") == "polite"
    assert json.loads(page.evaluate("JSON.stringify([...document.querySelectorAll('h1')].length)")) == 1


def test_an_aspect_is_described_on_the_page(open_page: Callable[..., OpenPage], own_run: Path) -> None:
    here = open_page()
    page = here.open()
    page.locator("#aspects button.name", has_text="Taste").click()
    page.get_by_label("About").fill("How the coffee tastes.")
    page.get_by_label("Words").fill("bitter, crema")
    page.get_by_label("Examples").fill("It tastes burnt.\nGreat flavor.")
    page.get_by_role("button", name="Keep", exact=True).click()
    here.settle(page)
    told = aspects_of_run(own_run)[0]
    assert (told.words, told.examples) == (("bitter", "crema"), ("It tastes burnt.", "Great flavor."))
    assert page.errors == []


def test_an_aspect_that_nothing_speaks_of_is_said_on_the_page(open_page: Callable[..., OpenPage]) -> None:
    page = open_page(aspects=("Taste", "xqz")).open()
    expect(page.locator("#aspects")).to_contain_text("Nothing speaks of xqz")


def test_a_topic_can_be_called_no_review(open_page: Callable[..., OpenPage]) -> None:
    page = (here := open_page()).open()
    first = card_topic(page)
    page.keyboard.press("z")
    here.settle(page)
    assert here.aspects()[first] == "Not a review"
    (again := page.get_by_role("button", name="Suggest again from 1 choice")).click()
    expect(again).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("not a review are marked")


def test_random_and_doubtful_segments_are_labelled_with_digits_and_shift(
    open_page: Callable[..., OpenPage], own_run: Path
) -> None:
    page = open_page(aspects=ELEVEN).open()
    page.locator("[data-key='label random']").click()
    expect(page.locator("dialog")).to_contain_text("Random segments, for an estimate: 0 labelled")
    page.keyboard.press("Shift+Digit1")
    expect(page.locator("dialog")).to_contain_text("for an estimate: 1 labelled")
    page.keyboard.press("2")
    expect(page.locator("dialog")).to_contain_text("for an estimate: 2 labelled")
    page.keyboard.press("Escape")
    page.locator("[data-key='label doubtful']").click()
    expect(page.locator("dialog")).to_contain_text("to improve the map: 0 labelled")
    page.keyboard.press("1")
    expect(page.locator("dialog")).to_contain_text("to improve the map: 1 labelled")
    rows = map(json.loads, (own_run / "dev.jsonl").read_text().splitlines())
    drawn = [(ELEVEN[9], "random"), (ELEVEN[1], "random"), (ELEVEN[0], "doubtful")]
    assert [(*row["aspects"], row["drawn"]) for row in rows] == drawn


def test_a_large_confusion_matrix_fits_its_panel(open_page: Callable[..., OpenPage], sample: Sample) -> None:
    gold = Gold(tuple(sample.gold["text"][:66]), tuple(frozenset([name]) for name in ELEVEN * 6))
    page = open_page(aspects=ELEVEN, change=lambda studio: studio.use_dev(gold)).open()
    expect(page.locator(".confusion")).to_be_visible()
    right = 'document.querySelector("{}").getBoundingClientRect().right'
    assert page.evaluate(f"{right.format('.confusion')} <= {right.format('#effect')}")  # both of one moment
