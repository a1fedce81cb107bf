"""Words and pairs of neighbours with vectors, whose sum stands for an encoder's mean states of a segment.

The encoder reads each frequent word and each frequent pair once, alone. A pair's vector is what it means
beyond its two words ("not good", "picture quality"). Two regressions on segments that the encoder has read
bring the sums near its states: one matrix for all, then a small correction of each word and pair.
Each also has a score for each aspect: how often the student answers it for the segments that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.aspects.gaussians import flat_states
from aspectra.aspects.reader import mean_vectors
from aspectra.corpus import Ragged
from aspectra.text.tokens import Tokens, extract

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LONGEST = 64
"""Words of a segment that are read, as many as the encoder reads pieces."""
WORDS, PAIRS = 16_000, 5_000
"""At most so many of each are kept, the most frequent; on seven dev sets 10,000 pairs are no better."""
LEAST = 2
"""A word or pair that occurs less often in the reviews is not kept."""
COUNTED = 300_000
"""Frequencies are counted in about so many segments."""
WIDTH = 192
"""Principal components of the encoder's states that are kept."""
RIDGE, OWN_RIDGE = 0.003, 0.2
"""How strongly the matrix and the words' and pairs' own corrections are held to zero."""
PAIR_WEIGHT = 0.5
"""Pairs are corrected less than words: most of them are rare."""
STEPS = 12
LENGTH_POWER = 0.5
"""A segment of more words counts more, by this power. In a short one each word is a larger part of the mean:
short segments would decide what words mean in long ones, and Citysearch, whole sentences, lose 1.0 on dev."""
SCORE_PRIOR = 10.0
"""A word's scores come from the segments with it, and from so many that are like all segments. On five dev
sets 3 to 20 do as well. The sum of scores is divided by the root of their number: words of a segment say much
the same."""
LENGTH = 0.9
"""The encoder's own states have length 1. These are guesses and count a little less: on seven dev sets 91.8 %
of the answers are then the student's, 91.3 % with 1, and 91.9 % with 0.8, which loses rare aspects."""


@dataclass(frozen=True)
class Phrases:
    """V word forms, P pairs (first · V + second, rising), their vectors (V + P)×(C + A), and a start (C).

    The first C numbers of a vector are its part of the state. The others are logarithms: how much more often
    segments with it have each of A aspects than all segments do. Phrases of older versions do without.
    """

    types: tuple[str, ...]
    pairs: np.ndarray
    vectors: np.ndarray
    start: np.ndarray
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {word: place for place, word in enumerate(self.types)})

    def check(self) -> None:
        """Raise ValueError unless the parts fit each other and all vectors are finite."""
        size = len(self.types) + len(self.pairs)
        fits = len(self.vectors) == size and self.vectors.shape[1] >= len(self.start)
        if not fits or not np.isfinite(self.vectors).all():
            raise ValueError(f"its vectors are not {size} rows of {len(self.start)} numbers or more")
        if (np.diff(self.pairs) <= 0).any():
            raise ValueError("its pairs are not in order")

    def find(self, tokens: Tokens) -> tuple[Ragged, Ragged]:
        """Return the places in `vectors` of each text's known words and of its known pairs."""
        place = np.array([self.index.get(word, -1) for word in tokens.types], dtype=np.int64)
        ids = place[tokens.codes] if len(place) else np.zeros(0, np.int64)
        rows = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        starts = np.cumsum(tokens.lengths) - tokens.lengths
        read = (ids >= 0) & (np.arange(len(ids)) - starts[rows] < LONGEST)
        words = ragged(ids[read], rows[read], len(tokens.lengths))
        joined = np.flatnonzero(read[:-1] & read[1:] & (rows[:-1] == rows[1:]))
        keys = ids[joined] * len(self.types) + ids[joined + 1]
        at = np.searchsorted(self.pairs, keys)
        known = np.append(self.pairs, -1)[at] == keys
        return words, ragged(at[known] + len(self.types), rows[joined[known]], len(tokens.lengths))

    def read(self, words: Ragged, pairs: Ragged) -> tuple[np.ndarray, np.ndarray]:
        """Return what stands for the encoder's states, N×C, and the words' scores for aspects, N×A.

        The known words and pairs of N texts are what `find` returns. States have length LENGTH; a text
        without words has the start.
        """
        sums = mean_vectors(words, self.vectors)
        share = pairs.lengths / np.maximum(words.lengths, 1)  # pairs are summed up, and divided by words
        sums += mean_vectors(pairs, self.vectors) * share.astype(np.float32)[:, None]
        width = len(self.start)
        states = sums[:, :width] + self.start
        sizes = np.sqrt(np.einsum("nc,nc->n", states, states))
        states *= (LENGTH / np.maximum(sizes, 1e-9))[:, None]
        counts = words.lengths / np.sqrt(np.maximum(words.lengths + pairs.lengths, 1))
        return states, sums[:, width:] * counts.astype(np.float32)[:, None]

    def with_scores(self, texts: Sequence[str], answers: np.ndarray) -> Phrases:
        """Return the same phrases with scores for aspects, by the student's answers (N×A) to texts."""
        from scipy.sparse import csr_matrix

        shares = np.maximum(answers.mean(0), 1e-9)
        sums = np.repeat(SCORE_PRIOR * shares[None], len(self.vectors), 0)
        seen = np.full(len(self.vectors), SCORE_PRIOR)
        for one in self.find(extract(pl.Series(texts, dtype=pl.String))):
            counts = csr_matrix((np.ones(len(one.ids)), one.ids, one.offsets), (len(texts), len(sums)))
            sums += counts.T @ answers
            seen += np.asarray(counts.sum(0)).ravel()
        scores = np.log(sums / seen[:, None]) - np.log(shares)
        return replace(self, vectors=np.hstack([self.vectors, scores.astype(np.float32)]))


