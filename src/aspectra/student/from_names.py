"""The linear student, made from the aspects' names, what a person decided about topics, and labels if given.

A sample of unlabelled segments is read once (words, β, the encoder's mean states, which are kept in the run).
`learn_from_names` learns from it; labels then correct it as far as their number warrants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from aspectra import rundir
from aspectra.config import GENERAL, StudentConfig
from aspectra.encoder.features import compute_means
from aspectra.encoder.pretrained import Encoder, find_encoder
from aspectra.fitting import Fitted
from aspectra.progress import Progress, StageProgress, progress_of, quiet
from aspectra.scores import Gold, average_scores, gold_matrix
from aspectra.student.card import Card
from aspectra.student.linear import LinearHead, LinearStudent
from aspectra.topicmap.aspects import Aspect
from aspectra.topicmap.evidence import Reader
from aspectra.topicmap.linear import Features, normalise
from aspectra.topicmap.names import Learned, learn_from_names, unspoken
from aspectra.topicmap.topicmap import TopicMap

FOLDS = 5
SCORES = ("f1_micro", "f1_macro", "f1_weighted")


@dataclass(frozen=True)
class Sight:
    """Reads segments as the student will see them; mean states are kept in `folder`."""

    reader: Reader
    encoder: Encoder | None
    folder: Path

    def features(self, texts: Sequence[str], progress: StageProgress = lambda done: None) -> Features:
        encoded = compute_means(self.encoder, texts, self.folder, progress) if self.encoder else None
        return self.reader.features(texts, encoded)


def train_linear(
    fitted: Fitted,
    config: StudentConfig,
    home: Path,
    aspects: Sequence[Aspect] = (),
    labels: Gold | None = None,
    progress: Progress = quiet,
) -> LinearStudent:
    """Make a linear student; `aspects` tell more than names, `home` is the folder for mean states."""
    card, topic_map = Card.new(fitted, config), fitted.the_map()
    encoder, lost = find_encoder(config.encoder, config.longest)
    sight = Sight(fitted.reader(encoder), encoder, home / rundir.FEATURES)
    texts = draw_texts(fitted, config)
    sample = sight.features(texts, progress_of("features", progress))
    wanted = described(topic_map, aspects)
    evidence = [sight.reader.aspect(aspect) for aspect in wanted]
    progress("head", 0.0)
    learned = learn_from_names(sample, evidence, sight.reader.general(texts, wanted), decided(topic_map))
    facts: dict[str, Any] = {}
    if labels is not None:
        learned, facts = learn_labels(learned, sight.features(labels.texts), labels, card)
    head = LinearHead.of(learned, card.aspects)
    answers = answered(learned.probabilities(sample), learned.aspects, card.aspects)
    counts = np.bincount(answers.argmax(1), minlength=len(card.aspects)).tolist()
    progress("head", 1.0)
    silent = unspoken(answers, card.aspects, evidence)
    if labels is None:
        silent += [
            aspect.name for aspect in wanted if is_unknown(aspect, sight) and aspect.name not in silent
        ]
    notes = (*([lost] if lost else []), *map(silence, silent))
    card = replace(
        card,
        encoder_fingerprint=encoder.fingerprint if encoder else "",
        learnt=dict(zip(card.aspects, counts, strict=True)),
        notes=notes,
        **facts,
    )
    return LinearStudent(fitted, encoder, head, card)


def draw_texts(fitted: Fitted, config: StudentConfig) -> list[str]:
    """Draw segments that the teacher was trained on; a smaller number draws the first of a larger one."""
    rows = fitted.corpus.trainable(fitted.config.min_tokens)
    drawn = np.random.default_rng(config.seed).permutation(rows)[: config.n_segments]
    return list(fitted.corpus.segments["text"].gather(drawn))


def described(topic_map: TopicMap, aspects: Sequence[Aspect]) -> list[Aspect]:
    """Return what is known of each aspect of the map but General."""
    known = {aspect.name.casefold(): aspect for aspect in aspects}
    names = [name for name in topic_map.aspects if name != GENERAL]
    return [replace(known.get(name.casefold(), Aspect(name)), name=name) for name in names]


def decided(topic_map: TopicMap) -> dict[int, int | None]:
    """Return the aspect's number, General last, of each topic that a person decided; None if left out."""
    names = [name for name in topic_map.aspects if name != GENERAL] + [GENERAL]
    number = {name: place for place, name in enumerate(names)}
    return {choice.topic: number.get(choice.aspect or "") for choice in topic_map.choices if choice.by_person}


def learn_labels(
    learned: Learned, segments: Features, labels: Gold, card: Card
) -> tuple[Learned, dict[str, Any]]:
    """Correct what was learnt by labels; return it with what the card tells of them."""
    gold = gold_matrix(labels.aspects, card.aspects)
    targets = np.zeros((len(gold), len(learned.aspects)))
    targets[:, [learned.aspects.index(aspect) for aspect in card.aspects]] = gold
    targets = normalise(targets)
    facts: dict[str, Any] = {"n_labels": len(gold), "choice": "names"}
    if len(gold) >= FOLDS:
        held_out = np.zeros_like(targets)
        folds = np.random.default_rng(card.config.seed).permutation(len(gold)) % FOLDS
        for fold in range(FOLDS):
            seen, rest = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            fitted = learned.with_labels(segments.select(seen), targets[seen])
            held_out[rest] = fitted.probabilities(segments.select(rest))
        given = {"estimate": held_out, "without_labels": learned.probabilities(segments)}
        facts |= {name: scores(gold, one, learned.aspects, card.aspects) for name, one in given.items()}
    return learned.with_labels(segments, targets), facts


def scores(
    gold: np.ndarray, probabilities: np.ndarray, learnt: tuple[str, ...], aspects: tuple[str, ...]
) -> dict[str, float]:
    values = average_scores(gold, answered(probabilities, learnt, aspects).argmax(1), aspects)
    return {name: values[name] for name in SCORES}


def answered(probabilities: np.ndarray, learnt: tuple[str, ...], aspects: tuple[str, ...]) -> np.ndarray:
    """Return the columns of the aspects that may be answered, normalised: General is always learnt."""
    return normalise(probabilities[:, [learnt.index(aspect) for aspect in aspects]])


def is_unknown(aspect: Aspect, sight: Sight) -> bool:
    """Tell whether neither the reviews nor the encoder know a word of an aspect that has only words."""
    phrases = (aspect.name, *aspect.words)
    if aspect.about or aspect.examples or any(len(sight.reader.word_vectors(phrase)) for phrase in phrases):
        return False
    words = [word for phrase in phrases for word in re.findall(r"[^\W\d_]+", phrase.lower())]
    if sight.encoder is None:
        return True
    empty = len(sight.encoder.tokenise([""]).ids)
    return not any(len(sight.encoder.tokenise([word]).ids) == empty + 1 for word in words)


def silence(aspect: str) -> str:
    return (
        f"Nothing speaks of {aspect}: the reviews hardly mention it, or not by this name. Add words or "
        f"examples under [{aspect}] in {rundir.ASPECTS}, or label some segments, and distil again."
    )
