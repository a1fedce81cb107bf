"""The systems of the paper: central equations as slow literal loops, and all on a planted corpus."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from conftest import SMALL

from aspectra.bench.protocol import System, Task
from aspectra.bench.runner import examine
from aspectra.bench.sets import SAMPLE, SETS
from aspectra.bench.systems import PAPER, PEERS, SYSTEMS, choose_systems
from aspectra.bench.systems.abae import map_each_topic
from aspectra.bench.systems.autoencoder import hinge
from aspectra.bench.systems.cat import Cat, attended, frequent_nouns, rbf_weights
from aspectra.bench.systems.gibbs import learn_topics, sample
from aspectra.bench.systems.mate import Mate, other_domains
from aspectra.bench.systems.ours import PAPER_TEACHER
from aspectra.bench.systems.peers import need
from aspectra.bench.systems.seeds import seed_ids, seed_vectors
from aspectra.bench.systems.teacher_student import SeedTeacher
from aspectra.corpus import Ragged
from aspectra.errors import InputError, NotInstalledError
from aspectra.sample import generate, write

QUICK: dict[str, dict[str, object]] = {
    "abae": {"steps": 200},
    "abae-k": {"steps": 200},
    "abae+hrsmap": {"steps": 200, "n_topics": 10},
    "sscl": {"settings": {**PAPER_TEACHER, "n_topics": 10}},
    "abae-init": {"steps": 200},
    "mate": {"steps": 200},
    "mate-mt": {
        "steps": 100,
        "domains": lambda task: [pl.Series(["The loud pump of this car is cheap plastic."] * 9)],
    },
    "ts-stu-w2v": {"most": 2000, "rounds": 2},
    "loclda": {"most": 1000, "sweeps": 20},
    "w2vlda": {"most": 1000, "sweeps": 20},
}
"""What makes each quick enough for a test."""
RANDOM = "ts-stu-minilm"
"""It reads with an encoder, whose weights are random here: it need only answer."""
ELSEWHERE = ("serbm", "ae-csa", "sscls-paper")
"""Two are not built; the third is tested beside aspectra's own student."""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    home = tmp_path_factory.mktemp("bench")
    write(home / SAMPLE, generate(500, n_gold=200))
    return Task(replace(SETS[SAMPLE], settings={**SMALL, "vector_epochs": 20}), home / SAMPLE, home, 0)


def quick(name: str, encoder: Path) -> System:
    """Return a system as `--systems` finds it, with settings for a test."""
    settings = dict(QUICK.get(name, {}))
    if name == RANDOM:
        settings = {"features": str(encoder), "most": 300, "rounds": 2}
    return replace(SYSTEMS[name], **settings)  # type: ignore[type-var]


@pytest.mark.parametrize("name", [one.name for one in PAPER if one.name not in ELSEWHERE])
def test_every_system_of_the_paper_finds_planted_aspects(name: str, task: Task, encoder_folder: Path) -> None:
    found = examine(quick(name, encoder_folder), task)
    if name != RANDOM:
        assert found["test"]["f1_macro"] > found["test"]["majority_f1_macro"]
    assert found["cost"]["fit_seconds"] >= 0
    assert found["cost"]["shared_seconds"] > 0


def test_the_hinge_loss_is_that_of_he_et_al() -> None:
    random = np.random.default_rng(0)
    z, r, negatives = random.normal(size=(3, 4)), random.normal(size=(3, 4)), random.normal(size=(3, 5, 4))
    negatives /= np.linalg.norm(negatives, axis=2, keepdims=True)
    total = 0.0
    for i in range(3):
        right = r[i] @ z[i] / np.linalg.norm(r[i]) / np.linalg.norm(z[i])
        for negative in negatives[i]:
            total += max(0.0, 1 - right + r[i] @ negative / np.linalg.norm(r[i])) / 3
    found = hinge(torch.tensor(z), torch.tensor(r), torch.tensor(negatives))
    assert float(found) == pytest.approx(total, abs=1e-6)


def test_each_topic_gets_the_aspect_of_most_of_its_dev_segments(task: Task) -> None:
    gold = [next(iter(sorted(aspects))) for aspects in task.dev.aspects]
    topic_of = {aspect: place for place, aspect in enumerate(task.aspects)}

    def topics(texts: object) -> np.ndarray:
        return np.eye(len(task.aspects))[[topic_of[aspect] for aspect in gold]]

    frozen = map_each_topic(topics, task)
    assert frozen.facts["aspect_of_topic"] == list(task.aspects)
    assert [task.aspects[place] for place in frozen.probabilities(task.dev.texts).argmax(1)] == gold


def test_an_aspect_of_mate_is_the_weighted_mean_of_its_seed_words(task: Task) -> None:
    vectors = np.random.default_rng(0).normal(size=(len(task.words.vocabulary), 3))
    noise = task.aspects.index("Noise")
    words = seed_ids(task)[noise]
    assert {task.words.vocabulary.words[word] for word in words} <= set(task.weighted_seeds["Noise"])
    wanted = sum(weight * vectors[word] for word, weight in words.items()) / sum(words.values())
    np.testing.assert_allclose(seed_vectors(task, vectors, weighted=True)[noise], wanted)


def test_mate_mt_says_that_it_needs_a_second_corpus(task: Task) -> None:
    with pytest.raises(InputError, match="needs the corpus of a second set"):
        Mate(domains=other_domains).fit(task)


