"""From the teacher's answers, and a person's, to a student."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch
from conftest import student_config
from torch import nn

from aspectra import rundir
from aspectra.config import GENERAL, StudentConfig
from aspectra.detector import AspectDetector
from aspectra.encoder.features import Features
from aspectra.errors import ConfigError, InputError, MapError, RunError
from aspectra.evaluate import Gold
from aspectra.labelling.blend import blend
from aspectra.labelling.labeller import StudentLabeller, load_labeller
from aspectra.sample import Sample
from aspectra.student.adapt import Answers, adapt, clearly_best, fit
from aspectra.student.card import Card
from aspectra.student.choose import FILTERS, best_moves, choose_filter
from aspectra.student.distill import bucketed, distill
from aspectra.student.lesson import Lesson
from aspectra.student.losses import falling
from aspectra.student.model import Head, Student
from aspectra.student.select import balanced, passes

ASPECTS = ("Image", "Sound", GENERAL)
GAMMA = np.array([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]])


STATES = Features(np.arange(14, dtype=np.float16).reshape(7, 2), np.array([0, 2, 3, 6, 7]))


def literal_attention(head: Head, hidden: torch.Tensor) -> torch.Tensor:
    query = hidden.mean(0)
    scores = [
        head.smoothness * torch.tanh(query @ (head.align.weight @ piece + head.align.bias))
        for piece in hidden
    ]
    return torch.softmax(torch.stack(scores), 0)


def test_attention_is_the_paper_s_equation_and_ignores_padding() -> None:
    head = Head(8, 3)
    torch.manual_seed(0)
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    hidden, mask = torch.randn(2, 5, 8), torch.tensor([[1.0] * 5, [1.0] * 3 + [0.0] * 2])
    answer = head(hidden, mask)
    assert torch.allclose(answer.attention[1, :3], literal_attention(head, hidden[1, :3]), atol=1e-5)
    assert torch.allclose(answer.attention.sum(1), torch.ones(2))
    assert torch.allclose(head(hidden[1:, :3], mask[1:, :3]).logits, answer.logits[1:], atol=1e-5)


def test_general_must_be_more_certain_than_other_aspects() -> None:
    relative = StudentConfig(general_entropy=0.4, aspect_entropy=1.0).thresholds(3)
    assert passes(GAMMA, ASPECTS, relative).tolist() == [True, True, True, False]
    assert passes(GAMMA, ASPECTS, StudentConfig(entropy_unit="nats").thresholds(3)).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert passes(GAMMA, ASPECTS, StudentConfig().thresholds(3)).all()


def test_the_sample_is_balanced_and_others_fill_what_a_rare_aspect_lacks() -> None:
    answers = np.repeat([0, 1, 2], [5, 500, 500])
    drawn = balanced(answers, np.arange(len(answers)), 105, seed=1)
    assert np.bincount(answers[drawn]).tolist() == [5, 50, 50]
    assert len(set(drawn.tolist())) == 105
    np.testing.assert_array_equal(drawn, balanced(answers, np.arange(len(answers)), 105, seed=1))


def test_targets_go_from_gamma_to_the_answer_alone() -> None:
    lesson = Lesson(list("abcd"), GAMMA, STATES)
    np.testing.assert_allclose(lesson.targets(1), GAMMA, atol=1e-6)
    np.testing.assert_allclose(lesson.targets(2)[1], np.array([16, 9, 9]) / 34, atol=1e-6)
    np.testing.assert_allclose(lesson.targets(1000), np.eye(3)[[0, 0, 2, 2]], atol=1e-6)


def test_a_filtered_lesson_keeps_texts_gamma_and_states_together() -> None:
    kept = Lesson(list("abcd"), GAMMA, STATES).passing(
        ASPECTS, StudentConfig(general_entropy=0.4, aspect_entropy=0.6)
    )
    assert (kept.texts, kept.counts()) == (["a", "c"], [1, 0, 1])
    np.testing.assert_array_equal(kept.gamma, GAMMA[[0, 2]])
    np.testing.assert_array_equal(kept.features.hidden[:, 0], [0, 2, 6, 8, 10])


@pytest.mark.parametrize(("right_size", "wanted"), [(100, (0.4, 0.6)), (200, (1.0, 1.0))])
def test_dev_chooses_the_filter_that_is_clearly_better(
    monkeypatch: pytest.MonkeyPatch, right_size: int, wanted: tuple
) -> None:
    monkeypatch.setattr("aspectra.student.choose.FILTERS", ((1.0, 1.0), (0.4, 0.6), (0.4, 0.1)))
    gamma = np.tile(GAMMA, (50, 1))
    lesson = Lesson(["x"] * 200, gamma, Features(np.zeros((200, 2), np.float16), np.arange(201)))
    dev = Answers(("x",) * 200, np.eye(3, dtype=bool)[gamma.argmax(1)], gamma)
    card = Card(ASPECTS, StudentConfig(entropy_unit="nats"), 0.0, "", "", "", {})

    def learn(part: Lesson, card: Card, progress: object) -> SimpleNamespace:
        right = len(part.texts) == right_size
        return SimpleNamespace(card=card, probabilities=lambda texts: dev.gold if right else ~dev.gold)

    chosen = choose_filter(lesson, card, dev, learn, lambda done: None).card.config  # type: ignore[arg-type]
    assert (chosen.general_entropy, chosen.aspect_entropy, chosen.entropy_unit) == (*wanted, "share")


def test_a_student_may_be_chosen_on_dev(
    student_run: Path, encoder_folder: Path, gold: Gold, tmp_path: Path
) -> None:
    some = [place for place, names in enumerate(gold.aspects) if names <= {"Taste", "Noise", GENERAL}]
    dev = Gold(tuple(gold.texts[i] for i in some), tuple(gold.aspects[i] for i in some))
    stages: dict[str, float] = {}
    student = distill(
        AspectDetector.load(student_run),
        student_config(encoder_folder),
        tmp_path,
        None,
        dev,
        stages.__setitem__,
    )
    assert stages == {"features": 1.0, "filter": 1.0}
    assert (student.card.config.general_entropy, student.card.config.aspect_entropy) in FILTERS
    assert sum(student.card.learnt.values()) <= 400
    plain = distill(AspectDetector.load(student_run), student.card.config, tmp_path)
    moved = student.head.classify.bias - plain.head.classify.bias
    np.testing.assert_allclose(moved.detach(), list(student.card.leaning.values()), atol=1e-3)
    assert tuple(student.card.leaning) == student.card.aspects


def test_logits_lean_to_an_aspect_that_is_answered_too_seldom() -> None:
    gold = np.eye(3, dtype=bool)[np.repeat([0, 1, 2], [60, 30, 10])]
    right = np.where(gold, 5.0, 0.0)
    np.testing.assert_array_equal(best_moves(right, gold, True), [0, 0, 0])
    np.testing.assert_array_equal(best_moves(right - [0, 5.5, 0], gold, True), [0, 1, 0])
    np.testing.assert_array_equal(best_moves(right - [0, 0, 6.5], gold, False), [0, 0, 2])
    shy = np.where(gold, [5.0, 4.9, 5.0], 0.0) - [0, 4.95, 0]
    assert best_moves(shy[:91], gold[:91], False)[1] == 1  # one step is enough, the second costs


def test_bucketing_loses_no_row() -> None:
    lengths = np.random.default_rng(0).integers(1, 40, 100)
    batches = [np.arange(start, min(start + 16, 100)) for start in range(0, 100, 16)]
    assert sorted(np.concatenate(list(bucketed(batches, lengths))).tolist()) == list(range(100))


def test_the_rate_rises_and_falls_to_almost_nothing() -> None:
    rates = [falling(1.0, 100)(step) for step in range(1, 101)]
    assert max(rates) == rates[4] == 1
    assert rates == sorted(rates[:5]) + sorted(rates[5:], reverse=True)
    assert rates[-1] < 0.02


def test_the_student_learns_what_its_teacher_says(
    student_run: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    detector = AspectDetector.load(student_run)
    student = distill(detector, student_config(encoder_folder, epochs=30, learning_rate=0.03), tmp_path)
    texts = detector.corpus_.segments["text"][:1000]
    taught = detector.predict_proba(texts).argmax(1)
    agree = student.probabilities(texts.to_list()).argmax(1) == taught
    assert agree.mean() > np.bincount(taught).max() / len(taught) + 0.05  # no constant answer agrees so often
    assert min(student.card.learnt.values()) > 30


def test_the_same_seed_gives_the_same_student(student_run: Path, encoder_folder: Path) -> None:
    detector = AspectDetector.load(student_run)
    again = distill(detector, student_config(encoder_folder), student_run / rundir.STUDENT)
    for name, tensor in Student.from_pretrained(student_run / rundir.STUDENT).head.state_dict().items():
        assert torch.equal(tensor, again.head.state_dict()[name])


def test_finetuning_moves_the_encoder_and_is_saved_whole(
    student_run: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    detector = AspectDetector.load(student_run)
    student = distill(
        detector, student_config(encoder_folder, finetune=True, finetune_epochs=1, n_segments=100), tmp_path
    )
    student.save_pretrained(tmp_path, detector.topic_map_)
    loaded = Student.from_pretrained(tmp_path)
    assert student.card.encoder != Student.from_pretrained(student_run / rundir.STUDENT).card.encoder
    np.testing.assert_allclose(
        loaded.probabilities(["Loud pump."]), student.probabilities(["Loud pump."]), atol=1e-6
    )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit classifiers to labels in fewer steps."""
    monkeypatch.setattr("aspectra.student.adapt.STEPS", 40)
    monkeypatch.setattr("aspectra.student.adapt.RATE", 0.1)


