"""aspectra topics: what was discovered, as a table or JSON."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aspectra.cli import show
from aspectra.errors import MapError


def command(
    run: show.Run,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show the topics: share, coherence, keywords, a typical segment."""
    from aspectra import rundir
    from aspectra.rundir import RunDir

    home = RunDir(run)
    home.check("topics")
    topics = rundir.read_json(home / rundir.TOPICS)
    if as_json:
        print(json.dumps(topics, ensure_ascii=False, indent=1))
        return
    chosen: dict[int, str] = {}
    if (home / rundir.TOPIC_MAP).exists():
        from aspectra.topicmap.topicmap import UNMAPPED, read_map

        try:
            choices = read_map(home / rundir.TOPIC_MAP, topics["fingerprint"]).choices
            chosen = {choice.topic: choice.aspect or UNMAPPED for choice in choices}
        except MapError as error:  # to mend the map, a person must see the topics
            show.note(str(error))
    grid = show.table(
        "",
        "share",
        "npmi",
        *(["aspect"] if chosen else []),
        "keywords and a typical segment",
        right=("", "share", "npmi"),
    )
    from rich.text import Text

    for item in sorted(topics["items"], key=lambda item: -item["share"]):
        said = Text(" ".join(item["keywords"]) + "\n").append("\n".join(item["typical"][:1]), style="dim")
        aspect = [Text(chosen[item["id"]])] if chosen else []
        grid.add_row(str(item["id"]), f"{item['share']:.1%}", f"{item['coherence']:.2f}", *aspect, said)
    show.console().print(grid)
    show.console().print(f"{len(topics['items'])} topics, keyword diversity {topics['diversity']:.2f}.")