def test_attention_of_cat_is_a_sum_of_kernels() -> None:
    random = np.random.default_rng(0)
    vectors, nouns, gamma = random.normal(size=(4, 3)), random.normal(size=(2, 3)), 0.3
    weight = [sum(np.exp(-gamma * ((word - noun) ** 2).sum()) for noun in nouns) for word in vectors]
    total = weight[0] + weight[3]
    wanted = (weight[0] * vectors[0] + weight[3] * vectors[3]) / total
    found = attended(
        Ragged.of(np.array([0, 3]), np.array([2, 0])), vectors, rbf_weights(vectors, nouns, gamma)
    )
    np.testing.assert_allclose(found, [wanted, np.zeros(3)])


def test_nouns_are_found_by_the_articles_before_them(task: Task) -> None:
    words = {task.words.vocabulary.words[word] for word in frequent_nouns(task)}
    assert {"pump", "machine"} & words
    assert not {"bitter", "loud", "expensive"} & words


def test_cat_ignores_part_of_speech_if_asked(task: Task) -> None:
    assert Cat(only_nouns=False).config(task) != Cat().config(task)


def test_the_seed_teacher_counts_words_and_calls_the_rest_general(task: Task) -> None:
    teacher, known = SeedTeacher.of(task), task.words.vocabulary.index
    texts = pl.Series(["loud noise and the price of the loud pump", "nothing of this is known"])
    answers = teacher.answer(teacher.counts(task.words.vocabulary.encode(texts)))
    scores = [
        sum(word in known and word in task.seed_words.get(aspect, ()) for word in texts[0].split())
        for aspect in task.aspects
    ]
    assert sorted(scores)[-2:] == [1, 4]
    np.testing.assert_allclose(answers[0], np.exp(scores) / np.exp(scores).sum())
    assert task.aspects[answers[1].argmax()] == "General"


def test_a_seed_word_votes_as_the_student_answers_where_it_occurs() -> None:
    teacher = SeedTeacher(np.array([0, 1]), np.eye(2), None, 2)
    counts = np.array([[1, 0], [2, 0], [0, 0], [1, 0]])
    student = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.6, 0.4]])
    teacher.learn_from(student, counts)
    np.testing.assert_allclose(teacher.votes, [[2 / 3, 1 / 3], [0, 1]])  # the second never occurs
    np.testing.assert_allclose(teacher.prior, [0.5, 0.5])


def test_gibbs_sampling_finds_planted_topics() -> None:
    random = np.random.default_rng(0)
    topics = random.integers(0, 2, 200)
    ids = np.concatenate([random.integers(0, 5, 6) + 5 * topic for topic in topics])
    tokens = Ragged.of(ids, np.full(200, 6))
    model = learn_topics(tokens, np.full(2, 0.1), np.full((2, 10), 0.1), sweeps=20, seed=0)
    found = model.read(tokens, np.full(2, 0.1)).argmax(1)
    assert (found == topics).mean() in (0.0, 1.0)  # numbered in either way
    np.testing.assert_allclose(model.words.sum(1), 1)


def test_gibbs_sampling_follows_the_posterior_of_lda() -> None:
    """Compare with all 2³ ways to give three words of two segments a topic, each weighed by Pólya's urns."""
    alpha, beta = np.array([[0.4, 0.6], [1.0, 0.5]]), np.array([[0.3, 0.2], [0.1, 0.5]])
    words, segments = (0, 1, 1), (0, 0, 1)
    total, first = 0.0, 0.0
    for topics in product(range(2), repeat=3):
        weight, in_topic, in_segment = 1.0, np.zeros((2, 2)), np.zeros((2, 2))
        for word, segment, topic in zip(words, segments, topics, strict=True):
            weight *= in_segment[segment, topic] + alpha[segment, topic]
            weight *= (in_topic[topic, word] + beta[topic, word]) / (in_topic[topic] + beta[topic]).sum()
            in_topic[topic, word] += 1
            in_segment[segment, topic] += 1
        total, first = total + weight, first + weight * (topics[0] == 0)
    ids, offsets = np.array(words, dtype=np.int32), np.array([0, 2, 3])
    counts = sample(ids, offsets, np.zeros(3, dtype=np.int64), alpha, beta, 100_000, 0)
    assert counts[0, 0] == pytest.approx(first / total, abs=0.01)


def test_a_missing_package_is_a_row_with_its_reason(task: Task) -> None:
    with pytest.raises(NotInstalledError, match=r"nowhere cannot be imported.*aspectra\[peers\]"):
        need("nowhere.module")
    for name in ("serbm", "ae-csa"):
        with pytest.raises(InputError, match="is not built"):
            SYSTEMS[name].fit(task)


@pytest.mark.parametrize("name", [system.name for system in PEERS])
def test_systems_of_other_packages_find_planted_aspects(name: str, task: Task, encoder_folder: Path) -> None:
    pytest.importorskip({"b": "bertopic", "c": "corextopic", "s": "setfit"}[name[0]])
    settings = {"b": {"most": 600}, "c": {"most": 1000}, "s": {"steps": 20}}[name[0]]
    encoder = {} if name == "corex" else {"encoder": str(encoder_folder)}
    found = examine(replace(SYSTEMS[name], **settings, **encoder), task)  # type: ignore[type-var]
    assert np.isfinite(found["test"]["f1_macro"])


def test_all_means_every_system_and_nothing_means_our_own() -> None:
    assert [system.name for system in choose_systems("all")] == list(SYSTEMS)
    own = [system.name for system in choose_systems(None)]
    assert "teacher" in own
    assert "mate" not in own
