"""Small functions of numpy arrays that many rooms need; rows are segments, topics, words or texts.

float32 stays float32. The same of tensors is in teacher/losses.py, compiled in teacher/gradient.py.
"""

from __future__ import annotations

import numpy as np

TINY = 1e-9
"""Lengths, shares and probabilities that are divided by, or whose logarithm is taken, are at least this."""


def unit(rows: np.ndarray) -> np.ndarray:
    """Return vectors (the last axis) at length 1; zeros stay zeros."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), TINY))


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosine of each vector of one with each of the other, N×M."""
    return np.asarray(unit(first) @ unit(second).T)


def normalise(rows: np.ndarray) -> np.ndarray:
    """Return rows of numbers from 0 on that sum to 1; zeros stay zeros."""
    return np.asarray(rows / np.maximum(rows.sum(1, keepdims=True), 1e-30))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities of each row of scores."""
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def even_where_unknown(beta: np.ndarray) -> np.ndarray:
    """Return β (N×K) with every topic equally likely where it is NaN: in segments without known words."""
    return np.asarray(np.nan_to_num(beta, nan=1 / beta.shape[1]))
