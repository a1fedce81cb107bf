"""Suggest by names: learn from them what segments speak of, and ask that of each topic's segments.

In: a sample of segments and the aspects (aspects.toml). Out: one suggestion per topic with a reason that a
person can check, and notes on aspects that nothing speaks of or that mean the same. names.py is the learner.
The student learns from the same sample, so what the encoder made of it is kept in the run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.config import GENERAL
from aspectra.corpus import Corpus, Ragged
from aspectra.errors import InputError, NotInstalledError
from aspectra.topicmap.aspects import Aspect
from aspectra.topicmap.gamma import entropy
from aspectra.topicmap.gaussians import TINY, Features, normalise, unit
from aspectra.topicmap.library import known_names
from aspectra.topicmap.names import (
    AspectEvidence,
    GeneralEvidence,
    first_opinion,
    learn_from_names,
)
from aspectra.topicmap.notes import (
    notes_on_names,
    notes_on_number,
    notes_on_topics,
    notes_on_twins,
    notes_on_words,
)
from aspectra.topicmap.reader import Reader, ReadOnce
from aspectra.topicmap.topicmap import Suggestion
from aspectra.topics import Topics

if TYPE_CHECKING:
    from aspectra.encoder.pretrained import Encoder

BUNDLED, WORDS_ONLY = "minilm", "none"
SAMPLE = 10_000
"""Segments to learn from; more do not help."""
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
RARE, COMMON = 0.01, 0.2
"""A given word that at most the first share of the segments have says all of its aspect that a word can say;
one that the second share have says nothing: "good", "place"."""
FEW = 10
"""A topic with fewer segments than this in the sample is never clear."""
N_NEAREST = 3
KNOWN = 3.2
"""An encoder's pieces of a word that it knows have at least so many letters on average: "dur abi lity"; those
of a made-up word have fewer, and often of another language: "x q z", "lau ts tar ke"."""


@dataclass(frozen=True)
class NamesSample:
    """Segments as the learner sees them, and who reads them; `knows` tells if the encoder knows a word."""

    reader: Reader
    texts: Sequence[str]
    features: Features
    knows: Callable[[str], bool] = lambda word: False

    @cached_property
    def read(self) -> ReadOnce:
        assert self.reader.embed, "only an encoder reads words"
        return ReadOnce(self.reader.embed)

    @cached_property
    def topic(self) -> np.ndarray:
        """The most probable topic of each segment, N."""
        return np.asarray(self.features.beta.argmax(1))

    @cached_property
    def tokens(self) -> Ragged:
        """The known words of each segment."""
        return self.reader.vocabulary.encode(pl.Series(self.texts, dtype=pl.String))

    def evidence(self, aspect: Aspect) -> AspectEvidence:
        """Read what is said of an aspect, and which segments have one of its words: given, or known."""
        words = (*aspect.words, *self.reader.known(aspect.name).words)
        return replace(self.reader.aspect(aspect), has_word=self.having(words) if words else None)

    def having(self, phrases: Sequence[str]) -> np.ndarray:
        """Return for each segment how much it says that it has one of these words or phrases, 0 to 1."""
        result = np.zeros(len(self.texts))
        rows = np.repeat(np.arange(len(self.texts)), self.tokens.lengths)
        asked = self.reader.vocabulary.encode(pl.Series(phrases, dtype=pl.String))
        for ids in np.split(asked.ids, asked.offsets[1:-1]):
            has = np.full(len(result), len(ids) > 0)
            for number in ids:
                has &= np.bincount(rows[self.tokens.ids == number], minlength=len(result)) > 0
            share = max(float(has.mean()), TINY)
            weight = np.log(COMMON / share) / np.log(COMMON / RARE)
            result = np.maximum(result, has * np.clip(weight, 0, 1))
        return result

    def embedded(self, words: Sequence[str]) -> np.ndarray:
        """Return words as the encoder sees them, unit length, n×D; each is encoded once."""
        return unit(self.read(words))


@dataclass(frozen=True)
class Suggested:
    """One suggestion per topic, notes for the person, and each aspect's share of the segments.

    `doubts` are the entropies of what the sample's segments were answered, by their texts.
    """

    suggestions: list[Suggestion]
    notes: tuple[str, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)
    doubts: dict[str, float] = field(default_factory=dict, repr=False)


def sample_rows(corpus: Corpus, min_tokens: int, seed: int, n: int = SAMPLE) -> np.ndarray:
    """Return rows to learn from, in random order: of those that the teacher was trained on, the first n."""
    rows = corpus.trainable(min_tokens)
    if not len(rows):
        rows = np.flatnonzero(corpus.tokens.lengths > 0)
    return np.random.default_rng(seed).permutation(rows)[:n]


def short_rows(corpus: Corpus, min_tokens: int, seed: int, n: int) -> np.ndarray:
    """Return rows of segments too short to learn aspects from, in random order.

    Beside a sample of n there are as many as in all reviews, at most half of n.
    """
    short = (corpus.tokens.lengths < min_tokens) & ~corpus.segments["junk"].to_numpy()
    trained = len(corpus.trainable(min_tokens))
    rows = np.flatnonzero(short)
    most = min(n // 2, int(min(n, trained) * len(rows) / max(trained, 1)))
    return np.random.default_rng(seed).permutation(rows)[:most]


def read_sample(
    reader: Reader, texts: Sequence[str], encoder: Encoder | None, means: np.ndarray | None
) -> NamesSample:
    """Read segments, of which the encoder's means are known; without an encoder, by words alone."""
    if encoder is None:
        return NamesSample(reader, texts, reader.features(texts))
    special = len(encoder.tokenise([""]).ids)
    return NamesSample(
        reader,
        texts,
        reader.features(texts, means),
        lambda word: is_known(word, len(encoder.tokenise([word]).ids) - special),
    )


