"""aspectra label: from files to one file, or from many files to a folder, here or on a Ray cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError, quantity, typed

if TYPE_CHECKING:
    from aspectra.labelling.files import Plan
    from aspectra.text.read import Source

ENGINES = ("local", "ray")
Reading = tuple[str | None, str | None, str]
"""Text column, id column, encoding."""
Columns = Annotated[
    str | None,
    typer.Option(
        help="Write only these columns, in this order, separated by commas: your own and the labels'. "
        "'p_*' is all that begin with p_."
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        help="File to write: .parquet, .csv, .xlsx or .jsonl. Or a folder, with / at its end: "
        "a Parquet file for each input, and only for those that have none yet.",
    ),
]
RawCells = Annotated[
    bool,
    typer.Option(
        "--raw-cells",
        help="In .csv, leave text that starts with = + - or @ as it is; by default a ' comes before it, "
        "so that a spreadsheet does not run it.",
    ),
]


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN FILES...",
            help="The run's folder (none with --onnx), then files, folders or globs as for aspectra fit.",
        ),
    ],
    output: Output,
    text_column: show.TextColumn = None,
    id_column: show.IdColumn = None,
    encoding: show.Encoding = "utf-8",
    columns: Columns = None,
    skip_duplicates: show.SkipDuplicates = False,
    model: show.Model = None,
    onnx: show.Onnx = None,
    engine: Annotated[
        str,
        typer.Option(
            help="local, or ray: all cores or a whole cluster, into a folder; "
            "files may then be URLs (s3://, gs://)."
        ),
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to join; by default one is started on this machine.")
    ] = None,
    raw_cells: RawCells = False,
    quiet: show.Quiet = False,
) -> None:
    """Label every segment of every review with an aspect.

    The output has one row per segment: its aspect, probabilities and topic, and the input's other columns.
    """
    files = inputs if onnx else inputs[1:]
    if not output:
        raise typer.BadParameter("Give the file or folder to write.", param_hint="-o")
    check_options(files, model, onnx, engine, address)
    run = onnx or Path(inputs[0])
    reading = (text_column, id_column, encoding)
    wanted = show.names(columns) or ()
    if engine == "ray" or names_folder(output):
        from aspectra.labelling.files import make_plan
        from aspectra.labelling.places import list_inputs, output_folder

        if skip_duplicates:
            raise typer.BadParameter(
                "Files are labelled one by one into a folder.", param_hint="--skip-duplicates"
            )
        folder, places = output_folder(output), list_inputs(files)
        plan = make_plan(run.absolute(), model, folder, places, reading, wanted)
        label_folder(plan, places, engine, address, quiet)
    else:
        from aspectra.text.write import check_output

        check_output(Path(output))
        source = show.open_source(files, *reading, quiet, skip_duplicates)
        label_file(run, model, source, Path(output), wanted, raw_cells, quiet)


def check_options(
    files: list[str], model: str | None, onnx: Path | None, engine: str, address: str | None
) -> None:
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


def names_folder(output: str) -> bool:
    from aspectra.text.write import FORMATS

    return (
        output.endswith("/")
        or "://" in output
        or (Path(output).is_dir() and Path(output).suffix not in FORMATS)
    )


def label_file(
    run: Path,
    model: str | None,
    source: Source,
    output: Path,
    columns: tuple[str, ...],
    raw_cells: bool,
    quiet: bool,
) -> None:
    """Label all files into one."""
    from aspectra.text.columns import choose_columns
    from aspectra.text.write import TYPED, write_frames

    if os.path.realpath(output) in map(os.path.realpath, source.paths):
        raise InputError(f"{output} is also an input. Choose another -o.")
    with show.waiting("Loading", quiet):
        from aspectra.labelling.files import SegmentCounts, label_first, label_source
        from aspectra.labelling.labeller import load
        from aspectra.labelling.unreadable import unreadable_note
        from aspectra.topicmap.gamma import not_review_note

        labeller = load(run, model)
    show.note_model(run, model, quiet)
    for line in labeller.notes:
        show.note(f"Note: {line}", quiet)
    chosen = columns or ("*",)
    choose_columns(label_first(labeller, source), chosen)  # a wrong name is told before all is labelled
    if output.suffix in TYPED:
        source.find_types()
    counts = SegmentCounts()
    with show.counter("Labelling", quiet) as count:
        frames = counts.of(label_source(labeller, source, count))
        write_frames((choose_columns(frame, chosen) for frame in frames), output, raw_cells)
    for line in (*source.skipped.summary(), *unreadable_note(counts.unreadable, counts.segments, run)):
        show.note(line)  # also with --quiet: rows are missing from the result, or mean nothing
    for line in (*source.repeats.summary(source.skip_duplicates), *not_review_note(counts.not_reviews)):
        show.note(line, quiet)
    show.note(f"Wrote {quantity(counts.segments, 'segment')} to {output}.", quiet)
    if run.suffix != ".onnx" and output.suffix != ".xlsx" and not columns:
        show.note(f"Next: aspectra report {typed(run)} {typed(output)} -o report.html", quiet)


def label_folder(plan: Plan, places: list[str], engine: str, address: str | None, quiet: bool) -> None:
    """Label each file into one of its own, if it has none yet."""
    from aspectra.labelling.files import SegmentCounts, label_here
    from aspectra.labelling.ray import label_with_ray
    from aspectra.labelling.unreadable import unreadable_note
    from aspectra.topicmap.gamma import not_review_note

    missing = plan.missing(places)
    changed = plan.changed(places, missing)
    show.note_model(plan.run, plan.model, quiet)
    if len(missing) + len(changed) < len(places):
        there = len(places) - len(missing) - len(changed)
        are = "is" if there == 1 else "are"
        show.note(f"{there:,} of {quantity(len(places), 'file')} {are} labelled already.", quiet)
    if changed:
        have, are = ("has", "is") if len(changed) == 1 else ("have", "are")
        show.note(
            f"{quantity(len(changed), 'file')} {have} changed since labelling and {are} labelled again.",
            quiet,
        )
    missing += changed
    counts, problems, skipped = SegmentCounts(), [], []
    notes: dict[str, None] = {}
    with show.counter("Labelling", quiet) as count:
        results = (
            label_with_ray(plan, missing, address, count)
            if engine == "ray"
            else label_here(plan, missing, count)
        )
        for result in results:
            if result.place in changed and not result.problem:
                plan.finish(result.place, changed[result.place])
            counts.add(result.counts)
            notes |= dict.fromkeys(result.notes)
            problems += [result.problem] if result.problem else []
            skipped += result.skipped
    for line in (*skipped, *unreadable_note(counts.unreadable, counts.segments, plan.run)):
        show.note(line)  # also with --quiet: rows are missing from the result, or mean nothing
    for line in (*(f"Note: {line}" for line in notes), *not_review_note(counts.not_reviews)):
        show.note(line, quiet)
    show.note(
        f"Wrote {quantity(counts.segments, 'segment')} of "
        f"{quantity(len(missing) - len(problems), 'file')} to {plan.output}.",
        quiet,
    )
    if problems:
        raise InputError(
            f"{len(problems)} of {len(missing)} files could not be labelled; the others are done, "
            f"and the same command labels what is missing. {' '.join(problems[:3])}"
        )
