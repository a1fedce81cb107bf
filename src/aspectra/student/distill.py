"""Distillation: a mapped run, and labels if there are some → a student, kept in the run.

The default head is linear and learns from the aspects' names, the map and labels (from_names.py). The
attention head is the paper's student and learns from the teacher's answers (from_teacher.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from aspectra import disk, rundir
from aspectra.arguments import check_function, wrong_kind
from aspectra.aspects.aspects import Aspect, aspects_of_run
from aspectra.aspects.reader import Embed, ReadOnce
from aspectra.config import StudentConfig
from aspectra.fitting import Fitted, learn_sentiment
from aspectra.progress import Progress, progress_of, quiet
from aspectra.rundir import RunDir
from aspectra.scores import Gold, join_gold
from aspectra.sentiment.model import SentimentModel
from aspectra.sentiment.rated import RatedReviews, load_rated
from aspectra.student.from_names import train_linear
from aspectra.student.linear import LinearStudent
from aspectra.student.paper.from_teacher import train_attention
from aspectra.student.paper.model import Student
from aspectra.student.teach_fast import teach_fast
from aspectra.topicmap.labels import given_labels, labels_of_run


def distill(
    run: Path | str,
    config: StudentConfig | None = None,
    labels: Gold | Path | str | None = None,
    dev: Gold | Path | str | None = None,
    progress: Progress = quiet,
) -> Student | LinearStudent:
    """Make a student of a mapped run and keep it there; `load(run)` then labels with it.

    - `run`: the run's folder.
    - `config`: the student's settings; by default `StudentConfig()`.
    - `labels`: labelled segments to learn from, too: a file for `read_gold`, or what it returned. Without
      `labels` and `dev`, a linear student learns from those that the run keeps: given to `map --dev`, or
      labelled on the mapping page.
    - `dev`: the same as `labels`. Only an attention head does not learn from them: they choose which of the
      teacher's answers are certain enough to learn from, and make each aspect more or less likely.
    - `progress`: called as `progress(stage, done)`, where `done` goes from 0 to 1 in each stage.
    """
    if config is not None and not isinstance(config, StudentConfig):
        raise wrong_kind("config", "a StudentConfig, such as StudentConfig(epochs=4)", config)
    check_function(progress, "progress")
    told, judged = map(given_labels, (labels, dev))
    config, fitted, home = config or StudentConfig(), Fitted.load(run), Path(run) / rundir.STUDENT
    kept, left_out = None, list[str]()
    if told is None and judged is None and config.head == "linear":
        kept, left_out = labels_of_run(Path(run), fitted.the_map().aspects)
        told = kept
    aspects, rated = aspects_of_run(Path(run)), load_rated(RunDir(run), fitted.sentiment)
    with disk.locked(Path(run), "distill", wait=0):
        student = train_student(fitted, config, home, told, judged, progress, aspects)
        fast = felt = None
        if isinstance(student, LinearStudent):
            choice = "run" if kept else student.card.choice
            student.card = replace(student.card, choice=choice, notes=(*student.card.notes, *left_out))
            encoder = student.encoder  # fast student and sentiment ask it for much the same texts
            embed = ReadOnce(partial(fitted.encoded, encoder)) if encoder else None
            fast = teach_fast(student, join_gold(told, judged), progress_of("fast", progress), embed)
            felt = refine_sentiment(fitted, rated, student, embed, progress)
        home.mkdir(exist_ok=True)
        with disk.locked(home, "distill"):  # who loads it waits for all of its files
            if fast:
                fast.save(home)
            else:
                (home / rundir.FAST).unlink(missing_ok=True)
            if felt:  # while no student is valid: the new one has the new sentiment
                felt.save(Path(run) / rundir.SENTIMENT)
            student.save_pretrained(home, fitted.the_map())
    return student


def refine_sentiment(
    fitted: Fitted, rated: RatedReviews, student: LinearStudent, embed: Embed | None, progress: Progress
) -> SentimentModel | None:
    """Learn sentiment again, now also from what the encoder, if any, makes of the student's segments."""
    if student.encoder is None:
        return None
    progress("sentiment", 0.0)
    made = learn_sentiment(fitted, rated, student.encoder, embed, student.card.config.n_segments)
    before = fitted.felt().about
    made.about.update({name: before[name] for name in ("made_for", "note") if name in before})
    progress("sentiment", 1.0)
    return made


def train_student(
    fitted: Fitted,
    config: StudentConfig,
    home: Path,
    labels: Gold | None = None,
    dev: Gold | None = None,
    progress: Progress = quiet,
    aspects: Sequence[Aspect] = (),
) -> Student | LinearStudent:
    """Make a student; what the encoder computes is kept in `home`, the student itself is not written.

    `aspects` say more of the map's aspects than their names do; only a linear head uses them.
    """
    if config.head == "attention":
        return train_attention(fitted, config, home, labels, dev, progress)
    return train_linear(fitted, config, aspects, join_gold(labels, dev), progress)
