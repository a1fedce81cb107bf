"""Learning aspects from their names: unlabelled segments and what is said of each aspect in, a classifier out. Pure numpy.

1. First opinion: cosines of a segment with each aspect's texts (encoder) and words (word vectors of the corpus), all on one scale;
   General: cosines with sentences that any review may contain, some of them about the product itself.
2. Topics denoise it: what the segments of a topic say together counts for each of them.
3. Two models learn from it, Gaussians with one shared covariance, hence linear: is it General, and if not, which aspect. Their answers
   times the first opinion are what they learn from next; the first opinion keeps them from drifting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

TEMPLATES = ("{}", "The {}.", "The {} is great.", "I don't like the {}.", "This is about {}.")
NEUTRAL = ("product", "thing", "place")
"""What these make of the templates is taken away from every name: it is what the templates say themselves."""
PRODUCT_TEMPLATES = (
    "I bought this {}.", "This {} is great.", "I love my {}.", "I have owned this {} for a year.", "This is the best {} ever.",
    "I would not buy this {} again.",
)  # fmt: skip
PRODUCTS = 3
"""So many words for the product itself join the sentences that any review may contain; five brought in parts of it."""
GENERAL_TEXTS = tuple(
    """I bought this for my husband.|Would recommend to anyone.|I have had it for two months now.|I ordered it last week.
This is my second one.|I gave it as a gift.|I love it.|It is great.|I am very happy with this purchase.|I read the reviews before buying.
I am not sure what else to say.|So far so good.|My old one was getting old.|We use it every day.|I was disappointed.|I hate it.
I would buy it again.|Do not buy this.|It was a birthday present for my son.|I did a lot of research.|You will not regret it.
After reading other reviews I decided to try it.|I have been looking for one for a long time.|I can't wait to use it.
What more can I say?|I will update this review later.|I have owned several of these.|This is exactly what I needed.
It is better than my previous one.|I wish I had known that before.|My friend has the same one.|Thank you very much.
We went there last weekend.|My wife and I were there for the first time.|We have been here many times.|I will be back.
I will never come back.|Five stars.|It does what it is supposed to do.|I don't know why.|Overall it is a good product.
That is all I have to say.|I use it at work and at home.|The first one I received, I sent back.|But that is just my opinion.""".replace(
        "\n", "|"
    ).split("|")
)
NEAREST = 3
"""A segment is as General as the mean of its so many most similar general texts."""
WORD_WEIGHT = 0.5
"""Weight of the word vectors' opinion beside the encoder's."""
GENERAL_SHARE = 0.6
"""In the first opinion, General is above every aspect for this share; 0.5 to 0.65 do as well. The models then find their own."""
SHARPNESS = 2.0
"""The first opinion is the softmax of so many standard deviations' worth of similarity."""
PRIOR_POWER = 0.5
"""A topic's opinion is divided by the shares of the aspects to this power, as the segment's own opinion contains them already."""
COMPONENTS = 200
"""Principal components that the models see; 128 to 300 do as well."""
BLOCKS = (1.0, 0.3, 0.15)
"""Scale of the encoder, the mean word vector and √β in the features."""
SHRINKAGE = 0.02
"""Share of the covariance that is a multiple of the identity."""
ROUNDS = 3
"""Without labels nothing gets better after so many, and General drifts after ten."""
GENERAL_ANCHOR = 2.0
"""Power of the first opinion in the answers that the model of General learns from: it is what would drift."""
LABEL_PRIOR = (0.3, 10.0, 10.0)
"""How strongly labels' corrections are held to zero: weights, biases, and the power of the answer without labels to POWER."""
POWER = 0.5
CHOSEN = 0.95
"""How far a topic that a person mapped speaks of that aspect."""
AFTER = re.compile(r"\b(?:this|these|my)\s+([a-z]{2,})")
NO_PRODUCT = frozenset(
    [
        "time",
        "item",
        "thing",
        "product",
        "review",
        "company",
        "way",
        "kind",
        "type",
        "two",
        "three",
        "new",
        "week",
        "year",
        "day",
        "morning",
        "month",
        "point",
        "price",
        "will",
        "would",
        "should",
        "can",
        "may",
        "does",
        "did",
        "one",
    ]
)
TINY = 1e-9


