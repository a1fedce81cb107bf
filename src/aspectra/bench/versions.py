"""Which code a result depends on: its syntax trees are hashed, so that a change of code, not of comments, makes results again."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import platform
from functools import cache
from importlib import resources
from pathlib import Path

from aspectra import __version__

FIT_CODE = (
    "config.py",
    "text",
    "sampling.py",
    "corpus.py",
    "vectors.py",
    "loop.py",
    "teacher",
    "topics.py",
    "fitting.py",
)
"""What decides a fit."""
CELL_CODE = (
    *FIT_CODE, "labelling", "evaluate.py", "detector.py", "topicmap", "student", "sample.py",
    "bench/systems", "bench/protocol.py", "bench/datasets.py",
)  # fmt: skip
"""What decides a score."""
LIBRARIES = ("gensim", "numpy", "polars", "scikit-learn", "torch", "transformers")


@cache
def code_mark(*names: str) -> str:
    """Hash modules and packages of ours into 8 hex digits."""
    home = Path(str(resources.files("aspectra")))
    digest = hashlib.sha256()
    for name in names:
        place = home / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(ast.dump(ast.parse(path.read_bytes())).encode())
    return digest.hexdigest()[:8]


def versions() -> dict[str, str]:
    """Return what a result was made with."""
    found = {
        "aspectra": __version__,
        "code": code_mark(*CELL_CODE),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
