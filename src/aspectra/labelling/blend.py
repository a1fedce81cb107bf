"""The teacher's labels and the student's probabilities → labels of both. The columns are those of
`label_beta`.

Where the teacher knows no word of a segment the student answers alone. Topic, unmapped mass and known
words stay the teacher's evidence.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from aspectra.arrays import normalise
from aspectra.topicmap.gamma import PREFIX, entropy, margin


def blend(
    labels: pl.DataFrame,
    student: np.ndarray,
    aspects: tuple[str, ...],
    teacher_weight: float,
    only: tuple[str, ...] | None = None,
) -> pl.DataFrame:
    """Average the teacher's γ in `labels` with the student's probabilities (N×A, ordered as `aspects`)."""
    wanted = only or aspects
    own = normalise(student[:, [aspects.index(aspect) for aspect in wanted]])
    gamma = labels.select(PREFIX + aspect for aspect in wanted).to_numpy()
    weight = np.where(labels["known_words"].to_numpy() > 0, teacher_weight, 0)[:, None]
    both = ((1 - weight) * own + weight * gamma).astype(np.float32)
    best = both.argmax(1)
    return labels.with_columns(
        aspect=pl.Series(wanted).gather(best),
        probability=both[np.arange(len(both)), best],
        entropy=entropy(both).astype(np.float32),
        margin=margin(both).astype(np.float32),
        **{PREFIX + aspect: both[:, place] for place, aspect in enumerate(wanted)},
    )
