"""From the teacher to a student."""

from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import student_config

from aspectra.config import GENERAL
from aspectra.errors import InputError, MapError
from aspectra.fitting import Fitted
from aspectra.labelling.labeller import TeacherLabeller
from aspectra.rundir import STUDENT
from aspectra.scores import Gold
from aspectra.student.paper.adapt import FILTERS
from aspectra.student.paper.from_teacher import bucketed, train_attention
from aspectra.student.paper.model import Student, falling
from aspectra.topicmap.topicmap import Choice, TopicMap, now


def test_a_student_may_be_chosen_on_dev(
    student_run: Path, encoder_folder: Path, gold: Gold, tmp_path: Path
) -> None:
    some = [place for place, names in enumerate(gold.aspects) if names <= {"Taste", "Noise", GENERAL}]
    dev = Gold(tuple(gold.texts[i] for i in some), tuple(gold.aspects[i] for i in some))
    stages: dict[str, float] = {}
    student = train_attention(
        Fitted.load(student_run),
        student_config(encoder_folder),
        tmp_path,
        None,
        dev,
        stages.__setitem__,
    )
    assert stages == {"features": 1.0, "filter": 1.0}
    assert (student.card.config.general_entropy, student.card.config.aspect_entropy) in FILTERS
    assert sum(student.card.learnt.values()) <= 400
    plain = train_attention(Fitted.load(student_run), student.card.config, tmp_path)
    moved = student.head.classify.bias - plain.head.classify.bias
    np.testing.assert_allclose(moved.detach(), list(student.card.logit_shift.values()), atol=1e-3)
    assert tuple(student.card.logit_shift) == student.card.aspects


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
    fitted = Fitted.load(student_run)
    student = train_attention(
        fitted, student_config(encoder_folder, n_segments=1000, epochs=30, learning_rate=0.03), tmp_path
    )
    texts = fitted.corpus.segments["text"][:1000]
    taught = TeacherLabeller(fitted).predict_proba(texts).argmax(1)
    agree = student.probabilities(texts.to_list()).argmax(1) == taught
    each = [agree[taught == aspect].mean() for aspect in np.unique(taught)]
    assert np.mean(each) > 1 / len(each) + 0.15  # any constant answer agrees on one aspect only
    assert min(student.card.learnt.values()) > 30


def test_the_same_seed_gives_the_same_student(student_run: Path, encoder_folder: Path) -> None:
    fitted = Fitted.load(student_run)
    again = train_attention(fitted, student_config(encoder_folder), student_run / STUDENT)
    for name, tensor in Student.from_pretrained(student_run / STUDENT).head.state_dict().items():
        assert torch.equal(tensor, again.head.state_dict()[name])


def test_finetuning_moves_the_encoder_and_is_saved_whole(
    student_run: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    fitted = Fitted.load(student_run)
    student = train_attention(
        fitted, student_config(encoder_folder, finetune=True, finetune_epochs=1, n_segments=100), tmp_path
    )
    student.save_pretrained(tmp_path, fitted.the_map())
    loaded = Student.from_pretrained(tmp_path)
    assert (
        student.card.encoder_fingerprint
        != Student.from_pretrained(student_run / STUDENT).card.encoder_fingerprint
    )
    np.testing.assert_allclose(
        loaded.probabilities(["Loud pump."]), student.probabilities(["Loud pump."]), atol=1e-6
    )


def test_a_failed_distillation_leaves_the_old_student(
    student_run: Path, encoder_folder: Path, snapshot
) -> None:
    before = snapshot(student_run / STUDENT)
    with pytest.raises(InputError, match=r"Fewer than 10 segments are left .* Raise --aspect-entropy"):
        train_attention(
            Fitted.load(student_run),
            student_config(encoder_folder, aspect_entropy=0.0),
            student_run / STUDENT,
        )
    assert snapshot(student_run / STUDENT) == before


def test_what_cannot_be_distilled_is_told(student_run: Path, encoder_folder: Path) -> None:
    fitted = Fitted.load(student_run, with_map=False)
    topics = len(fitted.topics.items)
    choices = tuple(Choice(topic, "Taste", (), "Ada", now()) for topic in range(topics))
    single = fitted.with_map(TopicMap(("Taste",), choices, fitted.topics.fingerprint))
    with pytest.raises(MapError, match="No topic map yet"):
        train_attention(fitted, student_config(encoder_folder), student_run / STUDENT)
    with pytest.raises(MapError, match="single aspect Taste: there is nothing to tell apart"):
        train_attention(single, student_config(encoder_folder), student_run / STUDENT)
