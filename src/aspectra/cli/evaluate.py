"""aspectra evaluate: score the labels against gold segments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show
from aspectra.config import NOT_REVIEW
from aspectra.errors import quantity

if TYPE_CHECKING:
    from aspectra.scores import Gold, Scores, SetScores

SEVERAL = (
    "Some segments have several gold aspects. Above, an answer is right if it is one of them; a wrong one "
    "counts as missed for each of them, in equal parts. The column gold counts all of them."
)


def command(
    run: show.Run,
    gold: Annotated[
        Path, typer.Argument(help='JSONL file, one segment per line: {"text": "…", "aspects": ["Image"]}')
    ],
    only: Annotated[
        str | None, typer.Option(help="Restrict gold and answers to these aspects: Food,Staff,Ambience")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    model: show.Model = None,
    quiet: show.Quiet = False,
) -> None:
    """Score the labels against gold labels.

    F1 per aspect, micro, macro, weighted and without General, beside always giving the most frequent answer.
    """
    from aspectra.labelling.evaluate import grade_run
    from aspectra.labelling.unreadable import unreadable_note
    from aspectra.scores import keep_only, read_gold

    show.check_model(model)
    wanted = show.names(only)
    segments = read_gold(gold)
    scored = keep_only(segments, wanted) if wanted else segments
    left_out = len(segments.texts) - len(scored.texts)
    if left_out:
        show.note(f"Left out {quantity(left_out, 'segment')} of other aspects.", quiet)
    with show.waiting("Labelling", quiet):
        grade = grade_run(run, segments, wanted or None, model)
        scores = grade.scores
    show.note_model(run, model, quiet)
    note_learnt(run, model, scored)
    for line in unreadable_note(grade.unreadable, scores.n, run):
        show.note(line)
    not_reviews = sum(names == {NOT_REVIEW} for names in segments.aspects)
    if not_reviews:
        are = "segment is not a review and is" if not_reviews == 1 else "segments are not reviews and are"
        show.note(f"{not_reviews} gold {are} left out.", quiet)
    if as_json:
        show.as_json(scores.to_dict())
    else:
        print_scores(scores)


def note_learnt(run: Path, model: str | None, gold: Gold) -> None:
    """Say so if the student learnt from some of these segments."""
    from aspectra import rundir
    from aspectra.labelling.labeller import choose_model
    from aspectra.student.card import Card

    if run.suffix == ".onnx" or choose_model(run, model)[0] == "teacher":
        return
    learnt = Card.load(run / rundir.STUDENT).note_on(gold.texts)
    if learnt:
        show.note(learnt)


def print_scores(scores: Scores) -> None:
    from rich.text import Text

    from aspectra.labelling.evaluate import calibration_sentence

    console = show.console()
    aspects = show.table(
        "aspect",
        "precision",
        "recall",
        "F1",
        "gold",
        "answers",
        right=("precision", "recall", "F1", "gold", "answers"),
    )
    for row in scores.per_aspect:
        aspects.add_row(
            Text(row.aspect),
            *(f"{value:.1%}" for value in (row.precision, row.recall, row.f1)),
            str(row.support),
            str(row.predicted),
        )
    console.print(aspects)
    totals = show.table("over all", "score", "majority answer", right=("score", "majority answer"))
    for name in (
        "f1_micro",
        "f1_macro",
        "f1_weighted",
        "f1_micro_without_general",
        "f1_macro_without_general",
    ):
        majority = getattr(scores, f"majority_{name}", None)
        totals.add_row(name, f"{getattr(scores, name):.1%}", "" if majority is None else f"{majority:.1%}")
    console.print(totals)
    print_confusion(scores)
    console.print(f"{quantity(scores.n, 'segment')}; the majority answer is {scores.majority_aspect}.")
    if scores.several:
        console.print(SEVERAL)
    if scores.sets:
        print_sets(scores.sets)
    if scores.calibration_error is not None:
        console.print(calibration_sentence(scores), soft_wrap=True)


def print_confusion(scores: Scores) -> None:
    """Print the counts with numbers for the answers' names, in as many tables as the width asks for."""
    from rich.text import Text

    console = show.console()
    names = [f"{number} {aspect}" for number, aspect in enumerate(scores.aspects, 1)]
    cells = [[f"{round(n, 1):g}" if n else "·" for n in row] for row in scores.confusion]
    widest = 3 + max(len(str(len(names))), *(len(cell) for row in cells for cell in row))
    first = min(max(map(len, names)), console.width // 3)
    step = max(1, (console.width - first - 2) // widest)
    for start in range(0, len(names), step):
        heads = tuple(str(number + 1) for number in range(start, min(start + step, len(names))))
        title = "Confusion: column numbers are the numbers of the rows"
        table = show.table("gold", *heads, title=title if not start else None, right=heads)
        for name, row in zip(names, cells, strict=True):
            table.add_row(Text(show.shortened(name, first)), *row[start : start + step])
        console.print(table)


def print_sets(sets: SetScores) -> None:
    columns = ("F1 micro", "F1 macro", "all right", "Jaccard")
    table = show.table("aspects of a segment", *columns, right=columns)
    rows = {
        "all, against all of gold": (sets.f1_micro, sets.f1_macro, sets.exact_match, sets.jaccard),
        "the answer alone": (sets.single_f1_micro, sets.single_f1_macro),
    }
    for name, values in rows.items():
        table.add_row(name, *(f"{value:.1%}" for value in values))
    show.console().print(table)
