"""Attention per word: which words teacher and student looked at. As pieces of a text, as data, as a page.

Shares are per written word and sum to 1. Words that the teacher does not know have none from it, and what
the student gives to special pieces belongs to no word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from aspectra.corpus import Vocabulary
from aspectra.encoder.pieces import words_of_pieces
from aspectra.errors import InputError
from aspectra.fitting import Fitted
from aspectra.labelling.labeller import RunLabeller, TeacherLabeller
from aspectra.teacher.encode import attend
from aspectra.text.tokens import extract
from aspectra.topicmap.gamma import PREFIX

if TYPE_CHECKING:
    from aspectra.student.fast import FastStudent
    from aspectra.student.linear import LinearStudent
    from aspectra.student.paper.model import Student

Pieces = list[tuple[str, float | None]]
"""A text in pieces with weights: attention times the number of known words, so 1 is an even share.

None marks what the teacher does not read."""
MOST_WORDS = 300
"""Words of a text that are explained; a student that adds up words is asked once without each of them."""
Read = list[tuple[int, int, float]]
"""Start, end and α of each word that the teacher read in a text."""


def word_attention(fitted: Fitted, texts: Sequence[str]) -> list[Read]:
    """Return the words that the teacher read in each text; it reads the first `max_tokens` known ones."""
    tokens = fitted.vocabulary.encode(pl.Series(texts, dtype=pl.String))
    alpha: dict[int, np.ndarray] = {}
    for rows, ids in tokens.same_length(fitted.config.max_tokens):
        alpha.update(zip(rows.tolist(), attend(fitted.teacher, ids), strict=True))
    places = known_words(texts, fitted.vocabulary)
    return [
        [(*span, float(share)) for span, share in zip(spans, alpha.get(row, ()), strict=False) if span]
        for row, spans in enumerate(places)
    ]


def attended(fitted: Fitted, texts: Sequence[str]) -> list[Pieces]:
    """Cut texts into pieces, known words with the teacher's attention."""
    return [cut(text, read) for text, read in zip(texts, word_attention(fitted, texts), strict=True)]


def cut(text: str, read: Read) -> Pieces:
    """Cut a text at the words that the teacher read; a word's weight is α times their number."""
    pieces: Pieces = []
    end = 0
    for start, stop, share in read:
        if start > end:
            pieces.append((text[end:start], None))
        pieces.append((text[start:stop], round(share * len(read), 3)))
        end = stop
    return [*pieces, (text[end:], None)] if end < len(text) else pieces


def known_words(texts: Sequence[str], vocabulary: Vocabulary) -> list[list[tuple[int, int] | None]]:
    """Find where the known words of each text start and end; None for one that cannot be found."""
    tokens = extract(pl.Series(texts, dtype=pl.String))
    known = vocabulary.encode(pl.Series(tokens.types, dtype=pl.String)).lengths > 0
    result = []
    for text, end, length in zip(texts, np.cumsum(tokens.lengths), tokens.lengths, strict=True):
        codes = tokens.codes[end - length : end]
        spans = find_words(text, [tokens.types[code] for code in codes])
        result.append([span for span, is_known in zip(spans, known[codes], strict=True) if is_known])
    return result


def find_words(text: str, surface: Sequence[str]) -> list[tuple[int, int] | None]:
    """Find lower-case words, given in order, in the text as it was written."""
    lowered = [character.lower() for character in text.replace("’", "'")]
    place = [
        number for number, characters in enumerate(lowered) for _ in characters
    ]  # "İ" becomes two characters
    plain, start = "".join(lowered).replace("ς", "σ"), 0
    found: list[tuple[int, int] | None] = []
    for word in surface:
        at = plain.find(word.replace("ς", "σ"), start)
        if at < 0:
            found.append(None)
            continue
        start = at + len(word)
        found.append((place[at], place[start - 1] + 1))
    return found


@dataclass(frozen=True)
class Explanation:
    """`teacher` and `student` are shares of attention, one per word; answers have the best aspect first."""

    words: tuple[str, ...]
    teacher: tuple[float | None, ...]
    student: tuple[float, ...] | None
    teacher_answer: dict[str, float]
    student_answer: dict[str, float] | None
    answer: dict[str, float]

    @property
    def agree(self) -> bool:
        return self.student_answer is None or next(iter(self.teacher_answer)) == next(
            iter(self.student_answer)
        )


def explain(model: RunLabeller, text: str) -> Explanation:
    """Explain the label of one segment, of which the first `MOST_WORDS` words are read."""
    spans = written_words(text)[:MOST_WORDS]
    if not spans:
        raise InputError("There is no word in the text. Give a sentence in quotes.")
    text = text[: spans[-1][1]]
    words = tuple(text[start:end] for start, end in spans)
    teacher = teacher_attention(model.fitted, text)
    teacher_answer = ranked(TeacherLabeller(model.fitted), text)
    if isinstance(model, TeacherLabeller):
        return Explanation(words, teacher, None, teacher_answer, None, teacher_answer)
    probabilities = model.student.probabilities([text])[0].tolist()
    own = dict(sorted(zip(model.card.aspects, probabilities, strict=True), key=lambda pair: -pair[1]))
    if model.card.config.head == "linear":
        student = student_contributions(cast("LinearStudent | FastStudent", model.student), text, spans)
    else:
        student = student_attention(cast("Student", model.student), text, spans)
    return Explanation(words, teacher, student, teacher_answer, own, ranked(model, text))


