"""Every setting of the student: default, meaning, the paper's value."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, fields
from typing import Any

from aspectra.config import ATTENTIONS, Settings, check_kind, setting
from aspectra.errors import ConfigError

UNITS = ("share", "nats")


@dataclass(frozen=True)
class StudentConfig(Settings):
    """All that `aspectra distill` can be told."""

    encoder: str = setting(
        "minilm", "Pretrained encoder: minilm (bundled), a folder, or a name on the Hugging Face hub.", "BERT"
    )
    finetune: bool = setting(
        False, "Train the encoder too, after its head; slow without a GPU.", "not said; frozen in the code"
    )
    sharpness: float = setting(
        4.0, "Targets are the teacher's γ to this power: 1 is γ itself, 1000 its answer alone.", "hard labels"
    )
    attention: str = setting("smooth", "How word pieces are weighed into a segment.", "smooth", ATTENTIONS)
    smoothness: float = setting(0.5, "Smoothness λ of smooth attention.", "0.5")
    n_segments: int = setting(
        16_000, "Segments to learn from, as many of each aspect as there are.", "all that pass"
    )
    general_entropy: float = setting(
        1.0, "χ_G: learn from a General segment if the teacher's entropy is at most this.", "0.7–1.2 nats"
    )
    aspect_entropy: float = setting(1.0, "χ_NG: the same for segments of other aspects.", "1.4–1.8 nats")
    entropy_unit: str = setting(
        "share", "Unit of both: share of the largest entropy, log A, or nats.", "nats", UNITS
    )
    teacher_weight: float = setting(
        0.5, "Weight of the teacher's γ when both answer; 0 is the student alone.", "0"
    )
    epochs: int = setting(4, "Passes over the segments for the head.", "not said")
    batch_size: int = setting(128, "Segments per step.", "not said")
    learning_rate: float = setting(0.003, "Highest learning rate of the head; it falls to 0.", "not said")
    decay: float = setting(1e-3, "Weight of the L2 penalty on the classifier.", "not said")
    finetune_epochs: int = setting(2, "Passes over the segments for the encoder.", "not said")
    finetune_rate: float = setting(3e-5, "Highest learning rate of the encoder.", "not said")
    longest: int = setting(64, "Read at most this many word pieces of a segment.", "not said")
    seed: int = setting(0, "Same seed, same machine, same numbers.", "not said")

    def __post_init__(self) -> None:
        for spec in fields(self):
            check(spec, getattr(self, spec.name))

    def thresholds(self, n_aspects: int) -> tuple[float, float]:
        """Return χ_G and χ_NG in nats."""
        scale = math.log(n_aspects) if self.entropy_unit == "share" else 1.0
        return self.general_entropy * scale, self.aspect_entropy * scale


ANY = math.inf
RANGES: dict[str, tuple[float, float]] = {
    "sharpness": (0.1, 1e6), "smoothness": (0, ANY), "n_segments": (10, ANY), "general_entropy": (0, ANY), "aspect_entropy": (0, ANY),
    "teacher_weight": (0, 1), "epochs": (1, ANY), "batch_size": (2, ANY), "learning_rate": (1e-9, 1), "decay": (0, ANY),
    "finetune_epochs": (1, ANY), "finetune_rate": (1e-9, 1), "longest": (8, ANY), "seed": (0, ANY),
}  # fmt: skip


def check(spec: dataclasses.Field[Any], value: Any) -> None:
    """Raise ConfigError unless the value fits the field and lies in its range."""
    check_kind(spec, value)
    low, high = RANGES.get(spec.name, (-ANY, ANY))
    if spec.name in RANGES and not low <= value <= high:
        raise ConfigError(f"{spec.name} must be from {low:g} to {high:g}, got {value}.")
