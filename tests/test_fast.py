"""The fast student: near the student, without torch, and what is said of one that cannot be used."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import LINEAR_ASPECTS
from typer.testing import CliRunner

from aspectra import build_report, evaluate, load, rundir
from aspectra.attention import explain
from aspectra.cli import app
from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.errors import RunError
from aspectra.fitting import Fitted
from aspectra.labelling.files import labeller_fingerprint
from aspectra.labelling.labeller import FastLabeller, StudentLabeller, choose_model, load_run
from aspectra.sample import Sample
from aspectra.scores import Gold, gold_matrix
from aspectra.student.distill import distill, train_student
from aspectra.student.teach_fast import teach_fast

FAST = f"{rundir.STUDENT}/{rundir.FAST}"
STRANGE = ["", "   ", "zzgrbl qqx", "!!!", "great " * 10_000, "The motor is loud."]


@pytest.fixture(scope="module")
def fast(linear_run: Path) -> FastLabeller:
    labeller = load_run(linear_run, "fast")
    assert isinstance(labeller, FastLabeller)
    return labeller


@pytest.fixture
def copied(linear_run: Path, tmp_path: Path) -> Path:
    """The run with a student, to spoil."""
    return Path(shutil.copytree(linear_run, tmp_path / "run"))


def forget_fast(run: Path) -> None:
    """Make config.json what a version without fast students writes."""
    path = run / rundir.STUDENT / rundir.CONFIG
    values = {name: value for name, value in rundir.read_json(path).items() if name != "fast"}
    rundir.write_json(path, {**values, rundir.CHECKSUM: rundir.own_checksum(values)})


def test_it_answers_nearly_as_the_student(fast: FastLabeller, linear_run: Path, sample: Sample) -> None:
    texts = sample.gold["text"]
    student = load(linear_run, "encoder").label_segments(texts)
    answers = fast.label_segments(texts)
    assert (answers["aspect"] == student["aspect"]).mean() > 0.8
    assert answers.select("topic", "known_words").equals(student.select("topic", "known_words"))


def test_it_learns_from_labels_as_it_reads_them(copied: Path, sample: Sample) -> None:
    gold = sample.gold.filter(pl.col("aspects").list.first().is_in(LINEAR_ASPECTS))
    labels = Gold(tuple(gold["text"]), tuple(frozenset(row[:1]) for row in gold["aspects"]))
    card = load_run(copied, "encoder").card
    student = train_student(Fitted.load(copied), card.config, copied / rundir.STUDENT, labels)
    gold_rows = gold_matrix(labels.aspects, student.card.aspects)
    before, after = (teach_fast(student, told).probabilities(labels.texts) for told in (None, labels))
    assert np.log(after[gold_rows]).mean() > np.log(before[gold_rows]).mean()


def test_it_gives_each_answer_about_as_often_as_the_student(fast: FastLabeller, linear_run: Path) -> None:
    texts = Fitted.load(linear_run).corpus.segments["text"].head(1500)
    counts = [
        np.bincount(one.predict_proba(texts).argmax(1), minlength=len(LINEAR_ASPECTS))
        for one in (fast, load(linear_run, "encoder"))
    ]
    assert np.abs(counts[0] - counts[1]).max() < 0.03 * len(texts)


def test_it_is_as_sure_of_its_answers_as_the_student(fast: FastLabeller, linear_run: Path) -> None:
    texts = Fitted.load(linear_run).corpus.segments["text"].head(500)
    student = load(linear_run, "encoder").predict_proba(texts).max(1).mean()
    assert fast.predict_proba(texts).max(1).mean() == pytest.approx(student, abs=0.03)


def test_label_takes_it_by_default_and_says_why(linear_run: Path) -> None:
    assert isinstance(load(linear_run), FastLabeller)
    model, why = choose_model(linear_run)
    assert model == "fast"
    assert why == "the run has one."
    assert isinstance(AspectDetector.load(linear_run).labeller(), FastLabeller)


def test_it_needs_neither_torch_nor_scipy(linear_run: Path) -> None:
    script = (
        "import sys, aspectra; frame = aspectra.load(sys.argv[1]).label(['Loud motor. Nice taste.']); "
        "assert len(frame) == 2 and not {'torch', 'scipy', 'tokenizers'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(linear_run)], check=False).returncode == 0


def test_strange_segments_get_answers_that_sum_to_one(fast: FastLabeller) -> None:
    probabilities = fast.predict_proba(STRANGE)
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-4)
    assert set(fast.predict(STRANGE)) <= set(LINEAR_ASPECTS)
    assert len(fast.label_segments([])) == 0


def test_a_segment_is_answered_alone_as_among_others(fast: FastLabeller) -> None:
    together = fast.predict_proba(STRANGE)
    alone = np.vstack([fast.predict_proba([text]) for text in STRANGE])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_without_an_encoder_both_answer_the_same(copied: Path, sample: Sample) -> None:
    distill(copied, StudentConfig(encoder="none", n_segments=500))
    texts = sample.gold["text"].head(50)
    np.testing.assert_allclose(
        load(copied, "fast").predict_proba(texts), load(copied, "encoder").predict_proba(texts), atol=1e-5
    )


def test_an_older_run_is_labelled_by_its_encoder_and_told_how_to_be_faster(copied: Path) -> None:
    (copied / FAST).unlink()
    forget_fast(copied)
    assert type(load(copied)) is StudentLabeller
    model, why = choose_model(copied)
    assert model == "encoder"
    assert f"aspectra distill {copied}" in why
    with pytest.raises(RunError, match=r"missing.*aspectra distill"):
        load(copied, "fast")


def test_one_that_is_older_than_the_student_is_not_used(copied: Path) -> None:
    forget_fast(copied)
    model, why = choose_model(copied)
    assert model == "encoder"
    assert "older" in why
    with pytest.raises(RunError, match=r"older than the student.*aspectra distill"):
        load(copied, "fast")


def test_one_that_is_older_than_the_map_is_refused(copied: Path) -> None:
    AspectDetector.load(copied).map_topics({"Taste": [0], "General": [1]}).save(copied)
    with pytest.raises(RunError, match=r"map has changed.*aspectra distill"):
        load(copied)


@pytest.mark.parametrize("spoil", ["cut", "changed", "gone"])
def test_a_damaged_file_is_named_with_what_to_do(copied: Path, spoil: str) -> None:
    path = copied / FAST
    data = path.read_bytes()
    path.write_bytes(data[:100] if spoil == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    if spoil == "gone":
        path.unlink()
    with pytest.raises(RunError, match=rf"{rundir.FAST}.*aspectra distill.*--model encoder"):
        load(copied)


def test_parts_that_do_not_fit_are_refused_also_with_a_right_checksum(copied: Path) -> None:
    from safetensors.numpy import load_file, save_file

    arrays = load_file(copied / FAST)
    save_file({**arrays, "pairs": arrays["pairs"][::-1].copy()}, copied / FAST)
    path = copied / rundir.STUDENT / rundir.CONFIG
    values = {**rundir.read_json(path), "fast": rundir.checksum(copied / FAST)}
    rundir.write_json(path, {**values, rundir.CHECKSUM: rundir.own_checksum(values)})
    with pytest.raises(RunError, match="not in order"):
        load(copied)


def test_labels_of_another_model_have_another_fingerprint(linear_run: Path) -> None:
    prints = [labeller_fingerprint(linear_run, model) for model in ("fast", "encoder", "teacher")]
    assert len(set(prints)) == 3
    assert labeller_fingerprint(linear_run, None) == prints[0]


def test_label_says_in_a_line_what_it_took_and_report_grades_it(
    linear_run: Path, gold_file: Path, sample: Sample, tmp_path: Path
) -> None:
    reviews, labels = tmp_path / "reviews.csv", tmp_path / "labels.parquet"
    sample.reviews.head(60).write_csv(reviews)
    shown = CliRunner().invoke(app, ["label", str(linear_run), str(reviews), "-o", str(labels)])
    told = [line for line in shown.stderr.splitlines() if line.startswith("Model: ")]
    assert len(told) == 1
    assert "fast student" in told[0]
    assert len(told[0]) <= 80
    quality = build_report(linear_run, labels, tmp_path / "report.html", gold=gold_file).quality
    assert "fast" in quality.model
    assert quality.grade.scores == evaluate(linear_run, gold_file, model="fast")


def test_explain_tells_which_words_counted(linear_run: Path) -> None:
    told = explain(load_run(linear_run), "The coffee tastes bitter")
    assert sum(told.student) == pytest.approx(1)
    assert told.answer == pytest.approx(told.student_answer, abs=1e-5)


def test_the_batches_of_a_file_do_not_change_labels(fast: FastLabeller, sample: Sample) -> None:
    texts = sample.reviews["text"].head(40)
    whole = fast.label(texts)
    parts = pl.concat([fast.label(texts[:13]), fast.label(texts[13:])])
    assert whole["aspect"].equals(parts["aspect"])
