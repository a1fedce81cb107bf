"""What made a result: a key of the code it depends on, and the versions of everything else.

The key hashes the modules of aspectra that a piece of code imports, directly or through others, also inside
functions, and the TOML files beside them. Comments, docstrings and error messages do not count: they cannot
change a number. Nor does aspectra/__init__.py, which holds names only. So a changed line in any module that
takes part makes a new key.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from aspectra import __version__

PACKAGE = "aspectra"
HOME = Path(str(resources.files(PACKAGE)))
FIT = ("aspectra.fitting", "aspectra.text.read")
"""What makes a fit, and reads the reviews for it."""
AFTER_FIT = ("aspectra.encoder", "aspectra.aspects", "aspectra.topicmap")
"""What fitting.py imports for what comes later."""
RUNNER = "aspectra.bench.runner"
"""What shows a system its data and scores its answers."""
LIBRARIES = ("numba", "numpy", "polars", "scikit-learn", "torch", "transformers")


@cache
def fit_key() -> str:
    """Return the key of the code that decides a fit.

    Of the benchmark's readers only their own code counts: what they import scores labels. Encoders, the map
    and what learns from names come after a fit.
    """
    return hash_modules({*reachable(FIT, without=AFTER_FIT), "aspectra.bench.datasets"})


def cell_key(system: object) -> str:
    """Return the key of the code that decides a system's score: its own module, and the runner."""
    return code_key(type(system).__module__, RUNNER)


@cache
def code_key(*roots: str, home: Path = HOME) -> str:
    """Hash the modules that these reach into 8 hex digits; `home` is the folder of the package."""
    return hash_modules(reachable(roots, home), home)


def hash_modules(modules: Iterable[str], home: Path = HOME) -> str:
    digest, data = hashlib.sha256(), set[Path]()
    for module in sorted(modules):
        path = source_of(module, home)
        digest.update(f"{module} {code_of(path.read_bytes())}".encode())
        pattern = f"{path.stem}*.toml" if path.parent == home else "*.toml"
        data |= set(path.parent.glob(pattern))
    for path in sorted(data):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


@cache
def code_of(source: bytes) -> str:
    """Return what a module's source does, without what only people read."""
    return ast.dump(Silent().visit(ast.parse(source)))


def reachable(roots: Iterable[str], home: Path = HOME, without: tuple[str, ...] = ()) -> set[str]:
    """Return these modules and all of aspectra that they import, directly or through others.

    Modules of the packages `without` are left out, with what only they import.
    """
    found: set[str] = set()
    waiting = set(roots)
    while waiting:
        module = waiting.pop()
        found.add(module)
        names = imported(source_of(module, home).read_bytes(), home) - found
        waiting |= {name for name in names if not name.startswith(without)}
    return found


def imported(source: bytes, home: Path) -> set[str]:
    """Return the modules of aspectra that code imports when it runs, not those for type checkers."""
    names = (
        part if is_ours(part) and source_of(part, home).exists() else module
        for module, part in imports_in(source)
    )
    return {name for name in names if is_ours(name)}


@cache
def imports_in(source: bytes) -> frozenset[tuple[str, str]]:
    """Return each module that is imported from, and what: a module of it, or a name."""
    return frozenset(imports_below(ast.parse(source)))


def imports_below(node: ast.AST) -> Iterator[tuple[str, str]]:
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        children = iter(node.orelse)
    for child in children:
        yield from imports_below(child)
    if isinstance(node, ast.Import):
        yield from ((alias.name, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from ((node.module, f"{node.module}.{alias.name}") for alias in node.names)


def is_ours(module: str) -> bool:
    return module.startswith(f"{PACKAGE}.")


def source_of(module: str, home: Path) -> Path:
    """Return a module's file; a system may also be outside aspectra, in a script that has been imported."""
    if not is_ours(module):
        return Path(str(sys.modules[module].__file__))
    path = home.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


class Silent(ast.NodeTransformer):
    """Removes what only people read: docstrings, and the words of errors."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        return Wordless().visit(node)


class Wordless(ast.NodeTransformer):
    """Empties texts."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return ast.Constant("")

    def visit_Constant(self, node: ast.Constant) -> Any:
        return ast.Constant("") if isinstance(node.value, str) else node


def versions() -> dict[str, str]:
    """Return the versions that a result was made with."""
    found = {
        PACKAGE: __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
