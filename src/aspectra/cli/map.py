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
from aspectra.cli.show_map import say_next, show_saved
from aspectra.config import BUNDLED
from aspectra.errors import InputError, MapError, typed
from aspectra.progress import progress_of

if TYPE_CHECKING:
    from aspectra.aspects.aspects import Aspect
    from aspectra.detector import AspectDetector
    from aspectra.topicmap.topicmap import TopicMap

DEFAULT = "open"
STAGES = {"features": "Reading segments"}
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
        for pieces in ("accept RUN", "export RUN FILE", "import RUN FILE"):
            formatter.write_usage(group, pieces, prefix="       ")


app = typer.Typer(cls=MapGroup, help="Map topics to aspects: in the browser, or by a suggestion.")


@dataclass(frozen=True)
class MapOptions:
    """The options of `aspectra map RUN`; the last two are commands of their own now, --seeds is --aspects."""

    aspects: Annotated[
        str | None,
        typer.Option(
            help="The aspects you care about: Image,Sound,Price, or a TOML file that describes them."
        ),
    ] = None
    dev: Annotated[
        Path | None, typer.Option(help="JSONL file of labelled segments: suggest what fits them best.")
    ] = None
    encoder: Annotated[
        str, typer.Option(help="Encoder that compares names and segments; none compares words alone.")
    ] = BUNDLED
    why: Annotated[bool, typer.Option("--why", help="Print a reason under each topic.")] = False
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
    seeds: Annotated[Path | None, typer.Option(hidden=True)] = None
    browser: Annotated[bool, typer.Option("--browser/--no-browser", hidden=True)] = True
    by: Annotated[str | None, typer.Option(hidden=True)] = None
    export: Annotated[Path | None, typer.Option("--export", hidden=True)] = None
    import_: Annotated[Path | None, typer.Option("--import", hidden=True)] = None

    @property
    def suggests(self) -> bool:
        return self.aspects is not None or bool(self.seeds or self.dev)

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

    --aspects or --dev suggest a map and save it; add --page to open the page with that suggestion. An aspects
    file has a table per aspect, [Image], with about, words and examples; the run keeps a copy, aspects.toml.
    `accept` makes a suggestion your own choice; `export` and `import` are for editing it in a spreadsheet.
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


@app.command("accept")
def accept_map(run: show.Run, by: By = None, quiet: show.Quiet = False) -> None:
    """Make the suggestions your choices, after a look at them; a student then learns from them, too."""
    from aspectra import disk, rundir
    from aspectra.topicmap.topicmap import write_map

    detector = load(run)
    with disk.locked(run, "map"):
        accepted = read_of(detector, run / rundir.TOPIC_MAP).accepted(by or getpass.getuser())
        write_map(run / rundir.TOPIC_MAP, accepted)
    show_saved(run, accepted, detector, quiet)


@app.command("export")
def export_map(run: show.Run, file: Table, quiet: show.Quiet = False) -> None:
    """Write the map as CSV, to edit in a spreadsheet."""
    from aspectra import rundir
    from aspectra.topicmap.spreadsheet import export_csv

    export_csv(read_of(load(run), run / rundir.TOPIC_MAP), file)
    show.note(f"Wrote {file}. After editing: aspectra map import {typed(run)} {typed(file)}", quiet)


@app.command("import")
def import_map(run: show.Run, file: Table, by: By = None, quiet: show.Quiet = False) -> None:
    """Read an exported CSV back in; the rows that you changed become your choices."""
    from aspectra import disk, rundir
    from aspectra.topicmap.spreadsheet import import_csv
    from aspectra.topicmap.topicmap import write_map

    detector = load(run)
    with disk.locked(run, "map"):
        found = read_of(detector, run / rundir.TOPIC_MAP)
        imported = import_csv(file, found, by or getpass.getuser())
        write_map(run / rundir.TOPIC_MAP, imported)
    show_saved(run, imported, detector, quiet)


def load(run: Path) -> AspectDetector:
    from aspectra.detector import AspectDetector

    return AspectDetector.load(run, with_map=False)


def read_of(detector: AspectDetector, path: Path) -> TopicMap:
    """Read a map of this run's topics."""
    from aspectra.topicmap.topicmap import read_map

    return read_map(path, detector.topics_.fingerprint, len(detector.topics_.items))


def open_page(run: Path, options: MapOptions, quiet: bool) -> None:
    """Serve the studio until Done or Ctrl-C."""
    with show.waiting("Loading", quiet):
        from aspectra.studio.opening import Opening, open_studio
        from aspectra.studio.server import free_socket, make_server, serve

    opening = Opening(
        by=options.by or getpass.getuser(),
        aspects=find_aspects(run, options),
        encoder=options.encoder,
        dev=options.dev,
        old=options.from_,
        annotator=options.annotator,
        read_only=options.read_only,
        replace=options.replace,
    )
    listener = free_socket(options.port)
    with show.stages(STAGES, quiet) as progress:
        studio = open_studio(run, opening, progress_of("features", progress))
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
        if studio.session.is_in_use:
            say_next(run, studio.session.path, quiet)
        else:
            show.note(f"Next, when all have mapped: aspectra map {typed(run)} --page", quiet)