@dataclass(frozen=True)
class Features:
    """N segments: mean word vectors (N×D), topic probabilities (N×K) and, if there is one, the encoder's means (N×De)."""

    words: np.ndarray
    beta: np.ndarray
    encoder: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.beta)

    def select(self, rows: np.ndarray) -> Features:
        return Features(
            self.words[rows], self.beta[rows], None if self.encoder is None else self.encoder[rows]
        )


@dataclass(frozen=True)
class AspectEvidence:
    """What is said of one aspect: its texts as the encoder sees them (n×De), and its words' vectors (m×D); either may be empty."""

    name: str
    texts: np.ndarray | None = None
    words: np.ndarray | None = None


@dataclass(frozen=True)
class GeneralEvidence:
    """General texts for encoder and word vectors, and what the name templates say with neutral words (n×De)."""

    texts: np.ndarray | None
    words: np.ndarray
    neutral: np.ndarray | None


@dataclass(frozen=True)
class Space:
    """Where the models work: the features' blocks on common scales, in their principal components (F×C)."""

    origin: np.ndarray | None
    scales: np.ndarray
    middle: np.ndarray
    components: np.ndarray

    @classmethod
    def of(cls, segments: Features) -> Space:
        origin = None if segments.encoder is None else unit(segments.encoder).mean(0)
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
        return (np.hstack(stack(segments, self.origin)) * self.scales - self.middle) @ self.components


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


@dataclass(frozen=True)
class Learned:
    """Two models, whether General (among all A) and if not which aspect (among A − 1), and what is worth knowing of their making."""

    aspects: tuple[str, ...]  # General is the last
    space: Space
    general: Linear
    specific: Linear
    topic_map: np.ndarray  # K×A
    targets: np.ndarray  # N×A
    shares: dict[str, float]
    unchanged: tuple[float, ...]  # per round: share of answers as in the round before
    correction: Correction | None = None

    def probabilities(self, segments: Features) -> np.ndarray:
        """Return N×A in the order of `aspects`."""
        places = self.space(segments)
        answer = join(self.general(places)[:, -1], self.specific(places))
        return answer if self.correction is None else self.correction(answer, places)

    def with_labels(self, segments: Features, labels: np.ndarray) -> Learned:
        """Return what labels (N×A, rows that sum to one) make of it: corrections as large as their number warrants."""
        plain = replace(self, correction=None)
        return replace(
            plain, correction=learn_correction(plain.probabilities(segments), self.space(segments), labels)
        )


def learn_from_names(
    segments: Features,
    aspects: Sequence[AspectEvidence],
    general: GeneralEvidence,
    choices: Mapping[int, int | None] | None = None,
) -> Learned:
    """Learn from unlabelled segments; `choices` are a person's: topic → aspect (its number; General is the last), or None: left out."""
    opinion = first_opinion(segments, aspects, general)
    topic_map = map_topics(segments.beta, opinion, choices)
    start = denoise(segments.beta, opinion, topic_map)
    if choices:  # what a person said stays in force in every round
        opinion = start
    space = Space.of(segments)
    places = space(segments)
    is_general, _, changes = rounds(places, start, opinion**GENERAL_ANCHOR, ROUNDS)
    left = 1 - start[:, -1:]
    specific, _, more = rounds(places, normalise(start[:, :-1]) * left, normalise(opinion[:, :-1]), ROUNDS)
    answer = join(is_general(places)[:, -1], specific(places))
    names = (*(aspect.name for aspect in aspects), "General")
    shares = np.bincount(answer.argmax(1), minlength=len(names)) / len(answer)
    return Learned(
        names, space, is_general, specific, map_topics(segments.beta, answer, choices), answer,
        dict(zip(names, shares.tolist(), strict=True)), (*changes, *more),
    )  # fmt: skip


