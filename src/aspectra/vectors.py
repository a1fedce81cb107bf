"""Word vectors (paper: E, V×D): skip-gram with negative sampling, by gensim.

In: the corpus's sentences as word ids. Out: one vector per known word, learnt on this corpus alone and
then fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

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


class Sentences:
    """Sentences as lists of words, as gensim wants them; `each_pass` is called after every pass over them."""

    def __init__(self, sentences: Ragged, words: tuple[str, ...], each_pass: Callable[[], None]) -> None:
        self.sentences, self.words, self.each_pass = sentences, np.array(words, dtype=object), each_pass

    def __iter__(self) -> Iterator[list[str]]:
        offsets = self.sentences.offsets.tolist()
        for start, end in pairwise(offsets):
            yield self.words[self.sentences.ids[start:end]].tolist()
        self.each_pass()


def learn_vectors(
    sentences: Ragged, vocabulary: Vocabulary, config: VectorsConfig, seed: int, progress: StageProgress
) -> WordVectors:
    """Train skip-gram vectors; with one worker the same seed gives the same bytes."""
    from gensim.models import Word2Vec

    sentences = sentences.select(np.flatnonzero(sentences.lengths > 1))  # a lone word has no context
    epochs = config.vector_epochs or min(MOST, max(FEWEST, -(-ENOUGH_WORDS // max(1, len(sentences.ids)))))
    passes = 0

    def each_pass() -> None:
        nonlocal passes
        passes += 1
        progress(min(1.0, passes / epochs))

    model = Word2Vec(
        vector_size=config.vector_size,
        window=config.window,
        negative=config.negative,
        sg=1,
        min_count=1,
        workers=config.workers,
        seed=seed + 1,  # gensim treats 0 as "no seed" in places
    )
    model.build_vocab_from_freq(dict(zip(vocabulary.words, vocabulary.counts, strict=True)))
    model.train(
        Sentences(sentences, vocabulary.words, each_pass),
        total_examples=len(sentences),
        total_words=len(sentences.ids),
        epochs=epochs,
    )
    return WordVectors(
        vocabulary.words, np.ascontiguousarray(model.wv[list(vocabulary.words)], dtype=np.float32)
    )
