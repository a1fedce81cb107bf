"""Suggest by labelled segments: search the map that serves them best. N segments, K topics, A aspects.

The map under which the gold aspects are most likely is refined while that improves the objective by more
than a margin. A topic is mapped only to aspects in whose segments it is stronger than elsewhere. The same
search on parts of the segments, scored on the rest, estimates the scores on unseen segments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aspectra.arrays import even_where_unknown, normalise
from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.scores import average_scores, gold_matrix, objective
from aspectra.topicmap.by_names import SMOOTHING, topic_weights
from aspectra.topicmap.calibrate import FOLDS, folds
from aspectra.topicmap.topicmap import Suggestion

BALANCES = (0.3, 0.5, 0.7, 0.9)  # from every segment counts the same (0) to every aspect counts the same (1)
MARGIN = 2.0  # a refinement must gain more than this many segments
FEW = 3  # labelled segments that a topic needs to be shared
PART = 0.5  # how much of it is shared; on four dev sets as good as leaving it out, with a third as many left
LEAST_COUNT = 0.01  # of an aspect's labelled segments on a topic; fewer are not kept
FLOOR = 1e-3  # added to γ, so that an aspect without a topic is unlikely rather than impossible
SEARCHES = 12
SWEEPS = 10
METRICS = ("f1_micro", "f1_macro", "f1_weighted")


@dataclass(frozen=True)
class LabelledSegments:
    """Topic probabilities (N×K, a row of NaN where no word is known) of segments, and their gold aspects."""

    beta: np.ndarray
    gold: Sequence[frozenset[str]]

    def arrays(self, aspects: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return β as numbers only (even over the topics where no word is known) and the gold matrix, N×A."""
        member = gold_matrix(self.gold, aspects)
        if len(self.beta) != len(member):
            raise InputError(f"Topic probabilities: got {len(self.beta)} rows for {len(member)} segments.")
        if len(member) < FOLDS:
            raise InputError(f"A map by labels needs at least {FOLDS} labelled segments, got {len(member)}.")
        return even_where_unknown(self.beta).astype(np.float64), member


def suggest_by_labels(segments: LabelledSegments, aspects: Sequence[str], seed: int = 0) -> list[Suggestion]:
    """Search the map with the highest objective on labelled segments."""
    beta, member = segments.arrays(aspects)
    chosen, agreement = vote_map(beta, member, GENERAL in aspects, seed)
    return explain(beta, member, aspects, chosen, agreement)


def expected_scores(segments: LabelledSegments, aspects: Sequence[str], seed: int = 0) -> dict[str, float]:
    """Return the F1 scores to expect on unseen segments, by cross-validation: five more searches."""
    beta, member = segments.arrays(aspects)
    unseen = np.zeros(len(member), dtype=np.int64)
    part = folds(len(member), seed)
    for fold in range(FOLDS):
        rest, held = part != fold, part == fold
        chosen, _ = vote_map(beta[rest], member[rest], GENERAL in aspects, seed)
        weights = share_out(beta[rest], member[rest], chosen)
        unseen[held] = (beta[held] @ weights).argmax(axis=1)
    values = average_scores(member, unseen, aspects)
    return {name: values[name] for name in METRICS}


def explain(
    beta: np.ndarray, member: np.ndarray, aspects: Sequence[str], chosen: np.ndarray, agreement: np.ndarray
) -> list[Suggestion]:
    """Put a found map in words: per topic the aspect, how many searches agree, and the gold on this topic."""
    counts = beta.T @ (normalise(member))  # K×A
    votes = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    flags = {None: "ambiguous", GENERAL: "general"}
    weights = share_out(beta, member, chosen)
    result = []
    for topic, number in enumerate(chosen.tolist()):
        aspect = aspects[number] if number < len(aspects) else None
        labelled = tuple(
            (name, round(float(count), 2))
            for name, count in zip(aspects, counts[topic], strict=True)
            if count >= LEAST_COUNT
        )
        if aspect is None and weights[topic].any():
            one = shared(topic, aspects, weights[topic], votes[topic], float(agreement[topic]))
            result.append(replace(one, labelled=labelled))
            continue
        most = np.argsort(-votes[topic], kind="stable")[:2]
        mix = ", ".join(f"{votes[topic, other]:.0%} {aspects[other]}" for other in most)
        best = f"{aspect or 'Leaving it unmapped'} fits the labelled segments best"
        agree = f"{round(agreement[topic] * SEARCHES)} of {SEARCHES} searches on random draws of them agree"
        why = f"{best}: those on this topic are {mix}. {agree}."
        flag = flags.get(aspect, "clear")
        result.append(Suggestion(topic, aspect, flag, float(agreement[topic]), why, labelled=labelled))
    return result


def shared(
    topic: int, aspects: Sequence[str], weights: np.ndarray, votes: np.ndarray, agreement: float
) -> Suggestion:
    """Suggest the aspects that share a topic which fits none of them alone."""
    order = [int(number) for number in np.argsort(-weights, kind="stable") if weights[number] > 0]
    parts = tuple((aspects[number], round(float(weights[number]), 3)) for number in order)
    mix = ", ".join(f"{votes[number]:.0%} {aspects[number]}" for number in np.argsort(-votes)[:2])
    said = ", ".join(f"{name} {weight:.0%}" for name, weight in parts[:3])
    why = f"It fits no aspect alone and is shared: {said}. Labelled segments on this topic are {mix}."
    flag = "general" if parts[0][0] == GENERAL else "ambiguous"
    return Suggestion(topic, parts[0][0], flag, agreement, why, parts)


