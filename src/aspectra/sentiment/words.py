"""Segments → words as numbers, with what the lexicon knows of each: all later work is numpy on flat arrays.

Unlike the words that topics are learnt from, these keep negation, stop words, capitals, punctuation,
emoticons and emoji. Python sees each distinct form once; what it found is kept for the next batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import polars as pl

from aspectra.sentiment.lexicon import NEGATORS, OPPOSING, boost, shortened, valence, valences
from aspectra.text.tokens import STOP_WORDS, Tokens, extract_forms, remembered, word_in

NEGATES, OPPOSES, ENDS, CAPITALS, LETTERS, TOO, AFTER_TOO, LIKE, WHO_LIKES = (2**bit for bit in range(9))
"""What a word does, as bits: turn round what follows, outweigh what stands before, end a phrase; its form;
whether it is "too", and whether it is a complaint after "too", as loud is, and bright; whether it is "like",
and whether "like" is a verb after it."""
LIKERS = {
    "i", "we", "they", "everyone", "kids", "do", "did", "don't", "didn't", "doesn't", "dont", "didnt",
    "doesnt", "really", "also", "actually", "still", "absolutely", "both", "especially", "particularly",
}  # fmt: skip
GOOD = 1.5
"""From this valence on a word is praise after "too" as well: "too good"."""


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

    def read(self, texts: pl.Series) -> Words:
        """Cut segments into words and marks, and look them up; null has none."""
        return self.read_forms(extract_forms(texts))

    def read_forms(self, forms: Tokens) -> Words:
        """Look up what `extract_forms` has found already."""
        owner = np.repeat(np.arange(len(forms.lengths)), forms.lengths)
        valence, boost, does, hashes, marks = (column[forms.codes] for column in self.look_up(forms.types))
        return Words(owner, valence, boost, does, hashes, marks, len(forms.lengths))

    def look_up(self, kinds: list[str]) -> tuple[np.ndarray, ...]:
        facts = self.facts = remembered(self.facts, kinds)
        known = valences(self.language)
        for word in kinds:
            if word not in facts:
                facts[word] = describe(word, known)
        rows = [facts[word] for word in kinds] or [(0.0, 0.0, 0, 0, 0)]
        types = (np.float32, np.float32, np.uint16, np.uint32, np.int32)
        return tuple(
            np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)
        )


def describe(word: str, known: dict[str, float]) -> tuple[float, float, int, int, int]:
    """Return a word form's valence, boost, what it does, hash and marks."""
    if word.lower() not in known or (word[-1].isdigit() and word != "<3"):  # else it is an emoticon, not 4:3
        word = word_in(word) or word
    lower = word.lower()
    does = NEGATES * (lower in NEGATORS or lower.endswith("n't")) + OPPOSES * (lower in OPPOSING)
    letters = word[0].isalnum()
    does += ENDS * (not letters and known.get(lower, 0.0) == 0) + LETTERS * letters
    does += CAPITALS * (letters and len(word) > 1 and word.isupper())
    value, strength = valence(lower, known), boost(lower)
    tells = bool(known) and letters and not does & NEGATES and not strength and lower not in STOP_WORDS
    does += TOO * (lower == "too") + AFTER_TOO * (tells and 0 <= value < GOOD)
    does += LIKE * (lower == "like" and bool(known)) + WHO_LIKES * (lower in LIKERS)
    marks = min(word.count("!"), 4) + 100 * min(word.count("?"), 4)
    form = shortened(lower)[0] if letters else word[:1]
    return value, strength, does, crc32(form.encode()), marks
