"""New reviews into a run: its topics, map and student stay, its words and segments grow.

A word that is frequent in the new reviews gets a vector in the run's space. By default only words that no
earlier segment has are learnt, so the labels of earlier segments stay the same, digit for digit. What comes
out says what is new, what the topics do not cover, and whether it is time to fit again.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from aspectra import disk, rundir
from aspectra.arguments import check_flag, check_function
from aspectra.config import GENERAL, NOT_REVIEW
from aspectra.corpus import Corpus, Ragged, Vocabulary, prepare
from aspectra.errors import InputError
from aspectra.fitting import Fitted, Reviews, stage_fingerprints, told
from aspectra.progress import Progress, StageProgress, progress_of, quiet
from aspectra.rundir import RunDir, fingerprint
from aspectra.sampling import Reservoir, keys
from aspectra.teacher.encode import encode
from aspectra.text.memory import Texts
from aspectra.text.read import Source, open_source
from aspectra.text.rows import FEWEST_WORDS, Skipped
from aspectra.text.tokens import extract, lemmas
from aspectra.vectors import WordVectors, place_words, save_vectors

SHOWN = 8
GROWN, LEAST = 2.0, 0.01
"""A topic has grown if its share is so many times the earlier one, and at least so large."""
ENOUGH = 500
"""Fewer new segments do not tell whether topics or unknown words grew."""
MANY_UNKNOWN = 1.5
"""Fit again if the share of unknown words is so many times the earlier one,"""
MOVED = 0.2
"""if so much of the segments went from some topics to others,"""
ADDED = 0.5
"""or if what was added since the fit is so large a part of what the fit learnt from."""


@dataclass(frozen=True)
class Grown:
    """A topic that grew and that is unmapped, General or "Not a review"."""

    topic: int
    keywords: tuple[str, ...]
    aspect: str | None
    before: float
    now: float


@dataclass(frozen=True)
class Update:
    """What an update added and found; pairs of shares are before and now, of segments or of words."""

    reviews: int
    segments: int
    left_out: int
    """Reviews that the run has seen before."""
    words: dict[str, int] = field(default_factory=dict)
    """New words that were learnt, and how often the new reviews have them."""
    rare: dict[str, int] = field(default_factory=dict)
    """Words that earlier segments have, too, and that are frequent only now: not learnt unless asked for."""
    risen: tuple[str, ...] = ()
    """Known words that are said more often than before."""
    unknown_words: tuple[float, float] = (0.0, 0.0)
    without_words: tuple[float, float] = (0.0, 0.0)
    outside: tuple[float, float] | None = None
    """Share of the segments whose topic is unmapped; None without a map."""
    grown: tuple[Grown, ...] = ()
    refit: tuple[str, ...] = ()
    """Why it is time to fit again; empty if it is not."""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Unseen:
    """The reviews of a source that the run has not seen: told by their ids if these are known, or by text."""

    source: Reviews
    marks: pl.Series
    ids: pl.Series | None = None
    given: bool = False
    """Whether all of them were given before, in the same files."""
    reviews: int = 0
    left_out: int = 0

    @property
    def share(self) -> float:
        return float(getattr(self.source, "share", 0.0))

    def texts(self) -> Iterator[pl.Series]:
        self.reviews = self.left_out = 0
        for texts, seen in self._judged():
            new = texts.clear() if self.given else texts.filter(~seen)
            self.left_out += len(texts) - len(new)
            self.reviews += len(new)
            if len(new):
                yield new

    def _judged(self) -> Iterator[tuple[pl.Series, pl.Series]]:
        if self.ids is not None and isinstance(self.source, Source):
            for frame in self.source.batches():
                own = frame[str(self.source.id_column)].cast(pl.String)
                yield frame[self.source.text_column], own.is_in(self.ids.implode()).fill_null(False)
            return
        for texts in self.source.texts():
            long = texts.str.count_matches(r"\S+") >= FEWEST_WORDS
            yield texts, (long & marks_of(texts).is_in(self.marks.implode())).fill_null(False)

    def fingerprint(self) -> list[str]:
        return self.source.fingerprint()


def update(run: Path | str, reviews: Any, *, rare_words: bool = False, progress: Progress = quiet) -> Update:
    """Add new reviews to a run, which keeps its topics, map and student; `load(run)` then knows more words.

    - `run`: the run's folder.
    - `reviews`: a list of str, a polars or pandas Series, or a `Source` of files. Those that the run has
      seen are left out: with a known id, if the source has an id column, or else with a known text.
    - `rare_words`: learn also words that earlier segments have, too rarely until now. The labels of those
      segments may then change; otherwise no earlier label does.
    """
    check_flag(rare_words, "rare_words")
    check_function(progress, "progress")
    home = RunDir(run)
    home.check(*rundir.STAGE_FILES)
    with home.writing(), disk.locked(home.path, "distill", wait=0):
        progress("prepare", 0.0)
        fitted = Fitted.load(run)
        source: Reviews = reviews if isinstance(reviews, Reviews) else Texts(reviews)
        mark = stage_fingerprints(source, fitted.config)["prepare"]
        ids, notes = seen_ids(home, source)
        if ids is None and len(fitted.corpus.segments) < fitted.corpus.seen:
            notes += ("The run keeps a sample of its segments: not all reviews that it has seen are known.",)
        given = mark in given_before(home, fitted)
        unseen = Unseen(source, marks_of(whole_reviews(fitted.corpus)), ids, given)
        new = read_new(unseen, fitted, progress_of("prepare", progress))
        found = Update(unseen.reviews, new.seen, unseen.left_out, notes=notes)
        progress("update", 0.0)
        if found.reviews or rare_words:
            grown, found = learn_words(fitted, new, rare_words, found)
        if found.reviews:
            found = compared(grown, fitted.corpus, found, earlier_segments(home))
        if found.reviews or found.words:
            save(home, grown, mark, found, source)
        progress("update", 1.0)
    return found


def read_new(unseen: Unseen, fitted: Fitted, progress: StageProgress) -> Corpus:
    """Prepare the reviews that the run has not seen; the corpus is empty if there are none."""
    texts = told(unseen, progress)
    first = next(texts, None)
    if first is None:
        nothing = Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64))
        return Corpus(fitted.corpus.segments.clear(), nothing, Vocabulary((), (), fitted.config.language))
    return prepare(itertools.chain([first], texts), fitted.config, fitted.config.seed)


def given_before(run: RunDir, fitted: Fitted) -> set[str]:
    """Return the fingerprints of the reviews that the fit and the updates were given."""
    updates = run.manifest().get("updates", [])
    marks = [one[name] for one in updates for name in ("before", "fingerprint")]
    return {fitted.fingerprints["prepare"], *marks}


def files_of(run: RunDir) -> list[str]:
    """Return the files of reviews that the fit and the updates were given, as far as they are known."""
    updates = run.manifest().get("updates", [])
    return [*rundir.inputs_of(run.path), *(file for one in updates for file in one["files"])]


def seen_ids(run: RunDir, source: Reviews) -> tuple[pl.Series | None, tuple[str, ...]]:
    """Return the ids of all reviews of the run, read from its files; None and a note if they cannot be."""
    if not isinstance(source, Source) or source.id_column is None:
        return None, ()
    files = files_of(run)
    try:
        if not files:
            raise InputError("The run does not say which files it was made of.")
        before = replace(open_again(files, source), skipped=Skipped())
        parts = [frame[source.id_column].cast(pl.String) for frame in before.batches()]
    except InputError as error:
        return None, (f"Reviews are compared by their texts: ids of earlier ones cannot be read. {error}",)
    return pl.concat(parts).drop_nulls().unique(), ()


def open_again(files: list[str], source: Source) -> Source:
    """Open earlier files; their text is in the same column as that of new ones, or in a usual one."""
    try:
        return open_source(files, source.text_column, source.id_column, source.encoding)
    except InputError:
        return open_source(files, None, source.id_column, source.encoding)


def whole_reviews(corpus: Corpus) -> pl.Series:
    """Return the texts of a corpus's reviews, without the white space between segments."""
    return corpus.segments.group_by("review", maintain_order=True).agg(pl.col("text").str.join(""))["text"]


