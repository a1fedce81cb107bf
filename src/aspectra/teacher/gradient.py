"""The teacher's losses and gradients for one training step, by hand and compiled.

The equations are those of model.py and losses.py; a test holds the result equal to autograd, which takes
several times as long, because steps are so small that calls cost more than arithmetic. Shapes: B
segments, N words in all of them (one after the other, no padding), D vector width, K topics, V
vocabulary.
"""

from __future__ import annotations

import numpy as np
import torch

from aspectra.compiled import compiled, dot
from aspectra.config import TeacherConfig
from aspectra.corpus import Ragged
from aspectra.loop import Losses
from aspectra.teacher.model import Teacher

MEAN, REGULAR, SMOOTH = range(3)
KINDS = {"mean": MEAN, "regular": REGULAR, "smooth": SMOOTH}


def step(teacher: Teacher, config: TeacherConfig, words: Ragged) -> Losses:
    """Set every parameter's gradient for a batch of two or more segments, none empty; return the losses."""
    classify, align = teacher.classify, teacher.align
    learnt = [align.weight, align.bias, classify.weight, classify.bias, teacher.topics]
    values = [parameter.detach().numpy() for parameter in learnt]
    numbers = tuple(
        np.float32(number) for number in (config.smoothness, config.temperature, config.penalty_weight)
    )
    losses, gradients = backward(
        words.ids, words.offsets, teacher.vectors.numpy(), *values, KINDS[teacher.kind], *numbers
    )
    for parameter, gradient in zip(learnt, gradients, strict=True):
        parameter.grad = torch.from_numpy(gradient)
    return {"contrastive": torch.tensor(losses[0]), "penalty": torch.tensor(losses[1])}


@compiled
def pool(ids, offsets, vectors, weights):  # type: ignore[no-untyped-def]
    """Return Σ w_t E_t for each segment, B×D."""
    pooled = np.zeros((len(offsets) - 1, vectors.shape[1]), np.float32)
    for i in range(len(pooled)):
        for t in range(offsets[i], offsets[i + 1]):
            for d in range(vectors.shape[1]):
                pooled[i, d] += weights[t] * vectors[ids[t], d]
    return pooled


@compiled
def softmax(values):  # type: ignore[no-untyped-def]
    """Make probabilities of scores, in place."""
    highest, total = values[0], np.float32(0)
    for d in range(1, len(values)):
        highest = max(highest, values[d])
    for d in range(len(values)):
        values[d] = np.exp(values[d] - highest)
        total += values[d]
    for d in range(len(values)):
        values[d] /= total


@compiled
def uniform(offsets):  # type: ignore[no-untyped-def]
    """Return 1 / L for each word, N: the weights of a mean."""
    share = np.empty(offsets[-1], np.float32)
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            share[t] = np.float32(1) / np.float32(offsets[i + 1] - offsets[i])
    return share


@compiled
def attend(ids, offsets, vectors, keys, shifts, kind, smoothness):  # type: ignore[no-untyped-def]
    """Return α and the slope of u over the score, N each."""
    attention, slope = np.empty(len(ids), np.float32), np.ones(len(ids), np.float32)
    for i in range(len(keys)):
        for t in range(offsets[i], offsets[i + 1]):
            attention[t] = dot(vectors[ids[t]], keys[i]) + shifts[i]
            if kind == SMOOTH:
                bent = np.tanh(attention[t])
                attention[t], slope[t] = smoothness * bent, smoothness * (np.float32(1) - bent * bent)
        softmax(attention[offsets[i] : offsets[i + 1]])
    return attention, slope


@compiled
def normalise(rows):  # type: ignore[no-untyped-def]
    """Return the rows scaled to length 1, and their lengths."""
    unit, lengths = np.empty_like(rows), np.empty(len(rows), np.float32)
    for i in range(len(rows)):
        lengths[i] = np.sqrt(dot(rows[i], rows[i]))
        for d in range(rows.shape[1]):
            unit[i, d] = rows[i, d] / lengths[i]
    return unit, lengths


@compiled
def unit_gradient(unit, lengths, gradient):  # type: ignore[no-untyped-def]
    """Take a gradient back through `normalise`, in place."""
    for i in range(len(unit)):
        along = dot(unit[i], gradient[i])
        for d in range(unit.shape[1]):
            gradient[i, d] = (gradient[i, d] - unit[i, d] * along) / lengths[i]


