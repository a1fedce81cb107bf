"""What commands share on the terminal: common options, notes, progress bars and tables.

Notes and progress go to stderr, results to stdout; --quiet leaves only results and errors.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aspectra import rundir
from aspectra.errors import typed
from aspectra.progress import Count, Progress, uncounted
from aspectra.progress import quiet as no_progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from aspectra.detector import AspectDetector
    from aspectra.text.read import Source

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, but for the ends of lines and tabs, and those that turn the direction of text."""
NARROWEST, WIDTH = 20, 80
"""A terminal that says to have fewer columns is not believed; it is taken for one of WIDTH."""
LEADING = 5
"""So many of a topic's keywords may be an example of an aspect's name."""
Run = Annotated[Path, typer.Argument(help="The run's folder, as given to aspectra fit --run.")]
Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="CSV, TSV, JSONL, Parquet or txt (one review per line), also .gz; folders and globs too.",
    ),
]
TextColumn = Annotated[
    str | None, typer.Option(help="Column with the review text; by default it is guessed.")
]
IdColumn = Annotated[str | None, typer.Option(help="Column of the input to put first in the output.")]
Encoding = Annotated[str, typer.Option(help="Encoding of text files: utf-8, latin-1, cp1252, utf-16, …")]
Model = Annotated[
    str | None,
    typer.Option(
        help="fast: the fast student; encoder: the student with its encoder, slow, up to 3 points "
        "more F1; teacher: the teacher alone; auto, the default: the first of them that the run has."
    ),
]
Onnx = Annotated[
    Path | None, typer.Option(help="Exported student to label with, instead of a run; needs no torch.")
]
SkipDuplicates = Annotated[
    bool,
    typer.Option(
        "--skip-duplicates",
        help="Leave out reviews of five words or more whose text an earlier review has, too.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """Write signs that a terminal would obey, from a review or a file's name, as JSON does: \\u001b."""
    return OBEYED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def console(stderr: bool = False) -> Console:
    """Return what prints tables: no text in them is markup, and none is obeyed by a terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class Harmless(Console):
        def render(self, *what: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*what, **options):
                yield Segment(text if control else harmless(text), style, control)

    made = Harmless(stderr=stderr, highlight=False, markup=False, emoji=False)
    if made.width < NARROWEST:  # COLUMNS=0: nothing would be printed
        made.width = WIDTH
    return made


def line(text: str) -> None:
    """Print a line of the result."""
    typer.echo(harmless(text))


def as_json(value: Any) -> None:
    """Print a result for machines."""
    line(json.dumps(value, ensure_ascii=False, indent=1))


def note(text: str, quiet: bool = False) -> None:
    """Print a line to stderr, where it does not mix with results."""
    if not quiet:
        typer.echo(harmless(text), err=True)


def check_model(model: str | None) -> None:
    if model not in (None, "auto", "fast", "encoder", "teacher"):
        raise typer.BadParameter(f"Give auto, fast, encoder or teacher, not {model}.", param_hint="--model")


def note_model(run: Path, model: str | None, quiet: bool = False) -> None:
    """Print which model of a run answers, and why, if it was not asked for by name."""
    from aspectra.labelling.labeller import MODELS, choose_model
    from aspectra.topicmap.notes import note_on_unused

    if run.suffix == ".onnx":
        return
    chosen, why = choose_model(run, model)
    if why:
        note(f"Model: {MODELS[chosen]}; {why}", quiet)
    if unused := note_on_unused(run):  # also with --quiet: the answers are not those that were wished for
        note(f"Note: {unused}")
    if not (run / rundir.SENTIMENT).exists():  # also with --quiet: the answers are others
        note(f"{run / rundir.SENTIMENT} is missing: sentiment comes from a lexicon alone. Repeat the fit.")


def names(text: str | None) -> tuple[str, ...] | None:
    """Split "Image, Sound" into names."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text is not None else None


def open_source(
    files: list[str],
    text_column: str | None,
    id_column: str | None,
    encoding: str,
    quiet: bool,
    skip_duplicates: bool = False,
) -> Source:
    """Open the input and print which column is read if it was not named."""
    from aspectra.text import read, rows

    source = read.open_source(files, text_column, id_column, encoding, skip_duplicates)
    if text_column is None and any(rows.kind(path) != ".txt" for path in source.paths):
        note(f"Reading the text from column {source.text_column!r}.", quiet)
    return source


@contextlib.contextmanager
def stages(labels: dict[str, str], quiet: bool) -> Iterator[Progress]:
    """Show one line per stage and yield the function that moves them; until the first, say Loading."""
    if quiet:
        yield no_progress
        return
    from aspectra.cli.meter import Meter

    with Meter(sys.stderr) as meter:
        meter.begin("Loading")
        now = ""

        def move(stage: str, done: float) -> None:
            nonlocal now
            if stage != now:
                now = stage
                meter.begin(labels[stage])
            meter.update(done)

        yield move


@contextlib.contextmanager
def counter(label: str, quiet: bool) -> Iterator[Count]:
    """Show a running count with speed and time left, and yield the function that adds to it."""
    if quiet:
        yield uncounted
        return
    from aspectra.cli.meter import Meter

    with Meter(sys.stderr) as meter:
        meter.begin(label, count=0)
        yield lambda more, share: meter.update(share, more)


@contextlib.contextmanager
def waiting(label: str, quiet: bool) -> Iterator[None]:
    """Show for how long something is under way of which nobody knows how far it is."""
    with stages({label: label}, quiet) as progress:
        progress(label, 0.0)
        yield


def is_there(name: str) -> bool:
    """Tell whether an input can be named here: a file, or what only reading would tell."""
    return "://" in name or any(sign in name for sign in "*?[") or Path(name).exists()


def label_command(run: Path, output: str = "labelled.csv") -> str:
    """Return the command that labels the run's own reviews, or a file of the user's if they are not there."""
    files = [name for name in rundir.inputs_of(run) if is_there(name)] or ["new.csv"]
    return f"aspectra label {' '.join([typed(run), *map(typed, files)])} -o {typed(output)}"


def example_names(detector: AspectDetector) -> str:
    """Return names for --aspects to begin with: keywords of large topics that often name an aspect.

    Those that are an aspect's first name in the library come first: "Setup" before "Feel".
    """
    from aspectra.aspects.library import known_names, known_titles
    from aspectra.topicmap.suggest import propose_aspects

    fitted = detector.fitted_
    language = fitted.vocabulary.language
    topics = sorted(fitted.topics.items, key=lambda item: -item.share)
    keywords = [word for item in topics for word in item.keywords[:LEADING]]
    groups = set(known_titles(language)), set(known_names(language))
    words = [word.title() for known in groups for word in keywords if word in known]
    proposed = propose_aspects(fitted.topics, fitted.teacher.topics, fitted.vocabulary, fitted.vectors)
    names = dict.fromkeys([*words, *(name for name, _ in proposed)])
    return ",".join(list(names)[:3]) or "Price,Quality"


def table(*columns: str, title: str | None = None, right: tuple[str, ...] = ()) -> Table:
    """Return an empty plain table; the columns in `right` are aligned to the right, for numbers."""
    from rich import box
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for name in columns:
        grid.add_column(name, justify="right" if name in right else "left")
    return grid
