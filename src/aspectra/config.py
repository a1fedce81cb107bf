"""Every setting that changes a result: one frozen dataclass per stage, each default once, with its meaning and the paper's value.

`FitConfig` is all stages in one flat object: it *is* a `PrepareConfig`, a `VectorsConfig` and a `TeacherConfig`, so each stage takes
the type it needs and never sees the rest. The command line's flags and docs/config.md are generated from the fields here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, fields
from typing import Any, Self

from aspectra.errors import ConfigError

SEGMENTS = ("sentence", "clause", "none")
ATTENTIONS = ("smooth", "regular", "mean")
STARTS = ("auto", "words", "segments")
GENERAL = "General"


def setting(default: Any, help: str, paper: str = "", choices: tuple[str, ...] = ()) -> Any:
    """Declare a config field: default, one-line meaning, the paper's value in words, the allowed words."""
    return field(default=default, metadata={"help": help, "paper": paper, "choices": choices})


@dataclass(frozen=True)
class Settings:
    """What every config can do: become a dictionary and be made from one."""

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        unknown = set(values) - {spec.name for spec in fields(cls)}
        if unknown:
            raise ConfigError(
                f"Unknown settings {sorted(unknown)}. Known: {[spec.name for spec in fields(cls)]}."
            )
        return cls(**values)


@dataclass(frozen=True)
class PrepareConfig:
    """Files to segments to token ids."""

    segment: str = setting("sentence", "What a segment is.", "sentences; EDUs for products", SEGMENTS)
    language: str = setting(
        "en", "Language of the reviews, as a two-letter code; others are left out of training.", "en"
    )
    min_count: int = setting(10, "A word seen fewer times than this is unknown.", "10")
    min_tokens: int = setting(3, "Train on segments with at least this many known words.", "not said")
    max_tokens: int = setting(30, "Read at most this many words of a segment.", "not said")
    keep_junk: bool = setting(False, "Train on pasted code and other languages too.", "kept")
    max_segments: int = setting(
        2_000_000, "Learn from a uniform sample of at most this many segments; 0 takes all.", "all"
    )


@dataclass(frozen=True)
class VectorsConfig:
    """Skip-gram word vectors, learnt on sentences and fixed afterwards."""

    vector_size: int = setting(128, "Width D of the word vectors.", "128")
    window: int = setting(5, "Words on each side that count as context.", "5")
    negative: int = setting(5, "Negative samples per pair.", "5")
    vector_epochs: int = setting(
        0,
        "Passes over the corpus for the word vectors; 0 chooses 5 to 30, more for a small corpus.",
        "not said",
    )
    workers: int = setting(
        1, "Threads for the word vectors; more than one is faster, but no longer repeatable.", "not said"
    )


@dataclass(frozen=True)
class TeacherConfig:
    """The contrastive model that discovers topics."""

    n_topics: int = setting(
        30, "Number K of topics to discover; at least three times the aspects you want.", "30"
    )
    start: str = setting(
        "auto",
        "What topics start from, by k-means: auto takes segments if there are fewer than 200000.",
        "words",
        STARTS,
    )
    attention: str = setting("smooth", "How words are weighed into a segment.", "smooth", ATTENTIONS)
    smoothness: float = setting(
        0.5, "Smoothness λ of smooth attention; smaller is closer to the mean.", "0.5"
    )
    temperature: float = setting(1.0, "Temperature μ of the contrastive loss.", "1")
    penalty_weight: float = setting(1.0, "Weight of Ω, which keeps topics apart.", "1")
    batch_size: int = setting(50, "Segments per step; each is contrasted with the others.", "50")
    steps: int = setting(
        0,
        "Training steps; 0 chooses one pass over the segments, but at least 4000 and at most 12000 steps.",
        "one pass",
    )
    learning_factor: float = setting(2.0, "Factor of the learning rate.", "not said; 2 in the authors' code")
    model_size: float = setting(1e5, "Model size in the learning rate's formula.", "100000")
    warmup: int = setting(2000, "Steps over which the learning rate rises.", "2000")
    clip: float = setting(2.0, "The gradient's norm is clipped here.", "2")


@dataclass(frozen=True)
class FitConfig(PrepareConfig, VectorsConfig, TeacherConfig, Settings):
    """All that `aspectra fit` can be told."""

    seed: int = setting(0, "Same seed, same machine, same numbers.", "not said")

    def __post_init__(self) -> None:
        for spec in fields(self):
            check_field(spec, getattr(self, spec.name))

    def stage(self, kind: type) -> dict[str, Any]:
        """Return the fields that belong to one stage's dataclass, for fingerprints."""
        return {spec.name: getattr(self, spec.name) for spec in fields(kind)}


AT_LEAST: dict[str, float] = {
    "min_count": 1, "min_tokens": 1, "max_tokens": 1, "vector_size": 2, "window": 1, "negative": 1, "vector_epochs": 0,
    "workers": 1, "n_topics": 2, "smoothness": 0, "penalty_weight": 0, "batch_size": 2, "warmup": 1, "seed": 0, "steps": 0,
    "max_segments": 0,
}  # fmt: skip
MORE_THAN: dict[str, float] = {"temperature": 0, "learning_factor": 0, "model_size": 0, "clip": 0}


def check_kind(spec: dataclasses.Field[Any], value: Any) -> None:
    """Raise ConfigError unless the value has the field's type and is one of its choices."""
    expected: type = type(spec.default)
    fits = type(value) in (int, float) if expected is float else type(value) is expected
    if not fits:
        raise ConfigError(f"{spec.name} must be a {expected.__name__}, got {value!r}.")
    choices = spec.metadata["choices"]
    if choices and value not in choices:
        raise ConfigError(f"{spec.name} must be one of {', '.join(choices)}, got {value!r}.")


def check_field(spec: dataclasses.Field[Any], value: Any) -> None:
    """Raise ConfigError unless the value fits the field and lies in its range."""
    check_kind(spec, value)
    if spec.name in AT_LEAST and not value >= AT_LEAST[spec.name]:
        raise ConfigError(f"{spec.name} must be at least {AT_LEAST[spec.name]}, got {value}.")
    if spec.name in MORE_THAN and not value > MORE_THAN[spec.name]:
        raise ConfigError(f"{spec.name} must be more than {MORE_THAN[spec.name]}, got {value}.")
