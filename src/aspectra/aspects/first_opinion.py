"""The first opinion: what is said of aspects in, how much each segment sounds like each aspect out.

Cosines of a segment with each aspect's name and sentences (encoder) and words (word vectors) are brought to
one scale and added up; one of the words in the segment counts, too. General has sentences of any review.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aspectra.arrays import TINY, cosines, normalise, softmax, unit
from aspectra.aspects.gaussians import Features

NEAREST = 5
"""How near a segment is to a group of texts is the mean of its cosines with this many nearest ones."""
EXAMPLES, BESIDE_WORDS = 0.7, 0.5
"""Weight of an aspect's sentences beside its name; the second if a person gave words or a sentence for it.
On seven dev sets 0.6 to 0.8 and 0.4 to 0.6 do as well."""
WHITENING = (0.5, 0.1)
"""Directions in which segments vary much count less when sentences are compared: each is divided by the
square root of its variance to the power of the first number, after the second number times the mean variance
is added. Powers of 0.3 and 0.5, shares of 0.03 to 0.3 do as well."""
WITHIN = (1.0, 0.3)
"""The same for General, by how sentences about one aspect vary. In eleven small piles F1 gains 0.9, on seven
large dev sets 0.0; shares of 0.03 to 0.3 do as well."""
WORD_WEIGHT, HALF_WEIGHT_AT = 0.5, 1000
"""Weight of the word vectors' opinion beside the encoder's. With HALF_WEIGHT_AT segments it is half of that:
word vectors learn little from few segments."""
BASE_SHARE, PER_MENTION, PER_NEAR, SPECIFIC = 0.05, 1.3, 1.1, (0.1, 0.9)
"""The share of the segments that speak of any aspect in the first opinion: BASE_SHARE, plus PER_MENTION times
the share that have a word of one or PER_NEAR times the share that are near to a name, whichever is more. Both
miss some. The result is kept within SPECIFIC, and the models later find their own share. One share for all
reviews costs 7 points of F1 where few aspects are named, 13 in restaurants (dev); words alone 5 to 16 in
small piles."""
SURE_SHARE = 0.4
"""This share for the model that tells which aspect it is: it learns from the surest segments. It is also used
for both models where nothing tells which segments mention an aspect."""
SHARPNESS = 2.0
"""The first opinion is the softmax of similarities, in standard deviations, times this."""
HAS_WORD = 2.0
"""Added to an aspect before that softmax if the segment has one of its words."""


@dataclass(frozen=True)
class AspectEvidence:
    """What is said of one aspect: mean states of its texts (n×De), vectors of its words (m×D).

    `examples` (e×De) are sentences that speak of it. `told` is whether a person said more than its name.
    `has_word` (N, 0 to 1) tells which of the segments that are learnt from have one of its words, and
    `mentioned` (N) which of them seem to speak of it: by its words, or else its name. `near` (N) tells which
    are near to its name by the encoder. `by_name` is what its name alone says, if a person said more.
    """

    name: str
    texts: np.ndarray | None = None
    words: np.ndarray | None = None
    examples: np.ndarray | None = None
    told: bool = False
    has_word: np.ndarray | None = None
    mentioned: np.ndarray | None = None
    near: np.ndarray | None = None
    by_name: AspectEvidence | None = None

    @property
    def has_words(self) -> bool:
        return self.words is not None and len(self.words) > 0


@dataclass(frozen=True)
class GeneralEvidence:
    """General texts for encoder and word vectors, and the name templates with neutral words (n×De).

    `same` (n×3×De) are n groups of sentences about the same aspect, or None if there are none.
    """

    texts: np.ndarray | None
    words: np.ndarray
    neutral: np.ndarray | None
    same: np.ndarray | None = None


def first_opinion(
    segments: Features,
    aspects: Sequence[AspectEvidence],
    general: GeneralEvidence,
    share: float | None = None,
) -> np.ndarray:
    """Return N×(A + 1): how much each segment sounds like each aspect, and like General (last).

    `share` of the segments are not General; by default it is estimated. What a person says of aspects and
    their names alone count the same, where these are known: the geometric mean of both opinions.
    """
    opinion = one_opinion(segments, aspects, general, share)
    if not any(one.by_name for one in aspects):
        return opinion
    by_name = one_opinion(segments, [one.by_name or one for one in aspects], general, share)
    return normalise(np.sqrt(opinion * by_name))


def one_opinion(
    segments: Features, aspects: Sequence[AspectEvidence], general: GeneralEvidence, share: float | None
) -> np.ndarray:
    """Return such an opinion, by all that `aspects` hold."""
    score = (
        WORD_WEIGHT
        * len(segments)
        / (len(segments) + HALF_WEIGHT_AT)
        * one_scale(word_view(segments, aspects))
    )
    like_general = nearest(segments.words, general.words)
    if segments.encoder is not None and general.texts is not None and general.neutral is not None:
        meant = segments.encoder[:, 0]  # meanings are compared by the last layer alone
        score += one_scale(encoder_view(meant, aspects, general.texts, general.neutral))
        like_general = general_view(meant, general.texts, general.same)
    score = one_scale(score)
    like_general = one_scale(like_general[:, None])[:, 0]
    level = np.quantile(score.max(1) - like_general, 1 - (share or specific_share(aspects)))
    logits = SHARPNESS * np.column_stack([score, like_general + level])
    for place, one in enumerate(aspects):
        if one.has_word is not None:
            logits[:, place] += HAS_WORD * one.has_word
    return softmax(logits)


def specific_share(aspects: Sequence[AspectEvidence]) -> float:
    """Return the share of the segments that speak of any of the aspects: they mention one, or are near."""
    mentioned = [one.mentioned for one in aspects if one.mentioned is not None]
    if not mentioned:
        return SURE_SHARE
    near = [one.near for one in aspects if one.near is not None]
    by_words = PER_MENTION * np.any(mentioned, axis=0).mean()
    by_names = PER_NEAR * np.any(near, axis=0).mean() if near else 0.0
    return float(np.clip(BASE_SHARE + max(by_words, by_names), *SPECIFIC))


def encoder_view(
    encoder: np.ndarray, aspects: Sequence[AspectEvidence], general: np.ndarray, neutral: np.ndarray
) -> np.ndarray:
    """Return how near segments are to aspects by the encoder, N×A: to the name, and to sentences about it.

    Segments, names and sentences are each without what all of their kind share.
    """
    vectors, middle = unit(encoder), unit(neutral).mean(0)
    vectors = vectors - vectors.mean(0)
    names = [
        unit(one.texts).mean(0) - middle if one.texts is not None and len(one.texts) else 0 * middle
        for one in aspects
    ]
    result = one_scale(unit(vectors) @ unit(np.stack(names)).T)
    said = {place: unit(one.examples) for place, one in enumerate(aspects) if one.examples is not None}
    if not said:
        return result
    turn, shared = whitening(vectors), np.vstack([unit(general), *said.values()]).mean(0)
    vectors = unit(vectors @ turn)
    near = one_scale(
        np.column_stack([largest(vectors @ unit((texts - shared) @ turn).T) for texts in said.values()])
    )
    weight = np.array([BESIDE_WORDS if aspects[place].told else EXAMPLES for place in said])
    result[:, list(said)] = (1 - weight) * result[:, list(said)] + weight * near
    return result


def general_view(encoder: np.ndarray, texts: np.ndarray, same: np.ndarray | None) -> np.ndarray:
    """Return how near segments are to general texts by the encoder, N.

    Directions in which sentences about the `same` aspect differ count less: they tell how something is said,
    not whether it speaks of an aspect. Segments and texts are each without what all of their kind share.
    """
    vectors, examples = unit(encoder), unit(texts)
    if same is None:
        return nearest(vectors, examples)
    alike = unit(same)
    turn = whitening((alike - alike.mean(1, keepdims=True)).reshape(-1, alike.shape[-1]), WITHIN)
    return largest(cosines((vectors - vectors.mean(0)) @ turn, (examples - examples.mean(0)) @ turn))


def whitening(vectors: np.ndarray, strength: tuple[float, float] = WHITENING) -> np.ndarray:
    """Return a matrix (De×De) that makes directions count less the more centred vectors vary along them."""
    power, least = strength
    variances, directions = np.linalg.eigh(np.cov(vectors.T))
    variances = np.maximum(variances, 0) + least * max(variances.mean(), TINY)
    return np.asarray(directions * variances ** (-power / 2))


def word_view(segments: Features, aspects: Sequence[AspectEvidence]) -> np.ndarray:
    """Return cosines N×A of mean word vectors and the aspects' words; 0 for an aspect without known words."""
    centre = segments.words.mean(0)
    names = [unit(np.asarray(one.words) - centre).mean(0) if one.has_words else 0 * centre for one in aspects]
    return np.asarray(unit(segments.words - centre) @ unit(np.stack(names)).T)


def nearest(vectors: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """Return the mean of each vector's largest cosines with the examples, N."""
    if not len(examples):
        return np.zeros(len(vectors))
    centre = vectors.mean(0)
    return largest(cosines(vectors - centre, examples - centre))


def largest(values: np.ndarray) -> np.ndarray:
    """Return the mean of the largest numbers of each row."""
    return np.asarray(np.sort(values, axis=1)[:, -NEAREST:].mean(1))


def one_scale(scores: np.ndarray) -> np.ndarray:
    """Centre each column; divide all by one number: an aspect that is spoken of much keeps its spread."""
    spread = scores.std(0)
    scale = max(spread[spread > 0].mean() if (spread > 0).any() else 1.0, TINY)
    return np.asarray((scores - scores.mean(0)) / scale)
