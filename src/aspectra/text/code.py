"""Which segments are pasted code, markup, addresses or lists of model numbers? Told by what they look like.

A segment is cut at spaces. It is code if enough of its pieces look like code: a call such as `a.b(` or
`f("`, braces, operators, names_with_underscores, addresses. camelCase and model numbers count only beside
such pieces, as glued sentences ("Nice designFast") and a named model are ordinary text. So are "[...]",
prices, dimensions and smileys.
"""

from __future__ import annotations

import numpy as np
import polars as pl

SUSPECT = r"[{}<_&|]|=\S|\s=\s|//|www\.|\w\((?:\S+\)|['\")])|[A-Z]\d|\d[A-Z]"
"""A segment without any of these is not looked at more closely."""
TAG = r"</?[A-Za-z!][^<>]{0,300}>"
ATTRIBUTES = r"<[A-Za-z]\w*\s+[\w-]+\s*=[^<>]{0,300}>"
RULER = r"[_=*~|-]{3,}|\[\.\.\.\]|<[-<]+|[->]+>"
"""Lines drawn with signs, arrows, and what a shop cut out."""
URL = r"(?:https?:)?//[A-Za-z]|\bwww\.\w"
STRONG = (
    r"\w*[a-z0-9](?:_\w+)+|^[{}]+[;,)]*$|[)\]:;=,'\"$][{}]|[{}][;,\"'()\[\]{}]"  # names_like_this, braces
    r"|\w\.\w+\((?:\w+[.(]|['\"){\[])|\w\((?:\)|[{\[]|['\"][^'\"\s]+['\"])|\w\);|[a-z][A-Z]\w*[(\[=]"  # calls
    r"|[a-z][A-Z]\w*\.\w|\w\.\w+[A-Z]\w*[.(]|\w=['\"{\[]|[?&]\w+=\w|['\"]:\s?['\"{\[\d]|\w;\w+[=:(]"
    r"|^(?:[!=+-]==?|==|&&|\|\||=>|//|/\*|\*/|-->)$|" + URL  # operators
)
BESIDE = r"[a-z][A-Z]|^['\"]\w+['\"][,;)]*$|\w;$|^=$|[{}]"
"""camelCase, a quoted name, a semicolon at the end, a lone sign: these count only beside stronger signs."""
MODEL = (
    r"^[(]?[A-Z0-9/-]*(?:[A-Z][A-Z0-9/-]*\d[A-Z0-9/-]*[\dA-Z]|\d[A-Z0-9/-]*[A-Z][A-Z0-9/-]*[A-Z0-9])"
    r"[A-Z0-9/-]*[,;.)]*$"
)
SHARE = 0.4
"""A segment is code if this share of its pieces looks like it."""
SURE_SHARE = 0.6
"""The same if only one piece is a strong sign, and for model numbers."""
MODELS = 3
"""A list of model numbers has at least so many."""
MODEL_LENGTH = 6
WITHOUT_SPACES = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""Letters of languages that are written without spaces between words."""
REPEATED = 3
"""Text with a single sign of code is code if so many reviews have it."""


def is_code(texts: pl.Series) -> pl.Series:
    """Tell which segments are pasted code, markup, addresses or lists of model numbers."""
    return pl.Series(code_signs(texts) == 2)


def count_foreign(junk: pl.Series) -> int:
    """Count the segments of another language among those that are left out; the others are code."""
    return int((code_signs(junk) == 0).sum())


def language_hint(segments: pl.DataFrame, language: str) -> str:
    """Say what to do if most segments (columns text and junk) are in another language; else ""."""
    most, hints = len(segments) / 2, []
    foreign = count_foreign(segments.filter("junk")["text"])
    if foreign > most:
        hints.append(
            f"{foreign:,} of the {len(segments):,} segments are left out because they are in another "
            f"language than {language!r}. If it is that of the reviews, name it with --language."
        )
    if int(segments["text"].str.contains(WITHOUT_SPACES).sum()) > most:
        hints.append("Text of a language without spaces between words must be cut into words first.")
    return " ".join(hints)


def code_signs(texts: pl.Series) -> np.ndarray:
    """Return 0 for ordinary text, 1 for text that is code if many reviews have it, 2 for code."""
    found = np.zeros(len(texts), np.int8)
    rows = np.flatnonzero(texts.str.contains(SUSPECT).fill_null(False).to_numpy())
    if len(rows):
        found[rows] = look(texts.gather(rows))
    return found


def look(texts: pl.Series) -> np.ndarray:
    """Judge segments by their pieces."""
    tags, with_attributes = (texts.str.count_matches(sign).to_numpy() for sign in (TAG, ATTRIBUTES))
    lists = texts.str.replace_all(TAG, " ").str.replace_all(RULER, " ").str.extract_all(r"\S+")
    lengths = lists.list.len().to_numpy()
    pieces = lists.filter(lists.list.len() > 0).explode()
    row = np.repeat(np.arange(len(texts)), lengths)

    def count(found: pl.Series) -> np.ndarray:
        return np.bincount(row, found.to_numpy().astype(np.float64), minlength=len(texts))

    matches = pieces.str.count_matches(STRONG)
    strong = count(matches > 0) + with_attributes
    beside = count((matches == 0) & pieces.str.contains(BESIDE))
    models = count(pieces.str.contains(MODEL) & (pieces.str.len_chars() >= MODEL_LENGTH))
    address = count(pieces.str.contains(URL)) > 0
    whole = np.maximum(lengths + with_attributes, 1)
    share = (strong + beside) / whole
    several = (count(matches) + with_attributes >= 2) | address | ((beside >= 2) & (share >= SURE_SHARE))
    code = several & (strong > 0) & (share >= SHARE)
    markup = (tags >= 2) & (lengths < tags)
    listed = (models >= MODELS) & (models >= SURE_SHARE * whole)
    return np.where(code | markup | listed, 2, (strong > 0) & (share >= SHARE))
