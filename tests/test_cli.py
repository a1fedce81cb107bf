import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partialmethod
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from conftest import SMALL, TINY, as_flags
from typer.testing import CliRunner

from aspectra.cli import GROUPS, app
from aspectra.config import FitConfig
from aspectra.detector import AspectDetector
from aspectra.disk import atomic_path
from aspectra.errors import InputError
from aspectra.sample import ASPECTS, Sample
from aspectra.text.read import Source

COMMANDS = typer.main.get_command(app).commands
REVIEWS = pl.DataFrame(
    {"stars": [5, 1], "text": ["Nice crema. Loud pump!", "Sent it back."], "id": ["b", "a"]}
)
Aspectra = Callable[..., Any]


def read(path: Path) -> pl.DataFrame:
    return {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}[path.suffix](path)


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    REVIEWS.write_csv(tmp_path / "reviews.csv")
    return tmp_path / "reviews.csv"


def test_the_whole_job_on_the_sample(aspectra: Aspectra, tmp_path: Path) -> None:
    assert aspectra("sample", tmp_path, "--reviews", 700).code == 0
    settings = as_flags(SMALL)
    fitted = aspectra("fit", tmp_path / "reviews.csv", "--run", tmp_path / "run", *settings)
    assert fitted.code == 0
    assert "Reading the text from column 'text'." in fitted.err
    assert "700 reviews" in fitted.err
    assert "16 topics, keyword diversity" in aspectra("topics", tmp_path / "run").out
    mapped = aspectra("map", tmp_path / "run", "--dev", tmp_path / "dev.jsonl")
    assert "Expected on new segments" in mapped.out
    labelled = aspectra("label", tmp_path / "run", tmp_path / "reviews.csv", "-o", tmp_path / "labelled.csv")
    assert f"Wrote {len(read(tmp_path / 'labelled.csv')):,} segments" in labelled.err
    report = json.loads(aspectra("evaluate", tmp_path / "run", tmp_path / "test.jsonl", "--json").out)
    assert report["f1_micro"] > report["majority_f1_micro"] + 0.2


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help(aspectra: Aspectra, name: str) -> None:
    answer = aspectra(name, "--help")
    assert answer.code == 0
    assert COMMANDS[name].help.splitlines()[0] in " ".join(answer.out.split())
    for parameter in COMMANDS[name].params:
        assert parameter.help, parameter.name
        assert max(parameter.opts, key=len) in answer.out or parameter.param_type_name == "argument"


def test_every_setting_is_an_option_of_fit_with_its_default() -> None:
    options = {parameter.name: parameter.default for parameter in COMMANDS["fit"].params}
    assert {name: options[name] for name in FitConfig().to_dict()} == FitConfig().to_dict()


def test_every_command_has_a_summary_that_fits_80_columns() -> None:
    text = CliRunner().invoke(app, ["--help"], terminal_width=80).stdout
    commands = [line for line in text.splitlines() if line.strip().split(" ")[0] in COMMANDS]
    assert len(commands) == len(COMMANDS)
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


def test_help_lists_the_commands_in_groups() -> None:
    text = CliRunner().invoke(app, ["--help"]).stdout
    assert [text.index(f"\n{group}:\n") for group in GROUPS] == sorted(
        text.index(f"\n{group}:\n") for group in GROUPS
    )
    assert text.index("Models:") < text.index("  distill ") < text.index("Research:") < text.index("  bench ")


def test_completion_can_be_shown(aspectra: Aspectra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))  # tests may have no shell
    answer = aspectra("--show-completion", "bash")
    assert "_ASPECTRA_COMPLETE=complete_bash" in answer.out


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["fit", "--help"], ["label", "--help"]])
def test_help_does_not_wait_for_heavy_libraries(words: list[str]) -> None:
    code = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules)); import aspectra.cli as c; c.main()"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    ).stdout
    assert "aspectra.cli" in out.split()
    assert not {"torch", "sklearn", "polars", "gensim", "numpy", "pyarrow", "scipy", "rich.table"} & set(
        out.split()
    )


