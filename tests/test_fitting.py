import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import SMALL, as_flags

from aspectra import disk, rundir
from aspectra.config import FitConfig, PrepareConfig
from aspectra.errors import InputError, RunError
from aspectra.fitting import STAGES, Fitted, fit_stages, load_trained, stage_fingerprints
from aspectra.rundir import STAGE_FILES, RunDir
from aspectra.sample import generate
from aspectra.text.memory import Texts
from aspectra.vectors import load_vectors

TINY = {"n_topics": 4, "min_count": 3, "vector_size": 8, "vector_epochs": 1, "steps": 5}
TEXTS = Texts(generate(150, n_gold=2).reviews["text"])
FILES = [name for names in STAGE_FILES.values() for name in names]


def fit(
    folder: Path, progress: Callable[[str, float], None] = lambda stage, done: None, **settings: Any
) -> Fitted:
    run = RunDir(folder)
    run.create()
    return fit_stages(TEXTS, FitConfig(**{**TINY, **settings}), run, progress)


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != rundir.MANIFEST}


def kept(folder: Path, before: dict[str, int]) -> list[str]:
    """Return the stages whose files were not written again."""
    after = times(folder)
    return [
        stage
        for stage, names in STAGE_FILES.items()
        if all(before.get(name) == after[name] for name in names)
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    fit(folder)
    return folder


@pytest.fixture
def finished(whole: Path, tmp_path: Path) -> Path:
    for path in whole.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_run_directory_changes_nothing_in_what_is_learnt(whole: Path) -> None:
    in_memory = fit_stages(TEXTS, FitConfig(**TINY), None, lambda stage, done: None)
    loaded = fit(whole)
    assert in_memory.topics == loaded.topics
    assert in_memory.vectors.matrix.tobytes() == loaded.vectors.matrix.tobytes()
    assert in_memory.trained.history == loaded.trained.history
    assert in_memory.fingerprints == loaded.fingerprints


def test_saving_what_was_fitted_in_memory_gives_the_same_files(
    whole: Path, tmp_path: Path, snapshot: Callable
) -> None:
    fit(whole).save(tmp_path / "saved")
    assert snapshot(tmp_path / "saved") == snapshot(whole)


def test_fitting_again_makes_nothing_again(finished: Path, snapshot: Callable) -> None:
    before, files = times(finished), snapshot(finished)
    fit(finished)
    assert kept(finished, before) == list(STAGES)
    assert snapshot(finished) == files


@pytest.mark.parametrize("place", range(4))
def test_an_interrupted_fit_goes_on_at_the_first_unfinished_stage(
    whole: Path, tmp_path: Path, snapshot: Callable, place: int
) -> None:
    def interrupt(stage: str, done: float) -> None:
        if stage == STAGES[place]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path, interrupt)
    before = times(tmp_path)
    assert set(before) == {name for stage in STAGES[:place] for name in STAGE_FILES[stage]}
    fit(tmp_path)
    assert kept(tmp_path, before) == list(STAGES[:place])
    assert snapshot(tmp_path) == snapshot(whole)


@pytest.mark.parametrize("name", FILES)
def test_a_fit_interrupted_while_it_writes_leaves_no_half_file(
    whole: Path, tmp_path: Path, snapshot: Callable, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def replace(source: Path, target: Path) -> None:
        if target.name == name:
            raise KeyboardInterrupt
        os.rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            fit(tmp_path)
    assert name not in times(tmp_path)
    assert all(
        data == snapshot(whole)[file] for file, data in snapshot(tmp_path).items() if file != rundir.MANIFEST
    )
    fit(tmp_path)
    assert snapshot(tmp_path) == snapshot(whole)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_made_again(whole: Path, finished: Path, snapshot: Callable, name: str) -> None:
    (finished / name).write_bytes((finished / name).read_bytes()[:-3])
    before, stage = times(finished), next(stage for stage, names in STAGE_FILES.items() if name in names)
    fit(finished)
    assert kept(finished, before) == list(STAGES[: STAGES.index(stage)])
    assert snapshot(finished) == snapshot(whole)


def test_a_topic_map_outlives_a_new_fit(finished: Path) -> None:
    (finished / rundir.TOPIC_MAP).write_text("a person's work")
    fit(finished, seed=1)
    assert (finished / rundir.TOPIC_MAP).read_text() == "a person's work"


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({"segment": "clause"}, 0),
        ({"window": 3}, 1),
        ({"seed": 1}, 0),
        ({"attention": "mean"}, 2),
        ({"n_topics": 5}, 2),
    ],
)
def test_a_setting_makes_again_its_own_stage_and_those_after_it(
    finished: Path, change: dict[str, Any], first: int
) -> None:
    before = times(finished)
    fit(finished, **change)
    assert kept(finished, before) == list(STAGES[:first])
    assert FitConfig.from_dict(RunDir(finished).config()) == FitConfig(**{**TINY, **change})


