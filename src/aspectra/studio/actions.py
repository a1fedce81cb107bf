"""What a person can do to a map, as pure functions: a `Desk` and an action in, the next `Desk` and a label for undo out.

A choice made by a person is decided; one made by "suggestion" is open, counts as suggested meanwhile, and follows the suggestion when the
aspects change. A renamed aspect keeps its first name in `aliases`, so that labelled segments and suggestions go with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aspectra.config import GENERAL
from aspectra.errors import MapError
from aspectra.topicmap.suggest import Suggestion
from aspectra.topicmap.topicmap import SUGGESTION, Choice, TopicMap, check_aspects, now

HUES = 12
LONGEST_NOTE = 500


@dataclass(frozen=True)
class Desk:
    """All that undo restores. `aliases` maps an aspect's first name to its present one."""

    topic_map: TopicMap
    hues: dict[str, int]
    aliases: dict[str, str]
    notes: dict[int, str]

    @classmethod
    def of(cls, topic_map: TopicMap) -> Desk:
        """Lay out a map with General in it, a colour for each aspect and the notes of a person's choices."""
        topic_map = dataclasses.replace(
            topic_map, aspects=(*topic_map.aspects, *(() if GENERAL in topic_map.aspects else (GENERAL,)))
        )
        hues = {name: place % HUES for place, name in enumerate(topic_map.aspects) if name != GENERAL}
        return cls(
            topic_map,
            hues,
            {},
            {choice.topic: choice.why for choice in topic_map.choices if decided(choice) and choice.why},
        )

    def first_names(self) -> dict[str, str]:
        """Return the first name of each present aspect."""
        back = {present: first for first, present in self.aliases.items()}
        return {name: back.get(name, name) for name in self.topic_map.aspects}


Advise = Callable[[Desk], Sequence[Suggestion]]


def decided(choice: Choice) -> bool:
    return choice.by != SUGGESTION


def apply(desk: Desk, action: dict[str, Any], by: str, advise: Advise) -> tuple[Desk, str, int | None]:
    """Return the desk after an action, what was done in words, and the topic to look at."""
    kind = action.get("kind")
    if kind == "assign":
        return assign(desk, action.get("choices"), by)
    if kind == "note":
        return note(desk, action.get("topic"), action.get("text"), by)
    if kind not in ASPECT_ACTIONS:
        raise MapError(f"Unknown action {kind!r}.")
    changed, label = ASPECT_ACTIONS[kind](desk, action)
    return follow(changed, advise), label, None


def assign(desk: Desk, choices: Any, by: str) -> tuple[Desk, str, int | None]:
    """Decide topics; `choices` is {topic: aspect or None}, its keys as numbers or digits."""
    if not isinstance(choices, dict) or not choices:
        raise MapError(f"Choices must be topics with their aspects, got {choices!r}.")
    topic_map, topic, aspect = desk.topic_map, 0, None
    for key, aspect in choices.items():
        topic = topic_number(desk, key)
        if aspect is not None and aspect not in topic_map.aspects:
            raise MapError(f"There is no aspect {aspect!r}. Add it first.")
        topic_map = topic_map.with_choice(topic, aspect, by, desk.notes.get(topic, ""))
    done = (
        f"topic {topic} → {aspect or 'left out'}"
        if len(choices) == 1
        else f"{len(choices)} suggestions accepted"
    )
    return dataclasses.replace(desk, topic_map=topic_map), done, topic


def note(desk: Desk, topic: Any, text: Any, by: str) -> tuple[Desk, str, int | None]:
    """Keep a note with a topic; an open one gets it when it is decided."""
    number = topic_number(desk, topic)
    if not isinstance(text, str) or len(text) > LONGEST_NOTE:
        raise MapError(f"A note is text of at most {LONGEST_NOTE} characters.")
    choice = desk.topic_map.choices[number]
    changed = (
        desk.topic_map.with_choice(number, choice.aspect, by, text.strip())
        if decided(choice)
        else desk.topic_map
    )
    notes = {**desk.notes, number: text.strip()}
    return dataclasses.replace(desk, topic_map=changed, notes=notes), f"note on topic {number}", number


def add(desk: Desk, action: dict[str, Any]) -> tuple[Desk, str]:
    names = action.get("names")
    if not isinstance(names, list) or not names:
        raise MapError(f"Name the aspects to add, got {names!r}.")
    names = [name.strip() if isinstance(name, str) else name for name in names]
    check_aspects([*desk.topic_map.aspects, *names])
    hues = dict(desk.hues)
    for name in names:
        free = [hue for hue in range(HUES) if hue not in hues.values()]
        hues[name] = free[0] if free else len(hues) % HUES
    aliases = {first: present for first, present in desk.aliases.items() if first not in names}
    topic_map = dataclasses.replace(desk.topic_map, aspects=(*desk.topic_map.aspects, *names))
    return dataclasses.replace(
        desk, topic_map=topic_map, hues=hues, aliases=aliases
    ), f"{', '.join(names)} added"


