"""Making the fast student: a student, the segments that it learnt from, and labels if given → a FastStudent.

Vectors of words and pairs come near to the encoder's states (phrases.py), which the student's models answer
from. What labels add is learnt anew, from the labels as the fast student reads them: what the student learnt
from them is too fine for sums of words.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from aspectra.encoder.features import part_of
from aspectra.progress import StageProgress, unseen
from aspectra.scores import Gold, gold_matrix
from aspectra.student.fast import FastStudent, answer, before_labels, learnt_answer, number
from aspectra.student.linear import LinearStudent
from aspectra.student.phrases import LEANING_BESIDE_LABELS, NO_PHRASES, learn_phrases
from aspectra.topicmap.by_names import NamesSample
from aspectra.topicmap.calibrate import temperature_for
from aspectra.topicmap.gaussians import Features, Space, learn_correction, normalise, unit
from aspectra.topicmap.reader import Embed

SHORT_SHARE = 0.3
"""So much of the encoder's work for a fast student are the short segments, about."""
MODELS = {"general", "specific", "correction"}
BALANCING, STEP = 30, 0.7
"""So many steps of this size make answers as frequent as the student's."""
Head = dict[str, np.ndarray]
Read = tuple[np.ndarray, np.ndarray]
"""Features of segments (N×F), and what their words lean to (N×A)."""


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
    seen = flat_features(features, origin)
    reviews = fitted.corpus.segments.filter(~pl.col("junk"))["text"]
    rest = partial(embed, progress=part_of(progress, SHORT_SHARE, 1 - SHORT_SHARE))
    phrases, components = learn_phrases(reviews, texts, seen[:, : len(origin)], rest)
    weight = LEANING_BESIDE_LABELS if "correction" in head else 1.0
    answers = learnt_answer(seen, head)
    phrases = phrases.leaning(texts, answers, weight)
    sure = float(answer(seen, np.zeros((len(seen), 0)), head).max(1).mean())
    fast = FastStudent(fitted, student.card, phrases, projected(head, components))
    if labels is not None:
        fast.head.update(own_correction(fast, labels, Space.of(sample.features), components))
    read = fast.read(texts)
    fast.head["balance"] = as_often(fast, read, answers)
    fast.head["temperature"] = as_sure(fast, read, sure)
    return fast


def with_short(student: LinearStudent, sample: NamesSample, embed: Embed) -> tuple[list[str], Features]:
    """Return the texts and features of the segments that a student learnt from, and of short ones."""
    short = student.fitted.short_segments(student.card.config.n_segments)
    if not short:
        return list(sample.texts), sample.features
    return [*sample.texts, *short], sample.features.and_then(sample.reader.features(short, embed(short)))


def flat_features(features: Features, origin: np.ndarray) -> np.ndarray:
    """Return what a student's models see of segments, N×F."""
    states = unit(unit(np.asarray(features.encoder)) - origin)
    return np.hstack([states, features.words, np.sqrt(features.beta)])


def projected(head: Head, components: np.ndarray) -> Head:
    """Return a head whose models multiply the components (De×C) of states in place of the states."""
    size, names = len(components), MODELS & head.keys()
    return head | {name: np.vstack([components.T @ head[name][:size], head[name][size:]]) for name in names}


def as_often(fast: FastStudent, read: Read, answers: np.ndarray) -> np.ndarray:
    """Return A numbers for a fast student's scores: with them it gives each answer as often as the student.

    Words lean to aspects, so it would find them where the student's answers (N×A) are General.
    """
    flat, leaning = read
    guess = learnt_answer(flat, fast.head) * np.exp(leaning)
    wanted, result = shares(answers), np.zeros(answers.shape[1])
    for _ in range(BALANCING):
        result += STEP * np.log(wanted / shares(guess * np.exp(result)))
    return result.astype(np.float32)


def shares(answers: np.ndarray) -> np.ndarray:
    """Return how often each column is the largest, A; never quite zero."""
    counts = np.bincount(answers.argmax(1), minlength=answers.shape[1])
    return np.asarray(counts / max(len(answers), 1) + 1e-4)


def as_sure(fast: FastStudent, read: Read, sure: float) -> np.ndarray:
    """Return the temperature at which a fast student is as sure of the segments read as the student is."""
    plain = {name: array for name, array in fast.head.items() if name not in ("temperature", "lead")}
    found = temperature_for(answer(*read, plain), sure, number(fast.head, "lead"))
    return np.array(found, np.float32)


def own_correction(fast: FastStudent, labels: Gold, space: Space, components: np.ndarray) -> Head:
    """Learn from labels what a fast student's own features warrant; the parts are named as in its head.

    `space` is the student's, and `components` (De×C) are those of the encoder's states that it has.
    """
    (flat, _), width = fast.read(labels.texts), components.shape[1]
    answers = before_labels(flat, fast.head)
    targets = np.zeros((len(flat), answers.shape[1] + 1))  # the last is for aspects that were not learnt
    targets[:, fast.head["kept"]] = gold_matrix(labels.aspects, fast.card.aspects)
    whole = np.hstack([flat[:, :width] @ components.T, flat[:, width:]])
    found = learn_correction(answers, space.places(whole), normalise(targets[:, :-1]))
    linear = space.unfold(found.linear)
    added = {"correction": linear.weights, "correction_bias": linear.bias, "power": np.array(found.power)}
    return {name: part.astype(np.float32) for name, part in projected(added, components).items()}
