"""Which words praise and which complain: a lexicon, and the words that turn round or strengthen others.

English words and emoji have the valences of VADER's lexicon (Hutto and Gilbert, 2014), −4 to 4, which the
package vaderSentiment brings, and those of lexicon.toml, which knows the words and idioms of reviews better.
VADER's rules are written anew in rules.py. Other languages have no lexicon yet.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

LEXICON_PACKAGE = "vaderSentiment"
STRONGER, WEAKER = 0.293, -0.293
NEGATORS = frozenset((
    "not", "no", "never", "cannot", "without", "neither", "nor", "none", "nothing", "nobody", "nowhere",
    "rarely", "seldom", "hardly", "barely", "scarcely", "n't", "nope",
    *(f"{verb}nt" for verb in (
        "ai", "are", "ca", "could", "did", "does", "do", "had", "has", "have", "is", "might", "must", "need",
        "should", "was", "were", "wo", "would",
    )),
))  # fmt: skip
"""Words that turn round what follows; so does every word that ends in n't."""
STRENGTHENING = frozenset((
    "absolutely", "amazingly", "awfully", "completely", "considerably", "deeply", "enormously", "entirely",
    "especially", "exceptionally", "extremely", "fully", "greatly", "highly", "hugely", "incredibly",
    "insanely", "intensely", "more", "most", "much", "particularly", "quite", "really", "remarkably", "so",
    "substantially", "super", "thoroughly", "too", "total", "totally", "tremendously", "truly",
    "unbelievably", "utter", "utterly", "very", "way",
))  # fmt: skip
WEAKENING = frozenset((
    "almost", "bit", "fairly", "kinda", "less", "little", "marginally", "occasionally", "partly", "slight",
    "slightly", "somewhat", "sorta",
))  # fmt: skip
OPPOSING = frozenset(("but", "however"))
"""What follows them counts more than what stands before."""
CONCEDING = frozenset(("although", "despite", "notwithstanding", "though"))
"""What follows them, up to a comma, counts less than the rest."""
ENDING = frozenset(("til", "till", "until"))
"""Praise before them is over: "great until it broke"."""
EXCEEDING = frozenset(("just", "merely", "only", "simply"))
"""A negation before them does not turn round what follows: "not only good"."""
TROUBLES = frozenset((
    "bug", "bugs", "complaint", "complaints", "concern", "concerns", "defect", "defects", "delay", "delays",
    "difficulties", "difficulty", "distortion", "drawback", "drawbacks", "error", "errors", "failure",
    "failures", "fault", "faults", "flaw", "flaws", "glitch", "glitches", "gripe", "gripes", "hassle",
    "hassles", "hiccup", "hiccups", "issue", "issues", "lag", "leak", "leaks", "problem", "problems",
    "regret", "regrets", "trouble", "troubles",
))  # fmt: skip
"""Nouns of complaints: who denies them praises, and the negation may stand further away."""
POINTING = frozenset(("his", "its", "my", "our", "that", "the", "their", "these", "this", "those", "your"))
"""A trouble behind one of them is there: "they did not fix the problem" denies none."""
LESSENING = frozenset(("fewer", "less"))
"""They turn round the next word: "less noisy", "fewer problems"."""
SUPERLATIVE = frozenset(("so", "such", "these", "this"))
"""What follows them is not turned round by "never": "never been so happy"."""
BEGINNING = frozenset(("initially",))
"""What stands around them is over, as with "at first"."""
JOINING = frozenset(("and", "because", "plus", "so", "which", "while"))
"""What is compared with ("than the old one") ends before them."""
REPEATED = re.compile(r"(\w)\1{2,}")


SECTIONS = ("idioms", "turning", "unreal", "past")
SAYS, TURNS, UNREAL, PAST = range(len(SECTIONS))
"""What an idiom does: judge in place of its words; turn round what follows, as "far from" does; make praise
that follows a complaint, as "I wish it were" does; the same with praise before it, as "at first" does."""


class Idiom(NamedTuple):
    """Several words that say something together."""

    value: float
    kind: int  # SAYS, TURNS, UNREAL or PAST


@lru_cache
def valences(language: str) -> dict[str, float]:
    """Return the valence of each word, emoticon and emoji that a language's lexicon has; none is empty."""
    if language != "en":
        return {}
    folder = resources.files(LEXICON_PACKAGE)
    lines = (folder / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t")[:2] for line in lines if line)
    words = {word.lower(): float(value) for word, value in pairs}
    for line in (folder / "emoji_utf8_lexicon.txt").read_text(encoding="utf-8").splitlines():
        emoji, _, description = line.partition("\t")
        words.setdefault(emoji[:1], sum(words.get(word, 0.0) for word in description.split()))
    words |= {word: float(value) for value, listed in own_words()[0].items() for word in listed.split()}
    for word in NEGATORS | STRENGTHENING | WEAKENING:
        words.pop(word, None)
    return words


@lru_cache
def idioms(language: str) -> dict[tuple[str, ...], Idiom]:
    """Return what several words say together; the words are `shortened`."""
    if language != "en":
        return {}
    _, sections = own_words()
    lists = {name: words.split() for name, words in sections["lists"].items()} | {"trouble": sorted(TROUBLES)}
    return {
        tuple(shortened(written)[0].split()): Idiom(float(value), kind)
        for kind, section in enumerate(SECTIONS)
        for value, listed in sections[section].items()
        for line in listed.strip().splitlines()
        for one in alternatives(filled(line, lists))
        for written in (one, one.replace("n't", "nt"), one.replace("n't", " n't"))
    }


def filled(line: str, lists: dict[str, list[str]]) -> str:
    """Return a line with lists in place of their names: "be <better>" is "be (easier|nicer)"."""
    return re.sub("<([a-z]+)>", lambda found: "(" + "|".join(lists[found[1]]).replace("_", " ") + ")", line)


def alternatives(line: str) -> list[str]:
    """Return what a line of idioms stands for: "can't be (beat|beaten)" is two."""
    return [" ".join(one.split()) for one in choices(iter(re.split("([()|])", line)))]


def choices(parts: Iterator[str]) -> list[str]:
    """Return all that parts stand for, up to the bracket that closes them."""
    finished, made = list[str](), [""]
    for part in parts:
        if part == ")":
            break
        if part == "|":
            finished, made = finished + made, [""]
        else:
            more = choices(parts) if part == "(" else [part]
            made = [before + one for before in made for one in more]
    return finished + made


def own_words() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Read lexicon.toml: words by valence, and the sections of idioms."""
    own = tomllib.loads((resources.files("aspectra.sentiment") / "lexicon.toml").read_text(encoding="utf-8"))
    return own, {section: own.pop(section) for section in ("lists", *SECTIONS)}


def shortened(word: str) -> tuple[str, str]:
    """Return a word with its letters that are there three times or more twice, and once: soooo, goooood."""
    return REPEATED.sub(r"\1\1", word), REPEATED.sub(r"\1", word)


def valence(word: str, known: dict[str, float]) -> float:
    """Return the valence of a lower-case word; 0 if the lexicon does not have it."""
    if word in known or not known:
        return known.get(word, 0.0)
    return next((known[other] for other in shortened(word) if other in known), 0.0)


def boost(word: str) -> float:
    """Return what a lower-case word adds to the strength of what follows."""
    word = word if word in STRENGTHENING else shortened(word)[1]
    return STRONGER if word in STRENGTHENING else WEAKER if word in WEAKENING else 0.0
