"""The lexicon's score of segments, compared with VADER's own rules, and the hashed features."""

import numpy as np
import polars as pl
import pytest
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from aspectra.sentiment.lexicon import alternatives
from aspectra.sentiment.rules import BITS, bounded, features, judge, longer
from aspectra.sentiment.words import WordReader

READER = WordReader("en")
SAME = (
    "The coffee is good.", "The coffee is very good!", "The coffee is GOOD.", "It is not good.",
    "The pump is terrible, and the lid is ugly.", "Not bad at all.",
    "The handle is black.", "I never had a problem with it.", "What a disaster??", "I love it!!!",
)  # fmt: skip


def scored(*texts: str | None) -> np.ndarray:
    return judge(READER.read(pl.Series(texts, dtype=pl.String))).scores


def test_scores_agree_with_vader() -> None:
    judge = SentimentIntensityAnalyzer()
    theirs = np.array([judge.polarity_scores(text)["compound"] for text in SAME])
    assert np.abs(scored(*SAME) - theirs).max() < 0.12
    assert (np.sign(scored(*SAME)) == np.sign(theirs)).all()


def test_words_of_reviews_are_known_beside_vaders() -> None:
    flimsy, sturdy, like = scored("A flimsy lid.", "A sturdy lid.", "It looks like a lid.")
    assert flimsy < like == 0 < sturdy


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("It is not good.", "It is good."),
        ("It isn’t good.", "It isn’t bad."),
        ("It was n't good .", "It was good ."),
        ("It is good.", "It is extremely good."),
        ("It is good.", "It is sooooo good."),
        ("It is good.", "It is goooood!"),
        ("It is fine 😡", "It is fine 😀"),
        ("It leaks :(", "It leaks :)"),
        ("Good taste but a horrible lid.", "A horrible lid but good taste."),
    ],
)
def test_what_strengthens_and_what_turns_round(less: str, more: str) -> None:
    low, high = scored(less, more)
    assert low < high


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("They did not fix the problem.", "I have not had a single problem with it."),
        ("It did not solve my issue.", "There hasn't been any issue so far."),
        ("There is a problem.", "We never ran into any real trouble."),
        ("It has given me nothing but trouble.", "Nothing about it is any trouble."),
    ],
)
def test_who_denies_a_trouble_praises(bad: str, good: str) -> None:
    low, high = scored(bad, good)
    assert low < -0.2 < 0.2 < high


def test_not_only_and_not_just_turn_nothing_round() -> None:
    assert (scored("It is not only good.", "Not just pretty good, it is quiet.") > 0.2).all()


def test_praise_before_until_is_a_complaint_and_a_complaint_before_it_is_little() -> None:
    plain, over = scored("It was great for a week.", "It was great until last week.")
    assert over < -0.1 < 0.5 < plain
    assert scored("It was awful until I cleaned it.")[0] > scored("It was awful.")[0] / 2


@pytest.mark.parametrize("mark", ["Although", "Despite that, though", "Despite"])
def test_what_is_conceded_counts_half(mark: str) -> None:
    conceded, said = scored(f"{mark} a bad lid, the pump is nice.", "A bad lid, the pump is nice.")
    assert conceded > said


@pytest.mark.parametrize(
    "text",
    [
        "The setup could not be any simpler.",
        "Tea does not get any better.",
        "I couldn’t put it down.",
        "We would not trade it for the world.",
        "I have never owned a better kettle.",
        "For ten dollars it was a steal.",
        "At this price it is hard to beat.",
    ],
)
def test_negated_comparatives_and_what_nobody_gives_up_are_praise(text: str) -> None:
    assert scored(text)[0] > 0.4


@pytest.mark.parametrize(
    "text",
    [
        "None of them are perfect.",
        "It was nice while it lasted.",
        "The pump is no longer here.",
        "It lasted a month.",
        "I will not buy from them.",
    ],
)
def test_past_praise_and_praise_of_none_are_complaints(text: str) -> None:
    assert scored(text)[0] < -0.2


def test_words_that_other_domains_use_otherwise_say_nothing() -> None:
    told = ("I rip a CD every day.", "It is ripping my songs.", "They shoot with a hard drive.", "I hope so.")
    assert (scored(*told) == 0).all()
    assert scored("The seam was ripping.")[0] < 0


def test_a_line_of_idioms_stands_for_all_its_alternatives() -> None:
    assert alternatives("so (good|nice)") == ["so good", "so nice"]
    assert alternatives("a (big |)deal") == ["a big deal", "a deal"]
    assert alternatives("like new") == ["like new"]


def test_only_what_nothing_contradicts_is_clear() -> None:
    texts = ("No problems at all.", "No problems, but an ugly lid.", "Good.", "Do not buy.", "It is here.")
    assert judge(READER.read(pl.Series(texts))).clear.tolist() == [1, 0, 0, -1, 0]


