"""Making the fast student: a student, the segments that it learnt from, and labels if given → a FastStudent.

Vectors of words and pairs come near to the encoder's states (phrases.py), which the student's models answer
from. What labels add is learnt anew, from the labels as the fast student reads them and from the student's
answers: what the student learnt from labels is too fine for sums of words.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from aspectra.arrays import normalise
from aspectra.aspects.gaussians import CorrectionData, Features, Space, flat_states, learn_correction
from aspectra.aspects.names_sample import NamesSample
from aspectra.aspects.reader import Embed
from aspectra.encoder.features import part_of
from aspectra.progress import StageProgress, unseen
from aspectra.scores import Gold, gold_matrix
from aspectra.student.fast import FastStudent, answer, before_labels, fill, learnt_answer, number
from aspectra.student.linear import LinearStudent
from aspectra.student.phrases import NO_PHRASES, learn_phrases
from aspectra.topicmap.calibrate import temperature_for

SHORT_SHARE = 0.3
"""So much of the encoder's work for a fast student are the short segments, about."""
MODELS = {"general", "specific", "correction"}
BALANCING, STEP = 30, 0.7
"""So many steps of this size make answers as frequent as the student's."""
IMITATED, IMITATED_WEIGHT, IMITATED_POWER = 4000, 0.2, 2.0
"""Beside labels, so many of the student's answers count so much of a label each, to this power: sharper. On
seven dev sets F1 gains 0.3 with 200 labels and 0.1 with all, macro F1 0.4 and 0.6. 8,000 with half the
weight do as well."""
Head = dict[str, np.ndarray]
Read = tuple[np.ndarray, np.ndarray]
"""Features of segments (N×F), and their words' scores for aspects (N×A)."""


def teach_fast(
    student: LinearStudent,
    labels: Gold | None = None,
    progress: StageProgress = unseen,
    embed: Embed | None = None,
) -> FastStudent:
    """Make the fast form of a student. `embed` encodes texts, by default with the student's encoder.

    Short segments, which the student did not learn from, teach its words, too: it will label them.
    """
    fitted, encoder = student.fitted, student.encoder
    head = {name: array.numpy() for name, array in student.head.state_dict().items()}
    if encoder is None:
        return FastStudent(fitted, student.card, NO_PHRASES, head)
    origin, embed = head.pop("origin"), embed or partial(fitted.encoded, encoder)
    sample = fitted.names_sample(encoder, n=student.card.config.n_segments)
    texts, features = with_short(student, sample, partial(embed, progress=part_of(progress, 0, SHORT_SHARE)))
    seen = flat_features(fill(features, head), origin)
    reviews = fitted.corpus.segments.filter(~pl.col("junk"))["text"]
    rest = partial(embed, progress=part_of(progress, SHORT_SHARE, 1 - SHORT_SHARE))
    phrases, components = learn_phrases(reviews, texts, seen[:, : origin.size], rest)
    answers = learnt_answer(seen, head)
    phrases = phrases.with_scores(texts, answers)
    sure = float(answer(seen, np.zeros((len(seen), 0)), head).max(1).mean())
    fast = FastStudent(fitted, student.card, phrases, projected(head, components))
    read = fast.read(texts)
    if labels is not None:
        fast.head.update(own_correction(fast, labels, read, answers, Space.of(sample.features), components))
    fast.head["balance"] = learn_balance(fast, read, answers)
    fast.head["temperature"] = learn_temperature(fast, read, sure)
    return fast


def with_short(student: LinearStudent, sample: NamesSample, embed: Embed) -> tuple[list[str], Features]:
    """Return the texts and features of the segments that a student learnt from, and of short ones."""
    short = student.fitted.short_segments(student.card.config.n_segments)
    if not short:
        return list(sample.texts), sample.features
    return [*sample.texts, *short], sample.features.and_then(sample.reader.features(short, embed(short)))


def flat_features(features: Features, origin: np.ndarray) -> np.ndarray:
    """Return what a student's models see of segments, N×F."""
    states = flat_states(np.asarray(features.encoder), origin)
    return np.hstack([states, features.words, np.sqrt(features.beta)])


def projected(head: Head, components: np.ndarray) -> Head:
    """Return a head whose models multiply the components (2·De×C) of states in place of the states."""
    size, names = len(components), MODELS & head.keys()
    return head | {name: np.vstack([components.T @ head[name][:size], head[name][size:]]) for name in names}


def learn_balance(fast: FastStudent, read: Read, answers: np.ndarray) -> np.ndarray:
    """Return A numbers that, added to a fast student's scores, make each answer as frequent as the student's.

    Without them, the words' scores would find aspects where the student's answers (N×A) are General.
    """
    flat, scores = read
    guess = learnt_answer(flat, fast.head) * np.exp(scores)
    wanted, result = shares(answers), np.zeros(answers.shape[1])
    for _ in range(BALANCING):
        result += STEP * np.log(wanted / shares(guess * np.exp(result)))
    return result.astype(np.float32)


def shares(answers: np.ndarray) -> np.ndarray:
    """Return how often each column is the largest, A; never quite zero."""
    counts = np.bincount(answers.argmax(1), minlength=answers.shape[1])
    return np.asarray(counts / max(len(answers), 1) + 1e-4)


def learn_temperature(fast: FastStudent, read: Read, sure: float) -> np.ndarray:
    """Return the temperature at which a fast student is as sure of the segments read as the student is."""
    plain = {name: array for name, array in fast.head.items() if name not in ("temperature", "lead")}
    found = temperature_for(answer(*read, plain), sure, number(fast.head, "lead"))
    return np.array(found, np.float32)


def own_correction(
    fast: FastStudent,
    labels: Gold,
    read: Read,
    answers: np.ndarray,
    space: Space,
    components: np.ndarray,
) -> Head:
    """Learn from labels what a fast student's own features warrant; the parts are named as in its head.

    The student's answers (N×A) to other segments, as the fast student has `read` them, teach as well.
    `space` is the student's, and `components` (2·De×C) are those of the encoder's states that it has.
    """

    def data_of(read: Read, targets: np.ndarray, weight: float) -> CorrectionData:
        (flat, scores), width = read, components.shape[1]
        whole = np.hstack([flat[:, :width] @ components.T, flat[:, width:]])
        return CorrectionData.of(before_labels(flat, fast.head), space.places(whole), targets, weight, scores)

    told = np.zeros((len(labels.texts), answers.shape[1] + 1))  # the last: aspects that were not learnt
    told[:, fast.head["kept"]] = gold_matrix(labels.aspects, fast.card.aspects)
    rows = np.linspace(0, len(answers) - 1, min(IMITATED, len(answers))).astype(int)
    likely = normalise(answers[rows] ** IMITATED_POWER)
    found = learn_correction(
        data_of(fast.read(labels.texts), normalise(told[:, :-1]), 1.0).and_then(
            data_of((read[0][rows], read[1][rows]), likely, IMITATED_WEIGHT)
        )
    )
    linear = space.unfold(found.linear)
    added = {"correction": linear.weights, "correction_bias": linear.bias, "power": np.array(found.power)}
    return {name: part.astype(np.float32) for name, part in projected(added, components).items()}
