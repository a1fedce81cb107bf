"""How the code must look, where a machine can tell."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "aspectra"
MODULES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").glob("test_*.py"))
# The only import direction: a module may import those of its own line and of the lines above.
ORDER = (
    ("errors",),
    ("config",),
    ("rundir",),
    ("sample",),
    ("text",),
    ("sampling",),
    ("corpus",),
    ("vectors",),
    ("loop",),
    ("teacher",),
    ("topics",),
    ("evaluate",),
    ("topicmap",),
    ("fitting",),
    ("detector",),
    ("encoder",),
    ("student",),
    ("labelling",),
    ("attention", "studio", "report"),
    ("serve",),
    ("bench",),
    ("cli",),
)
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60
ELSEWHERE = (
    "/wo" + "rk/",
    "/ro" + "ot/",
    "/ho" + "me/",
    "/tmp" + "/w",
    "/Us" + "ers/",
    "inde" + "x-url",
    "pypi" + ".org",
)
TEXTS = (".py", ".toml", ".md", ".txt", ".cfg", ".cff", ".sh", ".html", ".css", ".js", "")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """Return "text.read" for src/aspectra/text/read.py and "cli" for the package itself."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").strip(".")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported(node: ast.AST) -> set[str]:
    """Return the modules of ours that a piece of code imports when it runs."""
    if for_types_only(node):
        return set()
    found = {name for child in ast.iter_child_nodes(node) for name in imported(child)}
    if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith("aspectra."):
        package = node.module.removeprefix("aspectra").strip(".")
        parts = [f"{package}.{alias.name}".strip(".") for alias in node.names]
        found |= {part if part in NAMES else package for part in parts}
    return found


NAMES = {name_of(path) for path in MODULES} - {""}
IMPORTS = {name_of(path): imported(tree(path)) - {""} for path in MODULES}


def line_of(module: str) -> int:
    """Return the place in ORDER of the longest name that fits."""
    fits = [
        (len(name), line)
        for line, names in enumerate(ORDER)
        for name in names
        if f"{module}.".startswith(f"{name}.")
    ]
    assert fits, f"{module} has no place in ORDER"
    return max(fits)[1]


@pytest.mark.parametrize("path", [*MODULES, *TESTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE
    long = [node.name for node in functions(path) if (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION]
    assert long == []


@pytest.mark.parametrize("path", [path for path in MODULES if path.stat().st_size], ids=name_of)
def test_modules_open_with_a_docstring_of_at_most_six_lines(path: Path) -> None:
    docstring = ast.get_docstring(tree(path)) or ""
    assert 1 <= len(docstring.splitlines()) <= 6


def test_no_except_is_bare_or_broad() -> None:
    handlers = [
        (path, node)
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
    ]
    assert handlers
    assert [f"{path}:{node.lineno}" for path, node in handlers if node.type is None or broad(node.type)] == []


def broad(caught: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in ("Exception", "BaseException") for node in ast.walk(caught)
    )


@pytest.mark.parametrize("module", sorted(NAMES))
def test_imports_go_one_way_only(module: str) -> None:
    assert [name for name in IMPORTS[module] if line_of(name) > line_of(module)] == []


def test_no_imports_go_round_in_circles() -> None:
    waiting = IMPORTS
    while free := {name for name, others in waiting.items() if not others & set(waiting)}:
        waiting = {name: others for name, others in waiting.items() if name not in free}
    assert waiting == {}


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_test_asserts_something(path: Path) -> None:
    idle = [node.name for node in functions(path) if node.name.startswith("test_") and not asserts(node)]
    assert idle == []


def asserts(function: ast.AST) -> bool:
    calls = [ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)]
    return any(isinstance(node, ast.Assert) for node in ast.walk(function)) or any(
        call == "pytest.raises" or ".assert_" in call or call.startswith("expect(") for call in calls
    )


def project_files() -> list[Path]:
    """Return the text files of the project, without what tools and runs leave behind."""
    skipped = (".git", ".venv", "__pycache__", "data", "demo", "runs", "bench-runs", "dist", "build")
    return [
        path
        for path in ROOT.rglob("*")
        if path.suffix in TEXTS
        and path.is_file()
        and not any(
            part in skipped or part.endswith(("_cache", ".egg-info")) for part in path.relative_to(ROOT).parts
        )
    ]


def test_no_file_names_a_registry_or_a_developers_machine() -> None:
    files = project_files()
    assert ROOT / "pyproject.toml" in files
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files}
    assert [(path, word) for path, text in texts.items() for word in ELSEWHERE if word in text] == []
