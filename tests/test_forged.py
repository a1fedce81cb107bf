"""Forged, damaged and foreign files of a run: each is an error of one sentence that names the file."""

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import TINY
from safetensors.numpy import load_file, save_file

import aspectra
from aspectra import disk, rundir
from aspectra.checking import check_run
from aspectra.detector import AspectDetector
from aspectra.errors import AspectraError, RunError
from aspectra.fitting import Fitted
from aspectra.labelling.labeller import open_labeller
from aspectra.rundir import RunDir
from aspectra.sample import Sample
from aspectra.sentiment.model import SentimentModel
from aspectra.sentiment.rated import load_rated
from aspectra.student.distill import distill

JSONS = (rundir.MANIFEST, rundir.CONFIG, rundir.VOCABULARY, rundir.TOPICS)
FILES = (*JSONS, rundir.SEGMENTS, rundir.TOKENS, rundir.VECTORS, rundir.TEACHER, rundir.HISTORY)
VALUES: tuple[Any, ...] = (None, True, -1, 10**30, 1e400, "", "../../etc/passwd", [], [None], {}, {"a": []})


def sign(run: Path) -> None:
    """Write the checksums of the files as they are now, as a forger would."""
    path = run / rundir.MANIFEST
    manifest = json.loads(path.read_text())
    for stage in manifest["stages"].values():
        stage["files"] = {name: rundir.checksum(run / name) for name in stage["files"]}
    path.write_text(json.dumps(manifest))


def open_all(run: Path) -> None:
    fitted = Fitted.load(run)
    assert len(fitted.corpus.segments)
    aspectra.load(run).label(["The crema tastes bitter. It is loud."])


def refusal(run: Path) -> str:
    """Return why a run cannot be opened."""
    with pytest.raises(AspectraError) as found:
        open_all(run)
    return str(found.value)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_named(own_run: Path, name: str) -> None:
    (own_run / name).unlink()
    (own_run / name).mkdir()
    assert name in refusal(own_run)


@pytest.mark.parametrize("name", [rundir.TOPIC_MAP, rundir.MANIFEST, rundir.SENTIMENT])
def test_a_pipe_or_a_device_in_place_of_a_file_is_not_read(own_run: Path, name: str) -> None:
    (own_run / name).unlink(missing_ok=True)
    os.mkfifo(own_run / name)
    assert "is a pipe or a device" in refusal(own_run)
    (own_run / name).unlink()
    (own_run / name).symlink_to("/dev/zero")
    assert "is a pipe or a device" in refusal(own_run)


