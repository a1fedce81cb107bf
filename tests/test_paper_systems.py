"""The systems of the paper: central equations as slow literal loops, and all on a planted corpus."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from conftest import SMALL
from scipy.sparse import csr_matrix

from aspectra.bench.protocol import System, Task
from aspectra.bench.runner import examine
from aspectra.bench.sets import SAMPLE, SETS
from aspectra.bench.systems import PAPER, PEERS, SYSTEMS, choose_systems
from aspectra.bench.systems.abae import map_each_topic
from aspectra.bench.systems.autoencoder import hinge
from aspectra.bench.systems.cat import Cat, attended, frequent_nouns, rbf_weights
from aspectra.bench.systems.corex import likelier_without
from aspectra.bench.systems.gibbs import learn_topics, sample
from aspectra.bench.systems.mate import Mate, other_domains
from aspectra.bench.systems.peers import need
from aspectra.bench.systems.seeds import seed_ids, seed_vectors
from aspectra.bench.systems.sememes import AeCsa, read_sememes, with_sememes
from aspectra.bench.systems.serbm import Machine, sigmoid, word_priors
from aspectra.bench.systems.setfit import one_pass
from aspectra.bench.systems.teacher_student import SeedTeacher
from aspectra.corpus import Ragged
from aspectra.detector import AspectDetector
from aspectra.errors import InputError, NotInstalledError

STEPS = {"steps": 150}
QUICK: dict[str, dict[str, object]] = {
    "abae": STEPS,
    "abae-k": STEPS,
    "abae+hrsmap": {**STEPS, "n_topics": 8},
    "ae-csa": STEPS,
    "abae-init": STEPS,
    "mate": STEPS,
    "mate-mt": {
        "steps": 60,
        "domains": lambda task: [pl.Series(["The loud pump of this car is cheap plastic."] * 9)],
    },
    "serbm": {"most": 1000, "steps": 300},
    "ts-stu-w2v": {"most": 1000, "rounds": 1},
    "loclda": {"most": 1000, "sweeps": 20},
    "w2vlda": {"most": 1000, "sweeps": 20},
}
"""What makes each quick enough for a test."""
RANDOM = "ts-stu-minilm"
"""It reads with an encoder, whose weights are random here: it need only answer."""
ELSEWHERE = ("sscl", "sscls-paper")
"""They are tested beside aspectra's own teacher and student."""
WORDNET = {
    "index.noun": "pump n 2 1 @ 2 1 00000100 00000300\nmachine n 1 1 @ 1 1 00000200\n",
    "data.noun": "  1 The licence comes first.\n"
    "00000100 06 n 02 pump 0 Grinder 0 001 @ 00000200 n 0000 | moves water\n"
    "00000200 06 n 01 machine 0 000 | works\n"
    "00000300 06 n 01 pumping 0 000 | an act\n",
    "index.adj": "loud a 1 0 1 1 00000100\n",
    "data.adj": "00000100 00 a 02 loud(p) 0 noisy 0 000 | with much sound\n",
    "index.verb": "",
    "data.verb": "",
}
"""A dictionary of three words in WordNet's format."""


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wordnet")
    for name, text in WORDNET.items():
        (folder / name).write_text(text)
    return folder


@dataclass(frozen=True)
class FittedTask(Task):
    """A task whose fit is there already."""

    detector: AspectDetector = field(default_factory=AspectDetector)

    @property
    def shared_fit(self) -> AspectDetector:  # type: ignore[override]
        self.costs.stages = {"prepare": 1.0, "vectors": 2.0}
        return self.detector


@pytest.fixture(scope="module")
def task(sample_files: Path, run: Path, tmp_path_factory: pytest.TempPathFactory) -> Task:
    detector, bench = AspectDetector.load(run, with_map=False), replace(SETS[SAMPLE], settings=SMALL)
    return FittedTask(bench, sample_files, tmp_path_factory.mktemp("bench"), 0, detector=detector)


def quick(name: str, encoder: Path, wordnet: Path) -> System:
    """Return a system as `--systems` finds it, with settings for a test."""
    settings = dict(QUICK.get(name, {}))
    if name == RANDOM:
        settings = {"features": str(encoder), "most": 300, "rounds": 1}
    if name == "ae-csa":
        settings["wordnet"] = wordnet
    return replace(SYSTEMS[name], **settings)  # type: ignore[type-var]


@pytest.mark.parametrize("name", [one.name for one in PAPER if one.name not in ELSEWHERE])
def test_every_system_of_the_paper_finds_planted_aspects(
    name: str, task: Task, encoder_folder: Path, wordnet: Path
) -> None:
    found = examine(quick(name, encoder_folder, wordnet), task)
    if name != RANDOM:
        assert found["test"]["f1_macro"] > found["test"]["majority_f1_macro"]
    assert found["cost"]["fit_seconds"] >= 0
    assert found["cost"]["shared_seconds"] == 3


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


