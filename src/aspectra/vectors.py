"""Word vectors (paper: E, V×D): skip-gram with negative sampling.

In: the corpus's sentences as word ids. Out: one vector per known word, learnt on this corpus alone and
then fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aspectra.config import VectorsConfig
from aspectra.corpus import Ragged, Vocabulary
from aspectra.progress import StageProgress

ENOUGH_WORDS = 10_000_000
"""By default, read the corpus until this many words were seen, in at least FEWEST and at most MOST passes."""
FEWEST, MOST = 5, 30


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
