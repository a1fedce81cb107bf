"""aspectra topics: what was discovered, as a table or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aspectra.cli import show
from aspectra.errors import InputError, MapError, typed

GROUPINGS = ("topic", "aspect")
KEYWORDS = 6
"""So many stand in the table by aspect, as in the paper's."""


def command(
    run: show.Run,
    by: Annotated[
        str, typer.Option(help="topic, or aspect: each aspect with the keywords of its topics.")
    ] = "topic",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show the topics: share, coherence, keywords, a typical segment."""
    from aspectra import rundir
    from aspectra.rundir import RunDir

    if by not in GROUPINGS:
        raise InputError(f"--by must be one of {', '.join(GROUPINGS)}, got {by!r}.")
    home = RunDir(run)
    home.check("topics")
    topics = rundir.read_json(home / rundir.TOPICS)
    if as_json:
        show.as_json(topics)
    elif by == "aspect":
        print_aspects(topics, chosen_aspects(home / rundir.TOPIC_MAP, topics), run)
    else:
        print_topics(topics, chosen_aspects(home / rundir.TOPIC_MAP, topics), run)


def chosen_aspects(path: Path, topics: dict[str, Any]) -> dict[int, str]:
    """Return the aspect of each topic; nothing without a map, or with one that cannot be used."""
    from aspectra.config import UNMAPPED
    from aspectra.topicmap.topicmap import read_map

    if not path.exists():
        return {}
    try:
        choices = read_map(path, topics["fingerprint"], len(topics["items"])).choices
    except MapError as error:  # to fix the map, a person must see the topics
        show.note(str(error))
        return {}
    return {choice.topic: choice.aspect or UNMAPPED for choice in choices}


def print_aspects(topics: dict[str, Any], chosen: dict[int, str], run: Path) -> None:
    """Print the paper's keyword table: one line per topic behind its aspect, General and unmapped last."""
    from rich.text import Text

    from aspectra.config import GENERAL, UNMAPPED

    if not chosen:
        raise MapError(
            f"No topic of {run} is mapped to an aspect. Map the topics first: aspectra map {typed(run)}"
        )
    grid = show.table("aspect", "share", "keywords", right=("share",))
    last = (GENERAL, UNMAPPED)
    items = sorted(topics["items"], key=lambda item: -item["share"])
    for aspect in sorted(set(chosen.values()), key=lambda name: (name in last, name == UNMAPPED, name)):
        own = [item for item in items if chosen[item["id"]] == aspect]
        for place, item in enumerate(own):
            keywords = " ".join(item["keywords"][:KEYWORDS])
            grid.add_row(Text("" if place else aspect), f"{item['share']:.1%}", Text(keywords))
    show.console().print(grid)


def print_topics(topics: dict[str, Any], chosen: dict[int, str], run: Path) -> None:
    from rich.text import Text

    columns = ["", "share", "coherence", *(["aspect"] if chosen else []), "keywords and a typical segment"]
    grid = show.table(*columns, right=("", "share", "coherence"))
    for item in sorted(topics["items"], key=lambda item: -item["share"]):
        said = Text(" ".join(item["keywords"]) + "\n").append("\n".join(item["typical"][:1]), style="dim")
        aspect = [Text(chosen[item["id"]])] if chosen else []
        grid.add_row(str(item["id"]), f"{item['share']:.1%}", f"{item['coherence']:.2f}", *aspect, said)
    show.console().print(grid)
    show.console().print(
        f"{len(topics['items'])} topics, keyword diversity {topics['diversity']:.2f} "
        "(1: no keyword is in two topics). "
        "Share: part of all segments. Coherence, from -1 to 1: how often the keywords occur together."
    )
    if not chosen:
        show.note(f"Next: aspectra map {typed(run)}")
