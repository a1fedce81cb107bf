"""aspectra label: a row a segment, streamed from file to file, or from many files to a folder, here or on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError

if TYPE_CHECKING:
    from aspectra.labelling.files import Model

ENGINES = ("local", "ray")


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN FILES...",
            help="The run's folder (none with --onnx), then files, folders or globs as for aspectra fit.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .parquet, .csv or .jsonl. Or a folder, with / at its end: a Parquet file for each input, and only "
            "for those that have none yet.",
        ),
    ],
    text_column: show.TextColumn = None,
    id_column: show.IdColumn = None,
    encoding: show.Encoding = "utf-8",
    model: show.Model = None,
    onnx: show.Onnx = None,
    engine: Annotated[
        str,
        typer.Option(
            help="local, or ray: all cores or a whole cluster, into a folder; files may then be URLs (s3://, gs://)."
        ),
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to join; by default one is started on this machine.")
    ] = None,
    quiet: show.Quiet = False,
) -> None:
    """Label every segment of every review with an aspect, confidence and evidence; other columns are carried through."""
    from aspectra.labelling.files import Model

    run, files = (Path(), inputs) if onnx else (Path(inputs[0]), inputs[1:])
    if not files:
        raise typer.BadParameter(
            "Give the run's folder, then one or more files of reviews.", param_hint="RUN FILES..."
        )
    show.check_model(model)
    if model and onnx:
        raise typer.BadParameter("Give --model or --onnx, not both.", param_hint="--model")
    if engine not in ENGINES:
        raise typer.BadParameter(f"Give local or ray, not {engine}.", param_hint="--engine")
    if address and engine != "ray":
        raise typer.BadParameter("Give it with --engine ray.", param_hint="--address")
    source = (text_column, id_column, encoding)
    if engine == "ray" or names_folder(output):
        label_folder(
            Model(run.absolute(), model, onnx and onnx.absolute()),
            files,
            output,
            source,
            engine,
            address,
            quiet,
        )
    else:
        label_file(Model(run, model, onnx), files, Path(output), source, quiet)


def names_folder(output: str) -> bool:
    from aspectra.text.write import FORMATS

    return (
        output.endswith("/")
        or "://" in output
        or (Path(output).is_dir() and Path(output).suffix not in FORMATS)
    )


def label_file(
    model: Model, files: list[str], output: Path, columns: tuple[str | None, str | None, str], quiet: bool
) -> None:
    """Label all files into one."""
    from aspectra.labelling.rows import labelled
    from aspectra.text.write import check_output, write_frames

    check_output(output)
    source = show.open_source(files, *columns, quiet)
    if output.resolve() in [path.resolve() for path in source.paths]:
        raise InputError(f"{output} is also an input. Choose another -o.")
    labeller = model.open()
    with show.counter("Labelling:", quiet) as count:
        rows = write_frames(labelled(labeller, source, count), output)
    for line in source.skipped.summary():
        show.note(line, quiet)
    show.note(f"Wrote {rows:,} segments to {output}.", quiet)


def label_folder(
    model: Model,
    files: list[str],
    output: str,
    columns: tuple[str | None, str | None, str],
    engine: str,
    address: str | None,
    quiet: bool,
) -> None:
    """Label each file into one of its own, if it has none yet."""
    from aspectra.labelling.files import label_here, make_plan
    from aspectra.labelling.places import list_inputs, output_folder
    from aspectra.labelling.ray import label_with_ray

    places = list_inputs(files)
    plan = make_plan(model, output_folder(output), places, columns)
    missing = plan.missing(places)
    if len(missing) < len(places):
        show.note(f"{len(places) - len(missing):,} of {len(places):,} files are labelled already.", quiet)
    rows, problems = 0, []
    with show.counter("Labelling:", quiet) as count:
        for done in (
            label_with_ray(plan, missing, address, count)
            if engine == "ray"
            else label_here(plan, missing, count)
        ):
            rows += done.rows
            problems += [done.problem] if done.problem else []
            for line in done.skipped:
                show.note(line, quiet)
    show.note(f"Wrote {rows:,} segments of {len(missing) - len(problems):,} files to {output}.", quiet)
    if problems:
        raise InputError(
            f"{len(problems)} of {len(missing)} files could not be labelled; the others are done, and the same command labels "
            f"what is missing. {' '.join(problems[:3])}"
        )
