"""The documentation is true: generated pages are up to date, every command, setting and artifact is told, links lead somewhere."""

import dataclasses
import re
from pathlib import Path

import pytest
import typer.main

from aspectra import rundir
from aspectra.cli import app
from aspectra.cli.reference import cli_page, config_page
from aspectra.config import FitConfig

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_the_command_page_is_generated_from_the_commands() -> None:
    assert (ROOT / "docs/cli.md").read_text() == cli_page(), "run: python -m aspectra.cli.reference docs"


def test_the_settings_page_is_generated_from_the_config() -> None:
    assert (ROOT / "docs/config.md").read_text() == config_page(), (
        "run: python -m aspectra.cli.reference docs"
    )


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_have_options_that_exist(page: Path) -> None:
    known = set(re.findall(r"--[a-z][a-z-]*", cli_page()))
    lines = [line.split("#")[0] for line in page.read_text().splitlines() if line.startswith("aspectra ")]
    assert [
        option for line in lines for option in re.findall(r"--[a-z][a-z-]*", line) if option not in known
    ] == []


def test_every_module_is_in_the_readmes_tree() -> None:
    readme = (ROOT / "README.md").read_text()
    modules = [path for path in (ROOT / "src/aspectra").rglob("*.py") if path.name != "__init__.py"]
    assert [path.name for path in modules if path.name not in readme and path.parent.name == "aspectra"] == []
