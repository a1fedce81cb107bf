"""What a trained teacher answers (paper: inference): segments as word ids in, topic probabilities β out.

The equations are those of model.py, in numpy, so that labelling need not wait for torch; a test holds both
equal. W and V are applied once per word of the vocabulary instead of once per segment. No sum is shared by
segments: a segment's digits do not depend on its batch or on threads. Shapes: N segments of L words each, D
vector width, K topics, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aspectra.arrays import softmax
from aspectra.corpus import Ragged


@dataclass(frozen=True)
class TrainedTeacher:
    """What a teacher learnt, as arrays. The names in `weights` are those of the network in model.py."""

    vectors: np.ndarray  # E, V×D
    weights: dict[str, np.ndarray]
    attention: str
    smoothness: float

    @property
    def topics(self) -> np.ndarray:
        """A, K×D."""
        return self.weights["topics"]

    @cached_property
    def keys(self) -> np.ndarray:
        """W E_t of every word, V×D: what a segment's mean is multiplied with."""
        return np.asarray(np.einsum("vd,ed->ve", self.vectors, self.weights["align.weight"]))

    @cached_property
    def shifts(self) -> np.ndarray:
        """E_tᵀb of every word, V: their mean over a segment is qᵀb."""
        return np.asarray(np.einsum("vd,d->v", self.vectors, self.weights["align.bias"]))

    @cached_property
    def logits(self) -> np.ndarray:
        """V E_t + c of every word, V×K: a segment's logits are their mean by α."""
        logits = np.einsum("vd,kd->vk", self.vectors, self.weights["classify.weight"])
        return np.asarray(logits + self.weights["classify.bias"])


@dataclass(frozen=True)
class Trained:
    """A teacher and the history of its losses."""

    teacher: TrainedTeacher
    history: list[dict[str, float]]


def check_weights(teacher: TrainedTeacher) -> None:
    """Raise ValueError unless the weights are there, of shapes that fit each other, and finite."""
    width, n_topics = teacher.vectors.shape[1], len(teacher.weights["topics"])
    shapes = {
        "align.weight": (width, width),
        "align.bias": (width,),
        "classify.weight": (n_topics, width),
        "classify.bias": (n_topics,),
        "topics": (n_topics, width),
    }
    if teacher.weights.keys() != shapes.keys():
        raise ValueError(f"it has {', '.join(sorted(teacher.weights))}")
    for name, shape in shapes.items():
        array = teacher.weights[name]
        if array.dtype != np.float32 or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not float32 of {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} has a weight that is not finite")


def encode(teacher: TrainedTeacher, tokens: Ragged, max_tokens: int) -> np.ndarray:
    """Return β for every row, N×K; a row without known words gets NaN."""
    beta = np.full((len(tokens), len(teacher.topics)), np.nan, dtype=np.float32)
    for rows, ids in tokens.same_length(max_tokens):
        attention = attend(teacher, ids)  # N×L, α
        beta[rows] = softmax(np.einsum("nlk,nl->nk", teacher.logits[ids], attention))
    return beta


def attend(teacher: TrainedTeacher, ids: np.ndarray) -> np.ndarray:
    """Return α for segments of equal length, N×L: the weight of each word, as `attend` of model.py does."""
    length = np.float32(ids.shape[1])
    if teacher.attention == "mean":
        return np.full(ids.shape, 1 / length, dtype=np.float32)
    query = np.einsum("nld->nd", teacher.vectors[ids]) / length  # N×D, q
    shift = np.einsum("nl->n", teacher.shifts[ids])[:, None] / length  # N×1, qᵀb
    score = np.einsum("nld,nd->nl", teacher.keys[ids], query) + shift  # N×L
    if teacher.attention == "smooth":
        score = np.float32(teacher.smoothness) * np.tanh(score)  # N×L, u
    return softmax(score)