@compiled
def contrast(words, mixture, temperature):  # type: ignore[no-untyped-def]
    """Return the contrastive loss of unit rows s_E, s_A (B×D each) and its gradient by their cosines, B×B."""
    cosines, loss = np.dot(mixture, words.T), np.float32(0)
    scale = np.float32(1) / (len(words) * temperature)
    for i in range(len(cosines)):
        positive, total = cosines[i, i], np.float32(0)
        cosines[i, i] = np.float32(-np.inf)
        for j in range(len(cosines)):
            cosines[i, j] = np.exp(
                (cosines[i, j] - np.float32(1)) / temperature
            )  # a cosine is at most 1: nothing overflows
            total += cosines[i, j]
        for j in range(len(cosines)):
            cosines[i, j] *= scale / total
        cosines[i, i] = -scale
        loss += np.log(total) + (np.float32(1) - positive) / temperature
    return loss / len(cosines), cosines


@compiled
def penalise(topics, weight):  # type: ignore[no-untyped-def]
    """Return Ω, weighted, and its gradient, K×D."""
    unit, lengths = normalise(topics)
    excess = np.dot(unit, unit.T)  # K×K
    for k in range(len(excess)):
        excess[k, k] -= np.float32(1)
    size = np.sqrt(dot(excess.ravel(), excess.ravel()))
    gradient = np.dot(excess, unit)
    for k in range(len(gradient)):
        for d in range(gradient.shape[1]):
            gradient[k, d] *= np.float32(2) * weight / (size + np.float32(1e-12))
    unit_gradient(unit, lengths, gradient)
    return weight * size, gradient


@compiled
def unattend(ids, offsets, vectors, attention, slope, words, d_words):  # type: ignore[no-untyped-def]
    """Take the gradient of s_E = Σ α_t E_t back to the scores, N, and sum those of each segment, B."""
    d_scores, sums = np.empty_like(attention), np.zeros(len(words), np.float32)
    for i in range(len(words)):
        mean = dot(words[i], d_words[i])
        for t in range(offsets[i], offsets[i + 1]):
            d_scores[t] = attention[t] * slope[t] * (dot(vectors[ids[t]], d_words[i]) - mean)
            sums[i] += d_scores[t]
    return d_scores, sums


@compiled
def backward(  # type: ignore[no-untyped-def]
    ids, offsets, vectors, align, bias, classifier, shift, topics, kind, smoothness, temperature, weight
):
    """Return the two losses and the gradients of W, b, V, c and A; d_x is the derivative of the loss by x."""
    attention = uniform(offsets)  # N, α
    slope = np.zeros_like(attention)  # N
    query = pool(ids, offsets, vectors, attention)  # B×D, q
    if kind != MEAN:
        attention, slope = attend(
            ids, offsets, vectors, np.dot(query, align), np.dot(query, bias), kind, smoothness
        )
    words = pool(ids, offsets, vectors, attention)  # B×D, s_E
    beta = np.dot(words, classifier.T)  # B×K
    for i in range(len(beta)):
        for k in range(len(topics)):
            beta[i, k] += shift[k]
        softmax(beta[i])  # β
    word_unit, word_lengths = normalise(words)
    mixture_unit, mixture_lengths = normalise(np.dot(beta, topics))  # B×D, s_A
    loss, d_cosines = contrast(word_unit, mixture_unit, temperature)  # B×B

    d_mixture, d_words = np.dot(d_cosines, word_unit), np.dot(d_cosines.T, mixture_unit)  # B×D
    unit_gradient(mixture_unit, mixture_lengths, d_mixture)
    unit_gradient(word_unit, word_lengths, d_words)
    d_logits, d_shift = np.dot(d_mixture, topics.T), np.zeros_like(shift)  # B×K; K
    for i in range(len(beta)):
        mean = dot(beta[i], d_logits[i])
        for k in range(len(topics)):
            d_logits[i, k] = beta[i, k] * (d_logits[i, k] - mean)
            d_shift[k] += d_logits[i, k]
    d_words += np.dot(d_logits, classifier)
    d_scores, sums = unattend(ids, offsets, vectors, attention, slope, words, d_words)
    d_align, d_bias = np.dot(query.T, pool(ids, offsets, vectors, d_scores)), np.dot(sums, query)  # D×D; D
    penalty, d_topics = penalise(topics, weight)
    d_topics += np.dot(beta.T, d_mixture)
    return (loss, penalty), (d_align, d_bias, np.dot(d_logits.T, words), d_shift, d_topics)
