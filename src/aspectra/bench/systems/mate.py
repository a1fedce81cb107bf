"""MATE (Angelidis, Lapata, EMNLP 2018): ABAE's network, but its topics are the aspects, made of seed words.

An aspect's vector is Σ_j z_j s_j over its 30 seed words s_j, with the published weights z (ABAE-init: their
plain mean), and stays fixed; so nothing has to be mapped. MATE-MT also learns from which domain a segment is:
a classifier on z = Σ α_t e_t shares its attention. Departures: the run's words and vectors, learnt on one
domain, ABAE's steps and batches; other domains are the other sets' reviews, in the words of this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import nn
from torch.nn import functional

from aspectra.bench.protocol import MANY_SEEDS, Frozen, Task
from aspectra.bench.sets import PUBLISHED_SETS, find_set, is_complete
from aspectra.bench.systems.autoencoder import (
    STEPS,
    SecondTask,
    centred,
    network_config,
    topics_of,
    train_autoencoder,
)
from aspectra.bench.systems.seeds import answer_by_aspects, seed_vectors
from aspectra.corpus import Ragged
from aspectra.errors import InputError
from aspectra.loop import Losses
from aspectra.teacher.model import Teacher
from aspectra.text.segment import split_reviews

DOMAIN_SEGMENTS = 20_000
"""At most so many segments of each domain are told apart."""
HIDDEN = 50
"""Width of the layer before the domains, as in the authors' code."""


@dataclass(frozen=True)
class Mate:
    """The three systems with fixed aspects: ABAE-init, MATE, and with `domains` MATE-MT."""

    name: str = "mate"
    title: str = "MATE"
    supervision: str = MANY_SEEDS
    weighted: bool = True
    domains: Callable[[Task], list[pl.Series]] | None = None
    steps: int = STEPS
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        fit = network_config(task.bench.config(task.seed), len(task.aspects)).to_dict()
        seeds = {"weighted": self.weighted, "seeds": task.weighted_seeds}
        return {"fit": fit, "steps": self.steps, **seeds, "domains": self.domains is not None}

    def fit(self, task: Task) -> Frozen:
        config = network_config(task.bench.config(task.seed), len(task.aspects))
        start = seed_vectors(task, centred(task.words.vectors.matrix), self.weighted)
        second = tell_domains(task, self.domains(task)) if self.domains else None
        model = train_autoencoder(task.words, start, config, self.steps, fixed=True, second=second)
        return answer_by_aspects(topics_of(model, task.words), task)


def other_domains(task: Task) -> list[pl.Series]:
    """Return reviews of every other published set in the data folder, enough for DOMAIN_SEGMENTS each."""
    names = [name for name in PUBLISHED_SETS if name != task.bench.name and is_complete(name, task.data)]
    if not names:
        raise InputError(
            "MATE-MT learns to tell domains apart: it needs the corpus of a second set. "
            "Give a folder with two or more as --data; see docs/benchmark.md."
        )
    return [next(find_set(name, task.data).reviews(task.data).texts()) for name in names]


def tell_domains(task: Task, others: list[pl.Series]) -> SecondTask:
    """Return a classifier of domains and its loss on a random batch from all of them, own first."""
    config, random = task.words.config, np.random.default_rng((task.seed, 2))
    own = task.words.corpus.tokens.select(task.words.corpus.trainable(config.min_tokens))
    domains = [own, *filter(len, (in_words_of(task, reviews) for reviews in others))]
    torch.manual_seed(task.seed)
    width = task.words.vectors.matrix.shape[1]
    classify = nn.Sequential(nn.Linear(width, HIDDEN), nn.Linear(HIDDEN, len(domains)))

    def losses(model: Teacher) -> Losses:
        labels = random.integers(0, len(domains), 50)
        drawn = [domains[label].select(random.integers(0, len(domains[label]), 1)) for label in labels]
        ids, mask = Ragged.of(
            np.concatenate([one.ids for one in drawn]), np.array([len(one.ids) for one in drawn])
        ).padded(np.arange(len(drawn)), config.max_tokens)
        found = model(torch.from_numpy(ids), torch.from_numpy(mask.astype(np.float32)))
        return {"domain": functional.cross_entropy(classify(found.words), torch.from_numpy(labels))}

    return SecondTask(classify, losses)


def in_words_of(task: Task, reviews: pl.Series) -> Ragged:
    """Split reviews into segments and keep those with enough words that the task's run knows."""
    config = task.words.config
    texts = split_reviews(reviews.head(DOMAIN_SEGMENTS // 4), config.segment, config.language)["text"]
    tokens = task.words.vocabulary.encode(texts.head(DOMAIN_SEGMENTS))
    return tokens.select(np.flatnonzero(tokens.lengths >= config.min_tokens))
