"""What words say together: the lexicon's score of each segment, and the features that a model learns from.

The score follows VADER's rules: capitals and words like "very" strengthen, negation up to three words before
turns round, what follows "but" counts more, exclamation marks add. What is "too" anything is a complaint,
and idioms judge in place of their words.
All of it is numpy on flat arrays; few words have a valence, so only their places are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aspectra.sentiment.words import (
    AFTER_TOO,
    CAPITALS,
    ENDS,
    LETTERS,
    NEGATES,
    OPPOSES,
    STARTS,
    TOO,
    Words,
    together,
)

REACH = 3
"""How many words after a negation it still turns round."""
NEGATED, CAPITAL = -0.74, 0.733
TOO_MUCH = -1.2
"""Valence of what is too much."""
EXCLAMATION, QUESTION = 0.292, 0.18
NORMAL = 15.0
BITS = 19
"""Features are numbered from 0 to 2^BITS − 1 by hashing."""
STEPS = np.array([-0.8, -0.6, -0.4, -0.2, -0.02, 0.02, 0.2, 0.4, 0.6, 0.8])
SINGLE, TURNED, PAIR, TRIPLE, SCORE = map(
    np.uint32, (2654435761, 2246822519, 3266489917, 668265263, 374761393)
)
"""One odd number for each kind of feature, so that a word and its negation get different hashes."""


@dataclass(frozen=True)
class Features:
    """The features of N segments: `rows` tells which segment each belongs to."""

    rows: np.ndarray
    ids: np.ndarray
    n: int


def reached(words: Words) -> np.ndarray:
    """Tell which words stand behind a negation, within reach and in the same phrase."""
    found = np.zeros(len(words.does), bool)
    places = np.flatnonzero(words.does & NEGATES)
    owners = words.segments[places]
    for distance in range(1, REACH + 1):
        inside = places + distance < len(found)
        places, owners = places[inside], owners[inside]
        here = places + distance
        found[here[words.segments[here] == owners]] = True
        going = words.does[here] & ENDS == 0
        places, owners = places[going], owners[going]
    return found


def lexicon_scores(words: Words, turned: np.ndarray | None = None) -> np.ndarray:
    """Return each segment's score by the lexicon, −1 to 1; 0 if no word has a valence.

    `turned` is `reached(words)`, for callers that need it, too.
    """
    turned = reached(words) if turned is None else turned
    valence, turned = with_idioms(words, valences_after_too(words), turned)
    places = np.flatnonzero(valence)
    strength = valence[places].astype(np.float64)
    sign = np.sign(strength)
    capitals, letters = (words.total(np.flatnonzero(words.does & bit)) for bit in (CAPITALS, LETTERS))
    mixed = (capitals > 0) & (capitals < letters)
    strength += CAPITAL * sign * ((words.does[places] & CAPITALS > 0) & mixed[words.segments[places]])
    for distance, share in ((1, 1.0), (2, 0.95), (3, 0.9)):
        strength += share * sign * words.before(words.boost, places, distance)
    strength *= np.where(turned[places], NEGATED, 1.0) * opposed(words, places)
    total = words.total(places, strength)
    marked = np.flatnonzero(words.marks)
    asks, shouts = (words.total(marked, part) for part in np.divmod(words.marks[marked], 100))
    emphasis = EXCLAMATION * np.minimum(shouts, 4) + np.where(asks > 1, QUESTION * np.minimum(asks, 4), 0.0)
    total += np.sign(total) * emphasis
    return np.asarray(total / np.sqrt(total**2 + NORMAL))


def valences_after_too(words: Words) -> np.ndarray:
    """Return the words' valences; what is a complaint after "too" has TOO_MUCH there."""
    after = np.flatnonzero(words.does[:-1] & TOO) + 1
    same = words.segments[after] == words.segments[after - 1]
    valence = words.valence.copy()
    valence[after[same & (words.does[after] & AFTER_TOO > 0)]] = TOO_MUCH
    return valence


def with_idioms(words: Words, valence: np.ndarray, turned: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let idioms judge in place of their words: each one's last word has its valence, the others none.

    An idiom is turned round by a negation before it, not by one that belongs to it.
    """
    known = words.idioms
    free, turned = words.does & STARTS > 0, turned.copy()
    for length in known.lengths:
        starts = np.flatnonzero(free)
        ends = starts + length - 1
        inside = ends < len(free)
        starts, ends = starts[inside], ends[inside]
        same = words.segments[starts] == words.segments[ends]
        starts, ends = starts[same], ends[same]
        keys = together([words.hashes[starts + step] for step in range(length)])
        at = np.minimum(np.searchsorted(known.keys, keys), len(known.keys) - 1)
        found = known.keys[at] == keys
        starts, ends, values = starts[found], ends[found], known.values[at[found]]
        within = (starts[:, None] + np.arange(length)).ravel()
        valence[within], free[within] = 0, False
        valence[ends], turned[ends] = values, turned[starts]
    return valence, turned


def opposed(words: Words, places: np.ndarray) -> np.ndarray:
    """Return ½ for words before the last "but" of their segment, 1½ after it, 1 without one."""
    last = np.full(words.n, -1)
    buts = np.flatnonzero(words.does & OPPOSES)
    last[words.segments[buts]] = buts  # of several in a segment the last stays
    last = last[words.segments[places]]
    return np.where(last < 0, 1.0, np.where(places < last, 0.5, 1.5))


LEXICON_SLOPE, LEXICON_NEUTRAL = 2.0, 1.0
"""How the lexicon's score s becomes logits: ±SLOPE · s − NEUTRAL."""


def lexicon_logits(scores: np.ndarray) -> np.ndarray:
    """Return the logits of positive and negative, N×2, that the lexicon alone gives."""
    return np.stack([scores, -scores], 1) * LEXICON_SLOPE - LEXICON_NEUTRAL


def features(words: Words, scores: np.ndarray, turned: np.ndarray | None = None) -> Features:
    """Return words, negated words, pairs, triples and the lexicon's score, as hashed features."""
    kept = np.flatnonzero((words.does & (LETTERS | ENDS) != ENDS) | (words.marks > 0))  # commas say little
    rows, hashes = words.segments[kept], words.hashes[kept]
    turned = np.flatnonzero((reached(words) if turned is None else turned)[kept])
    two, three = rows[1:] == rows[:-1], rows[2:] == rows[:-2]
    pairs = (hashes[:-1] * SINGLE ^ (hashes[:-1] >> 15)) + hashes[1:]
    triples = pairs[:-1] * TURNED + hashes[2:]
    beyond = np.where(np.sign(STEPS) > 0, scores[:, None] > STEPS, scores[:, None] < STEPS)
    scored, steps = np.nonzero(beyond)  # a score of 0.5 is beyond 0.02, 0.2 and 0.4
    parts = (
        (rows, mixed(hashes, SINGLE)), (rows[turned], mixed(hashes[turned], TURNED)),
        (rows[:-1][two], mixed(pairs[two], PAIR)), (rows[:-2][three], mixed(triples[three], TRIPLE)),
        (scored, mixed(steps.astype(np.uint32) + 1, SCORE)),
    )  # fmt: skip
    owners, ids = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Features(owners, ids, words.n)


def mixed(values: np.ndarray, kind: np.uint32) -> np.ndarray:
    """Hash values of one kind to BITS bits."""
    spread = (values ^ (values >> np.uint32(16))) * kind
    return np.asarray((spread ^ (spread >> np.uint32(13))) >> np.uint32(32 - BITS))
