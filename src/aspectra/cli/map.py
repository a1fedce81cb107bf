"""aspectra map: open the mapping studio in the browser, or suggest, show, export and import the topic map on the terminal."""

from __future__ import annotations

import contextlib
import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aspectra.cli import show
from aspectra.errors import InputError, MapError

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector
    from aspectra.studio.opening import Opening
    from aspectra.topicmap.topicmap import TopicMap


def command(
    run: show.Run,
    aspects: Annotated[
        str | None, typer.Option(help="Names of the aspects you care about: Image,Sound,Price")
    ] = None,
    seeds: Annotated[
        Path | None, typer.Option(help='TOML file with seed words: Image = ["picture", "color"]')
    ] = None,
    dev: Annotated[
        Path | None, typer.Option(help="JSONL file of labelled segments; makes the suggestion much better.")
    ] = None,
    page: Annotated[
        bool | None,
        typer.Option(
            "--page/--no-page",
            help="Open the page, or stay on the terminal; the page if nothing else is asked for.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Port of the page; a free one from 8765 on by default.", min=1, max=65535),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the address.")
    ] = True,
    from_: Annotated[
        Path | None, typer.Option("--from", help="Carry the choices over from this run's map.")
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Keep a map of your own beside the others', to compare.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Open the page only to look.")] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Overwrite a person's choices too, and a map made for other topics."),
    ] = False,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the map as CSV, to edit in a spreadsheet.")
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Take the choices from such a CSV, as yours.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Your name, kept with your choices; the login name by default.")
    ] = None,
    quiet: show.Quiet = False,
) -> None:
    """Map topics to aspects: on a page in your browser, or by a suggestion on the terminal."""
    from aspectra.studio.opening import Opening

    opening = Opening(
        by or getpass.getuser(),
        show.names(aspects) or (),
        read_seeds(seeds),
        dev,
        from_,
        annotator,
        read_only,
        replace,
    )
    on_terminal = bool(aspects or seeds or dev or export or import_)
    if wants_page(page, on_terminal, bool(annotator or read_only or port is not None)):
        if export or import_:
            raise InputError(
                "--export and --import work without the page: leave out --page, --port, --annotator and --read-only."
            )
        open_page(run, opening, port, browser, quiet)
    else:
        on_the_terminal(run, opening, export, import_, quiet)


def wants_page(page: bool | None, on_terminal: bool, page_only: bool) -> bool:
    """Tell whether to open the page: as asked, or if nothing is asked of the terminal and a person sits there."""
    if page is not None:
        return page
    return page_only or (not on_terminal and sys.stdout.isatty())


def open_page(run: Path, opening: Opening, port: int | None, browser: bool, quiet: bool) -> None:
    """Serve the studio until Done or Ctrl-C."""
    from aspectra.studio.opening import open_studio
    from aspectra.studio.server import free_socket, make_server, serve

    listener = free_socket(port)
    show.note("Loading …", quiet)
    studio = open_studio(run, opening)
    server, address = make_server(studio, listener)
    with contextlib.suppress(KeyboardInterrupt):
        typer.echo(address)
        show.note(
            "Map the topics there; every choice is saved at once. Stop with Done on the page, or Ctrl-C here.",
            quiet,
        )
        if browser:
            show_in_browser(address)
        serve(server, listener)
    studio.session.close()
    if studio.session.path.exists() and not opening.read_only:
        show.note(
            f"Saved {studio.session.path}. Next: aspectra label {run} new.csv -o labelled.parquet", quiet
        )


def show_in_browser(address: str) -> None:
    """Open a browser where there is a screen for one; never one that takes over the terminal."""
    import os
    import webbrowser

    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def on_the_terminal(
    run: Path, opening: Opening, export: Path | None, import_: Path | None, quiet: bool
) -> None:
    """Suggest, carry over, import, export and print, in that order."""
    from aspectra import rundir
    from aspectra.detector import AspectDetector
    from aspectra.studio.opening import carry
    from aspectra.topicmap import topicmap

    detector = AspectDetector.load(run, with_map=False)
    path = run / rundir.TOPIC_MAP
    names, seeds, dev, replace = opening.aspects, opening.seeds, opening.dev, opening.replace
    if names or seeds or dev or opening.old:
        old = topicmap.read_map(path, detector.topics_.fingerprint) if path.exists() and not replace else None
        if opening.old:
            detector.topic_map_ = carry(detector, opening.old)[0]
        else:
            detector.suggest_map(names or None, seeds=seeds, dev=dev)
        topic_map = topicmap.merge(old, detector.topic_map_, replace)
    else:
        topic_map = topicmap.read_map(path, detector.topics_.fingerprint)
    if import_:
        topic_map = topicmap.import_csv(import_, topic_map, opening.by)
    topicmap.write_map(path, topic_map)
    if export:
        topicmap.export_csv(topic_map, export)
        show.note(f"Wrote {export}.", quiet)
    if not quiet:
        print_map(topic_map, detector)
        show.note(f"Saved {path}. Next: aspectra label {run} new.csv -o labelled.parquet")


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
        raise MapError(f'{path} must hold a list of words per aspect: Image = ["picture", "color"].')
    return seeds


def print_map(topic_map: TopicMap, detector: AspectDetector) -> None:
    from rich.text import Text

    from aspectra.topicmap.topicmap import UNMAPPED

    grid = show.table("", "share", "aspect", "keywords and why", right=("", "share"))
    share = {item.id: item.share for item in detector.topics_.items}
    order = {aspect: place for place, aspect in enumerate((*topic_map.aspects, None))}
    for choice in sorted(topic_map.choices, key=lambda choice: (order[choice.aspect], -share[choice.topic])):
        said = Text(" ".join(choice.keywords) + "\n").append(
            f"{choice.by}: {choice.why}" if choice.why else choice.by, style="dim"
        )
        grid.add_row(str(choice.topic), f"{share[choice.topic]:.1%}", Text(choice.aspect or UNMAPPED), said)
    show.console().print(grid)
    if hasattr(detector, "dev_estimate_"):
        figures = ", ".join(f"{name} {value:.1%}" for name, value in detector.dev_estimate_.items())
        show.console().print(
            f"Expected on new labelled segments (cross-validated inside the dev set): {figures}."
        )
