"""The linear student: what it answers, how it is kept, and that ONNX answers the same."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from conftest import LINEAR_ASPECTS
from safetensors.torch import load_file, save_file

from aspectra.attention import explain
from aspectra.errors import InputError, RunError
from aspectra.fitting import Fitted
from aspectra.labelling.export import export_onnx
from aspectra.labelling.labeller import OnnxLabeller, StudentLabeller, load_student
from aspectra.rundir import CONFIG, HEAD, STUDENT
from aspectra.sample import Sample
from aspectra.student.linear import LinearHead, LinearStudent, load_linear, read_student
from aspectra.topicmap.calibrate import soften
from aspectra.topicmap.topicmap import TopicMap

ODD = ["", "Zzz qqq.", "loud " * 200, "☕ ☕", "loud"]


@pytest.fixture(scope="module")
def model(linear_run: Path) -> StudentLabeller:
    return load_student(linear_run)


@pytest.fixture(scope="module")
def texts(sample: Sample) -> pl.Series:
    return pl.Series([*sample.gold["text"], *ODD])


def test_it_answers_alone_and_the_teacher_stays_as_evidence(model: StudentLabeller, texts: pl.Series) -> None:
    labels = model.label_segments(texts)
    own = model.student.probabilities(texts.to_list())
    np.testing.assert_allclose(labels.select(pl.col("^p_.*$")).to_numpy(), own, atol=1e-6)
    assert labels["topic"].null_count() == labels.filter(pl.col("known_words") == 0).height > 0
    assert labels.filter(pl.col("known_words") > 0)["unmapped"].max() == pytest.approx(0, abs=1e-5)
    np.testing.assert_allclose(own.sum(1), 1, atol=1e-5)


def test_a_saved_student_answers_the_same(linear_run: Path, tmp_path: Path, texts: pl.Series) -> None:
    fitted = Fitted.load(linear_run)
    student = read_student(linear_run / STUDENT, fitted)
    assert isinstance(student, LinearStudent)
    student.save_pretrained(tmp_path, fitted.the_map())
    again = read_student(tmp_path, fitted)
    assert again.card == student.card
    np.testing.assert_array_equal(
        again.probabilities(texts.to_list()), student.probabilities(texts.to_list())
    )


@pytest.mark.parametrize("lead", [None, 2.5])
def test_onnx_gives_the_same_labels(
    model: StudentLabeller, texts: pl.Series, tmp_path: Path, lead: float | None
) -> None:
    student = model.student
    assert isinstance(student, LinearStudent)
    if lead:
        before = student.probabilities(texts.to_list())
        arrays = {**student.head.state_dict(), "lead": torch.tensor(lead)}
        student = replace(student, head=LinearHead(arrays))
        np.testing.assert_allclose(
            student.probabilities(texts.to_list()), soften(before, 1.0, lead), atol=1e-5
        )
    export_onnx(model.fitted, student, tmp_path / "linear.onnx")
    mine = StudentLabeller(model.fitted, student)
    ours, theirs = (one.label_segments(texts) for one in (mine, OnnxLabeller(tmp_path / "linear.onnx")))
    same = ["aspect", "topic", "known_words"]
    assert ours.select(same).equals(theirs.select(same))
    numbers = pl.col("^p_.*|unmapped|entropy$")
    np.testing.assert_allclose(ours.select(numbers).to_numpy(), theirs.select(numbers).to_numpy(), atol=1e-4)


def test_eight_bits_change_few_labels(model: StudentLabeller, texts: pl.Series, tmp_path: Path) -> None:
    export_onnx(model.fitted, model.student, tmp_path / "small.onnx", int8=True)
    answers = OnnxLabeller(tmp_path / "small.onnx").label_segments(texts)["aspect"]
    assert (answers == model.label_segments(texts)["aspect"]).mean() >= 0.95


def test_another_order_of_aspects_changes_no_answer(
    model: StudentLabeller, texts: pl.Series, tmp_path: Path
) -> None:
    old = model.topic_map
    turned = model.fitted.with_map(TopicMap(old.aspects[::-1], old.choices, old.topics))
    other = StudentLabeller(turned, model.student)
    assert other.classes_.tolist() == ["Price", "Cleaning", "Noise", "Taste", "General"]
    ours, theirs = model.label_segments(texts), other.label_segments(texts)
    assert theirs["aspect"].equals(ours["aspect"])
    np.testing.assert_allclose(theirs["p_Taste"], ours["p_Taste"], atol=1e-6)
    export_onnx(turned, model.student, tmp_path / "turned.onnx")
    exported = OnnxLabeller(tmp_path / "turned.onnx").label_segments(texts)["aspect"]
    assert exported.equals(model.label_segments(texts)["aspect"])


def test_a_map_that_says_something_else_is_refused(model: StudentLabeller) -> None:
    other = model.fitted.with_map(model.topic_map.with_choice(0, "Noise", "Ada"))
    with pytest.raises(RunError, match=r"topic map has changed since the student was made. Distil again"):
        StudentLabeller(other, model.student)


def test_fingerprints_of_older_versions_are_accepted(model: StudentLabeller) -> None:
    old = model.topic_map.fingerprint_of(LINEAR_ASPECTS)
    assert old != model.topic_map.fingerprint
    assert model.topic_map.means(old, LINEAR_ASPECTS)
    assert not model.topic_map.means(old, LINEAR_ASPECTS[:4])


def test_words_that_count_are_those_the_answer_needs(model: StudentLabeller) -> None:
    told = explain(model, "In the morning the grinder is so loud that it wakes everybody.")
    assert told.student is not None
    assert sum(told.student) == pytest.approx(1)
    assert min(told.student) >= 0
    assert len(told.student) == len(told.words)


def test_a_damaged_head_is_refused(linear_run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(linear_run / STUDENT, tmp_path / STUDENT))
    (folder / HEAD).write_bytes((folder / HEAD).read_bytes()[:-1])
    with pytest.raises(RunError, match=r"head.safetensors is missing or damaged. Distil again"):
        read_student(folder, Fitted.load(linear_run))
    (folder / CONFIG).unlink()
    with pytest.raises(RunError, match="No student in"):
        read_student(folder, Fitted.load(linear_run))


def test_a_head_that_reads_one_layer_of_the_encoder_is_refused(
    model: StudentLabeller, linear_run: Path, tmp_path: Path
) -> None:
    arrays = load_file(linear_run / STUDENT / HEAD) | {"origin": torch.ones(8)}
    save_file(arrays, tmp_path / HEAD)
    assert isinstance(model.student, LinearStudent)
    with pytest.raises(RunError, match=r"reads one layer of the encoder; this version reads two. Distil"):
        load_linear(tmp_path, model.student.card, model.fitted)


def test_without_an_encoder_there_is_nothing_to_export(model: StudentLabeller, tmp_path: Path) -> None:
    assert isinstance(model.student, LinearStudent)
    with pytest.raises(InputError, match="made without an encoder"):
        export_onnx(model.fitted, replace(model.student, encoder=None), tmp_path / "x.onnx")


def test_words_and_topics_say_nothing_of_a_segment_without_known_words(model: StudentLabeller) -> None:
    head = model.student.head
    state = torch.ones(1, *head.origin.shape)
    nothing = torch.zeros(1, len(head.usual_words)), torch.full((1, len(head.usual_beta)), 0.1)
    with torch.inference_mode():
        answer = head(*nothing, state)
        assert torch.equal(answer, head(head.usual_words[None], head.usual_beta[None], state))
