"""What a map, and each next choice, does to F1 on labelled segments.

Topic probabilities (β) are computed once. Giving topic k to aspect a moves one column of β between two
columns of γ, so all answers of a card follow from one argmax. Intervals are a paired bootstrap: the first
row of `weights` is the labelled set itself, the others are drawn from it, and the present map and the trial
are scored on the same draws, so the interval is that of their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aspectra.config import GENERAL
from aspectra.scores import f1_from_counts, gold_matrix, gold_parts, score
from aspectra.topicmap.gamma import fallback, no_known_words
from aspectra.topicmap.topicmap import TopicMap

FIGURES = ("f1_micro", "f1_macro", "f1_macro_without_general")
DRAWS = 400
SURE = (2.5, 97.5)


@dataclass(frozen=True)
class Dev:
    """Labelled segments with their β, and the bootstrap's draws of them."""

    beta: np.ndarray  # N×K, zero for a segment without known words
    no_words: np.ndarray  # N, such segments
    gold: tuple[frozenset[str], ...]
    shares: np.ndarray  # K
    weights: np.ndarray  # (1 + DRAWS)×N

    @classmethod
    def of(cls, beta: np.ndarray, gold: Sequence[frozenset[str]], shares: np.ndarray, seed: int = 0) -> Dev:
        n = len(beta)
        drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), DRAWS)
        unknown = no_known_words(beta)
        safe = np.where(unknown[:, None], 0, beta).astype(np.float64)
        return cls(safe, unknown, tuple(gold), shares, np.vstack([np.ones(n), drawn]))

    def renamed(self, aliases: Mapping[str, str]) -> tuple[frozenset[str], ...]:
        """Return the gold aspects under the names that the map now uses."""
        if not aliases:
            return self.gold
        return tuple(frozenset(aliases.get(name, name) for name in names) for names in self.gold)


@dataclass(frozen=True)
class Trial:
    """What choosing `aspect` for a topic would change: {figure: (difference, low, high)}, in fractions."""

    aspect: str | None
    change: dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Counts:
    """Per draw and aspect: how often it was right, gold, answered; (1 + DRAWS)×A each."""

    right: np.ndarray
    gold: np.ndarray
    answered: np.ndarray


def all_names(topic_map: TopicMap, gold: Sequence[frozenset[str]]) -> tuple[str, ...]:
    """Return the map's aspects and, after them, gold names that the map lacks: they are always wrong."""
    in_gold = {name for names in gold for name in names}
    return (*topic_map.aspects, *sorted(in_gold - set(topic_map.aspects)))


def summed(dev: Dev, topic_map: TopicMap) -> np.ndarray:
    """Return γ of the dev segments before it is renormalised, N×A."""
    matrix = topic_map.matrix()
    gamma = dev.beta @ matrix
    gamma[dev.no_words] = fallback(topic_map.aspects, matrix, dev.shares)
    return np.asarray(gamma)


def present(dev: Dev, topic_map: TopicMap, aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return the figures of the present map with their intervals, the confusion matrix and unmapped gold."""
    gold = dev.renamed(aliases)
    names = all_names(topic_map, gold)
    answers = summed(dev, topic_map).argmax(1)
    report = score(gold, [names[answer] for answer in answers], names)
    drawn = figures(count(dev.weights, gold_matrix(gold, names), answers), names)
    return {
        "n": report.n,
        "figures": {name: (getattr(report, name), *interval(drawn[name])) for name in FIGURES},
        "majority": {
            "aspect": report.majority_aspect,
            "f1_micro": report.majority_f1_micro,
            "f1_macro": report.majority_f1_macro,
        },
        "aspects": names,
        "f1": [row.f1 for row in report.per_aspect],
        "confusion": report.confusion,
        "unmapped_gold": {
            row.aspect: row.support for row in report.per_aspect if row.aspect not in topic_map.aspects
        },
    }


def trials(dev: Dev, topic_map: TopicMap, topic: int, aliases: Mapping[str, str]) -> list[Trial]:
    """Try every aspect, and leaving it out, for one topic; the difference is to the present map."""
    gold = dev.renamed(aliases)
    names = all_names(topic_map, gold)
    member = gold_matrix(gold, names)
    gamma = summed(dev, topic_map)
    answers = trial_answers(gamma, dev.beta[:, topic], topic_map.matrix()[topic])
    now = gamma.argmax(1)
    counts = count(dev.weights, member, now)
    before = figures(counts, names)
    result = []
    for place, aspect in enumerate((*topic_map.aspects, None)):
        after = figures(recount(counts, dev.weights, member, now, answers[:, place]), names)
        change = {
            name: (float(after[name][0] - before[name][0]), *interval(after[name] - before[name]))
            for name in FIGURES
        }
        result.append(Trial(aspect, change))
    return result


def trial_answers(gamma: np.ndarray, moved: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return N×(A + 1) answers: with the topic's probability `moved` (N) put on each aspect, last on none.

    `weights` (A) are those that the topic has in γ now.
    """
    n_aspects = gamma.shape[1]
    without = gamma - moved[:, None] * weights
    best = without.argmax(1)[:, None]
    highest = np.take_along_axis(without, best, 1)
    raised = without + moved[:, None]
    places = np.arange(n_aspects)
    wins = (raised > highest) | ((raised == highest) & (places <= best))
    return np.hstack([np.where(wins, places, best), best])


def count(weights: np.ndarray, member: np.ndarray, answers: np.ndarray) -> Counts:
    """Count per draw; several gold aspects count as in `evaluate`."""
    parts, unit = gold_parts(member, answers)
    answered = np.eye(member.shape[1])[answers]
    return Counts(weights @ (answered * member), weights @ parts / unit, weights @ answered)


def recount(
    counts: Counts, weights: np.ndarray, member: np.ndarray, before: np.ndarray, after: np.ndarray
) -> Counts:
    """Return the counts after some answers changed, from those segments only."""
    rows = np.flatnonzero(before != after)
    if not len(rows):
        return counts
    old, new = (count(weights[:, rows], member[rows], answers[rows]) for answers in (before, after))
    return Counts(
        counts.right - old.right + new.right,
        counts.gold - old.gold + new.gold,
        counts.answered - old.answered + new.answered,
    )


def figures(counts: Counts, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return each figure for every draw."""
    both = counts.gold + counts.answered
    f1 = f1_from_counts(counts.right, counts.gold, counts.answered)
    occurs = both > 1e-9  # parts of segments are added and taken away
    specific = occurs & np.array([name != GENERAL for name in names])
    return {
        "f1_micro": counts.right.sum(1) / counts.gold.sum(1),
        "f1_macro": (f1 * occurs).sum(1) / np.maximum(occurs.sum(1), 1),
        "f1_macro_without_general": (f1 * specific).sum(1) / np.maximum(specific.sum(1), 1),
    }


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the middle 95 % of the draws."""
    low, high = np.percentile(values[1:], SURE)
    return float(low), float(high)