def test_units_of_the_boltzmann_machine_follow_its_energy() -> None:
    """Compare with p(h | v) ∝ exp(−E(v, h)), summed over all 2³ states of the units."""
    random = np.random.default_rng(0)
    machine = Machine(random.normal(size=(3, 4)), random.normal(size=3), random.normal(size=4))
    counts = np.array([[2.0, 0, 1, 0]])
    weight = {}
    for units in product((0, 1), repeat=3):
        h = np.array(units)
        energy = -h @ machine.weights @ counts[0] - machine.words @ counts[0] - 3 * machine.units @ h
        weight[units] = np.exp(-energy)
    wanted = [
        sum(value for units, value in weight.items() if units[j]) / sum(weight.values()) for j in range(3)
    ]
    np.testing.assert_allclose(sigmoid(machine.inputs(counts))[0], wanted)


def test_seed_words_and_valences_are_the_priors_of_the_boltzmann_machine(task: Task) -> None:
    priors, index = word_priors(task), task.words.vocabulary.index
    named = [aspect for aspect in task.aspects if aspect != "General"]
    assert priors[:-2, index["loud"]].tolist() == [*(float(one == "Noise") for one in named), 0]
    praise, complaint = priors[-2:, index["love"]]
    assert praise > 0.5 > complaint


def test_senses_are_weighed_by_their_likeness_with_the_context() -> None:
    random = np.random.default_rng(0)
    words, senses = random.normal(size=(1, 2, 3)), random.normal(size=(1, 2, 2, 3))
    senses[0, 1, 1] = 0  # the second word has one sense
    context = words[0].mean(0)
    wanted = []
    for word, own in zip(words[0], senses[0], strict=True):
        powers = [np.exp(sense @ context) for sense in own if sense.any()]
        total = word + sum(power * sense for power, sense in zip(powers, own, strict=False)) / sum(powers)
        wanted.append(total / np.linalg.norm(total))
    found = with_sememes(torch.tensor(words), torch.tensor(senses), torch.ones(1, 2))
    np.testing.assert_allclose(found[0], wanted, atol=1e-6)


def test_sememes_are_the_words_of_a_sense_and_of_what_is_above_it(wordnet: Path) -> None:
    found = dict(read_sememes({"pump": 0, "loud": 1, "zzz": 2}, wordnet))
    assert found == {"pump": [["pump", "grinder", "machine"], ["pumping"]], "loud": [["loud", "noisy"]]}


def test_without_wordnet_the_row_says_where_to_get_it(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="apt-get install wordnet-base"):
        AeCsa(wordnet=tmp_path).fit(task)


def test_a_missing_package_is_a_row_with_its_reason() -> None:
    with pytest.raises(NotInstalledError, match=r"nowhere cannot be imported.*aspectra\[peers\]"):
        need("nowhere.module")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", [system.name for system in PEERS])
def test_systems_of_other_packages_find_planted_aspects(name: str, task: Task, encoder_folder: Path) -> None:
    packages = {"b": "bertopic", "c": "corextopic", "k": "turftopic", "s": "setfit"}
    pytest.importorskip(packages[name[0]])
    settings = {"b": {"most": 600}, "c": {"most": 1000}, "k": {"most": 600}, "s": {"steps": 20}}[name[0]]
    encoder = {} if name == "corex" else {"encoder": str(encoder_folder)}
    found = examine(replace(SYSTEMS[name], **settings, **encoder), task)  # type: ignore[type-var]
    assert np.isfinite(found["test"]["f1_macro"])


def test_a_topic_that_is_likelier_without_its_anchors_is_noticed() -> None:
    anchors = csr_matrix([[1, 0], [0, 1], [0, 0], [0, 0]])
    assert likelier_without(np.array([0.1, 0.0, 0.7, 0.8]), anchors)
    assert not likelier_without(np.array([0.9, 1.0, 0.7, 0.8]), anchors)
    assert not likelier_without(np.array([0.1, 0.0, 0.7, 0.8]), anchors * 0)


def test_all_means_every_system_and_nothing_means_our_own() -> None:
    assert [system.name for system in choose_systems("all")] == list(SYSTEMS)
    own = [system.name for system in choose_systems(None)]
    assert "teacher" in own
    assert "mate" not in own


def test_setfit_sees_every_pair_once() -> None:
    assert one_pass(np.array([0] * 10 + [1] * 10)) == 13  # 100 unlike pairs, as many like ones, 16 at a time
    assert one_pass(np.array([0] * 10)) == 6
    assert one_pass(np.array([0])) == 1
