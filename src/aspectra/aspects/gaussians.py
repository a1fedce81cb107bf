"""Linear models of aspects over features of segments: what they see, and how they are fitted. Pure numpy.

Features of a segment are its encoder's mean states, its mean word vector and √β. Gaussians with one shared
covariance are linear, so soft targets need no iterations. What labels add is a penalised linear correction.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from aspectra.arrays import TINY, normalise, softmax, unit

COMPONENTS = 200
"""Principal components that the models see; 128 to 300 do as well."""
BLOCKS = (1.0, 0.3, 0.15)
"""Scale of the encoder, the mean word vector and √β in the features."""
SHRINKAGE, HELD = 0.05, 8.0
"""Share of the covariance that is a multiple of the identity. With few segments the share is larger: HELD
segments per component, as a share of these and the real ones. In four small piles F1 is 3 points higher than
with HELD = 1, on seven large dev sets the same."""
LABEL_PRIOR = (0.3, 10.0, 100.0)
"""L2 penalties of what labels correct: weights and biases stay near 0, and the power of the answer
without labels stays near POWER. The last is large: a few doubtful labels could reverse clear answers."""
POWER = 0.5
SUREST, SUREST_SHARE = 30, 0.006
"""The SUREST segments with the highest probability of each aspect count as labels of it, too: together as
much as SUREST_SHARE of the labels. Otherwise an aspect with few labels would be lost to frequent ones. On
seven dev sets with all labels macro F1 gains 0.6, micro F1 nothing; shares of 0.003 to 0.012 do as well."""
LEAST = 1e-4
"""Smallest probability whose logarithm labels correct."""


@dataclass(frozen=True)
class Features:
    """N segments: mean word vectors (N×D), β (N×K) and, if there is an encoder, its mean states (N×2×De)."""

    words: np.ndarray
    beta: np.ndarray
    encoder: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.beta)

    def select(self, rows: np.ndarray) -> Features:
        encoder = None if self.encoder is None else self.encoder[rows]
        return Features(self.words[rows], self.beta[rows], encoder)

    def average(self) -> Features:
        """Return what is usual for words and topics, as one segment."""
        return Features(self.words.mean(0, keepdims=True), self.beta.mean(0, keepdims=True))

    def filled(self, usual: Features) -> Features:
        """Return these segments; one without known words gets the words and topics that are usual.

        Zeros would be an opinion: where all word vectors are alike, zeros are far from every segment, and
        "Sure." was answered with Price.
        """
        known = self.words.any(1, keepdims=True)
        words, beta = np.where(known, self.words, usual.words), np.where(known, self.beta, usual.beta)
        return Features(words.astype(self.words.dtype), beta.astype(self.beta.dtype), self.encoder)

    def and_then(self, more: Features) -> Features:
        """Return these segments and more."""
        read = [one.encoder for one in (self, more) if one.encoder is not None]
        words, beta = np.vstack([self.words, more.words]), np.vstack([self.beta, more.beta])
        return Features(words, beta, np.vstack(read) if read else None)


@dataclass(frozen=True)
class Space:
    """What the models see: the blocks of features, brought to common scales, in principal components (F×C).

    A segment's `places` are its C coordinates.
    """

    origin: np.ndarray | None
    scales: np.ndarray
    middle: np.ndarray
    components: np.ndarray

    @classmethod
    def of(cls, segments: Features) -> Space:
        origin = None if segments.encoder is None else unit(segments.encoder.astype(np.float64)).mean(0)
        blocks = stack(segments, origin)
        weights = BLOCKS[-len(blocks) :]
        scales = np.concatenate(
            [
                np.full(block.shape[1], weight / max(np.sqrt(block.var(0).sum()), TINY))
                for block, weight in zip(blocks, weights, strict=True)
            ]
        )
        flat = np.hstack(blocks) * scales
        middle = flat.mean(0)
        _, vectors = np.linalg.eigh(np.cov((flat - middle).T))
        return cls(origin, scales, middle, vectors[:, ::-1][:, :COMPONENTS])

    def __call__(self, segments: Features) -> np.ndarray:
        return self.places(np.hstack(stack(segments, self.origin)))

    def places(self, flat: np.ndarray) -> np.ndarray:
        """Return the coordinates of segments, N×C, from their features (N×F)."""
        return np.asarray((flat * self.scales - self.middle) @ self.components)

    def unfold(self, linear: Linear) -> Linear:
        """Return a model of the features themselves (F×A) that gives the same scores as one of the places."""
        weights = self.components @ linear.weights
        return Linear(self.scales[:, None] * weights, linear.bias - self.middle @ weights)


@dataclass(frozen=True)
class Linear:
    """A softmax of linear scores: weights C×A and A biases."""

    weights: np.ndarray
    bias: np.ndarray

    def __call__(self, places: np.ndarray) -> np.ndarray:
        return softmax(places @ self.weights + self.bias)


@dataclass(frozen=True)
class Correction:
    """What labels add: answer^power · exp(places · weights + bias), normalised."""

    linear: Linear
    power: float

    def __call__(self, answer: np.ndarray, places: np.ndarray) -> np.ndarray:
        return softmax(self.power * logs(answer) + places @ self.linear.weights + self.linear.bias)


def fit_gaussians(places: np.ndarray, targets: np.ndarray) -> Linear:
    """Fit one Gaussian per column of the soft targets, all with one covariance, and their shares."""
    count = targets.sum(0) + TINY
    means = (targets.T @ places) / count[:, None]
    shares = count / count.sum()
    covariance = (places.T * targets.sum(1)) @ places / count.sum() - (means.T * shares) @ means
    size = len(covariance)
    held = HELD * size
    part = max(SHRINKAGE, held / (held + float(count.sum())))
    covariance = (1 - part) * covariance + part * np.trace(covariance) / size * np.eye(size)
    weights = np.linalg.solve(covariance, means.T)
    return Linear(weights, np.log(shares) - 0.5 * (weights * means.T).sum(0))


@dataclass(frozen=True)
class CorrectionData:
    """What a correction is learnt from: answers so far (N×A), places (N×C), what they should be (N×A).

    `weight` (N) is how much each counts, and `offset` (N×A) what else is added to its scores.
    """

    answers: np.ndarray
    places: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    offset: np.ndarray

    @classmethod
    def of(
        cls,
        answers: np.ndarray,
        places: np.ndarray,
        targets: np.ndarray,
        weight: np.ndarray | float = 1.0,
        offset: np.ndarray | None = None,
    ) -> CorrectionData:
        """Return data that all count the same, if `weight` is a number."""
        weights = np.broadcast_to(weight, len(answers))
        return cls(answers, places, targets, weights, np.zeros_like(answers) if offset is None else offset)

    def and_then(self, more: CorrectionData) -> CorrectionData:
        """Return these data and more."""
        return CorrectionData(
            *(np.concatenate([getattr(self, one.name), getattr(more, one.name)]) for one in fields(self))
        )


def surest(answers: np.ndarray) -> np.ndarray:
    """Return rows of the segments that are most surely an aspect's, by the answers (N×A, General last)."""
    order = np.argsort(-answers[:, :-1], 0, kind="stable")[:SUREST]
    return np.unique(order[answers.argmax(1)[order] == np.arange(order.shape[1])])


