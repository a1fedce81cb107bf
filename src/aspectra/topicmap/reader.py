"""What segments and aspects look like to the learner of names.py: texts in, arrays out.

A `Reader` sees a segment in up to three ways: the encoder's mean state, the mean of its word vectors, and its
topic probabilities. Without an encoder the words alone are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from aspectra.corpus import Ragged, Vocabulary
from aspectra.text.tokens import stop_words
from aspectra.topicmap.aspects import Aspect
from aspectra.topicmap.gamma import even_where_unknown
from aspectra.topicmap.linear import Features
from aspectra.topicmap.names import AspectEvidence, GeneralEvidence
from aspectra.topicmap.sentences import find_products, general_texts, name_texts, neutral_texts

Embed = Callable[[Sequence[str]], np.ndarray]
"""Texts → N×D, the encoder's mean states."""


@dataclass(frozen=True)
class Reader:
    """The parts of a fitted run; `beta` gives N×K for segments, and `embed` is None without an encoder."""

    vocabulary: Vocabulary
    vectors: np.ndarray  # V×D
    beta: Callable[[pl.Series], np.ndarray]
    embed: Embed | None = None
    longest: int | None = None
    """Read at most so many words of a segment."""

    def features(self, texts: Sequence[str], encoded: np.ndarray | None = None) -> Features:
        """Read segments; `encoded` are their mean states if they are known already."""
        series = pl.Series(texts, dtype=pl.String)
        beta = self.beta(series)
        if encoded is None and self.embed:
            encoded = self.embed(texts)
        return segment_features(self.vocabulary.encode(series), self.vectors, beta, encoded, self.longest)

    def aspect(self, aspect: Aspect) -> AspectEvidence:
        """Read what is said of one aspect: its name and words in templates, its sentence, its examples.

        Its name also counts alone, if the reviews use it.
        """
        if (aspect.about or aspect.words or aspect.examples) and len(self.word_vectors(aspect.name)):
            alone = self.aspect(Aspect(aspect.name))
        else:
            alone = None
        words = [word for phrase in (aspect.name, *aspect.words) for word in self.word_vectors(phrase)]
        texts = [text for phrase in (aspect.name, *aspect.words) for text in name_texts(phrase)]
        texts += [text for text in (aspect.about, *aspect.examples) if text]
        size = self.vectors.shape[1]
        return AspectEvidence(
            aspect.name,
            self.embed(texts) if self.embed else None,
            np.stack(words) if words else np.zeros((0, size), np.float32),
            alone,
        )

    def general(self, texts: Sequence[str], aspects: Sequence[Aspect]) -> GeneralEvidence:
        """Read sentences that any review may contain, with what these reviews call the product."""
        names = [aspect.name for aspect in aspects]
        sentences = general_texts(find_products(texts, names, stop_words(self.vocabulary.language)))
        tokens = self.vocabulary.encode(pl.Series(sentences))
        means = mean_vectors(tokens, self.vectors)[tokens.lengths > 0]
        if self.embed is None:
            return GeneralEvidence(None, means, None)
        return GeneralEvidence(self.embed(sentences), means, self.embed(neutral_texts()))

    def word_vectors(self, phrase: str) -> np.ndarray:
        """Return the vectors of the known words of a phrase, n×D; "Size/Fit" is two words."""
        tokens = self.vocabulary.encode(pl.Series([phrase.replace("/", " ")]))
        return np.asarray(self.vectors[tokens.ids])


def segment_features(
    words: Ragged,
    vectors: np.ndarray,
    beta: np.ndarray,
    encoded: np.ndarray | None = None,
    longest: int | None = None,
) -> Features:
    """Return what the learner sees of segments; without known words all topics are equally likely."""
    return Features(mean_vectors(words, vectors, longest), even_where_unknown(beta), encoded)


def mean_vectors(words: Ragged, vectors: np.ndarray, longest: int | None = None) -> np.ndarray:
    """Return the mean vector of each row's words, of the first `longest`, N×D; zeros for none."""
    from scipy.sparse import csr_array

    if longest is not None and words.lengths.max(initial=0) > longest:
        words = words.select(np.arange(len(words)), longest)
    ones = np.ones(len(words.ids), np.float32)
    counts = csr_array((ones, words.ids, words.offsets), shape=(len(words), len(vectors)))
    means = counts @ vectors.astype(
        np.float32, copy=False
    )  # N×D; three times as fast as adding rows in numpy
    return np.asarray(means / np.maximum(words.lengths, 1).astype(np.float32)[:, None])
