"""Which aspect each open topic is suggested for, as the aspects change: by words, by seed words or by labelled segments.

A choice carried over from another run, or suggested in the map's file, stands before a suggestion made anew. Suggestions are made for the
first names of aspects, so that renaming one changes none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from aspectra.config import GENERAL
from aspectra.evaluate import Gold
from aspectra.studio.actions import Desk, decided
from aspectra.topicmap.gamma import even_where_unknown
from aspectra.topicmap.suggest import FOLDS, Suggestion, known_words, suggest_by_dev, suggest_by_words
from aspectra.topicmap.topicmap import TopicMap

if TYPE_CHECKING:
    from aspectra.detector import AspectDetector


class Advisor:
    """Call it with a desk to get a suggestion per topic, under the present names."""

    def __init__(
        self,
        detector: AspectDetector,
        seeds: Mapping[str, Sequence[str]] | None,
        gold: Gold | None,
        fixed: Iterable[Suggestion] = (),
    ) -> None:
        self.detector, self.gold = detector, gold
        self.seeds = {name: list(words) for name, words in seeds.items()} if seeds else {}
        self.fixed = {advice.topic: advice for advice in fixed}
        self.beta = even_where_unknown(detector.topic_probabilities(list(gold.texts))) if gold else None
        self.suggest = lru_cache(16)(self._suggest)

    def __call__(self, desk: Desk) -> list[Suggestion]:
        first = desk.first_names()
        present = {name: now for now, name in first.items()}
        made = self.suggest(tuple(first[name] for name in desk.topic_map.aspects if name != GENERAL))
        chosen = [self.fixed.get(advice.topic, advice) for advice in made]
        usable = [
            new if old.aspect is not None and old.aspect not in present else old
            for old, new in zip(chosen, made, strict=True)
        ]
        return [
            dataclasses.replace(advice, aspect=present.get(advice.aspect) if advice.aspect else None)
            for advice in usable
        ]

    def _suggest(self, names: tuple[str, ...]) -> list[Suggestion]:
        """Suggest for these names, General aside; a topic gets none where there is nothing to go by."""
        items = self.detector.topics_.items
        if self.gold is not None and self.beta is not None:
            allowed = {*names, GENERAL}
            rows = [row for row, aspects in enumerate(self.gold.aspects) if aspects & allowed]
            gold = [self.gold.aspects[row] & allowed for row in rows]
            labels = sorted(set().union(*gold) | set(names))
            if len(rows) >= FOLDS and names:
                return list(
                    suggest_by_dev(
                        self.beta[rows], gold, labels, self.detector.seed, estimate=False
                    ).suggestions
                )
        vectors = self.detector.vectors_
        known = set(vectors.words)
        nameable = [name for name in names if known_words(self.seeds.get(name, [name]), known)]
        if not nameable:
            return [Suggestion(item.id, None, "general", 0.0, "") for item in items]
        seeds = {name: self.seeds[name] for name in nameable if name in self.seeds}
        keywords, coherence = (
            [list(item.keywords) for item in items],
            np.array([item.coherence for item in items]),
        )
        return list(suggest_by_words(keywords, coherence, vectors.words, vectors.matrix, nameable, seeds))


def from_file(topic_map: TopicMap) -> list[Suggestion]:
    """Return what the map's file suggests for its open topics."""
    return [
        Suggestion(choice.topic, choice.aspect, "clear" if choice.aspect else "ambiguous", 0.5, choice.why)
        for choice in topic_map.choices
        if not decided(choice) and choice.why
    ]
