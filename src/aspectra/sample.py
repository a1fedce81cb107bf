"""The embedded sample: invented reviews of espresso machines, with planted aspects and gold labels.

A sentence is a template of one theme of one aspect with its slots filled at random; the templates are in
sample_words.toml. The rating sets the mood, and General is the most frequent aspect as in real reviews.
Planted: from `TREND_START` on `TREND_PRODUCT` is loud, so noise is spoken of more and sours; and a complaint
about `DRIVER` costs `DRIVER_STARS`, or all above one: 1.2 on average. Same seed, same bytes.
"""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from aspectra import rundir
from aspectra.config import GENERAL
from aspectra.disk import write_atomic
from aspectra.errors import ConfigError, InputError

ASPECTS: tuple[str, ...] = ("Taste", "Noise", "Cleaning", "Design", "Price", "Service", "Ease of use")
SEEDS: dict[str, list[str]] = {
    "Taste": ["taste", "crema", "bitter", "flavor", "aroma"],
    "Noise": ["noise", "loud", "pump", "grinder", "vibration"],
    "Cleaning": ["descale", "rinse", "limescale", "tray", "dishwasher"],
    "Design": ["design", "look", "plastic", "steel", "footprint"],
    "Price": ["price", "expensive", "cheap", "cost", "discount"],
    "Service": ["refund", "warranty", "support", "delivery", "repair"],
    "Ease of use": ["setup", "manual", "button", "refill", "app"],
}
PRODUCTS = (
    "Velluta One", "Velluta Duo", "Torrevo 500", "Mokkari Pro", "Perkolo Mini", "Caffonda Classic",
    "Lindero S",
)  # fmt: skip
TREND_PRODUCT = "Torrevo 500"
FIRST_DAY, DAYS = date(2023, 1, 1), 731
TREND_START = date(2024, 9, 1)
DRIVER, DRIVER_STARS = "Service", 2

SHARES = {
    GENERAL: 39,
    "Taste": 14,
    "Service": 10,
    "Cleaning": 9,
    "Ease of use": 8,
    "Design": 7,
    "Price": 7,
    "Noise": 6,
}
TREND_FACTOR, TREND_GOOD = (
    7,
    0.05,
)  # how much more often a review in the trend speaks of noise; how often well
RATINGS, TREND_RATINGS = (13, 8, 11, 23, 45), (30, 25, 20, 15, 10)  # weights of 1 to 5 stars
GOOD = {1: 0.08, 2: 0.3, 3: 0.5, 4: 0.8, 5: 0.94}  # chance that a clause is good, by rating
LENGTHS = (12, 16, 18, 17, 14, 10, 6, 4, 3)  # weights of 1 to 9 sentences
AND, BUT = 0.2, 0.09  # chances per sentence of a second clause
OPENER, CLOSER = 0.16, 0.1  # chances per sentence of words before and after it
EMOJI, NEWLINES, SLOPPY = 0.1, 0.05, 0.15  # chances per review; a sloppy writer uses no capitals
TYPO = 0.004, 0.03  # chance per word, of careful and sloppy writers
MOST = 1_000_000
"""Reviews or gold sentences; more take minutes and all of the memory."""

Tables = dict[str, list[str]]  # slot or mood -> fillers or templates


@dataclass(frozen=True)
class Sample:
    """`reviews`: review_id, product, date, rating, text; `gold`: text (one sentence), aspects."""

    reviews: pl.DataFrame
    gold: pl.DataFrame


class Sentence(NamedTuple):
    """`felt` has for each of the aspects 1 for praise, −1 for a complaint and 0 for neither."""

    text: str
    aspects: list[str]
    felt: list[int]


class Review(NamedTuple):
    product: str
    date: date
    rating: int
    sentences: list[Sentence]


class Theme(NamedTuple):
    aspect: str
    tables: Tables
    weight: float


def generate(n_reviews: int = 3000, n_gold: int = 600, seed: int = 0) -> Sample:
    """Write reviews, and label sentences of other reviews as gold."""
    for name, value, least in (("n_reviews", n_reviews, 1), ("n_gold", n_gold, 2)):
        if not least <= value <= MOST:
            raise ConfigError(f"{name} must be from {least} to {MOST}, got {value}.")
    rng = random.Random(f"reviews {seed}")
    reviews = [write_review(rng) for _ in range(n_reviews)]
    columns = {
        "review_id": [f"r{i:05}" for i in range(1, n_reviews + 1)],
        "product": [review.product for review in reviews],
        "date": [review.date for review in reviews],
        "rating": [review.rating for review in reviews],
        "text": [join_sentences(rng, review.sentences) for review in reviews],
    }
    seen = {bare(sentence.text) for review in reviews for sentence in review.sentences}
    return Sample(pl.DataFrame(columns), draw_gold(random.Random(f"gold {seed}"), n_gold, seen))


