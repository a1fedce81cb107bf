"""Carry a map over to another run: match the topics of the two runs, with a confidence for each.

Three measures of similarity are averaged: the topics' inner products with the words that both runs know
(the two vector spaces may be rotated), their shared keywords, and their probabilities on the same segments.
First the best one-to-one assignment is found; a new topic that is left over, or matches poorly, takes its
most similar old one. Uncertain choices stay open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aspectra.arrays import cosines, even_where_unknown
from aspectra.errors import RunError
from aspectra.topicmap.topicmap import SUGGESTION, Suggestion, TopicMap, now
from aspectra.topics import Topics
from aspectra.vectors import WordVectors

N_SEGMENTS = 5_000
"""How many segments the topics of the two runs are compared on."""
SURE = 0.5
"""A choice carried with at least this confidence needs no second look."""
FORCED = 0.8
"""An assigned topic with less than this part of the best one's similarity was only what was left."""
FEWEST_SHARED = 20


@dataclass(frozen=True)
class RunTopics:
    """The topics of a run in all three views that are compared."""

    topics: Topics
    vectors: WordVectors
    matrix: np.ndarray  # K×D, the topics as vectors
    beta: np.ndarray  # N×K, the topics of the same segments in both runs; NaN where no word is known


@dataclass(frozen=True)
class Match:
    """A new topic and the old one it resembles.

    `confidence` (0…1) is lower if an old topic with another aspect is as similar.
    """

    topic: int
    old: int
    confidence: float


def carry_over(old_map: TopicMap, old: RunTopics, new: RunTopics) -> tuple[TopicMap, list[Suggestion]]:
    """Return the old map for the new topics, and the carried choices as suggestions with their confidence."""
    matches = match_topics(similarity(old, new), [choice.aspect for choice in old_map.choices])
    choices, suggestions = [], []
    for match, item in zip(matches, new.topics.items, strict=True):
        before = old_map.choices[match.old]
        sure = match.confidence >= SURE
        likeness = f"like topic {match.old} before: {' '.join(before.keywords[:4])}"
        by, at, why = SUGGESTION, now(), likeness
        if sure and before.by_person:
            by, at, why = before.by, before.at, before.why or likeness
        choices.append(replace(before, topic=item.id, keywords=item.keywords, by=by, at=at, why=why))
        flag, parts = "clear" if sure else "ambiguous", (before.shares, before.labelled)
        suggestions.append(Suggestion(item.id, before.aspect, flag, match.confidence, likeness, *parts))
    return TopicMap(old_map.aspects, tuple(choices), new.topics.fingerprint), suggestions


def similarity(old: RunTopics, new: RunTopics) -> np.ndarray:
    """Return how alike each old topic is to each new one, K_old×K_new, 0…1."""
    if old.topics.fingerprint == new.topics.fingerprint:
        return np.eye(len(old.topics.items))
    known = set(new.vectors.words)
    shared = [word for word in old.vectors.words if word in known]
    if len(shared) < FEWEST_SHARED:
        raise RunError(
            f"The two runs share only {len(shared)} words, so their topics cannot be matched. "
            "Map the new run by itself."
        )
    by_words = cosines(word_profile(old, shared), word_profile(new, shared))
    by_keywords = overlap(*keyword_lists(old.topics, new.topics))
    by_segments = cosines(even_where_unknown(old.beta).T, even_where_unknown(new.beta).T)
    return np.asarray((np.clip(by_words, 0, 1) + by_keywords + by_segments) / 3)


def keyword_lists(old: Topics, new: Topics) -> list[list[tuple[str, ...]]]:
    """Return both runs' keywords, chosen in the same way: the paper's if one run has only those."""
    both = (old.items, new.items)
    paper = any(all(item.keywords == item.paper_keywords for item in items) for items in both)
    return [[item.paper_keywords if paper else item.keywords for item in items] for items in both]


def word_profile(run: RunTopics, words: Sequence[str]) -> np.ndarray:
    """Return each topic's inner products with some words, centred: K×words."""
    index = {word: row for row, word in enumerate(run.vectors.words)}
    product = run.matrix @ run.vectors.matrix[[index[word] for word in words]].T
    return np.asarray(product - product.mean(0))


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
        sure = confidence(float(alike[old, topic]), float(max(others, default=0.0)))
        result.append(Match(topic, old, sure))
    return result


def confidence(alike: float, rival: float) -> float:
    """Return how sure a match is: its similarity, lower if a topic of another aspect is nearly as similar."""
    lead = np.clip((alike - rival) / max(alike, 1e-12) * 2, 0, 1)
    return round(float(np.sqrt(max(alike, 0.0)) * lead), 3)
