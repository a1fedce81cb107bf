"""aspectra bench and aspectra data on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

from aspectra.bench import labels, results
from aspectra.bench.sets import SAMPLE, SETS

Call = Callable[..., Any]


pytestmark = pytest.mark.xdist_group("bench")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where fits are kept for all tests here; the sample's settings are such that it is fitted in seconds."""
    small = replace(SETS[SAMPLE], settings=SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SETS, SAMPLE, small)
        yield tmp_path_factory.mktemp("bench")


def test_quality_prints_writes_and_inserts_the_tables(aspectra: Call, home: Path, tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("\n".join(results.marks("quality")))
    words = (
        "--systems",
        "majority,kmeans,teacher",
        "--seeds",
        1,
        "--home",
        home,
        "-o",
        tmp_path,
        "--markdown",
        page,
        "--quiet",
    )
    answer = aspectra("bench", "quality", *words)
    assert (answer.code, answer.err) == (0, "")
    assert "k-means of words" in answer.out
    assert "| majority answer (labels) |" in page.read_text()
    assert len(json.loads((tmp_path / "quality.json").read_text())["cells"]) == 3
    assert (tmp_path / "figures/coverage-accuracy.svg").exists()


def test_the_tables_fit_a_terminal_of_80_columns(
    aspectra: Call, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = aspectra(
        "bench", "quality", "--systems", "majority,kmeans", "--seeds", 2, "--home", home, "-o", tmp_path, "-q"
    )
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith(" k-means of words")]


def test_an_ablation_draws_its_figure(aspectra: Call, home: Path, tmp_path: Path) -> None:
    answer = aspectra(
        "bench", "ablation", "--only", "attention", "--seeds", 1, "--home", home, "-o", tmp_path, "-q"
    )
    assert answer.code == 0
    assert "smooth (default)" in answer.out
    assert (tmp_path / "figures/attention.png").exists()


def test_labels_writes_its_table_and_figure(
    aspectra: Call, home: Path, tmp_path: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = {"encoder": str(encoder_folder), "n_segments": 400}
    monkeypatch.setattr(labels, "NUMBERS", (20, 50))
    monkeypatch.setattr(labels, "label_cells", partial(labels.label_cells, settings=tiny))
    answer = aspectra("bench", "labels", "--home", home, "-o", tmp_path, "-q")
    assert answer.code == 0
    cells = json.loads((tmp_path / "labels.json").read_text())["cells"]
    assert len(cells) == 1 + 3 * (2 * 3 + 2 * 3) + 3
    score = {cell["name"]: cell["test"]["f1_micro"] for cell in cells}
    assert score["names-and-labels-all-random-0"] > cells[0]["test"]["majority_f1_micro"]
    assert "names and labels, random" in (tmp_path / "labels.md").read_text()
    assert (tmp_path / "figures/labels.svg").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("bench", "quality", "--sets", "radio"), "aspectra: No set radio."),
        (("bench", "quality", "--systems", "magic"), "aspectra: No system magic."),
        (("bench", "ablation", "--only", "colour"), "aspectra: No ablation colour."),
        (("bench", "speed", "--only", "size"), "aspectra: No part size."),
        *(
            (("bench", part, "--markdown", "none.md"), "aspectra: Cannot read none.md")
            for part in ("quality", "labels", "ablation", "speed")
        ),
        (("data", "get", "imagenet"), "aspectra: No data 'imagenet'."),
    ],
)
def test_wrong_names_are_one_line_and_exit_code_1(aspectra: Call, words: tuple[str, ...], error: str) -> None:
    answer = aspectra(*words)
    assert answer.code == 1
    assert error in answer.err
