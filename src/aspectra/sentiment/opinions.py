"""What is known of the sentiment of unlabelled segments: the lexicon's opinion, and the encoder's if there.

The encoder's opinion is learnt from sentences that we wrote, so it needs no labels. It also reads the
frequent words, pairs and triples of the corpus, one by one: so the model that answers later, which has no
encoder, knows words that few segments have. Both opinions are multiplied; each leans towards its review.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl

from aspectra.arrays import normalise, unit
from aspectra.sentiment.learn import ALONE_PRIOR, CLASSES, PRIOR, Rated, Taught, learn, matrix, probabilities
from aspectra.sentiment.model import SentimentModel, in_context
from aspectra.sentiment.rules import Verdict, bounded, features, judge, lexicon_logits
from aspectra.sentiment.words import WordReader

Embed = Callable[[Sequence[str]], np.ndarray]
NOUNS_EACH = 4
JUDGING = 1
"""Number of the layer that sentiment is learnt from. The last layer (0) tells better what a text is about,
this one whether it praises."""
IMPLIED_WEIGHT = 1 / 3
"""Weight of the model that learns from implied.toml, in the geometric mean with that of sentences.toml. One
model of both calls 70 % of restaurants' opinions praise where 57 % are, and MAMS loses 4 points."""
ENCODER_POWER = 2.0
HABIT = 1.0
"""Kind words are a habit, also of those who complain: so much is taken from the log-odds of praise where the
encoder has a say. Chosen on OPOSUM's four sets of polarity and four small piles."""
CERTAIN = 0.9
"""Probability of its own class that a sentence of ours is taught with."""
SENTENCE_WEIGHT, PHRASE_WEIGHT = 1.5, 1.0
PHRASES = (3000, 4000, 1500)
"""How many frequent words, pairs and triples the encoder reads; of each at most as many as segments."""
LEAST_FREQUENT = 3
SILENT = 0.1
"""What a segment without a word of the lexicon counts where there are ratings, and no encoder: "neutral" is
then only what the lexicon does not know. Chosen, with ALONE_PRIOR, on the sample and on TVs."""


@lru_cache
def sentences() -> tuple[tuple[str, ...], np.ndarray]:
    """Return the sentences of sentences.toml, nouns filled in, and the number of each one's class."""
    given, rng = read_toml("sentences.toml"), np.random.default_rng(0)
    nouns = given["nouns"]
    pairs = []
    for number, name in enumerate(CLASSES):
        for sentence in given[name]:
            for _ in range(NOUNS_EACH if "{}" in sentence else 1):
                filled = sentence
                while "{}" in filled:
                    filled = filled.replace("{}", nouns[rng.integers(len(nouns))], 1)
                pairs.append((filled, number))
    return tuple(text for text, _ in pairs), np.array([number for _, number in pairs])


@lru_cache
def implied() -> tuple[tuple[str, ...], np.ndarray]:
    """Return the sentences of implied.toml, in which few words judge, and the number of each one's class."""
    given = read_toml("implied.toml")
    classes = np.repeat(range(len(CLASSES)), [len(given[name]) for name in CLASSES])
    return tuple(text for name in CLASSES for text in given[name]), classes


def read_toml(name: str) -> dict[str, list[str]]:
    return tomllib.loads((resources.files("aspectra.sentiment") / name).read_text(encoding="utf-8"))


def frequent_phrases(texts: pl.Series) -> list[str]:
    """Return the most frequent words, pairs and triples that stand in segments."""
    phrase = r"[a-z]+n't|n't|[\p{L}\p{N}]+(?:'\p{L}+)?|[^\s\p{L}\p{N}]"
    words = texts.str.to_lowercase().str.replace_all("’", "'", literal=True).str.extract_all(phrase)
    rows = pl.DataFrame({"word": words}).with_row_index("row").explode("word").drop_nulls()
    found: list[str] = []
    for size, most in enumerate(PHRASES, 1):
        columns = [pl.col("word").shift(-step).over("row").alias(str(step)) for step in range(size)]
        parts = rows.select(columns).drop_nulls()
        parts = parts.filter(pl.all_horizontal(pl.all().str.contains(r"^[\p{L}\p{N}]")))
        counts = parts.select(text=pl.concat_str(pl.all(), separator=" "))["text"].value_counts()
        kept = counts.filter(pl.col("count") >= LEAST_FREQUENT).sort(
            "count", "text", descending=[True, False]
        )
        found += kept["text"].head(min(most, len(texts))).to_list()
    return found


