"""Segments that aspects are learnt from, as the learner sees them, and which aspects they speak of.

A corpus and an encoder, if there is one, in; a `NamesSample` out, which both suggestions and student use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from aspectra.arrays import TINY, unit
from aspectra.aspects.aspects import Aspect
from aspectra.aspects.first_opinion import AspectEvidence, GeneralEvidence
from aspectra.aspects.gaussians import Features
from aspectra.aspects.library import PARTS, known_names, plain
from aspectra.aspects.notes import (
    meant,
    notes_on_catch_all,
    notes_on_rare,
    notes_on_silence,
    notes_on_unknown,
)
from aspectra.aspects.reader import Reader, ReadOnce
from aspectra.aspects.sentences import name_texts, neutral_texts
from aspectra.config import BUNDLED, GENERAL, StudentConfig
from aspectra.corpus import Corpus, Ragged
from aspectra.errors import NotInstalledError
from aspectra.text.tokens import extract, lemmas, stop_words

if TYPE_CHECKING:
    from aspectra.encoder.pretrained import Encoder

WORDS_ONLY = "none"
SAMPLE = 10_000
"""Segments to learn from; more do not help."""
FEW_SEGMENTS = 1_000
"""Of fewer segments with enough known words to train a teacher, all are learnt from."""
RARE, COMMON = 0.01, 0.2
"""A word given for an aspect counts fully if at most the first share of the segments have it, and not at all
if the second share have it: "good", "place"."""
KNOWN = 3.2
"""An encoder knows a word if its pieces of it have at least so many letters on average: "dur abi lity". The
pieces of made-up words, and often of another language, are shorter: "x q z", "lau ts tar ke"."""
CATCH_ALL = {"anything else", "misc", "miscellaneous", "none", "other", "others", "overall", "rest"}
"""Names of what speaks of no aspect: General is there for that."""
MENTIONED, NEAREST_SHARE, LEAST_NEAREST = 0.002, 0.003, 3
FREQUENT, FAR, VERY_FAR, NEAR = 60, 0.78, 0.7, 0.43
"""Reviews hardly mention an aspect if fewer than MENTIONED of the segments have one of its words, and the
segments nearest to its name (NEAREST_SHARE of all, at least LEAST_NEAREST) are farther than is usual: their
mean cosine is below FAR times the median of the FREQUENT most frequent words. That median is 0.40 to 0.43 on
seven dev sets, whose aspects have 0.34 or more; aspects of other products, which would take 1 to 4 % of the
segments each, mostly have 0.2 to 0.32. Below VERY_FAR times the median, words of the library say nothing:
reviews use them in another sense ("terms", "typing"). A segment is near to an aspect if its cosine with the
name is above NEAR times the median."""


@dataclass(frozen=True)
class NamesSample:
    """Segments as the learner sees them, and what reads them.

    `pieces` tells into how many pieces the encoder cuts a word: 1 if it knows it whole, 0 without an encoder.
    """

    reader: Reader
    texts: Sequence[str]
    features: Features
    pieces: Callable[[str], int] = lambda word: 0

    def knows(self, word: str) -> bool:
        """Tell whether the encoder knows a word, whole or in long pieces."""
        return is_known(word, self.pieces(word))

    @cached_property
    def once(self) -> Reader:
        """The reader, which encodes each text once."""
        embed = self.reader.embed
        return replace(self.reader, embed=ReadOnce(embed) if embed else None)

    def general(self, aspects: Sequence[Aspect]) -> GeneralEvidence:
        """Read what is said of General; `aspects` are the others."""
        return self.once.general(self.texts, aspects)

    @cached_property
    def topic(self) -> np.ndarray:
        """The most probable topic of each segment, N."""
        return np.asarray(self.features.beta.argmax(1))

    @cached_property
    def tokens(self) -> Ragged:
        """The known words of each segment."""
        return self.reader.vocabulary.encode(pl.Series(self.texts, dtype=pl.String))

    @cached_property
    def all_words(self) -> tuple[dict[str, int], Ragged]:
        """A number for each word of the segments, also rare and stop words, and each segment's words."""
        numbers: dict[str, int] = {}
        words = self.numbered(self.texts, lambda word: numbers.setdefault(word, len(numbers)))
        return numbers, words

    def numbered(self, texts: Sequence[str], number_of: Callable[[str], int]) -> Ragged:
        """Return the numbers of the words of texts: of their lemmas, of a stop word as it is written."""
        tokens = extract(pl.Series(texts, dtype=pl.String))
        found = zip(tokens.types, lemmas(tokens.types, self.reader.vocabulary.language), strict=True)
        ids = np.array([number_of(lemma or word) for word, lemma in found], np.int32)
        return Ragged.of(ids[tokens.codes], tokens.lengths)

    def evidence(self, aspect: Aspect) -> AspectEvidence:
        """Read what is said of an aspect, which segments have one of its words, and which are near its name.

        The library's words tell which segments mention it. If it has none, those that a person gave do; these
        may be any words ("great").
        """
        known, read = self.reader.known(aspect.name), self.once.aspect(aspect)
        naming = known.words or aspect.words
        near = self.near(aspect.name) if self.features.encoder is not None else None
        by_name = self.having(PARTS.split(aspect.name.lower())) > 0 if near is None else near
        alone = self.evidence(Aspect(aspect.name)) if read.told and known.words else None
        return replace(
            read,
            has_word=self.having([*aspect.words, *known.words]) if naming else None,
            mentioned=self.having(naming) > 0 if naming else by_name,
            near=near,
            by_name=alone,
        )

    def near(self, name: str) -> np.ndarray:
        """Tell which segments are near to a name, as those of an aspect are, by the encoder."""
        return np.asarray(self.cosines([name])[:, 0] > NEAR * self.usual_nearness)

    def having(self, phrases: Sequence[str]) -> np.ndarray:
        """Return 0 for segments without any of these words or phrases, else up to 1: rare ones count more."""
        numbers, words = self.all_words
        result = np.zeros(len(self.texts))
        rows = np.repeat(np.arange(len(words)), words.lengths)
        asked = self.numbered(phrases, lambda word: numbers.get(word, -1))
        for ids in np.split(asked.ids, asked.offsets[1:-1]):
            has = np.zeros(len(result), bool)
            has[rows[starts_of(ids, words.ids, rows)]] = True
            share = max(float(has.mean()), TINY)
            weight = np.log(COMMON / share) / np.log(COMMON / RARE)
            result = np.maximum(result, has * np.clip(weight, 0, 1))
        return result

    @cached_property
    def centred(self) -> np.ndarray:
        """Segments as the encoder sees them, without what all share, unit length, N×De."""
        vectors = unit(np.asarray(self.features.encoder)[:, 0])
        return unit(vectors - vectors.mean(0))

    def cosines(self, names: Sequence[str]) -> np.ndarray:
        """Return how near segments are to names by the encoder, N×n."""
        groups, neutral = [name_texts(name) for name in names], neutral_texts()
        read = self.embedded([*(text for group in groups for text in group), *neutral])
        *means, middle = (part.mean(0) for part in np.split(read, np.cumsum([len(one) for one in groups])))
        return np.asarray(self.centred @ unit(np.stack(means) - middle).T)

    def nearness(self, names: Sequence[str]) -> np.ndarray:
        """Return how near the nearest segments are to each name, on average: cosines."""
        cosines = np.sort(self.cosines(names), axis=0)
        return np.asarray(cosines[-max(LEAST_NEAREST, round(NEAREST_SHARE * len(cosines))) :].mean(0))

    @cached_property
    def usual_nearness(self) -> float:
        """How near the nearest segments are to words that are frequent in them: the median."""
        words = self.reader.vocabulary.words
        order = np.argsort(-np.bincount(self.tokens.ids, minlength=len(words)), kind="stable")[:FREQUENT]
        return float(np.median(self.nearness([words[place] for place in order])))

    def embedded(self, words: Sequence[str]) -> np.ndarray:
        """Return words as the encoder sees them, unit length, n×D; each is encoded once."""
        assert self.once.embed, "only an encoder reads words"
        return unit(self.once.embed(words)[:, 0])


