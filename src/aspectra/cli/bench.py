"""aspectra bench: the paper's tables on real data, the labels curve, ablations, speed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from aspectra.bench.results import Places
    from aspectra.bench.runner import Cell, CellProgress, Outcome
    from aspectra.bench.tables import Grid

LONGEST_FIGURE = 24
"""A last column with more letters than this holds words, which start at the left."""

app = typer.Typer(no_args_is_help=True, help="Measure: quality on published sets, ablations, speed.")

Data = Annotated[
    Path | None, typer.Option(help="Folder with the published sets; without it the embedded sample is used.")
]
Sets = Annotated[
    str | None,
    typer.Option(help="Sets, with commas: see docs/benchmark.md. All that are there."),
]
Seeds = Annotated[int, typer.Option(min=1, max=1_000, help="How many seeds.")]
Jobs = Annotated[
    int,
    typer.Option(min=1, max=256, help="How many sets and seeds to run at the same time, each on one thread."),
]
Home = Annotated[
    Path, typer.Option(help="Folder for fits and finished cells; what is there is not computed again.")
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder for the results as JSON and Markdown, and the figures.")
]
Markdown = Annotated[
    Path | None, typer.Option(help="Page to put the tables in, between their marks; figures go beside it.")
]


@app.command()
def quality(
    data: Data = None,
    sets: Sets = None,
    systems: Annotated[
        str | None,
        typer.Option(help="Systems, with commas, or all; by default aspectra's own: see docs/benchmark.md."),
    ] = None,
    seeds: Seeds = 5,
    jobs: Jobs = 1,
    home: Home = Path("bench-runs"),
    output: Output = Path("bench-results"),
    markdown: Markdown = None,
    quiet: show.Quiet = False,
) -> None:
    """Score every system on every set: the paper's Tables 3 and 4 beside ours."""
    show.note("Loading …", quiet)
    from aspectra.bench import results, runner, tables
    from aspectra.bench.sets import choose_sets
    from aspectra.bench.systems import choose_systems

    names = choose_sets(sets, data)
    chosen = choose_systems(systems)
    places = results.Places(output, markdown)
    places.check("quality")
    outcomes = run_cells(runner.quality_cells(names, chosen, seeds), data, home, jobs, quiet)
    print_grids(tables.quality_grids(outcomes))
    command = results.rebuild_command(
        "quality", data, sets=",".join(names), seeds=str(seeds), systems=systems
    )
    pictures = results.quality_pictures(outcomes, places.figures)
    publish("quality", command, results.quality_markdown_grids(outcomes), pictures, outcomes, places, quiet)


@app.command()
def ablation(
    data: Data = None,
    sets: Sets = None,
    only: Annotated[
        str | None, typer.Option(help="Some of attention,lambda,batch,topics,filter,segments.")
    ] = None,
    seeds: Seeds = 3,
    jobs: Jobs = 1,
    home: Home = Path("bench-runs"),
    output: Output = Path("bench-results"),
    markdown: Markdown = None,
    quiet: show.Quiet = False,
) -> None:
    """Vary one setting at a time: attention, λ, batch size, topics, entropy filter, segments to distil."""
    show.note("Loading …", quiet)
    from aspectra.bench import ablations, results, tables
    from aspectra.bench.sets import choose_sets

    chosen = ablations.chosen(show.names(only))
    names = choose_sets(sets, data)
    places = results.Places(output, markdown)
    places.check("ablation")
    wanted = [cell for one in chosen for cell in one.cells(names, seeds)]
    outcomes = run_cells(wanted, data, home, jobs, quiet)
    grids = [tables.ablation_grid(outcomes, one) for one in chosen]
    print_grids(grids)
    pictures = results.ablation_pictures(outcomes, chosen, places.figures)
    command = results.rebuild_command("ablation", data, sets=",".join(names), seeds=str(seeds), only=only)
    publish("ablation", command, grids, pictures, outcomes, places, quiet)


@app.command()
def labels(
    data: Data = None,
    sets: Sets = None,
    seeds: Seeds = 1,
    jobs: Jobs = 1,
    home: Home = Path("bench-runs"),
    output: Output = Path("bench-results"),
    markdown: Markdown = None,
    quiet: show.Quiet = False,
) -> None:
    """Draw F1 against the number of labels: names alone, names and labels, labels alone."""
    show.note("Loading …", quiet)
    from aspectra.bench import labels as curve
    from aspectra.bench import results
    from aspectra.bench.sets import choose_sets

    names = choose_sets(sets, data, tested=True)
    places = results.Places(output, markdown)
    places.check("labels")
    outcomes = run_cells(curve.label_cells(names, seeds), data, home, jobs, quiet)
    grids = curve.label_grids(outcomes)
    print_grids(grids)
    pictures = {"F1 against the number of labels": curve.draw_labels(outcomes, places.figures)}
    command = results.rebuild_command("labels", data, sets=",".join(names), seeds=str(seeds))
    publish("labels", command, grids, pictures, outcomes, places, quiet)


