"""aspectra map: map topics on a page in the browser or by a suggestion; export and import the map."""

from __future__ import annotations

import contextlib
import getpass
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from aspectra.cli import show
from aspectra.cli.settings import with_options
from aspectra.errors import InputError, MapError

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector
    from aspectra.topicmap.topicmap import TopicMap

DEFAULT = "open"
By = Annotated[str | None, typer.Option(help="Your name, kept with your choices; default: the login name.")]
Table = Annotated[Path, typer.Argument(metavar="FILE", help="The map as a CSV table.")]


class MapGroup(TyperGroup):
    """Takes `aspectra map RUN …` as the command `open`, whose name nobody has to type."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args and args[0] in self.commands else [DEFAULT, *args])


class DefaultCommand(TyperCommand):
    def format_usage(self, ctx: Any, formatter: Any) -> None:
        group = ctx.command_path.removesuffix(f" {DEFAULT}")
        formatter.write_usage(group, " ".join(self.collect_usage_pieces(ctx)))
        for pieces in ("export RUN FILE", "import RUN FILE"):
            formatter.write_usage(group, pieces, prefix="       ")


app = typer.Typer(cls=MapGroup, help="Map topics to aspects: in the browser, or by a suggestion.")


@dataclass(frozen=True)
class MapOptions:
    """The options of `aspectra map RUN`; the last two are commands of their own now."""

    aspects: Annotated[
        str | None, typer.Option(help="Names of the aspects you care about: Image,Sound,Price")
    ] = None
    seeds: Annotated[
        Path | None, typer.Option(help='TOML file with words for each aspect: Image = ["picture", "color"]')
    ] = None
    dev: Annotated[
        Path | None,
        typer.Option(help="JSONL file of labelled segments; makes the suggestion much better."),
    ] = None
    from_: Annotated[
        Path | None, typer.Option("--from", help="Carry the choices over from the map of this run.")
    ] = None
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite a person's choices, or a map made for other topics.")
    ] = False
    page: Annotated[
        bool | None,
        typer.Option(
            "--page/--no-page",
            help="Open the page, or print the map. Default: the page, unless a suggestion is asked for.",
        ),
    ] = None
    annotator: Annotated[
        str | None, typer.Option(help="Your name: keep a map of your own, to compare with those of others.")
    ] = None
    read_only: Annotated[bool, typer.Option("--read-only", help="Open the page only to look.")] = False
    port: Annotated[
        int | None, typer.Option(help="Port of the page; default: a free one.", min=1, max=65535)
    ] = None
    browser: Annotated[bool, typer.Option("--browser/--no-browser", hidden=True)] = True
    by: Annotated[str | None, typer.Option(hidden=True)] = None
    export: Annotated[Path | None, typer.Option("--export", hidden=True)] = None
    import_: Annotated[Path | None, typer.Option("--import", hidden=True)] = None

    @property
    def suggests(self) -> bool:
        return bool(self.aspects or self.seeds or self.dev)

    @property
    def wants_page(self) -> bool:
        """Whether to open the page: as asked or, if nothing else is asked for, on a terminal."""
        if self.page is not None:
            return self.page
        if self.annotator or self.read_only or self.port is not None:
            return True
        return not (self.suggests or self.export or self.import_) and sys.stdout.isatty()


@app.command(DEFAULT, cls=DefaultCommand, hidden=True)
@with_options(MapOptions)
def open_map(run: show.Run, quiet: show.Quiet = False, **given: Any) -> None:
    """Map topics to aspects: in the browser, or by a suggestion.

    --aspects, --seeds or --dev suggest a map and save it; add --page to open the page with that suggestion.
    `export` and `import` are for editing the map in a spreadsheet.
    """
    options = MapOptions(**given)
    if options.wants_page and (options.export or options.import_):
        raise InputError(
            "--export and --import work without the page. "
            "Leave out --page, --port, --annotator and --read-only."
        )
    if options.wants_page:
        open_page(run, options, quiet)
    elif options.export or options.import_:
        follow_old_flags(run, options, quiet)
    else:
        on_terminal(run, options, quiet)


@app.command("export")
def export_map(run: show.Run, file: Table, quiet: show.Quiet = False) -> None:
    """Write the map as CSV, to edit in a spreadsheet."""
    from aspectra import rundir
    from aspectra.topicmap.spreadsheet import export_csv
    from aspectra.topicmap.topicmap import read_map

    export_csv(read_map(run / rundir.TOPIC_MAP, load(run).topics_.fingerprint), file)
    show.note(f"Wrote {file}. After editing: aspectra map import {run} {file}", quiet)


@app.command("import")
def import_map(run: show.Run, file: Table, by: By = None, quiet: show.Quiet = False) -> None:
    """Read an exported CSV back in; the rows that you changed become your choices."""
    from aspectra import rundir
    from aspectra.topicmap.spreadsheet import import_csv
    from aspectra.topicmap.topicmap import read_map, write_map

    detector = load(run)
    with rundir.locked(run, "map"):
        found = read_map(run / rundir.TOPIC_MAP, detector.topics_.fingerprint)
        imported = import_csv(file, found, by or getpass.getuser())
        write_map(run / rundir.TOPIC_MAP, imported)
    show_saved(run, imported, detector, quiet)


def load(run: Path) -> AspectDetector:
    from aspectra.detector import AspectDetector

    return AspectDetector.load(run, with_map=False)


def open_page(run: Path, options: MapOptions, quiet: bool) -> None:
    """Serve the studio until Done or Ctrl-C."""
    from aspectra.studio.opening import Opening, open_studio
    from aspectra.studio.server import free_socket, make_server, serve

    opening = Opening(
        by=options.by or getpass.getuser(),
        aspects=show.names(options.aspects) or (),
        seeds=read_seeds(options.seeds),
        dev=options.dev,
        old=options.from_,
        annotator=options.annotator,
        read_only=options.read_only,
        replace=options.replace,
    )
    listener = free_socket(options.port)
    show.note("Loading …", quiet)
    studio = open_studio(run, opening)
    server, address = make_server(studio, listener)
    with contextlib.suppress(KeyboardInterrupt):
        typer.echo(address)
        show.note(
            "Map the topics there; every choice is saved at once. "
            "Stop with Done on the page, or with Ctrl-C here.",
            quiet,
        )
        if options.browser:
            show_in_browser(address)
        serve(server, listener)
    studio.session.close()
    if studio.session.path.exists() and not options.read_only:
        say_next(run, studio.session.path, quiet)


def show_in_browser(address: str) -> None:
    """Open a browser where there is a screen for one; never one that takes over the terminal."""
    import os
    import webbrowser

    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def on_terminal(run: Path, options: MapOptions, quiet: bool) -> None:
    """Suggest or carry over a map, save and print it; without either, print the map that is there."""
    from aspectra import rundir
    from aspectra.studio.opening import carry
    from aspectra.topicmap.topicmap import merge, read_map, write_map

    detector, path = load(run), run / rundir.TOPIC_MAP
    if not (options.suggests or options.from_):
        if not path.exists():
            raise MapError(
                f"No topic map in {run}. Name your aspects: aspectra map {run} --aspects Image,Sound "
                f"or open the page: aspectra map {run} --page"
            )
        show_saved(run, read_map(path, detector.topics_.fingerprint), detector, quiet)
        return

    def old() -> TopicMap | None:
        keep = path.exists() and not options.replace
        return read_map(path, detector.topics_.fingerprint) if keep else None

    old()  # a map that cannot be kept is refused before the work, not after it
    expected: dict[str, float] = {}
    if options.from_:
        new = carry(detector, options.from_)[0]
    else:
        names, seeds = show.names(options.aspects), read_seeds(options.seeds)
        new = detector.suggest_map(names, seeds=seeds, dev=options.dev).topic_map_
        expected = detector.dev_estimate_ if options.dev else {}
    with rundir.locked(run, "map"):
        merged = merge(old(), new, options.replace)
        write_map(path, merged)
    show_saved(run, merged, detector, quiet)
    if expected and not quiet:
        figures = ", ".join(f"{name} {value:.1%}" for name, value in expected.items())
        show.console().print(f"Expected on new segments, by cross-validation on {options.dev}: {figures}.")


def follow_old_flags(run: Path, options: MapOptions, quiet: bool) -> None:
    """Do what --import and --export asked for before they became commands, and say what to type instead."""
    if options.suggests or options.from_:
        on_terminal(run, options, quiet)
    if options.import_:
        show.note(f"--import is a command now. Type: aspectra map import {run} {options.import_}")
        import_map(run, options.import_, options.by, quiet)
    if options.export:
        show.note(f"--export is a command now. Type: aspectra map export {run} {options.export}")
        export_map(run, options.export, quiet)


def read_seeds(path: Path | None) -> dict[str, list[str]] | None:
    """Read {aspect: [words]} from TOML."""
    if path is None:
        return None
    import tomllib

    try:
        seeds = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f'Cannot read seed words from {path}: {error}. Write lines such as Image = ["picture", "color"].'
        ) from None
    if not seeds or not all(
        isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        for words in seeds.values()
    ):
        raise MapError(f'{path} must have a list of words per aspect: Image = ["picture", "color"].')
    return seeds


def show_saved(run: Path, topic_map: TopicMap, detector: AspectDetector, quiet: bool) -> None:
    """Print the map in use."""
    from aspectra import rundir

    if not quiet:
        print_map(topic_map, detector)
        say_next(run, run / rundir.TOPIC_MAP, quiet)


def say_next(run: Path, path: Path, quiet: bool) -> None:
    show.note(f"Saved {path}. Next: aspectra label {run} new.csv -o labelled.parquet", quiet)


def print_map(topic_map: TopicMap, detector: AspectDetector) -> None:
    from rich.text import Text

    from aspectra.topicmap.topicmap import UNMAPPED

    grid = show.table("", "share", "aspect", "keywords and why", right=("", "share"))
    share = {item.id: item.share for item in detector.topics_.items}
    order = {aspect: place for place, aspect in enumerate((*topic_map.aspects, None))}
    for choice in sorted(topic_map.choices, key=lambda choice: (order[choice.aspect], -share[choice.topic])):
        who = f"{choice.by}: {choice.why}" if choice.why else choice.by
        said = Text(" ".join(choice.keywords) + "\n").append(who, style="dim")
        grid.add_row(str(choice.topic), f"{share[choice.topic]:.1%}", Text(choice.aspect or UNMAPPED), said)
    show.console().print(grid)
