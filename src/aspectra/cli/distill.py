"""aspectra distill: teach a pretrained encoder what the teacher knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

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
            help="JSONL file of labelled segments that choose the entropy filter and how far to lean to each aspect."
        ),
    ] = None,
    quiet: show.Quiet = False,
    **settings: Any,
) -> None:
    """Distil the teacher into a pretrained encoder; label then uses both."""
    config = StudentConfig(**settings)
    from aspectra import rundir
    from aspectra.detector import AspectDetector
    from aspectra.evaluate import read_gold
    from aspectra.student.distill import distill

    told, judged = (None if path is None else read_gold(path) for path in (labels, dev))
    show.note("Loading …", quiet)
    detector = AspectDetector.load(run)
    with show.stages(STAGE_LABELS, quiet) as progress:
        student = distill(detector, config, run / rundir.STUDENT, told, judged, progress)
    student.save_pretrained(run / rundir.STUDENT, detector.topic_map_)
    card = student.card
    show.note(f"Learnt from {sum(card.learnt.values()):,} segments of {len(card.aspects)} aspects.", quiet)
    if dev:
        chosen = f"χ_G {card.config.general_entropy:g}, χ_NG {card.config.aspect_entropy:g} of log A"
        show.note(f"The entropy filter that dev prefers: {chosen}.", quiet)
    if card.n_labels:
        show.note(card.labels_text().replace("*", ""), quiet)
    show.note(
        f"The model card is {run / rundir.STUDENT / rundir.CARD}.\nNext: aspectra label {run} new.csv -o labelled.csv",
        quiet,
    )
