"""What words say together: the lexicon's score of each segment, and the features that a model learns from.

The score follows VADER's rules: capitals and words like "very" strengthen, negation turns round, exclamation
marks add. Ours: "too" anything is a complaint; what reach.py finds of idioms, contrast and comparison.
All of it is numpy on flat arrays; few words have a valence, so only their places are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aspectra.sentiment.reach import BEFORE_END, COMPARED, read_together
from aspectra.sentiment.words import AFTER_TOO, CAPITALS, ENDS, LETTERS, TOO, Words

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
    """The features of N segments: `rows` tells which segment each belongs to, `counts` how much it counts."""

    rows: np.ndarray
    ids: np.ndarray
    counts: np.ndarray
    n: int


@dataclass(frozen=True)
class Verdict:
    """What the lexicon says of N segments with T words."""

    scores: np.ndarray  # −1 to 1; 0 if no word has a valence, N
    clear: np.ndarray  # the sign of what idioms and denied troubles say if no word says the opposite, or 0, N
    turned: np.ndarray  # words behind a negation, T
    counts: np.ndarray  # how much each word counts, T
    lengths: np.ndarray  # in words, N


def judge(words: Words) -> Verdict:
    """Return what the lexicon says of each segment."""
    found = read_together(words, valences_after_too(words))
    places = np.flatnonzero(found.valence != 0)
    strength = found.valence[places].astype(np.float64)
    sign = np.sign(strength)
    capitals, letters = (words.total(np.flatnonzero(words.does & bit != 0)) for bit in (CAPITALS, LETTERS))
    mixed = (capitals > 0) & (capitals < letters)
    strength += CAPITAL * sign * ((words.does[places] & CAPITALS > 0) & mixed[words.segments[places]])
    for distance, share in ((1, 1.0), (2, 0.95), (3, 0.9)):
        strength += share * sign * words.before(words.boost, places, distance)
    strength *= np.where(found.turned[places], NEGATED, 1.0) * found.counts[places]
    gone = found.lost[places] | (found.counts[places] == BEFORE_END)
    strength[gone & (strength > 0)] *= -1
    total = words.total(places, strength)
    total += np.sign(total) * emphasis(words)
    told = found.counts[places] > COMPARED  # what others are compared with contradicts nothing
    clear = clear_signs(words, places[told], strength[told], found.sure[places[told]])
    scores = np.asarray(total / np.sqrt(total**2 + NORMAL))
    return Verdict(scores, clear, found.turned, found.counts, letters)


def emphasis(words: Words) -> np.ndarray:
    """Return what exclamation and question marks add to the strength of each segment, N."""
    marked = np.flatnonzero(words.marks != 0)
    asks, shouts = (words.total(marked, part) for part in np.divmod(words.marks[marked], 100))
    return np.asarray(
        EXCLAMATION * np.minimum(shouts, 4) + np.where(asks > 1, QUESTION * np.minimum(asks, 4), 0.0)
    )


def clear_signs(words: Words, places: np.ndarray, strength: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """Return 1 or −1 for segments in which a word is sure and none says the opposite, else 0."""
    known = words.total(places[sure]) > 0
    praise, complaint = (words.total(places[side]) > 0 for side in (strength > 0, strength < 0))
    return np.where(known, praise & ~complaint, 0) - np.where(known, complaint & ~praise, 0)


def valences_after_too(words: Words) -> np.ndarray:
    """Return the words' valences; what is a complaint after "too" has TOO_MUCH there."""
    after = np.flatnonzero(words.does[:-1] & TOO != 0) + 1
    same = words.segments[after] == words.segments[after - 1]
    valence = words.valence.copy()
    valence[after[same & (words.does[after] & AFTER_TOO > 0)]] = TOO_MUCH
    return valence


SHORT, LONG, LONGER = 8, 32, 0.7
"""From 8 to 32 words, the longer a segment, the less often it is neutral: a logit of 0.7 for each e times."""
LEXICON_SLOPE, LEXICON_NEUTRAL = 2.0, 1.0
"""How the lexicon's score s becomes logits: ±SLOPE · s − NEUTRAL."""


def lexicon_logits(scores: np.ndarray) -> np.ndarray:
    """Return the logits of positive and negative, N×2, that the lexicon alone gives."""
    return np.stack([scores, -scores], 1) * LEXICON_SLOPE - LEXICON_NEUTRAL


def bounded(logits: np.ndarray, verdict: Verdict) -> np.ndarray:
    """Let what is clear stand: logits lean to its side at least half as much as the lexicon's."""
    least = np.abs(verdict.scores) * LEXICON_SLOPE
    lacking = np.where(verdict.clear != 0, least - verdict.clear * (logits[:, 0] - logits[:, 1]), 0.0)
    push = verdict.clear * np.maximum(lacking, 0.0) / 2
    return np.asarray(logits + np.stack([push, -push], 1))


def longer(verdict: Verdict) -> np.ndarray:
    """Return what is added to the logits of positive and negative, N: long segments are seldom neutral."""
    return np.asarray(LONGER * np.log(np.clip(verdict.lengths, SHORT, LONG) / SHORT))


def features(words: Words, verdict: Verdict) -> Features:
    """Return words, negated words, pairs, triples and the lexicon's score, as hashed features."""
    kept = np.flatnonzero((words.does & (LETTERS | ENDS) != ENDS) | (words.marks > 0))  # commas say little
    rows, hashes, counts = words.segments[kept], words.hashes[kept], verdict.counts[kept]
    turned, scores = np.flatnonzero(verdict.turned[kept]), verdict.scores
    two, three = rows[1:] == rows[:-1], rows[2:] == rows[:-2]
    pairs = (hashes[:-1] * SINGLE ^ (hashes[:-1] >> 15)) + hashes[1:]
    triples = pairs[:-1] * TURNED + hashes[2:]
    beyond = np.where(np.sign(STEPS) > 0, scores[:, None] > STEPS, scores[:, None] < STEPS)
    scored, steps = np.nonzero(beyond)  # a score of 0.5 is beyond 0.02, 0.2 and 0.4
    parts: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...] = (
        (rows, mixed(hashes, SINGLE), counts),
        (rows[turned], mixed(hashes[turned], TURNED), counts[turned]),
        (rows[:-1][two], mixed(pairs[two], PAIR), counts[:-1][two]),
        (rows[:-2][three], mixed(triples[three], TRIPLE), counts[:-2][three]),
        (scored, mixed(steps.astype(np.uint32) + 1, SCORE), np.ones(len(scored), np.float32)),
    )
    owners, ids, shares = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Features(owners, ids, shares, words.n)


def mixed(values: np.ndarray, kind: np.uint32) -> np.ndarray:
    """Hash values of one kind to BITS bits."""
    spread = (values ^ (values >> np.uint32(16))) * kind
    return np.asarray((spread ^ (spread >> np.uint32(13))) >> np.uint32(32 - BITS))