NO_PHRASES = Phrases((), np.zeros(0, np.int64), np.zeros((0, 0), np.float32), np.zeros(0, np.float32))


def ragged(ids: np.ndarray, rows: np.ndarray, n_rows: int) -> Ragged:
    return Ragged.of(ids, np.bincount(rows, minlength=n_rows))


def learn_phrases(
    reviews: pl.Series,
    texts: Sequence[str],
    states: np.ndarray,
    embed: Callable[[Sequence[str]], np.ndarray],
) -> tuple[Phrases, np.ndarray]:
    """Learn from segments and their states (N×2·De, centred); `embed` encodes words and pairs of `reviews`.

    Return the phrases and the components (2·De×C) of the states that their vectors have.
    """
    from scipy.sparse import csr_matrix

    known = frequent(reviews)
    words, pairs = known.find(extract(pl.Series(texts, dtype=pl.String)))
    lengths = np.maximum(words.lengths, 1).astype(np.float32)
    share, weight = 1 / lengths, lengths**LENGTH_POWER / np.mean(lengths**LENGTH_POWER)
    n_words, size = len(known.types), len(known.types) + len(known.pairs)
    counts = [
        csr_matrix((np.repeat(share, one.lengths), one.ids, one.offsets), (len(words), size))
        for one in (words, pairs)
    ]
    seen = (counts[0] + counts[1]).tocsr()
    meanings = meanings_of(known, embed)
    components = principal(states)
    targets = states @ components
    alone, beyond = counts[0][:, :n_words] @ meanings[:n_words], counts[1] @ meanings
    matrix, start = regress(np.hstack([alone, beyond]), targets, weight)
    width = meanings.shape[1]
    vectors = np.vstack([meanings[:n_words] @ matrix[:width], meanings[n_words:] @ matrix[width:]])
    held = np.where(np.arange(size) < n_words, 1, PAIR_WEIGHT).astype(np.float32)
    root = np.sqrt(weight)[:, None]
    left = root * (targets - seen @ vectors - start)
    vectors += held[:, None] * corrections(
        seen.multiply(held).multiply(root).tocsr(), left.astype(np.float32)
    )
    return replace(known, vectors=vectors.astype(np.float32), start=start.astype(np.float32)), components


def frequent(reviews: pl.Series) -> Phrases:
    """Return the most frequent words and pairs of segments, still without vectors."""
    tokens = extract(reviews.gather_every(max(1, len(reviews) // COUNTED)))
    counts = np.bincount(tokens.codes, minlength=len(tokens.types))
    order = np.argsort(-counts, kind="stable")[:WORDS]
    types = tuple(tokens.types[place] for place in order[counts[order] >= LEAST])
    known = replace(NO_PHRASES, types=types)
    place = np.array([known.index.get(word, -1) for word in tokens.types], dtype=np.int64)
    ids = place[tokens.codes] if len(place) else np.zeros(0, np.int64)
    rows = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    joined = (ids[:-1] >= 0) & (ids[1:] >= 0) & (rows[:-1] == rows[1:])
    keys, times = np.unique((ids[:-1] * len(types) + ids[1:])[joined], return_counts=True)
    kept = np.argsort(-times, kind="stable")[:PAIRS]
    return replace(known, pairs=np.sort(keys[kept[times[kept] >= LEAST]]))


def meanings_of(known: Phrases, embed: Callable[[Sequence[str]], np.ndarray]) -> np.ndarray:
    """Return (V + P)×2·De: what the encoder makes of each word, and of each pair beyond its two words."""
    first, second = np.divmod(known.pairs, max(1, len(known.types)))
    pairs = [f"{known.types[a]} {known.types[b]}" for a, b in zip(first, second, strict=True)]
    states = embed([*known.types, *pairs])
    read = flat_states(states, np.zeros(states.shape[1:], states.dtype))
    alone, together = read[: len(known.types)], read[len(known.types) :]
    if not len(together):
        return alone
    both = np.hstack([alone[first], alone[second]])
    matrix, start = regress(both, together)
    return np.vstack([alone, together - both @ matrix - start])


def principal(states: np.ndarray) -> np.ndarray:
    """Return the first principal components of states, 2·De×C."""
    _, vectors = np.linalg.eigh(states.T @ states)
    return np.asarray(vectors[:, ::-1][:, :WIDTH], dtype=np.float32)


def regress(
    inputs: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return matrix and start of a ridge regression; rows may have weights."""
    middle, mean = np.average(inputs, 0, weight), np.average(targets, 0, weight)
    centred = inputs - middle
    weighted = centred if weight is None else centred * weight[:, None]
    squares = weighted.T @ centred
    held = RIDGE * max(np.trace(squares), 1e-9) / len(squares) * np.eye(len(squares), dtype=np.float32)
    matrix = np.linalg.solve(squares + held, weighted.T @ (targets - mean))
    return matrix, mean - middle @ matrix


def corrections(seen: csr_matrix, left: np.ndarray) -> np.ndarray:
    """Return (V + P)×C: ridge regression of what is left (N×C) on words and pairs, by conjugate gradients."""
    transposed = seen.T.tocsr()
    result = np.zeros((seen.shape[1], left.shape[1]), np.float32)
    rest = transposed @ left
    step, size = rest.copy(), (rest**2).sum(0)
    for _ in range(STEPS):
        moved = transposed @ (seen @ step) + OWN_RIDGE * step
        length = size / np.maximum((step * moved).sum(0), 1e-20)
        result += length * step
        rest -= length * moved
        before, size = size, (rest**2).sum(0)
        step = rest + size / np.maximum(before, 1e-20) * step
    return result