def is_known(word: str, n_pieces: int) -> bool:
    """Tell whether an encoder that cuts a word into so many pieces knows it."""
    return n_pieces == 1 or len(word) >= KNOWN * n_pieces


def find_encoder(name: str, language: str, longest: int = 64) -> tuple[Encoder | None, str]:
    """Load an encoder; if the bundled one is missing or foreign, go on with words alone and say so."""
    if name == WORDS_ONLY:
        return None, ""
    foreign = foreign_encoder(name, language)
    if foreign:
        return None, f"{foreign} Until then only words are compared."
    from aspectra.encoder.pretrained import load_encoder

    try:
        return load_encoder(name, longest), ""
    except NotInstalledError as error:
        if name != BUNDLED:
            raise
        return None, f"{error} Until then only words are compared: about 7 of 100 segments more are wrong."


def foreign_encoder(name: str, language: str) -> str:
    """Say that an encoder does not know the language of the reviews; "" if it may know it."""
    if name != BUNDLED or language == "en":
        return ""
    return (
        f"The bundled encoder knows English only, and the reviews are in {language!r}. "
        "Name one that knows their language: --encoder NAME."
    )


def suggest_by_names(
    topics: Topics,
    aspects: Sequence[Aspect],
    sample: NamesSample,
    choices: Mapping[int, str | None] | None = None,
) -> Suggested:
    """Suggest an aspect or General for each topic; `choices` are those that a person made."""
    specific, unknown = spoken_of(aspects, sample)
    if not specific:
        raise InputError(" ".join(unknown) or f"Give at least one aspect besides {GENERAL}.")
    evidence = [sample.evidence(aspect) for aspect in specific]
    general = sample.reader.general(sample.texts, specific)
    names = [*(aspect.name for aspect in specific), GENERAL]
    decided = {
        topic: None if name is None else names.index(name)
        for topic, name in (choices or {}).items()
        if name is None or name in names
    }
    learned = learn_from_names(sample.features, evidence, general, decided)
    shares = topic_shares(sample, learned.targets)
    names_alone = [replace(one, examples=None, has_word=None) for one in evidence]
    by_name = topic_shares(sample, first_opinion(sample.features, names_alone, general))
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
            *notes_on_topics(learned, suggestions),
        ),
        learned.shares,
        dict(zip(sample.texts, entropy(learned.targets).tolist(), strict=True)),
    )


def topic_shares(sample: NamesSample, answer: np.ndarray) -> np.ndarray:
    """Return K×A: how many of each topic's segments have which answer (N×A), a little smoothed."""
    n_topics, n_aspects = sample.features.beta.shape[1], answer.shape[1]
    counts = np.zeros((n_topics, n_aspects))
    best = answer.argmax(1)
    np.add.at(counts, (sample.topic, best), 1)
    counts += SMOOTHING * np.bincount(best, minlength=n_aspects) / len(best)
    return np.asarray(counts / counts.sum(1, keepdims=True))


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


def spoken_of(
    aspects: Sequence[Aspect], sample: NamesSample, shown: Collection[str] = ()
) -> tuple[list[Aspect], list[str]]:
    """Return the aspects but General of which anything is known, and notes on the others.

    Reviews or encoder know it, or a topic or label has `shown` it. An aspect of which nothing is known cannot
    be learnt: whatever its name resembles by chance would be it.
    """
    known, by_encoder, unknown = [], [], []
    for aspect in aspects:
        if aspect.name == GENERAL:
            continue
        said = [aspect.name, *aspect.words, *sample.reader.known(aspect.name).words]
        words = any(map(len, sample.reader.word_vectors(said)))
        parts = re.findall(r"[^\W\d_]+", " ".join([aspect.name, *aspect.words]).lower())
        described_by_text = sample.features.encoder is not None and (aspect.about or aspect.examples)
        if words or described_by_text or aspect.name in shown:
            known.append(aspect)
        elif any(sample.knows(word) for word in parts):
            known.append(aspect)
            by_encoder.append(aspect.name)
        else:
            unknown.append(aspect.name)
    vocabulary = sample.reader.vocabulary
    meant = [*known_names(vocabulary.language), *vocabulary.words]
    return known, notes_on_words(by_encoder, unknown, meant)
