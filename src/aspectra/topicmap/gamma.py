"""Topic probabilities β and a topic map → aspect probabilities γ → labels (paper: γ and ŷ).

γ_a is the sum of β_k over the topics mapped to a, each times its weight, divided by the mass of all mapped
topics: otherwise mass on unmapped topics would look like certainty. That mass is reported as `unmapped`. A
segment without known words has β = NaN. Its answer is General, or the aspects' prior if there is no General:
`answer_probabilities` is the one rule.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import InputError, MapError
from aspectra.topicmap.topicmap import TopicMap

PREFIX = "p_"


def aspect_probabilities(beta: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return γ (N×A, rows sum to 1) and the unmapped mass (N) for β (N×K) and a map (K×A).

    A map's rows sum to at most 1.
    """
    summed = sum_topics(beta, matrix)  # N×A
    mapped = summed.sum(1, keepdims=True)  # N×1
    return summed / np.maximum(mapped, 1e-30), np.clip(1 - mapped[:, 0], 0, 1)


def sum_topics(beta: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return β times a map (K×A), N×A. A matrix product's digits would depend on the size of the batch."""
    return np.asarray(np.einsum("nk,ak->na", beta, np.ascontiguousarray(matrix.T), order="C"))


def fallback(aspects: tuple[str, ...], matrix: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return γ (A) of a segment of which nothing is known: General, or the prior by the topics' shares."""
    if GENERAL in aspects:
        return np.array([aspect == GENERAL for aspect in aspects], dtype=np.float32)
    prior = shares @ matrix
    if not prior.sum() > 0:
        prior = matrix.sum(0)
    return np.asarray(prior / max(prior.sum(), 1e-30), dtype=np.float32)


def answer_probabilities(
    beta: np.ndarray, aspects: tuple[str, ...], matrix: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return γ (N×A) and the unmapped mass (N) of every segment, also of those without known or mapped words.

    `shares` (K) are the topics' shares of the corpus; they give the prior.
    """
    gamma, unmapped = aspect_probabilities(np.where(no_known_words(beta)[:, None], 0, beta), matrix)
    gamma[gamma.sum(1) < 0.5] = fallback(aspects, matrix, shares)  # no known word, or all mass is unmapped
    return gamma, unmapped


def no_known_words(beta: np.ndarray) -> np.ndarray:
    """Tell which segments (N) have no known word: their β is NaN."""
    return np.asarray(np.isnan(beta).any(1))


def entropy(gamma: np.ndarray) -> np.ndarray:
    """Shannon entropy of each row, in nats; 0 is certain, log A is no idea."""
    return np.asarray(-(gamma * np.log(np.maximum(gamma, 1e-30))).sum(1))


def margin(gamma: np.ndarray) -> np.ndarray:
    """Distance between the two largest probabilities of each row."""
    if gamma.shape[1] == 1:
        return gamma[:, 0]
    top = np.partition(gamma, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


def restrict(topic_map: TopicMap, only: tuple[str, ...] | None) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the aspects that may be answered and the map's columns for them."""
    if not topic_map.mapped:
        raise MapError("No topic is mapped to an aspect. Map the topics first: aspectra map RUN --aspects …")
    if only is None:
        return topic_map.aspects, topic_map.matrix()
    if not only:
        raise InputError("only must name at least one aspect.")
    unknown = [name for name in only if name not in topic_map.aspects]
    if unknown:
        raise MapError(
            f"The topic map has no aspect {', '.join(unknown)}; it has {', '.join(topic_map.aspects)}."
        )
    matrix = topic_map.matrix()[:, [topic_map.aspects.index(name) for name in only]]
    if not matrix.any():
        raise MapError(f"No topic is mapped to {', '.join(only)}. Map one first: aspectra map RUN")
    return only, matrix


def label_shares(beta: np.ndarray, topic_map: TopicMap, shares: np.ndarray) -> dict[str, float]:
    """Return each aspect's share of the answers that the topics alone give; what is no review does not count.

    `beta` is N×K; `shares` (K) are the topics' shares of the corpus. Nothing is mapped: no shares.
    """
    if not topic_map.mapped:
        return {}
    gamma, _ = answer_probabilities(beta, topic_map.aspects, topic_map.matrix(), shares)
    review = ~is_not_review(beta, topic_map)
    counts = np.bincount(gamma.argmax(1)[review], minlength=len(topic_map.aspects))
    return dict(zip(topic_map.aspects, (counts / max(1, review.sum())).tolist(), strict=True))


def not_review_mass(beta: np.ndarray, topic_map: TopicMap) -> np.ndarray:
    """Return the mass (N) of the topics that are not reviews."""
    topics = topic_map.not_reviews()[:, None].astype(np.float32)
    return np.asarray(sum_topics(np.nan_to_num(beta), topics)[:, 0])


def is_not_review(beta: np.ndarray, topic_map: TopicMap) -> np.ndarray:
    """Tell for which segments (N) the topics that are not reviews outweigh every aspect."""
    if not topic_map.not_reviews().any():
        return np.zeros(len(beta), bool)
    aspects = sum_topics(np.nan_to_num(beta), topic_map.matrix()).max(1, initial=0)
    return np.asarray(not_review_mass(beta, topic_map) > aspects)


def mark_not_reviews(
    labels: pl.DataFrame, beta: np.ndarray, topic_map: TopicMap, code: np.ndarray
) -> pl.DataFrame:
    """Answer NOT_REVIEW for pasted code, and where the topics that are not reviews outweigh every aspect.

    `code` are N booleans. The aspects' probabilities stay as they are. `probability` becomes the mass of
    those topics, 1 for code.
    """
    marked = code | is_not_review(beta, topic_map)
    if not marked.any():
        return labels
    sure = np.where(code, 1, not_review_mass(beta, topic_map)).astype(np.float32)
    return labels.with_columns(
        aspect=pl.when(pl.lit(marked)).then(pl.lit(NOT_REVIEW)).otherwise("aspect"),
        probability=pl.when(pl.lit(marked)).then(pl.lit(sure)).otherwise("probability"),
    )


def not_review_note(count: int) -> tuple[str, ...]:
    """Say how many segments are left out because they are not reviews, if any."""
    are = "segment is not a review and is" if count == 1 else "segments are not reviews and are"
    return (f"{count:,} {are} left out of the shares.",) if count else ()


def label_beta(
    beta: np.ndarray,
    known_words: np.ndarray,
    topic_map: TopicMap,
    shares: np.ndarray,
    only: tuple[str, ...] | None = None,
) -> pl.DataFrame:
    """Label segments from their β (N×K; NaN for a segment without known words)."""
    aspects, matrix = restrict(topic_map, only)
    unknown = no_known_words(beta)
    gamma, unmapped = answer_probabilities(beta, aspects, matrix, shares)
    best = gamma.argmax(1)
    columns = {
        "aspect": pl.Series(aspects).gather(best),
        "probability": gamma[np.arange(len(gamma)), best],
        "entropy": entropy(gamma).astype(np.float32),
        "margin": margin(gamma).astype(np.float32),
        "unmapped": unmapped.astype(np.float32),
        "topic": pl.Series(beta.argmax(1), dtype=pl.Int32).set(pl.Series(unknown), None),
        "known_words": known_words.astype(np.int32),
    }
    return pl.DataFrame(
        {**columns, **{PREFIX + aspect: gamma[:, place] for place, aspect in enumerate(aspects)}}
    )
