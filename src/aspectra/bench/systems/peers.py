"""What systems of other packages share: how a package is asked for, their segments and vectors, their extra.

All of them get the segments that aspectra's student learns from, and the vectors of the same encoder. The
packages come with `pip install "aspectra[peers]"`; without one its rows say so.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.aspects.names_sample import sample_rows
from aspectra.bench.protocol import Task
from aspectra.bench.systems.names import KeptEncoder
from aspectra.config import StudentConfig
from aspectra.errors import NotInstalledError

INSTALL = 'pip install "aspectra[peers]"'
SEGMENTS = StudentConfig.n_segments


def need(module: str, install: str = INSTALL) -> Any:
    """Import a module of another package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise NotInstalledError(f"{package} cannot be imported ({error}). Install it: {install}") from None


@dataclass(frozen=True)
class Segments:
    """Unlabelled segments, the ids of their rows in the corpus, and the encoder's vectors of them, N×D."""

    texts: list[str]
    rows: np.ndarray
    encoder: KeptEncoder

    @classmethod
    def of(cls, task: Task, encoder: str, most: int) -> Segments:
        corpus = task.words.corpus
        rows = sample_rows(corpus, task.words.config.min_tokens, 0, most)
        return cls(corpus.segments["text"].gather(rows).to_list(), rows, KeptEncoder.of(encoder, task))

    def vectors(self) -> np.ndarray:
        return self.encoder.means(self.texts)


def one_topic(topics: Sequence[int], sure: Sequence[float] | None, n_topics: int) -> np.ndarray:
    """Return N×K with each segment's topic alone; a row of zeros for topic −1, which is none."""
    result = np.zeros((len(topics), n_topics))
    known = np.flatnonzero(np.asarray(topics) >= 0)
    values = np.ones(len(topics)) if sure is None else np.asarray(sure, dtype=np.float64)
    result[known, np.asarray(topics)[known]] = np.maximum(values[known], 1e-6)
    return result
