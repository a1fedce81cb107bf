"""Training of the teacher: topics start as k-means centroids of the word vectors and learn by contrast, in one pass over the segments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from aspectra.config import FitConfig
from aspectra.corpus import Ragged
from aspectra.loop import optimise, warmup_rate
from aspectra.teacher.model import Teacher
from aspectra.vectors import Progress, WordVectors

LOG_EVERY = 100
ENCODE_BATCH = 4096
FEWEST_STEPS, MOST_STEPS = 4_000, 12_000


@dataclass(frozen=True)
class Trained:
    """A teacher and how its losses went."""

    teacher: Teacher
    history: list[dict[str, float]]


@contextlib.contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Run a block on so many threads of torch and of numpy's matrix products; tiny batches are fastest on one."""
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        torch.set_num_threads(before)


def start_topics(vectors: WordVectors, n_topics: int, seed: int) -> np.ndarray:
    """Return the K×D centroids of k-means over the word vectors."""
    from sklearn.cluster import KMeans

    centroids = KMeans(n_topics, n_init=1, random_state=seed).fit(vectors.matrix).cluster_centers_
    return np.asarray(centroids, dtype=np.float32)


def choose_steps(n_rows: int, config: FitConfig) -> int:
    """Return the steps asked for, or one pass within FEWEST_STEPS…MOST_STEPS: a small corpus needs several, a large one not all."""
    return config.steps or min(MOST_STEPS, max(FEWEST_STEPS, -(-n_rows // config.batch_size)))


def batches(rows: np.ndarray, steps: int, config: FitConfig) -> Iterator[np.ndarray]:
    """Yield so many batches of rows, shuffled anew in each pass over them."""
    random = np.random.default_rng(config.seed)
    order = rows[:0]
    for _ in range(steps):
        if len(order) < min(config.batch_size, len(rows)):
            order = random.permutation(rows)
        yield order[: config.batch_size]
        order = order[config.batch_size :]


def train(tokens: Ragged, rows: np.ndarray, vectors: WordVectors, config: FitConfig, progress: Progress) -> Trained:
    """Train a teacher on some rows of the corpus."""
    torch.manual_seed(config.seed)
    start = torch.from_numpy(start_topics(vectors, config.n_topics, config.seed))
    teacher = Teacher(torch.from_numpy(vectors.matrix), start, config)
    history: list[dict[str, float]] = []
    steps = choose_steps(len(rows), config)

    def log(step: int, parts: dict[str, Tensor]) -> None:
        if step % LOG_EVERY == 0 or step == 1:
            history.append({"step": step, **{name: round(float(value.detach()), 5) for name, value in parts.items()}})
            progress(min(1.0, step / steps))

    from aspectra.teacher import gradient  # compiles

    rate = partial(warmup_rate, factor=config.learning_factor, model_size=config.model_size, warmup=config.warmup)
    with torch_threads(1):
        words = (tokens.select(batch, config.max_tokens) for batch in batches(rows, steps, config))
        optimise(teacher, words, partial(gradient.step, teacher, config), rate, config.clip, log)
    return Trained(teacher.eval(), history)


def encode(teacher: Teacher, tokens: Ragged, max_tokens: int) -> np.ndarray:
    """Return β for every row, N×K; a row without known words gets NaN."""
    beta = np.full((len(tokens), len(teacher.topics)), np.nan, dtype=np.float32)
    lengths = np.minimum(tokens.lengths, max_tokens)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]  # like lengths together: hardly any padding
    with torch.inference_mode():
        for start in range(0, len(order), ENCODE_BATCH):
            rows = order[start : start + ENCODE_BATCH]
            ids, mask = tokens.padded(rows, max_tokens)
            beta[rows] = teacher(torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32))).beta.numpy()
    return beta
