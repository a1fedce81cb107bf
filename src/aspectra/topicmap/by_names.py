"""Suggest by names: learn from them what segments speak of, and ask that of each topic's segments.

In: a sample of segments and the aspects (aspects.toml). Out: one suggestion per topic with a reason that a
person can check, and notes on aspects that nothing speaks of or that mean the same. names.py is the learner.
The student learns from the same sample, so what the encoder made of it is kept in the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aspectra.arrays import normalise, unit
from aspectra.aspects.aspects import Aspect
from aspectra.aspects.first_opinion import AspectEvidence, GeneralEvidence, first_opinion
from aspectra.aspects.names import Learned, learn_from_names
from aspectra.aspects.names_sample import NamesSample, known_aspects
from aspectra.aspects.notes import notes_on_names, notes_on_twins
from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.topicmap.gamma import entropy
from aspectra.topicmap.notes import notes_on_number, notes_on_topics
from aspectra.topicmap.topicmap import Suggestion
from aspectra.topics import Topics, frequent_words, note_on_collapse

CLEAR, LEAD, AGREED = 0.6, 0.3, 0.5
"""A clear topic: so many of its segments speak of the aspect, so many more than of the next, and so many
would by the names alone, without the learner. On seven dev sets, two seeds each, it is the majority of the
labelled segments in 79 of 88 such topics (90 %), and in 87 the most frequent one besides General. Half of the
topics that are not General's are clear."""
PRIOR_POWER = 0.7
"""A topic's weights are its shares, divided by the aspects' shares of all segments to this power: otherwise
most topics would be General's, because most segments are."""
LEAST = 0.1
"""A smaller weight is left out."""
SMOOTHING = 3
"""So many average segments are added to each topic's."""
FEW = 10
"""A topic with fewer segments than this in the sample is never clear."""
N_NEAREST, N_WORDS = 3, 6


