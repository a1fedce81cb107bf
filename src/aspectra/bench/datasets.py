"""The published data sets that benchmarks read, each in its own format: files in, `Gold` out.

Aspect names are those of the paper's tables ("Ease of Use", "Apps/Interface"); OPOSUM's `None` is General.
None of the data is part of this package.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from aspectra.config import GENERAL
from aspectra.errors import InputError
from aspectra.rundir import checksum
from aspectra.scores import Gold
from aspectra.text.read import BATCH

EDU_BREAK = "EDU_BREAK"
RESTAURANT_ASPECTS = {"food": "Food", "service": "Staff", "ambience": "Ambience"}
OPOSUM_ASPECTS = {
    "None": GENERAL,
    "Apps_Interface": "Apps/Interface",
    "Ease_of_use": "Ease of Use",
    "Extra_functionality": "Extra Function",
    "Size_Fit": "Size/Fit",
    "Size_Look": "Size/Look",
}


@dataclass(frozen=True)
class AnnotatedReview:
    """A review in gold segments; `aspects` stands beside `texts`."""

    id: str
    texts: tuple[str, ...]
    aspects: tuple[frozenset[str], ...]


def load_oposum(path: Path) -> Gold:
    """Read all segments of one .asp file, in order."""
    reviews = parse_asp(path)
    return make_gold(
        (text, aspects)
        for review in reviews
        for text, aspects in zip(review.texts, review.aspects, strict=True)
    )


def load_citysearch(folder: Path, aspects: Iterable[str] = tuple(RESTAURANT_ASPECTS.values())) -> Gold:
    """Read the sentences whose only label is one of `aspects`; by default those of the paper, 1,490."""
    wanted = {frozenset((aspect,)) for aspect in aspects}
    texts, labels = read_lines(folder / "test.txt"), read_lines(folder / "test_label.txt")
    if len(texts) != len(labels):
        raise InputError(
            f"{folder / 'test.txt'} has {len(texts)} lines but test_label.txt has {len(labels)}: "
            "give both files of one test set."
        )
    for name, lines in (("test.txt", texts), ("test_label.txt", labels)):
        blank = next((number for number, line in enumerate(lines, start=1) if not line.strip()), None)
        if blank is not None:
            raise InputError(
                f"{folder / name}, line {blank}: "
                f"expected a {'sentence' if lines is texts else 'label'}, got nothing."
            )
    pairs = ((text.strip(), frozenset(line.split())) for text, line in zip(texts, labels, strict=True))
    return make_gold(pair for pair in pairs if pair[1] in wanted)


def load_semeval(paths: Iterable[Path]) -> Gold:
    """Read the sentences whose only category is food, service (Staff) or ambience, of 2014, 2015 or 2016."""
    pairs = [pair for path in paths for pair in parse_semeval(path)]
    return make_gold(
        pair for pair in pairs if len(pair[1]) == 1 and pair[1] <= set(RESTAURANT_ASPECTS.values())
    )


def load_seedwords(path: Path, aspects: Sequence[str]) -> dict[str, dict[str, float]]:
    """Read one line of seed words per aspect, in this order of aspects; a word without `:weight` weighs 1."""
    lines = read_lines(path)
    if len(lines) != len(aspects):
        raise InputError(
            f"{path} has {len(lines)} lines of seed words "
            f"but there are {len(aspects)} aspects: {', '.join(aspects)}."
        )
    numbered = zip(aspects, enumerate(lines, start=1), strict=True)
    return {
        aspect: dict(parse_seedword(entry, f"{path}, line {number}") for entry in line.split())
        for aspect, (number, line) in numbered
    }


def load_aspects(path: Path) -> tuple[str, ...]:
    """Read the aspects of an .asp file in its own order, which is also the order of its seed words."""
    return tuple(
        OPOSUM_ASPECTS.get(name, name.replace("_", " ").title()) for name in read_lines(path)[0].split("|")
    )


def parse_asp(path: Path) -> list[AnnotatedReview]:
    """Read reviews: an id line, then `text TAB number[ number…]` per segment, then a blank line."""
    names = load_aspects(path)
    return [
        parse_review(path, number, block, names)
        for number, block in split_blocks(read_lines(path)[1:], first=2)
    ]


def split_blocks(lines: Sequence[str], first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield blocks of lines between blank ones, each with its first line's number, counted from `first`."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=first):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def parse_review(path: Path, number: int, block: Sequence[str], names: Sequence[str]) -> AnnotatedReview:
    """Read one block of lines, the first of which is line `number` of the file."""
    review_id, *lines = block
    if "\t" in review_id or not lines:
        raise InputError(
            f"{path}, line {number}: expected a review id and below it its segments, got {review_id!r}."
        )
    texts, aspects = [], []
    for offset, line in enumerate(lines, start=1):
        text, _, labels = line.rpartition("\t")
        known = [int(label) for label in labels.split() if label.isdecimal() and int(label) < len(names)]
        if not text.strip() or not known or len(known) != len(labels.split()):
            raise InputError(
                f"{path}, line {number + offset}: "
                f"expected text, a tab and numbers below {len(names)}, got {line!r}."
            )
        texts.append(text.strip())
        aspects.append(frozenset(names[label] for label in known))
    return AnnotatedReview(review_id.strip(), tuple(texts), tuple(aspects))


@dataclass(frozen=True)
class TrnReviews:
    """The reviews of a .trn file, as OPOSUM's corpora are.

    Each has a line with id and rating, then sentences with EDU_BREAK in them, then a blank line.
    """

    path: Path

    def texts(self) -> Iterator[pl.Series]:
        blocks = split_blocks(read_lines(self.path), first=1)
        texts = [self.text(number, block) for number, block in blocks]
        yield from (pl.Series("text", texts[start : start + BATCH]) for start in range(0, len(texts), BATCH))

    def text(self, number: int, block: Sequence[str]) -> str:
        head, *sentences = block
        if len(head.split()) != 2 or not sentences:
            raise InputError(
                f"{self.path}, line {number}: "
                f"expected an id, a rating and below them sentences, got {head!r}."
            )
        return "\n".join(" ".join(sentence.replace(EDU_BREAK, " ").split()) for sentence in sentences)

    def fingerprint(self) -> list[str]:
        return ["trn", checksum(self.path)]


def parse_semeval(path: Path) -> list[tuple[str, frozenset[str]]]:
    """Read each sentence and all its categories; FOOD#QUALITY of 2015 counts as food of 2014."""
    try:
        root = ElementTree.fromstring("\n".join(read_lines(path)))
    except ElementTree.ParseError as error:
        raise InputError(f"{path}, line {error.position[0]}: not well-formed XML ({error.msg}).") from error
    pairs = []
    for sentence in root.iter("sentence"):
        marks = [*sentence.iter("aspectCategory"), *sentence.iter("Opinion")]
        categories = {mark.get("category", "").partition("#")[0].lower() for mark in marks}
        names = frozenset(RESTAURANT_ASPECTS.get(category, category) for category in categories)
        text = sentence.findtext("text", "").strip()
        if not text:
            raise InputError(f"{path}, sentence {sentence.get('id')!r}: expected a <text>, got none.")
        pairs.append((text, names))
    return pairs


def parse_seedword(entry: str, place: str) -> tuple[str, float]:
    word, _, weight = entry.partition(":")
    try:
        return word, float(weight or 1)
    except ValueError:
        raise InputError(f"{place}: expected word:weight, got {entry!r}.") from None


def make_gold(pairs: Iterable[tuple[str, frozenset[str]]]) -> Gold:
    kept = list(pairs)
    return Gold(tuple(text for text, _ in kept), tuple(aspects for _, aspects in kept))


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file, without the empty one after its last line break."""
    if not path.is_file():
        raise InputError(f"No file {path}. Give the folder that holds the benchmark data.")
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
