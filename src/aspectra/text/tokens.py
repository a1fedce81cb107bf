"""Segments → lemmas (paper: preprocessing), without punctuation and stop words; numbers stay.

Occurrences are handled by polars and numpy; Python sees each distinct word form (a *type*) once. A
contraction counts as its longest part, and an English negated auxiliary ("don't") as a stop word.
Negation is dropped, as in the paper: it changes what is said about an aspect, not the aspect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl

from aspectra.errors import ConfigError

TOKEN = r"\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'\p{L}+)*"
"""A number with its decimals, or a word with its apostrophes."""

# Words of scikit-learn's stop list that carry meaning in reviews.
KEPT = frozenset((
    "amount", "back", "bill", "bottom", "call", "computer", "describe", "detail", "empty", "fill",
    "fire", "front", "full", "interest", "move", "name", "part", "show", "side", "system", "thick",
    "thin", "top",
))  # fmt: skip
# Function words that the list lacks, and contractions typed without their apostrophe.
DROPPED = frozenset((
    "did", "does", "doing", "don", "dont", "didnt", "doesnt", "isnt", "wasnt", "wont", "wouldnt", "im",
    "ive", "id", "ill", "ll", "ve", "youre", "thats", "theres", "having", "just", "really", "got",
    "going", "gone", "went",
))  # fmt: skip
# Where the lemmatiser's dictionary picks a rare reading.
EXCEPTIONS = {
    "gone": "go",
    "lenses": "lens",
    "lens": "lens",
    "glasses": "glasses",
    "better": "better",
    "best": "best",
    "worse": "worse",
    "worst": "worst",
}


@dataclass(frozen=True)
class Tokens:
    """The tokens of N texts: `codes` are positions in `types`, `lengths` the number of tokens per text."""

    types: list[str]
    codes: np.ndarray  # int32, one per occurrence
    lengths: np.ndarray  # int32, N


def extract(texts: pl.Series) -> Tokens:
    """Cut texts into lower-case tokens; a null text has none."""
    lists = (
        texts.fill_null("").str.to_lowercase().str.replace_all("’", "'", literal=True).str.extract_all(TOKEN)
    )
    lengths = lists.list.len().to_numpy().astype(np.int32)
    flat = lists.filter(lists.list.len() > 0).explode()
    types = flat.unique(maintain_order=True)
    codes = flat.replace_strict(
        types, pl.Series(np.arange(len(types), dtype=np.int32)), return_dtype=pl.Int32
    )
    return Tokens(types.to_list(), codes.to_numpy().astype(np.int32, copy=False), lengths)


@lru_cache
def stop_words(language: str) -> frozenset[str]:
    if language == "en":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset((ENGLISH_STOP_WORDS - KEPT) | DROPPED)
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(language)) if stopwordsiso.has_lang(language) else frozenset()


def check_language(language: str) -> None:
    """Raise ConfigError unless the lemmatiser knows the language."""
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    if language not in SUPPORTED_LANGUAGES:
        raise ConfigError(
            f"language must be one of {', '.join(sorted(SUPPORTED_LANGUAGES))}, got {language!r}."
        )


def lemmas(types: Iterable[str], language: str) -> list[str | None]:
    """Return the lemma of each word form; None for a stop word or a lone letter."""
    stops = stop_words(language)
    return [lemma(word, language, stops) for word in types]


def lemma(word: str, language: str, stops: frozenset[str]) -> str | None:
    """Return the lemma of one lower-case word form, or None."""
    import simplemma

    if language == "en" and word.endswith("n't"):
        return None
    if "'" in word:
        word = max(word.split("'"), key=len)
    if word in stops or (len(word) == 1 and word.isascii() and word.isalpha()):
        return None
    if language == "en":
        if word in EXCEPTIONS:
            found = EXCEPTIONS[word]
        elif word[0].isdigit():
            found = word
        else:
            found = simplemma.lemmatize(word, lang="en").lower()
            if found == word and plural(word) and not simplemma.is_known(word, lang="en"):
                found = word[:-1]
    else:
        found = word if word[0].isdigit() else simplemma.lemmatize(word, lang=language).lower()
    return None if found in stops else found


def plural(word: str) -> bool:
    """Tell whether an English word that the dictionary lacks ("dvds") looks like a plural."""
    return len(word) > 2 and word[-1] == "s" and word[-2] not in "aeiousy'"


def known(types: Iterable[str], language: str) -> np.ndarray:
    """Tell for each word form whether it is in the language's dictionary; numbers count as known."""
    import simplemma

    return np.array(
        [word[0].isdigit() or simplemma.is_known(word.split("'")[0], lang=language) for word in types],
        dtype=bool,
    )
