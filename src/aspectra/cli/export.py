"""aspectra export: encoder, head and teacher as one ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aspectra.cli import show
from aspectra.errors import typed


def command(
    run: show.Run,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write, ending in .onnx; three more are written beside it. Or a folder, with "
            "config.json, tokenizer and card as on the Hugging Face Hub.",
        ),
    ],
    int8: Annotated[
        bool, typer.Option("--int8", help="Round weights to 8 bits: a quarter of the size, and faster.")
    ] = False,
    quiet: show.Quiet = False,
) -> None:
    """Write teacher and student as one ONNX file.

    aspectra label --onnx uses it without torch and without the run.
    """
    with show.waiting("Exporting", quiet):
        from aspectra.labelling.export import export_folder, export_onnx
        from aspectra.labelling.labeller import load_student

        model = load_student(run)
        if output.suffix:
            export_onnx(model.fitted, model.student, output, int8)
        else:
            output = export_folder(model.fitted, model.student, output, int8)
    size = output.stat().st_size / 1e6
    next_one = f"aspectra label --onnx {typed(output)} new.csv -o labelled.csv"
    show.note(f"Wrote {output} ({size:.0f} MB).\nNext: {next_one}", quiet)
