"""Every shell and Python block of the README and the docs runs, on the embedded sample.

Each page gets a folder with the files that its commands name, and its blocks run there from top to bottom.
What cannot run has a comment right above its block: `<!-- not run: why -->`, or, for the lines with some text
only, `<!-- not run "text": why -->`.
"""

import itertools
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import SMALL, as_flags, label_file, student_config
from typer.testing import CliRunner

from aspectra.cli import app
from aspectra.detector import AspectDetector
from aspectra.sample import Sample

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LANGUAGES = {"sh", "python", "text"}
NOT_RUN = re.compile(r'<!-- not run(?: "(?P<part>[^"]+)")?: (?P<why>.+) -->')
ASPECTS = ("Image", "Sound", "Price", "General")
AS_TV = {"Taste": "Image", "taste": "image", "Noise": "Sound", "noise": "sound"}
"""The docs speak of TVs and the sample of coffee machines: these words of the sample are replaced."""
ASPECTS_FILE = '[Image]\nwords = ["image", "crema"]\n[Sound]\nwords = ["sound", "loud"]\n[Price]\n'
FASTER = {
    "fit": as_flags(SMALL),
    "map runs/tv --aspects": ["--encoder=none"],
    "distill": ["--n-segments=300", "--epochs=1", "--encoder=encoder"],
    "bench quality": ["--systems=majority", "--seeds=1"],
}
"""Options added to these commands, so that they take seconds."""
FASTER_PYTHON = {
    r"AspectDetector\(.*?\)": "AspectDetector(**SMALL)",
    r"suggest_map\((\[.+?\])\)": r'suggest_map(\1, encoder="none")',
    r'distill\("(.+?)"': r'distill("\1", SMALL_STUDENT',
}
"""The same in Python: what is replaced, and by what."""


@dataclass(frozen=True)
class Block:
    line: int
    language: str
    text: str
    not_run: tuple[str, ...]
    """Lines with one of these texts are not run; the empty text stands in every line."""

    def commands(self) -> list[str]:
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not any(part in line for part in self.not_run)]


def blocks_of(page: Path) -> Iterator[Block]:
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    not_run: list[str] = []
    for number, line in lines:
        if comment := NOT_RUN.fullmatch(line):
            not_run.append(comment["part"] or "")
        elif line.startswith("```"):
            body = itertools.takewhile(lambda text: text != "```", (text for _, text in lines))
            yield Block(number, line[3:], "\n".join(body), tuple(not_run))
            not_run = []
        elif line:
            not_run = []


BLOCKS = {page: list(blocks_of(page)) for page in PAGES}
WITH_CODE = [page for page in PAGES if any(block.language != "text" for block in BLOCKS[page])]


@pytest.fixture(scope="session")
def prepared(sample: Sample, encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the docs name, and runs/tv, which is mapped."""
    folder = tmp_path_factory.mktemp("docs")
    reviews = sample.reviews.with_columns(pl.col("text").str.replace_many(AS_TV))
    detector = AspectDetector(**SMALL).fit(reviews["text"]).suggest_map(ASPECTS, encoder="none")
    detector.save(folder / "runs/tv")
    reviews.write_csv(folder / "reviews.csv")
    reviews.head(60).write_csv(folder / "new.csv")
    (folder / "reviews").mkdir()
    for name, rows in {"october": reviews[:300], "november": reviews[300:]}.items():
        rows.write_parquet(folder / f"reviews/{name}.parquet")
        label_file(detector, rows, folder / f"{name}.parquet")
    label_file(detector, reviews, folder / "labelled.parquet")
    aspects = pl.col("aspects").list.eval(pl.element().replace(AS_TV))
    gold = sample.gold.with_columns(pl.col("text").str.replace_many(AS_TV), aspects)
    known = pl.col("aspects").list.eval(pl.element().is_in(ASPECTS)).list.all()
    gold.filter(known).write_ndjson(folder / "gold.jsonl")
    (folder / "words.toml").write_text(ASPECTS_FILE)
    shutil.copytree(encoder_folder, folder / "encoder")
    return folder


def run_command(line: str) -> None:
    words = shlex.split(line, comments=True)
    assert words[0] == "aspectra", f"Cannot run {line!r}: say why above its block"
    more = [options for name, options in FASTER.items() if line.startswith(f"aspectra {name} ")]
    result = CliRunner().invoke(app, [*words[1:], *itertools.chain(*more)])
    assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"


def run_python(text: str, names: dict[str, Any]) -> None:
    for pattern, faster in FASTER_PYTHON.items():
        text = re.sub(pattern, faster, text)
    exec(compile(text, "block", "exec"), names)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_every_block_runs(
    page: Path, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    names = {"SMALL": SMALL, "SMALL_STUDENT": student_config(Path("encoder"), n_segments=300, epochs=1)}
    for block in BLOCKS[page]:
        if block.language == "sh":
            for line in block.commands():
                run_command(line)
        elif block.language == "python" and not block.not_run:
            run_python(block.text, names)
    assert BLOCKS[page]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_its_language(page: Path) -> None:
    assert [block.line for block in BLOCKS[page] if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_what_is_not_run_stands_in_its_block(page: Path) -> None:
    parts = [(part, block.text) for block in BLOCKS[page] for part in block.not_run]
    assert [part for part, text in parts if part not in text] == []