def ranked(model: RunLabeller, text: str) -> dict[str, float]:
    row = model.label_segments([text]).row(0, named=True)
    values = {name.removeprefix(PREFIX): value for name, value in row.items() if name.startswith(PREFIX)}
    return dict(sorted(values.items(), key=lambda pair: -pair[1]))


def teacher_attention(fitted: Fitted, text: str) -> tuple[float | None, ...]:
    """Return the teacher's α for each word of text.split(); None for an unknown word."""
    spans = written_words(text)
    shares: list[float | None] = [None] * len(spans)
    for start, _, share in word_attention(fitted, [text])[0]:
        word = word_at(spans, start)
        shares[word] = (shares[word] or 0.0) + share
    return tuple(shares)


def written_words(text: str) -> list[tuple[int, int]]:
    """Return where each written word starts and ends."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def word_at(spans: Sequence[tuple[int, int]], place: int) -> int:
    """Return the number of the word that the character at `place` belongs to."""
    return int(np.searchsorted([start for start, _ in spans], place, side="right")) - 1


def student_attention(student: Student, text: str, spans: list[tuple[int, int]]) -> tuple[float, ...]:
    """Return the student's α for each written word: the sum over its pieces."""
    import torch

    encoder = student.encoder
    with torch.inference_mode():
        answer = student(*encoder.padded(encoder.tokenise([text]), np.array([0])))
    shares = np.zeros(len(spans))
    pieces = words_of_pieces(encoder.tokenizer, text)
    for share, piece in zip(answer.attention[0].cpu().numpy(), pieces, strict=True):
        if piece is not None:
            shares[word_at(spans, piece[0])] += share
    return tuple(shares.tolist())


def student_contributions(
    student: LinearStudent | FastStudent, text: str, spans: list[tuple[int, int]]
) -> tuple[float, ...]:
    """Return each written word's share in the answer: how much the answer's odds fall without the word.

    Words without which the answer is more likely have none. Odds tell more than probabilities, many of which
    are nearly 1.
    """
    without = [text[:start] + text[end:] for start, end in spans]
    probabilities = student.probabilities([text, *without])
    best = probabilities[0].argmax()
    others = np.delete(probabilities, best, 1).sum(1)
    odds = np.log(np.maximum(probabilities[:, best], 1e-30)) - np.log(np.maximum(others, 1e-30))
    losses = np.maximum(odds[0] - odds[1:], 0)
    return tuple((losses / max(losses.sum(), 1e-30)).tolist())


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>aspectra explain</title>
<style>
body {{
  font: 16px/1.8 system-ui, sans-serif; color: #222; max-width: 48rem; margin: 2rem auto; padding: 0 1rem
}}
span {{ padding: .15em .25em; border-radius: .2em }}
h2 {{ font-size: 1rem; margin: 1.5rem 0 .3rem }}
</style>
<h1>{answer}</h1>
<p>{verdict}</p>
{parts}
</html>
"""


def to_html(explanation: Explanation) -> str:
    """Return a page that shades each word by its share of attention."""
    parts = [shaded("Teacher", explanation.words, explanation.teacher, explanation.teacher_answer)]
    if explanation.student is not None and explanation.student_answer is not None:
        parts.append(shaded("Student", explanation.words, explanation.student, explanation.student_answer))
    return PAGE.format(
        answer=html.escape(top(explanation.answer)),
        verdict=html.escape(verdict(explanation)),
        parts="\n".join(parts),
    )


def shaded(
    who: str, words: tuple[str, ...], shares: tuple[float | None, ...], answer: dict[str, float]
) -> str:
    largest = max((share or 0 for share in shares), default=0) or 1
    spans = (
        f'<span style="background: rgba(255, 170, 0, {(share or 0) / largest:.2f})" title="{share or 0:.1%}">'
        f"{html.escape(word)}</span>"
        for word, share in zip(words, shares, strict=True)
    )
    return f"<h2>{who}: {html.escape(top(answer))}</h2>\n<p>{' '.join(spans)}</p>"


def top(answer: dict[str, float]) -> str:
    """Write the likeliest aspects."""
    return ", ".join(f"{aspect} {share:.0%}" for aspect, share in list(answer.items())[:3])


def verdict(explanation: Explanation) -> str:
    """Say whether teacher and student agree."""
    if explanation.student_answer is None:
        return "Only the teacher answers: this run has no student."
    ours, theirs = next(iter(explanation.student_answer)), next(iter(explanation.teacher_answer))
    if explanation.agree:
        return f"Teacher and student agree on {ours}."
    return f"They disagree: the teacher says {theirs}, the student {ours}."
