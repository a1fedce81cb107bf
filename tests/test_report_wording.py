"""The report's sentences: what they claim, rather than how."""

from dataclasses import replace

from aspectra.report import wording
from aspectra.report.content import Content


def test_aspects_whose_order_may_be_chance_are_named_together(content: Content) -> None:
    first, second = (
        replace(content.shares[0], name=name, low=0.1, high=0.14, share=0.12) for name in ("Taste", "Noise")
    )
    assert "Taste and Noise" in wording.shares_title((first, second))
    clear = wording.shares_title((replace(first, low=0.2, high=0.3, share=0.25), second))
    assert "Taste" in clear
    assert "Noise" not in clear
    assert wording.percent(0.25) in clear


def test_nothing_is_claimed_where_nothing_was_found(content: Content) -> None:
    none = replace(content, changes=(), contrasts=(), ratings=(), emerging=(), comparison=None, felt=None)
    assert wording.changes_title(none).startswith("No ")
    assert wording.groups_title(none).startswith("No product")
    assert len(wording.headlines(none)) == 1


def test_sentences_use_no_word_of_the_trade(content: Content) -> None:
    lines = [
        *content.headlines,
        *wording.quality_lines(content.quality),
        wording.coherence_title(content.quality),
    ]
    assert len(lines) > 4
    assert not any(word in line.lower() for line in lines for word in ("npmi", "γ", "β", "nats", "logit"))


def test_numbers_are_written_for_people() -> None:
    assert [wording.percent(share) for share in (0.031, 0.21, 1.0)] == [
        "3.1\u202f%",
        "21\u202f%",
        "100\u202f%",
    ]
    assert wording.percent(0.0001) == "under 0.1\u202f%"
    assert wording.signed(-0.25) == "−0.25"
    assert (wording.count(1_988_769), wording.count(700)) == ("1.99 million", "700")


def test_topics_with_the_same_first_words_get_different_names() -> None:
    calls = [("call", "service", "day", "hour"), ("call", "service", "day", "week")]
    names = wording.distinct_names([*calls, ("price", "pay", "cheap")])
    assert names == ["call, service, day, hour", "call, service, day, week", "price, pay, cheap"]
