"""The teacher, top to bottom in the order of the paper (section "Self-Supervised Contrastive Learning").

Shapes: B segments in a batch, L words in the longest, D vector width, K topics, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from aspectra.config import TeacherConfig
from aspectra.teacher.encode import TrainedTeacher


@dataclass(frozen=True)
class Encoding:
    """What the teacher makes of a batch of segments."""

    attention: Tensor  # B×L, α: how much each word counts; sums to 1
    words: Tensor  # B×D, s_E: the segment by its words
    beta: Tensor  # B×K, β: topic probabilities; sums to 1
    topics: Tensor  # B×D, s_A: the segment by its topics


def attend(vectors: Tensor, mask: Tensor, align: nn.Linear, kind: str, smoothness: float) -> Tensor:
    """Return α (B×L): the weight of each word in its segment by mean, regular or smooth self-attention.

    `vectors` are B×L×D, `mask` is 0/1, B×L, `align` is W, b. Teacher and student share this function: the
    teacher weighs words, the student word pieces.
    """
    uniform = mask / mask.sum(1, keepdim=True)  # B×L
    if kind == "mean":
        return uniform
    query = torch.bmm(uniform.unsqueeze(1), vectors)  # B×1×D, q: mean of the vectors
    # qᵀ(W E_t + b) = (Wᵀq)ᵀE_t + qᵀb: one D×D product per segment instead of one per word
    score = torch.bmm(query @ align.weight, vectors.transpose(1, 2)).squeeze(1) + query @ align.bias  # B×L
    if kind == "smooth":
        score = smoothness * torch.tanh(score)  # B×L, u
    return torch.softmax(score + mask.log(), dim=1)  # B×L, α; log 0 takes padding out


class Teacher(nn.Module):
    """Word vectors E are fixed; W, b (attention), V, c (topic classifier) and A (topic vectors) learn."""

    vectors: Tensor

    def __init__(self, vectors: Tensor, topics: Tensor, config: TeacherConfig) -> None:
        super().__init__()
        width = vectors.shape[1]
        self.kind, self.smoothness = config.attention, config.smoothness
        self.register_buffer("vectors", vectors)  # V×D
        self.align = nn.Linear(width, width)  # W, b
        self.classify = nn.Linear(width, len(topics))  # V, c
        self.topics = nn.Parameter(topics.clone())  # A, K×D

    def forward(self, ids: Tensor, mask: Tensor) -> Encoding:
        """Encode segments given as word ids (B×L) and a 0/1 mask (B×L) with at least one word in each row."""
        embedded = functional.embedding(ids, self.vectors)  # B×L×D, E_x
        attention = attend(embedded, mask, self.align, self.kind, self.smoothness)  # B×L, α
        words = torch.bmm(attention.unsqueeze(1), embedded).squeeze(1)  # B×D, s_E
        beta = torch.softmax(self.classify(words), dim=1)  # B×K, β
        return Encoding(attention, words, beta, beta @ self.topics)  # s_A: B×D

    def trained(self) -> TrainedTeacher:
        """Return what was learnt, as arrays."""
        weights = {name: tensor.numpy().copy() for name, tensor in self.state_dict().items()}
        return TrainedTeacher(weights.pop("vectors"), weights, self.kind, self.smoothness)

    @classmethod
    def of(cls, trained: TrainedTeacher) -> Self:
        """Build the network again from what it learnt."""
        config = TeacherConfig(attention=trained.attention, smoothness=trained.smoothness)
        network = cls(torch.from_numpy(trained.vectors), torch.from_numpy(trained.topics), config)
        learnt = {name: torch.from_numpy(array) for name, array in trained.weights.items()}
        network.load_state_dict({**learnt, "vectors": network.vectors})
        return network.eval()
