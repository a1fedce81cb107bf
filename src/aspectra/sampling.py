"""A uniform sample of a stream of sentences, in bounded memory.

Every sentence gets a random key, and those with the smallest keys stay. The key depends only on the seed
and the sentence's number, so the sample does not depend on the batches. Sentences stay or go as a whole,
because word vectors are learnt on them; every segment has the same chance.
"""

from __future__ import annotations

import numpy as np
import polars as pl

LARGEST = np.uint64(2**64 - 1)
SLACK = 2
"""The sample may grow to this many times its size before it is cut."""


def keys(numbers: np.ndarray, seed: int) -> np.ndarray:
    """Return a random 64-bit key for each number (splitmix64 twice, so that seeds do not overlap)."""
    with np.errstate(over="ignore"):
        return mix(mix(numbers.astype(np.uint64)) ^ mix(np.full(1, seed, np.uint64)))


def mix(values: np.ndarray) -> np.ndarray:
    """Return splitmix64 of each value."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))


class Reservoir:
    """Keeps at most `most` rows, or all if `most` is 0; a row is a segment with the key of its sentence."""

    def __init__(self, most: int) -> None:
        self.most, self.largest_key = most, LARGEST
        self._parts: list[pl.DataFrame] = []
        self._size = 0

    def __len__(self) -> int:
        """Return the number of rows in memory; `rows` cuts them to the sample."""
        return self._size

    def add(self, rows: pl.DataFrame) -> None:
        self._parts.append(rows)
        self._size += len(rows)
        if self.most and self._size > SLACK * self.most:
            self._cut()

    def _cut(self) -> None:
        """Keep the sentences with the smallest keys, as many as fit."""
        rows = pl.concat(self._parts)
        sentences = rows.group_by("key").len().sort("key")
        fitting = int((sentences["len"].cum_sum() <= self.most).sum())
        self.largest_key = sentences["key"].to_numpy()[max(0, fitting - 1)]
        kept = rows.filter(rows["key"].to_numpy() <= self.largest_key)
        self._parts, self._size = [kept], len(kept)

    def rows(self) -> pl.DataFrame:
        """Return the sample, in the order of the input."""
        if self.most and self._size > self.most:
            self._cut()
        return pl.concat(self._parts) if self._parts else pl.DataFrame()
