"""Texts → word pieces of an encoder, without torch: labelling with ONNX needs no more than this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aspectra.corpus import Ragged
from aspectra.errors import InputError, NotInstalledError

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Tokenizer


def load_tokenizer(definition: str, longest: int) -> Tokenizer:
    """Build a tokenizer from the text of a tokenizer.json; it gives at most `longest` pieces per text."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise NotInstalledError(
            'An encoder needs tokenizers, which is not installed: pip install "aspectra[student]"'
        ) from None
    try:
        tokenizer = Tokenizer.from_str(definition)
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
    except Exception as error:  # noqa: BLE001  # tokenizers has no error of its own
        raise InputError(f"The tokenizer cannot be used ({error}).") from None
    return tokenizer


def tokenise(tokenizer: Tokenizer, texts: Sequence[str]) -> Ragged:
    """Return each text's pieces, special ones included."""
    encoded = tokenizer.encode_batch_fast(list(texts))
    lengths = np.array([len(item) for item in encoded], dtype=np.int64)
    return Ragged.of(np.array([number for item in encoded for number in item.ids], dtype=np.int32), lengths)


def words_of_pieces(tokenizer: Tokenizer, text: str) -> list[tuple[int, int] | None]:
    """Return for each piece the characters of the word that it belongs to; None for special pieces."""
    encoded: Any = tokenizer.encode(text)
    spans = {word: encoded.word_to_chars(word) for word in set(encoded.word_ids) if word is not None}
    return [None if word is None else spans[word] for word in encoded.word_ids]