@pytest.mark.usefixtures("quick")
def test_labels_are_never_worse_than_the_better_of_the_two_alone() -> None:
    random = np.random.default_rng(0)
    gold = np.eye(3, dtype=bool)[random.integers(0, 3, 150)]
    pooled = (gold @ random.normal(size=(3, 8)) + random.normal(size=(150, 8))).astype(np.float32)
    wrong = nn.Linear(8, 3)
    card = Card(ASPECTS, StudentConfig(), 0.5, "", "", "", {})
    flat = np.full((150, 3), 1 / 3, dtype=np.float32)
    texts = ("",) * 150
    helped = adapt(wrong, pooled, Answers(texts, gold, flat), card)
    told = adapt(wrong, pooled, Answers(texts, gold, gold.astype(np.float32)), card)
    assert helped.facts["choice"] == "labels"
    assert helped.facts["estimate"]["f1_micro"] > 0.6
    assert (told.facts["teacher_weight"], told.facts["estimate"]["f1_micro"]) == (0.5, 1.0)


@pytest.mark.usefixtures("quick")
def test_the_more_labels_the_further_the_classifier_moves_from_the_distilled_one() -> None:
    random = np.random.default_rng(0)
    gold = np.eye(3, dtype=bool)[random.integers(0, 3, 600)]
    pooled = (gold @ random.normal(size=(3, 8)) + random.normal(size=(600, 8))).astype(np.float32)
    start = nn.Linear(8, 3)
    moved = [
        (fit(start, pooled[:n], gold[:n], "both").weight - start.weight).norm().item() for n in (30, 100, 600)
    ]
    assert moved == sorted(moved)
    assert torch.equal(fit(start, pooled, gold, "teacher").weight, start.weight)


