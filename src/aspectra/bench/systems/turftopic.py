"""KeyNMF of turftopic (Kardos et al. 2024): a segment's words by their similarity with it, then NMF.

Its package's defaults, with as many topics as ours, which dev maps. Departures: MiniLM's vectors are given;
16,000 segments. The package wants an older rich than ours and is not in the extra: see INSTALL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.bench.protocol import DEV_MAP, Frozen, Task
from aspectra.bench.systems.baselines import map_by_dev
from aspectra.bench.systems.names import KeptEncoder
from aspectra.bench.systems.peers import SEGMENTS, Segments, need
from aspectra.config import StudentConfig

INSTALL = "pip install --no-deps turftopic igraph texttable, beside aspectra[peers]"


@dataclass(frozen=True)
class KeyNmf:
    """KeyNMF with dev's map."""

    name: str = "keynmf"
    title: str = "KeyNMF (turftopic)"
    supervision: str = DEV_MAP
    encoder: str = StudentConfig.encoder
    most: int = SEGMENTS
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        fit = task.bench.config(task.seed).to_dict()
        return {"fit": fit, "encoder": self.encoder, "most": self.most}

    def fit(self, task: Task) -> Frozen:
        package = need("turftopic", INSTALL)
        segments = Segments.of(task, self.encoder, self.most)
        model = package.KeyNMF(
            task.words.config.n_topics, encoder=Words(segments.encoder), random_state=task.seed
        )
        model.fit(segments.texts, embeddings=segments.vectors())

        def topics(texts: Sequence[str]) -> np.ndarray:
            found = np.asarray(model.transform(list(texts), embeddings=segments.encoder.means(texts)))
            return np.asarray(found / np.maximum(found.sum(1, keepdims=True), 1e-12))

        return map_by_dev(topics, task)


@dataclass(frozen=True)
class Words:
    """The encoder as turftopic wants it."""

    encoder: KeptEncoder

    def encode(self, texts: Sequence[str], **others: Any) -> np.ndarray:
        return self.encoder.means(list(texts))