def surest_data(answers: np.ndarray, places: np.ndarray, n_labels: int) -> CorrectionData:
    """Return the answers of the `surest` segments as labels of small weight, beside `n_labels` real ones."""
    best = answers.argmax(1)
    count = np.bincount(best, minlength=answers.shape[1])[best]
    return CorrectionData.of(answers, places, answers, SUREST_SHARE * n_labels / count)


def learn_correction(data: CorrectionData) -> Correction:
    """Fit a correction by penalised maximum likelihood; few labels change little."""
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    places, targets, weight = data.places, data.targets, data.weight[:, None]
    width, n_aspects = places.shape[1], targets.shape[1]
    known = logs(data.answers)
    on_weights, on_bias, on_power = LABEL_PRIOR
    n_weights = width * n_aspects

    def split(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        return flat[:n_weights].reshape(width, n_aspects), flat[n_weights:-1], float(flat[-1])

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights, bias, power = split(flat)
        guess = softmax(power * known + places @ weights + bias + data.offset)
        wrong = weight * (guess - targets)
        held = on_weights * (weights**2).sum() + on_bias * (bias**2).sum() + on_power * (power - POWER) ** 2
        gradient = [
            (places.T @ wrong + on_weights * weights).ravel(),
            wrong.sum(0) + on_bias * bias,
            [(wrong * known).sum() + on_power * (power - POWER)],
        ]
        return -(weight * targets * np.log(guess + TINY)).sum() + held / 2, np.concatenate(gradient)

    start = np.append(np.zeros(n_weights + n_aspects), POWER)
    with threadpool_limits(1):  # many small products: threads would only wait for each other
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    weights, bias, power = split(found)
    return Correction(Linear(weights, bias), power)


def stack(segments: Features, origin: np.ndarray | None) -> list[np.ndarray]:
    """Return the blocks of features; the encoder's first, without what all segments share."""
    blocks = [segments.words.astype(np.float64), np.sqrt(segments.beta, dtype=np.float64)]
    if origin is None or segments.encoder is None:
        return blocks
    return [flat_states(segments.encoder.astype(np.float64), origin), *blocks]


def flat_states(states: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the encoder's mean states (N×2×De) as N×2·De, without what all segments share (`origin`, 2×De).

    Both layers have the same length, before and after.
    """
    parts = unit(unit(states) - origin) / len(origin) ** 0.5
    return np.asarray(parts.reshape(len(states), origin.size))


def logs(probabilities: np.ndarray) -> np.ndarray:
    """Return logarithms of probabilities that are at least LEAST."""
    return np.asarray(np.log(np.maximum(probabilities, LEAST)))


def with_topics(
    answer: np.ndarray, beta: np.ndarray, topics_say: np.ndarray, power: float | np.ndarray
) -> np.ndarray:
    """Return an answer (N×A) times what the segments' topics say (β, N×K, and K×A), to a power."""
    return normalise(answer * np.maximum(beta @ topics_say, TINY) ** power)