def starts_of(phrase: np.ndarray, words: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return where a phrase begins: its words stand side by side in one row."""
    if not len(phrase):
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(words[: max(len(words) - len(phrase) + 1, 0)] == phrase[0])
    for step, word in enumerate(phrase):
        starts = starts[(words[starts + step] == word) & (rows[starts + step] == rows[starts])]
    return starts


def sample_rows(corpus: Corpus, min_tokens: int, seed: int, n: int = SAMPLE) -> np.ndarray:
    """Return rows to learn from, in random order: of those that the teacher was trained on, the first n.

    If these are few, all segments with a known word are learnt from; if all is junk, that.
    """
    rows = corpus.trainable(min_tokens)
    if len(rows) < FEW_SEGMENTS:
        known = corpus.tokens.lengths > 0
        rows = np.flatnonzero(known & ~corpus.segments["junk"].to_numpy())
        rows = rows if len(rows) else np.flatnonzero(known)
    return np.random.default_rng(seed).permutation(rows)[:n]


def short_rows(corpus: Corpus, min_tokens: int, seed: int, n: int) -> np.ndarray:
    """Return rows of segments too short to learn aspects from, in random order.

    Beside a sample of n there are as many as in all reviews, at most half of n.
    """
    short = (corpus.tokens.lengths < min_tokens) & ~corpus.segments["junk"].to_numpy()
    trained = len(corpus.trainable(min_tokens))
    rows = np.flatnonzero(short)
    most = min(n // 2, int(min(n, trained) * len(rows) / max(trained, 1)))
    return np.random.default_rng(seed).permutation(rows)[:most]


def read_sample(
    reader: Reader, texts: Sequence[str], encoder: Encoder | None, states: np.ndarray | None
) -> NamesSample:
    """Read segments, of which the encoder's states are known; without an encoder, by words alone."""
    if encoder is None:
        return NamesSample(reader, texts, reader.features(texts))
    special = len(encoder.tokenise([""]).ids)
    return NamesSample(
        reader,
        texts,
        reader.features(texts, states),
        lambda word: len(encoder.tokenise([word]).ids) - special,
    )


def is_known(word: str, n_pieces: int) -> bool:
    """Tell whether an encoder that cuts a word into so many pieces knows it; none: there is no encoder."""
    return n_pieces == 1 or 0 < KNOWN * n_pieces <= len(word)


def find_encoder(
    name: str, language: str, longest: int = StudentConfig.longest
) -> tuple[Encoder | None, str]:
    """Load an encoder; if the bundled one is missing or foreign, go on with words alone and say so."""
    if name == WORDS_ONLY:
        return None, ""
    foreign = foreign_encoder(name, language)
    if foreign:
        return None, f"Only words are compared. {foreign}"
    from aspectra.encoder.pretrained import load_encoder

    try:
        return load_encoder(name, longest), ""
    except NotInstalledError as error:
        if name != BUNDLED:
            raise
        return None, f"Only words are compared, and about 7 more of 100 segments are wrong. {error}"


def foreign_encoder(name: str, language: str) -> str:
    """Say that an encoder does not know the language of the reviews; "" if it may know it."""
    if name != BUNDLED or language == "en":
        return ""
    return (
        f"The bundled encoder knows English only, and the reviews are in {language!r}. "
        "Name one that knows their language: --encoder NAME."
    )


def known_aspects(
    aspects: Sequence[Aspect], sample: NamesSample, shown: Collection[str] = ()
) -> tuple[list[Aspect], list[str]]:
    """Return the aspects but General of which anything is known, and notes on the others.

    It is known if the reviews or the encoder know its words, or a topic or label has `shown` it. An aspect of
    which nothing is known cannot be learnt: segments that resemble its name by chance would be answered with
    it. The same holds for an aspect that reviews hardly mention, and for names such as "Other".
    """
    known, by_encoder, misspelt, unknown, absent, as_general = [], [], [], [], [], []
    for aspect in aspects:
        if aspect.name == GENERAL:
            continue
        library = sample.reader.known(aspect.name)
        phrases = [aspect.name, *aspect.words, *library.words]
        any_known, given_known = (
            any(map(len, sample.reader.word_vectors(some))) for some in (phrases, aspect.words)
        )
        written = re.findall(r"[^\W\d_]+", " ".join([aspect.name, *aspect.words]).lower())
        encoded = sample.features.encoder is not None
        understood = any(sample.knows(word) for word in written) or (encoded and bool(library.examples))
        if (encoded and (aspect.about or aspect.examples)) or aspect.name in shown:
            known.append(aspect)
        elif plain(aspect.name) in CATCH_ALL and not aspect.words:
            as_general.append(aspect.name)
        elif not any_known and not understood:
            unknown.append(aspect.name)
        elif not given_known and is_absent(phrases, sample):
            absent.append(aspect.name)
        else:
            known.append(aspect)
            if not (any_known or library.examples):
                by_encoder.append(aspect.name)
                misspelt += [aspect.name] if any(sample.pieces(word) > 1 for word in written) else []
    vocabulary = sample.reader.vocabulary
    right = known_names(vocabulary.language), vocabulary.words
    return known, [
        *notes_on_rare(by_encoder, meant(misspelt, *right)),
        *notes_on_unknown(unknown, meant(unknown, *right)),
        *notes_on_silence(absent, meant(absent, right[0])),
        *notes_on_catch_all(as_general),
    ]


def is_absent(said: Sequence[str], sample: NamesSample) -> bool:
    """Tell whether reviews hardly mention an aspect, by its name, the first of `said`, and its words.

    Few segments are no evidence: of 200 about a gym, 19 spoke of the staff without the word, none near to it.
    """
    if sample.features.encoder is None or len(sample.texts) < FEW_SEGMENTS:
        return False
    near = float(sample.nearness(said[:1])[0]) / sample.usual_nearness
    phrases = [*PARTS.split(said[0].lower()), *(said[1:] if near >= VERY_FAR else ())]
    known = [phrase for phrase in phrases if is_whole(phrase, sample.reader)]
    return near < FAR and bool((sample.having(known) > 0).mean() < MENTIONED)


def is_whole(phrase: str, reader: Reader) -> bool:
    """Tell whether all words of a phrase are known: "side" alone does not speak of "side effects"."""
    little = stop_words(reader.vocabulary.language)
    words = [word for word in re.split(r"[\s/-]+", phrase.lower()) if word and word not in little]
    return bool(words) and all(map(len, reader.word_vectors(words)))
