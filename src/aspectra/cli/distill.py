"""aspectra distill: make a student from the aspects' names, the topic map, and labels if there are some."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aspectra import rundir
from aspectra.cli import show
from aspectra.cli.settings import with_settings
from aspectra.config import StudentConfig

if TYPE_CHECKING:
    from aspectra.student.card import Card

STAGE_LABELS = {
    "features": "Encoding segments",
    "filter": "Choosing the filter",
    "head": "Learning",
    "encoder": "Fine-tuning",
    "fast": "Making it fast",
    "sentiment": "Learning sentiment",
}


@with_settings(StudentConfig)
def command(
    run: show.Run,
    labels: Annotated[
        Path | None,
        typer.Option(
            help='JSONL file of labelled segments to learn from, too: {"text": "…", "aspects": ["Image"]}. '
            "Without it, those that map --dev was given, and those that you labelled on the page."
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            help="The same as --labels. Only with --head attention they are not learnt from: they choose "
            "which segments are certain enough to learn from, and make each aspect more or less likely."
        ),
    ] = None,
    quiet: show.Quiet = False,
    **settings: Any,
) -> None:
    """Make a student that learns from names, your map and labels.

    From then on, aspectra label answers with it.
    """
    config = StudentConfig(**settings)
    with show.stages(STAGE_LABELS, quiet) as progress:
        from aspectra.student.distill import distill
        from aspectra.topicmap.notes import note_on_unused

        card = distill(run, config, labels, dev, progress).card
    for line in describe(card):
        show.note(line, quiet)
    if card.n_labels:
        show.note(card.labels_text(), quiet and card.choice != "run")
    for line in card.notes:
        show.note(f"Note: {line}")
    if unused := note_on_unused(run):
        show.note(f"Note: {unused}")
    better = rundir.has_fast(run) and card.encoder_fingerprint
    slow = "\nSlower, and up to 3 F1 better: the same with --model encoder" if better else ""
    show.note(
        f"The model card is {run / rundir.STUDENT / rundir.CARD}.\nNext: {show.label_command(run)}{slow}",
        quiet,
    )


def describe(card: Card) -> list[str]:
    """Say what the student learnt from, and what its answers will look like."""
    total = max(1, sum(card.learnt.values()))
    lines = [f"Learnt from {total:,} segments of {len(card.aspects)} aspects."]
    if card.config.head == "linear":
        ranked = sorted(card.learnt.items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{aspect} {100 * count / total:.0f} %" for aspect, count in ranked)
        lines.append(f"Its answers for them: {shares}.")
    if card.logit_shift:
        general, other = card.config.general_entropy, card.config.aspect_entropy
        lines.append(
            f"The entropy filter that dev chose: at most {general:.0%} of the largest entropy for General, "
            f"at most {other:.0%} for the other aspects."
        )
    return lines
