"""The docs as a website: it builds without a warning, and its pages load nothing from elsewhere."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_site_and_its_menu(site: Path) -> None:
    menu = (site / "index.html").read_text()
    assert [page.stem for page in PAGES if not (site / f"{page.stem}.html").exists()] == []
    assert [page.stem for page in PAGES if f'href="{page.stem}.html"' not in menu] == []


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    pages = {page: page.read_text() for page in site.glob("*.html") if page.name != "sample-report.html"}
    loaded = re.compile(r'<(?:script|img|iframe)[^>]+src="?https?:|<link[^>]+stylesheet[^>]+href="?https?:')
    assert [page.name for page, text in pages.items() if loaded.search(text)] == []
    assert pages


def test_the_notebooks_cells_are_python_without_output() -> None:
    cells = json.loads((ROOT / "docs/notebook.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or not ast.parse(cell["source"]).body] == []
    assert len(code) > 5
