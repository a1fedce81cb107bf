"""The terminal recording in the README: runs the demo and draws what it prints, line by line, as SVG.

    python benchmarks/record.py docs/images/demo.svg

The picture is text with CSS animation: small, sharp, light or dark by itself, and without a script.
Waiting is shortened, so that it lasts about half a minute whatever the machine.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 26.0
"""How long the lines take to appear; then the picture stays."""
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


def demo_lines() -> list[str]:
    """Return what `make demo` prints."""
    with tempfile.TemporaryDirectory() as folder:
        command = f"sh {ROOT / 'docs' / 'demo.sh'} '{Path(sys.executable).with_name('aspectra')}' 2>&1"
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


def main(output: Annotated[Path, typer.Argument(help="The picture to write.")]) -> None:
    """Run the demo and draw it."""
    lines = cleaned(demo_lines())
    output.write_text(draw(lines), encoding="utf-8")
    print(f"{output}: {len(lines)} lines.")


if __name__ == "__main__":
    typer.run(main)
