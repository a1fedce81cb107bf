"""Word vectors (paper: E, V×D): skip-gram with negative sampling.

In: the corpus's sentences as word ids. Out: one vector per known word, learnt on this corpus alone and
then fixed. A word that comes later gets its vector from the words around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aspectra import disk, rundir
from aspectra.config import VectorsConfig
from aspectra.corpus import Ragged, Vocabulary
from aspectra.errors import RunError
from aspectra.progress import StageProgress
from aspectra.rundir import AGAIN, RunDir

ENOUGH_WORDS = 10_000_000
"""By default, read the corpus until this many words were seen, in at least FEWEST and at most MOST passes."""
FEWEST, MOST = 5, 30
RIDGE = 0.01
"""How strongly the matrix that places new words is held to zero, as a share of its inputs' variance."""


@dataclass(frozen=True)
class WordVectors:
    """The matrix E, V×D, one row per word of the vocabulary."""

    words: tuple[str, ...]
    matrix: np.ndarray  # V×D float32


def learn_vectors(
    sentences: Ragged, vocabulary: Vocabulary, config: VectorsConfig, seed: int, progress: StageProgress
) -> WordVectors:
    """Train skip-gram vectors; the same seed gives the same bytes, on any number of threads."""
    from aspectra.skipgram import SkipGram, learn  # compiles

    sentences = sentences.select(np.flatnonzero(sentences.lengths > 1))  # a lone word has no context
    epochs = config.vector_epochs or min(MOST, max(FEWEST, -(-ENOUGH_WORDS // max(1, len(sentences.ids)))))
    model = SkipGram.of(np.array(vocabulary.counts, dtype=np.float64), config.window, config.negative)
    return WordVectors(vocabulary.words, learn(sentences, model, config.vector_size, epochs, seed, progress))


def place_words(sentences: Ragged, vectors: np.ndarray, n_words: int, window: int) -> np.ndarray:
    """Return vectors for the words from len(vectors) on, (n_words − V)×D, in the space of the known ones.

    A word's vector is the mean of the known words around it, times a matrix. The matrix is learnt on the
    known words of the same sentences, whose vectors are there ("à la carte", Khodak 2018).
    """
    from threadpoolctl import threadpool_limits

    n_known = len(vectors)
    around, weights = mean_contexts(sentences, vectors, n_words, window)
    share = np.log1p(weights[:n_known, None])  # a word that was seen more often says more
    inputs, targets = around[:n_known] * share, vectors * share
    with threadpool_limits(1):  # the same digits on any number of threads
        squares = inputs.T @ inputs
        held = RIDGE * max(np.trace(squares), 1e-9) / len(squares) * np.eye(len(squares))
        matrix = np.linalg.solve(squares + held, inputs.T @ targets)  # D×D
        return np.asarray(around[n_known:] @ matrix, dtype=np.float32)


def mean_contexts(
    sentences: Ragged, vectors: np.ndarray, n_words: int, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean vector of the known words around each word, n_words×D, and how many there were.

    As in skip-gram, near words count more: with the weight 1 − (distance − 1) / window.
    """
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(sentences)), sentences.lengths)
    around = csr_matrix((n_words, n_words))
    for distance in range(1, window + 1):
        together = rows[distance:] == rows[:-distance]
        pairs = sentences.ids[:-distance][together], sentences.ids[distance:][together]
        weight = np.full(len(pairs[0]), 1 - (distance - 1) / window)
        near = csr_matrix((weight, pairs), shape=(n_words, n_words))
        around = around + near + near.T
    known = around[:, : len(vectors)]
    weights = np.asarray(known.sum(1)).ravel()
    return (known @ vectors.astype(np.float64)) / np.maximum(weights, 1e-12)[:, None], weights


def save_vectors(vectors: WordVectors, run: RunDir) -> None:
    with disk.atomic_path(run / rundir.VECTORS) as path, path.open("wb") as file:
        np.save(file, vectors.matrix)


def load_vectors(run: RunDir, vocabulary: Vocabulary) -> WordVectors:
    path = run / rundir.VECTORS
    try:
        matrix = np.load(path)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise RunError(f"{path} cannot be used ({error}). {AGAIN}") from None
    if matrix.dtype != np.float32 or matrix.ndim != 2 or len(matrix) != len(vocabulary):
        raise RunError(
            f"{path} must have {len(vocabulary)} rows of float32, one per word; "
            f"it has {matrix.dtype} of shape {matrix.shape}. {AGAIN}"
        )
    if not np.isfinite(matrix).all():
        raise RunError(f"{path} has a vector that is not finite (NaN or infinite). {AGAIN}")
    return WordVectors(vocabulary.words, matrix)
