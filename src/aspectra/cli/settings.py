"""Options made from a config: one per setting, with its default and meaning, so that each stands once."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

Command = Callable[..., None]


def with_settings(config: type) -> Callable[[Command], Command]:
    """Give a command one option per field of a config, as **settings; n_topics is --n-topics and --topics."""
    return with_parameters(list(map(option, dataclasses.fields(config))))


def with_options(options: type) -> Callable[[Command], Command]:
    """Give a command the options that a dataclass declares as Annotated fields, as **options."""
    return with_parameters([p.replace(kind=p.KEYWORD_ONLY) for p in parameters(options)])


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the named parameters of a function or class."""
    found = inspect.signature(function, eval_str=True).parameters.values()
    return [parameter for parameter in found if parameter.kind is not parameter.VAR_KEYWORD]


def with_parameters(more: list[inspect.Parameter]) -> Callable[[Command], Command]:
    def decorate(function: Command) -> Command:
        signature = inspect.Signature([*parameters(function), *more])
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__annotations__ = {
            name: parameter.annotation for name, parameter in signature.parameters.items()
        }
        return function

    return decorate


def option(spec: dataclasses.Field[Any]) -> inspect.Parameter:
    """Return the command's parameter for one setting."""
    choices = spec.metadata["choices"]
    help = spec.metadata["help"] + (f" One of: {', '.join(choices)}." if choices else "")
    flag = spec.name.replace("_", "-")
    annotation = typer.Option(*dict.fromkeys((f"--{flag}", f"--{flag.removeprefix('n-')}")), help=help)
    kind: Any = Annotated[type(spec.default), annotation]
    return inspect.Parameter(spec.name, inspect.Parameter.KEYWORD_ONLY, default=spec.default, annotation=kind)
