"""Suggest by words, with the paper's four rules: how near are a topic's keywords to the words of each aspect?

Near one aspect → that aspect; near two → unmapped; near none → General, or unmapped if the keywords seldom
occur together. The words of an aspect are its seed words or else those of its name. Nearness is measured
between word vectors and scaled over the topics, so aspects can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.topicmap.topicmap import Suggestion
from aspectra.topics import Topics
from aspectra.vectors import WordVectors

NEAR = 1.25  # standard deviations above the mean topic from which a topic is near an aspect
LEAD = 0.3  # standard deviations by which the nearest aspect must lead
OUTLIER = 2.0  # robust standard deviations below the median from which a topic's coherence is too low

Seeds = Mapping[str, Sequence[str]]


def suggest_by_words(
    topics: Topics, vectors: WordVectors, aspects: Sequence[str], seeds: Seeds | None = None
) -> list[Suggestion]:
    """Compare each topic's keywords with the aspects' seed words, or else with the words of their names."""
    meanings = words_of_aspects(aspects, seeds or {}, set(vectors.words))
    nearness = topic_nearness([item.keywords for item in topics.items], list(meanings.values()), vectors)
    coherence = np.array([item.coherence for item in topics.items])
    spread = 1.4826 * np.median(np.abs(coherence - np.median(coherence)))
    incoherent = coherence < np.median(coherence) - OUTLIER * spread
    return [
        suggest_topic(topic, nearness[topic], meanings, bool(incoherent[topic]))
        for topic in range(len(topics.items))
    ]


def words_of_aspects(aspects: Sequence[str], seeds: Seeds, known: set[str]) -> dict[str, list[str]]:
    """Return the known words that stand for each aspect but General."""
    unknown = sorted(set(seeds) - set(aspects))
    if unknown:
        raise InputError(
            f"Seed words for {', '.join(unknown)}, which is not among the aspects {', '.join(aspects)}."
        )
    words = {name: known_words(seeds.get(name, [name]), known) for name in aspects if name != GENERAL}
    if not words:
        raise InputError(f"Give at least one aspect besides {GENERAL}.")
    wordless = [aspect for aspect, found in words.items() if not found]
    if wordless:
        raise InputError(
            f"No word for {', '.join(wordless)} occurs in the reviews. "
            "Give seed words that do, such as 'screen, color'."
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
    keywords: Sequence[Sequence[str]], meanings: Sequence[Sequence[str]], vectors: WordVectors
) -> np.ndarray:
    """Return K×A mean cosines, centred and scaled per aspect over the topics."""
    centred = vectors.matrix - vectors.matrix.mean(axis=0)  # V×D; without it all words are alike
    unit = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    row = {word: number for number, word in enumerate(vectors.words)}
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
    rivals = [aspect for value, aspect, _ in ranked[1:] if near - value < LEAD]
    if near < NEAR and incoherent:
        why = "Its keywords are near no aspect and seldom occur together."
        return Suggestion(topic, None, "incoherent", 1 - share, why)
    if near < NEAR:
        why = f"Its keywords are near no aspect; the nearest is {first}."
        return Suggestion(topic, GENERAL, "general", float(shares[-1]), why)
    if rivals:
        why = f"Its keywords are about as near to {first} as to {rivals[0]}."
        return Suggestion(topic, None, "ambiguous", 1 - share, why)
    why = f"Its keywords are nearest to {first} ({', '.join(meanings[first])})."
    return Suggestion(topic, first, "clear", share, why)
