"""The exported graph answers what torch answers."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from aspectra import disk, rundir
from aspectra.errors import InputError, RunError
from aspectra.labelling.export import export_onnx
from aspectra.labelling.labeller import OnnxLabeller, StudentLabeller, load_student
from aspectra.labelling.onnx import sentiment_beside
from aspectra.sample import Sample

ODD = ["", "Zzz qqq.", "loud " * 200, "☕ ☕"]


@pytest.fixture(scope="module")
def model(student_run: Path) -> StudentLabeller:
    return load_student(student_run)


@pytest.fixture(scope="module")
def graph(model: StudentLabeller, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "student.onnx"
    export_onnx(model.fitted, model.student, path)
    return path


@pytest.fixture(scope="module")
def texts(sample: Sample) -> pl.Series:
    return pl.Series([*sample.reviews["text"][:500], *sample.gold["text"], *ODD] * 2)[:1000]


def probabilities(frame: pl.DataFrame) -> np.ndarray:
    return frame.select(pl.col("^p_.*$")).to_numpy()


def test_labels_are_equal_on_a_thousand_segments(
    model: StudentLabeller, graph: Path, texts: pl.Series
) -> None:
    ours, theirs = model.label_segments(texts), OnnxLabeller(graph).label_segments(texts)
    assert len(texts) == 1000
    assert ours.schema == theirs.schema
    assert ours.select("aspect", "topic", "known_words").equals(
        theirs.select("aspect", "topic", "known_words")
    )
    np.testing.assert_allclose(probabilities(ours), probabilities(theirs), atol=1e-4)


def test_texts_without_a_known_word_are_labelled_too(model: StudentLabeller, graph: Path) -> None:
    odd = ["😀😀", "", "xyzzyq"]
    ours, theirs = model.label_segments(odd), OnnxLabeller(graph).label_segments(odd)
    assert theirs["known_words"].to_list() == [0, 0, 0]
    np.testing.assert_allclose(probabilities(ours), probabilities(theirs), atol=1e-4)


def test_a_folder_has_the_layout_of_the_hub(
    student_run: Path, graph: Path, tmp_path: Path, aspectra: Callable[..., Any]
) -> None:
    transformers = pytest.importorskip("transformers")
    assert aspectra("export", student_run, "-o", tmp_path / "hub").code == 0
    config = transformers.AutoConfig.from_pretrained(tmp_path / "hub")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "hub")
    own = OnnxLabeller(tmp_path / "hub" / "model.onnx")
    assert [config.id2label[number] for number in range(3)] == list(own.classes_)
    assert tokenizer("The pump is loud.")["input_ids"] == own.model.tokenizer.encode("The pump is loud.").ids
    assert (tmp_path / "hub" / "README.md").read_text().startswith("---\nlibrary_name: aspectra\n")
    assert own.predict(["The pump is loud."]) == OnnxLabeller(graph).predict(["The pump is loud."])


def test_who_loads_beside_an_export_waits_for_all_of_its_files(own: Path) -> None:
    tokenizer = own.with_suffix(".tokenizer.json")
    whole = tokenizer.read_bytes()
    locked = threading.Event()

    def export() -> None:
        with disk.locked(own.parent, "export"):
            tokenizer.write_bytes(b"{}")
            locked.set()
            time.sleep(0.2)
            tokenizer.write_bytes(whole)

    writer = threading.Thread(target=export)
    writer.start()
    assert locked.wait(60)
    assert len(OnnxLabeller(own).label(["The pump is loud."])) == 1
    writer.join()


def test_two_exports_into_one_folder_do_not_mix(model: StudentLabeller, tmp_path: Path) -> None:
    with disk.locked(tmp_path, "export"), pytest.raises(RunError, match="Another aspectra export"):
        export_onnx(model.fitted, model.student, tmp_path / "student.onnx")
    assert not list(tmp_path.iterdir())


def test_eight_bits_change_few_labels(model: StudentLabeller, texts: pl.Series, tmp_path: Path) -> None:
    export_onnx(model.fitted, model.student, tmp_path / "small.onnx", int8=True)
    ours, theirs = model.label_segments(texts), OnnxLabeller(tmp_path / "small.onnx").label_segments(texts)
    assert (ours["aspect"] == theirs["aspect"]).mean() >= 0.98
    assert np.abs(probabilities(ours) - probabilities(theirs)).mean() < 0.05
    assert {path.name for path in tmp_path.iterdir()} == {
        "small.onnx", "small.json", "small.tokenizer.json", "small.sentiment.npz"
    }  # fmt: skip


def test_whole_reviews_are_split_as_in_the_run(model: StudentLabeller, graph: Path, sample: Sample) -> None:
    reviews = sample.reviews["text"][:20]
    assert (
        OnnxLabeller(graph)
        .label(reviews)
        .select("review", "segment", "text", "aspect")
        .equals(model.label(reviews).select("review", "segment", "text", "aspect"))
    )


def test_only_restricts_the_answers(graph: Path) -> None:
    frame = OnnxLabeller(graph).label_segments(pl.Series(["The pump is loud."]), only=("Taste", "Noise"))
    assert [name for name in frame.columns if name.startswith("p_")] == ["p_Taste", "p_Noise"]


def test_labelling_with_onnx_imports_no_torch(graph: Path) -> None:
    code = (
        "import sys; from aspectra.labelling.labeller import load\n"
        f"frame = load({str(graph)!r}).label(['The pump is loud. I like it.'])\n"
        "print(len(frame), {'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("2 set()", 0), done.stderr


def test_a_file_that_is_missing_or_spoilt_is_named(graph: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No file .*nothing.onnx. Export it with the others"):
        OnnxLabeller(tmp_path / "nothing.onnx")
    for file in graph.parent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "student.onnx").write_bytes(b"not a graph")
    with pytest.raises(InputError, match="is not a usable ONNX file"):
        OnnxLabeller(tmp_path / "student.onnx")


def test_another_format_is_refused(graph: Path, tmp_path: Path) -> None:
    for file in graph.parent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "student.json").write_text(json.dumps({"format": 7}))
    with pytest.raises(InputError, match=r"has format 7, this version reads 1 and 2. Export it again"):
        OnnxLabeller(tmp_path / "student.onnx")


def test_the_output_must_be_an_onnx_file(model: StudentLabeller, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the output must end in .onnx"):
        export_onnx(model.fitted, model.student, tmp_path / "student.bin")


@pytest.fixture
def own(graph: Path, tmp_path: Path) -> Path:
    """A copy of the exported files that a test may spoil."""
    for file in graph.parent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path / "student.onnx"


@pytest.mark.parametrize("change", [{"aspects": ["General", "Noise", "Taste"]}, {"shares": []}, {"words": 5}])
@pytest.mark.parametrize("old", [False, True])
def test_an_edited_description_is_refused(own: Path, change: dict[str, object], old: bool) -> None:
    about = own.with_suffix(".json")
    values = json.loads(about.read_text())
    if old and "aspects" not in change:  # version 0.1.0 wrote no checksum
        del values["checksum"]
    about.write_text(json.dumps({**values, **change}))
    with pytest.raises(InputError, match="Export"):
        OnnxLabeller(own)


def test_changed_empty_or_foreign_files_are_refused(own: Path) -> None:
    tokenizer = own.with_suffix(".tokenizer.json")
    definition, network = tokenizer.read_bytes(), own.read_bytes()
    tokenizer.write_bytes(definition + b" ")
    with pytest.raises(InputError, match=r"tokenizer\.json was changed"):
        OnnxLabeller(own)
    tokenizer.write_bytes(definition)
    OnnxLabeller(own)
    for content in (b"", network[: len(network) // 2], network + b"\x00" * 10):
        own.write_bytes(content)
        with pytest.raises(InputError, match=r"student\.onnx (was changed|is not a usable)"):
            OnnxLabeller(own)


@pytest.mark.parametrize("suffix", [".tokenizer.json", ".json", ".sentiment.npz"])
def test_signed_files_that_cannot_answer_are_refused(own: Path, suffix: str) -> None:
    forged, about = own.with_suffix(suffix), own.with_suffix(".json")
    values = json.loads(about.read_text())
    if suffix == ".json":
        values["padding"] = 10**30
    elif suffix == ".sentiment.npz":
        forged.write_bytes(b"PK nothing")
    else:
        definition = json.loads(forged.read_text())
        definition["model"]["vocab"]["x"] = "many"
        forged.write_text(json.dumps(definition))
    for name, file in (
        ("tokenizer", own.with_suffix(".tokenizer.json")),
        ("sentiment", sentiment_beside(own)),
    ):
        values[f"{name}_sha256"] = rundir.checksum(file)
    about.write_text(json.dumps({**values, rundir.CHECKSUM: rundir.own_checksum(values)}))
    with pytest.raises(InputError, match="Export"):
        OnnxLabeller(own)


def test_the_exported_sentiment_must_be_there(own: Path) -> None:
    sentiment_beside(own).unlink()
    with pytest.raises(InputError, match=r"No file .*sentiment\.npz"):
        OnnxLabeller(own)