def marks_of(texts: pl.Series) -> pl.Series:
    """Return the letters and digits of texts: they do not depend on how reviews are cut."""
    return texts.str.replace_all(r"[^\p{L}\p{N}]+", "")


def earlier_segments(run: RunDir) -> int:
    """Return how many segments earlier updates have added."""
    return sum(one["segments"] for one in run.manifest().get("updates", []))


def learn_words(fitted: Fitted, new: Corpus, rare_words: bool, found: Update) -> tuple[Fitted, Update]:
    """Return the run with the new segments and words, and what is told of the words."""
    old, config = fitted.corpus, fitted.config
    before, now = (count_words(corpus, config.language) for corpus in (old, new))
    fresh = {word: count.total for word, count in now.items() if word not in before}
    rare = {
        word: count.total + now.get(word, NEVER).total
        for word, count in before.items()
        if word not in old.vocabulary.index
    }
    least = config.least_count(sum(old.vocabulary.counts))
    words, rare = (frequent(one, least) for one in (fresh | (rare if rare_words else {}), rare))
    known = Vocabulary(
        (*old.vocabulary.words, *words), (*old.vocabulary.counts, *words.values()), config.language
    )
    added = replace(new, tokens=known.encode(new.segments["text"]), vocabulary=known)
    again = rare_words and bool(rare)
    earlier = replace(old, tokens=known.encode(old.segments["text"]) if again else old.tokens)
    whole, vectors = joined(earlier, added), fitted.vectors
    if words:
        sentences = (whole if again else added).sentences()
        placed = place_words(sentences, vectors.matrix, len(known), config.window)
        vectors = WordVectors(known.words, np.vstack([vectors.matrix, placed]))
    unknown = unknown_share(before, known), unknown_share(now, known)
    found = replace(found, words=words, rare={} if rare_words else rare, unknown_words=unknown)
    trained = replace(fitted.trained, teacher=replace(fitted.teacher, vectors=vectors.matrix))
    return replace(fitted, vocabulary=known, vectors=vectors, trained=trained, segments=whole), found


