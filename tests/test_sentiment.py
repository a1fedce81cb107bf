"""Models of sentiment: their answers, their file, and how they are made without labels."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from aspectra.errors import RunError
from aspectra.sentiment.model import COLUMNS, SentimentModel
from aspectra.sentiment.opinions import frequent_phrases, implied, sentences, train

CORPUS = pl.Series(
    ["The lid leaks and I love the taste.", "My pump is sturdy.", "It hums.", "A red cup."] * 5
)


@pytest.fixture(scope="module")
def model() -> SentimentModel:
    return train(CORPUS, "en", np.arange(len(CORPUS)) // 2)


def test_a_model_without_labels_knows_praise_complaint_and_neither(model: SentimentModel) -> None:
    texts = ["I love it, great taste!", "It broke after a week.", "I bought it in June.", "not bad at all"]
    answers = model.label(pl.Series(texts))
    assert answers.columns == list(COLUMNS)
    assert answers["sentiment"].to_list() == ["positive", "negative", "neutral", "positive"]
    assert answers["sentiment_score"].is_between(-1, 1).all()
    assert answers["sentiment_confidence"].is_between(1 / 3, 1).all()


def test_the_lexicon_answers_where_nothing_was_learnt() -> None:
    alone = SentimentModel("en").label(pl.Series(["Terrible and awful!", "Wonderful and great!", "A cup."]))
    assert alone["sentiment"].to_list() == ["negative", "positive", "neutral"]
    assert SentimentModel("de").notes()


def test_a_mild_word_is_enough_where_the_lexicon_answers_alone() -> None:
    alone = SentimentModel("en").label(pl.Series(["A decent cup.", "A heavy cup."]))
    assert alone["sentiment"].to_list() == ["positive", "negative"]


def test_what_is_learnt_does_not_override_a_denied_problem() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        """Stand for an encoder that takes whoever speaks of problems for one who complains."""
        known = dict(zip(*sentences(), strict=True)) | dict(zip(*implied(), strict=True))
        side = [int(known.get(text, "problem" not in text)) for text in texts]
        return np.eye(3)[side][:, None].repeat(2, 1) + 0.01

    texts = pl.Series(["I have had no problems.", "It has problems.", "It is here."] * 20)
    made = train(texts, "en", None, embed(texts.to_list()), embed)
    scores = made.label(pl.Series(["I have had no problems.", "It has problems."]))["sentiment_score"]
    assert scores[0] > 0 > scores[1]


def test_what_no_word_judges_is_no_complaint() -> None:
    told = pl.Series(["The cup stands here.", "It came in a box.", "We make tea with it."] * 40)
    scores = train(told, "en", np.arange(len(told)) // 6).label(told, np.arange(len(told)) // 6)
    assert scores["sentiment_score"].abs().max() < 0.3
    assert set(scores["sentiment"]) == {"neutral"}


def test_a_segment_leans_towards_its_review(model: SentimentModel) -> None:
    texts = pl.Series(["I hate it.", "It is awful.", "It hums.", "I love it.", "It is great.", "It hums."])
    scores = model.label(texts, np.array([0, 0, 0, 1, 1, 1]))["sentiment_score"]
    assert scores[2] < model.label(texts)["sentiment_score"][2] < scores[5]


def test_no_segments_give_no_rows(model: SentimentModel) -> None:
    empty = model.label(pl.Series([], dtype=pl.String), np.zeros(0, int))
    assert empty.schema == model.label(pl.Series(["A cup."])).schema
    assert len(empty) == 0


def test_a_model_is_the_same_after_saving(model: SentimentModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model.npz")
    again = SentimentModel.load(tmp_path / "model.npz")
    both = [one.label(CORPUS)["sentiment_score"].to_numpy() for one in (model, again)]
    assert both[0] == pytest.approx(both[1], abs=0.01)


def test_a_damaged_file_is_refused(model: SentimentModel, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(b"PK nothing")
    with pytest.raises(RunError, match="cannot be used"):
        SentimentModel.load(path)
    np.savez(
        path,
        used=np.array([2**30]),
        weights=np.ones((1, 2)),
        bias=np.zeros(2),
        about='{"format": 1, "language": "en"}',
    )
    with pytest.raises(RunError, match="out of range"):
        SentimentModel.load(path)


def test_the_encoders_opinion_reaches_words_that_the_lexicon_lacks() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        """Stand for an encoder that takes "zork" for praise and "blim" for a complaint."""
        known = dict(zip(*sentences(), strict=True)) | dict(zip(*implied(), strict=True))
        side = [
            known.get(text, 2 * ("zork" in text) + ("blim" not in text and "zork" not in text))
            for text in texts
        ]
        return np.eye(3)[side][:, None].repeat(2, 1) + 0.01

    texts = pl.Series(["the zork pump", "a blim lid", "the pump", "it is zork", "it is blim"] * 8)
    made = train(texts, "en", None, embed(texts.to_list()), embed)
    scores = made.label(pl.Series(["so zork", "so blim"]))["sentiment_score"]
    assert scores[0] > 0.2 > -0.2 > scores[1]


def test_phrases_do_not_cross_punctuation() -> None:
    found = frequent_phrases(pl.Series(["Good lid, bad pump."] * 12))
    assert {"good", "good lid", "bad pump"} <= set(found)
    assert "lid bad" not in found