def first_opinion(
    segments: Features, aspects: Sequence[AspectEvidence], general: GeneralEvidence
) -> np.ndarray:
    """Return N×(A + 1): how much each segment sounds like each aspect, and like General (last)."""
    score = np.zeros((len(segments), len(aspects)))
    views = [(word_view(segments, aspects), WORD_WEIGHT)]
    if segments.encoder is not None and general.texts is not None:
        views.append((encoder_view(segments.encoder, aspects, general), 1.0))
        like_general = nearest(unit(segments.encoder), unit(general.texts))
    else:
        like_general = nearest(segments.words, general.words)
    for view, weight in views:
        score += weight * one_scale(view)
    score = one_scale(score)
    like_general = one_scale(like_general[:, None])[:, 0]
    level = np.quantile(score.max(1) - like_general, GENERAL_SHARE)
    return softmax(SHARPNESS * np.column_stack([score, like_general + level]))


def encoder_view(
    encoder: np.ndarray, aspects: Sequence[AspectEvidence], general: GeneralEvidence
) -> np.ndarray:
    """Return cosines N×A of segments and aspects, both without what all of their kind share."""
    vectors = unit(encoder)
    neutral = unit(general.neutral).mean(0)
    names = np.stack(
        [unit(one.texts).mean(0) - neutral if filled(one.texts) else 0 * neutral for one in aspects]
    )
    return unit(vectors - vectors.mean(0)) @ unit(names).T


def word_view(segments: Features, aspects: Sequence[AspectEvidence]) -> np.ndarray:
    """Return cosines N×A of mean word vectors and the aspects' words; 0 for an aspect without known words."""
    centre = segments.words.mean(0)
    names = np.stack(
        [unit(one.words - centre).mean(0) if filled(one.words) else 0 * centre for one in aspects]
    )
    return unit(segments.words - centre) @ unit(names).T


