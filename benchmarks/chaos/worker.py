"""One process that runs many `aspectra` commands: a JSON list of words per line in, what became of it out.

It saves the start of Python for each of hundreds of commands. Whatever a command prints, also from compiled
code, is caught where the process writes it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback


def call(words: list[str]) -> int:
    """Run a command as the installed program does; return its exit code."""
    from aspectra.cli import main

    sys.argv = ["aspectra", *words]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # a traceback is what we look for
        traceback.print_exc()
        return 1
    return 0


def caught(words: list[str]) -> dict[str, object]:
    """Run a command and return its exit code and what it wrote to stdout and stderr."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = call(words)
        sys.stdout.flush()
        sys.stderr.flush()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return {"code": code, "out": texts[0], "err": texts[1]}


def main() -> None:
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for line in asked:
        answers.write(json.dumps(caught(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
