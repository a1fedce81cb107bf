"""The documentation is true: generated pages are up to date, nothing is left out, and links lead somewhere.

That its shell and Python blocks run is checked in test_doc_blocks.py.
"""

import dataclasses
import pkgutil
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main

from aspectra import rundir
from aspectra.aspects.library import FILES
from aspectra.cli import app
from aspectra.cli.reference import cli_page, config_page, python_page
from aspectra.config import FitConfig

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "page"), [("cli.md", cli_page), ("config.md", config_page), ("python.md", python_page)]
)
def test_generated_pages_are_up_to_date(name: str, page: Callable[[], str]) -> None:
    assert (ROOT / "docs" / name).read_text() == page(), "run: python -m aspectra.cli.reference docs"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"aspectra {command}" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", [spec.name for spec in dataclasses.fields(FitConfig)])
def test_every_setting_says_what_it_means(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs/config.md").read_text()


@pytest.mark.parametrize("files", list(rundir.STAGE_FILES.values()))
def test_every_artifact_is_in_the_guide(files: tuple[str, ...]) -> None:
    guide = (ROOT / "docs/guide.md").read_text()
    assert all(f"`{name}`" in guide for name in files)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    links = [
        link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", page.read_text()) if "://" not in link
    ]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


def test_commands_in_the_docs_have_options_that_exist() -> None:
    known = set(re.findall(r"--[a-z][a-z-]*", cli_page()))
    lines = [
        (page.name, line.split("#")[0])
        for page in PAGES
        for line in page.read_text().splitlines()
        if line.startswith("aspectra ")
    ]
    assert [
        (page, option)
        for page, line in lines
        for option in re.findall(r"--[a-z][a-z-]*", line)
        if option not in known
    ] == []


def test_every_module_is_in_the_readmes_tree_and_nothing_else() -> None:
    tree = (ROOT / "README.md").read_text().split("```text\n")[1].split("```")[0]
    modules = [path for path in (ROOT / "src/aspectra").rglob("*.py") if path.name != "__init__.py"]
    told = re.findall(r"[a-z_]+(?=\.py\b)", tree)
    missing = {path.stem for path in modules} - {*told, *COMMANDS}
    there = {path.stem for folder in ("benchmarks", "src", "tests") for path in (ROOT / folder).rglob("*.py")}
    gone = set(told) - there - {"test_"}
    assert (missing, gone) == (set(), set())


@pytest.mark.parametrize(("page", "least"), [("docs/method.md", 15), ("CONTRIBUTING.md", 6)])
def test_functions_that_equations_and_paths_lead_to_are_there(page: str, least: int) -> None:
    names = re.findall(r"`((?:[a-z_]+\.)+[A-Za-z_]+)`", (ROOT / page).read_text())
    names = [name for name in names if not name.endswith((".py", ".md"))]
    assert len(names) >= least
    assert [name for name in names if not found(name)] == []


def found(name: str) -> bool:
    """Tell whether a dotted name below aspectra is a module, or something in one."""
    try:
        pkgutil.resolve_name(f"aspectra.{name}")
    except (ImportError, AttributeError):
        return False
    return True


def test_the_mapping_page_lists_the_names_of_the_library() -> None:
    text, listed = (ROOT / "docs/mapping.md").read_text(), set[str]()
    for file in FILES:
        path = ROOT / "src/aspectra/aspects" / file
        own = [title for title in tomllib.loads(path.read_text()) if title not in listed]
        assert f": {', '.join(own)}.\n" in text
        listed |= set(own)
    assert f"Of {len(listed)} aspects" in (ROOT / "docs/student.md").read_text()
