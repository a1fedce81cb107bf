"""What segments and aspects look like to the learner of names.py: texts in, arrays out.

A `Reader` sees a segment in up to three ways: the encoder's mean states, the mean of its word vectors, and
its topic probabilities. Without an encoder the words alone are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from aspectra.arrays import even_where_unknown
from aspectra.aspects.aspects import Aspect
from aspectra.aspects.first_opinion import AspectEvidence, GeneralEvidence
from aspectra.aspects.gaussians import Features
from aspectra.aspects.library import ALIKE, alike_sentences, look_up
from aspectra.aspects.sentences import find_products, general_texts, name_texts, neutral_texts
from aspectra.corpus import Ragged, Vocabulary
from aspectra.text.tokens import stop_words

Embed = Callable[..., np.ndarray]
"""Texts, and `progress` if need be → N×2×De, the encoder's mean states."""
FEW_WORDS = 10_000
"""Fewer words are added without scipy: to import it takes longer than to label a hundred reviews."""


@dataclass(frozen=True)
class ReadOnce:
    """Gives an encoder's mean states of texts; those that are not known yet are encoded, once."""

    embed: Embed
    known: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def __call__(self, texts: Sequence[str], **options: Any) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self.embed(new, **options), strict=True))
        return np.stack([self.known[text] for text in texts])


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

        What the library has of its name are further examples.
        """
        texts = [text for phrase in (aspect.name, *aspect.words) for text in name_texts(phrase)]
        texts += [text for text in (aspect.about, *aspect.examples) if text]
        examples = [*aspect.examples, *self.known(aspect.name).examples]
        read = self.embed([*texts, *examples])[:, 0] if self.embed else None
        return AspectEvidence(
            name=aspect.name,
            texts=None if read is None else read[: len(texts)],
            words=np.concatenate(self.word_vectors([aspect.name, *aspect.words])),
            examples=read[len(texts) :] if read is not None and examples else None,
            told=bool(aspect.words or aspect.about),
        )

    def known(self, name: str) -> Aspect:
        """Return what the library knows of an aspect in the language of the reviews."""
        return look_up(name, self.vocabulary.language)

    def general(self, texts: Sequence[str], aspects: Sequence[Aspect]) -> GeneralEvidence:
        """Read sentences that any review may contain, with what these reviews call the product."""
        names = [aspect.name for aspect in aspects]
        sentences = general_texts(find_products(texts, names, stop_words(self.vocabulary.language)))
        tokens = self.vocabulary.encode(pl.Series(sentences))
        means = mean_vectors(tokens, self.vectors)[tokens.lengths > 0]
        if self.embed is None:
            return GeneralEvidence(texts=None, words=means, neutral=None)
        texts_read, neutral = (self.embed(some)[:, 0] for some in (sentences, neutral_texts()))
        alike = alike_sentences(self.vocabulary.language)
        same = self.embed(alike)[:, 0] if alike else None
        groups = None if same is None else same.reshape(-1, ALIKE, same.shape[-1])
        return GeneralEvidence(texts_read, means, neutral, groups)

    def word_vectors(self, phrases: Sequence[str]) -> list[np.ndarray]:
        """Return the vectors of the known words of each phrase, n×D; "Size/Fit" is two words."""
        tokens = self.vocabulary.encode(pl.Series([phrase.replace("/", " ") for phrase in phrases]))
        return np.split(self.vectors[tokens.ids], tokens.offsets[1:-1])


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
    if longest is not None and words.lengths.max(initial=0) > longest:
        words = words.select(np.arange(len(words)), longest)
    add = add_few if len(words.ids) < FEW_WORDS else add_many
    sums = add(words, vectors.astype(np.float32, copy=False))  # N×D
    return np.asarray(sums / np.maximum(words.lengths, 1).astype(np.float32)[:, None])


def add_few(words: Ragged, vectors: np.ndarray) -> np.ndarray:
    """Add the vectors of each row's words, word by word; long rows are first, so the others end before."""
    order = np.argsort(-words.lengths, kind="stable")
    starts, lengths = words.offsets[order], words.lengths[order]
    sums = np.zeros((len(words), vectors.shape[1]), np.float32)
    for place in range(lengths.max(initial=0)):
        n_left = np.searchsorted(-lengths, -place)
        sums[:n_left] += vectors[words.ids[starts[:n_left] + place]]
    return np.asarray(sums[np.argsort(order)])


def add_many(words: Ragged, vectors: np.ndarray) -> np.ndarray:
    """Give the same digits as add_few, up to three times as fast."""
    from scipy.sparse import csr_array

    ones = np.ones(len(words.ids), np.float32)
    counts = csr_array((ones, words.ids, words.offsets), shape=(len(words), len(vectors)))
    return np.asarray(counts @ vectors)