def test_negation_does_not_reach_over_a_comma_or_into_the_next_segment() -> None:
    assert scored("No, it is good.")[0] > 0
    assert scored("It does not", "good") == pytest.approx([0.0, scored("good")[0]])


@pytest.mark.parametrize(
    "text", ["It is way too loud.", "The lamp is too bright", "The noise is unbearable."]
)
def test_what_is_too_much_is_a_complaint(text: str) -> None:
    assert scored(text)[0] < -0.2


@pytest.mark.parametrize(
    "text",
    [
        "Not too loud.",
        "Too good!",
        "I bought the lid too",
        "The lid, too, is here.",
        "I own one too. Loud",
        "They too weren't here.",
        "It is here too, especially the lid.",
    ],
)
def test_too_good_and_not_too_much_are_none(text: str) -> None:
    assert scored(text)[0] >= 0


def test_like_judges_where_somebody_likes_and_not_where_it_compares() -> None:
    assert (scored("I like it.", "We really like the lid", "My kids like it") > 0.3).all()
    assert (scored("I don't like it.", "Didn’t like the lid", "I do n't like it") < -0.2).all()
    neither = (
        "It looks like a lid.",
        "It is not like the picture.",
        "I would like one",
        "Works like it should",
    )
    assert (scored(*neither) == 0).all()


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("Save your money.", "Money well spent."),
        ("Would not buy again.", "I would buy again!"),
        ("It is NOT as described", "It is exactly as described"),
        ("Don’t waste your time.", "Couldn’t be happier."),
        ("It doesn't work as expected.", "It works as expected."),
        ("never again", "No complaints."),
        ("A towel would have been nice.", "They couldn't do enough for us."),
        ("The staff could be friendlier.", "It won't break the bank."),
        ("It has seen better days.", "I slept like a log."),
        ("It leaves a lot to be desired.", "The service was spot on."),
        ("👎", "👍🏽"),
    ],
)
def test_idioms_and_emoji_judge(bad: str, good: str) -> None:
    low, high = scored(bad, good)
    assert low < -0.25 < 0.25 < high


def test_an_idiom_is_not_put_together_of_two_segments() -> None:
    assert scored("Never", "again").tolist() == [0, 0]
    assert scored("It came as", "described here").tolist() == [0, 0]


def test_too_says_nothing_in_a_language_without_a_lexicon() -> None:
    assert judge(WordReader("de").read(pl.Series(["too loud"]))).scores.tolist() == [0]


def test_until_counts_in_a_language_with_a_lexicon_only() -> None:
    counts = [judge(WordReader(name).read(pl.Series(["bra till nu"]))).counts[0] for name in ("en", "de")]
    assert counts[0] < counts[1] == 1


def test_emoticons_judge_and_ratios_and_times_do_not() -> None:
    assert (scored("It works :D", "It works :)", "I <3 it") > 0).all()
    assert scored("It shows 4:3 and 16:9 at 10:30.", "Cost:<30").tolist() == [0, 0]


def test_empty_segments_and_null_score_nothing() -> None:
    assert scored("", None, "…", "the handle").tolist() == [0, 0, 0, 0]
    assert len(scored()) == 0


def test_what_is_clear_is_turned_round_by_nothing_and_the_rest_is_left_alone() -> None:
    verdict = judge(READER.read(pl.Series(["No problems.", "Good.", "Do not buy."])))
    against = np.array([[-3.0, 3.0], [-3.0, 3.0], [-3.0, 3.0]])
    made = bounded(against, verdict)
    assert made[0, 0] > made[0, 1]
    assert made[1:].tolist() == against[1:].tolist()


def test_long_segments_are_less_often_neutral() -> None:
    words = READER.read(pl.Series(["It is here.", "lid " * 12, "lid " * 32, "lid " * 90]))
    short, long, longest, more = longer(judge(words))
    assert short == 0 < long < longest == more


def test_words_before_but_and_idioms_that_say_nothing_count_less_as_features() -> None:
    words = READER.read(pl.Series(["lid but cup", "rip a cd"]))
    found = features(words, judge(words))
    assert found.counts[found.rows == 0].tolist()[:3] == [0.5, 1, 1]
    assert found.counts[found.rows == 1].max() == 0


def test_features_tell_negated_words_apart_and_stay_in_range() -> None:
    words = READER.read(pl.Series(["good lid", "not good lid", "good lid"]))
    found = features(words, judge(words))
    sets = [set(found.ids[found.rows == row].tolist()) for row in range(3)]
    assert sets[0] == sets[2]
    assert sets[1] - sets[0]
    assert 0 <= found.ids.min() <= found.ids.max() < 2**BITS