def encoder_opinion(embed: Embed) -> Callable[[np.ndarray], np.ndarray]:
    """Learn from our own sentences; return what gives the probabilities of CLASSES for encoded segments.

    Sentences that judge in plain words and those in which few words judge teach a model each.
    """
    from sklearn.linear_model import LogisticRegression

    models = [
        LogisticRegression(C=1.0, max_iter=1000, class_weight="balanced").fit(
            unit(embed(texts)[:, JUDGING]), classes
        )
        for texts, classes in (sentences(), implied())
    ]

    def opinion(encoded: np.ndarray) -> np.ndarray:
        states = unit(encoded[:, JUDGING])
        plain, unsaid = (model.predict_proba(states) for model in models)
        return normalise(plain ** (1 - IMPLIED_WEIGHT) * unsaid**IMPLIED_WEIGHT)

    return opinion


def joined(lexicon: Verdict, encoder: np.ndarray | None, reviews: np.ndarray | None) -> np.ndarray:
    """Multiply the opinions, and let each segment lean towards its review: targets, N×3."""
    logits = lexicon_logits(lexicon.scores)
    if encoder is not None:
        odds = np.log(np.maximum(encoder, 1e-6))
        logits = logits + ENCODER_POWER * (odds[:, [2, 0]] - odds[:, [1]]) + np.array([-HABIT / 2, HABIT / 2])
    logits = bounded(logits, lexicon)
    return probabilities(logits if reviews is None else in_context(logits, reviews))


def train(
    texts: pl.Series,
    language: str,
    reviews: np.ndarray | None = None,
    encoded: np.ndarray | None = None,
    embed: Embed | None = None,
    rated: tuple[pl.Series, np.ndarray, np.ndarray] | None = None,
) -> SentimentModel:
    """Learn a model from unlabelled segments, and from rated ones if given.

    - `reviews`: which segments belong to the same review.
    - `encoded`, `embed`: the encoder's mean states of the segments, and what encodes more; both or none.
    - `rated`: segments, which review each belongs to (0, 1, …), and each review's rating from 0 to 1.
    """
    reader = WordReader(language)
    opinion = encoder_opinion(embed) if embed else None
    parts = [
        taught(reader, texts, reviews, opinion(encoded) if opinion and encoded is not None else None, 1.0)
    ]
    if language == "en":
        parts += [own_sentences(reader, *some) for some in (sentences(), implied())]
    if embed and opinion:
        phrases = frequent_phrases(texts)
        if phrases:
            parts.append(taught(reader, pl.Series(phrases), None, opinion(embed(phrases)), PHRASE_WEIGHT))
    lesson = None
    if rated:
        said, owner, ratings = rated
        lesson = Rated(*seen(reader, said), owner, ratings, PRIOR if embed else ALONE_PRIOR)
        if not embed:
            parts[0] = lighter_where_silent(parts[0])
    return SentimentModel(language, *learn(stacked(parts), lesson))


def seen(reader: WordReader, texts: pl.Series) -> tuple[Any, np.ndarray]:
    """Return the features of segments, and the logits of the lexicon."""
    words = reader.read(texts)
    verdict = judge(words)
    return matrix(features(words, verdict)), lexicon_logits(verdict.scores)


def taught(
    reader: WordReader,
    texts: pl.Series,
    reviews: np.ndarray | None,
    encoder: np.ndarray | None,
    weight: float,
) -> Taught:
    words = reader.read(texts)
    verdict = judge(words)
    targets, start = joined(verdict, encoder, reviews), lexicon_logits(verdict.scores)
    return Taught(matrix(features(words, verdict)), start, targets, np.full(len(texts), weight))


def lighter_where_silent(segments: Taught) -> Taught:
    """Let segments in which the lexicon knows no word count SILENT: the ratings tell more of them."""
    silent = (segments.start == lexicon_logits(np.zeros(1))).all(1)
    return replace(segments, weights=np.where(silent, SILENT, 1) * segments.weights)


def own_sentences(reader: WordReader, texts: Sequence[str], classes: np.ndarray) -> Taught:
    """Return our own sentences as something to learn from; each class counts as much as the others."""
    targets = np.full((len(texts), 3), (1 - CERTAIN) / 2)
    targets[np.arange(len(texts)), classes] = CERTAIN
    even = len(texts) / (len(CLASSES) * np.bincount(classes))  # each class counts as much as the others
    return Taught(*seen(reader, pl.Series(texts)), targets, SENTENCE_WEIGHT * even[classes])


def stacked(parts: Sequence[Taught]) -> Taught:
    from scipy.sparse import vstack

    return Taught(
        vstack([part.features for part in parts]).tocsr(),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )
