"""All aspects of a segment, each with the sentiment of the clauses that speak of it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from aspectra.config import NOT_REVIEW
from aspectra.labelling.export import export_onnx
from aspectra.labelling.labeller import Labeller, OnnxLabeller, load, load_student
from aspectra.labelling.several import several_columns
from aspectra.sentiment.model import SentimentModel

BOTH = "The pump is loud but the coffee tastes great."
ASPECTS = ("Food", "Staff", "General")
TEXTS = pl.Series(["The food was great, but the waiter was very rude.", "Fine.", "x = 1", "Tasty and cheap."])
LABELS = pl.DataFrame({
    "aspect": ["Food", "General", NOT_REVIEW, "Food"],
    "sentiment": ["positive", "neutral", None, "positive"],
    "p_Food": [0.5, 0.1, 0.4, 0.6],
    "p_Staff": [0.4, 0.3, 0.3, 0.3],
    "p_General": [0.1, 0.6, 0.3, 0.1],
})  # fmt: skip


def ask(parts: pl.Series) -> np.ndarray:
    """Answer Staff for a clause with a waiter in it, Food for others."""
    staff = parts.str.contains("waiter").to_numpy()[:, None]
    return np.where(staff, [[0.1, 0.8, 0.1]], [[0.8, 0.1, 0.1]])


def test_each_aspect_has_the_sentiment_of_its_clause() -> None:
    found = several_columns(LABELS, TEXTS, ASPECTS, 0.25, SentimentModel("en"), ask, "sentence")
    assert found["aspects"].to_list() == [["Food", "Staff"], ["General", "Staff"], [], ["Food", "Staff"]]
    assert found["aspect_sentiments"].to_list() == [
        ["positive", "negative"], ["neutral", "neutral"], [], ["positive", "positive"],
    ]  # fmt: skip


def test_clauses_are_labelled_only_where_they_differ() -> None:
    asked: list[str] = []

    def remember(parts: pl.Series) -> np.ndarray:
        asked.extend(parts)
        return ask(parts)

    several_columns(LABELS, TEXTS, ASPECTS, 0.25, SentimentModel("en"), remember, "sentence")
    assert asked == ["The food was great,", "but the waiter was very rude."]
    plain = TEXTS.str.replace(", but", " and")
    several_columns(LABELS, plain, ASPECTS, 0.45, SentimentModel("en"), remember, "sentence")
    assert len(asked) == 2  # one aspect each, and no contrast


def test_what_a_clause_speaks_of_is_an_aspect_of_the_segment() -> None:
    labels = LABELS.with_columns(p_Food=pl.lit(0.98), p_Staff=pl.lit(0.01), p_General=pl.lit(0.01))
    found = several_columns(labels, TEXTS, ASPECTS, 0.25, SentimentModel("en"), ask, "sentence")
    assert found["aspects"][0].to_list() == ["Food", "Staff"]
    assert found["aspect_sentiments"][0].to_list() == ["positive", "negative"]
    other = several_columns(labels, TEXTS, ASPECTS, 0.25, SentimentModel("de"), ask, "sentence")
    assert other["aspects"][0].to_list() == ["Food"]


def test_clauses_of_one_mind_need_not_be_labelled() -> None:
    asked: list[str] = []

    def remember(parts: pl.Series) -> np.ndarray:
        asked.extend(parts)
        return ask(parts)

    texts = pl.Series(["The food was great, and the waiter was very friendly."])
    found = several_columns(LABELS[:1], texts, ASPECTS, 0.25, SentimentModel("en"), remember, "sentence")
    assert found["aspect_sentiments"].to_list() == [["positive", "positive"]]
    assert asked == []


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