def share_out(beta: np.ndarray, member: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the map as weights, K×A; a topic that the search left out is shared as its segments are.

    The search leaves out a topic that no aspect may have as a whole. In parts it does no harm, and few topics
    stay unmapped: those with fewer than FEW labelled segments.
    """
    n_aspects = member.shape[1]
    weights = np.eye(n_aspects + 1)[chosen][:, :n_aspects]
    truth = normalise(member)
    counts = np.zeros((beta.shape[1], n_aspects))
    np.add.at(counts, beta.argmax(axis=1), truth)
    total, usual = counts.sum(axis=1), truth.mean(axis=0)
    smooth = (counts + SMOOTHING * usual) / (total + SMOOTHING)[:, None]
    left_out = (chosen == n_aspects) & (total >= FEW)
    weights[left_out] = PART * topic_weights(smooth, usual)[left_out]
    return np.asarray(weights)


def answer(beta: np.ndarray, chosen: np.ndarray, n_aspects: int) -> np.ndarray:
    """Return the number of each segment's aspect under a map of K numbers, n_aspects for unmapped."""
    return np.asarray((beta @ np.eye(n_aspects + 1)[chosen])[:, :n_aspects].argmax(axis=1))


def vote_map(beta: np.ndarray, member: np.ndarray, general: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Search on resampled segments, let the results vote and refine on all segments.

    Return the map and the share of searches that agree with it, K each. A single search depends on a few
    segments; on unseen ones the vote is a point or two better.
    """
    random = np.random.default_rng(seed)
    draws = [random.integers(0, len(beta), len(beta)) for _ in range(SEARCHES)]
    found = np.stack([search_map(beta[rows], member[rows], general) for rows in draws])  # searches × K
    votes = (found[:, :, None] == np.arange(member.shape[1] + 1)).sum(axis=0)  # K×(A+1)
    chosen = refine_map(beta, member, associated(beta, member), votes.argmax(axis=1), general)
    return chosen, votes[np.arange(len(chosen)), chosen] / SEARCHES


def search_map(beta: np.ndarray, member: np.ndarray, general: bool) -> np.ndarray:
    n_aspects = member.shape[1]
    allowed = associated(beta, member)
    starts = [most_likely_map(beta, member, allowed, balance) for balance in BALANCES]
    scores = objective(
        np.stack([answer(beta, start, n_aspects) for start in starts], axis=1), member, general
    )
    return refine_map(beta, member, allowed, starts[int(scores.argmax())], general)


def associated(beta: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Tell for each topic (K×A) in which aspects' segments it is stronger than on average.

    Without this the search abuses topics that are rare in these segments as constants that favour an aspect.
    """
    share = normalise(member)
    return np.asarray(beta.T @ (share - share.mean(axis=0)) > 0)


def most_likely_map(beta: np.ndarray, member: np.ndarray, allowed: np.ndarray, balance: float) -> np.ndarray:
    """Maximise the mean log of γ_gold / Σγ, which is smooth and therefore hard to over-fit."""
    n_aspects = member.shape[1]
    share = normalise(member)  # N×A
    support = share.sum(axis=0)
    rarity = share @ (1 / np.maximum(support, 1)) * len(member) / (support > 0).sum()
    weights = balance * rarity + (1 - balance)  # N
    truth, ones = member.astype(np.float64), np.ones(n_aspects)

    def gain(gamma: np.ndarray, mass: np.ndarray, topic: int) -> np.ndarray:
        right = np.einsum("na,na->n", gamma, truth) + FLOOR
        total = gamma @ ones + FLOOR * n_aspects
        values = np.zeros(n_aspects + 1)
        raised = (
            weights * np.log1p(mass / right)
        ) @ truth  # where the topic's aspect is gold, γ_gold grows by its mass
        values[:n_aspects] = raised - weights @ np.log1p(mass / total)
        return values

    votes = np.where(allowed, beta.T @ (share * weights[:, None]), -1)
    return ascend(beta, np.where(allowed.any(axis=1), votes.argmax(axis=1), n_aspects), allowed, gain)


def refine_map(
    beta: np.ndarray, member: np.ndarray, allowed: np.ndarray, start: np.ndarray, general: bool
) -> np.ndarray:
    """Change what improves F1 on these segments by more than the margin."""
    n_aspects = member.shape[1]

    def score(gamma: np.ndarray, mass: np.ndarray, topic: int) -> np.ndarray:
        best = gamma.argmax(axis=1)[:, None]
        wins = gamma + mass[:, None] > gamma.max(axis=1, keepdims=True)
        values = objective(np.hstack([np.where(wins, np.arange(n_aspects), best), best]), member, general)
        values[start[topic]] += MARGIN / len(member)
        return values

    return ascend(beta, start, allowed, score)


Value = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def ascend(beta: np.ndarray, start: np.ndarray, allowed: np.ndarray, value: Value) -> np.ndarray:
    """Give each topic in turn its best allowed choice (K×A; unmapped always is) until none changes.

    `value` gets γ without the topic (N×A), the topic's mass (N) and its number; it rates all choices.
    """
    chosen, n_aspects = start.copy(), allowed.shape[1]
    gamma = beta @ np.eye(n_aspects + 1)[chosen]  # N×(A+1)
    for _ in range(SWEEPS):
        before = chosen.copy()
        for topic, mass in enumerate(np.ascontiguousarray(beta.T)):
            gamma[:, chosen[topic]] -= mass
            values = value(gamma[:, :n_aspects], mass, topic)
            values[chosen[topic]] += 1e-9  # a tie changes nothing
            values[:n_aspects][~allowed[topic]] = -np.inf
            chosen[topic] = values.argmax()
            gamma[:, chosen[topic]] += mass
        if (chosen == before).all():
            break
    return chosen
