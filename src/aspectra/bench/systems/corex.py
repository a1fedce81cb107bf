"""Anchored CorEx (Gallagher et al. 2017): topics that explain the most correlation, each with anchor words.

One topic per aspect, anchored to its 5 seed words with the package's suggested strength of 3; a segment's
answer is the likeliest topic. Departures: General has no anchors and is the answer where no topic is likelier
than not; at most 100,000 segments; a topic that is likelier without its anchors than with them is turned
round (its two states are equal to CorEx, and some seeds on small corpora mix them up).
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
        counts = counts_of(tokens, n_words).sign()
        model.fit(
            counts,
            words=list(range(n_words)),
            anchors=[list(anchors[aspect]) for aspect in named],
            anchor_strength=self.strength,
        )

        def present(segments: Any) -> np.ndarray:
            return np.asarray(model.predict_proba(segments)[0])

        turned = [
            likelier_without(topic, counts[:, list(anchors[aspect])])
            for topic, aspect in zip(present(counts).T, named, strict=True)
        ]

        def probabilities(texts: Sequence[str]) -> np.ndarray:
            found = present(counts_of(encode(words, texts), n_words).sign())
            found = np.where(turned, 1 - found, found)
            columns = dict(zip(named, found.T, strict=True))
            columns[GENERAL] = np.full(len(texts), 0.5)
            result = np.column_stack([columns[aspect] for aspect in task.aspects]) + 1e-6
            return np.asarray(result / result.sum(1, keepdims=True))

        return Frozen(probabilities)


def likelier_without(topic: np.ndarray, anchors: Any) -> bool:
    """Tell whether a topic (N) is likelier in segments without any of its anchors (counts, N×n)."""
    there = np.asarray(anchors.sum(1)).ravel() > 0
    return bool(there.any() and not there.all() and topic[there].mean() < topic[~there].mean())