def test_labelling_with_the_teacher_needs_no_torch(run: Path, sample_files: Path, tmp_path: Path) -> None:
    code = "import atexit, sys, aspectra.cli as c; atexit.register(lambda: print(*sys.modules)); c.main()"
    words = ["label", run, sample_files / "reviews.csv", "-o", tmp_path / "out.csv", "--quiet"]
    end = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    loaded = set(end.stdout.split())
    assert "aspectra.teacher.encode" in loaded
    assert not {"torch", "sklearn", "scipy", "numba", "pandas", "pyarrow", "transformers"} & loaded
    assert len(read(tmp_path / "out.csv")) > 700


def test_an_error_of_ours_is_one_line_and_exit_code_1(program: list[str], tmp_path: Path) -> None:
    end = subprocess.run(
        [*program, "fit", "nowhere.csv", "-o", tmp_path / "run"], capture_output=True, text=True
    )
    assert (end.returncode, end.stdout, end.stderr) == (1, "", "aspectra: No such file: nowhere.csv.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["fit"],
        ["label", "run", "x.csv", "-o", ""],
        ["fit", "x.csv"],
        ["fly"],
        ["fit", "x.csv", "--run", "y", "--n-topics", "many"],
    ],
)
def test_wrong_usage_is_exit_code_2(aspectra: Aspectra, words: list[str]) -> None:
    answer = aspectra(*words)
    assert answer.code == 2
    assert "Usage: " in answer.err