def run_cells(cells: list[Cell], data: Path | None, home: Path, jobs: int, quiet: bool) -> list[Outcome]:
    """Run the cells that are not there yet, with bars that show how far they are."""
    from aspectra.bench import runner

    with showing_cells(quiet) as progress:
        return runner.run_cells(progress.of(cells), data, home, jobs, progress.show)


def publish(
    part: str,
    command: str,
    grids: list[Grid],
    pictures: dict[str, str],
    outcomes: list[Outcome],
    places: Places,
    quiet: bool,
) -> None:
    """Write a part's results, and say where."""
    from aspectra.bench import results

    results.publish(part, command, grids, pictures, outcomes, places)
    files = f"{places.output / part}.json, {places.output / part}.md"
    show.note(f"Wrote {files} and figures in {places.figures}.", quiet)


def print_grids(grids: list[Grid]) -> None:
    console = show.console()
    for grid in grids:
        console.print(grid.title, style="bold")
        sentences = any(len(row[-1]) > LONGEST_FIGURE for row in grid.rows)
        table = show.table(*grid.header, right=() if sentences else tuple(grid.header[1:]))
        table.columns[0].no_wrap = True
        for row in grid.rows:
            table.add_row(*row)
        console.print(table)
        for note in grid.notes:
            console.print(note)
        console.print()


@app.command()
def speed(
    data: Data = None,
    only: Annotated[str | None, typer.Option(help="Some of stages,student,clauses,growth.")] = None,
    largest: Annotated[
        int, typer.Option(min=10_000, max=1_000_000_000, help="Measure growth up to so many segments.")
    ] = 1_000_000,
    home: Home = Path("bench-runs"),
    output: Output = Path("bench-results"),
    markdown: Markdown = None,
    quiet: show.Quiet = False,
) -> None:
    """Measure every stage, beside the literal algorithm and plain Python, memory, and how both grow."""
    show.note("Loading …", quiet)
    from aspectra.bench import results, speed_tables
    from aspectra.cli import distill, fit

    labels = {**fit.STAGE_LABELS, **distill.STAGE_LABELS, "growth": "Growing"}
    places, grids = results.Places(output, markdown), []
    places.check("speed")
    pictures: dict[str, str] = {}
    for part in speed_tables.choose_parts(show.names(only), data):
        show.note(f"Measuring {part} …", quiet)
        with show.stages(labels, quiet) as progress:
            grid, drawn = speed_tables.measure_part(
                part, speed_tables.open_task(data, home, progress), largest, places.figures
            )
        print_grids([grid])
        grids.append(grid)
        pictures |= drawn
    command = results.rebuild_command("speed", data, only=only)
    publish("speed", command, grids, pictures, [], places, quiet)


class CellBars:
    """Shows how many cells of a benchmark are done, and what each running group does now."""

    def __init__(self, bars: Progress | None) -> None:
        from aspectra.bench.runner import FINISHED

        self.bars, self.finished = bars, FINISHED
        self.groups: dict[str, TaskID] = {}
        self.all: TaskID | None = None

    def of(self, cells: list[Cell]) -> list[Cell]:
        """Say how many cells there are, and hand them on."""
        if self.bars:
            self.all = self.bars.add_task("Cells", total=len(cells), stage="")
        return cells

    def show(self, progress: CellProgress) -> None:
        if not self.bars or self.all is None:
            return
        if progress.group not in self.groups:
            self.groups[progress.group] = self.bars.add_task(progress.group, total=1.0)
        task = self.groups[progress.group]
        if progress.stage == self.finished:
            self.bars.advance(self.all)
            self.bars.update(task, visible=False)
        else:
            words = f"{progress.group} · {progress.cell} · {progress.stage}"
            self.bars.update(task, description=words[:44], completed=progress.done, visible=True)


@contextlib.contextmanager
def showing_cells(quiet: bool) -> Iterator[CellBars]:
    """Show a benchmark's progress on stderr."""
    if quiet:
        yield CellBars(None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<44}"), BarColumn(16), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=show.console(True)) as bars:
        yield CellBars(bars)
