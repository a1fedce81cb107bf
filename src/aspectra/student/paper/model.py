"""The student (paper: SSCLS): encoder → smooth self-attention → one linear layer → softmax.

Shapes: B segments in a batch, L word pieces in the longest, D the encoder's width, A aspects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from torch import Tensor, nn
from torch.nn import functional

from aspectra import disk, rundir
from aspectra.corpus import Ragged
from aspectra.encoder.pretrained import Encoder, load_encoder
from aspectra.errors import RunError
from aspectra.student.card import Card, again
from aspectra.teacher.model import attend
from aspectra.topicmap.topicmap import TopicMap

BATCH = 64


@dataclass(frozen=True)
class Answer:
    """What the student makes of a batch of segments."""

    attention: Tensor  # B×L, α: how much each piece counts; sums to 1
    pooled: Tensor  # B×D: the segment
    logits: Tensor  # B×A


class Head(nn.Module):
    """What learns on top of a frozen encoder: attention over its hidden states, and the classifier."""

    def __init__(
        self, width: int, n_aspects: int, attention: str = "smooth", smoothness: float = 0.5
    ) -> None:
        super().__init__()
        self.kind, self.smoothness = attention, smoothness
        self.align = nn.Linear(width, width)  # W, b
        self.classify = nn.Linear(width, n_aspects)
        for parameter in self.parameters():
            nn.init.zeros_(parameter)  # starts as the mean of the pieces, with no opinion

    def forward(self, hidden: Tensor, mask: Tensor) -> Answer:
        """Answer for hidden states (B×L×D) and a 0/1 mask (B×L) with at least one piece in each row."""
        attention = attend(hidden, mask, self.align, self.kind, self.smoothness)  # B×L, α
        pooled = torch.bmm(attention.unsqueeze(1), hidden).squeeze(1)  # B×D
        return Answer(attention, pooled, self.classify(pooled))  # logits: B×A


class Student(nn.Module):
    """An encoder with its head, and all that is needed to say what its answers mean."""

    def __init__(self, encoder: Encoder, head: Head, card: Card) -> None:
        super().__init__()
        self.encoder, self.card = encoder, card
        self.network, self.head = encoder.model, head

    def forward(self, ids: Tensor, mask: Tensor) -> Answer:
        """Answer for word pieces (B×L) and a 0/1 mask (B×L)."""
        hidden = self.encoder.hidden(ids, mask)  # B×L×D
        answer: Answer = self.head(hidden, mask.to(hidden))
        return answer

    def _each(self, texts: Sequence[str], take: Callable[[Answer], Tensor], width: int) -> np.ndarray:
        """Return one row of `width` numbers for each text, in batches of like length."""
        pieces = self.encoder.tokenise(texts)
        result = np.empty((len(texts), width), dtype=np.float32)
        with torch.inference_mode():
            for rows, ids, mask in self.encoder.batches(pieces, BATCH):
                result[rows] = take(self(ids, mask)).float().cpu().numpy()
        return result

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the student's own probabilities, N×A."""
        return self._each(texts, lambda answer: torch.softmax(answer.logits, 1), len(self.card.aspects))

    def answer(self, texts: Sequence[str], words: Ragged, beta: np.ndarray) -> np.ndarray:
        """Return the same; a linear student also looks at a segment's known words and β."""
        return self.probabilities(texts)

    def pooled(self, texts: Sequence[str]) -> np.ndarray:
        """Return what the classifier sees of each text, N×D."""
        return self._each(texts, lambda answer: answer.pooled, self.encoder.width)

    def save_pretrained(self, folder: Path | str, topic_map: TopicMap) -> None:
        """Write head, card, and the encoder if it was trained; config.json, the last, makes it valid."""
        home = Path(folder)
        if self.card.config.finetune:
            with disk.atomic_folder(home / rundir.ENCODER) as encoder:
                self.encoder.save(encoder)
        weights = {name: one.detach().cpu().contiguous() for name, one in self.head.state_dict().items()}
        disk.write_atomic(home / rundir.HEAD, to_bytes(weights))
        self.card.save(home, topic_map)

    @classmethod
    def from_pretrained(cls, folder: Path | str) -> Self:
        """Read what save_pretrained has written; refuse it if its parts do not belong together."""
        home = Path(folder)
        card = Card.load(home)
        encoder = load_encoder(
            str(home / rundir.ENCODER) if card.config.finetune else card.config.encoder, card.config.longest
        )
        if encoder.fingerprint != card.encoder_fingerprint:
            name = encoder.name
            raise RunError(
                f"The encoder {name!r} has other weights than the student was made with. {again(home)}"
            )
        head = Head(encoder.width, len(card.aspects), card.config.attention, card.config.smoothness)
        try:
            head.load_state_dict(load_file(home / rundir.HEAD))
        except (SafetensorError, RuntimeError) as error:
            raise RunError(f"{home / rundir.HEAD} does not fit ({error}). {again(home)}") from None
        return cls(encoder, head, card).eval()


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of logits (B×A) against target probabilities (B×A)."""
    return -(targets * functional.log_softmax(logits, dim=1)).sum(1).mean()


def falling(highest: float, steps: int) -> Callable[[int], float]:
    """Return the learning rate of each step: a short rise, then a straight fall to 0."""
    rise = max(1, steps // 20)
    return lambda step: highest * min(step / rise, (steps - step + 1) / (steps - rise + 1))
