"""What words say together: the lexicon's score of each segment, and the features that a model learns from.

The score follows VADER's rules: capitals and words like "very" strengthen, negation turns round, exclamation
marks add. Ours: "too" anything is a complaint, idioms judge in place of their words, a denied trouble is
praise, words before "but" and after "although" count half, praise before "until" is a complaint.
All of it is numpy on flat arrays; few words have a valence, so only their places are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aspectra.sentiment.words import (
    AFTER_TOO,
    CAPITALS,
    CONCEDES,
    DEFINITE,
    ENDS,
    EXCEEDS,
    LETTERS,
    NEGATES,
    OPPOSES,
    OVER,
    STARTS,
    TOO,
    TROUBLE,
    Words,
    found_in,
    together,
)

REACH, FAR = 3, 6
"""How many words after a negation it still turns round, and how many if they are troubles."""
BEFORE_BUT, CONCEDED, BEFORE_END = 0.5, 0.5, 0.25
"""What words count before "but", after "although" and before "until", where praise is a complaint."""
CONCEDED_WORDS = 12
"""How far "although" reaches if no comma ends it."""
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


def reached(words: Words) -> np.ndarray:
    """Tell which words stand behind a negation, within reach and in the same phrase.

    Troubles are denied if nothing says which: "not any problem", but not "did not fix the problem".
    """
    found = np.zeros(len(words.does), bool)
    starts, stop = np.flatnonzero(words.does & NEGATES), ENDS | EXCEEDS | OPPOSES
    for here in following(words, starts, REACH, stop):
        found[here] = words.does[here] & TROUBLE == 0
    for here in following(words, starts, FAR, stop | DEFINITE):
        found[here[words.does[here] & TROUBLE > 0]] = True
    return found


def following(words: Words, places: np.ndarray, reach: int, stop: int) -> Iterator[np.ndarray]:
    """Yield the words 1, 2, … `reach` behind places, in their segments, up to those that stop."""
    owners = words.segments[places]
    for distance in range(1, reach + 1):
        inside = places + distance < len(words.does)
        places, owners = places[inside], owners[inside]
        same = words.segments[places + distance] == owners
        places, owners = places[same], owners[same]
        yield places + distance
        going = words.does[places + distance] & stop == 0
        places, owners = places[going], owners[going]


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
    turned, counts = reached(words), contrast(words)
    found = with_idioms(words, valences_after_too(words), turned)
    counts[found.silent] = 0
    places = np.flatnonzero(found.valence)
    strength = found.valence[places].astype(np.float64)
    sign = np.sign(strength)
    capitals, letters = (words.total(np.flatnonzero(words.does & bit)) for bit in (CAPITALS, LETTERS))
    mixed = (capitals > 0) & (capitals < letters)
    strength += CAPITAL * sign * ((words.does[places] & CAPITALS > 0) & mixed[words.segments[places]])
    for distance, share in ((1, 1.0), (2, 0.95), (3, 0.9)):
        strength += share * sign * words.before(words.boost, places, distance)
    strength *= np.where(found.turned[places], NEGATED, 1.0) * counts[places]
    strength[(counts[places] == BEFORE_END) & (strength > 0)] *= -1
    total = words.total(places, strength)
    total += np.sign(total) * emphasis(words)
    sure = found.idiom | (turned & (words.does & TROUBLE > 0))
    clear = clear_signs(words, places, strength, sure[places])
    return Verdict(np.asarray(total / np.sqrt(total**2 + NORMAL)), clear, turned, counts, letters)


def emphasis(words: Words) -> np.ndarray:
    """Return what exclamation and question marks add to the strength of each segment, N."""
    marked = np.flatnonzero(words.marks)
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
    after = np.flatnonzero(words.does[:-1] & TOO) + 1
    same = words.segments[after] == words.segments[after - 1]
    valence = words.valence.copy()
    valence[after[same & (words.does[after] & AFTER_TOO > 0)]] = TOO_MUCH
    return valence


@dataclass(frozen=True)
class Found:
    """Words with idioms in place of theirs, T: an idiom's last word has its valence, the others none."""

    valence: np.ndarray
    turned: np.ndarray
    idiom: np.ndarray  # an idiom ends here
    silent: np.ndarray  # words of an idiom that says nothing: "rip a CD"


def with_idioms(words: Words, valence: np.ndarray, turned: np.ndarray) -> Found:
    """Let idioms judge in place of their words.

    An idiom is turned round by a negation before it, not by one that belongs to it.
    """
    known = words.idioms
    free, turned = np.zeros(len(valence), bool), turned.copy()
    idiom, silent = np.zeros((2, len(valence)), bool)
    if not known.lengths:
        return Found(valence, turned, idiom, silent)
    starts = np.flatnonzero(words.does[:-1] & STARTS)
    pairs = together([words.hashes[starts], words.hashes[starts + 1]])
    free[starts[found_in(pairs, known.pairs)[0]]] = True
    for length in known.lengths:
        starts = np.flatnonzero(free)
        ends = starts + length - 1
        inside = ends < len(free)
        starts, ends = starts[inside], ends[inside]
        same = words.segments[starts] == words.segments[ends]
        starts, ends = starts[same], ends[same]
        keys = together([words.hashes[starts + step] for step in range(length)])
        found, at = found_in(keys, known.keys)
        starts, ends, values = starts[found], ends[found], known.values[at[found]]
        within = starts[:, None] + np.arange(length)
        valence[within], free[within], silent[within] = 0, False, values[:, None] == 0
        valence[ends], turned[ends], idiom[ends] = values, turned[starts], True
    return Found(valence, turned, idiom, silent)


def contrast(words: Words) -> np.ndarray:
    """Return how much each word counts beside the others of its segment, T."""
    counts = np.ones(len(words.does), np.float32)
    for here in following(words, np.flatnonzero(words.does & CONCEDES), CONCEDED_WORDS, ENDS):
        counts[here] = CONCEDED
    for bit, share in ((OPPOSES, BEFORE_BUT), (OVER, BEFORE_END)):
        counts[before_last(words, np.flatnonzero(words.does & bit))] = share
    return counts


def before_last(words: Words, marks: np.ndarray) -> np.ndarray:
    """Return the places of the words that stand before the last of the marks of their segment."""
    owners = words.segments[marks]
    ends = marks[np.diff(owners, append=-1) != 0]
    lengths = ends - np.searchsorted(words.segments, words.segments[ends])
    return np.asarray(np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(lengths.sum()))


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
