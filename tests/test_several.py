"""All aspects of a segment, each with the sentiment of the clauses that speak of it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aspectra.config import NOT_REVIEW
from aspectra.labelling.export import export_onnx
from aspectra.labelling.labeller import Labeller, OnnxLabeller, load, load_student
from aspectra.labelling.several import WordOpinions, find_members, in_parts, judge_parts, several_columns
from aspectra.sentiment.model import SentimentModel
from aspectra.text import tokens
from aspectra.text.tokens import extract

BOTH = "The pump is loud but the coffee tastes great."
ASPECTS = ("Food", "Staff", "General")
TEXTS = pl.Series(["The food was great, but the waiter was very rude.", "Fine.", "x = 1", "Tasty and great."])
LABELS = pl.DataFrame({
    "aspect": ["Food", "General", NOT_REVIEW, "Food"],
    "sentiment": ["positive", "neutral", None, "positive"],
    "p_Food": [0.5, 0.1, 0.4, 0.6],
    "p_Staff": [0.4, 0.3, 0.3, 0.3],
    "p_General": [0.1, 0.6, 0.3, 0.1],
})  # fmt: skip
KNOWN = {"food": [0.9, 0.0, 0.1], "waiter": [0.0, 0.9, 0.1], "it": [0.0, 0.0, 1.0]}


def ask(texts: pl.Series) -> np.ndarray:
    """Know a word of each aspect, in more words the first of them, and nothing of others."""
    words = [re.findall(r"\w+", text.lower()) for text in texts]
    known = [[KNOWN[word] for word in some if word in KNOWN] for some in words]
    return np.array([found[0] if found else [0.3, 0.3, 0.4] for found in known]).reshape(-1, len(ASPECTS))


def find(texts: pl.Series, labels: pl.DataFrame = LABELS, several_from: float = 0.25) -> list[list[Any]]:
    """Return the two lists of each text."""
    opinions, sentiment = WordOpinions(ask), SentimentModel("en")
    labels, words = labels[: len(texts)], opinions.strongest(extract(texts))
    member = find_members(
        labels, texts, ASPECTS, several_from, words, lambda *some: in_parts(*some, opinions, "en")
    )
    found = several_columns(
        labels, texts, ASPECTS, member, lambda some: judge_parts(some, sentiment, opinions)
    )
    return [list(row) for row in found.rows()]


def test_each_aspect_has_the_sentiment_of_its_clause() -> None:
    assert find(TEXTS) == [
        [["Food", "Staff"], ["positive", "negative"]],
        [["General", "Staff"], ["neutral", "neutral"]],
        [[], []],
        [["Food", "Staff"], ["positive", "positive"]],
    ]


SURE = LABELS.with_columns(p_Food=pl.lit(0.98), p_Staff=pl.lit(0.01), p_General=pl.lit(0.01))


@pytest.mark.parametrize(
    ("text", "felt"),
    [
        ("The food is great and the waiter is really awful.", ["positive", "negative"]),
        ("I love the food, the waiter was very rude.", ["positive", "negative"]),
        ("Great food, really terrible waiter", ["positive", "negative"]),
        ("Great food and awful waiter!", ["positive", "negative"]),
        ("Really awful food but a great waiter.", ["negative", "positive"]),
        ("The food and the waiter are great.", ["positive", "positive"]),
        ("Great food and waiter", ["positive", "positive"]),
    ],
)
def test_a_word_names_an_aspect_that_the_answer_is_not(text: str, felt: list[str]) -> None:
    assert find(pl.Series([text]), SURE) == [[["Food", "Staff"], felt]]


def test_a_word_names_no_aspect_in_a_part_that_speaks_of_another() -> None:
    assert find(pl.Series(["The food of our waiter is great."]), SURE) == [[["Food"], ["positive"]]]
    both = "The food is great, and our waiter is great."
    assert find(pl.Series([both]), SURE) == [[["Food", "Staff"], ["positive", "positive"]]]


def test_general_is_named_by_no_word() -> None:
    assert find(pl.Series(["It was great food."]), SURE) == [[["Food"], ["positive"]]]


def test_a_word_is_asked_about_once() -> None:
    asked: list[str] = []

    def remember(words: pl.Series) -> np.ndarray:
        asked.extend(words)
        return ask(words)

    opinions = WordOpinions(remember)
    first = opinions.strongest(extract(pl.Series(["The food. Food!", "", None, "waiter"])))
    np.testing.assert_allclose(first, [[0.9, 0.3, 0.4], [0, 0, 0], [0, 0, 0], [0, 0.9, 0.1]])
    opinions.strongest(extract(pl.Series(["food waiter"])))
    assert asked == ["the", "food", "waiter"]
    assert opinions.strongest(extract(pl.Series(["", "!"]))).tolist() == [[0.0] * 3] * 2


def test_a_number_names_no_aspect() -> None:
    sure = WordOpinions(lambda words: np.full((len(words), 3), 0.9))
    assert sure.strongest(extract(pl.Series(["20", "4k", "20 forks"]))).tolist() == [
        [0.0] * 3,
        *[[0.9] * 3] * 2,
    ]


def test_when_there_are_many_only_the_last_words_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "MOST_REMEMBERED", 2)
    opinions = WordOpinions(ask)
    opinions.strongest(extract(pl.Series(["fine food waiter"])))
    assert opinions.strongest(extract(pl.Series(["food it"]))).tolist() == [[0.9, 0.0, 1.0]]
    assert set(opinions.rows) == {"food", "it"}


def gives_lists(labeller: Labeller) -> bool:
    """Tell whether lists start with the answer, fit together, and hold every aspect if asked to."""
    frame = labeller.label([BOTH, "I bought it in May.", "👍"])
    first = frame["aspects"].list.first().to_list() == frame["aspect"].to_list()
    as_long = frame["aspects"].list.len().equals(frame["aspect_sentiments"].list.len())
    labeller.several_from = 0.0
    every = set(labeller.label_segments([BOTH])["aspects"][0]) | {"General"}
    return first and as_long and every == set(labeller.topic_map.aspects)


@pytest.mark.parametrize("model", ["teacher", "fast", "encoder"])
def test_every_model_of_a_run_gives_lists(linear_run: Path, model: str) -> None:
    assert gives_lists(load(linear_run, model))


def test_an_exported_file_gives_lists_with_the_same_threshold(student_run: Path, tmp_path: Path) -> None:
    model = load_student(student_run)
    export_onnx(model.fitted, model.student, tmp_path / "student.onnx")
    exported = OnnxLabeller(tmp_path / "student.onnx")
    assert exported.several_from == model.several_from
    assert gives_lists(exported)