def test_another_way_is_taken_only_where_it_is_clearly_better() -> None:
    assert clearly_best([0.80, 0.81, 0.70], 100) == 0
    assert clearly_best([0.80, 0.81, 0.70], 10_000) == 1


@pytest.mark.usefixtures("quick")
def test_a_student_learns_from_a_person_too(student_run: Path, encoder_folder: Path, gold: Gold) -> None:
    some = [place for place, names in enumerate(gold.aspects) if names <= {"Taste", "Noise", GENERAL}]
    labels = Gold(tuple(gold.texts[i] for i in some), tuple(gold.aspects[i] for i in some))
    student = distill(
        AspectDetector.load(student_run), student_config(encoder_folder), student_run / rundir.STUDENT, labels
    )
    assert student.card.n_labels == len(some)
    assert set(student.card.estimate) == {"f1_micro", "f1_macro", "f1_weighted"}
    assert "Cross-validated on them: f1_micro" in student.card.labels_text()


def test_where_the_teacher_knows_no_word_the_student_answers_alone() -> None:
    labels = pl.DataFrame({"aspect": ["b"] * 2, "known_words": [3, 0], "p_a": [0.0, 0.0], "p_b": [1.0, 1.0]})
    both = blend(labels, np.array([[0.8, 0.2], [0.8, 0.2]]), ("a", "b"), 0.5)
    assert both["aspect"].to_list() == ["b", "a"]
    assert both["p_a"].to_list() == pytest.approx([0.4, 0.8])
    assert blend(labels, np.array([[0.8, 0.2], [0.8, 0.2]]), ("a", "b"), 0.5, ("b",))[
        "probability"
    ].to_list() == [1, 1]


