"""What is compared in the speed benchmark does the same work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from aspectra.bench import growth, processes, speed, speed_tables
from aspectra.detector import AspectDetector
from aspectra.errors import InputError


def test_plain_tokenising_finds_the_same_words(detector: AspectDetector) -> None:
    segments = detector.corpus_.segments["text"][:300]
    tokens = detector.vocabulary_.encode(segments)
    fast = [
        tokens.ids[start:end].tolist() for start, end in zip(tokens.offsets, tokens.offsets[1:], strict=False)
    ]
    assert speed.plain_ids(segments, detector.vocabulary_, {}) == fast


def test_the_ratio_to_the_literal_algorithm_is_that_of_the_two_rates(detector: AspectDetector) -> None:
    found = speed.training_ratio(detector.corpus_, detector.vectors_, detector.config, rounds=1)
    assert found["ratio"] == pytest.approx(
        found["segments_per_second"] / found["literal_segments_per_second"]
    )
    assert found["ratio"] > 1


def test_reviews_for_growth_have_about_as_many_segments(detector: AspectDetector) -> None:
    segments = detector.corpus_.segments
    assert first_texts(segments, 100) == pytest.approx(100, abs=5)
    assert first_texts(segments, 2 * len(segments)) == pytest.approx(2 * len(segments), rel=0.05)


def first_texts(segments: pl.DataFrame, size: int) -> int:
    from aspectra.text.segment import split_reviews

    return len(split_reviews(growth.first_reviews(segments, size)["text"], "sentence"))


def test_growth_measures_every_stage_in_a_process(detector: AspectDetector, tmp_path: Path) -> None:
    growth.first_reviews(detector.corpus_.segments, 500).write_parquet(tmp_path / "x.parquet")
    command = [sys.executable, "-m", "aspectra.bench.growth", str(tmp_path / "x.parquet"), "500"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert set(growth.STAGES) <= set(found["seconds"])
    assert found["segments"] > 300
    assert min(found["peak_gb"].values()) > 0.05


def test_the_exponent_is_one_where_cost_is_in_proportion() -> None:
    assert growth.exponent([1e4, 1e5, 1e6], [2, 20, 200]) == pytest.approx(1)
    assert growth.exponent([1e4, 1e5, 1e6], [5, 5, 5]) == pytest.approx(0)


def test_clauses_need_data() -> None:
    assert speed_tables.choose_parts(None, None) == ("stages", "student", "growth")
    with pytest.raises(InputError, match=r"No \*-dev\.asp files in .*oposum"):
        speed_tables.clause_grid(Path("nowhere"))


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(InputError, match=r"No part size\. There are stages, student, clauses, growth"):
        speed_tables.choose_parts(("size",), None)


def test_a_command_is_measured_alone_and_with_its_children(tmp_path: Path) -> None:
    slow = ["sample", str(tmp_path), "--quiet"]  # slower than the pause between two looks at its memory
    alone, alone_gb = processes.measured(slow)
    family, family_gb = processes.measured_with_children(slow)
    assert min(alone, family) > 0.05
    assert min(alone_gb, family_gb) > 0.001
