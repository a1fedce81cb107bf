"""aspectra distill: teach a pretrained encoder what the teacher knows."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from aspectra.cli import show
from aspectra.student.config import StudentConfig

STAGE_LABELS = {"features": "Encoding segments", "head": "Learning", "encoder": "Fine-tuning"}


def with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option per field of StudentConfig; they reach it as **settings."""
    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    extra = []
    for spec in dataclasses.fields(StudentConfig):
        choices = spec.metadata["choices"]
        kind: Any = Annotated[
            type(spec.default), typer.Option(help=spec.metadata["help"] + (f" One of: {', '.join(choices)}." if choices else ""))
        ]
        extra.append(inspect.Parameter(spec.name, inspect.Parameter.KEYWORD_ONLY, default=spec.default, annotation=kind))
    signature = inspect.Signature([*own, *extra])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return function


@with_settings
def command(
    run: show.Run,
    labels: Annotated[
        Path | None, typer.Option(help='JSONL file of labelled segments to learn from, too: {"text": "…", "aspects": ["Image"]}')
    ] = None,
    quiet: show.Quiet = False,
    **settings: Any,
) -> None:
    """Distil the teacher into a pretrained encoder; label then uses both."""
    config = StudentConfig(**settings)
    from aspectra.detector import AspectDetector
    from aspectra.evaluate import read_gold
    from aspectra.student.distill import FOLDER, distill

    gold = read_gold(labels) if labels else None
    show.note("Loading …", quiet)
    detector = AspectDetector.load(run)
    with show.stages(STAGE_LABELS, quiet) as progress:
        student = distill(detector, config, run / FOLDER, gold, progress)
    student.save_pretrained(run / FOLDER, detector.topic_map_)
    card = student.card
    show.note(f"Learnt from {sum(card.learnt.values()):,} segments of {len(card.aspects)} aspects.", quiet)
    if card.n_labels:
        show.note(card.labels_text().replace("*", ""), quiet)
    show.note(f"The model card is {run / FOLDER / 'README.md'}.\nNext: aspectra label {run} new.csv -o labelled.csv", quiet)
