"""What several words say together: the sign of sentences whose single words mislead."""

from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from aspectra.sentiment.lexicon import SECTIONS, alternatives, filled, own_words
from aspectra.sentiment.model import SentimentModel
from aspectra.sentiment.opinions import implied, sentences, train
from aspectra.sentiment.reach import sayings
from aspectra.sentiment.rules import judge
from aspectra.sentiment.words import WordReader

PRAISE = {
    "negations that turn nothing round": (
        "No doubt the best kettle I own.",
        "Without a doubt a wonderful hotel.",
        "It is without question a great film.",
        "Not to mention the lovely staff.",
        "I can't believe how good this is.",
        "I couldn't stop smiling, it is so good.",
        "Can't thank them enough.",
        "No wonder it is so popular, it is great.",
        "It was nothing short of amazing.",
        "Nothing but praise for the team.",
        "It is not only good but also cheap.",
        "I have never been so happy with a purchase.",
        "Never had such a lovely meal.",
        "I never thought I would love it.",
        "You can't go wrong with this great machine.",
        "Don't get me wrong, I love it.",
        "There's no better place to eat.",
    ),
    "less, and a trouble denied": (
        "Less noisy than before.",
        "Far less annoying than the old model.",
        "Fewer problems than with my old one.",
        "Hardly any problems so far.",
        "Few complaints from me.",
        "There is little to complain about.",
        "It has been free of problems.",
        "A trouble free stay.",
        "Anything but boring.",
        "Far from bad.",
        "It is anything but cheap and nasty.",
        "I would not hesitate to recommend it.",
        "I wouldn't hesitate to use them again.",
        "Never hesitated to answer our questions.",
        "No hesitation in recommending them.",
        "Never fails.",
        "It has never failed me.",
        "It never disappoints.",
        "It never lets you down.",
        "Can't fault it.",
        "I do not think you will regret it.",
        "I don't think it is a bad machine.",
    ),
    "comparisons": (
        "No worse than the expensive ones.",
        "It is as good as the expensive ones.",
        "Better than my old noisy one.",
        "Not as bad as I feared.",
        "Easier than I feared.",
        "Couldn't be better.",
        "It could not have been easier.",
        "We could not have asked for more.",
        "It could be worse.",
        "I can't find a better one.",
        "Nothing beats it.",
    ),
    "sayings": (
        "Cheap to run.",
        "What's not to like?",
        "I wouldn't want to miss it.",
        "Would buy it again in a heartbeat.",
        "Too bad I didn't buy it earlier.",
        "I wish I had bought it sooner.",
        "Chuffed.",
        "Legend.",
        "So shiny.",
        "Absolute legends.",
        "Love at first sight.",
        "I can't wait to go back.",
        "Never a dull moment.",
        "Impossible not to love it.",
    ),
}
COMPLAINTS = {
    "negations that turn nothing round": (
        "Without doubt the worst machine I have owned.",
        "No doubt the worst meal ever.",
        "Without any doubt a terrible choice.",
        "I have never been so disappointed.",
        "Never had such a bad meal.",
        "I've never seen this much dirt in a nasty room.",
        "I couldn't believe how bad it was.",
        "It is nothing but trouble.",
        "It is not just bad, it is awful.",
        "It is not without problems.",
        "No matter what I did, it was awful.",
    ),
    "what turns round from afar": (
        "Far from perfect.",
        "It is far from a good product.",
        "Anything but comfortable.",
        "I do not think this is a good machine.",
        "I don't believe that it would be a good choice.",
        "We didn't find the room very comfortable.",
        "I don't feel it is worth the money.",
        "It fails to impress.",
        "Less comfortable than the old one.",
        "It is less reliable than before.",
        "Less than ideal.",
        "Nowhere near as good.",
        "No better than the cheap one.",
        "Not as good as I hoped.",
        "Not as good as the old one.",
    ),
    "what is not, or is no more": (
        "It should be easier to clean.",
        "It ought to be cheaper.",
        "It could be better.",
        "The cord could be longer.",
        "It could have been a great film.",
        "It would have been perfect with a lid.",
        "It should have been better.",
        "It needs to be quieter.",
        "If it were cheaper I would be happy.",
        "If only it were quieter.",
        "I wish it were as good as the old one.",
        "I wish they were more comfortable.",
        "I had hoped for something better.",
        "I was hoping for a nice relaxing meal.",
        "I'd have liked the full sixty minutes.",
        "I would have preferred a bigger room.",
        "It was supposed to be easy.",
        "It used to be good.",
        "I used to love this place.",
        "It was great for the first month.",
        "It worked great at first.",
        "At first it was great.",
        "It was great in the beginning.",
        "It no longer works.",
    ),
    "sayings": (
        "Too good to be true.",
        "Couldn't be worse.",
        "It couldn't have been worse.",
        "Too bad it is so loud.",
        "Automatic is dearer, mind you.",
        "It does get red hot to the touch.",
        "Never again.",
        "They couldn't care less.",
        "Nothing to write home about.",
    ),
}
NEITHER = (
    "It costs less than a week of parking.",
    "I will no doubt use it on Monday.",
    "It arrived a little later than the other one.",
    "It was the first month of the year.",
    "More or less the same size.",
    "The shop is far from the station.",
    "I think it should be in the box.",
    "I do not think so.",
)  # fmt: skip
LISTED = [
    *((text, 1) for text in chain(*PRAISE.values())),
    *((text, -1) for text in chain(*COMPLAINTS.values())),
    *((text, 0) for text in NEITHER),
]
SIGNS = {"negative": -1, "neutral": 0, "positive": 1}


