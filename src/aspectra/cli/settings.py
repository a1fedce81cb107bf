"""Options made from a config: one per field, with its default and meaning, so that each stands in one place."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

Command = Callable[..., None]


def with_settings(config: type) -> Callable[[Command], Command]:
    """Give a command one option per field of a config; they reach it as **settings. `n_topics` is --n-topics and --topics."""

    def decorate(function: Command) -> Command:
        own = [
            p
            for p in inspect.signature(function, eval_str=True).parameters.values()
            if p.kind is not p.VAR_KEYWORD
        ]
        signature = inspect.Signature([*own, *map(option, dataclasses.fields(config))])
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__annotations__ = {
            name: parameter.annotation for name, parameter in signature.parameters.items()
        }
        return function

    return decorate


def option(spec: dataclasses.Field[Any]) -> inspect.Parameter:
    choices = spec.metadata["choices"]
    help = spec.metadata["help"] + (f" One of: {', '.join(choices)}." if choices else "")
    flag = spec.name.replace("_", "-")
    told = typer.Option(*dict.fromkeys((f"--{flag}", f"--{flag.removeprefix('n-')}")), help=help)
    kind: Any = Annotated[type(spec.default), told]
    return inspect.Parameter(spec.name, inspect.Parameter.KEYWORD_ONLY, default=spec.default, annotation=kind)
