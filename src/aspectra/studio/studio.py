"""The mapping studio: run, session, suggestions, evidence and labelled segments, as the page shows them.

Every method answers one kind of request with plain JSON values; `server` does the HTTP. The topic
probabilities of the sample and of the labelled segments are computed once, when the studio opens.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aspectra import rundir, scores
from aspectra.attention import attended
from aspectra.config import NOT_REVIEW
from aspectra.detector import AspectDetector
from aspectra.disk import write_atomic
from aspectra.errors import InputError, MapError
from aspectra.rundir import TOPIC_MAP
from aspectra.studio import effect, topic_card
from aspectra.studio.session import Session
from aspectra.studio.suggester import PageSuggester
from aspectra.topicmap import agree
from aspectra.topicmap.gamma import (
    answer_probabilities,
    is_not_review,
    label_shares,
    no_known_words,
    not_review_mass,
)
from aspectra.topicmap.suggest import propose_aspects
from aspectra.topicmap.topicmap import TopicMap

RANDOM, DOUBTFUL = "random", "doubtful"
"""How a segment to label was drawn: for an estimate, or to improve the map."""
FIRST_ESTIMATE = 20
"""With this many labels of one's own there is a first, rough estimate."""
PREVIEWED = 10
LONGEST_TEXT = 2_000
Label = tuple[str, str, str]
"""A segment, its aspect's first name, and how it was drawn."""