def rename(desk: Desk, action: dict[str, Any]) -> tuple[Desk, str]:
    old, new = own_aspect(desk, action), str(action.get("to") or "").strip()
    if new in desk.topic_map.aspects and new != old:
        raise MapError(
            f"There is an aspect {new!r} already. Choose another name, or give its topics to {new!r} and delete {old!r}."
        )
    aspects = tuple(new if name == old else name for name in desk.topic_map.aspects)
    check_aspects(aspects)
    choices = tuple(
        dataclasses.replace(choice, aspect=new) if choice.aspect == old else choice
        for choice in desk.topic_map.choices
    )
    topic_map = dataclasses.replace(desk.topic_map, aspects=aspects, choices=choices)
    hues = {(new if name == old else name): hue for name, hue in desk.hues.items()}
    aliases = {**desk.aliases, desk.first_names()[old]: new}
    aliases = {first: present for first, present in aliases.items() if first != present}
    return Desk(topic_map, hues, aliases, desk.notes), f"{old} renamed to {new}"


def delete(desk: Desk, action: dict[str, Any]) -> tuple[Desk, str]:
    """Remove an aspect; its topics are open again."""
    name = own_aspect(desk, action)
    before = desk.topic_map.choices
    choices = tuple(
        Choice(c.topic, None, c.keywords, SUGGESTION, now()) if c.aspect == name else c for c in before
    )
    aspects = tuple(kept for kept in desk.topic_map.aspects if kept != name)
    hues = {kept: hue for kept, hue in desk.hues.items() if kept != name}
    aliases = {first: present for first, present in desk.aliases.items() if present != name}
    topic_map = dataclasses.replace(desk.topic_map, aspects=aspects, choices=choices)
    return Desk(topic_map, hues, aliases, desk.notes), f"{name} deleted"


def move(desk: Desk, action: dict[str, Any]) -> tuple[Desk, str]:
    name, place = own_aspect(desk, action), action.get("place")
    others = [kept for kept in desk.topic_map.aspects if kept not in (name, GENERAL)]
    if type(place) is not int or not 0 <= place <= len(others):
        raise MapError(f"An aspect can stand at place 0 to {len(others)}, got {place!r}.")
    others.insert(place, name)
    return dataclasses.replace(
        desk, topic_map=dataclasses.replace(desk.topic_map, aspects=(*others, GENERAL))
    ), f"{name} moved"


def recolour(desk: Desk, action: dict[str, Any]) -> tuple[Desk, str]:
    name, hue = own_aspect(desk, action), action.get("hue")
    if type(hue) is not int or not 0 <= hue < HUES:
        raise MapError(f"A colour is a number from 0 to {HUES - 1}, got {hue!r}.")
    return dataclasses.replace(desk, hues={**desk.hues, name: hue}), f"{name} recoloured"


ASPECT_ACTIONS: dict[str, Callable[[Desk, dict[str, Any]], tuple[Desk, str]]] = {
    "add": add, "rename": rename, "delete": delete, "move": move, "colour": recolour,
}  # fmt: skip


def follow(desk: Desk, advise: Advise) -> Desk:
    """Let open topics take the suggestion for the present aspects."""
    choices = []
    for choice, advice in zip(desk.topic_map.choices, advise(desk), strict=True):
        same = decided(choice) or (choice.aspect, choice.why) == (advice.aspect, advice.why)
        choices.append(
            choice if same else dataclasses.replace(choice, aspect=advice.aspect, why=advice.why, at=now())
        )
    return dataclasses.replace(desk, topic_map=dataclasses.replace(desk.topic_map, choices=tuple(choices)))


def topic_number(desk: Desk, key: Any) -> int:
    number = int(key) if isinstance(key, str) and key.isascii() and key.isdigit() else key
    if type(number) is not int or not 0 <= number < len(desk.topic_map.choices):
        raise MapError(f"No topic {key!r}: there are topics 0 to {len(desk.topic_map.choices) - 1}.")
    return number


def own_aspect(desk: Desk, action: dict[str, Any]) -> str:
    """Return the aspect that an action names; General stays as it is."""
    name = action.get("name")
    if not isinstance(name, str) or name not in desk.topic_map.aspects:
        raise MapError(f"There is no aspect {name!r}.")
    if name == GENERAL:
        raise MapError(f"{GENERAL} is always there: it cannot be renamed, moved, recoloured or deleted.")
    return name
