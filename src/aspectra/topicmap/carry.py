"""A map outlives its model: match the topics of two runs and carry the choices over, with a confidence for each.

Two topics are alike by three measures, averaged: their inner products with the words that both runs know (no matter how the two vector
spaces are turned), their shared keywords, and how they are spread over the same segments. The best one-to-one assignment is
found first; a new topic left over, or with a poor match, takes its most similar old one. What is not sure stays open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aspectra.errors import RunError
from aspectra.topicmap.gamma import even_where_unknown
from aspectra.topicmap.suggest import Suggestion
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, now

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector

COMMON = 5_000
SURE = 0.5
"""A choice carried with at least this confidence needs no second look."""
FORCED = 0.8
"""An assigned topic with less than this part of the best one's similarity was only what was left."""
FEWEST_SHARED = 20


@dataclass(frozen=True)
class Match:
    """A new topic and the old one it resembles; `confidence` 0…1 falls if an old topic with another aspect is as similar."""

    topic: int
    old: int
    confidence: float


def carry_over(
    old: AspectDetector, new: AspectDetector, texts: Sequence[str]
) -> tuple[TopicMap, list[Suggestion]]:
    """Return the old map for the new topics, and the carried choices as suggestions with their confidence."""
    matches = match_topics(similarity(old, new, texts), [choice.aspect for choice in old.topic_map_.choices])
    choices, advice = [], []
    for match, item in zip(matches, new.topics_.items, strict=True):
        before = old.topic_map_.choices[match.old]
        why = f"like topic {match.old} before: {' '.join(before.keywords[:4])}"
        keeps = match.confidence >= SURE and before.by != SUGGESTION
        by, at = (before.by, before.at) if keeps else (SUGGESTION, now())
        choices.append(
            Choice(item.id, before.aspect, item.keywords, by, at, (before.why or why) if keeps else why)
        )
        flag = "clear" if match.confidence >= SURE else "ambiguous"
        advice.append(Suggestion(match.topic, before.aspect, flag, match.confidence, why))
    return TopicMap(old.topic_map_.aspects, tuple(choices), new.topics_.fingerprint), advice


def similarity(old: AspectDetector, new: AspectDetector, texts: Sequence[str]) -> np.ndarray:
    """Return how alike each old topic is to each new one, K_old×K_new, 0…1."""
    if old.topics_.fingerprint == new.topics_.fingerprint:
        return np.eye(len(old.topics_.items))
    shared = [word for word in old.vocabulary_.words if word in new.vocabulary_.index]
    if len(shared) < FEWEST_SHARED:
        raise RunError(
            f"The two runs share only {len(shared)} words: their topics cannot be matched. Map the new run by itself."
        )
    by_words = cosine(word_profile(old, shared), word_profile(new, shared))
    by_keywords = overlap(
        [item.keywords for item in old.topics_.items], [item.keywords for item in new.topics_.items]
    )
    beta_old, beta_new = (even_where_unknown(run.topic_probabilities(list(texts))) for run in (old, new))
    return np.asarray((np.clip(by_words, 0, 1) + by_keywords + cosine(beta_old.T, beta_new.T)) / 3)


def word_profile(detector: AspectDetector, words: Sequence[str]) -> np.ndarray:
    """Return each topic's inner products with some words, centred: K×words."""
    rows = [detector.vocabulary_.index[word] for word in words]
    product = detector.teacher_.topics.detach().numpy() @ detector.vectors_.matrix[rows].T
    return np.asarray(product - product.mean(0))


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    unit = [rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (first, second)]
    return np.asarray(unit[0] @ unit[1].T)


def overlap(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the shared part of two topics' keywords, 0…1."""
    return np.array(
        [[len(set(one) & set(two)) / max(1, min(len(one), len(two))) for two in second] for one in first]
    )


def match_topics(alike: np.ndarray, aspects: Sequence[str | None]) -> list[Match]:
    """Assign an old topic to each new one; `aspects` are those of the old topics."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(alike, maximize=True)
    old_of = {int(column): int(row) for row, column in zip(rows, columns, strict=True)}
    result = []
    for topic in range(alike.shape[1]):
        best = int(alike[:, topic].argmax())
        old = old_of.get(topic, best)
        if alike[old, topic] < FORCED * alike[best, topic]:
            old = best
        others = [alike[row, topic] for row, aspect in enumerate(aspects) if aspect != aspects[old]]
        result.append(
            Match(topic, old, confidence(float(alike[old, topic]), float(max(others, default=0.0))))
        )
    return result


def confidence(alike: float, rival: float) -> float:
    """Return how sure a match is: its similarity, less if a topic of another aspect is nearly as similar or more."""
    lead = np.clip((alike - rival) / max(alike, 1e-12) * 2, 0, 1)
    return round(float(np.sqrt(max(alike, 0.0)) * lead), 3)
