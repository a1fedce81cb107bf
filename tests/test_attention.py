"""Attention word by word."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aspectra.attention import Explanation, attended, explain, find_words, to_html, top, verdict
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.labelling.labeller import StudentLabeller, TeacherLabeller, load_student
from aspectra.scores import Gold

HOSTILE = '<img src=x onerror="alert(1)"> the coffee </script> & more'
TEXT = "The pump is LOUD, <b>and</b> the coffee tastes bitter!"


@pytest.fixture(scope="module")
def model(student_run: Path) -> StudentLabeller:
    return load_student(student_run)


def test_every_written_word_has_its_attention(model: StudentLabeller) -> None:
    told = explain(model, TEXT)
    assert told.words == tuple(TEXT.split())
    assert sum(share or 0 for share in told.teacher) == pytest.approx(1, abs=1e-5)
    assert told.student is not None
    assert 0.5 < sum(told.student) < 1  # the rest is on special pieces
    assert told.teacher[0] is None
    assert min(told.student) > 0


def test_words_one_by_one_are_the_tokens_of_the_whole_text(detector: AspectDetector) -> None:
    alone, whole = (
        detector.vocabulary_.encode(pl.Series(texts)).ids.tolist() for texts in (TEXT.split(), [TEXT])
    )
    assert alone == whole


def test_answers_are_those_of_labelling(model: StudentLabeller) -> None:
    told = explain(model, TEXT)
    row = model.label_segments([TEXT]).row(0, named=True)
    assert next(iter(told.answer)) == row["aspect"]
    assert told.answer[row["aspect"]] == pytest.approx(row["probability"])
    assert sum(told.answer.values()) == pytest.approx(1)


def test_without_a_student_the_teacher_explains_alone(detector: AspectDetector) -> None:
    told = explain(TeacherLabeller(detector.fitted_), TEXT)
    assert told.student is told.student_answer is None
    assert told.agree
    assert verdict(told) == "Only the teacher answers: this run has no student."


def test_unknown_words_have_no_attention_from_the_teacher(detector: AspectDetector) -> None:
    assert explain(TeacherLabeller(detector.fitted_), "Zzz qqq").teacher == (None, None)


def test_of_a_long_text_the_first_words_are_explained(aspectra: Callable[..., Any], run: Path) -> None:
    answer = aspectra("explain", run, "The pump is loud. " * 5_000, "--quiet")
    assert answer.code == 0
    assert "Only the first 300 of 20,000 words are read." in answer.err
    assert answer.out.count("pump") == 75


def test_disagreement_is_said() -> None:
    told = Explanation(
        ("a",),
        (1.0,),
        (1.0,),
        {"Image": 0.9, "Sound": 0.1},
        {"Sound": 0.8, "Image": 0.2},
        {"Image": 0.6, "Sound": 0.4},
    )
    assert not told.agree
    assert verdict(told) == "They disagree: the teacher says Image, the student Sound."
    assert top(told.answer) == "Image 60%, Sound 40%"


def test_the_page_shades_words_and_escapes_them(model: StudentLabeller) -> None:
    page = to_html(explain(model, TEXT))
    assert "&lt;b&gt;and&lt;/b&gt;" in page
    assert "<b>" not in page
    assert page.count("<span style=") == 2 * len(TEXT.split())


def test_a_text_without_a_word_is_refused(detector: AspectDetector) -> None:
    with pytest.raises(InputError, match="There is no word in the text"):
        explain(TeacherLabeller(detector.fitted_), "  ")


def test_pieces_join_to_the_text_and_weights_average_to_one(detector: AspectDetector, gold: Gold) -> None:
    for text, pieces in zip(gold.texts[:50], attended(detector.fitted_, gold.texts[:50]), strict=True):
        assert "".join(piece for piece, _ in pieces) == text
        weights = [weight for _, weight in pieces if weight is not None]
        known = detector.vocabulary_.encode(pl.Series([text])).lengths[0]
        assert len(weights) == min(known, detector.max_tokens)
        assert not weights or np.mean(weights) == pytest.approx(1, abs=0.01)


def test_weights_stand_on_the_words_that_the_teacher_read(detector: AspectDetector) -> None:
    text = "My COFFEE's taste, and the Milk: wonderful coffees!"
    ids = detector.vocabulary_.encode(pl.Series([text])).ids
    marked = [piece for piece, weight in attended(detector.fitted_, [text])[0] if weight is not None]
    assert [detector.vocabulary_.index[word] for word in ("coffee", "taste", "milk")] == ids[:3].tolist()
    assert marked[:3] == ["COFFEE's", "taste", "Milk"]


@pytest.mark.parametrize(
    "text",
    [HOSTILE, "İstanbul’da kahve ☕", "القهوة لذيذة جدا", "コーヒーが美味しい。", "ΟΔΟΣ ΚΑΦΕΣ", "", "!!!"],
)
def test_any_text_can_be_cut(detector: AspectDetector, text: str) -> None:
    assert "".join(piece for piece, _ in attended(detector.fitted_, [text])[0]) == text


def test_words_are_found_where_they_stand_even_if_capitals_grow() -> None:
    words = find_words("İİ Kahve’ye kahve", ["i̇i̇", "kahve'ye", "kahve"])
    assert words == [(0, 2), (3, 11), (12, 17)]


def test_words_beyond_those_the_teacher_reads_have_no_weight(detector: AspectDetector) -> None:
    text = " ".join(["coffee"] * (detector.max_tokens + 2))
    pieces = attended(detector.fitted_, [text])[0]
    assert [weight for piece, weight in pieces if piece == "coffee"] == pytest.approx(
        [1.0] * detector.max_tokens
    )
    assert pieces[-1] == (" coffee coffee", None)
