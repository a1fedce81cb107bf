"""Anchored CorEx (Gallagher et al. 2017): topics that explain the most correlation, each with anchor words.

One topic per aspect, anchored to its 5 seed words with the package's suggested strength of 3; a segment's
answer is the likeliest topic. Departures: General has no anchors and is the answer where no topic is likelier
than not; at most 100,000 segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.bench.protocol import SEED_WORDS, Frozen, Task
from aspectra.bench.systems.baselines import counts_of, encode, sample_rows
from aspectra.bench.systems.peers import need
from aspectra.bench.systems.seeds import seed_ids
from aspectra.config import GENERAL


@dataclass(frozen=True)
class CorEx:
    """CorEx with a topic per aspect."""

    name: str = "corex"
    title: str = "anchored CorEx"
    supervision: str = SEED_WORDS
    most: int = 100_000
    strength: float = 3.0
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        own = {"most": self.most, "strength": self.strength}
        return {"fit": task.bench.config(task.seed).to_dict(), **own, "seeds": task.seed_words}

    def fit(self, task: Task) -> Frozen:
        words, n_words = task.words, len(task.words.vocabulary)
        anchors = dict(zip(task.aspects, seed_ids(task, few=True), strict=True))
        named = [aspect for aspect in task.aspects if aspect != GENERAL]
        model = need("corextopic.corextopic").Corex(n_hidden=len(named), seed=task.seed)
        tokens = words.corpus.tokens.select(sample_rows(words, self.most, task.seed))
        model.fit(
            counts_of(tokens, n_words).sign(),
            words=list(range(n_words)),
            anchors=[list(anchors[aspect]) for aspect in named],
            anchor_strength=self.strength,
        )

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            found, _ = model.predict_proba(counts_of(encode(words, texts), n_words).sign())
            columns = dict(zip(named, found.T, strict=True))
            columns[GENERAL] = np.full(len(texts), 0.5)
            result = np.column_stack([columns[aspect] for aspect in task.aspects]) + 1e-6
            return np.asarray(result / result.sum(1, keepdims=True))

        return Frozen(probabilities)