@pytest.mark.parametrize("name", [name for name in FILES if name != rundir.MANIFEST])
@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe{", b"[" * 100_000, b"NaN", b"9" * 5000, b"[]", b'{"a": 1}']
)
def test_other_content_under_right_checksums_is_named(own_run: Path, name: str, content: bytes) -> None:
    (own_run / name).write_bytes(content)
    sign(own_run)
    if name == rundir.HISTORY and content in (b"", b"NaN", b"[]", b'{"a": 1}'):
        open_all(own_run)  # how the losses went decides nothing
    elif name == rundir.CONFIG and content == b'{"a": 1}':
        assert "Unknown settings" in refusal(own_run)
    else:
        assert name in refusal(own_run)


def mutations(values: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places in a JSON value where something can be changed: of a list, its first item."""
    inside = values.items() if isinstance(values, dict) else enumerate(values[:1])
    places = [(*path, key) for key, _ in inside]
    inside = values.items() if isinstance(values, dict) else enumerate(values[:1])
    return places + [p for k, v in inside if isinstance(v, dict | list) for p in mutations(v, (*path, k))]


@pytest.mark.parametrize("name", JSONS)
def test_every_field_with_every_wrong_value_is_an_error_or_changes_nothing(
    run: Path, tmp_path: Path, name: str
) -> None:
    own = Path(shutil.copytree(run, tmp_path / "run"))
    original = json.loads((own / name).read_text())
    for place in mutations(original):
        for value in VALUES:
            changed = json.loads(json.dumps(original))
            target = changed
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = value
            (own / name).write_text(json.dumps(changed))
            if name != rundir.MANIFEST:
                sign(own)
            with contextlib.suppress(AspectraError):  # anything else fails
                open_all(own)
            if name != rundir.MANIFEST:
                shutil.copy(run / rundir.MANIFEST, own)
    assert len(mutations(original)) > 5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_and_weights_must_be_finite(own_run: Path, bad: float) -> None:
    vectors = np.load(own_run / rundir.VECTORS)
    spoilt = vectors.copy()
    spoilt[0, 0] = bad
    np.save(own_run / rundir.VECTORS, spoilt)
    sign(own_run)
    with pytest.raises(RunError, match=r"vectors\.npy has a vector that is not finite"):
        Fitted.load(own_run)
    np.save(own_run / rundir.VECTORS, vectors)
    weights = load_file(own_run / rundir.TEACHER)
    weights["topics"][0, 0] = bad
    save_file(weights, own_run / rundir.TEACHER)
    sign(own_run)
    with pytest.raises(
        RunError, match=r"teacher\.safetensors cannot be used \(topics has a weight that is not finite"
    ):
        Fitted.load(own_run)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.drop("junk"),
        lambda frame: frame.head(3),
        lambda frame: frame.with_columns(text=pl.lit(1)),
    ],
)
def test_segments_of_another_shape_are_named(
    own_run: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    path = own_run / rundir.SEGMENTS
    change(pl.read_parquet(path)).write_parquet(path)
    sign(own_run)
    assert rundir.SEGMENTS in refusal(own_run)


def test_word_ids_beyond_the_vocabulary_are_named(own_run: Path) -> None:
    np.savez(own_run / rundir.TOKENS, ids=np.array([10**6]), offsets=np.array([0, 1]))
    sign(own_run)
    assert rundir.TOKENS in refusal(own_run)


def test_sentiment_that_was_changed_is_refused_and_if_it_is_missing_that_is_said(
    own_run: Path, aspectra: Callable[..., Any], sample_files: Path, tmp_path: Path
) -> None:
    path, labels = own_run / rundir.SENTIMENT, tmp_path / "l.csv"
    SentimentModel("en", np.array([3]), np.ones((1, 2)), np.zeros(2)).save(path)
    with np.load(path) as arrays:
        forged = {**arrays, "bias": np.array([5.0, -5.0])}
    np.savez(path, **forged)
    words = "label", own_run, sample_files / "dev.jsonl", "-o", labels, "-q"
    assert aspectra(*words).code == 1
    assert rundir.SENTIMENT in refusal(own_run)
    path.unlink()
    told = aspectra(*words)
    assert (told.code, labels.exists()) == (0, True)
    assert "lexicon" in told.err


@pytest.mark.parametrize(
    ("field", "value"),
    {
        "teacher_weight": 7,
        "aspects": ["General", "Noise", "Taste"],
        "config": [],
        "format": 9,
        "learnt": None,
        "weights": None,
        "surplus": 1,
    }.items(),
)
def test_a_forged_student_is_refused(student_run: Path, tmp_path: Path, field: str, value: Any) -> None:
    own = Path(shutil.copytree(student_run, tmp_path / "run"))
    path = own / rundir.STUDENT / rundir.CONFIG
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(RunError, match="Distil again"):
        aspectra.load(own)


def test_a_student_without_its_config_does_not_become_the_teacher_in_silence(
    student_run: Path, tmp_path: Path
) -> None:
    own = Path(shutil.copytree(student_run, tmp_path / "run"))
    (own / rundir.STUDENT / rundir.CONFIG).unlink()
    with pytest.raises(RunError, match=r"config\.json is missing.*--model teacher"):
        aspectra.load(own)
    assert aspectra.load(own, "teacher").label(["The crema tastes bitter."]).height == 1


def test_who_loads_while_a_student_is_written_gets_the_old_or_the_new_one(
    student_run: Path, tmp_path: Path
) -> None:
    own = Path(shutil.copytree(student_run, tmp_path / "run"))
    home, names = own / rundir.STUDENT, (rundir.HEAD, rundir.CONFIG)
    first = {name: (home / name).read_bytes() for name in names}
    weights = load_file(home / rundir.HEAD)
    save_file({name: array * 2 for name, array in weights.items()}, home / rundir.HEAD)
    values = {**json.loads(first[rundir.CONFIG]), "weights": rundir.checksum(home / rundir.HEAD)}
    values[rundir.CHECKSUM] = rundir.own_checksum(values)
    second = {rundir.HEAD: (home / rundir.HEAD).read_bytes(), rundir.CONFIG: json.dumps(values).encode()}
    disk.write_atomic(home / rundir.HEAD, first[rundir.HEAD])
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for version in (first, second):
                with disk.locked(home, "distill"):
                    for name in names:
                        disk.write_atomic(home / name, version[name])
                        time.sleep(0.01)
                time.sleep(0.02)  # a distillation takes longer; who waits must have a chance

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert all(aspectra.load(own).classes_.tolist() for _ in range(10))
    finally:
        stop.set()
        writer.join()


def test_sentiment_and_ratings_of_another_run_are_refused_until_the_fit_is_repeated(
    sample: Sample, tmp_path: Path
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    texts, ratings = sample.reviews["text"], sample.reviews["rating"]
    for folder, rows in ((own, slice(0, 300)), (other, slice(300, 600))):
        AspectDetector(**TINY).fit(texts[rows], run=folder, ratings=ratings[rows])
    for name, wrong in ((rundir.SENTIMENT, "was learnt from other"), (rundir.RATED, "are not those of")):
        shutil.copy(other / name, own)
        assert [one.name for one in check_run(own) if one.wrong] == [name]
        with pytest.raises(RunError, match=wrong):
            load_rated(RunDir(own), Fitted.load(own).sentiment)
        AspectDetector(**TINY).fit(texts[:300], run=own, ratings=ratings[:300])
        assert not [one for one in check_run(own) if one.wrong]


def test_sentiment_that_is_replaced_meanwhile_is_read_again(
    own_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, bias = [], np.array([3.0, -3.0])

    def open_slowly(*words: Any) -> Any:
        if not opened:  # a distillation ends between reading sentiment and student
            SentimentModel("en", bias=bias).save(own_run / rundir.SENTIMENT)
        opened.append(open_labeller(*words))
        return opened[-1]

    monkeypatch.setattr("aspectra.labelling.labeller.open_labeller", open_slowly)
    assert list(aspectra.load(own_run).sentiment.bias) == list(bias)  # type: ignore[attr-defined]
    assert len(opened) == 2


def test_two_distillations_of_one_run_do_not_mix(own_run: Path) -> None:
    with disk.locked(own_run, "distill"), pytest.raises(RunError, match="Another aspectra distill"):
        distill(own_run)
