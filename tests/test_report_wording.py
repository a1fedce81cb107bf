"""The report's sentences: what they claim, rather than how."""

from dataclasses import replace

import numpy as np

from aspectra.report import wording
from aspectra.report.content import Content
from aspectra.report.sentiment import Feeling, Felt
from aspectra.scores import score, score_sets


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


def judged(**nets: tuple[float, float, int]) -> Felt:
    """Net sentiment, half of its interval, and segments of each aspect."""
    found = [Feeling(name, net, net - reach, net + reach, 0, 0, n) for name, (net, reach, n) in nets.items()]
    return Felt(tuple(sorted(found, key=lambda one: one.net)), None, None, (), ())


def test_the_least_liked_is_named_alone_only_if_the_second_worst_is_clearly_better() -> None:
    alone = judged(Menu=(-0.4, 0.1, 90), Price=(0.1, 0.1, 90), Food=(0.5, 0.1, 90))
    assert wording.felt_title(alone) == "Menu is liked least (net −40); Food is liked most (net +50)"
    both = judged(Menu=(0.17, 0.1, 90), Price=(0.19, 0.1, 90), Food=(0.5, 0.1, 90))
    assert wording.felt_title(both).startswith("Menu and Price are liked least (net +17 and +19); Food is")
    few = judged(Durability=(-0.59, 0.39, 17), Price=(-0.54, 0.1, 90), Food=(0.5, 0.1, 90))
    assert wording.felt_title(few).startswith("Price is liked least (net −54)")
    chain = judged(Menu=(0, 0.2, 90), Price=(0.3, 0.2, 90), Food=(0.6, 0.2, 90))
    assert wording.felt_title(chain) == "Menu and Price are liked least (net 0 and +30)"


def test_groups_with_few_reviews_are_not_said_to_be_alike(content: Content) -> None:
    assert content.felt is not None
    assert content.felt.groups is not None
    assert content.groups is not None
    cells = replace(content.felt.groups, net=np.full_like(content.felt.groups.net, np.nan))
    few = replace(content.groups, reviews=np.full_like(content.groups.reviews, 5))
    poor = replace(content, groups=few)
    assert wording.felt_groups_title(poor, replace(content.felt, groups=cells)).startswith("Too few reviews")
    assert wording.groups_title(poor) == "Too few reviews of each product to compare them"


def test_right_is_said_to_be_one_of_several_gold_aspects() -> None:
    gold, names = [frozenset(["Taste", "Noise"]), frozenset(["Taste"])], ["Taste", "Noise"]
    scores = score(gold, ["Taste", "Taste"], names)
    assert wording.confusion_title(scores).startswith("The label is one of the gold aspects for 100")
    both = replace(scores, sets=score_sets(gold, [["Taste"], ["Taste"]], ["Taste", "Taste"], names))
    assert "for 50\u202f%" in wording.sets_sentence(both)
    assert wording.confusion_title(score(gold[1:], ["Taste"], names)).endswith("are labelled correctly")


def test_a_larger_topic_of_general_is_not_denied(content: Content) -> None:
    largest = replace(content.subs[0], aspect="General", share=0.5)
    assert wording.topics_title(replace(content, subs=(largest, *content.subs))).startswith(
        "Of the topics under your aspects, “"
    )
