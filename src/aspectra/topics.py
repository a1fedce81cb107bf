"""What the topics mean (paper: "Aspect Interpretation"): keywords, share, coherence, typical segments.

Keywords are frequent in the topic's segments and rarer elsewhere. The paper's keywords have the largest inner
products with the topic vector, G = A Eᵀ; that prefers rare words, as their vectors are long. Coherence is the
mean NPMI of a topic's keyword pairs over the corpus, −1…1: high if they often occur in the same segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import combinations, pairwise
from typing import Any, Self

import numpy as np

from aspectra import rundir
from aspectra.arrays import normalise
from aspectra.config import TopicsConfig
from aspectra.corpus import Corpus, Ragged
from aspectra.teacher.encode import TrainedTeacher, encode
from aspectra.vectors import WordVectors

N_KEYWORDS = 10
N_TYPICAL = 5
COLLAPSED = 0.5
"""Where one topic has more of the segments than this, topics say nothing."""
COPY = 0.6
"""Segments that share more of their words than this are near-copies."""
SAMPLE = 200_000
CHUNK = 50_000
"""Segments whose words are counted at a time, which bounds the memory."""
TYPICAL_WORDS = (4, 30)
"""A typical segment has this many known words: long enough to mean something, short enough to read."""


@dataclass(frozen=True)
class Topic:
    """One discovered topic."""

    id: int
    keywords: tuple[str, ...]
    weights: tuple[float, ...]  # of the keywords, largest first
    share: float  # of the segments, those for which it is the most probable topic
    coherence: float  # NPMI, −1…1
    typical: tuple[str, ...]  # the segments for which it is most probable
    paper_keywords: tuple[str, ...] = ()  # by inner product; runs made before they were apart have only these


@dataclass(frozen=True)
class Topics:
    """All topics of a model, and how different their keywords are."""

    items: tuple[Topic, ...]
    diversity: float  # share of distinct words among all keywords
    fingerprint: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_html(self, aspects: Sequence[str] = ()) -> str:
        """Return a table of the topics, largest first, for a notebook; with the aspect of each, if given."""
        head = ["topic", *(["aspect"] if aspects else []), "share", "keywords", "a typical segment"]
        rows = [
            [
                str(item.id),
                *([aspects[item.id]] if aspects else []),
                f"{item.share:.1%}",
                " ".join(item.keywords[:7]),
                item.typical[0] if item.typical else "",
            ]
            for item in sorted(self.items, key=lambda item: -item.share)
        ]
        lines = ["".join(f"<td style='text-align: left'>{escape(cell)}</td>" for cell in row) for row in rows]
        top = "".join(f"<th style='text-align: left'>{name}</th>" for name in head)
        return f"<table><tr>{top}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"

    _repr_html_ = to_html

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        tuples: Any = [
            {name: tuple(v) if isinstance(v, list) else v for name, v in item.items()}
            for item in values["items"]
        ]
        items = [Topic(**{"paper_keywords": item["keywords"], **item}) for item in tuples]
        return cls(tuple(items), values["diversity"], values["fingerprint"])


def interpret(
    teacher: TrainedTeacher,
    vectors: WordVectors,
    corpus: Corpus,
    max_tokens: int,
    seed: int,
    keywords: str = TopicsConfig.keywords,
) -> Topics:
    """Describe each topic by its words, its size and its segments, on a sample of at most SAMPLE segments."""
    matrix = teacher.topics  # K×D
    rows = np.flatnonzero((corpus.tokens.lengths > 0) & ~corpus.segments["junk"].to_numpy())
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(seed).choice(rows, SAMPLE, replace=False))
    sample = corpus.tokens.select(rows)
    beta = encode(teacher, sample, max_tokens)
    nearest, products = top_words(matrix, vectors.matrix)
    order, weights = (
        (nearest, products) if keywords == "paper" else frequent_words(beta, sample, vectors.words)
    )
    shares = np.bincount(beta.argmax(1), minlength=len(matrix)) / len(rows)
    npmi = coherence(order, sample, len(vectors.words))
    items = [
        Topic(
            id=topic,
            keywords=tuple(vectors.words[word] for word in order[topic]),
            weights=tuple(round(float(weight), 4) for weight in weights[topic]),
            share=round(float(shares[topic]), 5),
            coherence=round(float(npmi[topic]), 4),
            typical=tuple(
                corpus.segments["text"][int(rows[row])]
                for row in typical(beta[:, topic], sample, corpus, rows)
            ),
            paper_keywords=tuple(vectors.words[word] for word in nearest[topic]),
        )
        for topic in range(len(matrix))
    ]
    distinct = len({word for item in items for word in item.keywords}) / order.size
    # The paper's keywords, whatever is shown: a map stays valid if only the way to choose keywords changes.
    mark = rundir.fingerprint([item.paper_keywords for item in items], matrix.round(5).tolist())
    return Topics(tuple(items), round(distinct, 4), mark)


def has_collapsed(items: Sequence[Topic]) -> bool:
    """Tell whether one topic has most segments, so that topics say nothing."""
    return max(item.share for item in items) > COLLAPSED


def note_on_collapse(items: Sequence[Topic]) -> list[str]:
    """Say so if one topic has most segments, as with few reviews, and what to do instead of mapping."""
    if not has_collapsed(items):
        return []
    largest = max(item.share for item in items)
    return [
        f"Too few reviews for topics: one of them has {largest:.0%} of the segments. Name your aspects, and "
        "label some segments on the page: mapping topics brings little."
    ]


def frequent_words(
    beta: np.ndarray, tokens: Ragged, words: Sequence[str], n: int = N_KEYWORDS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the words that are frequent in each topic's segments and rarer elsewhere, with scores: K×n each.

    The score is p(w|k) · log(p(w|k) / p(w)). p counts pairs of words in a segment, for a topic with weight
    β²: each different word of a segment counts as often as the segment has different words. Words without
    a letter come last, then words that no segment has.
    """
    counts = np.zeros((beta.shape[1] + 1, len(words)))  # one row per topic, and one for the corpus
    edges = [*range(0, len(tokens), CHUNK), len(tokens)]
    for start, end in pairwise(edges):
        there = word_presence(tokens.select(np.arange(start, end)), len(words))
        weights = np.hstack([beta[start:end] ** 2, np.ones((end - start, 1))])
        counts += (there.T @ (weights * np.diff(there.indptr)[:, None])).T
    p = normalise(counts)
    score = p[:-1] * np.log(np.maximum(p[:-1], 1e-30) / np.maximum(p[-1], 1e-30))
    score[:, [not any(map(str.isalpha, word)) for word in words]] = -1e6
    score[:, p[-1] == 0] = -1e9
    order = np.argsort(-score, axis=1, kind="stable")[:, :n]
    return order, np.maximum(np.take_along_axis(score, order, axis=1), 0)


