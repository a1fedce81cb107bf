"""The linear student: an encoder's mean states, the mean word vector and √β → linear models → probabilities.

It is what learning from names (aspects/names.py) finds, unfolded to one matrix per model and one of what
topics say, so that torch and ONNX compute the same. The encoder is frozen and may be missing: then words and
topics answer alone.
Shapes: B segments, De the encoder's width, D word vectors, K topics, F = 2·De + D + K features, A aspects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from aspectra import disk, rundir
from aspectra.arrays import TINY
from aspectra.aspects.gaussians import LEAST
from aspectra.aspects.names import Learned
from aspectra.aspects.reader import segment_features
from aspectra.corpus import Ragged
from aspectra.encoder.pretrained import Encoder, load_encoder
from aspectra.errors import RunError, VersionError
from aspectra.fitting import Fitted
from aspectra.student.card import Card, again, check_aspects, read_complete
from aspectra.student.paper.model import Student
from aspectra.teacher.encode import encode
from aspectra.text.memory import as_series
from aspectra.topicmap.topicmap import TopicMap


class LinearHead(nn.Module):
    """Two linear models, is it General and which aspect if not, and what labels add."""

    kept: Tensor  # which columns are answered
    origin: Tensor  # 2×De, only with an encoder
    general: Tensor  # F×A
    general_bias: Tensor
    specific: Tensor  # F×(A − 1)
    specific_bias: Tensor
    usual_words: Tensor  # D: the words of a segment whose words are unknown; older students have none
    usual_beta: Tensor  # K: its topics
    topics_say: Tensor  # K×A; students of older versions have none
    topics_power: Tensor
    answerable: Tensor  # A, 0 or 1; only if General is not answered
    correction: Tensor  # F×A, only with labels
    correction_bias: Tensor
    power: Tensor
    temperature: Tensor  # students of older versions have none
    lead: Tensor  # only with many labels

    def __init__(self, arrays: dict[str, Tensor]) -> None:
        super().__init__()
        for name, array in arrays.items():
            self.register_buffer(name, array)
        self.encoded, self.corrected = "origin" in arrays, "correction" in arrays
        self.calibrated, self.topical = "temperature" in arrays, "topics_say" in arrays
        self.leading, self.limited = "lead" in arrays, "answerable" in arrays
        self.filling = "usual_words" in arrays

    @classmethod
    def of(
        cls, learned: Learned, aspects: Sequence[str], temperature: float = 1.0, lead: float = 1.0
    ) -> LinearHead:
        """Unfold what was learnt; it answers with these aspects, in this order, softened (calibrate.py)."""
        models = {"general": learned.general, "specific": learned.specific}
        place = {aspect: number for number, aspect in enumerate(learned.aspects)}
        arrays = {"kept": np.array([place.get(aspect, len(place)) for aspect in aspects])}
        arrays["temperature"] = np.array(temperature)
        if lead != 1:
            arrays["lead"] = np.array(lead)
        arrays |= {"usual_words": learned.usual.words[0], "usual_beta": learned.usual.beta[0]}
        arrays |= {"topics_say": learned.topics_say, "topics_power": np.array(learned.topics_power)}
        if learned.answerable is not None:
            arrays["answerable"] = learned.answerable.astype(np.float32)
        if learned.space.origin is not None:
            arrays["origin"] = learned.space.origin
        if learned.correction is not None:
            models["correction"] = learned.correction.linear
            arrays["power"] = np.array(learned.correction.power)
        for name, model in models.items():
            flat = learned.space.unfold(model)
            arrays |= {name: flat.weights, f"{name}_bias": flat.bias}
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
        return cls({name: one.float() if one.is_floating_point() else one for name, one in tensors.items()})

    def forward(self, words: Tensor, beta: Tensor, encoder: Tensor | None = None) -> Tensor:
        """Return probabilities, B×A, for mean word vectors (B×D), β (B×K) and mean states (B×2×De)."""
        if self.filling:
            known = words.abs().sum(1, keepdim=True) > 0  # B×1
            words, beta = (
                torch.where(known, words, self.usual_words),
                torch.where(known, beta, self.usual_beta),
            )
        flat = torch.cat([words, beta.sqrt()], 1)  # B×(D + K)
        if self.encoded and encoder is not None:
            flat = torch.cat([self.flat_states(encoder), flat], 1)  # B×F
        share = torch.softmax(flat @ self.general + self.general_bias, 1)  # B×A
        aspect = torch.softmax(flat @ self.specific + self.specific_bias, 1)  # B×(A − 1)
        answer = torch.cat([share[:, :-1].sum(1, keepdim=True) * aspect, share[:, -1:]], 1)  # B×A
        if self.topical:
            answer = answer * (beta @ self.topics_say).clamp(min=TINY) ** self.topics_power
            answer = answer / answer.sum(1, keepdim=True).clamp(min=1e-30)
        if self.limited:
            answer = answer * self.answerable
            answer = answer / answer.sum(1, keepdim=True).clamp(min=1e-30)
        if self.corrected:
            known = self.power * answer.clamp(min=LEAST).log()
            answer = torch.softmax(known + flat @ self.correction + self.correction_bias, 1)
        kept = pad(answer, (0, 1)).index_select(1, self.kept)  # an aspect that was not learnt has 0
        if self.calibrated:
            kept = kept ** (1 / self.temperature)
        if self.leading:
            best = kept.argmax(1, keepdim=True) == torch.arange(kept.shape[1], device=kept.device)
            kept = torch.where(best, self.lead * kept, kept)
        return kept / kept.sum(1, keepdim=True).clamp(min=1e-30)

    def flat_states(self, encoder: Tensor) -> Tensor:
        """Return what the models see of mean states (B×2×De), as gaussians.flat_states does."""
        parts = normalize(normalize(encoder, dim=-1) - self.origin, dim=-1)  # B×2×De
        return parts.flatten(1) / math.sqrt(len(self.origin))


@dataclass
class LinearStudent:
    """A linear head with the encoder and the fitted run that its features come from."""

    fitted: Fitted
    encoder: Encoder | None
    head: LinearHead
    card: Card

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the student's own probabilities, N×A."""
        words = self.fitted.vocabulary.encode(as_series(texts))
        return self.answer(texts, words, encode(self.fitted.teacher, words, self.fitted.config.max_tokens))

    def answer(self, texts: Sequence[str], words: Ragged, beta: np.ndarray) -> np.ndarray:
        """Return N×A for segments whose known words and β (NaN without known words) are there already."""
        encoded = self.encoder.states(texts) if self.encoder else None
        longest = self.fitted.config.max_tokens
        seen = segment_features(words, self.fitted.vectors.matrix, beta, encoded, longest)
        inputs = [seen.words, seen.beta, *([] if seen.encoder is None else [seen.encoder])]
        with torch.inference_mode():
            return np.asarray(self.head(*(torch.from_numpy(one) for one in inputs)).numpy())

    def to(self, device: str) -> None:
        """Move the encoder, which does nearly all of the work, to a device."""
        if self.encoder:
            self.encoder.model.to(device)

    def save_pretrained(self, folder: Path | str, topic_map: TopicMap) -> None:
        """Write head, config and model card; config.json last makes it valid."""
        home = Path(folder)
        weights = {name: one.contiguous() for name, one in self.head.state_dict().items()}
        disk.write_atomic(home / rundir.HEAD, to_bytes(weights))
        self.card.save(home, topic_map)


