"""How far labels can be trusted: whose they are, and their scores."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from aspectra.config import StudentConfig
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.report.content import Content
from aspectra.report.quality import find_origin
from aspectra.report.read import open_labels
from aspectra.student.distill import distill


def test_topics_and_scores_are_those_that_the_other_commands_print(
    content: Content, run: Path, gold_file: Path, aspectra: Callable[..., Any]
) -> None:
    printed = json.loads(aspectra("evaluate", run, gold_file, "--json").out)
    assert content.quality.grade is not None
    assert json.loads(json.dumps(content.quality.grade.scores.to_dict())) == printed
    topics = json.loads(aspectra("topics", run, "--json").out)["items"]
    coherence = {item["id"]: item["coherence"] for item in topics}
    assert {line.id: line.coherence for line in content.quality.topics} == coherence


def test_labels_of_this_run_are_the_teachers(labelled_file: Path, detector: AspectDetector) -> None:
    assert find_origin(open_labels(labelled_file), detector).model == "teacher"


def test_labels_of_another_run_are_refused(
    labelled_file: Path, detector: AspectDetector, tmp_path: Path
) -> None:
    frame, other = pl.read_parquet(labelled_file), tmp_path / "other.parquet"
    frame.with_columns(topic=(pl.col("topic") + 1) % 16).write_parquet(other)
    with pytest.raises(InputError, match=r"was not labelled with this run: of \d+ segments checked only"):
        find_origin(open_labels(other), detector)
    renamed = frame.rename({"p_Taste": "p_Smell"}).with_columns(pl.col("aspect").replace("Taste", "Smell"))
    renamed.write_parquet(other)
    with pytest.raises(InputError, match=r"labelled with other aspects \(Smell, Noise, General\)"):
        find_origin(open_labels(other), detector)


def test_a_student_older_than_the_map_made_no_labels(
    labelled_file: Path, detector: AspectDetector, linear_run: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    distill(run, StudentConfig(encoder=str(encoder_folder), n_segments=500))
    (run / "student" / "fast.safetensors").write_bytes(b"older")
    assert find_origin(open_labels(labelled_file), detector, run).model == "teacher"


def test_labels_of_an_older_map_are_told_apart_from_a_students(
    labelled_file: Path, detector: AspectDetector, student_run: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "changed.parquet"
    pl.read_parquet(labelled_file).with_columns(pl.col("probability") * 0.5).write_parquet(changed)
    old = find_origin(open_labels(changed), detector)
    assert old.model is None
    assert "map has changed since changed.parquet" in old.note
    assert find_origin(open_labels(changed), detector, student_run).model == "encoder"