def top_words(topics: np.ndarray, vectors: np.ndarray, n: int = N_KEYWORDS) -> tuple[np.ndarray, np.ndarray]:
    """Return the words with the largest inner products for each topic, and those products: K×n each."""
    product = topics @ vectors.T  # G: K×V
    order = np.argsort(-product, axis=1, kind="stable")[:, :n]
    return order, np.take_along_axis(product, order, axis=1)


def word_presence(tokens: Ragged, n_words: int) -> Any:
    """Return the sparse N×V matrix with a 1 where a segment has a word."""
    from scipy.sparse import csr_matrix

    ids, offsets = tokens.ids.copy(), tokens.offsets.copy()  # merging what occurs twice changes them
    there = csr_matrix((np.ones(len(ids), np.float32), ids, offsets), shape=(len(tokens), n_words))
    there.sum_duplicates()
    there.data[:] = 1
    return there


def typical(probability: np.ndarray, sample: Ragged, corpus: Corpus, rows: np.ndarray) -> list[int]:
    """Return the sampled rows with the highest probability, each text once."""
    lengths = sample.lengths
    fit = (lengths >= TYPICAL_WORDS[0]) & (lengths <= TYPICAL_WORDS[1])
    chosen: list[int] = []
    seen: set[str] = set()
    for row in np.argsort(np.where(fit, -probability, 1), kind="stable")[: 20 * N_TYPICAL]:
        wording = corpus.segments["text"][int(rows[row])].lower()
        if wording not in seen:
            seen.add(wording)
            chosen.append(int(row))
    return chosen[:N_TYPICAL]


def varied(texts: Sequence[str], order: np.ndarray, n: int = N_TYPICAL) -> list[int]:
    """Take the first n rows that differ in wording, near-copies only if there is nothing else."""
    chosen: list[int] = []
    copies: list[int] = []
    bags: list[set[str]] = []
    for row in order[: 20 * n].tolist():
        bag = set(texts[row].lower().split())
        alike = any(len(bag & other) > COPY * min(len(bag), len(other)) for other in bags)
        (copies if alike else chosen).append(row)
        if not alike:
            bags.append(bag)
    return [*chosen, *copies][:n]


def coherence(keywords: np.ndarray, tokens: Ragged, n_words: int) -> np.ndarray:
    """Return the mean NPMI of each topic's keyword pairs over segments, K; `keywords` are word ids, K×n."""
    words = np.unique(keywords)
    column = np.full(n_words, -1)
    column[words] = np.arange(len(words))
    together = count_together(tokens, column, len(words))
    alone, total = together.diagonal() / len(tokens), len(tokens)
    result = []
    for topic in keywords:
        pairs = [(column[a], column[b]) for a, b in combinations(topic, 2)]
        result.append(np.mean([npmi(together[a, b] / total, alone[a], alone[b]) for a, b in pairs]))
    return np.array(result)


def count_together(tokens: Ragged, column: np.ndarray, n: int) -> np.ndarray:
    """Count the segments that have two of the n words (n×n; the diagonal counts each word alone)."""
    from scipy.sparse import csr_matrix

    columns = column[tokens.ids]
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    there = csr_matrix(
        (np.ones(int((columns >= 0).sum()), np.int32), (rows[columns >= 0], columns[columns >= 0])),
        shape=(len(tokens), n),
    )
    there.data[:] = 1
    return np.asarray((there.T @ there).todense())


def npmi(both: float, first: float, second: float) -> float:
    """Return the normalised pointwise mutual information of two events; −1 if they never occur together."""
    if both == 0:
        return -1.0
    if both >= 1:
        return 1.0
    return float(np.log(both / (first * second)) / -np.log(both))
