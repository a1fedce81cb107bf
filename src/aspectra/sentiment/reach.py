"""Words → what idioms say in place of their words, and how far negations, wishes and comparisons reach.

Idioms are found first: a negation that belongs to one ("no doubt") turns round no praise behind it, unless
the idiom is a complaint. What an idiom turns round, or keeps from being turned round, and praise that is
only wished for or over, is as sure as an idiom itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from aspectra.sentiment.lexicon import PAST, SAYS, TURNS, UNREAL
from aspectra.sentiment.words import (
    AS,
    BEGINS,
    CONCEDES,
    DEFINITE,
    ENDS,
    EXCEEDS,
    JOINS,
    LESSENS,
    LETTERS,
    NEGATES,
    NEVER,
    OPPOSES,
    OVER,
    STARTS,
    SUCH,
    THAN,
    TROUBLE,
    Words,
    found_in,
    last_bits,
    together,
)

REACH, FAR = 3, 6
"""How many words a negation turns round, and how many if they are troubles or idioms do it."""
BEFORE_BUT, CONCEDED, BEFORE_END, LOST = 0.5, 0.5, 0.25, 0.5
"""What words count before "but", after "although", before "until", and if they are wished for or over."""
CONCEDED_WORDS = 12
"""How far "although" reaches if no comma ends it."""
ACTIVE = NEGATES | OPPOSES | CONCEDES | OVER | LESSENS | BEGINS | THAN | AS
IDLE = EXCEEDS | DEFINITE
"""What words do to others, and what else they no longer do if they belong to an idiom."""
STOP = ENDS | EXCEEDS | OPPOSES
"""How far a negation reaches at most."""
COMPARED, COMPARED_WORDS = 0.2, 5
"""What words count after "than" and "as good as", and how many of them: they are about something else."""


@dataclass(frozen=True)
class Sayings:
    """The idioms of T words: where each starts and ends, its valence and its kind."""

    starts: np.ndarray
    ends: np.ndarray
    values: np.ndarray
    kinds: np.ndarray

    def words(self, chosen: np.ndarray) -> np.ndarray:
        """Return the places of the words that belong to the chosen idioms."""
        starts = self.starts[chosen]
        lengths = self.ends[chosen] - starts + 1
        before = np.cumsum(lengths) - lengths
        return np.asarray(np.repeat(starts - before, lengths) + np.arange(lengths.sum()))


@dataclass(frozen=True)
class Reading:
    """T words with what stands around them."""

    valence: np.ndarray  # an idiom's last word has its valence, the others none
    turned: np.ndarray  # turned round
    lost: np.ndarray  # praise here is only wished for, or over
    sure: np.ndarray  # what is said here stands, whatever was learnt
    counts: np.ndarray  # how much each word counts


def read_together(words: Words, valence: np.ndarray) -> Reading:
    """Let idioms judge in place of their words, then see what stands in reach of what."""
    said = sayings(words)
    praising, silent = (
        said.words((said.kinds == SAYS) & chosen) for chosen in (said.values > 0, said.values == 0)
    )
    praising, denying = (those(words, places, NEGATES) for places in (praising, silent))
    words = without_idioms(words, said)
    active = np.flatnonzero(words.does & ACTIVE != 0)
    turned, sure = reached(words, said, active)
    lost, counts = np.zeros(len(valence), bool), contrast(words, active)
    for here in no_longer(words, said, active):
        counts[here] = np.where(counts[here] == BEFORE_END, BEFORE_END, LOST)
        lost[here] = sure[here] = True
    for here in following(words, praising, REACH, STOP):
        turned[here[words.valence[here] < 0]] = True  # "no problem with noise"
    for here in following(words, denying, FAR, STOP):
        sure[here] = True
    counts[silent] = 0
    valence = valence.copy()
    valence[said.words(said.kinds >= 0)] = 0
    valence[said.ends], turned[said.ends] = said.values, turned[said.starts]
    sure[said.ends], lost[said.ends] = True, False
    return Reading(valence, turned, lost, sure, counts)


def sayings(words: Words) -> Sayings:
    """Find idioms; of two that share a word, the longer one counts, or else the first."""
    known, taken = words.idioms, np.zeros(len(words.does), bool)
    first = np.flatnonzero(words.does[:-1] & STARTS != 0)
    first = first[known.begun[last_bits(together([words.hashes[first], words.hashes[first + 1]]))]]
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for length in known.lengths:
        starts = first[first + length <= len(taken)]
        starts = starts[words.segments[starts] == words.segments[starts + length - 1]]
        found, at = found_in(together([words.hashes[starts + step] for step in range(length)]), known.keys)
        starts, at = starts[found], at[found]
        within = starts[:, None] + np.arange(length)
        whole = ~taken[within].any(1) & (np.diff(starts, prepend=-length) >= length)
        taken[within[whole]] = True
        parts.append((starts[whole], starts[whole] + length - 1, at[whole]))
    starts, ends, at = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Sayings(starts, ends, known.values[at], known.kinds[at])


def without_idioms(words: Words, said: Sayings) -> Words:
    """Return words that do nothing if they belong to an idiom; negations of complaints still negate."""
    complaints = (said.kinds == SAYS) & (said.values < 0)
    does = words.does.copy()
    does[said.words(~complaints)] &= ~np.uint32(ACTIVE | IDLE)
    does[said.words(complaints)] &= ~np.uint32((ACTIVE | IDLE) & ~NEGATES)
    return replace(words, does=does)


def those(words: Words, places: np.ndarray, bit: int) -> np.ndarray:
    """Return the places whose words do this."""
    return np.asarray(places[words.does[places] & bit > 0])


def reached(words: Words, said: Sayings, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tell which words are turned round by what stands before them in its phrase, and of which that is sure.

    Troubles are denied if nothing says which: "not any problem", but not "did not fix the problem".
    """
    found, sure = np.zeros((2, len(words.does)), bool)
    negations = those(words, active, NEGATES)
    never = words.does[negations] & NEVER > 0
    for starts, also in ((negations[~never], 0), (negations[never], SUCH)):
        for here in following(words, starts, REACH, STOP | also):
            found[here] = words.does[here] & TROUBLE == 0
        for here in following(words, starts, FAR, STOP | also | DEFINITE):
            troubles = those(words, here, TROUBLE)
            found[troubles] = sure[troubles] = True
    for here in following(words, negations[never], REACH, STOP):
        for after in following(words, those(words, here, SUCH), REACH, STOP):
            sure[after] = True
    turning, less = said.kinds == TURNS, those(words, active, LESSENS)
    turn(words, found, sure, (said.starts[turning], said.ends[turning]), FAR)
    turn(words, found, sure, (less, less), 1)
    return found, sure


