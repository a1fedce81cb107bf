"""Suggest an aspect for each topic by the paper's four rules: from words alone, or from labelled development segments.

By words: keywords near one aspect → that aspect; near two → unmapped; near none → General, or unmapped if seldom seen together.
By development segments: the map under which the gold aspects are most likely is refined while that improves F1 by more than a
margin; a topic is mapped only to aspects in whose segments it is stronger than elsewhere. The same search on parts of the segments,
scored on the rest, tells how good such a map is on segments it has not seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.evaluate import average_scores, gold_matrix, objective

NEAR = 1.25  # standard deviations above the mean topic from which a topic is near an aspect
APART = 0.3  # standard deviations by which the nearest aspect must lead
OUTLIER = 2.0  # robust standard deviations below the median from which a topic's coherence is too low

BALANCES = (0.3, 0.5, 0.7, 0.9)  # from every segment counts the same (0) to every aspect counts the same (1)
MARGIN = 2.0  # a refinement must gain more than this many segments
FLOOR = 1e-3  # added to γ, so that an aspect without a topic is unlikely rather than impossible
SEARCHES = 12
FOLDS = 5
SWEEPS = 10
METRICS = ("f1_micro", "f1_macro", "f1_weighted")


@dataclass(frozen=True)
class Suggestion:
    """`flag` is clear, general, ambiguous or incoherent; `confidence` lies between 0 and 1; `why` is a sentence for a person."""

    topic: int
    aspect: str | None
    flag: str
    confidence: float
    why: str


@dataclass(frozen=True)
class DevSuggestion:
    """`honest` scores segments that the search had not seen, pooled over folds; `fitted` those it was made from."""

    suggestions: tuple[Suggestion, ...]
    honest: dict[str, float]
    fitted: dict[str, float]


def suggest_by_words(
    keywords: Sequence[Sequence[str]],
    coherence: np.ndarray,
    words: Sequence[str],
    matrix: np.ndarray,
    aspects: Sequence[str],
    seeds: dict[str, list[str]] | None = None,
) -> list[Suggestion]:
    """Compare each topic's keywords with the aspects' seed words, or else with the words of their names.

    `coherence` is the topics' NPMI, `matrix` the vectors of `words`, V×D.
    """
    meanings = aspect_words(aspects, seeds or {}, set(words))
    nearness = topic_nearness(keywords, list(meanings.values()), words, matrix)
    spread = 1.4826 * np.median(np.abs(coherence - np.median(coherence)))
    incoherent = coherence < np.median(coherence) - OUTLIER * spread
    return [
        suggest_topic(topic, nearness[topic], meanings, bool(incoherent[topic]))
        for topic in range(len(keywords))
    ]


def aspect_words(
    aspects: Sequence[str], seeds: dict[str, list[str]], known: set[str]
) -> dict[str, list[str]]:
    """Return the known words that stand for each aspect but General."""
    unknown = sorted(set(seeds) - set(aspects))
    if unknown:
        raise InputError(
            f"Seed words for {', '.join(unknown)}, which is not among the aspects {', '.join(aspects)}."
        )
    words = {
        aspect: known_words(seeds.get(aspect, [aspect]), known) for aspect in aspects if aspect != GENERAL
    }
    if not words:
        raise InputError(f"Give at least one aspect besides {GENERAL}.")
    nameless = [aspect for aspect, found in words.items() if not found]
    if nameless:
        raise InputError(
            f"No word for {', '.join(nameless)} occurs in the reviews. Give seed words that do, such as 'screen, color'."
        )
    return words


def known_words(phrases: Sequence[str], known: set[str]) -> list[str]:
    """Split phrases into words and keep the known ones, in the singular where only that is known."""
    tokens = re.findall(r"[^\W\d_]+", " ".join(phrases).lower())
    forms = [
        (token, token.removesuffix("s"), token.removesuffix("es"), re.sub("ies$", "y", token))
        for token in tokens
    ]
    found = [next((form for form in several if form in known), None) for several in forms]
    return list(dict.fromkeys(word for word in found if word is not None))


def topic_nearness(
    keywords: Sequence[Sequence[str]],
    meanings: Sequence[Sequence[str]],
    words: Sequence[str],
    matrix: np.ndarray,
) -> np.ndarray:
    """Return K×A mean cosines, centred and scaled per aspect over the topics, so that aspects can be compared."""
    centred = matrix - matrix.mean(axis=0)  # V×D; else all words are alike
    unit = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    row = {word: number for number, word in enumerate(words)}
    topics, targets = (
        np.stack([unit[[row[word] for word in group]].mean(axis=0) for group in groups])
        for groups in (keywords, meanings)
    )
    cosine = topics @ targets.T  # K×A
    return np.asarray((cosine - cosine.mean(axis=0)) / np.maximum(cosine.std(axis=0), 1e-9))


def suggest_topic(
    topic: int, nearness: np.ndarray, meanings: dict[str, list[str]], incoherent: bool
) -> Suggestion:
    """Apply the four rules; General competes with the aspects at a constant nearness."""
    odds = np.exp(2 * np.append(nearness, NEAR))
    shares = odds / odds.sum()
    ranked = sorted(zip(nearness.tolist(), meanings, shares.tolist(), strict=False), reverse=True)
    near, first, share = ranked[0]
    rivals = [aspect for value, aspect, _ in ranked[1:] if near - value < APART]
    if near < NEAR and incoherent:
        return Suggestion(
            topic, None, "incoherent", 1 - share, "Its keywords are near no aspect and seldom occur together."
        )
    if near < NEAR:
        return Suggestion(
            topic,
            GENERAL,
            "general",
            float(shares[-1]),
            f"Its keywords are near no aspect; the nearest is {first}.",
        )
    if rivals:
        return Suggestion(
            topic,
            None,
            "ambiguous",
            1 - share,
            f"Its keywords are about as near to {first} as to {rivals[0]}.",
        )
    return Suggestion(
        topic, first, "clear", share, f"Its keywords are nearest to {first} ({', '.join(meanings[first])})."
    )


def suggest_by_dev(
    beta: np.ndarray,
    gold: Sequence[frozenset[str]],
    aspects: Sequence[str],
    seed: int = 0,
    estimate: bool = True,
) -> DevSuggestion:
    """Search the map that serves N labelled segments best; beta is N×K. The honest estimate takes five times as long as the map.

    Best is the mean of micro and macro F1 or, without General among the aspects, weighted F1.
    """
    member = gold_matrix(gold, aspects)
    if len(beta) != len(member) or len(member) < FOLDS:
        raise InputError(
            f"One row of topics for each of at least {FOLDS} gold segments is needed, got {len(beta)} for {len(member)}."
        )
    beta = beta.astype(np.float64)
    chosen, agreement = vote_map(beta, member, GENERAL in aspects, seed)
    unseen = np.zeros(len(member), dtype=np.int64)
    part = np.random.default_rng(seed).permutation(len(member)) % FOLDS
    for fold in range(FOLDS) if estimate else ():
        rest, held = part != fold, part == fold
        unseen[held] = answer(
            beta[held], vote_map(beta[rest], member[rest], GENERAL in aspects, seed)[0], len(aspects)
        )
    return DevSuggestion(
        suggestions=explain(beta, member, aspects, chosen, agreement),
        honest=f1_scores(member, unseen, aspects) if estimate else {},
        fitted=f1_scores(member, answer(beta, chosen, len(aspects)), aspects),
    )


def f1_scores(member: np.ndarray, answers: np.ndarray, aspects: Sequence[str]) -> dict[str, float]:
    values = average_scores(member, answers, aspects)
    return {name: values[name] for name in METRICS}


def explain(
    beta: np.ndarray, member: np.ndarray, aspects: Sequence[str], chosen: np.ndarray, agreement: np.ndarray
) -> tuple[Suggestion, ...]:
    votes = beta.T @ (member / member.sum(axis=1, keepdims=True))  # K×A
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1e-12)
    flags = {None: "ambiguous", GENERAL: "general"}
    result = []
    for topic, number in enumerate(chosen.tolist()):
        aspect = aspects[number] if number < len(aspects) else None
        most = np.argsort(-votes[topic], kind="stable")[:2]
        mix = ", ".join(f"{votes[topic, other]:.0%} {aspects[other]}" for other in most)
        agree = f"{round(agreement[topic] * SEARCHES)} of {SEARCHES} searches on resampled segments agree"
        why = f"{'Unmapped' if aspect is None else aspect} serves the labelled segments best (on this topic {mix}); {agree}."
        result.append(Suggestion(topic, aspect, flags.get(aspect, "clear"), float(agreement[topic]), why))
    return tuple(result)


def answer(beta: np.ndarray, chosen: np.ndarray, n_aspects: int) -> np.ndarray:
    """Return the number of each segment's aspect under a map of K numbers, n_aspects for unmapped."""
    return np.asarray((beta @ np.eye(n_aspects + 1)[chosen])[:, :n_aspects].argmax(axis=1))


def vote_map(beta: np.ndarray, member: np.ndarray, general: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Search on resampled segments, give each topic what most of them found, refine on all; return the map and how many agree, K each.

    A single search turns on a few segments; on unseen ones the vote is a point or two better.
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
    share = member / member.sum(axis=1, keepdims=True)
    return np.asarray(beta.T @ (share - share.mean(axis=0)) > 0)


def most_likely_map(beta: np.ndarray, member: np.ndarray, allowed: np.ndarray, balance: float) -> np.ndarray:
    """Maximise the mean log of γ_gold / Σγ, which is smooth and therefore hard to over-fit."""
    n_aspects = member.shape[1]
    share = member / member.sum(axis=1, keepdims=True)  # N×A
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

    `value` gets γ without the topic (N×A), the topic's mass (N) and its number, and rates the A aspects and unmapped.
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
