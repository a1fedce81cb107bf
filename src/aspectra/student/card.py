"""What a student was made from and what it can do: kept as config.json, and as a model card (README.md) for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aspectra import __version__, rundir
from aspectra.config import StudentConfig
from aspectra.errors import RunError
from aspectra.rundir import fingerprint

if TYPE_CHECKING:
    from aspectra.topicmap.topicmap import TopicMap

FORMAT = 1


@dataclass(frozen=True)
class Card:
    """`learnt` counts the segments per aspect, `leaning` is what dev added to its logit; `choice` and `estimate` tell how labels were used
    and what to expect."""

    aspects: tuple[str, ...]
    config: StudentConfig
    teacher_weight: float
    encoder: str  # fingerprint of the weights
    reviews: str  # fingerprint of the reviews
    topic_map: str  # fingerprint of the map's choices
    learnt: dict[str, int]
    leaning: dict[str, float] = field(default_factory=dict)
    choice: str = "teacher"
    n_labels: int = 0
    estimate: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": __version__, **asdict(self), "aspects": list(self.aspects)}

    @classmethod
    def from_dict(cls, values: dict[str, Any], place: str) -> Self:
        known = {
            name: value for name, value in values.items() if name not in ("format", "version", "weights")
        }
        if values.get("format") != FORMAT:
            raise RunError(
                f"{place} has format {values.get('format')}, this version reads {FORMAT}. Distil again."
            )
        try:
            return cls(
                **{
                    **known,
                    "aspects": tuple(known["aspects"]),
                    "config": StudentConfig.from_dict(known["config"]),
                }
            )
        except (TypeError, KeyError) as error:
            raise RunError(f"{place} is damaged ({error}). Distil again: aspectra distill RUN") from None

    def markdown(self, topic_map: TopicMap) -> str:
        """Write the model card."""
        rows = "\n".join(
            f"| {aspect} | {self.learnt.get(aspect, 0):,} | {self.leaning.get(aspect, 0):+.2f} |"
            for aspect in self.aspects
        )
        topics = "\n".join(
            f"| {choice.topic} | {choice.aspect or 'unmapped'} | {' '.join(choice.keywords)} |"
            for choice in topic_map.choices
        )
        settings = "\n".join(f"| {name} | {value} |" for name, value in asdict(self.config).items())
        return CARD.format(
            version=__version__, encoder=self.config.encoder, print=self.encoder, reviews=self.reviews, rows=rows, topics=topics,
            settings=settings, weight=self.teacher_weight, labels=self.labels_text(),
        )  # fmt: skip

    def labels_text(self) -> str:
        if not self.n_labels:
            return "No labelled segments were given; the scores are unknown. Measure them: aspectra evaluate RUN gold.jsonl"
        scores = ", ".join(f"{name} {value:.1%}" for name, value in self.estimate.items())
        return f"{self.n_labels:,} labelled segments were given and used as *{self.choice}*. Cross-validated on them: {scores}."


CARD = """# Aspect student

Labels segments of reviews with an aspect. Made by aspectra {version}: distilled from a contrastive topic model into the encoder
`{encoder}` (weights {print}), from reviews with fingerprint `{reviews}`. In labelling the teacher's probabilities count {weight:g}.

| aspect | segments learnt from | moved by labelled segments, in logits |
|---|---|---|
{rows}

## Scores

{labels}

## Limits

It answers one aspect a segment, in the language and kind of text it was made from; it repeats its teacher's and its map's errors.
What only unmapped topics speak of is no aspect. Nothing was checked for fairness.

## Topic map

| topic | aspect | keywords |
|---|---|---|
{topics}

## Settings

| setting | value |
|---|---|
{settings}
"""


def map_mark(topic_map: TopicMap) -> str:
    """Fingerprint what a map says, not who said it or when."""
    return fingerprint(
        topic_map.topics, list(topic_map.aspects), [choice.aspect for choice in topic_map.choices]
    )


def has_student(run: Path) -> bool:
    return (run / rundir.STUDENT / rundir.CONFIG).exists()
