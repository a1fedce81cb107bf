"""BERTopic (Grootendorst 2022), as its users run it: vectors → UMAP → HDBSCAN → words of each cluster.

`bertopic` has its defaults, and dev maps its topics; a segment that it leaves in topic −1 has no known topic.
`bertopic-zero-shot` is told the aspects' names (zeroshot_topic_list); clusters beside them are General.
`bertopic-guided` is told 5 seed words (seed_topic_list), and a topic belongs to the aspect of most seed words
among its top words, or to General. Departures: MiniLM's vectors are given; UMAP has a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.bench.protocol import DEV_MAP, NAMES, SEED_WORDS, Frozen, Task
from aspectra.bench.systems.baselines import TopicProbabilities, map_by_dev
from aspectra.bench.systems.peers import SEGMENTS, Segments, need, one_topic
from aspectra.config import GENERAL, StudentConfig
from aspectra.topicmap.gamma import answer_probabilities


@dataclass(frozen=True)
class Bertopic:
    """BERTopic with dev's map, or told names or seed words."""

    name: str = "bertopic"
    title: str = "BERTopic"
    supervision: str = DEV_MAP
    encoder: str = StudentConfig.encoder
    most: int = SEGMENTS
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        fit = task.bench.config(task.seed).to_dict()
        own = {"encoder": self.encoder, "most": self.most, "told": self.supervision}
        return {"fit": fit, **own, "seeds": task.seed_words}

    def fit(self, task: Task) -> Frozen:
        package = need("bertopic")
        segments = Segments.of(task, self.encoder, self.most)
        model = package.BERTopic(
            embedding_model=backend(segments), umap_model=umap(task.seed), **self.told(task)
        )
        model.fit(segments.texts, segments.vectors())

        def topics(texts: Sequence[str]) -> np.ndarray:
            found, sure = model.transform(list(texts), segments.encoder.means(texts))
            return one_topic(found, sure, max(model.topic_labels_) + 1)

        if self.supervision == DEV_MAP:
            return map_by_dev(topics, task)
        return answer_by_label(topics, self.aspect_of_topic(model, task), task)

    def told(self, task: Task) -> dict[str, Any]:
        if self.supervision == NAMES:
            return {"zeroshot_topic_list": [name for name in task.aspects if name != GENERAL]}
        if self.supervision == SEED_WORDS:
            return {"seed_topic_list": [list(words) for words in task.seed_words.values()]}
        return {}

    def aspect_of_topic(self, model: Any, task: Task) -> list[str | None]:
        """Return the aspect of each topic from 0 on: by its label, or by seed words among its words."""
        found: list[str | None] = []
        for topic in range(max(model.topic_labels_) + 1):
            if self.supervision == NAMES:
                label = model.topic_labels_.get(topic)
                found.append(label if label in task.aspects else None)
                continue
            words = {word for word, _ in model.get_topic(topic) or []}
            hits = {aspect: len(words & set(seeds)) for aspect, seeds in task.seed_words.items()}
            best = max(hits, key=lambda aspect: hits[aspect])
            found.append(best if hits[best] else None)
        return found


def answer_by_label(topics: TopicProbabilities, aspects: list[str | None], task: Task) -> Frozen:
    """Freeze topics whose aspects are known; those of none are General, or unmapped where there is none."""
    named = [aspect or GENERAL for aspect in aspects]
    matrix = np.array([[name == aspect for aspect in task.aspects] for name in named], dtype=np.float64)
    shares = topics(task.dev.texts).mean(0)

    def probabilities(texts: Sequence[str]) -> np.ndarray:
        return answer_probabilities(topics(texts), task.aspects, matrix, shares)[0]

    return Frozen(probabilities, {"topics": len(aspects), "named": sum(one is not None for one in aspects)})


def umap(seed: int) -> Any:
    """Return BERTopic's own UMAP with a seed, so that a run can be repeated."""
    shape = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}
    return need("umap").UMAP(**shape, low_memory=False, random_state=seed, n_jobs=1)


def backend(segments: Segments) -> Any:
    """Wrap the encoder as BERTopic wants it, for names and words."""

    class Backend(need("bertopic.backend").BaseEmbedder):  # type: ignore[misc]
        def embed(self, documents: Sequence[str], verbose: bool = False) -> np.ndarray:
            return segments.encoder.means(list(documents))

    return Backend()
