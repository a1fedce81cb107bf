"""Skip-gram with negative sampling (Mikolov 2013), compiled: word ids in, two V×D matrices learnt in place.

The corpus is cut into blocks. In each round SHARDS blocks are read side by side, each on a copy of the
vectors. Then the copies are joined: a row that several have changed becomes the mean of theirs. So the result
depends on the seed, not on the number of threads. All neighbours of a word share its negatives (Ji 2016): the
few rows in use stay in the fastest memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from aspectra.compiled import compiled, dot
from aspectra.corpus import Ragged

SHARDS = 2
BLOCK = 20_000
"""Words of a block: copies drift apart within a block, and joining them costs time."""
RATE, LAST_RATE = 0.025, 1e-4
FREQUENT = 1e-3
"""Words with a larger share of the corpus are skipped at random, as word2vec does."""
TABLE = 2_000_000
STEEPEST, STEPS = 6.0, 1000
"""The sigmoid is looked up between −6 and 6; beyond it is 0 or 1."""


@dataclass(frozen=True)
class SkipGram:
    """What every block needs: the chance to keep a word, words to draw negatives from, and the settings."""

    keep: np.ndarray  # V float32
    negatives: np.ndarray  # TABLE int32
    sigmoid: np.ndarray  # STEPS float32
    window: int
    negative: int

    @classmethod
    def of(cls, counts: np.ndarray, window: int, negative: int) -> SkipGram:
        counts = np.maximum(counts, 1)
        limit = FREQUENT * counts.sum()
        keep = np.minimum(1, (np.sqrt(counts / limit) + 1) * limit / counts).astype(np.float32)
        chances = np.cumsum(counts**0.75)
        places = (np.arange(TABLE) + 0.5) / TABLE * chances[-1]
        middles = (np.arange(STEPS) + 0.5) / STEPS * 2 * STEEPEST - STEEPEST
        return cls(
            keep,
            np.searchsorted(chances, places).clip(0, len(counts) - 1).astype(np.int32),
            (1 / (1 + np.exp(-middles))).astype(np.float32),
            window,
            negative,
        )


def learn(
    sentences: Ragged, model: SkipGram, size: int, epochs: int, seed: int, progress: Callable[[float], None]
) -> np.ndarray:
    """Return the learnt vectors, V×D; each sentence is read `epochs` times, the rate falls to LAST_RATE."""
    random = np.random.default_rng(seed)
    start = ((random.random((len(model.keep), size), dtype=np.float32) - 0.5) / size).astype(np.float32)
    inputs: np.ndarray = np.repeat(start[None], SHARDS, axis=0)  # SHARDS×V×D
    outputs = np.zeros_like(inputs)
    before = start, outputs[0].copy()
    cuts = np.unique(np.searchsorted(sentences.offsets, np.arange(0, sentences.offsets[-1], BLOCK)))
    blocks = list(zip(cuts, [*cuts[1:], len(sentences)], strict=True))
    rounds = [blocks[first : first + SHARDS] for first in range(0, len(blocks), SHARDS)] * epochs
    longest = int(sentences.lengths.max(initial=1))
    fixed = model.keep, model.negatives, model.sigmoid, model.window, model.negative, longest

    def read(shard: int, block: tuple[int, int], rate: np.float32, state: np.uint64) -> None:
        words = sentences.ids, sentences.offsets
        read_block(*words, *block, inputs[shard], outputs[shard], *fixed, rate, state)

    with ThreadPoolExecutor(min(SHARDS, os.cpu_count() or 1)) as pool:
        for number, part in enumerate(rounds):
            rate = np.float32(RATE + (LAST_RATE - RATE) * number / len(rounds))
            states = random.integers(1, 2**63, len(part), dtype=np.uint64)
            list(pool.map(read, range(len(part)), part, [rate] * len(part), states))
            list(pool.map(join, before, (inputs, outputs)))
            progress((number + 1) / len(rounds))
    return np.asarray(inputs[0])


@compiled
def advance(state):  # type: ignore[no-untyped-def]
    """Return the next state of a 64-bit linear congruential generator; its upper bits are random."""
    return state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@compiled
def read_block(  # type: ignore[no-untyped-def]
    ids,
    offsets,
    first,
    last,
    inputs,
    outputs,
    keep,
    negatives,
    sigmoid,
    window,
    negative,
    longest,
    rate,
    state,
):
    """Learn from sentences first…last: each word is to be told from random ones by the words around it."""
    kept, targets = np.empty(longest, np.int32), np.empty(negative + 1, np.int32)
    change = np.empty(inputs.shape[1], np.float32)
    for sentence in range(first, last):
        n = 0
        for place in range(offsets[sentence], offsets[sentence + 1]):
            state = advance(state)
            if np.float32(state >> np.uint64(40)) < keep[ids[place]] * np.float32(1 << 24):
                kept[n] = ids[place]
                n += 1
        for middle in range(n):
            state = advance(state)
            reach = window - np.int64((state >> np.uint64(33)) % np.uint64(window))
            targets[0] = kept[middle]
            for k in range(1, negative + 1):
                state = advance(state)
                targets[k] = negatives[np.int64((state >> np.uint64(33)) % np.uint64(len(negatives)))]
            for place in range(max(0, middle - reach), min(n, middle + reach + 1)):
                if place != middle:
                    learn_pair(inputs[kept[place]], outputs, targets, sigmoid, rate, change)


@compiled
def learn_pair(word, outputs, targets, sigmoid, rate, change):  # type: ignore[no-untyped-def]
    """Move a word's vector towards the first target's and away from the others', and theirs likewise."""
    change[:] = 0
    for k in range(len(targets)):
        if k > 0 and targets[k] == targets[0]:
            continue
        target = outputs[targets[k]]
        product = dot(word, target)
        if product >= STEEPEST:
            chance = np.float32(1)
        elif product <= -STEEPEST:
            chance = np.float32(0)
        else:
            chance = sigmoid[int((product + np.float32(STEEPEST)) * np.float32(STEPS / (2 * STEEPEST)))]
        gain = ((np.float32(1) if k == 0 else np.float32(0)) - chance) * rate
        for d in range(len(word)):
            change[d] += gain * target[d]
            target[d] += gain * word[d]
    for d in range(len(word)):
        word[d] += change[d]


@compiled
def join(before, copies):  # type: ignore[no-untyped-def]
    """Give every copy the mean of those that changed a row (SHARDS×V×D), and keep it as the state before."""
    mean = np.empty(before.shape[1], np.float32)
    for row in range(len(before)):
        changed = 0
        for d in range(len(mean)):
            mean[d] = 0
        for copy in copies:  # single numbers, since assigning whole rows takes four seconds to compile
            differs = False
            for d in range(len(mean)):
                differs |= copy[row, d] != before[row, d]
            if differs:
                changed += 1
                for d in range(len(mean)):
                    mean[d] += copy[row, d]
        if changed:
            for d in range(len(mean)):
                before[row, d] = mean[d] / np.float32(changed)
                for copy in copies:
                    copy[row, d] = before[row, d]