def nearest(vectors: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """Return the mean of each vector's largest cosines with the examples, N."""
    centre = vectors.mean(0)
    cosines = unit(vectors - centre) @ unit(examples - centre).T
    return np.sort(cosines, axis=1)[:, -NEAREST:].mean(1)


def one_scale(scores: np.ndarray) -> np.ndarray:
    """Centre each column; divide all by one number, so that an aspect that is spoken of much keeps its wider spread."""
    spread = scores.std(0)
    return (scores - scores.mean(0)) / max(spread[spread > 0].mean() if (spread > 0).any() else 1.0, TINY)


def map_topics(
    beta: np.ndarray, opinion: np.ndarray, choices: Mapping[int, int | None] | None = None
) -> np.ndarray:
    """Return K×A: what the segments of each topic say on average, and much more loudly what a person chose."""
    result = normalise(beta.T @ opinion)
    for topic, aspect in (choices or {}).items():
        said = opinion.mean(0) if aspect is None else np.eye(result.shape[1])[aspect]
        result[topic] = (1 - CHOSEN) * result[topic] + CHOSEN * said
    return result


def denoise(beta: np.ndarray, opinion: np.ndarray, topic_map: np.ndarray) -> np.ndarray:
    """Return the opinion times that of the segment's topics."""
    return normalise(opinion * (beta @ topic_map) / opinion.mean(0) ** PRIOR_POWER)


def rounds(
    places: np.ndarray, start: np.ndarray, anchor: np.ndarray, count: int
) -> tuple[Linear, np.ndarray, list[float]]:
    """Fit Gaussians to soft targets and answer, in turn; rows of `start` that sum to less than one count less."""
    weight = start.sum(1, keepdims=True)
    targets, changes, before = start, [], start.argmax(1)
    for _ in range(count):
        model = fit_gaussians(places, targets)
        targets = normalise(model(places) * anchor) * weight
        after = targets.argmax(1)
        changes.append(float((after == before).mean()))
        before = after
    return model, targets, changes


def fit_gaussians(places: np.ndarray, targets: np.ndarray) -> Linear:
    """Fit one Gaussian per column of the soft targets, all with the same covariance, and their shares: a linear model."""
    count = targets.sum(0) + TINY
    means = (targets.T @ places) / count[:, None]
    shares = count / count.sum()
    covariance = (places.T * targets.sum(1)) @ places / count.sum() - (means.T * shares) @ means
    size = len(covariance)
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.trace(covariance) / size * np.eye(size)
    weights = np.linalg.solve(covariance, means.T)
    return Linear(weights, np.log(shares) - 0.5 * (weights * means.T).sum(0))


def learn_correction(answer: np.ndarray, places: np.ndarray, labels: np.ndarray) -> Correction:
    """Fit a correction to labels by penalised maximum likelihood: with few labels it stays near none."""
    width, n_aspects = places.shape[1], labels.shape[1]
    known = logs(answer)
    on_weights, on_bias, on_power = LABEL_PRIOR

    def split(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        return (
            flat[: width * n_aspects].reshape(width, n_aspects),
            flat[width * n_aspects : -1],
            float(flat[-1]),
        )

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights, bias, power = split(flat)
        guess = softmax(power * known + places @ weights + bias)
        wrong = guess - labels
        penalty = (
            on_weights * (weights**2).sum() + on_bias * (bias**2).sum() + on_power * (power - POWER) ** 2
        )
        gradient = [
            (places.T @ wrong + on_weights * weights).ravel(),
            wrong.sum(0) + on_bias * bias,
            [(wrong * known).sum() + on_power * (power - POWER)],
        ]
        return -(labels * np.log(guess + TINY)).sum() + penalty / 2, np.concatenate(gradient)

    start = np.append(np.zeros((width + 1) * n_aspects), POWER)
    weights, bias, power = split(
        minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    )
    return Correction(Linear(weights, bias), power)


def join(general: np.ndarray, specific: np.ndarray) -> np.ndarray:
    """Return N×A from the probability of General (N) and those of the aspects if it is not General."""
    return np.column_stack([(1 - general)[:, None] * specific, general])


def stack(segments: Features, origin: np.ndarray | None) -> list[np.ndarray]:
    blocks = [segments.words, np.sqrt(segments.beta)]
    return (
        blocks
        if origin is None or segments.encoder is None
        else [unit(unit(segments.encoder) - origin), *blocks]
    )


def filled(array: np.ndarray | None) -> bool:
    return array is not None and len(array) > 0


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), TINY)


def logs(probabilities: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(probabilities, 1e-4))


def normalise(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(rows.sum(1, keepdims=True), 1e-30)


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def name_texts(name: str) -> list[str]:
    """Return sentences about an aspect from its name; "Size/Fit" is both."""
    return [template.format(part.strip().lower()) for part in name.split("/") for template in TEMPLATES]


def general_texts(products: Sequence[str]) -> list[str]:
    """Return sentences that any review may contain."""
    return [*GENERAL_TEXTS, *(template.format(word) for word in products for template in PRODUCT_TEMPLATES)]


def neutral_texts() -> list[str]:
    return [template.format(word) for word in NEUTRAL for template in TEMPLATES]


def find_products(
    texts: Iterable[str], names: Iterable[str], stop_words: Collection[str], count: int = PRODUCTS
) -> list[str]:
    """Return what the reviews call the product: the words that follow "this", "these" and "my" most often, names left out."""
    follow = Counter(word for text in texts for word in AFTER.findall(text.lower()))
    passed = {
        *stop_words,
        *NO_PRODUCT,
        *(word for name in names for word in re.findall(r"\w+", name.lower())),
    }
    return [word for word, _ in follow.most_common(200) if word not in passed][:count]
