"""TS (Karamanolakis, Hsu, Gravano, EMNLP 2019): a bag of seed words teaches a student, and learns from it.

Teacher: q_k = softmax(c_k), c_k the number of aspect k's seed words in the segment; none at all is General.
Student: softmax regression on the segment's vector, on q. Then each seed word votes as the student answers
where it occurs, plus its class shares; again, and the round that dev likes best counts. Departures: vectors
and encoder stay fixed; MiniLM for BERT; without General, segments without seed words do not teach.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from aspectra.arrays import softmax, unit
from aspectra.aspects.names_sample import sample_rows
from aspectra.bench.protocol import MANY_SEEDS, Frozen, Task
from aspectra.bench.systems.baselines import counts_of, encode
from aspectra.bench.systems.cat import attended
from aspectra.bench.systems.names import KeptEncoder
from aspectra.bench.systems.seeds import seed_ids
from aspectra.config import GENERAL
from aspectra.corpus import Ragged
from aspectra.loop import Losses, differentiate, optimise
from aspectra.scores import average_scores, gold_matrix

BATCH, ROUNDS, RATE, DROPOUT, CLIP = 64, 5, 0.01, 0.5, 10.0
FEWEST = 500
"""A small corpus has several passes: after too few steps a student would teach its first random answers."""
WORD_VECTORS = "word vectors"


@dataclass
class SeedTeacher:
    """Votes of seed words: `seeds` are their S ids, `votes` (S×A) say for what.

    Once it has learnt from a student, the student's class shares (`prior`) are added everywhere.
    """

    seeds: np.ndarray
    votes: np.ndarray
    general: int | None
    n_words: int
    prior: np.ndarray | None = None

    @classmethod
    def of(cls, task: Task) -> SeedTeacher:
        found = seed_ids(task)
        seeds = np.unique([word for words in found for word in words]).astype(np.int64)
        votes = np.array([[float(word in words) for words in found] for word in seeds])
        general = task.aspects.index(GENERAL) if GENERAL in task.aspects else None
        return cls(seeds, votes, general, len(task.words.vocabulary))

    def counts(self, tokens: Ragged) -> Any:
        """Return how often each seed word occurs, N×S, sparse."""
        return counts_of(tokens, self.n_words)[:, self.seeds]

    def answer(self, counts: Any) -> np.ndarray:
        """Return q, N×A."""
        scores = counts @ self.votes
        if self.prior is not None:
            scores += self.prior
        elif self.general is not None:
            scores[totals(counts) == 0, self.general] = 1
        return softmax(scores)

    def learn_from(self, answers: np.ndarray, counts: Any) -> None:
        """Let every seed word vote as the student's answers (N×A) are where it occurs."""
        hard = np.eye(answers.shape[1])[answers.argmax(1)]
        there = (counts > 0).astype(np.float64)
        times = np.asarray(there.sum(0)).reshape(-1, 1)  # S×1
        self.votes = np.where(times > 0, there.T @ hard / np.maximum(times, 1), self.votes)
        self.prior = hard.mean(0)


@dataclass(frozen=True)
class TeacherStudent:
    """The teacher alone, or a student on `features`: word vectors, or the name of an encoder."""

    name: str = "ts-teacher"
    title: str = "TS-Teacher"
    supervision: str = MANY_SEEDS
    features: str | None = None
    rounds: int = ROUNDS
    most: int = 200_000
    seeded: bool = True

    def config(self, task: Task) -> dict[str, Any]:
        fit, own = task.bench.config(task.seed).to_dict(), {"rounds": self.rounds, "most": self.most}
        return {"fit": fit, "features": self.features, **own, "seeds": task.weighted_seeds}

    def fit(self, task: Task) -> Frozen:
        teacher = SeedTeacher.of(task)
        if self.features is None:
            return Frozen(lambda texts: teacher.answer(teacher.counts(encode(task.words, texts))))
        corpus, read = task.words.corpus, reader(self.features, task)
        # the same segments for every seed, those that aspectra's student learns from: they are encoded once
        rows = sample_rows(corpus, task.words.config.min_tokens, 0, self.most)
        counts = teacher.counts(corpus.tokens.select(rows))
        seen = torch.from_numpy(read(corpus.segments["text"].gather(rows).to_list()))
        taught = np.flatnonzero((totals(counts) > 0) | (teacher.general is not None))
        gold, on_dev = gold_matrix(task.dev.aspects, task.aspects), torch.from_numpy(read(task.dev.texts))
        students = list(co_train(teacher, counts[taught], seen[taught], self.rounds, task.seed))
        answers = [probabilities(student, on_dev).argmax(1) for student in students]
        scores = [average_scores(gold, one, task.aspects)[task.bench.headline] for one in answers]
        best = students[int(np.argmax(scores))]
        return Frozen(
            lambda texts: probabilities(best, torch.from_numpy(read(texts))), {"dev_of_rounds": scores}
        )


def totals(counts: Any) -> np.ndarray:
    """Return the number of seed words in each row, N."""
    return np.asarray(counts.sum(1)).ravel()


def reader(features: str, task: Task) -> Callable[[Sequence[str]], np.ndarray]:
    """Return what turns segments into vectors, N×D: mean words at length 1, or an encoder's mean states."""
    if features != WORD_VECTORS:
        return KeptEncoder.of(features, task).means
    vectors = unit(task.words.vectors.matrix)

    def means(texts: Sequence[str]) -> np.ndarray:
        return attended(encode(task.words, texts), vectors, np.ones(len(vectors))).astype(np.float32)

    return means


def co_train(
    teacher: SeedTeacher, counts: Any, seen: torch.Tensor, rounds: int, seed: int
) -> Iterator[nn.Module]:
    """Let teacher and student learn from each other; yield the student after each round.

    A round is a pass over the segments, or FEWEST steps.
    """
    torch.manual_seed(seed)
    student = nn.Linear(seen.shape[1], teacher.votes.shape[1])
    random = np.random.default_rng(seed)
    for number in range(rounds):
        rate = RATE * 0.1**number  # as in the authors' code: else both drift to the most frequent answer
        targets = torch.from_numpy(teacher.answer(counts).astype(np.float32))
        steps = max(-(-len(seen) // BATCH), FEWEST)
        batches = [random.integers(0, len(seen), BATCH) for _ in range(steps)]

        def losses(batch: np.ndarray, targets: torch.Tensor = targets) -> Losses:
            logits = student(functional.dropout(seen[batch], DROPOUT))
            return {"cross_entropy": functional.cross_entropy(logits, targets[batch])}

        optimise(student, batches, differentiate(losses), constant(rate), CLIP, lambda step, parts: None)
        yield copy.deepcopy(student)
        teacher.learn_from(probabilities(student, seen), counts)


def constant(rate: float) -> Callable[[int], float]:
    return lambda step: rate


def probabilities(student: nn.Module, seen: torch.Tensor) -> np.ndarray:
    with torch.inference_mode():
        return np.asarray(torch.softmax(student(seen), dim=1).numpy())
