"""What a person sees of a topic before choosing: its surest and its boundary segments with the attended words, and its nearest topics.

Segments come from a random sample of the corpus, encoded once. A segment is shown as pieces: (text, weight), where the weight is the
word's attention times the number of known words (1 is an even share) and None marks what the model does not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.corpus import Vocabulary
from aspectra.labelling.gamma import aspect_probabilities, entropy

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

Pieces = list[tuple[str, float | None]]
SAMPLE = 20_000
SHOWN = 5
CLOSE = 0.8
"""Two topics share a segment if the less likely has this part of the other's probability."""
COPY = 0.6
"""Segments that share more of their words than this are near-copies."""
READABLE = (3, 40)
"""A segment with so many known words can be judged at a glance."""


@dataclass(frozen=True)
class Sample:
    """Segments of the corpus with their β (N×K), in random order."""

    texts: list[str]
    beta: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def two_highest(self) -> tuple[np.ndarray, np.ndarray]:
        """The largest and the second largest probability of each row."""
        top = np.partition(self.beta, -2, axis=1)[:, -2:]
        return top[:, 1], top[:, 0]


def draw_sample(detector: AspectDetector, n: int = SAMPLE, seed: int = 0) -> Sample:
    """Draw segments that are not junk and can be read at a glance, each wording once."""
    from aspectra.teacher.train import encode

    corpus = detector.corpus_
    lengths = corpus.tokens.lengths
    fit = ~corpus.segments["junk"].to_numpy() & (lengths >= READABLE[0]) & (lengths <= READABLE[1])
    rows = np.flatnonzero(fit if fit.any() else lengths > 0)
    rows = np.random.default_rng(seed).permutation(rows)[:n]
    texts = corpus.segments["text"].gather(rows)
    distinct = (
        texts.to_frame("text")
        .select(pl.col("text").str.to_lowercase().str.replace_all(r"\W+", " ").is_first_distinct())
        .to_series()
    )
    rows = rows[distinct.to_numpy()]
    return Sample(
        texts.filter(distinct).to_list(),
        encode(detector.teacher_, corpus.tokens.select(rows), detector.max_tokens),
    )


def surest(sample: Sample, topic: int) -> list[int]:
    """Return the rows where the topic is most probable, best first."""
    return varied(sample.texts, np.argsort(-sample.beta[:, topic], kind="stable"))


def boundary(sample: Sample, topic: int) -> list[int]:
    """Return the rows that the topic all but shares with one other: both likely, and nearly equally so."""
    mine = sample.beta[:, topic]
    first, second = sample.two_highest
    rival = np.where(mine == first, second, first)
    closeness = np.minimum(mine, rival) / np.maximum(np.maximum(mine, rival), 1e-12)
    return varied(sample.texts, np.lexsort((-mine, closeness < CLOSE)))


def varied(texts: Sequence[str], order: np.ndarray, n: int = SHOWN) -> list[int]:
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


def nearest(topics: np.ndarray, n: int = 3) -> list[list[tuple[int, float]]]:
    """Return for each topic (K×D) the most similar others with their cosine."""
    unit = topics / np.maximum(np.linalg.norm(topics, axis=1, keepdims=True), 1e-12)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    order = np.argsort(-cosine, axis=1, kind="stable")[:, : min(n, len(topics) - 1)]
    return [[(int(other), float(cosine[topic, other])) for other in row] for topic, row in enumerate(order)]


def attended(detector: AspectDetector, texts: Sequence[str]) -> list[Pieces]:
    """Cut texts into pieces, known words with the teacher's attention."""
    import torch

    tokens = detector.vocabulary_.encode(pl.Series(texts, dtype=pl.String))
    lengths = np.minimum(tokens.lengths, detector.max_tokens)
    rows = np.flatnonzero(lengths)
    attention = np.zeros((len(texts), 1))
    if len(rows):
        ids, mask = tokens.padded(rows, detector.max_tokens)
        with torch.inference_mode():
            found = detector.teacher_(
                torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32))
            ).attention.numpy()
        attention = np.zeros((len(texts), found.shape[1]))
        attention[rows] = found
    even = attention * np.maximum(lengths, 1)[:, None]
    places = known_words(texts, detector.vocabulary_)
    return [cut(text, places[row], even[row, : lengths[row]]) for row, text in enumerate(texts)]


def cut(text: str, places: Sequence[tuple[int, int]], weights: np.ndarray) -> Pieces:
    """Cut a text at its known words and give each its weight, in order; words beyond the last weight have none."""
    pieces: Pieces = []
    end = 0
    for (start, stop), weight in zip(
        places, weights, strict=False
    ):  # the teacher reads the first max_tokens words only
        if start > end:
            pieces.append((text[end:start], None))
        pieces.append((text[start:stop], round(float(weight), 3)))
        end = stop
    return [*pieces, (text[end:], None)] if end < len(text) else pieces


def known_words(texts: Sequence[str], vocabulary: Vocabulary) -> list[list[tuple[int, int]]]:
    """Find where the known words of each text begin and end."""
    from aspectra.text.tokens import extract

    tokens = extract(pl.Series(texts, dtype=pl.String))
    known = vocabulary.encode(pl.Series(tokens.types, dtype=pl.String)).lengths > 0
    ends = np.cumsum(tokens.lengths)
    result = []
    for text, end, length in zip(texts, ends, tokens.lengths, strict=True):
        codes = tokens.codes[end - length : end]
        spans = find_words(text, [tokens.types[code] for code in codes])
        result.append(
            [
                span
                for span, is_known in zip(spans, known[codes], strict=True)
                if is_known and span is not None
            ]
        )
    return result


def find_words(text: str, surface: Sequence[str]) -> list[tuple[int, int] | None]:
    """Find lower-case words, given in order, in the text as it was written."""
    lowered = [character.lower() for character in text.replace("’", "'")]
    place = [
        number for number, characters in enumerate(lowered) for _ in characters
    ]  # "İ" becomes two characters
    plain, start = "".join(lowered).replace("ς", "σ"), 0
    found: list[tuple[int, int] | None] = []
    for word in surface:
        at = plain.find(word.replace("ς", "σ"), start)
        if at < 0:
            found.append(None)
            continue
        start = at + len(word)
        found.append((place[at], place[start - 1] + 1))
    return found


def next_question(beta: np.ndarray, matrix: np.ndarray, asked: Sequence[int]) -> int | None:
    """Choose the segment whose label would settle most doubt: the largest, most doubtful topic asked least, its most doubtful row."""
    if len(set(asked)) >= len(beta):
        return None
    gamma, unmapped = aspect_probabilities(beta, matrix)
    doubt = entropy(gamma) / np.log(max(2, matrix.shape[1])) + unmapped
    top = beta.argmax(1)
    n_topics = beta.shape[1]
    asked_of = np.bincount(top[list(asked)], minlength=n_topics) if asked else np.zeros(n_topics)
    worth = np.bincount(top, weights=doubt, minlength=n_topics) / (1 + asked_of) ** 2
    free = np.ones(len(beta), dtype=bool)
    free[list(asked)] = False
    for topic in np.argsort(-worth, kind="stable"):
        rows = np.flatnonzero(free & (top == topic))
        if len(rows):
            return int(rows[doubt[rows].argmax()])
    return None
