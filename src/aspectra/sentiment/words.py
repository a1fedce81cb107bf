"""Segments → words as numbers, with what the lexicon knows of each: all later work is numpy on flat arrays.

Unlike the words that topics are learnt from, these keep negation, stop words, capitals, punctuation,
emoticons and emoji. Python sees each distinct form once; what it found is kept for the next batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import polars as pl

from aspectra.sentiment.lexicon import (
    BEGINNING,
    CONCEDING,
    ENDING,
    EXCEEDING,
    JOINING,
    LESSENING,
    NEGATORS,
    OPPOSING,
    POINTING,
    SUPERLATIVE,
    TROUBLES,
    boost,
    idioms,
    shortened,
    valence,
    valences,
)
from aspectra.text.tokens import STOP_WORDS, Tokens, extract_forms, remembered, word_in

NEGATES, OPPOSES, ENDS, CAPITALS, LETTERS, TOO, AFTER_TOO, STARTS = (2**bit for bit in range(8))
"""What a word does, as bits: turn round what follows, outweigh what stands before, end a phrase; its form;
whether it is "too", and whether it is a complaint after "too", as loud is, and bright; whether an idiom
starts with it."""
CONCEDES, OVER, EXCEEDS, TROUBLE, DEFINITE = (2**bit for bit in range(8, 13))
"""More bits: whether it is of CONCEDING, ENDING, EXCEEDING, TROUBLES or POINTING."""
LESSENS, BEGINS, SUCH, JOINS, NEVER, THAN, AS = (2**bit for bit in range(13, 20))
"""Whether it is of LESSENING, BEGINNING, SUPERLATIVE or JOINING, or it is "never", "than" or "as"."""
GOOD = 1.5
"""From this valence on a word is praise after "too" as well: "too good"."""


@dataclass(frozen=True)
class Idioms:
    """Idioms of one language as numbers: `keys`, which rise, belong to `values`; `first` are first words."""

    keys: np.ndarray  # uint64, as `together` makes them
    values: np.ndarray
    kinds: np.ndarray  # SAYS, TURNS, UNREAL or PAST
    begun: np.ndarray  # whether one may start with a pair of words, by the last bits of the pair's key
    lengths: tuple[int, ...]  # that idioms have, the longest first
    first: frozenset[str]

    @classmethod
    def of(cls, language: str) -> Idioms:
        known = idioms(language)
        keys, pairs = (np.array([key_of(words[:most]) for words in known], np.uint64) for most in (None, 2))
        values, kinds = (np.array([one[part] for one in known.values()], np.float32) for part in (0, 1))
        order, begun = np.argsort(keys), np.zeros(2**PAIR_BITS, bool)
        begun[last_bits(pairs)] = True
        return cls(
            keys[order],
            values[order],
            kinds[order].astype(np.int8),
            begun,
            tuple(sorted({len(words) for words in known}, reverse=True)),
            frozenset(words[0] for words in known),
        )


FACTOR = 1_000_003
PAIR_BITS = 16


def together(hashes: Sequence[np.ndarray]) -> np.ndarray:
    """Return one number for words in a row, from the number of each."""
    key = np.zeros(len(hashes[0]), np.uint64)
    for one in hashes:
        key = key * np.uint64(FACTOR) + one.astype(np.uint64)
    return key


def last_bits(keys: np.ndarray) -> np.ndarray:
    return keys & np.uint64(2**PAIR_BITS - 1)


def key_of(words: Sequence[str]) -> int:
    """Return what `together` makes of the numbers of these words."""
    key = 0
    for word in words:
        key = (key * FACTOR + hashed(word)) % 2**64
    return key


def found_in(keys: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tell which keys are among the known ones, which rise, and where there."""
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return known[at] == keys, at


def hashed(form: str) -> int:
    return crc32(form.encode())


