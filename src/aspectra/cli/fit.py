"""aspectra fit: discover topics in reviews."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from aspectra.cli import show
from aspectra.config import FitConfig

STAGE_LABELS = {
    "prepare": "Preparing segments",
    "vectors": "Learning word vectors",
    "teacher": "Discovering topics",
    "topics": "Describing topics",
}


def with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option per field of FitConfig; they reach it as **settings."""
    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    extra = []
    for spec in dataclasses.fields(FitConfig):
        choices = spec.metadata["choices"]
        help = spec.metadata["help"] + (f" One of: {', '.join(choices)}." if choices else "")
        flag = spec.name.replace("_", "-")
        option = typer.Option(*dict.fromkeys((f"--{flag}", f"--{flag.removeprefix('n-')}")), help=help)
        kind: Any = Annotated[type(spec.default), option]
        extra.append(inspect.Parameter(spec.name, inspect.Parameter.KEYWORD_ONLY, default=spec.default, annotation=kind))
    signature = inspect.Signature([*own, *extra])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return function


@with_settings
def command(
    files: show.Inputs,
    run: Annotated[Path, typer.Option(help="Folder to keep the result in; an unfinished fit there goes on.")],
    text_column: show.TextColumn = None,
    encoding: show.Encoding = "utf-8",
    quiet: show.Quiet = False,
    **settings: Any,
) -> None:
    """Discover topics in reviews, without labels."""
    config = FitConfig(**settings)
    source = show.open_source(files, text_column, None, encoding, quiet)
    show.note("Loading …", quiet)
    from aspectra.detector import AspectDetector

    with show.stages(STAGE_LABELS, quiet) as progress:
        detector = AspectDetector(**config.to_dict()).fit(source, run=run, progress=progress)
    for line in source.skipped.summary():
        show.note(line, quiet)
    corpus = detector.corpus_
    junk = int(corpus.segments["junk"].sum())
    show.note(
        f"{corpus.segments['review'].n_unique():,} reviews, {len(corpus.segments):,} segments ({junk:,} of them junk, not trained on), "
        f"{len(corpus.vocabulary):,} words, {config.n_topics} topics.\nNext: aspectra topics {run}",
        quiet,
    )