def test_other_reviews_have_other_marks_and_so_has_every_setting() -> None:
    marks = stage_fingerprints(TEXTS, FitConfig())
    assert all(
        marks[stage] != mark for stage, mark in stage_fingerprints(Texts(["other"]), FitConfig()).items()
    )
    for name, value in {"min_tokens": 4, "negative": 6, "clip": 1.0, "seed": 1}.items():
        assert stage_fingerprints(TEXTS, FitConfig(**{name: value}))["topics"] != marks["topics"]
    assert stage_fingerprints(TEXTS, FitConfig(clip=1.0))["vectors"] == marks["vectors"]


def test_an_interrupted_change_of_settings_does_not_pass_for_a_finished_run(finished: Path) -> None:
    def interrupt(stage: str, done: float) -> None:
        if stage == "topics":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(finished, interrupt, attention="mean")
    with pytest.raises(RunError, match=r"is not finished: its stage 'topics' is missing. Repeat the fit"):
        RunDir(finished).config()


@pytest.mark.parametrize("settings", [{"n_topics": 9_999}, {"min_count": 100_000}, {"min_tokens": 100}])
def test_a_fit_that_cannot_work_leaves_a_finished_run_as_it_was(
    finished: Path, snapshot: Callable, settings: dict[str, int]
) -> None:
    before = snapshot(finished)
    with pytest.raises(
        InputError,
        match=r"fewer than \d+ topics. Give more reviews|No two segments have 100 or more known words",
    ):
        fit(finished, **settings)
    assert snapshot(finished) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Der Kaffee schmeckt wirklich gut und die Maschine ist leise.",
            "20 of the 20 segments .* another language than 'en'.* name it with --language",
        ),
        ("咖啡的味道很好，机器很安静。", "without spaces between words must be cut into words first"),
    ],
)
def test_reviews_in_another_language_are_said_to_be_so(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        fit_stages(Texts([text] * 20), FitConfig(**TINY), None, lambda stage, done: None)


def test_progress_tells_each_stage_from_start_to_end() -> None:
    seen: dict[str, list[float]] = {}
    fit_stages(TEXTS, FitConfig(**TINY), None, lambda stage, done: seen.setdefault(stage, []).append(done))
    assert list(seen) == list(STAGES)
    assert all(values[0] == 0 and values[-1] == 1 and values == sorted(values) for values in seen.values())


def test_weights_that_do_not_fit_the_run_are_refused(finished: Path) -> None:
    corpus = fit(finished).corpus
    vectors = load_vectors(RunDir(finished), corpus.vocabulary)
    for damage in (b"no weights", (finished / rundir.TEACHER).read_bytes()[:-5]):
        (finished / rundir.TEACHER).write_bytes(damage)
        with pytest.raises(RunError, match=r"teacher.safetensors cannot be used .*Repeat the fit"):
            load_trained(RunDir(finished), vectors, FitConfig(**TINY))


def wait_for(seen: Callable[[], bool], process: subprocess.Popen, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not seen():
        assert process.poll() is None, "the fit ended before it could be killed"
        assert time.monotonic() < end, "the fit did not get there in time"
        time.sleep(0.005)


def test_a_killed_process_leaves_whole_files_and_the_same_command_finishes(
    aspectra: Callable,
    program: list[str],
    sample_files: Path,
    run: Path,
    tmp_path: Path,
) -> None:
    options = as_flags(SMALL)
    words = ["fit", str(sample_files / "reviews.csv"), "--run", str(tmp_path / "run"), *options]
    manifest = tmp_path / "run" / rundir.MANIFEST
    with subprocess.Popen([*program, *words], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: manifest.exists() and "prepare" in manifest.read_text(), process)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL
    done = list(json.loads(manifest.read_text())["stages"])
    RunDir(tmp_path / "run").check(*done)
    before = times(tmp_path / "run")
    assert aspectra(*words).code == 0
    assert kept(tmp_path / "run", before) == done
    assert not [path for path in (tmp_path / "run").iterdir() if path.name.startswith(".")]
    assert (tmp_path / "run" / rundir.TOPICS).read_bytes() == (run / rundir.TOPICS).read_bytes()


def test_segments_are_kept_with_review_sentence_text_and_junk(whole: Path) -> None:
    segments = pl.read_parquet(whole / rundir.SEGMENTS)
    assert segments.columns == ["review", "sentence", "text", "junk"]
    assert PrepareConfig().segment == "sentence"
    assert segments["sentence"].n_unique() == len(segments)