def test_labels_of_the_student_have_the_columns_of_the_teacher_s(student_run: Path) -> None:
    both, teacher = load_labeller(student_run), load_labeller(student_run, "teacher")
    texts = ["The pump is loud. Great taste!", None, ""]
    frame = both.label(texts)
    assert isinstance(both, StudentLabeller)
    assert frame.schema == teacher.label(texts).schema
    assert frame.select(pl.sum_horizontal(r"^p_.*$")).to_series().to_list() == pytest.approx([1] * len(frame))


def test_the_model_card_tells_aspects_map_and_limits(student_run: Path) -> None:
    text = (student_run / rundir.STUDENT / "README.md").read_text()
    for part in (
        "# Aspect student",
        "| Taste |",
        "## Limits",
        "unmapped",
        "| n_segments | 400 |",
        "No labelled segments",
    ):
        assert part in text


def test_a_changed_map_is_not_answered_by_the_old_student(student_run: Path) -> None:
    detector = AspectDetector.load(student_run)
    student = Student.from_pretrained(student_run / rundir.STUDENT)
    detector.topic_map_ = detector.topic_map_.with_choice(0, "Noise", "Ada")
    with pytest.raises(RunError, match=r"topic map has changed since the student was made. Distil again"):
        StudentLabeller(detector, student)


def test_a_failed_distillation_leaves_the_old_student(
    student_run: Path, encoder_folder: Path, snapshot
) -> None:
    before = snapshot(student_run / rundir.STUDENT)
    with pytest.raises(InputError, match=r"Fewer than 10 segments are left .* Raise --aspect-entropy"):
        distill(
            AspectDetector.load(student_run),
            student_config(encoder_folder, aspect_entropy=0.0),
            student_run / rundir.STUDENT,
        )
    assert snapshot(student_run / rundir.STUDENT) == before


def test_what_cannot_be_distilled_is_told(student_run: Path, encoder_folder: Path) -> None:
    detector = AspectDetector.load(student_run, with_map=False)
    with pytest.raises(MapError, match="No topic map yet"):
        distill(detector, student_config(encoder_folder), student_run / rundir.STUDENT)
    with pytest.raises(MapError, match="single aspect Taste: there is nothing to tell apart"):
        distill(
            detector.map_topics({"Taste": [0]}), student_config(encoder_folder), student_run / rundir.STUDENT
        )


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        (rundir.HEAD, lambda path: path.write_bytes(b"x"), "is missing or damaged. Distil again"),
        (rundir.CONFIG, lambda path: path.write_text('{"format": 9}'), "has format 9, this version reads 1"),
        (rundir.CONFIG, lambda path: path.unlink(), "No student in .* Make it first: aspectra distill"),
    ],
)
def test_a_damaged_student_is_refused(
    student_run: Path, tmp_path: Path, name: str, spoil, message: str
) -> None:
    import shutil

    shutil.copytree(student_run / rundir.STUDENT, tmp_path / "s")
    spoil(tmp_path / "s" / name)
    with pytest.raises(RunError, match=message):
        Student.from_pretrained(tmp_path / "s")


def test_an_encoder_with_other_weights_is_refused(student_run: Path, sample: Sample, tmp_path: Path) -> None:
    student = Student.from_pretrained(student_run / rundir.STUDENT)
    student.card = dataclasses.replace(student.card, encoder="other")
    student.save_pretrained(tmp_path, AspectDetector.load(student_run).topic_map_)
    with pytest.raises(RunError, match="has other weights than the student was made with"):
        Student.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"teacher_weight": 1.5}, "teacher_weight must be from 0 to 1, got 1.5"),
        ({"attention": "hard"}, "attention must be one of smooth, regular, mean, got 'hard'"),
        ({"epochs": "two"}, "epochs must be a whole number, got 'two'"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        StudentConfig(**settings)
    with pytest.raises(ConfigError, match="Unknown settings"):
        StudentConfig.from_dict({"nonsense": 1})
