"""aspectra label: a row a segment, streamed from file to file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future

    import polars as pl

    from aspectra.detector import AspectDetector
    from aspectra.student.labelling import StudentLabeller
    from aspectra.student.onnx import OnnxLabeller
    from aspectra.text.read import Source

    Labeller = AspectDetector | StudentLabeller | OnnxLabeller


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN FILES...", help="The run's folder (none with --onnx), then files or globs as for aspectra fit."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .parquet, .csv or .jsonl.")],
    text_column: show.TextColumn = None,
    id_column: show.IdColumn = None,
    encoding: show.Encoding = "utf-8",
    model: show.Model = None,
    onnx: Annotated[Path | None, typer.Option(help="Label with an exported student instead of a run; needs no torch.")] = None,
    quiet: show.Quiet = False,
) -> None:
    """Label every segment of every review with an aspect, confidence and evidence; other columns are carried through."""
    from aspectra.text.write import check_output, write_frames

    run, files = (Path(), inputs) if onnx else (Path(inputs[0]), inputs[1:])
    if not files:
        raise typer.BadParameter("Give the run's folder, then one or more files of reviews.", param_hint="RUN FILES...")
    show.check_model(model)
    if model and onnx:
        raise typer.BadParameter("Give --model or --onnx, not both.", param_hint="--model")
    check_output(output)
    source = show.open_source(files, text_column, id_column, encoding, quiet)
    if output.resolve() in [path.resolve() for path in source.paths]:
        raise InputError(f"{output} is also an input. Choose another -o.")
    labeller = open_labeller(run, model, onnx)
    with show.counter("Labelling:", quiet) as count:
        rows = write_frames(labelled(labeller, source, count), output)
    for line in source.skipped.summary():
        show.note(line, quiet)
    show.note(f"Wrote {rows:,} segments to {output}.", quiet)


def open_labeller(run: Path, model: str | None, onnx: Path | None) -> Labeller:
    """Load what is asked for, and nothing that it does not need."""
    if onnx:
        from aspectra.student.onnx import OnnxLabeller

        return OnnxLabeller(onnx)
    from aspectra.student.labelling import load_labeller

    labeller = load_labeller(run, model)
    if hasattr(labeller, "label_threads"):  # then batches run side by side, not the products within one
        import torch

        torch.set_num_threads(1)
    return labeller


def free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"input_{name}"
    return name


def labelled_batches(labeller: Labeller, source: Source) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield each batch and its labels in order, while the next batches are being labelled on as many threads as the labeller bears."""
    from collections import deque
    from concurrent.futures import ThreadPoolExecutor

    threads = getattr(labeller, "label_threads", 1)
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[tuple[pl.DataFrame, Future[pl.DataFrame]]] = deque()
        for frame in source.batches():
            under_way.append((frame, pool.submit(labeller.label, frame[source.text_column])))
            if len(under_way) > threads:
                done, labels = under_way.popleft()
                yield done, labels.result()
        yield from ((done, labels.result()) for done, labels in under_way)


def labelled(labeller: Labeller, source: Source, count: Callable[[int], None]) -> Iterator[pl.DataFrame]:
    """Label batch by batch; carried columns come first, named input_… where ours have the same name."""
    import polars as pl

    reviews = 0
    for frame, labels in labelled_batches(labeller, source):
        carried = frame.drop(source.text_column)
        if source.id_column:
            carried = carried.select(source.id_column, pl.exclude(source.id_column))
        taken = {*labels.columns, *carried.columns}
        carried = carried.rename({name: free_name(name, taken) for name in carried.columns if name in labels.columns})
        yield carried[labels["review"]].hstack(labels.with_columns(pl.col("review") + reviews))
        reviews += len(frame)
        count(len(labels))
