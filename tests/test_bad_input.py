"""What people give by mistake: one sentence with the value and what to do, exit code 1, no file changed."""

import gzip
import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import TINY, as_flags

from aspectra import rundir
from aspectra.rundir import RunDir
from aspectra.sample import Sample

Aspectra = Callable[..., Any]


@pytest.fixture
def refused(aspectra: Aspectra, tmp_path: Path, snapshot: Callable) -> Callable[..., str]:
    """Run a command that must fail with one line and exit code 1 and change no file; return the line."""

    def call(*words: object) -> str:
        before = snapshot(tmp_path)
        answer = aspectra(*words, "--quiet")
        assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
        assert {
            name: data for name, data in snapshot(tmp_path).items() if not name.startswith("new/")
        } == before
        return str(answer.err)

    return call


UNUSABLE: dict[str, tuple[str, bytes, str]] = {
    "an empty csv": ("x.csv", b"", "x.csv is empty: no review in it."),
    "an empty txt": ("x.txt", b"", "x.txt is empty: no review in it."),
    "an empty jsonl": ("x.jsonl", b"\n\n", "x.jsonl is empty: no review in it."),
    "a header only": ("x.csv", b"id,text\n", "x.csv is empty: no review in it."),
    "blank lines only": ("x.txt", b" \n\n", "left out 2 rows without text (line 1, 2)."),
    "no text column": ("x.csv", b"id,stars\n1,5\n", "among id, stars. Name it: --text-column NAME."),
    "nulls only": (
        "x.jsonl",
        b'{"text": null}\n{"text": null}\n',
        "left out 2 rows without text (line 1, 2).",
    ),
    "latin-1 bytes": (
        "x.csv",
        "id,text\n1,schön\n".encode("latin-1"),
        "byte 0xf6 in line 2. Name its encoding",
    ),
    "an open quote": (
        "x.csv",
        b'id,text\n1,fine\n2,"never\n3,closed\n',
        "the quote opened in line 3 never closes.",
    ),
    "nul bytes": ("x.csv", b"text\nfine\nno\0t\n", "has a NUL byte in line 3: not plain text."),
    "a cut gzip": (
        "x.csv.gz",
        gzip.compress(b"text\n" + b"fine\n" * 999, mtime=0)[:-20],
        "not a complete gzip file (",
    ),
    "emoji only": ("x.txt", "👍👍\n❤️\n".encode() * 50, "have 0 words that occur 3 times or more"),
    "three reviews": (
        "x.txt",
        b"Nice crema.\nLoud pump.\nToo dear.\n",
        "fewer than 4 topics. Give more reviews",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_fit_refuses(refused: Callable[..., str], tmp_path: Path, case: str) -> None:
    name, content, message = UNUSABLE[case]
    (tmp_path / name).write_bytes(content)
    assert message in refused("fit", tmp_path / name, "--run", tmp_path / "new", *as_flags(TINY))


@pytest.mark.parametrize("case", [case for case in UNUSABLE if case not in ("emoji only", "three reviews")])
def test_label_refuses(refused: Callable[..., str], run: Path, tmp_path: Path, case: str) -> None:
    name, content, message = UNUSABLE[case]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "labelled.csv").write_text("of yesterday")
    assert message in refused("label", run, tmp_path / name, "-o", tmp_path / "labelled.csv")


@pytest.mark.parametrize("case", ["three reviews", "emoji only"])
def test_a_fit_that_is_refused_leaves_a_finished_run_as_it_was(
    refused: Callable[..., str], own_run: Path, tmp_path: Path, case: str
) -> None:
    (tmp_path / "x.txt").write_bytes(UNUSABLE[case][1])
    assert "fewer than 4 topics" in refused("fit", tmp_path / "x.txt", "--run", own_run, *as_flags(TINY))


def test_latin_1_works_when_it_is_said(aspectra: Aspectra, run: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("id,text\n1,schön\n".encode("latin-1"))
    assert (
        aspectra("label", run, tmp_path / "x.csv", "-o", tmp_path / "y.csv", "--encoding", "latin-1").code
        == 0
    )
    assert pl.read_csv(tmp_path / "y.csv")["text"].to_list() == ["schön"]


def test_a_fault_far_down_the_file_is_found_before_anything_is_written_over(
    refused: Callable[..., str], run: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text("text\n" + "Nice crema.\n" * 25_000 + '"never closed\n')
    (tmp_path / "labelled.csv").write_text("of yesterday")
    line = refused("label", run, tmp_path / "x.csv", "-o", tmp_path / "labelled.csv")
    assert "the quote opened in line 25002 never closes" in line


def test_nulls_among_reviews_are_left_out_and_counted(aspectra: Aspectra, run: Path, tmp_path: Path) -> None:
    pl.DataFrame({"text": ["Nice crema.", None, "Loud pump.", ""]}).write_parquet(tmp_path / "x.parquet")
    answer = aspectra("label", run, tmp_path / "x.parquet", "-o", tmp_path / "y.csv")
    assert "x.parquet: left out 2 rows without text (line 2, 4)" in answer.err
    assert pl.read_csv(tmp_path / "y.csv")["text"].to_list() == ["Nice crema.", "Loud pump."]


def test_fewer_known_words_than_topics(
    refused: Callable[..., str], sample_files: Path, tmp_path: Path
) -> None:
    line = refused(
        "fit", sample_files / "reviews.csv", "--run", tmp_path / "new", "--n-topics", 5000, "--min-count", 10
    )
    assert (
        "words that occur 10 times or more, fewer than 5000 topics. Give more reviews, or lower --min-count"
        in line
    )


def test_one_topic(refused: Callable[..., str], sample_files: Path, tmp_path: Path) -> None:
    line = refused("fit", sample_files / "reviews.csv", "--run", tmp_path / "run", "--n-topics", 1)
    assert line == "aspectra: n_topics must be from 2 to 10000, got 1.\n"
    assert not (tmp_path / "run").exists()


def test_a_review_of_a_megabyte_works(aspectra: Aspectra, run: Path, sample: Sample, tmp_path: Path) -> None:
    long = " ".join(sample.reviews["text"])
    long *= 2**20 // len(long) + 1
    (tmp_path / "x.jsonl").write_text(
        json.dumps({"text": long}) + "\n" + json.dumps({"text": "word" * 2**18}) + "\n"
    )
    assert aspectra("label", run, tmp_path / "x.jsonl", "-o", tmp_path / "y.parquet").code == 0
    frame = pl.read_parquet(tmp_path / "y.parquet")
    assert frame["review"].to_list()[-2:] == [0, 1]
    assert len("".join(frame["text"])) > 0.9 * len(long)


def test_a_megabyte_in_one_csv_field_works(aspectra: Aspectra, run: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('id,text\n1,"' + "Nice crema, loud pump.\n" * 45_000 + '"\n')
    assert aspectra("label", run, tmp_path / "x.csv", "-o", tmp_path / "y.parquet").code == 0
    assert len(pl.read_parquet(tmp_path / "y.parquet")) == 45_000


def test_emoji_only_reviews_are_labelled_and_flagged_and_never_dropped(
    aspectra: Aspectra, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text("👍👍\nThe crema tastes bitter.\n❤️\n")
    aspectra("label", run, tmp_path / "x.txt", "-o", tmp_path / "y.csv")
    frame = pl.read_csv(tmp_path / "y.csv")
    assert frame["text"].to_list() == ["👍👍", "The crema tastes bitter.", "❤️"]
    assert frame["aspect"].to_list()[::2] == ["General", "General"]
    assert [known > 0 for known in frame["known_words"]] == [False, True, False]
    assert frame["topic"].to_list()[::2] == [None, None]


NO_RUN = {
    "nowhere": "nowhere. Make it first: aspectra fit",
    "other": "other is not a run of aspectra: it has no manifest.json",
    "file": "file is a file. Name the folder given to aspectra fit --run",
}


@pytest.mark.parametrize("command", ["topics", "map", "label", "evaluate"])
@pytest.mark.parametrize("place", NO_RUN)
def test_a_run_folder_that_is_not_one(
    aspectra: Aspectra, sample_files: Path, tmp_path: Path, command: str, place: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("precious")
    (tmp_path / "file").write_text("precious")
    more = {
        "label": [sample_files / "reviews.csv", "-o", tmp_path / "out.csv"],
        "evaluate": [sample_files / "test.jsonl"],
    }
    answer = aspectra(command, tmp_path / place, *more.get(command, []))
    assert answer.code == 1
    assert NO_RUN[place] in answer.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("place", "message"), [("other", "is not empty and not a run"), ("file", "is a file, not a folder")]
)
def test_fit_does_not_write_into_a_folder_that_is_no_run(
    refused: Callable[..., str], sample_files: Path, tmp_path: Path, place: str, message: str
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("precious")
    (tmp_path / "file").write_text("precious")
    assert message in refused("fit", sample_files / "reviews.csv", "--run", tmp_path / place, *as_flags(TINY))


def test_outputs_that_cannot_be_written(
    refused: Callable[..., str], run: Path, sample_files: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("precious")
    reviews = sample_files / "reviews.csv"
    assert "Cannot write" in refused("label", run, reviews, "-o", tmp_path / "file" / "out.csv")
    assert "Cannot write" in refused("fit", reviews, "--run", tmp_path / "file" / "run", *as_flags(TINY))
    assert "the output must end in .parquet, .csv, .xlsx, .jsonl" in refused(
        "label", run, reviews, "-o", tmp_path / "out.xls"
    )


def test_an_output_that_is_also_an_input(refused: Callable[..., str], run: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text\nNice crema.\n")
    assert "is also an input. Choose another -o." in refused(
        "label", run, tmp_path / "x.csv", "-o", tmp_path / "x.csv"
    )


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Let no file grow beyond so many bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_full_disk_leaves_the_earlier_output(
    aspectra: Aspectra, full_disk: Callable, run: Path, sample_files: Path, tmp_path: Path, kind: str
) -> None:
    (tmp_path / f"out.{kind}").write_text("of yesterday")
    full_disk(5000)
    answer = aspectra("label", run, sample_files / "reviews.csv", "-o", tmp_path / f"out.{kind}", "--quiet")
    assert answer.code == 1
    assert f"Cannot write {tmp_path / f'out.{kind}'}: " in answer.err
    assert "File too large. Nothing was changed." in answer.err
    assert (tmp_path / f"out.{kind}").read_text() == "of yesterday"
    assert [path.name for path in tmp_path.iterdir()] == [f"out.{kind}"]


@pytest.mark.parametrize("size", [100, 1000, 5000, 20_000])
def test_a_full_disk_during_fit_is_one_line_and_the_fit_goes_on_later(
    aspectra: Aspectra, full_disk: Callable, sample_files: Path, tmp_path: Path, size: int
) -> None:
    words = ["fit", sample_files / "reviews.csv", "--run", tmp_path / "run", "--quiet", *as_flags(TINY)]
    full_disk(size)
    answer = aspectra(*words)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "Cannot write" in answer.err
    full_disk(resource.RLIM_INFINITY)
    assert aspectra(*words).code == 0


@pytest.mark.parametrize("name", [name for names in rundir.STAGE_FILES.values() for name in names])
def test_a_corrupted_artifact(
    refused: Callable[..., str], own_run: Path, sample_files: Path, tmp_path: Path, name: str
) -> None:
    data = bytearray((own_run / name).read_bytes())
    data[len(data) // 2] ^= 1
    (own_run / name).write_bytes(data)
    label = ["label", own_run, sample_files / "reviews.csv", "-o", tmp_path / "out.csv"]
    is_large = name in (rundir.SEGMENTS, rundir.TOKENS)  # labelling does not need them
    line = refused(*(["map", own_run, "--aspects", "Taste,Noise"] if is_large else label))
    assert f"{name} is missing or damaged. Repeat the fit" in line


def test_a_corrupted_manifest(refused: Callable[..., str], own_run: Path, sample_files: Path) -> None:
    (own_run / rundir.MANIFEST).write_text("{")
    for words in (
        ["evaluate", own_run, sample_files / "test.jsonl"],
        ["fit", sample_files / "reviews.csv", "--run", own_run],
    ):
        assert "manifest.json is damaged (" in refused(*words)


def test_a_run_of_a_newer_version(refused: Callable[..., str], own_run: Path, sample_files: Path) -> None:
    manifest = json.loads((own_run / rundir.MANIFEST).read_text())
    (own_run / rundir.MANIFEST).write_text(json.dumps({**manifest, "format": 99}))
    for words in (
        ["evaluate", own_run, sample_files / "test.jsonl"],
        ["fit", sample_files / "reviews.csv", "--run", own_run],
    ):
        assert (
            "has format 99, this version reads format 1. Update aspectra, or fit the reviews again"
            in refused(*words)
        )


def test_settings_of_a_newer_version(refused: Callable[..., str], own_run: Path, sample_files: Path) -> None:
    run = RunDir(own_run)
    config, mark = run.config(), run.fingerprint_of("topics")
    rundir.write_json(run / rundir.CONFIG, {**config, "telepathy": True})
    run.finish("topics", mark)
    assert "Unknown settings ['telepathy']. Known: [" in refused(
        "evaluate", own_run, sample_files / "test.jsonl"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topics": "0123456789abcdef"}, "was made for other topics. Map them again: aspectra map"),
        ({"version": 99}, "The topic map has version 99, this program reads 1 to 2. Update aspectra."),
        ({"aspects": ["Smell"]}, "Unknown aspect"),
    ],
)
def test_a_map_that_does_not_belong_to_the_run(
    refused: Callable[..., str],
    own_run: Path,
    sample_files: Path,
    tmp_path: Path,
    change: dict[str, Any],
    message: str,
) -> None:
    path = own_run / rundir.TOPIC_MAP
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    for words in (
        ["evaluate", own_run, sample_files / "test.jsonl"],
        ["map", own_run],
        ["map", own_run, "--aspects", "Price"],
    ):
        assert message in refused(*words)
    assert message in refused("label", own_run, sample_files / "reviews.csv", "-o", tmp_path / "out.csv")


def test_topics_are_shown_even_if_the_map_does_not_belong_to_them(aspectra: Aspectra, own_run: Path) -> None:
    path = own_run / rundir.TOPIC_MAP
    path.write_text(json.dumps({**json.loads(path.read_text()), "topics": "0123456789abcdef"}))
    answer = aspectra("topics", own_run)
    assert (answer.code, "16 topics" in answer.out) == (0, True)
    assert "was made for other topics. Map them again" in answer.err


def test_no_map_yet(refused: Callable[..., str], own_run: Path, sample_files: Path, tmp_path: Path) -> None:
    (own_run / rundir.TOPIC_MAP).unlink()
    assert "No topic map" in refused("map", own_run)
    label = ["label", own_run, sample_files / "reviews.csv", "-o", tmp_path / "out.csv"]
    for words in (["evaluate", own_run, sample_files / "test.jsonl"], label):
        assert "Map the topics first: aspectra map" in refused(*words)
