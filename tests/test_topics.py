import json

import numpy as np
import polars as pl
import pytest
import torch

from aspectra.config import TeacherConfig
from aspectra.corpus import Corpus, Ragged, Vocabulary
from aspectra.detector import AspectDetector
from aspectra.teacher.model import Teacher
from aspectra.topics import N_KEYWORDS, N_TYPICAL, Topics, count_together, interpret, npmi
from aspectra.vectors import WordVectors

WORDS = tuple("abcdefgh")


def two_topics() -> tuple[Teacher, WordVectors]:
    """Words a–d point one way and e–h another; topic 0 is the first way, topic 1 the second."""
    matrix = np.array([[1 - 0.01 * n, 0] if n < 4 else [0, 1 - 0.01 * n] for n in range(8)], dtype=np.float32)
    teacher = Teacher(torch.from_numpy(matrix), torch.eye(2), TeacherConfig(attention="mean"))
    teacher.classify.weight.data = torch.eye(2) * 9
    teacher.classify.bias.data.zero_()
    return teacher.eval(), WordVectors(WORDS, matrix)


def make_corpus(*texts: str, junk: tuple[int, ...] = ()) -> Corpus:
    rows = [[WORDS.index(word.lower()) for word in text.split()] for text in texts]
    segments = pl.DataFrame({"text": texts, "junk": [number in junk for number in range(len(texts))]})
    return Corpus(
        segments,
        Ragged.of(np.concatenate(rows), np.array(list(map(len, rows)))),
        Vocabulary(WORDS, (1,) * 8, "en"),
    )


def test_topics_are_described_by_words_share_and_typical_segments() -> None:
    corpus = make_corpus("a b c d", "a b e f", "a c b d", "A B C D", "e f g h", "a", junk=())
    first, second = interpret(*two_topics(), corpus, 30, seed=0).items
    assert first.keywords[:4] == ("a", "b", "c", "d")
    assert second.keywords[:4] == ("e", "f", "g", "h")
    assert list(first.weights) == sorted(first.weights, reverse=True)
    assert (first.share, second.share) == (pytest.approx(5 / 6, abs=1e-4), pytest.approx(1 / 6, abs=1e-4))
    assert first.typical[:2] == ("a b c d", "a c b d")


def test_typical_segments_are_no_wording_twice_and_neither_short_nor_junk() -> None:
    corpus = make_corpus("a b c d", "A B C D", "a", "a a a a", "e f g h", junk=(3,))
    first = interpret(*two_topics(), corpus, 30, seed=0).items[0]
    assert first.typical[:2] == ("a b c d", "e f g h")
    assert "a a a a" not in first.typical


def test_words_that_always_meet_are_coherent_and_words_that_never_meet_are_not() -> None:
    assert npmi(0.5, 0.5, 0.5) == pytest.approx(1)
    assert npmi(0.25, 0.5, 0.5) == pytest.approx(0)
    assert npmi(0, 0.5, 0.5) == -1
    assert npmi(1, 1, 1) == 1


def test_a_word_said_twice_in_a_segment_counts_once() -> None:
    corpus = make_corpus("a a b", "a", "b c")
    counts = count_together(corpus.tokens, np.array([0, 1, -1, -1, -1, -1, -1, -1]), 2)
    assert counts.tolist() == [[2, 1], [1, 2]]


def test_fitted_topics_have_shares_that_sum_to_one_and_ten_keywords(detector: AspectDetector) -> None:
    topics = detector.topics_
    assert sum(item.share for item in topics.items) == pytest.approx(1, abs=1e-3)
    assert all(
        len(set(item.keywords)) == N_KEYWORDS and len(item.typical) == N_TYPICAL for item in topics.items
    )
    assert all(-1 <= item.coherence <= 1 for item in topics.items)
    distinct = {word for item in topics.items for word in item.keywords}
    assert topics.diversity == pytest.approx(len(distinct) / (N_KEYWORDS * len(topics.items)), abs=1e-4)


def test_topics_survive_json(detector: AspectDetector) -> None:
    assert Topics.from_dict(json.loads(json.dumps(detector.topics_.to_dict()))) == detector.topics_


def test_the_fingerprint_tells_topics_apart() -> None:
    (teacher, vectors), corpus = two_topics(), make_corpus("a b c d", "e f g h")
    first = interpret(teacher, vectors, corpus, 30, seed=0).fingerprint
    assert interpret(teacher, vectors, corpus, 30, seed=1).fingerprint == first
    teacher.topics.data = teacher.topics.data.flip(0)
    assert interpret(teacher, vectors, corpus, 30, seed=0).fingerprint != first