def load_linear(folder: Path, card: Card, fitted: Fitted) -> LinearStudent:
    """Read what save_pretrained has written, for the run that it was made of."""
    encoder = None
    if card.encoder_fingerprint:
        encoder = load_encoder(card.config.encoder, card.config.longest)
        if encoder.fingerprint != card.encoder_fingerprint:
            name = encoder.name
            raise RunError(
                f"The encoder {name!r} has other weights than the student was made with. {again(folder)}"
            )
    try:
        head = LinearHead(load_file(folder / rundir.HEAD))
        if head.encoded and head.origin.ndim != 2:
            raise VersionError(
                f"{folder / rundir.HEAD} reads one layer of the encoder; this version reads two. "
                f"{again(folder)}"
            )
        student = LinearStudent(fitted, encoder, head, card)
        student.probabilities(["."])
    except (SafetensorError, RuntimeError, AttributeError) as error:
        raise RunError(f"{folder / rundir.HEAD} does not fit this run ({error}). {again(folder)}") from None
    return student


def read_student(folder: Path | str, fitted: Fitted) -> Student | LinearStudent:
    """Read a run's student, whatever its head; refuse it if its parts do not belong together."""
    home = Path(folder)

    def read() -> Student | LinearStudent:
        card = Card.load(home)
        if card.config.head != "linear":
            return Student.from_pretrained(home)
        check_aspects(home.parent, card)
        return load_linear(home, card, fitted)

    return read_complete(home, read)
