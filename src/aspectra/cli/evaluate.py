"""aspectra evaluate: score the labels against gold segments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show

if TYPE_CHECKING:
    from aspectra.evaluate import Scores


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
    """Score labels against gold: per aspect, micro, macro, weighted, without General, majority answer."""
    from aspectra.evaluate import grade, keep_only, read_gold
    from aspectra.labelling.labeller import load

    show.check_model(model)
    wanted = show.names(only)
    data = read_gold(gold)
    kept = keep_only(data, wanted) if wanted else data
    if len(kept.texts) < len(data.texts):
        show.note(f"Left out {len(data.texts) - len(kept.texts)} segments of other aspects.", quiet)
    scores = grade(load(run, model), kept, wanted).scores
    if as_json:
        print(json.dumps(scores.to_dict(), ensure_ascii=False, indent=1))
    else:
        print_scores(scores)


def print_scores(scores: Scores) -> None:
    from rich.text import Text

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
    confusion = show.table(
        "gold ↓ answer →",
        *(name[:6] for name in scores.aspects),
        title="Confusion",
        right=tuple(name[:6] for name in scores.aspects),
    )
    for aspect, counts in zip(scores.aspects, scores.confusion, strict=True):
        confusion.add_row(Text(aspect), *(str(count or "·") for count in counts))
    console.print(confusion)
    console.print(f"{scores.n} segments; the majority answer is {scores.majority_aspect}.")