class WordCount(NamedTuple):
    """How often a word occurs outside junk, and in junk, which is labelled, too."""

    total: int
    in_junk: int


NEVER = WordCount(0, 0)


def count_words(corpus: Corpus, language: str) -> dict[str, WordCount]:
    """Count all words of the segments, known or not."""
    tokens = extract(corpus.segments["text"])
    junk = np.repeat(corpus.segments["junk"].to_numpy(), tokens.lengths)
    counts = [np.bincount(tokens.codes[part], minlength=len(tokens.types)).tolist() for part in (~junk, junk)]
    result: dict[str, WordCount] = {}
    for word, total, in_junk in zip(lemmas(tokens.types, language), *counts, strict=True):
        if word is not None:
            other = result.get(word, NEVER)
            result[word] = WordCount(other.total + total, other.in_junk + in_junk)
    return result


def frequent(counts: Mapping[str, int], least: int) -> dict[str, int]:
    """Return the words that occur `least` times or more, the most frequent first."""
    kept = [(word, count) for word, count in counts.items() if count >= least]
    return dict(sorted(kept, key=lambda pair: (-pair[1], pair[0])))


def unknown_share(counts: Mapping[str, WordCount], known: Vocabulary) -> float:
    """Return the share of unknown words among all that were said."""
    unknown = sum(count.total for word, count in counts.items() if word not in known.index)
    return unknown / max(1, sum(count.total for count in counts.values()))


def joined(old: Corpus, new: Corpus) -> Corpus:
    """Return both corpora as one, the old segments first."""
    last = old.segments.select(pl.col("review", "sentence").max())
    after = [pl.col(name) + pl.lit(last[name][0] + 1, pl.UInt32) for name in last.columns]
    segments = pl.concat([old.segments, new.segments.with_columns(*after)])
    first, second = old.tokens, new.tokens
    offsets = np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]])
    tokens = Ragged(np.concatenate([first.ids, second.ids]), offsets)
    return Corpus(segments, tokens, new.vocabulary, old.seen + new.seen)


def compared(grown: Fitted, old: Corpus, found: Update, earlier: int) -> Update:
    """Add what is new in the segments after the old ones, of which `earlier` updates have added so many."""
    corpus, n_old = grown.corpus, len(old.segments)
    most = grown.config.max_segments or old.seen
    fit_size = min(old.seen - earlier, most)
    both = [corpus.tokens.part(0, n_old), corpus.tokens.part(n_old, len(corpus.tokens))]
    junk = np.split(corpus.segments["junk"].to_numpy(), [n_old])
    empty = [
        int((one.lengths[~left_out] == 0).sum()) / max(1, int((~left_out).sum()))
        for one, left_out in zip(both, junk, strict=True)
    ]
    rows = np.flatnonzero((both[1].lengths > 0) & ~junk[1])
    topics = encode(grown.teacher, both[1].select(rows), grown.config.max_tokens).argmax(1)
    now = np.bincount(topics, minlength=len(grown.shares)) / max(1, len(rows))
    found = replace(
        found,
        risen=risen_words(
            both,
            grown.vocabulary.words,
            set(found.words),
            grown.config.least_count(sum(old.vocabulary.counts)),
        ),
        without_words=(empty[0], empty[1]),
        outside=unmapped_share(grown, now),
        grown=tuple(grown_topics(grown, now)) if len(rows) >= ENOUGH else (),
    )
    moved = float(np.abs(now - grown.shares).sum() / 2) if len(rows) >= ENOUGH else 0.0
    return replace(found, refit=tuple(reasons(found, moved, fit_size, earlier + found.segments)))


