"""Training of the teacher (paper: "Self-Supervised Contrastive Learning").

In: segments as word ids, and word vectors. Out: a `TrainedTeacher` and the history of its losses.
Topics start as k-means centroids: of the word vectors, or in a small corpus of the segments. Then they
learn by contrast, a batch at a time. The loss is in losses.py, its compiled gradient in gradient.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from aspectra.config import FitConfig
from aspectra.corpus import Ragged
from aspectra.errors import InputError
from aspectra.loop import Losses, optimise, torch_threads, warmup_rate
from aspectra.progress import StageProgress
from aspectra.teacher.encode import Trained
from aspectra.teacher.model import Teacher
from aspectra.vectors import WordVectors

LOG_EVERY = 100
FEWEST_STEPS, MOST_STEPS = 4_000, 12_000
SMALL = 200_000
"""A corpus with fewer segments to train on is small: its topics start from segments."""
START_SAMPLE = 20_000
"""At most this many segments are clustered."""


def start_topics(vectors: WordVectors, n_topics: int, seed: int) -> np.ndarray:
    """Return the K×D centroids of k-means over the word vectors."""
    return centroids(vectors.matrix, n_topics, seed)


def centroids(points: np.ndarray, n_topics: int, seed: int) -> np.ndarray:
    """Return the K×D centroids of k-means over points, N×D."""
    from sklearn.cluster import KMeans

    with torch_threads(1):  # more threads would add in another order
        return np.asarray(
            KMeans(n_topics, n_init=1, random_state=seed).fit(points).cluster_centers_, dtype=np.float32
        )


def choose_start(tokens: Ragged, rows: np.ndarray, vectors: WordVectors, config: FitConfig) -> np.ndarray:
    """Return the topics to start from, K×D: centroids of words or of segments, by `config.start`."""
    if config.start == "words" or (config.start == "auto" and len(rows) >= SMALL):
        return start_topics(vectors, config.n_topics, config.seed)
    means = segment_means(tokens, rows, vectors, config)
    different = len(np.unique(means, axis=0))
    if different >= config.n_topics:
        return centroids(means, config.n_topics, config.seed)
    if config.start == "auto":
        return start_topics(vectors, config.n_topics, config.seed)
    raise InputError(
        f"There are only {different} different segments to start {config.n_topics} topics from. "
        "Give more reviews, or use --start words."
    )


def segment_means(tokens: Ragged, rows: np.ndarray, vectors: WordVectors, config: FitConfig) -> np.ndarray:
    """Return the mean word vectors of a random sample of the rows, n×D with n at most START_SAMPLE."""
    drawn = np.random.default_rng(config.seed).permutation(rows)[:START_SAMPLE]
    words = tokens.select(drawn, config.max_tokens)
    sums = np.add.reduceat(vectors.matrix[words.ids], words.offsets[:-1])  # n×D
    return np.asarray(sums / words.lengths[:, None], dtype=np.float32)  # n×D


def choose_steps(n_rows: int, config: FitConfig) -> int:
    """Return the steps asked for, or one pass, but from FEWEST_STEPS to MOST_STEPS.

    A small corpus needs several passes; a large one does not need all of its segments.
    """
    return config.steps or min(MOST_STEPS, max(FEWEST_STEPS, -(-n_rows // config.batch_size)))


def batches(rows: np.ndarray, steps: int, config: FitConfig) -> Iterator[np.ndarray]:
    """Yield a batch of rows for each step; every pass over the rows has a new random order."""
    random = np.random.default_rng(config.seed)
    order = rows[:0]
    for _ in range(steps):
        if len(order) < min(config.batch_size, len(rows)):
            order = random.permutation(rows)
        yield order[: config.batch_size]
        order = order[config.batch_size :]


def train(
    tokens: Ragged, rows: np.ndarray, vectors: WordVectors, config: FitConfig, progress: StageProgress
) -> Trained:
    """Train a teacher on some rows of the corpus."""
    torch.manual_seed(config.seed)
    start = torch.from_numpy(choose_start(tokens, rows, vectors, config))
    teacher = Teacher(torch.from_numpy(vectors.matrix), start, config)
    history: list[dict[str, float]] = []
    steps = choose_steps(len(rows), config)

    def log(step: int, losses: Losses) -> None:
        if step % LOG_EVERY == 0 or step == 1:
            values = {name: round(float(loss.detach()), 5) for name, loss in losses.items()}
            history.append({"step": step, **values})
            progress(min(1.0, step / steps))

    from aspectra.teacher import gradient  # compiles

    rate = partial(warmup_rate, factor=config.learning_factor, warmup=config.warmup)
    with torch_threads(1):
        words = (tokens.select(batch, config.max_tokens) for batch in batches(rows, steps, config))
        optimise(teacher, words, partial(gradient.step, teacher, config), rate, config.clip, log)
    return Trained(teacher.trained(), history)