@pytest.mark.parametrize(
    "fault",
    [
        OSError(28, "No space left on device"),
        MemoryError(),
        ImportError("libopenblas.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        PermissionError(13, "no", "f"),
        InputError("a name of a megabyte" * 50_000),
    ],
)
def test_what_the_system_refuses_is_one_line(
    aspectra: Aspectra, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def refuse(*_: object) -> None:
        raise fault

    monkeypatch.setattr("aspectra.text.read.open_source", refuse)
    answer = aspectra("label", "run", "a.csv", "-o", "labelled.csv")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert len(answer.err) < 2100


def test_a_deleted_folder_is_no_place_to_work_in(
    aspectra: Aspectra, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    answer = aspectra("label", "run", "a.csv", "-o", "labelled.csv")
    assert (answer.code, answer.err.count("\n")) == (1, 1)


def test_kill_removes_hidden_files_and_is_exit_code_143(
    aspectra: Aspectra, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def be_killed(*_: object) -> None:
        with atomic_path(tmp_path / "labelled.csv"):
            signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("aspectra.text.read.open_source", be_killed)
    answer = aspectra("label", "run", "a.csv", "-o", "labelled.csv")
    signal.signal(signal.SIGTERM, before)
    assert (answer.code, answer.err.count("\n"), list(tmp_path.iterdir())) == (143, 1, [])


def test_ctrl_c_is_exit_code_130_and_one_line(
    aspectra: Aspectra, sample_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["fit", sample_files / "reviews.csv", "--run", tmp_path / "run", "--quiet", *as_flags(TINY)]
    with monkeypatch.context() as patch:
        patch.setattr("aspectra.fitting.learn_vectors", lambda *_: signal.raise_signal(signal.SIGINT))
        answer = aspectra(*words)
    assert (answer.code, answer.err.count("\n")) == (130, 1)
    assert answer.err.startswith("aspectra: stopped.")
    assert aspectra(*words).code == 0


def test_ctrl_c_before_the_command_begins_is_no_traceback(
    aspectra: Aspectra, monkeypatch: pytest.MonkeyPatch
) -> None:
    early = (
        "import signal, sys\n"
        "class Stop:\n"
        "    find_spec = lambda name, *_: signal.raise_signal(signal.SIGINT) if name == 'typer' else None\n"
        "sys.meta_path.insert(0, Stop)\n"
        "import aspectra.cli"
    )
    end = subprocess.run([sys.executable, "-c", early], capture_output=True, text=True)
    assert (end.returncode, end.stderr) == (130, "")
    monkeypatch.setattr("aspectra.cli.check_words", lambda _: signal.raise_signal(signal.SIGINT))
    answer = aspectra("topics", "run")
    assert (answer.code, answer.err.count("\n")) == (130, 1)


def test_a_reader_that_goes_away_is_no_traceback(program: list[str], run: Path) -> None:
    with subprocess.Popen(
        [*program, "topics", run, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 1


def test_quiet_commands_say_nothing(
    aspectra: Aspectra, sample_files: Path, reviews: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    for words in (
        ["sample", tmp_path / "sample", "--reviews", 5],
        ["fit", sample_files / "reviews.csv", "--run", run, *as_flags(TINY)],
        ["map", run, "--dev", sample_files / "dev.jsonl"],
        ["label", run, reviews, "-o", tmp_path / "labelled.csv"],
    ):
        answer = aspectra(*words, "--quiet")
        assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_topics_are_shown_with_share_coherence_keywords_and_a_typical_segment(
    aspectra: Aspectra, run: Path, detector: AspectDetector
) -> None:
    topic = detector.topics_.items[0]
    out = aspectra("topics", run).out
    assert " ".join(topic.keywords) in out
    assert topic.typical[0][:40] in out
    assert f"{topic.share:.1%}" in out
    assert f"{topic.coherence:.2f}" in out
    assert json.loads(aspectra("topics", run, "--json").out) == json.loads(
        json.dumps(detector.topics_.to_dict())
    )


def test_topics_by_aspect_stand_behind_their_aspect_with_general_last(
    aspectra: Aspectra, run: Path, detector: AspectDetector
) -> None:
    lines = aspectra("topics", run, "--by", "aspect").out.splitlines()
    first = {line.split()[0]: number for number, line in enumerate(lines) if line.strip()}
    assert first["Noise"] < first["Taste"] < first["General"] < first["unmapped"]
    noise = max((detector.topics_.items[topic] for topic in range(4, 8)), key=lambda item: item.share)
    assert " ".join(noise.keywords[:6]) in lines[first["Noise"]]


def test_topics_are_shown_by_topic_or_by_aspect_only(aspectra: Aspectra, run: Path) -> None:
    answer = aspectra("topics", run, "--by", "colour")
    assert answer.code == 1
    assert "--by must be one of topic, aspect, got 'colour'" in answer.err


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_labels_are_those_of_the_detector_beside_the_carried_columns(
    aspectra: Aspectra, run: Path, detector: AspectDetector, reviews: Path, tmp_path: Path, kind: str
) -> None:
    answer = aspectra("label", run, reviews, "-o", tmp_path / f"labelled.{kind}", "--id-column", "id")
    output = tmp_path / f"labelled.{kind}"
    assert f"Wrote 3 segments to {output}." in answer.err
    assert f"Next: aspectra report {run} {output}" in answer.err
    frame, expected = read(tmp_path / f"labelled.{kind}"), detector.label(REVIEWS["text"])
    assert frame.columns == ["id", "stars", *expected.columns]
    assert frame["id"].to_list() == ["b", "b", "a"]
    assert frame["stars"].cast(pl.Int64).to_list() == [5, 5, 1]
    assert frame["aspect"].to_list() == expected["aspect"].to_list()
    assert frame["probability"].to_list() == pytest.approx(expected["probability"].to_list())


def test_a_labelled_csv_opens_in_excel(aspectra: Aspectra, run: Path, reviews: Path, tmp_path: Path) -> None:
    aspectra("label", run, reviews, "-o", tmp_path / "labelled.csv")
    assert (
        (tmp_path / "labelled.csv")
        .read_bytes()
        .startswith(b"\xef\xbb\xbfstars,id,review,segment,text,aspect,")
    )


def test_columns_that_clash_with_ours_are_carried_under_another_name(
    aspectra: Aspectra, run: Path, tmp_path: Path
) -> None:
    frame = pl.DataFrame(
        {"text": ["Nice crema."], "aspect": ["theirs"], "input_aspect": ["older"], "review": [7]}
    )
    frame.write_parquet(tmp_path / "reviews.parquet")
    aspectra("label", run, tmp_path / "reviews.parquet", "-o", tmp_path / "labelled.parquet")
    row = pl.read_parquet(tmp_path / "labelled.parquet").row(0, named=True)
    assert (row["input_input_aspect"], row["input_aspect"], row["input_review"], row["review"]) == (
        "theirs",
        "older",
        7,
        0,
    )
    assert row["aspect"] in ("Taste", "Noise", "General")


def test_what_was_labelled_can_be_labelled_again_and_again(
    aspectra: Aspectra, run: Path, reviews: Path, tmp_path: Path
) -> None:
    paths = [reviews, *(tmp_path / f"{number}.csv" for number in range(3))]
    for path, output in pairwise(paths):
        assert aspectra("label", run, path, "-o", output).code == 0
    assert read(paths[3])["text"].to_list() == read(paths[1])["text"].to_list()


def test_globs_gzip_and_plain_text_are_labelled_together(
    aspectra: Aspectra, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Nice crema.\n\nLoud pump.\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("Würde ich nie.\n".encode("latin-1")))
    answer = aspectra("label", run, tmp_path / "*.txt*", "-o", tmp_path / "out.csv", "--encoding", "latin-1")
    frame = read(tmp_path / "out.csv")
    assert frame["text"].to_list() == ["Nice crema.", "Loud pump.", "Würde ich nie."]
    assert frame["review"].to_list() == [0, 1, 2]
    assert "a.txt: left out 1 row without text (line 2)" in answer.err


def test_batches_change_nothing(
    aspectra: Aspectra, run: Path, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.reviews[:50].write_parquet(tmp_path / "reviews.parquet")
    aspectra("label", run, tmp_path / "reviews.parquet", "-o", tmp_path / "whole.parquet")
    monkeypatch.setattr(Source, "batches", partialmethod(Source.batches, size=7))
    aspectra("label", run, tmp_path / "reviews.parquet", "-o", tmp_path / "pieces.parquet")
    assert read(tmp_path / "whole.parquet").equals(read(tmp_path / "pieces.parquet"))


def test_fit_and_label_read_the_column_they_are_told(
    aspectra: Aspectra, own_run: Path, tmp_path: Path
) -> None:
    pl.DataFrame({"text": ["title"], "body": ["Loud pump. Nice crema."]}).write_csv(tmp_path / "x.csv")
    answer = aspectra(
        "label", own_run, tmp_path / "x.csv", "-o", tmp_path / "out.csv", "--text-column", "body"
    )
    assert "Reading the text" not in answer.err
    assert read(tmp_path / "out.csv")["text"].to_list() == ["Loud pump.", "Nice crema."]
    assert read(tmp_path / "out.csv")["input_text"].to_list() == ["title", "title"]


def test_a_finished_fit_is_not_done_again(aspectra: Aspectra, sample_files: Path, tmp_path: Path) -> None:
    words = ["fit", sample_files / "reviews.csv", "--run", tmp_path / "run", *as_flags(TINY)]
    assert aspectra(*words).code == 0
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    assert aspectra(*words).code == 0
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()} == before


def test_evaluate_prints_every_score_and_the_confusion(
    aspectra: Aspectra, own_run: Path, sample_files: Path
) -> None:
    aspectra("map", own_run, "--dev", sample_files / "dev.jsonl", "--replace")
    out = aspectra("evaluate", own_run, sample_files / "test.jsonl").out
    scores = ["precision", "recall", "f1_micro", "f1_macro", "f1_weighted", "f1_macro_without_general"]
    for words in (*scores, "majority answer", "Confusion", *ASPECTS):
        assert words in out


def test_evaluate_only_restricts_gold_and_answers(aspectra: Aspectra, run: Path, sample_files: Path) -> None:
    answer = aspectra("evaluate", run, sample_files / "test.jsonl", "--only", "Taste, Noise", "--json")
    report = json.loads(answer.out)
    assert report["aspects"] == ["Taste", "Noise"]
    gold = pl.read_ndjson(sample_files / "test.jsonl")["aspects"]
    assert report["n"] == sum(bool({"Taste", "Noise"} & set(names)) for names in gold)
    assert f"Left out {len(gold) - report['n']} segments of other aspects." in answer.err


def test_the_sample_is_the_same_for_the_same_seed(
    aspectra: Aspectra, tmp_path: Path, snapshot: Callable
) -> None:
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        aspectra("sample", tmp_path / folder, "--reviews", 5, "--seed", seed)
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b") != snapshot(tmp_path / "c")


def test_the_version_is_that_of_the_package(aspectra: Aspectra) -> None:
    import aspectra as package

    assert aspectra("--version").out.strip() == package.__version__
