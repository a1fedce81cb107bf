"""The maps that several people made for the same topics: their agreement (Cohen's kappa) and their conflicts.

Each person has a file of their own, topic_map.NAME.json. topic_map.json is the map in use: it starts from
what all agree on, and conflicts are resolved in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from aspectra import rundir
from aspectra.errors import MapError
from aspectra.scores import cohens_kappa
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, now, read_map, shorten

NAME = re.compile(r"[\w-]{1,40}")


def map_path(run: Path, annotator: str | None) -> Path:
    """Return the file of a person's map, or of the map in use."""
    if annotator is None:
        return run / rundir.TOPIC_MAP
    if not NAME.fullmatch(annotator):
        raise MapError(f"An annotator's name has 1 to 40 letters, digits, _ or -, got {annotator!r}.")
    return run / rundir.TOPIC_MAP.replace(".json", f".{annotator}.json")


def read_other_maps(
    run: Path, topics: str, but: str | None, n_topics: int | None = None
) -> dict[str, TopicMap]:
    """Read the maps of all annotators but one; those made for other topics do not count."""
    found = {}
    for path in sorted(run.glob(rundir.TOPIC_MAP.replace(".json", ".*.json"))):
        name = path.name.removeprefix(rundir.TOPIC_MAP.removesuffix("json")).removesuffix(".json")
        topic_map = read_map(path)
        if name != but and topic_map.topics == topics:
            found[name] = read_map(path, topics, n_topics)
    return found


def refuse_to_replace(path: Path, new: TopicMap) -> None:
    """Raise MapError if a person chose, in the map that is there, what the new one only suggests."""
    before = read_map(path).choices if path.exists() else ()
    chosen = {choice.topic for choice in new.choices if choice.by_person}
    lost = [choice.topic for choice in before if choice.by_person and choice.topic not in chosen]
    if lost:
        raise MapError(
            f"In {path} a person chose the aspects of topics that are only suggested now: {shorten(lost)}. "
            "Save into another folder, or with replace=True; map-history/ then keeps the earlier map."
        )


def kappa(first: TopicMap, second: TopicMap) -> float | None:
    """Return Cohen's kappa over the topics that both decided; None if there are none."""
    return cohens_kappa(Counter(both_decided(first, second)))


def both_decided(first: TopicMap, second: TopicMap) -> list[tuple[str | None, str | None]]:
    """Return the two aspects of each topic that both decided."""
    pairs = zip(first.choices, second.choices, strict=True)
    return [(mine.aspect, theirs.aspect) for mine, theirs in pairs if mine.by_person and theirs.by_person]


def compare(maps: Mapping[str, TopicMap]) -> dict[str, Any]:
    """Return the agreement of each pair and, per topic on which anybody differs, who chose what."""
    pairs = [
        {
            "first": one,
            "second": two,
            "kappa": kappa(maps[one], maps[two]),
            "n": len(both_decided(maps[one], maps[two])),
        }
        for one, two in combinations(maps, 2)
    ]
    return {"pairs": pairs, "conflicts": conflicts(maps)}


def conflicts(maps: Mapping[str, TopicMap]) -> dict[int, dict[str, str | None]]:
    """Return {topic: {name: aspect}} where those who decided chose differently."""
    votes: dict[int, dict[str, str | None]] = {}
    for name, topic_map in maps.items():
        for choice in topic_map.choices:
            if choice.by_person:
                votes.setdefault(choice.topic, {})[name] = choice.aspect
    return {topic: said for topic, said in sorted(votes.items()) if len(set(said.values())) > 1}


def agreed(maps: Mapping[str, TopicMap]) -> TopicMap:
    """Start the map in use from what all who decided agree on; the rest is open and unmapped."""
    first = next(iter(maps.values()))
    differing = conflicts(maps)
    choices = []
    for number, choice in enumerate(first.choices):
        voters = [name for name, topic_map in maps.items() if topic_map.choices[number].by_person]
        if not voters or number in differing:
            choices.append(Choice(number, None, choice.keywords, SUGGESTION, now()))
        else:
            chosen = maps[voters[0]].choices[number]
            choices.append(
                Choice(number, chosen.aspect, choice.keywords, " + ".join(voters), now(), chosen.why)
            )
    aspects = dict.fromkeys(name for topic_map in maps.values() for name in topic_map.aspects)
    return TopicMap(tuple(aspects), tuple(choices), first.topics)
