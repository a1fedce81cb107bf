"""Every equation of the paper as a slow loop over plain Python numbers, equal to the fast code."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from aspectra.config import TeacherConfig
from aspectra.corpus import Ragged
from aspectra.loop import warmup_rate
from aspectra.teacher.losses import contrastive, penalty
from aspectra.teacher.model import Encoding, Teacher
from aspectra.topicmap.gamma import aspect_probabilities, entropy, margin
from aspectra.topics import coherence, top_words

V, D, K = 11, 6, 4
SEGMENTS = [[1, 2, 3], [4], [5, 6, 7, 8, 9], [10, 1], [2, 2, 0]]


def make_teacher(**settings: Any) -> Teacher:
    torch.manual_seed(1)
    return Teacher(torch.randn(V, D), torch.randn(K, D), TeacherConfig(**settings))


def encode(teacher: Teacher) -> Encoding:
    longest = max(map(len, SEGMENTS))
    ids = torch.tensor([segment + [0] * (longest - len(segment)) for segment in SEGMENTS])
    mask = torch.tensor([[1.0] * len(segment) + [0.0] * (longest - len(segment)) for segment in SEGMENTS])
    with torch.no_grad():
        return teacher(ids, mask)


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: list[float], b: list[float]) -> float:
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def softmax(scores: list[float]) -> list[float]:
    return [math.exp(score) / sum(math.exp(other) for other in scores) for score in scores]


def literal_attention(teacher: Teacher, segment: list[int], kind: str, smoothness: float) -> list[float]:
    """q = mean E_t; u_t = λ tanh(qᵀ(W E_t + b)); α = softmax(u)."""
    words = [teacher.vectors[word].tolist() for word in segment]
    if kind == "mean":
        return [1 / len(words)] * len(words)
    query = [sum(column) / len(words) for column in zip(*words, strict=True)]
    weight, bias = teacher.align.weight.tolist(), teacher.align.bias.tolist()
    scores = [dot(query, [dot(row, word) + b for row, b in zip(weight, bias, strict=True)]) for word in words]
    return softmax([smoothness * math.tanh(score) for score in scores] if kind == "smooth" else scores)


@pytest.mark.parametrize(
    ("kind", "smoothness"), [("smooth", 0.5), ("smooth", 2.0), ("regular", 0.5), ("mean", 0.5)]
)
def test_attention_and_the_segment_by_its_words(kind: str, smoothness: float) -> None:
    teacher = make_teacher(attention=kind, smoothness=smoothness)
    encoding = encode(teacher)
    for row, segment in enumerate(SEGMENTS):
        alpha = literal_attention(teacher, segment, kind, smoothness)
        assert encoding.attention[row, : len(segment)].tolist() == pytest.approx(alpha, abs=1e-6)
        by_words = [
            sum(a * teacher.vectors[word, d].item() for a, word in zip(alpha, segment, strict=True))
            for d in range(D)
        ]
        assert encoding.words[row].tolist() == pytest.approx(by_words, abs=1e-6)


def test_beta_and_the_segment_by_its_topics() -> None:
    """β = softmax(V s_E + c); s_A = Σ β_k A_k."""
    teacher = make_teacher()
    encoding = encode(teacher)
    weight, bias, topics = (
        teacher.classify.weight.tolist(),
        teacher.classify.bias.tolist(),
        teacher.topics.tolist(),
    )
    for row in range(len(SEGMENTS)):
        beta = softmax([dot(weight[k], encoding.words[row].tolist()) + bias[k] for k in range(K)])
        assert encoding.beta[row].tolist() == pytest.approx(beta, abs=1e-6)
        by_topics = [sum(beta[k] * topics[k][d] for k in range(K)) for d in range(D)]
        assert encoding.topics[row].tolist() == pytest.approx(by_topics, abs=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 0.2])
def test_contrastive_loss_without_the_positive_in_the_denominator(temperature: float) -> None:
    """l_i = −log( exp(cos(s_E_i, s_A_i)/μ) / Σ_{j≠i} exp(cos(s_E_j, s_A_i)/μ) )."""
    encoding = encode(make_teacher())
    words, topics = encoding.words.tolist(), encoding.topics.tolist()
    losses = []
    for i in range(len(words)):
        positive = math.exp(cosine(words[i], topics[i]) / temperature)
        others = sum(math.exp(cosine(words[j], topics[i]) / temperature) for j in range(len(words)) if j != i)
        losses.append(-math.log(positive / others))
    assert contrastive(encoding.words, encoding.topics, temperature).item() == pytest.approx(
        sum(losses) / len(losses), abs=1e-5
    )


def test_penalty_on_topics_that_are_alike() -> None:
    """Ω = ‖ÂÂᵀ − I‖ (Frobenius) with the rows of A normalised."""
    topics = make_teacher().topics.tolist()
    squares = [(cosine(topics[i], topics[j]) - (i == j)) ** 2 for i in range(K) for j in range(K)]
    assert penalty(torch.tensor(topics)).item() == pytest.approx(math.sqrt(sum(squares)), abs=1e-5)


@pytest.mark.parametrize("step", [1, 10, 1999, 2000, 2001, 100_000])
def test_learning_rate(step: int) -> None:
    expected = 2 / math.sqrt(100_000) * min(1 / math.sqrt(step), step / (2000 * math.sqrt(2000)))
    assert warmup_rate(step, factor=2, warmup=2000) == pytest.approx(expected)


def test_keywords_are_the_words_with_the_largest_inner_products() -> None:
    teacher = make_teacher()
    topics, vectors = teacher.topics.detach().numpy(), teacher.vectors.numpy()
    order, weights = top_words(topics, vectors, n=3)
    for k in range(K):
        products = [dot(topics[k].tolist(), vectors[word].tolist()) for word in range(V)]
        expected = sorted(range(V), key=lambda word, products=products: -products[word])[:3]
        assert order[k].tolist() == expected
        assert weights[k].tolist() == pytest.approx([products[word] for word in expected], abs=1e-5)


def test_coherence_is_the_mean_npmi_of_keyword_pairs() -> None:
    """NPMI(a, b) = log( p(a,b) / (p(a) p(b)) ) / −log p(a,b), −1 if a and b never meet."""
    random = np.random.default_rng(0)
    segments = [random.integers(0, 6, size=4).tolist() for _ in range(30)] + [[6], [7]]
    keywords = [[0, 1, 2], [3, 4, 6]]
    found = coherence(
        np.array(keywords), Ragged.of(np.concatenate(segments), np.array(list(map(len, segments)))), n_words=8
    )

    def share(*words: int) -> float:
        return sum(all(word in segment for word in words) for segment in segments) / len(segments)

    def npmi(a: int, b: int) -> float:
        return math.log(share(a, b) / (share(a) * share(b))) / -math.log(share(a, b)) if share(a, b) else -1.0

    for topic, value in zip(keywords, found, strict=True):
        pairs = [npmi(a, b) for place, a in enumerate(topic) for b in topic[place + 1 :]]
        assert value == pytest.approx(sum(pairs) / len(pairs))


def test_gamma_label_entropy_and_margin() -> None:
    """γ_a = Σ β_k over the topics mapped to a, normalised; label = argmax γ; H = −Σ γ log γ."""
    beta = np.random.default_rng(0).dirichlet(np.ones(5), size=8)
    aspect_of = [0, 1, None, 1, 2]
    matrix = np.array([[aspect == a for a in range(3)] for aspect in aspect_of], dtype=float)
    gamma, unmapped = aspect_probabilities(beta, matrix)
    for row in range(len(beta)):
        sums = [sum(beta[row, k] for k in range(5) if aspect_of[k] == a) for a in range(3)]
        expected = [value / sum(sums) for value in sums]
        assert gamma[row].tolist() == pytest.approx(expected)
        assert unmapped[row] == pytest.approx(beta[row, 2])
        assert entropy(gamma)[row] == pytest.approx(-sum(g * math.log(g) for g in expected))
        assert margin(gamma)[row] == pytest.approx(sorted(expected)[-1] - sorted(expected)[-2])
