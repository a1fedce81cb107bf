"""The command line: one module per command, each a short function that parses, calls and prints.

Our own errors, and what the system refuses, are one line on stderr and exit code 1; wrong usage is exit code
2; Ctrl-C is 130, kill is 143. Anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from aspectra.disk import is_utf8
from aspectra.errors import AspectraError, InputError

STOPPED, ENDED = 130, 128 + signal.SIGTERM
"""The exit codes of Ctrl-C, as Typer gives it, and of kill."""

try:
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
        show,
        topics,
        update,
        watch,
    )
except KeyboardInterrupt:  # before anything has begun
    sys.exit(STOPPED)

ENDING = "stopped. No file is left half-written; type the same command to "
GO_ON = ("fit", "map", "distill", "bench", "data")
"""Commands that keep what is finished; so does label into a folder."""
NO_MEMORY = "Not enough memory. Give fewer or smaller files, or a machine with more."
SIGNS_OF_NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""What a library that cannot be loaded, or a thread, says then."""
LONGEST_SENTENCE = 2_000
"""Characters of an error; the middle of a longer one is left out."""
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


def check_folder() -> None:
    """Refuse to start in a folder that was deleted: no file could be named."""
    try:
        os.getcwd()
    except OSError:
        raise InputError("The folder that you are in is gone. Go to another one: cd") from None


def end_with(signal_number: int, _: object) -> None:
    """End as on Ctrl-C, so that hidden files are removed."""
    sys.exit(128 + signal_number)


def reopen_closed() -> None:
    """Open what was closed (2>&-) to nowhere; otherwise the next file that is opened would get its number."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("r" if name == "stdin" else "w")  # noqa: SIM115
            setattr(sys, name, nowhere)


def prepare_process() -> None:
    """Show a character that a terminal lacks as its number; clean up when told to end; start quickly."""
    reopen_closed()
    gc.set_threshold(50_000)  # by default, looking for garbage is a tenth of what imports take
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, end_with)


def system_sentence(error: OSError) -> str:
    """Say what the system refused: a full disk under stdout, a file that may not be read."""
    where = f" ({error.filename})" if error.filename else ""
    return f"The system refused: {error.strerror or error}{where}. Nothing is left half-written."


def main() -> None:
    """Run the command line."""
    prepare_process()
    try:
        check_folder()
        check_words(sys.argv[1:])
        app(prog_name="aspectra")  # also if it was started as a module
    except AspectraError as error:
        fail(str(error))
    except OSError as error:
        fail(system_sentence(error))
    except MemoryError:
        fail(NO_MEMORY)
    except (ImportError, RuntimeError) as error:
        if was_interrupted(error):
            say(ending())
            sys.exit(STOPPED)
        if not any(sign in str(error) for sign in SIGNS_OF_NO_MEMORY):
            raise
        fail(NO_MEMORY)
    except KeyboardInterrupt:  # before or after Typer, which makes an exit of it
        say(ending())
        sys.exit(STOPPED)
    except SystemExit as end:
        if end.code in (STOPPED, ENDED):
            say(ending())
        raise


def ending() -> str:
    """Say that a command was stopped, and whether it will go on or start over."""
    command, words = sys.argv[1:2], sys.argv[2:]
    outputs = [word for option, word in pairwise(words) if option in ("-o", "--output")]
    outputs += [word.partition("=")[2] for word in words if word.startswith("--output=")]
    goes_on = command == ["label"] and any(label.names_folder(one) for one in outputs)
    return ENDING + ("go on." if goes_on or not command or command[0] in GO_ON else "start over.")


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error: Python makes another of it while a class is being made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def fail(sentence: str) -> None:
    if len(sentence) > LONGEST_SENTENCE:  # it quotes a file of ten thousand columns, or a name of a megabyte
        half = LONGEST_SENTENCE // 2
        sentence = f"{sentence[:half]} … {sentence[-half:]}"
    say(sentence)
    with contextlib.suppress(OSError):  # what is still to be printed may have no room
        sys.stdout.flush()
    sys.exit(1)


def say(sentence: str) -> None:
    """Print one line, also if a path or a name in it has ends of lines."""
    print(show.harmless(f"aspectra: {sentence}").replace("\n", "\\n"), file=sys.stderr)
