"""How the code must look, where a machine can tell."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "aspectra"
MODULES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").glob("test_*.py"))
PYTHON = [*MODULES, *sorted((ROOT / "tests").glob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
ROOMS = (
    "errors", "arguments", "arrays", "progress", "loopback", "connections", "config", "disk", "rundir",
    "sample", "text", "sampling", "corpus", "compiled", "skipgram", "vectors",
    "loop", "teacher", "topics", "scores", "encoder", "sentiment", "aspects", "topicmap", "fitting",
    "updating", "student", "labelling", "detector", "attention", "studio", "report", "watch", "serve",
    "checking", "bench", "cli",
)  # fmt: skip
"""The only import direction: a room (a package, or a module beside them) imports from those before it."""
MOST_MODULES = {"aspects": 9, "topicmap": 11, "report": 13, "student": 8, "bench": 18}
"""How many modules these rooms may have; packages inside them do not count."""
LONGEST_MODULE, LONGEST_FUNCTION, LONGEST_LINE = 400, 60, 110
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


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """Return "text.read" for src/aspectra/text/read.py and "cli" for the package itself."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").strip(".")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imported(path: Path) -> set[str]:
    """Return the modules of ours that a module imports: at its top, in a function, or for its types only."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name.removeprefix("aspectra.") in NAMES else node.module for name in names}
    return {name.removeprefix("aspectra.") for name in found if name.startswith("aspectra.")}


def room_of(module: str) -> str:
    return module.partition(".")[0]


NAMES = {name_of(path) for path in MODULES} - {""}


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each module imports of ours."""
    return {name_of(path): imported(path) for path in MODULES if name_of(path)}


def test_modules_and_their_lines_are_short() -> None:
    assert len(PYTHON) > len(MODULES)
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path in PYTHON}
    assert [path for path in PYTHON if len(lines[path]) > LONGEST_MODULE] == []
    assert [(path, line) for path in PYTHON for line in lines[path] if len(line) > LONGEST_LINE] == []


def test_functions_are_short() -> None:
    found = [(path, node) for path in PYTHON for node in functions(path)]
    assert found
    long = [(path, node) for path, node in found if (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION]
    assert [(path, node.name) for path, node in long] == []


def test_modules_open_with_a_docstring_of_at_most_six_lines() -> None:
    said = {path: ast.get_docstring(tree(path)) or "" for path in MODULES if path.stat().st_size}
    assert [path for path, docstring in said.items() if not 1 <= len(docstring.splitlines()) <= 6] == []


def test_no_except_is_bare_or_broad() -> None:
    handlers = [
        (path, node)
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
    ]
    assert handlers
    found = [path for path, node in handlers if node.type is None or broad(node.type)]
    # tokenizers raises a plain Exception, transformers whatever its parts raise
    assert sorted(map(name_of, found)) == ["encoder.pieces", "encoder.pretrained"]


def broad(caught: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in ("Exception", "BaseException") for node in ast.walk(caught)
    )


def test_every_room_has_a_place_in_the_order() -> None:
    assert {room_of(name) for name in NAMES} == set(ROOMS)


def test_imports_go_one_way_only(imports: dict[str, set[str]]) -> None:
    place = {room: number for number, room in enumerate(ROOMS)}
    pairs = [(module, other) for module, others in imports.items() for other in others]
    assert pairs
    back = [(one, other) for one, other in pairs if place[room_of(other)] > place[room_of(one)]]
    assert back == []


def test_no_imports_go_round_in_circles(imports: dict[str, set[str]]) -> None:
    waiting = imports
    while free := {name for name, others in waiting.items() if not others & set(waiting)}:
        waiting = {name: others for name, others in waiting.items() if name not in free}
    assert waiting == {}


@pytest.mark.parametrize("room", MOST_MODULES)
def test_rooms_have_few_modules(room: str) -> None:
    modules = [path for path in (SOURCE / room).glob("*.py") if path.name != "__init__.py"]
    assert 0 < len(modules) <= MOST_MODULES[room]


def test_every_test_asserts_something() -> None:
    tests = [(path, node) for path in TESTS for node in functions(path) if node.name.startswith("test_")]
    assert tests
    assert [(path, node.name) for path, node in tests if not asserts(node)] == []


def asserts(function: ast.AST) -> bool:
    calls = [ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)]
    return any(isinstance(node, ast.Assert) for node in ast.walk(function)) or any(
        call == "pytest.raises" or ".assert_" in call or call.startswith("expect(") for call in calls
    )


def project_files() -> list[Path]:
    """Return the text files of the project, without what tools and runs leave behind."""
    skipped = {".git", ".hypothesis", ".venv", "__pycache__", "data", "demo", "runs", "bench-runs"}
    skipped |= {"dist", "build"}
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
