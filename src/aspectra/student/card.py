"""What a student was made from and what it can do: config.json, and a model card (README.md) for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self

from aspectra import __version__
from aspectra.config import StudentConfig
from aspectra.errors import RunError

if TYPE_CHECKING:
    from aspectra.topicmap.topicmap import TopicMap

FORMAT = 1
FORMER = {
    "encoder": "encoder_fingerprint",
    "reviews": "reviews_fingerprint",
    "topic_map": "topic_map_fingerprint",
    "leaning": "logit_shift",
}
"""Former names of fields: files of older versions can still be read."""


@dataclass(frozen=True)
class Card:
    """`learnt` counts segments per aspect; `logit_shift` is what dev added to each aspect's logit.

    `choice` and `estimate` tell how labels were used and which scores to expect.
    """

    aspects: tuple[str, ...]
    config: StudentConfig
    teacher_weight: float
    encoder_fingerprint: str
    reviews_fingerprint: str
    topic_map_fingerprint: str
    learnt: dict[str, int]
    logit_shift: dict[str, float] = field(default_factory=dict)
    choice: str = "teacher"
    n_labels: int = 0
    estimate: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": __version__, **asdict(self), "aspects": list(self.aspects)}

    @classmethod
    def from_dict(cls, values: dict[str, Any], place: str) -> Self:
        known = {
            FORMER.get(name, name): value
            for name, value in values.items()
            if name not in ("format", "version", "weights")
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
            f"| {aspect} | {self.learnt.get(aspect, 0):,} | {self.logit_shift.get(aspect, 0):+.2f} |"
            for aspect in self.aspects
        )
        topics = "\n".join(
            f"| {choice.topic} | {choice.aspect or 'unmapped'} | {' '.join(choice.keywords)} |"
            for choice in topic_map.choices
        )
        settings = "\n".join(f"| {name} | {value} |" for name, value in asdict(self.config).items())
        return CARD.format(
            version=__version__,
            encoder=self.config.encoder,
            encoder_fingerprint=self.encoder_fingerprint,
            reviews_fingerprint=self.reviews_fingerprint,
            rows=rows,
            topics=topics,
            settings=settings,
            weight=self.teacher_weight,
            labels=self.labels_text(),
        )

    def labels_text(self) -> str:
        if not self.n_labels:
            return (
                "No labelled segments were given; the scores are unknown. "
                "Measure them: aspectra evaluate RUN gold.jsonl"
            )
        scores = ", ".join(f"{name} {value:.1%}" for name, value in self.estimate.items())
        return (
            f"{self.n_labels:,} labelled segments were given. {USED[self.choice]} "
            f"Cross-validated on them: {scores}."
        )


USED = {
    "both": "The classifier learnt from the teacher and from them.",
    "teacher": "They changed nothing: what was learnt from the teacher alone scored as well.",
    "labels": "The classifier learnt from them alone, which scored clearly better than with the teacher.",
}
"""What a card's `choice` means."""

CARD = """# Aspect student

Labels segments of reviews with an aspect. Made by aspectra {version}: distilled from a contrastive topic
model into the encoder `{encoder}` (weights {encoder_fingerprint}), from reviews with fingerprint
`{reviews_fingerprint}`. When it labels, the teacher's probabilities have the weight {weight:g}.

| aspect | segments learnt from | change of its score by labelled segments (log-odds) |
|---|---|---|
{rows}

## Scores

{labels}

## Limits

It gives one aspect per segment, for texts of the language and kind it was made from. It repeats the errors
of its teacher and of the topic map. What only unmapped topics are about has no aspect. Fairness was not
checked.

## Topic map

| topic | aspect | keywords |
|---|---|---|
{topics}

## Settings

| setting | value |
|---|---|
{settings}
"""
