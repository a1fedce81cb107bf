"""aspectra explain: which words made teacher and student answer what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError
from aspectra.rundir import refuse_own_file


def command(
    run: show.Run,
    text: Annotated[str, typer.Argument(help="One segment, in quotes.")],
    html: Annotated[Path | None, typer.Option(help="Write a page with shaded words here, too.")] = None,
    model: show.Model = None,
    quiet: show.Quiet = False,
) -> None:
    """Show which words counted for teacher and student."""
    from rich.text import Text

    from aspectra.disk import write_atomic

    show.check_model(model)
    if html is not None:
        check_page(html)
    with show.waiting("Loading", quiet):
        from aspectra.attention import MOST_WORDS, explain, to_html, top, verdict, written_words
        from aspectra.labelling.labeller import load_run

        told = explain(load_run(run, model), text)
    show.note_model(run, model, quiet)
    if (given := len(written_words(text))) > MOST_WORDS:  # also with --quiet: the answer is of these words
        show.note(f"Only the first {MOST_WORDS} of {given:,} words are read. A segment is a sentence or two.")
    students = told.student or (None,) * len(told.words)
    grid = show.table("word", "teacher", "", "student", " ", right=("teacher", "student"))
    for word, teacher, student in zip(told.words, told.teacher, students, strict=True):
        cells = [
            ("·" if share is None else f"{share:.1%}", "█" * round(30 * (share or 0)))
            for share in (teacher, student)
        ]
        grid.add_row(Text(word), *cells[0], *cells[1])
    console = show.console()
    console.print(grid)
    console.print(Text(f"teacher  {top(told.teacher_answer)}"))
    if told.student_answer is not None:
        console.print(Text(f"student  {top(told.student_answer)}"))
        console.print(Text(f"answer   {top(told.answer)}"))
    console.print(Text(verdict(told)))
    if html is not None:
        write_atomic(html, to_html(told).encode())
        show.note(f"Wrote {html}.", quiet)


def check_page(path: Path) -> None:
    """Raise InputError, before any work is done, if this is no place for a page."""
    if path.suffix != ".html" or path.is_dir():
        raise InputError(f"{path}: the page must be a file that ends in .html.")
    refuse_own_file(path)
