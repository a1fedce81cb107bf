import json

import numpy as np
import polars as pl
import pytest

from aspectra import topics as module
from aspectra.corpus import Corpus, Ragged, Vocabulary
from aspectra.detector import AspectDetector
from aspectra.teacher.encode import TrainedTeacher
from aspectra.topics import N_KEYWORDS, N_TYPICAL, Topics, count_together, frequent_words, interpret, npmi
from aspectra.vectors import WordVectors

WORDS = tuple("abcdefgh")


def two_topics() -> tuple[TrainedTeacher, WordVectors]:
    """Words a–d point one way and e–h another; topic 0 is the first way, topic 1 the second."""
    matrix = np.array([[1 - 0.01 * n, 0] if n < 4 else [0, 1 - 0.01 * n] for n in range(8)], dtype=np.float32)
    eye = np.eye(2, dtype=np.float32)
    weights = {"classify.weight": 9 * eye, "classify.bias": 0 * eye[0], "topics": eye}
    return TrainedTeacher(matrix, weights, "mean", 0.5), WordVectors(WORDS, matrix)


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
    assert first.paper_keywords[:4] == ("a", "b", "c", "d")
    assert second.paper_keywords[:4] == ("e", "f", "g", "h")
    assert set(first.keywords[:4]) == {"a", "b", "c", "d"}
    assert set(second.keywords[:4]) == {"e", "f", "g", "h"}
    assert list(first.weights) == sorted(first.weights, reverse=True)
    assert (first.share, second.share) == (pytest.approx(5 / 6, abs=1e-4), pytest.approx(1 / 6, abs=1e-4))
    assert first.typical[:2] == ("a b c d", "a c b d")


def score_slowly(beta: np.ndarray, rows: list[list[int]], n_words: int) -> np.ndarray:
    """p(w|k) · log(p(w|k) / p(w)) with counts of word pairs, as a literal loop."""
    n_topics = beta.shape[1]
    counts, overall = np.zeros((n_topics, n_words)), np.zeros(n_words)
    for segment, row in enumerate(rows):
        for word in set(row):
            overall[word] += len(set(row))
            for topic in range(n_topics):
                counts[topic, word] += beta[segment, topic] ** 2 * len(set(row))
    given, prior = counts / counts.sum(1, keepdims=True), overall / overall.sum()
    return np.asarray(given * np.log(given / prior))


@pytest.mark.parametrize("chunk", [3, 1000])
def test_frequent_words_have_the_highest_score_of_a_literal_loop(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    random = np.random.default_rng(0)
    rows = [random.integers(0, 8, random.integers(1, 6)).tolist() for _ in range(20)]
    beta = random.dirichlet(np.ones(3), 20)
    tokens = Ragged.of(np.concatenate(rows), np.array(list(map(len, rows))))
    order, weights = frequent_words(beta, tokens, WORDS, n=3)
    slow = score_slowly(beta, rows, 8)
    assert order.tolist() == np.argsort(-slow, axis=1, kind="stable")[:, :3].tolist()
    assert weights == pytest.approx(np.sort(slow, axis=1)[:, :-4:-1].clip(0))


def test_frequent_words_leave_the_segments_as_they_are() -> None:
    corpus = make_corpus("c a c b", "e d")
    before = corpus.tokens.ids.tolist()
    frequent_words(np.eye(2), corpus.tokens, WORDS, n=2)
    assert corpus.tokens.ids.tolist() == before


def test_numbers_and_words_that_do_not_occur_come_last_among_the_keywords() -> None:
    tokens = Ragged.of(np.array([0, 1, 0, 1, 0, 3]), np.array([2, 2, 2]))
    words = ("2010", "battery", "never", "4k")
    order, _ = frequent_words(np.ones((3, 1)), tokens, words, n=4)
    assert [words[word] for word in order[0]][2:] == ["2010", "never"]


def test_keywords_can_be_the_papers() -> None:
    corpus = make_corpus("a b c d", "d c", "d c", "e f g h")
    shown = interpret(*two_topics(), corpus, 30, seed=0, keywords="paper")
    usual = interpret(*two_topics(), corpus, 30, seed=0)
    assert [item.keywords for item in shown.items] == [item.paper_keywords for item in usual.items]
    assert usual.items[0].keywords[0] in ("c", "d")
    assert shown.fingerprint == usual.fingerprint


def test_topics_written_before_there_were_two_kinds_of_keywords_load(detector: AspectDetector) -> None:
    values = json.loads(json.dumps(detector.topics_.to_dict()))
    for item in values["items"]:
        del item["paper_keywords"]
    loaded = Topics.from_dict(values)
    assert loaded.items[0].paper_keywords == loaded.items[0].keywords == detector.topics_.items[0].keywords
    assert loaded.fingerprint == detector.topics_.fingerprint


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
    teacher.weights["topics"] = teacher.topics[::-1]
    assert interpret(teacher, vectors, corpus, 30, seed=0).fingerprint != first