def turn(
    words: Words, found: np.ndarray, sure: np.ndarray, idioms: tuple[np.ndarray, np.ndarray], reach: int
) -> None:
    """Turn round what follows idioms; those that stand behind a negation do the opposite: "not far from"."""
    starts, ends = idioms
    turns = ~found[starts]
    for places, value in ((ends[turns], True), (ends[~turns], False)):
        for here in following(words, places, reach, STOP):
            found[here], sure[here] = value, True


def following(words: Words, places: np.ndarray, reach: int, stop: int, step: int = 1) -> Iterator[np.ndarray]:
    """Yield the words 1, 2, … `reach` behind places (before them with step −1), in their segments.

    A word that stops is the last one.
    """
    owners = words.segments[places]
    for _ in range(reach):
        places = places + step
        inside = (places >= 0) & (places < len(words.does))
        places, owners = places[inside], owners[inside]
        same = words.segments[places] == owners
        places, owners = places[same], owners[same]
        yield places
        going = words.does[places] & stop == 0
        places, owners = places[going], owners[going]


def no_longer(words: Words, said: Sayings, active: np.ndarray) -> Iterator[np.ndarray]:
    """Yield words whose praise is only wished for or over: "I wish it were good", "good at first"."""
    begins, past = those(words, active, BEGINS), said.kinds == PAST
    stop = ENDS | OPPOSES | CONCEDES
    yield from following(words, np.append(said.starts[past], begins), FAR, stop, -1)
    yield from following(words, np.append(said.ends[past | (said.kinds == UNREAL)], begins), FAR, stop)


def contrast(words: Words, active: np.ndarray) -> np.ndarray:
    """Return how much each word counts beside the others of its segment, T."""
    counts = np.ones(len(words.does), np.float32)
    for here in following(words, those(words, active, CONCEDES), CONCEDED_WORDS, ENDS):
        counts[here] = CONCEDED
    for bit, share in ((OPPOSES, BEFORE_BUT), (OVER, BEFORE_END)):
        counts[before_last(words, those(words, active, bit))] = share
    first = those(words, active, AS)
    second = np.intersect1d(first[first + 2 < len(counts)] + 2, first, assume_unique=True)
    than = np.append(those(words, active, THAN), second[words.segments[second] == words.segments[second - 2]])
    for here in following(words, than, COMPARED_WORDS, ENDS | OPPOSES | CONCEDES | JOINS):
        counts[those(words, here, LETTERS)] = COMPARED  # not emoji
    return counts


def before_last(words: Words, marks: np.ndarray) -> np.ndarray:
    """Return the places of the words that stand before the last of the marks of their segment."""
    owners = words.segments[marks]
    ends = marks[np.diff(owners, append=-1) != 0]
    lengths = ends - np.searchsorted(words.segments, words.segments[ends])
    return np.asarray(np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(lengths.sum()))