def unmapped_share(fitted: Fitted, now: np.ndarray) -> tuple[float, float] | None:
    if fitted.topic_map is None:
        return None
    free = [choice.topic for choice in fitted.topic_map.choices if choice.aspect is None]
    return float(fitted.shares[free].sum()), float(now[free].sum())


def grown_topics(fitted: Fitted, now: np.ndarray) -> Iterator[Grown]:
    """Yield the topics that grew and that no aspect but General has, the largest first; any without a map."""
    choices = fitted.topic_map.choices if fitted.topic_map else ()
    aspect = {choice.topic: choice.aspect for choice in choices}
    for topic in np.argsort(-now, kind="stable").tolist():
        before, free = float(fitted.shares[topic]), aspect.get(topic) in (None, GENERAL, NOT_REVIEW)
        if free and now[topic] >= max(LEAST, GROWN * before):
            words = fitted.topics.items[topic].keywords[:4]
            yield Grown(topic, words, aspect.get(topic), before, float(now[topic]))


def risen_words(
    both: Sequence[Ragged], words: Sequence[str], new: Collection[str], least: int
) -> tuple[str, ...]:
    """Return known words that occur `least` times or more and were rarer before, by p·log(p / p before)."""
    counts = np.stack([np.bincount(one.ids, minlength=len(words)) for one in both]).astype(float)
    before, now = (counts + 0.5) / (counts + 0.5).sum(1, keepdims=True)
    gain = np.where(counts[1] >= least, now * np.log(now / before), 0)
    order = np.argsort(-gain, kind="stable")[: np.count_nonzero(gain > 0)].tolist()
    told = (words[place] for place in order if any(map(str.isalpha, words[place])))
    return tuple(itertools.islice((word for word in told if word not in new), SHOWN))


def reasons(found: Update, moved: float, fitted: int, added: int) -> Iterator[str]:
    """Say why it is time to fit again."""
    before, now = found.unknown_words
    if found.segments >= ENOUGH and now > MANY_UNKNOWN * before:
        yield f"{now:.1%} of the words of the new reviews are unknown, of the earlier ones {before:.1%}."
    if moved > MOVED:
        yield f"{moved:.0%} of the segments went to other topics."
    if added > ADDED * fitted:
        yield f"{added:,} segments were added since the fit, which learnt from {fitted:,}."


def save(run: RunDir, grown: Fitted, mark: str, found: Update, source: Reviews) -> None:
    """Replace segments, words and vectors in the run, all or none; everything else stays as it is."""
    before = grown.fingerprints["prepare"]
    marks = {"prepare": fingerprint(before, "update", mark)}
    marks["vectors"] = fingerprint(marks["prepare"], grown.fingerprints["vectors"], list(found.words))
    about = {
        "before": before,
        "fingerprint": mark,
        "files": [str(path) for path in source.paths] if isinstance(source, Source) else [],
        "reviews": found.reviews, "segments": found.segments, "words": list(found.words),
    }  # fmt: skip
    with disk.replaced_together(run.path, rundir.MANIFEST) as folder:
        new = RunDir(folder)
        cut(grown.corpus, grown.config.max_segments, grown.config.seed).save(new)
        save_vectors(grown.vectors, new)
        rundir.write_json(new / rundir.MANIFEST, run.replaced(folder, marks, about))


def cut(corpus: Corpus, most: int, seed: int) -> Corpus:
    """Return a uniform sample of at most so many segments, in whole sentences; all if `most` is 0."""
    if not most or len(corpus.segments) <= most:
        return corpus
    sample = Reservoir(most)
    key = keys(corpus.segments["sentence"].to_numpy(), seed)
    sample.add(pl.DataFrame({"row": np.arange(len(key)), "key": key}))
    rows = sample.rows()["row"].to_numpy()
    return replace(corpus, segments=corpus.segments[rows], tokens=corpus.tokens.select(rows))
