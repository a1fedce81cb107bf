"""What a person can do to a map, as pure functions: a `MapState` and an action in, the next `MapState` out.

`apply` also returns what was done, in words for the undo button, and the topic to show next. When the aspects
change, open topics take the suggestion for the new aspects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from aspectra.aspects.aspects import KEYS, check_names, check_new_names, read_table
from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.errors import MapError
from aspectra.studio.state import N_COLOURS, MapState, description
from aspectra.topicmap.topicmap import SUGGESTION, Choice, Suggestion, now, respell

LONGEST_NOTE = 500

Suggester = Callable[[MapState], Sequence[Suggestion]]
"""Suggests an aspect per topic for the present aspects."""


def apply(
    state: MapState, action: dict[str, Any], by: str, suggester: Suggester
) -> tuple[MapState, str, int | None]:
    """Return the state after an action, what was done in words, and the topic to look at."""
    kind = action.get("kind")
    if kind == "assign":
        return assign(state, action.get("choices"), by)
    if kind == "note":
        return note(state, action.get("topic"), action.get("text"), by)
    if not isinstance(kind, str) or kind not in ASPECT_ACTIONS:
        raise MapError(f"Unknown action {kind!r}.")
    changed, label = ASPECT_ACTIONS[kind](state, action)
    return follow(changed, suggester), label, None


def assign(state: MapState, choices: Any, by: str) -> tuple[MapState, str, int | None]:
    """Decide topics; `choices` is {topic: aspect or None}, its keys as numbers or digits."""
    if not isinstance(choices, dict) or not choices:
        raise MapError(f"Choices must be topics with their aspects, got {choices!r}.")
    topic_map, topic, aspect = state.topic_map, 0, None
    for key, aspect in choices.items():
        topic = topic_number(state, key)
        if aspect not in (None, NOT_REVIEW, *topic_map.aspects):
            raise MapError(f"There is no aspect {aspect!r}. Add it first.")
        topic_map = topic_map.with_choice(topic, aspect, by, state.notes.get(topic, ""))
    done = f"topic {topic} → {aspect or 'unmapped'}"
    if len(choices) > 1:
        done = f"{len(choices)} suggestions accepted"
    return dataclasses.replace(state, topic_map=topic_map), done, topic


def note(state: MapState, topic: Any, text: Any, by: str) -> tuple[MapState, str, int | None]:
    """Keep a note with a topic; an open one gets it when it is decided."""
    number = topic_number(state, topic)
    if not isinstance(text, str) or len(text) > LONGEST_NOTE:
        raise MapError(f"A note is text of at most {LONGEST_NOTE} characters.")
    choice = state.topic_map.choices[number]
    changed = state.topic_map
    if choice.by_person:
        changed = changed.with_choice(number, choice.aspect, by, text.strip())
    notes = {**state.notes, number: text.strip()}
    return dataclasses.replace(state, topic_map=changed, notes=notes), f"note on topic {number}", number


def add(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    names = action.get("names")
    if not isinstance(names, list) or not names:
        raise MapError(f"Name the aspects to add, got {names!r}.")
    names = [name.strip() if isinstance(name, str) else name for name in names]
    check_names([*state.topic_map.aspects, *names])
    check_new_names(names)
    hues = dict(state.hues)
    for name in names:
        free = [hue for hue in range(N_COLOURS) if hue not in hues.values()]
        hues[name] = free[0] if free else len(hues) % N_COLOURS
    aliases = {first: present for first, present in state.aliases.items() if first not in names}
    topic_map = dataclasses.replace(state.topic_map, aspects=(*state.topic_map.aspects, *names))
    changed = dataclasses.replace(state, topic_map=topic_map, hues=hues, aliases=aliases)
    return changed, f"{', '.join(names)} added"


def rename(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    old, new = own_aspect(state, action), action.get("to")
    if not isinstance(new, str):
        raise MapError(f"An aspect's name must be text, got {new!r}.")
    new = new.strip()
    if new in state.topic_map.aspects and new != old:
        raise MapError(
            f"There is an aspect {new!r} already. "
            f"Choose another name, or give the topics of {old!r} to {new!r} and delete {old!r}."
        )
    aspects = tuple(new if name == old else name for name in state.topic_map.aspects)
    check_names(aspects)
    check_new_names([new])
    choices = tuple(respell(choice, {old.casefold(): new}) for choice in state.topic_map.choices)
    topic_map = dataclasses.replace(state.topic_map, aspects=aspects, choices=choices)
    described = {(new if name == old else name): said for name, said in state.described.items()}
    hues = {(new if name == old else name): hue for name, hue in state.hues.items()}
    aliases = {**state.aliases, state.first_names()[old]: new}
    aliases = {first: present for first, present in aliases.items() if first != present}
    changed = MapState(topic_map, hues, aliases, state.notes, described, state.learnt)
    return changed, f"{old} renamed to {new}"


def delete(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    """Remove an aspect; its topics are open again."""
    name = own_aspect(state, action)
    before = state.topic_map.choices
    choices = tuple(
        Choice(c.topic, None, c.keywords, SUGGESTION, now()) if name in c.weights else c for c in before
    )
    described = {kept: said for kept, said in state.described.items() if kept != name}
    aspects = tuple(kept for kept in state.topic_map.aspects if kept != name)
    hues = {kept: hue for kept, hue in state.hues.items() if kept != name}
    aliases = {first: present for first, present in state.aliases.items() if present != name}
    topic_map = dataclasses.replace(state.topic_map, aspects=aspects, choices=choices)
    first = state.first_names()[name]
    learnt = {topic: aspect for topic, aspect in state.learnt.items() if aspect != first}
    return MapState(topic_map, hues, aliases, state.notes, described, learnt), f"{name} deleted"


def describe(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    """Keep what a person says of an aspect: a sentence, words, examples."""
    name = own_aspect(state, action)
    given = {key: action[key] for key in KEYS if action.get(key)}
    said = description(read_table(name, given, "The description"))
    described = {kept: values for kept, values in state.described.items() if kept != name}
    if said:
        described[name] = said
    return dataclasses.replace(state, described=described), f"{name} described"


def suggest_again(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    """Let suggestions for open topics learn from what is decided now."""
    decided = state.decided()
    if not decided:
        raise MapError("Decide some topics first: there is nothing new to learn from.")
    said = f"suggested again from {len(decided)} choice{'s' * (len(decided) > 1)}"
    return dataclasses.replace(state, learnt=decided), said


def move(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    name, place = own_aspect(state, action), action.get("place")
    others = [kept for kept in state.topic_map.aspects if kept not in (name, GENERAL)]
    if type(place) is not int or not 0 <= place <= len(others):
        raise MapError(f"An aspect can be moved to place 0 to {len(others)}, got {place!r}.")
    others.insert(place, name)
    topic_map = dataclasses.replace(state.topic_map, aspects=(*others, GENERAL))
    return dataclasses.replace(state, topic_map=topic_map), f"{name} moved"


def recolour(state: MapState, action: dict[str, Any]) -> tuple[MapState, str]:
    name, hue = own_aspect(state, action), action.get("hue")
    if type(hue) is not int or not 0 <= hue < N_COLOURS:
        raise MapError(f"A colour is a number from 0 to {N_COLOURS - 1}, got {hue!r}.")
    return dataclasses.replace(state, hues={**state.hues, name: hue}), f"{name} recoloured"


ASPECT_ACTIONS: dict[str, Callable[[MapState, dict[str, Any]], tuple[MapState, str]]] = {
    "add": add, "rename": rename, "delete": delete, "move": move, "colour": recolour,
    "describe": describe, "suggest": suggest_again,
}  # fmt: skip


def follow(state: MapState, suggester: Suggester) -> MapState:
    """Let open topics take the suggestion for the present aspects."""
    choices = []
    for choice, new in zip(state.topic_map.choices, suggester(state), strict=True):
        made = new.choice(choice.keywords, choice.at)
        if not choice.by_person and made != choice:
            choice = dataclasses.replace(made, at=now())
        choices.append(choice)
    return dataclasses.replace(state, topic_map=dataclasses.replace(state.topic_map, choices=tuple(choices)))


def topic_number(state: MapState, key: Any) -> int:
    number = int(key) if isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 10 else key
    if type(number) is not int or not 0 <= number < len(state.topic_map.choices):
        raise MapError(f"No topic {key!r}: there are topics 0 to {len(state.topic_map.choices) - 1}.")
    return number


def own_aspect(state: MapState, action: dict[str, Any]) -> str:
    """Return the aspect that an action names; General stays as it is."""
    name = action.get("name")
    if not isinstance(name, str) or name not in state.topic_map.aspects:
        raise MapError(f"There is no aspect {name!r}.")
    if name == GENERAL:
        raise MapError(f"{GENERAL} is always there: it cannot be renamed, moved, recoloured or deleted.")
    return name
