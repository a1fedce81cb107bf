"""Hidden states of a frozen encoder, computed once and kept: texts in, a row per word piece or a mean out.

They are computed in order of length and written chunk by chunk, so that an interrupted run goes on at the
first chunk that is missing. The folder's name is a fingerprint of the encoder's weights and the texts:
nothing stale is ever read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from aspectra import disk
from aspectra.corpus import Ragged
from aspectra.encoder.pretrained import BATCH, LAYERS, Encoder
from aspectra.errors import RunError
from aspectra.progress import StageProgress
from aspectra.rundir import fingerprint

CHUNK = 2048
STATES_CHUNK = 2000


@dataclass(frozen=True)
class Features:
    """Hidden states of N texts in one flat array: text i has the rows `offsets[i]:offsets[i + 1]`."""

    hidden: np.ndarray  # T×D, float16
    offsets: np.ndarray  # N + 1

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def padded(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return hidden states (B×L×D, float32) and mask (B×L) of some texts."""
        places, mask = Ragged(np.arange(len(self.hidden), dtype=np.int32), self.offsets).padded(rows, 10**9)
        return torch.from_numpy(self.hidden[places].astype(np.float32)), torch.from_numpy(
            mask.astype(np.float32)
        )

    def select(self, rows: np.ndarray) -> Features:
        """Return some texts, in the order given."""
        places = Ragged(np.arange(len(self.hidden), dtype=np.int32), self.offsets).select(rows)
        return Features(self.hidden[places.ids], places.offsets)


def compute_features(
    encoder: Encoder, texts: Sequence[str], folder: Path, progress: StageProgress
) -> Features:
    """Encode texts, or read what an earlier call for the same encoder and texts has left in the folder."""
    pieces = encoder.tokenise(texts)
    order = np.argsort(pieces.lengths, kind="stable")
    home = folder / cache_name(encoder, texts)
    hidden = np.empty((len(pieces.ids), encoder.width), dtype=np.float16)
    for number, start in enumerate(range(0, len(order), CHUNK)):
        rows = order[start : start + CHUNK]
        path = home / f"{number:04}.npy"
        places = piece_places(pieces, rows)
        chunk = read_chunk(path, (len(places), encoder.width))
        if chunk is None:
            chunk = encode_chunk(encoder, pieces, rows)
            keep_chunk(path, chunk)
        hidden[places] = chunk
        progress(min(1.0, (start + CHUNK) / len(order)))
    return Features(hidden, pieces.offsets)


def compute_states(
    encoder: Encoder, texts: Sequence[str], folder: Path, progress: StageProgress
) -> np.ndarray:
    """Return the mean states of each text, N×2×D float32.

    The folder keeps them, STATES_CHUNK texts per file: a longer list that starts with the same texts reuses
    these files.
    """
    result = np.empty((len(texts), LAYERS, encoder.width), dtype=np.float32)
    for start in range(0, len(texts), STATES_CHUNK):
        part = texts[start : start + STATES_CHUNK]
        path = folder / f"{cache_name(encoder, part)}.states.npy"
        states = read_chunk(path, (len(part), LAYERS, encoder.width))
        if states is None:
            states = encoder.states(part, part_of(progress, start / len(texts), len(part) / len(texts)))
            keep_chunk(path, states)
        result[start : start + len(part)] = states
        progress((start + len(part)) / len(texts))
    return result


def part_of(progress: StageProgress, start: float, share: float) -> StageProgress:
    """Return the progress of a part of the work."""
    return lambda done: progress(start + share * done)


def encode_chunk(encoder: Encoder, pieces: Ragged, rows: np.ndarray) -> np.ndarray:
    """Return the hidden states of some texts, T×D float16, one text after the other."""
    parts = []
    try:
        with torch.inference_mode():
            for start in range(0, len(rows), BATCH):
                ids, mask = encoder.padded(pieces, rows[start : start + BATCH])
                parts.append(
                    encoder.hidden(ids, mask).half().cpu().numpy()[mask.numpy() > 0]
                )  # half first: less to pick from
    except (MemoryError, torch.OutOfMemoryError):
        raise RunError(f"Out of memory with {BATCH} segments at once. Choose a smaller --encoder.") from None
    return encoder.checked(np.concatenate(parts))


def piece_places(pieces: Ragged, rows: np.ndarray) -> np.ndarray:
    """Return where the pieces of some rows stand in the flat array."""
    return Ragged(np.arange(len(pieces.ids), dtype=np.int32), pieces.offsets).select(rows).ids


def read_chunk(path: Path, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return what was kept; None if it is not there or cannot be used, so that it is made again."""
    try:
        chunk = np.load(path)
    except (OSError, ValueError, EOFError, MemoryError):
        return None
    fits = isinstance(chunk, np.ndarray) and chunk.shape == shape and chunk.dtype.kind == "f"
    return chunk if fits and np.isfinite(chunk).all() else None


def keep_chunk(path: Path, chunk: np.ndarray) -> None:
    with disk.atomic_path(path) as temporary, temporary.open("wb") as file:
        np.save(file, chunk)


def cache_name(encoder: Encoder, texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return fingerprint(encoder.fingerprint, encoder.longest, digest.hexdigest())
