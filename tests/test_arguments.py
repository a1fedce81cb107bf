"""Public functions refuse arguments of a wrong kind with an error of ours, in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import TINY
from sklearn.exceptions import NotFittedError

import aspectra
from aspectra import AspectDetector, AspectraError, StudentConfig
from aspectra.arguments import as_names, as_path, wrong_kind
from aspectra.errors import InputError

TABLE = pd.DataFrame({"text": ["a"], "stars": [5]})
ODD: tuple[Any, ...] = (3, 2.5, np.array(3), np.array([[1, 2], [3, 4]]), TABLE, object(), StudentConfig)
FOLDERS = (*ODD, ["a"], b"a", "a\0b", "a" * 5_000, "a\ud800")
PATHS = (*FOLDERS, None)
TEXTS = (*ODD, None, ["a"], b"a")
NAMES = (*ODD, "Taste", {"Taste": ["sour"]}, [3], b"a")
FUNCTIONS = (3, None, "print", TABLE)
SEGMENTS = (3, None, "one text", b"a", np.array(3), [3], TABLE, pd.DataFrame(), {"a": 1}, object())
OPTIONAL = (*ODD, ["a"], b"a")

Call = Callable[[AspectDetector, Path, Any], object]
CALLS: dict[str, tuple[tuple[Any, ...], Call]] = {
    "read_reviews files": (PATHS, lambda d, run, it: aspectra.read_reviews(it)),
    "read_reviews text_column": (OPTIONAL, lambda d, run, it: aspectra.read_reviews("x.csv", text_column=it)),
    "read_reviews encoding": (TEXTS, lambda d, run, it: aspectra.read_reviews("x.csv", encoding=it)),
    "read_reviews skip": (OPTIONAL, lambda d, run, it: aspectra.read_reviews("x.csv", skip_duplicates=it)),
    "read_gold": (PATHS, lambda d, run, it: aspectra.read_gold(it)),
    "settings": ((*TEXTS, "x"), lambda d, run, it: AspectDetector(segment=it).fit(["text"])),
    "fit X": (SEGMENTS, lambda d, run, it: AspectDetector().fit(it)),
    "fit run": (FOLDERS, lambda d, run, it: AspectDetector().fit(["text"], run=it)),
    "fit ratings": ((*NAMES, [TABLE], [b"a"], ["x"]), lambda d, run, it: d.fit(["text"], ratings=it)),
    "fit progress": (FUNCTIONS, lambda d, run, it: AspectDetector().fit(["text"], progress=it)),
    "map_topics mapping": ((*TEXTS, "Taste"), lambda d, run, it: d.map_topics(it)),
    "map_topics topics": ((*ODD[1:], None, "12", [True]), lambda d, run, it: d.map_topics({"Taste": it})),
    "map_topics by": ((*TEXTS, Path("a"), "\ud800"), lambda d, run, it: d.map_topics({"Taste": [1]}, by=it)),
    "suggest_map aspects": ((*ODD, [3], {"Taste": ["sour"]}, b"a"), lambda d, run, it: d.suggest_map(it)),
    "suggest_map seeds": ((*ODD, ["a"], "a"), lambda d, run, it: d.suggest_map(seeds=it)),
    "suggest_map words": (NAMES, lambda d, run, it: d.suggest_map(seeds={"Taste": it})),
    "suggest_map dev": (OPTIONAL, lambda d, run, it: d.suggest_map(dev=it)),
    "suggest_map encoder": ((*TEXTS, "a" * 5_000), lambda d, run, it: d.suggest_map(["Taste"], encoder=it)),
    "suggest_map choices": ((*ODD, ["a"]), lambda d, run, it: d.suggest_map(["Taste"], choices=it)),
    "suggest_map choice": (OPTIONAL, lambda d, run, it: d.suggest_map(["Taste"], choices={1: it})),
    "suggest_map progress": (FUNCTIONS, lambda d, run, it: d.suggest_map(["Taste"], progress=it)),
    "topic_probabilities": (SEGMENTS, lambda d, run, it: d.topic_probabilities(it)),
    "label": ((*SEGMENTS[:6], pd.DataFrame(), {"a": 1}), lambda d, run, it: d.label(it)),
    "label text_column": (OPTIONAL, lambda d, run, it: d.label(TABLE, text_column=it)),
    "label count": (FUNCTIONS, lambda d, run, it: d.labeller().label(["text"], it)),
    "label_segments": (SEGMENTS, lambda d, run, it: d.label_segments(it)),
    "label_segments only": (NAMES, lambda d, run, it: d.label_segments(["text"], it)),
    "predict": (SEGMENTS, lambda d, run, it: d.predict(it)),
    "predict_proba": (SEGMENTS, lambda d, run, it: d.predict_proba(it)),
    "save": (PATHS, lambda d, run, it: d.save(it)),
    "save replace": (TEXTS, lambda d, run, it: d.save(run, replace=it)),
    "AspectDetector.load": (PATHS, lambda d, run, it: AspectDetector.load(it)),
    "AspectDetector.load with_map": (TEXTS, lambda d, run, it: AspectDetector.load(run, with_map=it)),
    "distill run": (PATHS, lambda d, run, it: aspectra.distill(it)),
    "distill config": ((*OPTIONAL, {"epochs": 4}), lambda d, run, it: aspectra.distill(run, it)),
    "distill labels": (OPTIONAL, lambda d, run, it: aspectra.distill(run, labels=it)),
    "distill progress": (FUNCTIONS, lambda d, run, it: aspectra.distill(run, progress=it)),
    "StudentConfig": (TEXTS[3:], lambda d, run, it: StudentConfig(epochs=it)),
    "StudentConfig.from_dict": ((*TEXTS, {3: 4}), lambda d, run, it: StudentConfig.from_dict(it)),
    "StudentConfig.thresholds": ((*TEXTS[1:], 0), lambda d, run, it: StudentConfig().thresholds(it)),
    "load run": (PATHS, lambda d, run, it: aspectra.load(it)),
    "load model": ((*OPTIONAL, "x"), lambda d, run, it: aspectra.load(run, it)),
    "load threads": ((*TEXTS[1:], -1, "2"), lambda d, run, it: aspectra.load(run, threads=it)),
    "evaluate run": ((*PATHS, AspectDetector), lambda d, run, it: aspectra.evaluate(it, "gold.jsonl")),
    "evaluate gold": (PATHS, lambda d, run, it: aspectra.evaluate(d, it)),
    "evaluate only": (NAMES, lambda d, run, it: aspectra.evaluate(d, "gold.jsonl", only=it)),
    "build_report run": (PATHS, lambda d, run, it: aspectra.build_report(it, "labels.csv", "r.html")),
    "build_report labels": (PATHS, lambda d, run, it: aspectra.build_report(run, it, "r.html")),
    "build_report output": (PATHS, lambda d, run, it: aspectra.build_report(run, "labels.csv", it)),
    "build_report by": (OPTIONAL, lambda d, run, it: aspectra.build_report(run, "l.csv", "r.html", by=it)),
    "build_report gold": (FOLDERS, lambda d, run, it: aspectra.build_report(run, "l", "r.html", gold=it)),
    "build_report title": (OPTIONAL, lambda d, run, it: aspectra.build_report(run, "l", "r.html", title=it)),
    "update run": (PATHS, lambda d, run, it: aspectra.update(it, ["text"])),
    "update reviews": (SEGMENTS, lambda d, run, it: aspectra.update(run, it)),
    "update rare_words": (TEXTS, lambda d, run, it: aspectra.update(run, ["text"], rare_words=it)),
    "update progress": (FUNCTIONS, lambda d, run, it: aspectra.update(run, ["text"], progress=it)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_kind_of_argument_is_refused_in_one_line(
    name: str, detector: AspectDetector, own_run: Path
) -> None:
    kinds, call = CALLS[name]
    for given in kinds:
        with pytest.raises(AspectraError) as refused:
            call(AspectDetector.load(own_run), own_run, given)
        assert "\n" not in str(refused.value), given
        assert len(str(refused.value)) < 400, given


def test_an_error_says_what_was_wanted_and_what_was_given() -> None:
    assert str(wrong_kind("run", "a path", 3)) == "run must be a path, got int 3."
    assert str(wrong_kind("run", "a path", None)) == "run must be a path, got None."
    with pytest.raises(InputError, match=r"run must be shorter than 5000 characters, got str 'xxx.*xxx'\."):
        as_path("x" * 5_000, "run")


def test_names_may_come_in_any_kind_of_list() -> None:
    for given in (["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Series(["a", "b"]), pl.Series(["a", "b"])):
        assert as_names(given, "only") == ("a", "b")


def test_what_needs_a_fit_says_so() -> None:
    empty = AspectDetector(**TINY)
    for use in (empty.predict, empty.label, empty.topic_probabilities, empty.label_segments):
        with pytest.raises(NotFittedError, match="it is there after fit"):
            use(["text"])
    for use in (lambda: empty.map_topics({"Taste": [1]}), lambda: empty.suggest_map(["Taste"])):
        with pytest.raises(NotFittedError, match="it is there after fit"):
            use()
