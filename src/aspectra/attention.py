"""One text → which words teacher and student looked at, what each answers, and whether they agree; as data and as an HTML page.

Attention is given per written word, in shares that sum to 1; words that the teacher does not know have none from it, and what the
student gives to special pieces belongs to no word.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import numpy as np
import polars as pl
import torch

from aspectra.detector import AspectDetector
from aspectra.encoder.pieces import words_of_pieces
from aspectra.errors import InputError
from aspectra.labelling.gamma import PREFIX
from aspectra.labelling.labeller import StudentLabeller


@dataclass(frozen=True)
class Explanation:
    """`teacher` and `student` attention stand beside `words`; the answers map aspects to probabilities, the likeliest first."""

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


def explain(model: AspectDetector | StudentLabeller, text: str) -> Explanation:
    """Explain the label of one segment."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if not spans:
        raise InputError("There is no word in the text. Give a sentence in quotes.")
    detector = model.detector if isinstance(model, StudentLabeller) else model
    words = tuple(text[start:end] for start, end in spans)
    teacher_answer = ranked(detector, text)
    if not isinstance(model, StudentLabeller):
        return Explanation(
            words, teacher_attention(detector, words), None, teacher_answer, None, teacher_answer
        )
    probabilities = model.student.probabilities([text])[0]
    own = dict(
        sorted(
            zip(model.student.card.aspects, probabilities.tolist(), strict=True), key=lambda pair: -pair[1]
        )
    )
    attention = student_attention(model, text, spans)
    return Explanation(
        words, teacher_attention(detector, words), attention, teacher_answer, own, ranked(model, text)
    )


def ranked(model: AspectDetector | StudentLabeller, text: str) -> dict[str, float]:
    row = model.label_segments([text]).row(0, named=True)
    values = {name.removeprefix(PREFIX): value for name, value in row.items() if name.startswith(PREFIX)}
    return dict(sorted(values.items(), key=lambda pair: -pair[1]))


def teacher_attention(detector: AspectDetector, words: tuple[str, ...]) -> tuple[float | None, ...]:
    """Return the teacher's α for each written word; None if it does not know it."""
    tokens = detector.vocabulary_.encode(pl.Series(words))
    ids = tokens.ids[: detector.max_tokens]
    if not len(ids):
        return (None,) * len(words)
    with torch.inference_mode():
        alpha = detector.teacher_(torch.from_numpy(ids)[None], torch.ones(1, len(ids))).attention[0].numpy()
    word = np.repeat(np.arange(len(words)), tokens.lengths)[: len(ids)]
    shares, known = np.bincount(word, alpha, len(words)), np.bincount(word, minlength=len(words))
    return tuple(float(share) if count else None for share, count in zip(shares, known, strict=True))


def student_attention(model: StudentLabeller, text: str, spans: list[tuple[int, int]]) -> tuple[float, ...]:
    """Return the student's α for each written word: the sum over its pieces."""
    encoder = model.student.encoder
    with torch.inference_mode():
        alpha = (
            model.student(*encoder.padded(encoder.tokenise([text]), np.array([0]))).attention[0].cpu().numpy()
        )
    starts = [start for start, _ in spans]
    shares = np.zeros(len(spans))
    for share, piece in zip(alpha, words_of_pieces(encoder.tokenizer, text), strict=True):
        if piece is not None:
            shares[np.searchsorted(starts, piece[0], side="right") - 1] += share
    return tuple(shares.tolist())


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>aspectra explain</title>
<style>
body {{ font: 16px/1.8 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
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
        f'<span style="background: rgba(255, 170, 0, {(share or 0) / largest:.2f})" title="{share or 0:.1%}">{html.escape(word)}</span>'
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
