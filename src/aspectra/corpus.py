"""Reviews → segments with the ids of their words, and the vocabulary (paper: preprocessing).

In: batches of review texts. Out: a `Corpus`: one row per segment, its known words as ids, and whether it
is junk (pasted code, another language). Junk is not counted and not trained on. All work per token is
numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
import polars as pl

from aspectra import disk, rundir
from aspectra.config import PrepareConfig
from aspectra.errors import ConfigError, InputError
from aspectra.sampling import Reservoir, keys
from aspectra.text.code import REPEATED, code_signs
from aspectra.text.segment import split_reviews
from aspectra.text.tokens import Tokens, check_language, extract, known, lemmas, remembered
from aspectra.text.write import write_frames

KNOWN_SHARE = 0.6
"""A review of FEW words or more is in another language if its share of dictionary words is smaller."""
FEW = 5
PARTS = 2
"""A batch is split and tokenised in so many parts at the same time."""
AT_ONCE = 8192
"""Vectors of so many words stay in the processor's cache."""


@dataclass(frozen=True)
class Ragged:
    """N lists of ids in one flat array: row i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: np.ndarray  # int32
    offsets: np.ndarray  # int64, N + 1

    @classmethod
    def of(cls, ids: np.ndarray, lengths: np.ndarray) -> Self:
        return cls(ids.astype(np.int32), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def padded(self, rows: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ids and mask of some rows, B×L each, L at most `longest`; padding has id 0."""
        lengths = np.minimum(self.offsets[rows + 1] - self.offsets[rows], longest)
        places = np.arange(max(1, lengths.max(initial=0)))
        mask = places < lengths[:, None]
        if not len(self.ids):
            return mask.astype(np.int32), mask
        return self.ids[np.where(mask, self.offsets[rows][:, None] + places, 0)] * mask, mask

    def select(self, rows: np.ndarray, longest: int | None = None) -> Ragged:
        """Return some rows, in this order, each cut to at most `longest` ids."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        if longest is not None:
            lengths = np.minimum(lengths, longest)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Ragged(self.ids[np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])], offsets)

    def part(self, start: int, stop: int) -> Ragged:
        """Return the rows from `start` on and before `stop`."""
        offsets = self.offsets[start : stop + 1]
        return Ragged(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def same_length(self, longest: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield some rows with the same number of ids, and these, N×L; rows without ids are left out.

        At most `longest` ids of a row are taken, and about AT_ONCE of all rows at a time.
        """
        lengths = np.minimum(self.lengths, longest)
        order = np.argsort(lengths, kind="stable")
        for length in np.unique(lengths[lengths > 0]).tolist():
            start, end = np.searchsorted(lengths[order], [length, length + 1])
            size = max(1, AT_ONCE // length)
            for first in range(start, end, size):
                rows = order[first : min(end, first + size)]
                yield rows, self.ids[self.offsets[rows][:, None] + np.arange(length)]

    def merged(self, groups: np.ndarray) -> Ragged:
        """Join neighbouring rows with the same group number."""
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        return Ragged(self.ids, np.append(self.offsets[starts], self.offsets[-1]))


@dataclass(frozen=True)
class Vocabulary:
    """The known words, most frequent first."""

    words: tuple[str, ...]
    counts: tuple[int, ...]
    language: str
    index: dict[str, int] = field(init=False, repr=False, compare=False)
    _seen: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {word: position for position, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, texts: pl.Series) -> Ragged:
        """Turn texts into the ids of their known words."""
        return self.read(extract(texts))

    def read(self, tokens: Tokens) -> Ragged:
        """Return the ids of the known words of texts that are cut into tokens already."""
        return known_ids(tokens, np.array(self._ids(tokens.types), dtype=np.int32))

    def _ids(self, types: list[str]) -> list[int]:
        seen = remembered(self._seen, types)
        object.__setattr__(self, "_seen", seen)
        fresh = [word for word in types if word not in seen]
        for word, lemma in zip(fresh, lemmas(fresh, self.language), strict=True):
            seen[word] = -1 if lemma is None else self.index.get(lemma, -1)
        return [seen[word] for word in types]


def known_ids(tokens: Tokens, id_of_type: np.ndarray) -> Ragged:
    """Replace the codes of word forms by vocabulary ids and leave out unknown words (id -1)."""
    ids = id_of_type[tokens.codes] if len(tokens.codes) else np.zeros(0, np.int32)
    keep = ids >= 0
    rows = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    return Ragged.of(ids[keep], np.bincount(rows[keep], minlength=len(tokens.lengths)))


@dataclass(frozen=True)
class Corpus:
    """The segments of the reviews: `segments` has review, sentence, text and junk, `tokens` the word ids."""

    segments: pl.DataFrame
    tokens: Ragged
    vocabulary: Vocabulary
    seen: int = 0
    """Number of segments in the input; the corpus has all of them or a sample."""

    def sentences(self) -> Ragged:
        """Return whole sentences without junk; word vectors need them, as clauses are too short."""
        whole = self.tokens.merged(self.segments["sentence"].to_numpy())
        junk = (
            self.segments.group_by("sentence", maintain_order=True)
            .agg(pl.col("junk").any())["junk"]
            .to_numpy()
        )
        return whole.select(np.flatnonzero(~junk))

    def trainable(self, min_tokens: int) -> np.ndarray:
        """Return the rows to train on: not junk, and with enough known words."""
        return np.flatnonzero((self.tokens.lengths >= min_tokens) & ~self.segments["junk"].to_numpy())

    def save(self, run: rundir.RunDir) -> None:
        write_frames([self.segments], run / rundir.SEGMENTS)
        with disk.atomic_path(run / rundir.TOKENS) as path, path.open("wb") as file:
            np.savez(file, ids=self.tokens.ids, offsets=self.tokens.offsets)
        words = {
            "language": self.vocabulary.language,
            "words": self.vocabulary.words,
            "counts": self.vocabulary.counts,
        }
        rundir.write_json(run / rundir.VOCABULARY, {**words, "segments_seen": self.seen})

    @classmethod
    def load(cls, run: rundir.RunDir) -> Self:
        vocabulary = load_vocabulary(run / rundir.VOCABULARY)
        tokens = load_tokens(run / rundir.TOKENS, len(vocabulary))
        try:
            segments = pl.read_parquet(run / rundir.SEGMENTS, glob=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise rundir.damaged(run / rundir.SEGMENTS, error) from None
        if dict(segments.schema) != SEGMENT_COLUMNS or len(segments) != len(tokens):
            raise rundir.damaged(run / rundir.SEGMENTS, f"{len(segments)} rows of {segments.columns}")
        seen = rundir.read_json(run / rundir.VOCABULARY).get("segments_seen", len(tokens))
        if type(seen) is not int:
            raise rundir.damaged(run / rundir.VOCABULARY, f"segments_seen is {seen!r}")
        return cls(segments, tokens, vocabulary, seen)


SEGMENT_COLUMNS = {"review": pl.UInt32, "sentence": pl.UInt32, "text": pl.String, "junk": pl.Boolean}


def load_tokens(path: Path, n_words: int) -> Ragged:
    """Read the word ids of all segments, and check that each is one of a known word."""
    try:
        with np.load(path) as arrays:
            ids, offsets = arrays["ids"], arrays["offsets"]
    except (OSError, ValueError, LookupError, EOFError, MemoryError, TypeError, BadZipFile) as error:
        raise rundir.damaged(path, error) from None
    if not all(array.ndim == 1 and array.dtype.kind in "iu" for array in (ids, offsets)):
        raise rundir.damaged(path, "ids and offsets must be lists of whole numbers")
    if not len(offsets) or offsets[0] or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
        raise rundir.damaged(path, "its offsets do not rise from 0 to the number of ids")
    if len(ids) and not 0 <= ids.min() <= ids.max() < n_words:
        raise rundir.damaged(path, f"its ids are not all from 0 to {n_words - 1}")
    return Ragged(ids, offsets)


def load_vocabulary(path: Path) -> Vocabulary:
    saved = rundir.read_json(path)
    if len(saved["words"]) != len(saved["counts"]) or len(set(saved["words"])) != len(saved["words"]):
        raise rundir.damaged(path, "a word is there twice, or words and counts differ in number")
    try:
        check_language(saved["language"])
    except ConfigError as error:
        raise rundir.damaged(path, error) from None
    return Vocabulary(tuple(saved["words"]), tuple(saved["counts"]), saved["language"])


class TypeTable:
    """Word forms seen so far, numbered in order of appearance."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def renumber(self, tokens: Tokens) -> np.ndarray:
        """Return the tokens' codes as numbers of this table."""
        mine = np.array(
            [self.number.setdefault(word, len(self.number)) for word in tokens.types], dtype=np.int32
        )
        return mine[tokens.codes] if len(tokens.codes) else tokens.codes


def prepare(batches: Iterable[pl.Series], config: PrepareConfig, seed: int = 0) -> Corpus:
    """Split, tokenise and index reviews, batch by batch; keep at most `config.max_segments` segments."""
    sample, table = Reservoir(config.max_segments), TypeTable()
    reviews = sentences = segments = 0
    with ThreadPoolExecutor(PARTS) as pool:
        for texts in batches:
            frames = [
                frame.with_columns(key=keys(frame["sentence"].to_numpy(), seed))
                for frame in split_parts(texts, config, pool, reviews, sentences)
            ]
            read = pool.map(partial(tokenised, config=config, largest_key=sample.largest_key), frames)
            sample.add(pl.concat(with_codes(rows, table.renumber(tokens), tokens) for rows, tokens in read))
            reviews += len(texts)
            sentences += sum(frame["sentence"].n_unique() for frame in frames)
            segments += sum(map(len, frames))
    if not segments:
        raise InputError("There is no text in the input: 0 segments. Check the file and its text column.")
    rows = sample.rows()
    codes = rows["codes"].explode().drop_nulls().to_numpy()
    tokens = Tokens(list(table.number), codes, rows["codes"].list.len().to_numpy().astype(np.int32))
    return index_segments(repeated_code(rows.drop("codes", "key")), tokens, config, segments)


def split_parts(
    texts: pl.Series, config: PrepareConfig, pool: ThreadPoolExecutor, reviews: int, sentences: int
) -> Iterator[pl.DataFrame]:
    """Split a batch in PARTS at the same time; reviews and sentences are numbered from these numbers on."""
    cuts = [len(texts) * part // PARTS for part in range(PARTS + 1)]
    pieces = (texts[start:end] for start, end in pairwise(cuts))
    split = partial(split_reviews, segment=config.segment, language=config.language)
    for start, frame in zip(cuts, pool.map(split, pieces), strict=False):
        yield frame.with_columns(
            pl.col("review").cast(pl.Int64) + reviews + start, pl.col("sentence").cast(pl.Int64) + sentences
        )
        sentences += frame["sentence"].n_unique()


def tokenised(
    frame: pl.DataFrame, config: PrepareConfig, largest_key: np.uint64
) -> tuple[pl.DataFrame, Tokens]:
    """Return the segments whose key is not larger, whether they are junk, and their words.

    Junk depends on the whole review, so reviews with such a segment are tokenised completely.
    """
    wanted = frame["key"].to_numpy() <= largest_key
    if not wanted.all():
        frame = frame.with_columns(wanted=wanted).filter(pl.col("wanted").any().over("review"))
        wanted = frame["wanted"].to_numpy()
    tokens = extract(frame["text"])
    signs = code_signs(frame["text"])
    junk = (signs == 2) | foreign(frame["review"].to_numpy(), tokens, config.language)
    wary = not config.keep_junk
    frame = frame.with_columns(junk=junk & wary, doubtful=(signs == 1) & wary).filter(wanted)
    return frame, tokens if wanted.all() else extract(frame["text"])


def with_codes(frame: pl.DataFrame, codes: np.ndarray, tokens: Tokens) -> pl.DataFrame:
    """Return what is kept of segments, with the codes of their words as a list."""
    import pyarrow as arrow

    ends = np.concatenate([[0], np.cumsum(tokens.lengths, dtype=np.int64)])
    lists = arrow.LargeListArray.from_arrays(ends, codes)
    return frame.select(
        *("review", "sentence", "text", "junk", "doubtful", "key"),
        pl.Series("codes", lists, dtype=pl.List(pl.Int32)),
    )


def index_segments(segments: pl.DataFrame, tokens: Tokens, config: PrepareConfig, seen: int) -> Corpus:
    """Count lemmas, choose the vocabulary and index the segments; a sample's reviews are numbered anew."""
    vocabulary, id_of_type = build_vocabulary(tokens, ~segments["junk"].to_numpy(), config)
    numbers = [
        pl.col(name) if len(segments) == seen else pl.col(name).rle_id() for name in ("review", "sentence")
    ]
    segments = segments.select(*(number.cast(pl.UInt32) for number in numbers), "text", "junk")
    return Corpus(segments, known_ids(tokens, id_of_type), vocabulary, seen)


def build_vocabulary(
    tokens: Tokens, counted: np.ndarray, config: PrepareConfig
) -> tuple[Vocabulary, np.ndarray]:
    """Count lemmas over some segments; return the frequent ones and each word form's id, -1 if unknown."""
    of_type = pl.Series("lemma", lemmas(tokens.types, config.language), dtype=pl.String)
    occurrences = np.bincount(tokens.codes[np.repeat(counted, tokens.lengths)], minlength=len(tokens.types))
    counts = pl.DataFrame({"lemma": of_type, "count": occurrences}).drop_nulls()
    least = config.least_count(int(counts["count"].sum()))
    frequent = (
        counts.group_by("lemma")
        .agg(pl.col("count").sum())
        .filter(pl.col("count") >= least)
        .sort("count", "lemma", descending=[True, False])
    )
    vocabulary = Vocabulary(tuple(frequent["lemma"]), tuple(frequent["count"]), config.language)
    return vocabulary, np.array(
        [vocabulary.index.get(word, -1) if word else -1 for word in of_type], dtype=np.int32
    )


def repeated_code(rows: pl.DataFrame) -> pl.DataFrame:
    """Make junk what has a sign of code and stands in REPEATED reviews or more, word for word."""
    doubtful = rows.filter("doubtful").select("text", "review").group_by("text").n_unique()
    pasted = doubtful.filter(pl.col("review") >= REPEATED)["text"]
    return rows.with_columns(junk=pl.col("junk") | pl.col("text").is_in(pasted.implode())).drop("doubtful")


def foreign(reviews: np.ndarray, tokens: Tokens, language: str) -> np.ndarray:
    """Tell which segments belong to a review that is mostly in another language; reviews are in order."""
    reviews = reviews - reviews[:1]
    review_of_token = np.repeat(reviews, tokens.lengths)
    total = np.bincount(review_of_token, minlength=int(reviews.max(initial=0)) + 1)
    in_dictionary = known(tokens.types, language)[tokens.codes] if len(tokens.codes) else np.zeros(0, bool)
    hits = np.bincount(review_of_token[in_dictionary], minlength=len(total))
    return np.asarray(((total >= FEW) & (hits < KNOWN_SHARE * total))[reviews])
