"""`MapState`: all that an action on the page can change and undo can restore.

A choice made by a person stands. One made by "suggestion" is open: until a person decides, it counts as
suggested and changes with the suggestion. A renamed aspect keeps its first name in `aliases`, so its
labelled segments and its suggestions go with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aspectra.aspects.aspects import Aspect
from aspectra.config import GENERAL
from aspectra.topicmap.topicmap import Choice, TopicMap

N_COLOURS = 12
Description = dict[str, Any]
"""What a person says of an aspect: {"about": text, "words": [texts], "examples": [texts]}, each optional."""


@dataclass(frozen=True)
class MapState:
    """`hues` are the aspects' colours, `aliases` maps an aspect's first name to its present one.

    `described` is what a person says of aspects beside their names: name → {about, words, examples}.
    `learnt` are the choices that suggestions were last learnt from: topic → the aspect's first name.
    """

    topic_map: TopicMap
    hues: dict[str, int]
    aliases: dict[str, str]
    notes: dict[int, str]
    described: dict[str, Description] = field(default_factory=dict)
    learnt: dict[int, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, topic_map: TopicMap, said: Iterable[Aspect] = ()) -> MapState:
        """Start from a map: add General, give each aspect a colour, take notes from a person's choices."""
        aspects = topic_map.aspects if GENERAL in topic_map.aspects else (*topic_map.aspects, GENERAL)
        topic_map = dataclasses.replace(topic_map, aspects=aspects)
        hues = {name: place % N_COLOURS for place, name in enumerate(aspects) if name != GENERAL}
        notes = {one.topic: one.why for one in topic_map.choices if one.by_person and one.why}
        described = {one.name: description(one) for one in said if description(one)}
        return cls(topic_map, hues, {}, notes, described)

    def first_names(self) -> dict[str, str]:
        """Return the first name of each present aspect."""
        back = {present: first for first, present in self.aliases.items()}
        return {name: back.get(name, name) for name in self.topic_map.aspects}

    def decided(self) -> dict[int, str | None]:
        """Return what a person decided: topic → the aspect's first name, None if it is unmapped."""
        first = self.first_names()
        return {one.topic: first.get(one.aspect or "") for one in self.topic_map.choices if one.by_person}

    def aspects(self) -> tuple[Aspect, ...]:
        """Return the present aspects with what is said of them, for aspects.toml."""
        names = self.topic_map.aspects
        return tuple(to_aspect(name, self.described.get(name)) for name in names if name != GENERAL)

    def beside_map(self) -> dict[str, Any]:
        """Return what is not part of the map, as JSON values."""
        notes, learnt = (
            {str(topic): text for topic, text in part.items()} for part in (self.notes, self.learnt)
        )
        return {
            "hues": self.hues, "aliases": self.aliases, "notes": notes, "described": self.described,
            "learnt": learnt,
        }  # fmt: skip

    def patched(self, parts: dict[str, Any]) -> MapState:
        """Return the state with some of its parts, as JSON values, replaced."""
        choices = list(self.topic_map.choices)
        for values in parts.get("choices", ()):
            choices[values["topic"]] = Choice.from_dict(values)
        aspects = tuple(parts.get("aspects", self.topic_map.aspects))
        notes, learnt = (
            {int(topic): text for topic, text in parts.get(name, before).items()}
            for name, before in (("notes", self.notes), ("learnt", self.learnt))
        )
        return MapState(
            dataclasses.replace(self.topic_map, aspects=aspects, choices=tuple(choices)),
            dict(parts.get("hues", self.hues)),
            dict(parts.get("aliases", self.aliases)),
            notes,
            dict(parts.get("described", self.described)),
            learnt,
        )


def description(aspect: Aspect) -> Description:
    """Return what is said of an aspect beside its name, as JSON values; empty if nothing is."""
    values = {"about": aspect.about, "words": list(aspect.words), "examples": list(aspect.examples)}
    return {key: value for key, value in values.items() if value}


def to_aspect(name: str, said: Description | None) -> Aspect:
    values = said or {}
    return Aspect(
        name, values.get("about", ""), tuple(values.get("words", ())), tuple(values.get("examples", ()))
    )


def difference(before: MapState, after: MapState) -> dict[str, Any]:
    """Return what turns one state into the other and back: {"before": parts, "after": parts}."""
    pairs = zip(before.topic_map.choices, after.topic_map.choices, strict=True)
    changed = [old.topic for old, new in pairs if old != new]
    parts = {
        side: {**state.beside_map(), "aspects": list(state.topic_map.aspects)}
        for side, state in (("before", before), ("after", after))
    }
    names = [name for name in parts["before"] if parts["before"][name] != parts["after"][name]]
    return {
        side: {
            "choices": [state.topic_map.choices[topic].to_dict() for topic in changed],
            **{name: parts[side][name] for name in names},
        }
        for side, state in (("before", before), ("after", after))
    }