def write(folder: Path, sample: Sample) -> tuple[Path, Path, Path]:
    """Write reviews.csv (with a byte order mark, for Excel) and gold labels: dev.jsonl and test.jsonl.

    Files with other content are never replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Give the name of a folder.")
    rundir.refuse_own_file(folder)
    paths = folder / "reviews.csv", folder / "dev.jsonl", folder / "test.jsonl"
    half = len(sample.gold) // 2
    contents = (
        "\ufeff" + sample.reviews.write_csv(),
        sample.gold[:half].write_ndjson(),
        sample.gold[half:].write_ndjson(),
    )
    files = {path: content.encode() for path, content in zip(paths, contents, strict=True)}
    for path, data in files.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == data):
            raise InputError(f"{path} is there already, with other content. Choose another folder.")
    for path, data in files.items():
        write_atomic(path, data)
    return paths


def draw_gold(rng: random.Random, n_gold: int, seen: set[str]) -> pl.DataFrame:
    """Take sentences from new reviews: none twice and none seen, whatever the case and punctuation."""
    gold: dict[str, Sentence] = {}
    while len(gold) < n_gold:
        sentence = rng.choice(write_review(rng).sentences)
        key = bare(sentence.text)
        if key not in seen:
            gold.setdefault(key, sentence)
    return pl.DataFrame(
        {"text": [s.text for s in gold.values()], "aspects": [s.aspects for s in gold.values()]}
    )


def bare(text: str) -> str:
    """Return the words alone, to tell whether two sentences are the same."""
    return " ".join(re.findall(r"[\w$%]+", text.lower()))


def write_review(rng: random.Random) -> Review:
    product = rng.choice(PRODUCTS)
    day = FIRST_DAY + timedelta(days=rng.randrange(DAYS))
    in_trend = product == TREND_PRODUCT and day >= TREND_START
    rating = rng.choices(range(1, 6), TREND_RATINGS if in_trend else RATINGS)[0]
    n_sentences = rng.choices(range(1, 10), LENGTHS)[0]
    order = draw_themes(rng, n_sentences, TREND_FACTOR if in_trend else 1)
    sloppy = rng.random() < SLOPPY
    moods = [TREND_GOOD if in_trend and theme.aspect == "Noise" else GOOD[rating] for theme in order]
    sentences = [
        write_sentence(rng, theme, mood, product, sloppy) for theme, mood in zip(order, moods, strict=True)
    ]
    if rng.random() < EMOJI:
        emoji = rng.choice(words()["frame"]["emoji" if rating > 2 else "emoji_bad"])
        sentences[-1] = sentences[-1]._replace(text=f"{sentences[-1].text} {emoji}")
    said = {pair for one in sentences for pair in zip(one.aspects, one.felt, strict=True)}
    cost = DRIVER_STARS if (DRIVER, -1) in said else 0
    return Review(product, day, max(1, rating - cost), sentences)


def draw_themes(rng: random.Random, count: int, noise_factor: int) -> list[Theme]:
    """Draw up to `count` themes, each at most once, so that a review does not repeat itself."""
    weights = [theme.weight * (noise_factor if theme.aspect == "Noise" else 1) for theme in themes()]
    drawn = rng.choices(range(len(weights)), weights, k=count)
    return [themes()[i] for i in dict.fromkeys(drawn)]


def write_sentence(rng: random.Random, theme: Theme, mood: float, product: str, sloppy: bool) -> Sentence:
    """Write one sentence: one clause, two of the same aspect and mood, or two of different ones ("but").

    `mood` is the chance of praise.
    """
    frame = words()["frame"]
    good = rng.random() < mood
    (text, own), aspects = write_clause(rng, theme, good, product), [theme.aspect]
    felt = [own]
    if rng.random() < AND:
        other = rng.choice([t for t in themes() if t.aspect == theme.aspect and t != theme])
        joint, more = rng.choice(frame["and"]), write_clause(rng, other, good, product)
        text += joint + more[0]
        felt = [own or more[1]]
    elif theme.aspect != GENERAL and rng.random() < BUT:
        other = rng.choice([t for t in themes() if t.aspect not in (GENERAL, theme.aspect)])
        joint, more = rng.choice(frame["but"]), write_clause(rng, other, not good, product)
        text += joint + more[0]
        aspects.append(other.aspect)
        felt.append(more[1])
    if rng.random() < OPENER:
        text = fill(rng, rng.choice(frame["openers"]), {}, product) + text
    if rng.random() < CLOSER:
        text += fill(rng, rng.choice(frame["closers"]), {}, product)
    text = add_typos(rng, text, TYPO[sloppy])
    text = (text if sloppy else text[0].upper() + text[1:]) + rng.choice(frame["ends"])
    return Sentence(text, aspects, felt)


def write_clause(rng: random.Random, theme: Theme, good: bool, product: str) -> tuple[str, int]:
    """Write a clause; return it with 1 for praise, −1 for a complaint and 0 for what fits both."""
    mood = theme.tables.get("good" if good else "bad", [])
    template = rng.choice(mood + theme.tables.get("any", []))
    text = re.sub(r"\b([Aa]) (?=[aeioAEIO])", r"\1n ", fill(rng, template, theme.tables, product))
    return text, (1 if good else -1) if template in mood else 0


def fill(rng: random.Random, template: str, tables: Tables, product: str) -> str:
    """Replace each {slot} by one of its fillers, which may have slots too; the theme's own come first."""
    slots = {**words()["shared"], **tables, "product": [product]}
    while "{" in template:
        template = re.sub(r"\{(\w+)\}", lambda match: rng.choice(slots[match[1]]), template)
    return template


def add_typos(rng: random.Random, text: str, rate: float) -> str:
    """Swap, drop or double a letter inside some of the longer words."""
    tokens = text.split(" ")
    for i, token in enumerate(tokens):
        if len(token) > 4 and token.isalpha() and rng.random() < rate:
            at = rng.randrange(1, len(token) - 2)
            middle = rng.choice((token[at + 1] + token[at], token[at], token[at] + token[at : at + 2]))
            tokens[i] = token[:at] + middle + token[at + 2 :]
    return " ".join(tokens)


def join_sentences(rng: random.Random, sentences: list[Sentence]) -> str:
    return ("\n" if rng.random() < NEWLINES else " ").join(sentence.text for sentence in sentences)


@cache
def words() -> dict[str, Any]:
    text = resources.files("aspectra").joinpath("sample_words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def themes() -> tuple[Theme, ...]:
    return tuple(
        Theme(aspect, tables, share / len(words()[aspect]))
        for aspect, share in SHARES.items()
        for tables in words()[aspect].values()
    )