@pytest.mark.parametrize(("text", "sign"), LISTED)
def test_the_lexicon_alone_knows_what_words_say_together(text: str, sign: int) -> None:
    answer = SentimentModel("en").label(pl.Series([text]))["sentiment"][0]
    assert SIGNS[answer] == sign


def test_what_is_learnt_turns_none_of_it_round() -> None:
    signs = np.array([sign for _, sign in LISTED if sign])
    texts = [text for text, sign in LISTED if sign]
    opposite = dict(zip(texts, 1 - signs, strict=True))

    def embed(wanted: list[str]) -> np.ndarray:
        """Stand for an encoder that takes all of these sentences for their opposite."""
        known = dict(zip(*sentences(), strict=True)) | dict(zip(*implied(), strict=True)) | opposite
        return np.eye(3)[[int(known.get(text, 1)) for text in wanted]][:, None].repeat(2, 1) + 0.01

    learnt = train(pl.Series(texts * 2), "en", None, embed(texts * 2), embed).label(pl.Series(texts))
    clear = judge(WordReader("en").read(pl.Series(texts))).clear
    assert (clear * signs >= 0).all()
    assert (clear != 0).mean() > 0.7
    assert (np.sign(learnt["sentiment_score"].to_numpy())[clear != 0] == signs[clear != 0]).all()


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        ("It is far from good.", "It is not far from good."),
        ("It is less noisy.", "It is no less noisy."),
        ("It failed to please.", "It never failed to please."),
        ("Free of problems.", "It was not free of problems."),
    ],
)
def test_what_is_negated_twice_is_not_turned_round(once: str, twice: str) -> None:
    first, second = SentimentModel("en").label(pl.Series([once, twice]))["sentiment_score"]
    assert first * second < 0


def test_idioms_that_share_a_word_are_not_both_found() -> None:
    words = WordReader("en").read(
        pl.Series(["It was not free of problems.", "I can't wait to use it again."])
    )
    said = sayings(words)
    places = said.words(said.kinds >= 0)
    assert len(places) == len(set(places.tolist())) > 0


def test_lists_and_brackets_in_brackets_are_filled_in() -> None:
    assert filled("be <good>", {"good": ["nice", "so_nice"]}) == "be (nice|so nice)"
    assert alternatives("a (b (c|d)|e) f") == ["a b c f", "a b d f", "a e f"]


def test_the_docs_say_how_many_words_and_idioms_there_are() -> None:
    words, sections = own_words()
    lines = [line for name in SECTIONS for listed in sections[name].values() for line in listed.split("\n")]
    told = (Path(__file__).parents[1] / "docs/sentiment.md").read_text(encoding="utf-8")
    assert f"{sum(len(listed.split()) for listed in words.values())} words and emoji" in told
    assert f"{len([line for line in lines if line])} lines of idioms" in told
