"""Suggestions for the page: made for the present aspects and what is said of them, by the one `suggest`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from aspectra import rundir
from aspectra.aspects.aspects import Aspect
from aspectra.aspects.names_sample import NamesSample
from aspectra.config import GENERAL
from aspectra.detector import AspectDetector
from aspectra.errors import InputError
from aspectra.scores import Gold
from aspectra.studio.state import MapState, to_aspect
from aspectra.topicmap.by_labels import LabelledSegments
from aspectra.topicmap.by_names import Suggested
from aspectra.topicmap.suggest import suggest
from aspectra.topicmap.topicmap import Suggestion

Sample = Callable[[], NamesSample]
"""Reads the segments that aspects are learnt from; slow at the first call."""


class PageSuggester:
    """Suggests an aspect per topic for a `MapState`, under the aspects' present names.

    Suggestions are made for the aspects' first names, so renaming an aspect changes none. Those for the last
    sets of aspects are kept. `fixed` ones come before those made here. They lapse when a person asks for new
    ones, or adds an aspect to those that they were `made_for`.
    """

    def __init__(
        self,
        detector: AspectDetector,
        sample: Sample,
        gold: Gold | None,
        fixed: Iterable[Suggestion] = (),
        made_for: Collection[str] | None = None,
    ) -> None:
        labelled = None
        if gold:
            labelled = LabelledSegments(detector.topic_probabilities(list(gold.texts)), gold.aspects)
        self.fixed, self.made_for = {one.topic: one for one in fixed}, made_for
        self.by_names = labelled is None

        @lru_cache(16)
        def suggest_for(aspects: tuple[Aspect, ...], learnt: tuple[tuple[int, str | None], ...]) -> Suggested:
            by_names = sample() if labelled is None and aspects else None
            given = (detector.topics_, aspects, by_names, labelled, detector.seed)
            try:
                return suggest(*given, strict=False, choices=dict(learnt))
            except InputError as error:  # nothing is known of any aspect
                return dataclasses.replace(suggest(detector.topics_, (), None), notes=(str(error),))

        self.suggest_for = suggest_for

    def found(self, state: MapState) -> Suggested:
        """Return what is suggested for the present aspects, under their first names."""
        first = state.first_names()
        names = [name for name in state.topic_map.aspects if name != GENERAL]
        aspects = tuple(to_aspect(first[name], state.described.get(name)) for name in names)
        return self.suggest_for(aspects, tuple(state.learnt.items()))

    def can_learn(self, state: MapState) -> bool:
        """Tell whether a person has decided topics that suggestions have not been learnt from."""
        return self.by_names and state.decided() != state.learnt

    def notes(self, state: MapState) -> list[str]:
        """Say which aspects nothing speaks of, and what to do on the page."""
        return [
            note.replace(f" in {rundir.ASPECTS}", " (click its name)") for note in self.found(state).notes
        ]

    def first(self, new: Suggestion) -> Suggestion:
        """Return the fixed suggestion for a topic, unless a new one says just the same: that may be clear."""
        old = self.fixed.get(new.topic, new)
        return new if (old.aspect, old.why) == (new.aspect, new.why) else old

    def __call__(self, state: MapState) -> list[Suggestion]:
        present = {name: now for now, name in state.first_names().items()}
        present = {now: now for now in state.topic_map.aspects} | present  # fixed ones have present names
        lapsed = self.made_for is not None and not set(state.topic_map.aspects) <= set(self.made_for)
        result = []
        for new in self.found(state).suggestions:
            one = new if state.learnt or lapsed else self.first(new)
            if not all(name in present for name in spoken(one)):  # an aspect was deleted
                one = new
            aspect = None if one.aspect is None else present.get(one.aspect)
            shares, labelled = (
                tuple((present[name], number) for name, number in pairs if name in present)
                for pairs in (one.shares, one.labelled)
            )
            result.append(dataclasses.replace(one, aspect=aspect, shares=shares, labelled=labelled))
        return result


def spoken(one: Suggestion) -> list[str]:
    """Return the aspects that a suggestion names."""
    return [name for name in (one.aspect, *(name for name, _ in one.shares)) if name is not None]