@dataclass(frozen=True)
class Suggested:
    """One suggestion per topic, notes for the person, and each aspect's share of the segments.

    `words` are those that the segments of each aspect use most, and others less.
    `doubts` are the entropies of what the sample's segments were answered, by their texts.
    """

    suggestions: list[Suggestion]
    notes: tuple[str, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    doubts: dict[str, float] = field(default_factory=dict, repr=False)


def suggest_by_names(
    topics: Topics,
    aspects: Sequence[Aspect],
    sample: NamesSample,
    choices: Mapping[int, str | None] | None = None,
) -> Suggested:
    """Suggest an aspect or General for each topic; `choices` are those that a person made."""
    specific, unknown = known_aspects(aspects, sample, {name for name in (choices or {}).values() if name})
    if not specific:
        raise InputError(" ".join(unknown) or f"Give at least one aspect besides {GENERAL}.")
    evidence = [sample.evidence(aspect) for aspect in specific]
    general = sample.general(specific)
    names = [*(aspect.name for aspect in specific), GENERAL]
    decided = {
        topic: None if name is None else names.index(name)
        for topic, name in (choices or {}).items()
        if name is None or name in names
    }
    learned = learn_from_names(sample.features, evidence, general, decided)
    shares = topic_shares(sample, learned.targets)
    by_name = topic_shares(sample, first_opinion(sample.features, names_alone(evidence), general))
    sizes = np.bincount(sample.topic, minlength=len(topics.items))
    near = NearestWords(topics, evidence, general, sample)
    weights = topic_weights(shares, np.array([learned.shares[name] for name in learned.aspects]))
    suggestions = []
    for topic, size in enumerate(sizes.tolist()):
        best = int(weights[topic].argmax())
        clear = size >= FEW and is_clear(shares[topic], by_name[topic], best)
        suggestions.append(suggest_topic(topic, names, shares[topic], weights[topic], near, clear))
    return Suggested(
        suggestions,
        (
            *unknown,
            *notes_on_names(
                [one for one, read in zip(specific, evidence, strict=True) if read.has_words],
                sample.reader.known,
            ),
            *notes_on_twins(names, likeness(evidence, general, sample)),
            *notes_on_number(specific, len(topics.items)),
            *(note_on_collapse(topics.items) or notes_on_topics(learned, suggestions)),
        ),
        learned.shares,
        words_of(sample, learned),
        dict(zip(sample.texts, entropy(learned.targets).tolist(), strict=True)),
    )


def names_alone(evidence: Sequence[AspectEvidence]) -> list[AspectEvidence]:
    """Return what the aspects' names say, without a person's words and the library's words and sentences."""
    return [replace(one.by_name or one, examples=None, has_word=None, by_name=None) for one in evidence]


def words_of(sample: NamesSample, learned: Learned) -> dict[str, tuple[str, ...]]:
    """Return the words that are frequent in the segments of each aspect and rarer elsewhere."""
    words = sample.reader.vocabulary.words
    answers = learned.targets == learned.targets.max(1, keepdims=True)
    order, scores = frequent_words(answers, sample.tokens, words, N_WORDS)
    return {
        name: tuple(words[word] for word, score in zip(*found, strict=True) if score > 0)
        for name, found in zip(learned.aspects, zip(order, scores, strict=True), strict=True)
    }


def topic_shares(sample: NamesSample, answer: np.ndarray) -> np.ndarray:
    """Return K×A: how many of each topic's segments have which answer (N×A), a little smoothed."""
    n_topics, n_aspects = sample.features.beta.shape[1], answer.shape[1]
    counts = np.zeros((n_topics, n_aspects))
    best = answer.argmax(1)
    np.add.at(counts, (sample.topic, best), 1)
    counts += SMOOTHING * np.bincount(best, minlength=n_aspects) / len(best)
    return normalise(counts)


def topic_weights(shares: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return how far topics speak of which aspect: their shares (K×A) against those of all segments (A).

    Small ones are zero.
    """
    weights = normalise(shares / np.maximum(usual, 1e-3) ** PRIOR_POWER)
    kept = weights >= np.minimum(LEAST, weights.max(1, keepdims=True))
    return np.asarray(normalise(np.where(kept, weights, 0)))


def is_clear(shares: np.ndarray, by_name: np.ndarray, best: int) -> bool:
    """Tell whether a topic's segments speak of the best aspect, after learning and by the names alone."""
    lead = shares[best] - np.delete(shares, best).max()
    return bool(shares[best] >= CLEAR and lead >= LEAD and by_name[best] >= AGREED)


def suggest_topic(
    topic: int,
    names: Sequence[str],
    shares: np.ndarray,
    weights: np.ndarray,
    near: NearestWords,
    clear: bool,
) -> Suggestion:
    """Suggest the aspect with the largest weight; the others that have one share the topic with it."""
    order = [int(number) for number in np.argsort(-weights, kind="stable") if weights[number] > 0]
    best = order[0]
    flag = "general" if names[best] == GENERAL else "clear" if clear else "ambiguous"
    parts = tuple((names[number], round(float(weights[number]), 3)) for number in order)
    said = [f"{names[other]} {100 * shares[other]:.0f} %" for other in order[1:] if shares[other] >= LEAST]
    first = f"{names[best]}: {100 * shares[best]:.0f} % of its segments"
    words = near(topic, best)
    why = ", ".join([first, *said]) + (f"; nearest words {', '.join(words)}" if words else "")
    return Suggestion(topic, names[best], flag, float(shares[best]), why, parts if len(parts) > 1 else ())


class NearestWords:
    """Finds the keywords of a topic that are nearest to what is said of an aspect."""

    def __init__(
        self,
        topics: Topics,
        evidence: Sequence[AspectEvidence],
        general: GeneralEvidence,
        sample: NamesSample,
    ) -> None:
        self.keywords = [item.keywords for item in topics.items]
        words = list(dict.fromkeys(word for group in self.keywords for word in group))
        self.place = {word: row for row, word in enumerate(words)}
        self.nearness = self.nearness_of(words, evidence, general, sample)  # words × aspects

    def nearness_of(
        self,
        words: list[str],
        evidence: Sequence[AspectEvidence],
        general: GeneralEvidence,
        sample: NamesSample,
    ) -> np.ndarray:
        """Return cosines with the aspects' words, and with their texts as the encoder sees them."""
        vectors = sample.reader.word_vectors(words)
        centre = sample.features.words.mean(0)
        rows = np.stack([found.mean(0) - centre if len(found) else 0 * centre for found in vectors])
        targets = np.stack([middle(one.words, centre) for one in evidence])
        result = unit(rows) @ unit(targets).T
        if general.neutral is not None:
            result = result + sample.embedded(words) @ described(evidence, general).T
        return np.asarray(result)

    def __call__(self, topic: int, aspect: int) -> list[str]:
        """Return the nearest keywords, nearest first; none for General."""
        if aspect >= self.nearness.shape[1]:
            return []
        words = self.keywords[topic]
        return sorted(words, key=lambda word: -self.nearness[self.place[word], aspect])[:N_NEAREST]


def middle(vectors: np.ndarray | None, centre: np.ndarray) -> np.ndarray:
    """Return the mean direction of an aspect's words; zeros if none is known."""
    if vectors is None or not len(vectors):
        return np.zeros_like(centre)
    return np.asarray(unit(vectors - centre).mean(0))


def described(evidence: Sequence[AspectEvidence], general: GeneralEvidence) -> np.ndarray:
    """Return each aspect as the encoder sees what is said of it, without what the templates say, A×D."""
    assert general.neutral is not None
    neutral = unit(general.neutral).mean(0)
    return unit(np.stack([unit(one.texts).mean(0) - neutral for one in evidence if one.texts is not None]))


def likeness(evidence: Sequence[AspectEvidence], general: GeneralEvidence, sample: NamesSample) -> np.ndarray:
    """Return cosines between what is said of the aspects, A×A: by the encoder, or else by word vectors."""
    if general.neutral is not None:
        rows = described(evidence, general)
    else:
        rows = unit(np.stack([middle(one.words, sample.features.words.mean(0)) for one in evidence]))
    return np.asarray(rows @ rows.T)