class Studio:
    """One run, one map, one person."""

    def __init__(
        self,
        detector: AspectDetector,
        session: Session,
        suggester: PageSuggester,
        others: dict[str, TopicMap],
    ) -> None:
        self.detector, self.session, self.suggester, self.others = detector, session, suggester, others
        self.run = session.path.parent
        self.sample = topic_card.draw_sample(detector, seed=detector.seed)
        self.matrix = detector.teacher_.topics  # K×D
        self.shares = np.array([item.share for item in detector.topics_.items])
        self.dev: effect.Dev | None = None
        self.own: list[Label] | None = None  # labels given on the page; None if a dev set was given
        self.asked: list[int] = []
        self.estimates = True
        """Whether the labelled segments are a random sample, so that figures on them hold for others."""
        self.card = lru_cache(None)(self._card)

    def use_dev(self, gold: scores.Gold) -> None:
        """Show what choices do on these labelled segments."""
        self.dev = effect.Dev.of(
            self.detector.topic_probabilities(list(gold.texts)), gold.aspects, self.shares, self.detector.seed
        )

    def use_own_labels(self) -> None:
        """Continue with the labels given on the page before, or start with none."""
        self.own = read_labels(self.run)
        place = {text: row for row, text in enumerate(self.sample.texts)}
        self.asked = [place[text] for text, *_ in self.own if text in place]
        self._estimate()

    def _estimate(self) -> None:
        """Use the labels: those drawn at random if they are enough for an estimate, or else all of them."""
        self.dev, self.estimates = None, False
        drawn_at_random = [label for label in self.own or () if label[2] == RANDOM]
        self.estimates = len(drawn_at_random) >= FIRST_ESTIMATE
        used = drawn_at_random if self.estimates else self.own
        if used and len(used) >= FIRST_ESTIMATE:
            texts, names, _ = zip(*used, strict=True)
            self.use_dev(scores.Gold(texts, tuple(frozenset([name]) for name in names)))

    @property
    def topic_map(self) -> TopicMap:
        return self.session.state.topic_map

    def start(self) -> dict[str, Any]:
        """Return what does not change while the page is open, and the present state."""
        near = topic_card.nearest(self.matrix)
        topics = [
            {
                "id": item.id,
                "keywords": list(zip(item.keywords, item.weights, strict=True)),
                "share": item.share,
                "coherence": item.coherence,
                "nearest": near[item.id],
            }
            for item in self.detector.topics_.items
        ]
        return {
            "run": self.run.resolve().name, "place": str(self.run), "fingerprint": self.topic_map.topics,
            "topics": topics, "map": self.session.path.name, "by": self.session.by,
            "read_only": self.session.read_only, "notice": self.session.notice,
            "proposals": self.proposals(), "state": self.state(),
        }  # fmt: skip

    def proposals(self) -> list[dict[str, Any]]:
        """Propose names as long as there are none."""
        if len(self.topic_map.aspects) > 1:
            return []
        detector = self.detector
        groups = propose_aspects(detector.topics_, self.matrix, detector.vocabulary_, detector.vectors_)
        return [{"name": name, "topics": topics} for name, topics in groups]

    def state(self) -> dict[str, Any]:
        """Return all that an action can change."""
        session, state = self.session, self.session.state
        shown = [
            {"aspect": c.aspect, "decided": c.by_person, "by": c.by, "note": state.notes.get(c.topic, "")}
            for c in self.topic_map.choices
        ]
        return {
            "version": session.version, "minutes": session.minutes, "choices": shown,
            "aspects": [{"name": name, "hue": state.hues.get(name)} for name in self.topic_map.aspects],
            "suggestions": [vars(one) for one in self.suggester(state)],
            "undo": session.done[-1]["label"] if session.done else None,
            "redo": session.undone[-1]["label"] if session.undone else None,
            "effect": effect.present(self.dev, self.topic_map, state.aliases) if self.dev else None,
            "estimates": self.estimates,
            "own_labels": None if self.own is None else len(self.own), "enough_labels": FIRST_ESTIMATE,
            "random_labels": sum(drawn == RANDOM for *_, drawn in self.own or ()),
            "shares": label_shares(self.sample.beta, self.topic_map, self.shares),
            "notes": self.suggester.notes(state), "described": state.described,
            "agreement": self.agreement(), "can_learn": self.suggester.can_learn(state),
        }  # fmt: skip

    def agreement(self) -> dict[str, Any] | None:
        """Compare this map with the others' or, if it is the map in use, the others' with each other.

        What the map in use decides is no longer a conflict.
        """
        if self.session.path.name != TOPIC_MAP:
            return agree.compare({self.session.by: self.topic_map, **self.others}) if self.others else None
        if len(self.others) < 2:
            return None
        found = agree.compare(self.others)
        choices = self.topic_map.choices
        open_ones = {k: said for k, said in found["conflicts"].items() if not choices[k].by_person}
        return {**found, "conflicts": open_ones}

    def act(self, action: Any, version: Any) -> dict[str, Any]:
        """Do what the person asked for and return the state after it, with the topic to look at."""
        if not isinstance(action, dict):
            raise MapError(f"An action must be an object, got {action!r}.")
        topic = self.session.act(action, version, self.suggester)
        return {**self.state(), "topic": topic}

    def _card(self, topic: int) -> dict[str, Any]:
        """Return a topic's surest and boundary segments."""
        surest, boundary = topic_card.surest(self.sample, topic), topic_card.boundary(self.sample, topic)
        rows = [*surest, *boundary]
        seen = self._segments([self.sample.texts[row] for row in rows])
        probability = self.sample.beta[rows, topic].tolist()
        shown = [{**one, "probability": p} for one, p in zip(seen, probability, strict=True)]
        return {"surest": shown[: len(surest)], "boundary": shown[len(surest) :]}

    def trials(self, topic: int) -> list[dict[str, Any]]:
        """Return what each choice for a topic would change on the labelled segments; nothing without them."""
        if self.dev is None:
            return []
        found = effect.trials(self.dev, self.topic_map, topic, self.session.state.aliases)
        return [vars(trial) for trial in found]

    def check_topic(self, number: str) -> int:
        known = number.isascii() and number.isdigit() and len(number) < 10
        if not known or int(number) >= len(self.topic_map.choices):
            raise InputError(
                f"No topic {number[:20]!r}: there are topics 0 to {len(self.topic_map.choices) - 1}."
            )
        return int(number)

    def preview(self, seed: int) -> list[dict[str, Any]]:
        """Return random segments, the same for the same seed, and how they would be labelled now."""
        rows = np.random.default_rng(seed).permutation(len(self.sample))[:PREVIEWED]
        return self._labelled([self.sample.texts[row] for row in rows], self.sample.beta[rows])

    def try_text(self, text: Any) -> dict[str, Any]:
        """Label a sentence of the person's own."""
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
            raise InputError(f"Type a sentence of at most {LONGEST_TEXT} characters.")
        beta = self.detector.topic_probabilities([text])
        result = self._labelled([text], beta)[0]
        known = not no_known_words(beta)[0]
        order = np.argsort(-beta[0], kind="stable")[:3].tolist() if known else []
        return {
            **result,
            "known": known,
            "topics": [{"topic": topic, "probability": float(beta[0, topic])} for topic in order],
        }

    def _labelled(self, texts: list[str], beta: np.ndarray) -> list[dict[str, Any]]:
        matrix, names = self.topic_map.matrix(), self.topic_map.aspects
        gamma, unmapped = answer_probabilities(beta, names, matrix, self.shares)
        best, junk = gamma.argmax(1), not_review_mass(beta, self.topic_map)
        marked = is_not_review(beta, self.topic_map)
        answers = [NOT_REVIEW if no else names[place] for no, place in zip(marked, best, strict=True)]
        sure = np.where(marked, junk, gamma[np.arange(len(best)), best])
        return [
            {**seen, "aspect": answers[row] if self.topic_map.mapped or marked[row] else None,
             "probability": float(sure[row]), "unmapped": float(unmapped[row])}
            for row, seen in enumerate(self._segments(texts))
        ]  # fmt: skip

    def _segments(self, texts: list[str]) -> list[dict[str, Any]]:
        """Return for each segment the words that counted, its sentiment and how sure that is."""
        fitted = self.detector.fitted_
        felt = fitted.felt().label(pl.Series(texts, dtype=pl.String))
        columns = attended(fitted, texts), felt["sentiment"], felt["sentiment_confidence"]
        return [
            {"pieces": pieces, "sentiment": sentiment, "sure": sure}
            for pieces, sentiment, sure in zip(*columns, strict=True)
        ]

    def question(self, drawn: str = DOUBTFUL) -> dict[str, Any] | None:
        """Return a random segment, for an estimate, or the one whose label would help most."""
        if drawn == RANDOM:  # the sample is in random order
            asked = set(self.asked)
            row = next((row for row in range(len(self.sample)) if row not in asked), None)
        else:
            row = topic_card.next_question(self.doubt(), self.asked)
        if row is None:
            return None
        return {
            "row": row,
            "drawn": drawn,
            **self._labelled([self.sample.texts[row]], self.sample.beta[[row]])[0],
        }

    def doubt(self) -> np.ndarray:
        """Return how doubtful the sample's segments are, N: by the names, or else by the map."""
        known = self.suggester.found(self.session.state).doubts
        if not known:
            return topic_card.map_doubt(self.sample.beta, self.topic_map.matrix())
        return np.array([known.get(text, -1.0) for text in self.sample.texts])

    def answer(self, row: Any, aspect: Any, drawn: Any = DOUBTFUL) -> dict[str, Any]:
        """Keep a label for a segment, or skip it (None), and return the state and the next question."""
        self._check_labelling()
        if type(row) is not int or not 0 <= row < len(self.sample):
            raise InputError(f"No segment {row!r}.")
        if drawn not in (RANDOM, DOUBTFUL):
            raise InputError(f"A segment is drawn {RANDOM} or {DOUBTFUL}, not {drawn!r}.")
        if aspect is not None and aspect not in self.topic_map.aspects:
            raise MapError(f"There is no aspect {aspect!r}. Add it first.")
        if aspect is not None:
            text, first = self.sample.texts[row], self.session.state.first_names()[aspect]
            self._keep_labels(
                lambda labels: [*(one for one in labels if one[0] != text), (text, first, drawn)]
            )
        self.asked = [*(one for one in self.asked if one != row), row]
        return {"question": self.question(drawn), "state": self.state()}

    def take_back(self, drawn: str = DOUBTFUL) -> dict[str, Any]:
        """Forget the last answer, a label or "not sure", and ask again."""
        self._check_labelling()
        if self.asked:
            text = self.sample.texts[self.asked.pop()]
            self._keep_labels(lambda labels: [one for one in labels if one[0] != text])
        return {"question": self.question(drawn), "state": self.state()}

    def _check_labelling(self) -> None:
        if self.own is None or self.session.read_only:
            raise MapError(
                "Segments can be labelled only without --dev, and not on a map that is open for reading only."
            )

    def _keep_labels(self, change: Callable[[list[Label]], list[Label]]) -> None:
        """Change the labels in the file, where another page may have added some."""
        with self.session.locked():
            self.session.check_disk()
            labels = change(read_labels(self.run))
            rows = ({"text": text, "aspects": [name], "drawn": drawn} for text, name, drawn in labels)
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            write_atomic(self.run / rundir.DEV, "".join(lines).encode())
        self.own = labels
        self._estimate()


def read_labels(run: Path) -> list[Label]:
    """Return the labels given on the page before; those of older versions were drawn as doubtful."""
    path = run / rundir.DEV
    if not path.exists() or not path.stat().st_size:
        return []
    gold = scores.read_gold(path)
    lines = [line for line in path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    drawn = [RANDOM if json.loads(line).get("drawn") == RANDOM else DOUBTFUL for line in lines]
    return [
        (text, min(aspects), how) for text, aspects, how in zip(gold.texts, gold.aspects, drawn, strict=True)
    ]