def show_in_browser(address: str) -> None:
    """Open a browser where there is a screen for one; never one that takes over the terminal."""
    import os
    import webbrowser

    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def on_terminal(run: Path, options: MapOptions, quiet: bool) -> None:
    """Suggest or carry over a map, save and print it; without either, print the map that is there."""
    from aspectra import disk, rundir
    from aspectra.aspects.aspects import keep_aspects
    from aspectra.topicmap.labels import given_labels, keep_labels, take_over
    from aspectra.topicmap.notes import notes_on_carried
    from aspectra.topicmap.topicmap import merge, write_map

    with show.waiting("Loading", quiet):
        from aspectra.studio.opening import carry

        detector, path = load(run), run / rundir.TOPIC_MAP
    if not (options.suggests or options.from_):
        if not path.exists():
            raise MapError(
                f"No topic map in {run}. Name your aspects: "
                f"aspectra map {typed(run)} --aspects {show.example_names(detector)} "
                f"or open the page: aspectra map {typed(run)} --page"
            )
        show_saved(run, read_of(detector, path), detector, quiet, options.why)
        return

    def old() -> TopicMap | None:
        keep = path.exists() and not options.replace
        return read_of(detector, path) if keep else None

    if options.from_ and options.suggests:
        raise InputError(
            "--from takes over another run's map. Leave out --aspects and --dev, or open the page: --page"
        )
    before = old()  # a map that cannot be kept is refused before the work, not after it
    aspects, gold = find_aspects(run, options), given_labels(options.dev)
    if options.from_:
        new = carry(detector, options.from_)[0]
    else:
        decided = {one.topic: one.aspect for one in before.choices if one.by_person} if before else None
        with show.stages(STAGES, quiet) as progress:
            detector.suggest_map(
                aspects or None,
                dev=gold,
                encoder=options.encoder,
                choices=decided,
                progress=progress,
            )
        new = detector.topic_map_
    with disk.locked(run, "map"):
        merged = merge(old(), new, options.replace)
        if options.from_:
            take_over(options.from_, run)
        write_map(path, merged)
        notes = [keep_aspects(run, merged.aspects, aspects)]
        notes += notes_on_carried(merged) if options.from_ else [keep_labels(run, gold)]
    show_saved(run, merged, detector, quiet, options.why)
    for note in filter(None, notes):
        show.note(f"Note: {note}")
    if gold and not quiet:
        figures = ", ".join(f"{name} {value:.1%}" for name, value in detector.dev_estimate_.items())
        show.console().print(f"Expected on new segments, by cross-validation on {options.dev}: {figures}.")


def find_aspects(run: Path, options: MapOptions) -> tuple[Aspect, ...]:
    """Return the aspects asked for; names alone come with what the run's aspects.toml says of them."""
    from aspectra.aspects.aspects import aspects_of_run, described, of_words, read_aspects

    if options.seeds:
        show.note(f'--seeds is --aspects now: write [Image] and words = ["picture"] in {options.seeds}.')
        return of_words(read_seeds(options.seeds))
    if options.aspects is None:
        return ()
    given = read_aspects(options.aspects)
    if options.aspects.endswith(".toml"):
        return given
    known = (*(aspects_of_run(options.from_) if options.from_ else ()), *aspects_of_run(run))
    return described([aspect.name for aspect in given], known)


def follow_old_flags(run: Path, options: MapOptions, quiet: bool) -> None:
    """Do what --import and --export asked for before they became commands, and say what to type instead."""
    if options.suggests or options.from_:
        on_terminal(run, options, quiet)
    if options.import_:
        show.note(
            f"--import is a command now. Type: aspectra map import {typed(run)} {typed(options.import_)}"
        )
        import_map(run, options.import_, options.by, quiet)
    if options.export:
        show.note(
            f"--export is a command now. Type: aspectra map export {typed(run)} {typed(options.export)}"
        )
        export_map(run, options.export, quiet)


def read_seeds(path: Path) -> dict[str, list[str]]:
    """Read {aspect: [words]} from TOML, as --seeds did."""
    import tomllib

    try:
        seeds = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f'Cannot read seed words from {path}: {error}. Write lines such as Image = ["picture", "color"].'
        ) from None
    if not seeds or not all(
        isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        for words in seeds.values()
    ):
        raise MapError(f'{path} must have a list of words per aspect: Image = ["picture", "color"].')
    return seeds
