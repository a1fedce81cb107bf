"""The pictures of the README and the sample report: runs the demo, a student and a report, and shows them.

    python benchmarks/record.py docs

The recording of the terminal, `images/demo.svg`, is text with CSS animation: small, sharp, light or dark by
itself, and without a script. Waiting is shortened, so that it lasts about half a minute whatever the machine.
`sample-report.html`, `images/report.png` and `images/studio.png` are made of the demo's run, in Chromium.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

ROOT = Path(__file__).resolve().parents[1]
ASPECTRA = str(Path(sys.executable).with_name("aspectra"))
SECONDS = 26.0
"""How long the lines take to appear; then the picture stays."""
ACCEPTED = 3
"""So many suggestions are accepted in the picture of the mapping page."""
COLUMNS, WIDTH, HEIGHT = 96, 8.4, 19
LEFT_OUT = re.compile(
    r"Reading the text|Next: |See the topics|Model: |.*this will take|.* left$|.* … [\d:]+$"
)
"""Lines that help while one types or waits; in the picture they would only make it longer."""
STYLE = """
svg { --paper: #fbfbfa; --ink: #24292e; --command: #00695c; }
@media (prefers-color-scheme: dark) { svg { --paper: #1e2227; --ink: #d7dae0; --command: #4db6ac; } }
rect { fill: var(--paper); }
text { fill: var(--ink); white-space: pre; font: 14px ui-monospace, Menlo, Consolas, monospace; }
.command { fill: var(--command); font-weight: bold; }
@keyframes hide { from { opacity: 0; } to { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { text { animation: none !important; } }
"""


def demo_lines(folder: Path) -> list[str]:
    """Run `make demo` in a folder; return what it prints."""
    command = f"sh {ROOT / 'docs' / 'demo.sh'} '{ASPECTRA}' 2>&1"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def cleaned(lines: list[str]) -> list[str]:
    """Leave out colours and, as the picture does not last as long, times; wrap what is too long."""
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in lines]
    kept = [line for line in plain if not LEFT_OUT.match(line)]
    timeless = [re.sub(r"(?<=100 %) .*|(?<=segments), [\d,]+/s .*", "", line) for line in kept]
    return [
        part for line in timeless for part in textwrap.wrap(line, COLUMNS, subsequent_indent="  ") or [""]
    ]


def draw(lines: list[str]) -> str:
    """Return the SVG: each line is hidden until its time; who draws no animation sees all lines."""
    weights = [4.0 if line.startswith("$") else 1.0 for line in lines]
    step = SECONDS / sum(weights)
    parts, at = [], 0.0
    for row, (line, weight) in enumerate(zip(lines, weights, strict=True), start=1):
        kind = ' class="command"' if line.startswith("$") else ""
        place = f'x="14" y="{14 + row * HEIGHT}"{kind} style="animation: hide {at:.1f}s"'
        parts.append(f"<text {place}>{html.escape(line)}</text>")
        at += weight * step
    size = f'viewBox="0 0 {COLUMNS * WIDTH + 28:.0f} {len(lines) * HEIGHT + 34}"'
    rest = '<rect width="100%" height="100%" rx="8"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{rest}{"".join(parts)}</svg>\n'
    )


def write_report(folder: Path, report: Path) -> None:
    """Label the demo's reviews with a student and write the report about that."""
    for command in (
        "map accept demo/run",
        "distill demo/run",
        "label demo/run demo/reviews.csv -o demo/student.parquet",
        "report demo/run demo/student.parquet --gold demo/test.jsonl -o demo/student.html --title",
    ):
        title = ["What buyers say about espresso machines"] if command.endswith("--title") else []
        subprocess.run([ASPECTRA, *command.split(), *title], cwd=folder, check=True)
    shutil.copy(folder / "demo/student.html", report)


def show_report(browser: Any, report: Path, picture: Path) -> None:
    page = browser.new_page(viewport={"width": 1120, "height": 1630})
    page.goto(report.resolve().as_uri())
    page.wait_for_load_state("networkidle")
    page.screenshot(path=picture)


def show_mapping(browser: Any, folder: Path, picture: Path) -> None:
    """Accept a few suggestions on the mapping page and try a sentence."""
    command = [ASPECTRA, "map", "demo/run", "--dev", "demo/dev.jsonl", "--annotator", "Ada", "--page"]
    variables = {**os.environ, "BROWSER": "true"}  # the page is opened below, not by the command
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        page = browser.new_page(viewport={"width": 1440, "height": 900}, device_scale_factor=1.5)
        page.goto(address)
        page.wait_for_selector("#card .segment")
        for _ in range(ACCEPTED):
            page.keyboard.press("s")
            page.wait_for_timeout(500)
        page.locator("#try").fill("The grinder is loud but the espresso is great")
        page.wait_for_selector("#tried .hint")
        page.wait_for_selector("#card .segment")
        page.screenshot(path=picture)
        process.terminate()


def main(docs: Annotated[Path, typer.Argument(help="The folder of the docs.")]) -> None:
    """Make the pictures and the sample report again."""
    from playwright.sync_api import sync_playwright

    images = docs / "images"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        lines = cleaned(demo_lines(folder))
        (images / "demo.svg").write_text(draw(lines), encoding="utf-8")
        write_report(folder, docs / "sample-report.html")
        path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        show_report(browser, docs / "sample-report.html", images / "report.png")
        show_mapping(browser, folder, images / "studio.png")
        browser.close()


if __name__ == "__main__":
    typer.run(main)
