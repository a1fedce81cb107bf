"""aspectra distill: teach a pretrained encoder what the teacher knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aspectra import rundir
from aspectra.cli import show
from aspectra.cli.settings import with_settings
from aspectra.config import StudentConfig

STAGE_LABELS = {
    "features": "Encoding segments",
    "filter": "Choosing the filter",
    "head": "Learning",
    "encoder": "Fine-tuning",
}


@with_settings(StudentConfig)
def command(
    run: show.Run,
    labels: Annotated[
        Path | None,
        typer.Option(
            help='JSONL file of labelled segments to learn from, too: {"text": "…", "aspects": ["Image"]}'
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            help="JSONL file of labelled segments, not learnt from: they choose which segments are certain "
            "enough to learn from, and make each aspect more or less likely."
        ),
    ] = None,
    quiet: show.Quiet = False,
    **settings: Any,
) -> None:
    """Train a student, an encoder that learns from the teacher.

    From then on, aspectra label uses teacher and student together.
    """
    config = StudentConfig(**settings)
    from aspectra.student.distill import distill

    show.note("Loading …", quiet)
    with show.stages(STAGE_LABELS, quiet) as progress:
        student = distill(run, config, labels, dev, progress)
    card = student.card
    show.note(f"Learnt from {sum(card.learnt.values()):,} segments of {len(card.aspects)} aspects.", quiet)
    if dev:
        general, other = card.config.general_entropy, card.config.aspect_entropy
        show.note(
            f"The entropy filter that dev chose: at most {general:.0%} of the largest entropy for General, "
            f"at most {other:.0%} for the other aspects.",
            quiet,
        )
    if card.n_labels:
        show.note(card.labels_text(), quiet)
    show.note(
        f"The model card is {run / rundir.STUDENT / rundir.CARD}.\n"
        f"Next: aspectra label {run} new.csv -o labelled.csv",
        quiet,
    )
