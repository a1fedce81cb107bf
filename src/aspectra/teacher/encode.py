"""What a trained teacher answers (paper: inference): segments as word ids in, topic probabilities β out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import torch

from aspectra.corpus import Ragged
from aspectra.teacher.model import Teacher

BATCH = 4096


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: the teacher's batches are small, and sums are added in the same order."""
    before = torch.get_num_threads()
    if before > 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if before > 1:
            torch.set_num_threads(before)


def encode(teacher: Teacher, tokens: Ragged, max_tokens: int) -> np.ndarray:
    """Return β for every row, N×K; a row without known words gets NaN."""
    beta = np.full((len(tokens), len(teacher.topics)), np.nan, dtype=np.float32)
    lengths = np.minimum(tokens.lengths, max_tokens)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]  # similar lengths together need little padding
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            ids, mask = tokens.padded(rows, max_tokens)
            encoding = teacher(torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32)))  # B×L each
            beta[rows] = encoding.beta.numpy()  # B×K
    return beta
