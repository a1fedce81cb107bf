"""The studio in a real browser: old tabs, lost answers, and what else a person may take for their own map."""

# ruff: noqa: F811, as a fixture is imported

from collections.abc import Callable
from typing import Any

import pytest
from test_page import OpenPage, card_topic, expect, open_page  # noqa: F401

PRESS = """keys => [...keys].forEach(
    key => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})))"""
ONE_LINE = "document.querySelector('#card .head')?.getBoundingClientRect().height < 30"
CUT = """() => [...document.querySelectorAll(".name")]
    .filter(name => name.scrollWidth > name.clientWidth).map(name => name.innerText)"""


def lose_answer(route: Any) -> None:
    route.fetch()
    route.abort()


def test_keys_that_were_meant_for_an_older_map_are_all_dropped(open_page: Callable[..., OpenPage]) -> None:
    here = open_page()
    one, two = here.open(), here.open()
    one.keyboard.press("1")
    here.settle(one)
    two.evaluate(PRESS, "222")
    expect(two.locator("#notice")).to_contain_text("was not applied. Nor were the 2 after it.")
    expect(two.locator("#progress")).to_have_text("1 of 16 decided")
    assert "Noise" not in [choice.aspect for choice in here.studio.topic_map.choices if choice.by_person]
    two.keyboard.press("2")
    expect(two.locator("#progress")).to_have_text("2 of 16 decided")


def test_a_choice_whose_answer_was_lost_is_not_called_unsaved(open_page: Callable[..., OpenPage]) -> None:
    page = (here := open_page()).open()
    page.route("**/api/act", lose_answer, times=1)
    topic = card_topic(page)
    page.keyboard.press("2")
    expect(page.locator("#notice")).to_contain_text("All your choices are saved.")
    here.settle(page)
    assert here.aspects()[topic] == "Noise"
    assert page.evaluate("localStorage.length") == 0


def test_choices_after_a_lost_answer_are_sent_without_a_question(open_page: Callable[..., OpenPage]) -> None:
    page = (here := open_page()).open()
    page.route("**/api/act", lose_answer, times=1)
    page.evaluate(PRESS, "23")
    expect(page.locator("#notice")).to_contain_text("Saved what was kept in the browser: 1 choice.")
    here.settle(page)
    decided = [choice.aspect for choice in here.studio.topic_map.choices if choice.by_person]
    assert sorted(decided) == ["Noise", "Price"]


def test_an_old_tab_does_not_call_unsaved_what_a_new_one_has_sent(open_page: Callable[..., OpenPage]) -> None:
    here = open_page()
    old = here.open()
    old.route("**/api/*", lambda route: route.abort())
    old.keyboard.press("2")
    expect(old.locator("#notice")).to_contain_text("1 choice is kept in this browser")
    new = here.open()
    expect(new.locator("#notice")).to_contain_text("Saved what was kept in the browser: 1 choice.")
    expect(old.locator("#notice")).to_contain_text("Another tab has taken over the choices")
    new.reload()
    expect(new.locator("#progress")).to_have_text("1 of 16 decided")
    expect(new.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize("width", [900, 1280])
def test_no_choice_is_cut_and_the_head_of_a_card_is_one_line(
    open_page: Callable[..., OpenPage], width: int
) -> None:
    page = (here := open_page()).open()
    page.set_viewport_size({"width": width, "height": 900})
    page.keyboard.press("2")
    page.keyboard.press("k")
    here.settle(page)
    expect(page.locator("#card .status")).to_have_text("decided by Ada")
    assert page.evaluate(CUT) == []
    page.wait_for_function(ONE_LINE)  # the card may just be drawn anew


def test_the_page_says_what_its_figures_are_of(open_page: Callable[..., OpenPage]) -> None:
    here = open_page(aspects=("Taste", "Noise", "Blorple"))
    page = here.open()
    expect(page.locator("#aspects")).to_contain_text("this map's own labels. A student's may differ.")
    expect(page.locator("#aspects")).to_contain_text("(click its name)")
    expect(page.locator("#aspects")).not_to_contain_text("aspects.toml")
    here.studio.own = [(text, "Taste", "random") for text in here.studio.sample.texts[:20]]
    here.studio._estimate()
    page.reload()
    expect(page.locator("#effect")).to_contain_text("Expected of this map alone on new segments")
    figures = page.locator(".confusion .f1").all_inner_texts()
    assert figures[1:] == ["–", "–", "–"]
