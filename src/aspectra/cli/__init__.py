"""The command line: one module per command, each a short function that parses, calls and prints.

Our own errors are one line on stderr and exit code 1; wrong usage is exit code 2; Ctrl-C is 130.
Anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

import io
import sys
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperGroup

from aspectra.cli import (
    bench,
    check,
    data,
    distill,
    evaluate,
    explain,
    export,
    fit,
    label,
    map,
    report,
    sample,
    serve,
    topics,
    update,
    watch,
)
from aspectra.disk import is_utf8
from aspectra.errors import AspectraError, InputError

STOPPED = 130
"""The exit code that Typer gives to Ctrl-C."""

GROUPS = {
    "Every day": (sample, fit, label, report, watch, update),
    "Mapping": (topics, map),
    "Models": (distill, evaluate, explain, export, serve, check),
    "Research": (bench, data),
}
"""The commands as --help lists them."""
MODULES = tuple(module for modules in GROUPS.values() for module in modules)


def name_of(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


class Grouped(TyperGroup):
    """Lists the commands in the order of `GROUPS`, each group below its name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name_of(module) for module in MODULES]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(len(name) for name in self.commands)
        for group, modules in GROUPS.items():
            names = [name_of(module) for module in modules]
            rows = [(name.ljust(width), self.commands[name].get_short_help_str(80)) for name in names]
            with formatter.section(group):
                formatter.write_dl(rows)


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    cls=Grouped,
)
for module in MODULES:
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name_of(module))
    else:
        app.command(name_of(module))(module.command)


def show_version(wanted: bool) -> None:
    if wanted:
        from aspectra import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def about(
    version: bool = typer.Option(
        False, "--version", callback=show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Find out what reviews talk about, without labels, and label every segment with your aspects.

    The usual order: fit, map, label, report. `aspectra sample FOLDER` writes reviews to try it on.
    """


def check_words(words: list[str]) -> None:
    """Refuse what is not UTF-8: no label file, page or report can hold it."""
    for word in words:
        if not is_utf8(word):
            raise InputError(f"{word!r} is not UTF-8. Rename the file, or type it again.")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        check_words(sys.argv[1:])
        app()
    except AspectraError as error:
        print(f"aspectra: {error}", file=sys.stderr)
        sys.exit(1)
    except SystemExit as end:
        if end.code == STOPPED:
            print(
                "aspectra: stopped. No file is left half-written; repeat a fit to continue it.",
                file=sys.stderr,
            )
        raise