@dataclass(frozen=True)
class Words:
    """The words of N segments, one after the other: T words in flat arrays."""

    segments: np.ndarray  # which segment each word belongs to, T
    valence: np.ndarray  # float32, T
    boost: np.ndarray  # float32, T
    does: np.ndarray  # bits, T
    hashes: np.ndarray  # uint32, T
    marks: np.ndarray  # exclamation marks, then question marks × 100, T
    n: int
    idioms: Idioms

    def before(self, values: np.ndarray, places: np.ndarray, distance: int) -> np.ndarray:
        """Return for words at some places the value of the word so far before it in its segment, or 0."""
        there = np.maximum(places - distance, 0)
        same = (places >= distance) & (self.segments[there] == self.segments[places])
        return np.where(same, values[there], 0)

    def total(self, places: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Return the sum over each segment of values at some places, or how many places it has, N."""
        return np.bincount(self.segments[places], values, self.n).astype(np.float64)


@dataclass
class WordReader:
    """Reads segments of one language."""

    language: str
    facts: dict[str, tuple[float, float, int, int, int]] = field(default_factory=dict)
    idioms: Idioms = field(init=False)

    def __post_init__(self) -> None:
        self.idioms = Idioms.of(self.language)

    def read(self, texts: pl.Series) -> Words:
        """Cut segments into words and marks, and look them up; null has none."""
        return self.read_forms(extract_forms(texts))

    def read_forms(self, forms: Tokens) -> Words:
        """Look up what `extract_forms` has found already."""
        owner = np.repeat(np.arange(len(forms.lengths)), forms.lengths)
        valence, boost, does, hashes, marks = (column[forms.codes] for column in self.look_up(forms.types))
        return Words(owner, valence, boost, does, hashes, marks, len(forms.lengths), self.idioms)

    def look_up(self, kinds: list[str]) -> tuple[np.ndarray, ...]:
        facts = self.facts = remembered(self.facts, kinds)
        known = valences(self.language)
        for word in kinds:
            if word not in facts:
                facts[word] = describe(word, known, self.idioms.first)
        rows = [facts[word] for word in kinds] or [(0.0, 0.0, 0, 0, 0)]
        types = (np.float32, np.float32, np.uint32, np.uint32, np.int32)
        return tuple(
            np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)
        )


def describe(
    word: str, known: dict[str, float], starts: frozenset[str]
) -> tuple[float, float, int, int, int]:
    """Return a word form's valence, boost, what it does, hash and marks; idioms start with `starts`."""
    if word.lower() not in known or (word[-1].isdigit() and word != "<3"):  # else it is an emoticon, not 4:3
        word = word_in(word) or word
    lower = word.lower()
    does = NEGATES * (lower in NEGATORS or lower.endswith("n't")) + OPPOSES * (lower in OPPOSING)
    if known:  # "till" is another word in Swedish
        does += CONCEDES * (lower in CONCEDING) + OVER * (lower in ENDING)
        does += EXCEEDS * (lower in EXCEEDING) + TROUBLE * (lower in TROUBLES)
        does += (
            DEFINITE * (lower in POINTING) + LESSENS * (lower in LESSENING) + SUCH * (lower in SUPERLATIVE)
        )
        does += BEGINS * (lower in BEGINNING) + JOINS * (lower in JOINING)
        does += NEVER * (lower == "never") + THAN * (lower == "than") + AS * (lower == "as")
    letters = word[0].isalnum()
    does += ENDS * (not letters and known.get(lower, 0.0) == 0) + LETTERS * letters
    does += CAPITALS * (letters and len(word) > 1 and word.isupper())
    value, strength = valence(lower, known), boost(lower)
    tells = bool(known) and letters and not does & NEGATES and not strength and lower not in STOP_WORDS
    does += TOO * (lower == "too") + AFTER_TOO * (tells and 0 <= value < GOOD)
    marks = min(word.count("!"), 4) + 100 * min(word.count("?"), 4)
    form = shortened(lower)[0] if letters else word[:1]
    does += STARTS * (form in starts)
    return value, strength, does, hashed(form), marks
