"""The linear student, made from the aspects' names, what a person decided about topics, and labels if given.

A sample of unlabelled segments is read once (words, β, the encoder's mean states, which are kept in the run).
`learn_from_names` learns from it; labels then correct it as far as their number warrants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aspectra.arrays import normalise
from aspectra.aspects.aspects import Aspect, described, fingerprint
from aspectra.aspects.gaussians import Features
from aspectra.aspects.names import Learned, hardly_answered, learn_from_names
from aspectra.aspects.names_sample import NamesSample, find_encoder, known_aspects
from aspectra.aspects.notes import notes_on_no_answer, notes_on_silence
from aspectra.config import GENERAL, StudentConfig
from aspectra.errors import InputError
from aspectra.fitting import Fitted
from aspectra.progress import Progress, progress_of, quiet
from aspectra.scores import Gold, average_scores, gold_matrix
from aspectra.student.card import Card, mark
from aspectra.student.linear import LinearHead, LinearStudent
from aspectra.topicmap.by_labels import METRICS
from aspectra.topicmap.calibrate import (
    FOLDS,
    corpus_temperature,
    folds,
    label_calibration,
    label_threshold,
    soften,
)
from aspectra.topicmap.topicmap import TopicMap


def train_linear(
    fitted: Fitted,
    config: StudentConfig,
    aspects: Sequence[Aspect] = (),
    labels: Gold | None = None,
    progress: Progress = quiet,
) -> LinearStudent:
    """Make a linear student; `aspects` say more of the map's aspects than their names."""
    card, topic_map = Card.new(fitted, config), fitted.the_map()
    encoder, lost = find_encoder(config.encoder, fitted.config.language, config.longest)
    sample = fitted.names_sample(encoder, progress_of("features", progress), config.n_segments)
    progress("head", 0.0)
    wanted, notes = learnable(described(topic_map.aspects, aspects), sample, topic_map, labels)
    evidence = [sample.evidence(aspect) for aspect in wanted]
    general = sample.general(wanted)
    labelled = labelled_segments(topic_map, wanted)
    learned = learn_from_names(sample.features, evidence, general, decided(topic_map, wanted), labelled)
    if GENERAL not in card.aspects:
        learned = replace(learned, answerable=np.array([one != GENERAL for one in learned.aspects]))
    facts: dict[str, Any] = {}
    held_out = None
    if labels is not None:
        learned, held_out, facts = learn_labels(learned, sample.reader.features(labels.texts), labels, card)
    answers = answered(learned.probabilities(sample.features), learned.aspects, card.aspects)
    temperature, lead = corpus_temperature(answers), 1.0
    if held_out is not None:
        guess, gold = held_out
        temperature, lead = label_calibration(guess, gold, temperature)
        facts["several_from"] = label_threshold(soften(guess, temperature, lead), gold, card.aspects)
    counts = np.bincount(answers.argmax(1), minlength=len(card.aspects)).tolist()
    silent = hardly_answered(answers, card.aspects, evidence)
    notes += notes_on_silence(silent) if labels is None else notes_on_no_answer(silent)
    progress("head", 1.0)
    card = replace(
        card,
        encoder_fingerprint=encoder.fingerprint if encoder else "",
        aspects_fingerprint=fingerprint(described(card.aspects, aspects)),
        learnt=dict(zip(card.aspects, counts, strict=True)),
        notes=(*([lost] if lost else []), *notes),
        **facts,
    )
    return LinearStudent(fitted, encoder, LinearHead.of(learned, card.aspects, temperature, lead), card)


def learnable(
    aspects: Sequence[Aspect], sample: NamesSample, topic_map: TopicMap, labels: Gold | None
) -> tuple[list[Aspect], list[str]]:
    """Return the aspects that a known word, a person's topic or a label speaks of; notes on the others."""
    shown = {choice.aspect for choice in topic_map.choices if choice.by_person}
    shown |= {aspect for choice in topic_map.choices for aspect, _ in choice.labelled}
    shown |= set().union(*labels.aspects) if labels else set()
    known, notes = known_aspects(aspects, sample, {name for name in shown if name})
    if not known:
        raise InputError(" ".join(notes))
    return known, notes


def decided(topic_map: TopicMap, aspects: Sequence[Aspect]) -> dict[int, int | None]:
    """Return the aspect's number, General last, of each topic that a person decided; None if unmapped."""
    number = {aspect.name: place for place, aspect in enumerate(aspects)} | {GENERAL: len(aspects)}
    return {choice.topic: number.get(choice.aspect or "") for choice in topic_map.choices if choice.by_person}


def labelled_segments(topic_map: TopicMap, aspects: Sequence[Aspect]) -> np.ndarray | None:
    """Return K×A, General last: how many labelled segments the map was made with; None if with none."""
    number = {aspect.name: place for place, aspect in enumerate(aspects)} | {GENERAL: len(aspects)}
    result = np.zeros((len(topic_map.choices), len(number)))
    for choice in topic_map.choices:
        for aspect, count in choice.labelled:
            if aspect in number:
                result[choice.topic, number[aspect]] = count
    return result if result.any() else None


def learn_labels(
    learned: Learned, segments: Features, labels: Gold, card: Card
) -> tuple[Learned, tuple[np.ndarray, np.ndarray] | None, dict[str, Any]]:
    """Correct what was learnt by labels; return it, the answers to held-out labels, and facts for the card.

    The answers are probabilities and gold aspects, both N×A; None where there are too few labels.
    """
    gold = gold_matrix(labels.aspects, card.aspects)
    told = dict(zip(card.aspects, gold.T.astype(float), strict=True))
    nothing = np.zeros(len(gold))
    targets = normalise(np.column_stack([told.get(aspect, nothing) for aspect in learned.aspects]))
    facts: dict[str, Any] = {
        "n_labels": len(gold),
        "choice": "names",
        "label_marks": tuple(map(mark, labels.texts)),
    }
    judged = None
    if len(gold) >= FOLDS:
        held_out = np.zeros_like(targets)
        part = folds(len(gold), card.config.seed)
        for fold in range(FOLDS):
            seen, rest = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
            fitted = learned.with_labels(segments.select(seen), targets[seen])
            held_out[rest] = fitted.probabilities(segments.select(rest))
        given = {"estimate": held_out, "without_labels": learned.probabilities(segments)}
        facts |= {name: scores(gold, one, learned.aspects, card.aspects) for name, one in given.items()}
        judged = answered(held_out, learned.aspects, card.aspects), gold
    return learned.with_labels(segments, targets), judged, facts


def scores(
    gold: np.ndarray, probabilities: np.ndarray, learnt: tuple[str, ...], aspects: tuple[str, ...]
) -> dict[str, float]:
    values = average_scores(gold, answered(probabilities, learnt, aspects).argmax(1), aspects)
    return {name: values[name] for name in METRICS}


def answered(probabilities: np.ndarray, learnt: tuple[str, ...], aspects: tuple[str, ...]) -> np.ndarray:
    """Return the columns of the aspects that may be answered, normalised; 0 for one that was not learnt."""
    column = dict(zip(learnt, probabilities.T, strict=True))
    nothing = np.zeros(len(probabilities))
    return normalise(np.column_stack([column.get(aspect, nothing) for aspect in aspects]))
