"""One way to open a labeller, and the same labels whoever asks."""

from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import aspectra as package
from aspectra.config import NOT_REVIEW
from aspectra.detector import AspectDetector
from aspectra.errors import InputError, MapError, RunError
from aspectra.fitting import Fitted
from aspectra.labelling.export import export_onnx
from aspectra.labelling.files import label_source
from aspectra.labelling.labeller import (
    Labeller,
    OnnxLabeller,
    StudentLabeller,
    TeacherLabeller,
    load,
    load_student,
)
from aspectra.progress import uncounted
from aspectra.rundir import STUDENT, TOPIC_MAP
from aspectra.sample import Sample
from aspectra.student.paper.model import Student
from aspectra.text.read import Source, open_source

TEXTS = ["The pump is loud. Great taste!", "Zzz qqq.", "👍", "I bought it in May."]
Aspectra = Callable[..., Any]
BATCHES = Source.batches


@pytest.fixture(scope="module")
def graph(student_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labeller") / "student.onnx"
    model = load_student(student_run)
    export_onnx(model.fitted, model.student, path)
    return path


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (None, StudentLabeller),
        ("auto", StudentLabeller),
        ("encoder", StudentLabeller),
        ("teacher", TeacherLabeller),
    ],
)
def test_a_run_is_opened_with_its_student_unless_the_teacher_is_asked_for(
    student_run: Path, model: str | None, kind: type[Labeller]
) -> None:
    assert type(load(student_run, model)) is kind
    assert type(load(str(student_run), model)) is kind


def test_the_teachers_labels_have_the_same_digits_on_any_threads_and_in_any_batches(
    run: Path, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.reviews.write_parquet(tmp_path / "reviews.parquet")
    source, labeller, found = open_source([str(tmp_path / "reviews.parquet")], "text"), load(run), []
    for threads, size in ((1, 20_000), (2, 90), (2, 33)):
        monkeypatch.setattr(Source, "batches", partialmethod(BATCHES, size=size))
        found.append(pl.concat(label_source(labeller, source, uncounted, threads)))
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])
    alone = pl.concat([labeller.label([text]) for text in sample.reviews["text"][:40]])
    assert alone["entropy"].equals(found[0]["entropy"][: len(alone)])


def test_without_a_student_the_teacher_answers(run: Path) -> None:
    assert type(load(run)) is TeacherLabeller
    with pytest.raises(RunError, match=r"has no student. Make it first: aspectra distill"):
        load(run, "encoder")


def test_what_cannot_be_opened_is_refused(own_run: Path, graph: Path) -> None:
    with pytest.raises(InputError, match="model must be one of auto, fast, encoder, teacher, got 'both'"):
        load(own_run, "both")
    with pytest.raises(InputError, match="answers with teacher and student together"):
        load(graph, "teacher")
    (own_run / TOPIC_MAP).unlink()
    with pytest.raises(MapError, match=r"No topic map in .*own-run. Map the topics first: aspectra map"):
        load(own_run)


def test_every_labeller_gives_the_same_columns_and_agrees_with_itself(student_run: Path, graph: Path) -> None:
    labellers = [load(student_run), load(student_run, "teacher"), load(str(graph))]
    for labeller in labellers:
        segments = ["The pump is loud.", "Great taste!"]
        probabilities = labeller.predict_proba(segments)
        assert labeller.label(TEXTS).schema == labellers[0].label(TEXTS).schema
        assert labeller.classes_.tolist() == list(labeller.topic_map.aspects)
        assert labeller.predict(segments).tolist() == labeller.classes_[probabilities.argmax(1)].tolist()
        np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
        assert labeller.threads >= 1


@pytest.mark.parametrize("model", ["teacher", "encoder", None])
def test_python_gives_exactly_what_the_command_gives(
    aspectra: Aspectra, student_run: Path, sample: Sample, tmp_path: Path, model: str | None
) -> None:
    reviews = sample.reviews.select("text").head(60)
    reviews.write_parquet(tmp_path / "reviews.parquet")
    options = ["--model", model] if model else []
    aspectra("label", student_run, tmp_path / "reviews.parquet", "-o", tmp_path / "out.parquet", *options)
    told = package.load(student_run, model).label(reviews["text"])
    assert told.equals(pl.read_parquet(tmp_path / "out.parquet").select(told.columns))


def test_onnx_in_python_gives_exactly_what_the_command_gives(
    aspectra: Aspectra, graph: Path, sample: Sample, tmp_path: Path
) -> None:
    reviews = sample.reviews.select("text").head(60)
    reviews.write_parquet(tmp_path / "reviews.parquet")
    aspectra("label", "--onnx", graph, tmp_path / "reviews.parquet", "-o", tmp_path / "out.parquet")
    told = OnnxLabeller(str(graph)).label(reviews["text"])
    assert told.equals(pl.read_parquet(tmp_path / "out.parquet").select(told.columns))


def test_a_loaded_detector_answers_as_load_does(student_run: Path, run: Path) -> None:
    for folder in (student_run, run):
        detector, labeller = AspectDetector.load(folder), load(folder)
        assert detector.label(TEXTS).equals(labeller.label(TEXTS))
        assert detector.predict(TEXTS).tolist() == labeller.predict(TEXTS).tolist()
        np.testing.assert_array_equal(detector.predict_proba(TEXTS), labeller.predict_proba(TEXTS))


def test_a_detector_with_another_map_answers_with_its_teacher(student_run: Path) -> None:
    detector = AspectDetector.load(student_run)
    detector.map_topics({"Taste": range(8), "Noise": range(8, 16)})
    assert detector.label(TEXTS).equals(TeacherLabeller(detector.fitted_).label(TEXTS))
    assert detector.classes_.tolist() == ["Taste", "Noise"]


def test_a_student_of_another_map_is_refused(student_run: Path) -> None:
    fitted, student = Fitted.load(student_run), Student.from_pretrained(student_run / STUDENT)
    changed = fitted.with_map(fitted.the_map().with_choice(0, "Noise", "Ada"))
    with pytest.raises(RunError, match=r"topic map has changed since the student was made. Distil again"):
        StudentLabeller(changed, student)


def test_pasted_code_is_labelled_not_a_review_but_predicted_as_one_of_the_classes(student_run: Path) -> None:
    code = "var swfParams = new Object();"
    for model in ("teacher", "encoder"):
        labeller = load(student_run, model)
        assert labeller.label_segments([code, TEXTS[0]])["aspect"][0] == NOT_REVIEW
        assert labeller.label([code])["aspect"].to_list() == [NOT_REVIEW]
        assert NOT_REVIEW not in labeller.classes_
        assert set(labeller.predict([code])) <= set(labeller.classes_)
        labeller.keep_junk = True
        assert labeller.label_segments([code])["aspect"][0] != NOT_REVIEW
