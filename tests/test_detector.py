import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.utils.estimator_checks as checks
from conftest import TINY
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from aspectra import AspectDetector, evaluate
from aspectra.config import GENERAL, FitConfig
from aspectra.errors import ConfigError, InputError, MapError, RunError
from aspectra.sample import ASPECTS, SEEDS, Sample, generate
from aspectra.scores import Gold, score

SEGMENTS = ["The crema tastes bitter.", "The pump is so loud!", "👍👍", "", "I bought it in May."]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return generate(150, n_gold=2).reviews["text"].to_list()


@pytest.fixture(scope="module")
def tiny(texts: list[str]) -> AspectDetector:
    return AspectDetector(**TINY).fit(texts)


def accuracy(detector: AspectDetector, gold: Gold) -> float:
    return score(gold.aspects, list(detector.predict(gold.texts)), (*ASPECTS, GENERAL)).accuracy


def test_parameters_are_those_of_the_config_with_its_defaults() -> None:
    assert AspectDetector().get_params() == FitConfig().to_dict()


def test_parameters_can_be_set_and_cloned(detector: AspectDetector) -> None:
    assert AspectDetector().set_params(n_topics=7, seed=3).get_params()["n_topics"] == 7
    fresh = clone(detector)
    assert fresh.get_params() == detector.get_params()
    assert not hasattr(fresh, "topics_")
    assert "n_topics=16" in repr(fresh)


def test_fit_returns_itself_and_what_it_learnt_ends_in_an_underscore(texts: list[str]) -> None:
    detector = AspectDetector(**TINY)
    before = set(vars(detector))
    assert detector.fit(texts) is detector
    assert all(name.endswith("_") for name in set(vars(detector)) - before)
    assert detector.get_params() == AspectDetector(**TINY).get_params()


def test_it_can_be_told_whether_it_is_fitted(tiny: AspectDetector) -> None:
    check_is_fitted(tiny)
    with pytest.raises(NotFittedError):
        check_is_fitted(AspectDetector())
    with pytest.raises(AttributeError, match="it is there after fit"):
        AspectDetector().predict(["text"])


@pytest.mark.parametrize(
    "wrap", [tuple, np.array, pd.Series, pl.Series, iter, lambda texts: pd.Series(texts, dtype="string")]
)
def test_texts_may_come_in_any_kind_of_list(
    tiny: AspectDetector, texts: list[str], wrap: Callable[[list[str]], Any]
) -> None:
    assert AspectDetector(**TINY).fit(wrap(texts)).topics_ == tiny.topics_


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_texts_are_no_segments_of_reviews_but_rows_of_predictions(
    detector: AspectDetector, missing: Any
) -> None:
    assert detector.label(["The pump is loud.", missing, "Nice crema."])["review"].to_list() == [0, 2]
    assert detector.predict(pd.Series([missing, "x"], dtype="object")).tolist() == [GENERAL, GENERAL]


def test_it_works_in_a_pipeline(texts: list[str], tiny: AspectDetector) -> None:
    unwrap = FunctionTransformer(lambda texts: [text.strip("*") for text in texts])
    pipeline = Pipeline([("unwrap", unwrap), ("detector", AspectDetector(**TINY))])
    pipeline.set_params(detector__seed=0).fit([f"**{text}**" for text in texts])
    assert pipeline["detector"].topics_ == tiny.topics_
    pipeline["detector"].map_topics({"Taste": [0, 1], "Noise": [2, 3]})
    assert set(pipeline.predict(SEGMENTS)) <= {"Taste", "Noise"}
    assert pipeline.predict_proba(SEGMENTS).shape == (5, 2)


def test_predictions_have_a_row_a_segment_and_agree_with_each_other(
    detector: AspectDetector, gold: Gold
) -> None:
    probabilities, predicted = detector.predict_proba(gold.texts), detector.predict(gold.texts)
    assert detector.classes_.tolist() == ["Taste", "Noise", GENERAL]
    assert probabilities.shape == (len(gold.texts), 3)
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
    assert detector.classes_[probabilities.argmax(1)].tolist() == predicted.tolist()


def test_a_segment_alone_is_predicted_as_among_others(detector: AspectDetector) -> None:
    together = detector.predict_proba(SEGMENTS)
    alone = np.concatenate([detector.predict_proba([segment]) for segment in SEGMENTS])
    np.testing.assert_allclose(alone, together, atol=1e-6)


def test_labels_have_a_row_a_segment_with_aspect_confidence_and_evidence(detector: AspectDetector) -> None:
    frame = detector.label(["The crema tastes bitter. 👍", None, "The pump is so loud! I sent it back."])
    assert frame.columns == [
        "review", "segment", "text", "aspect", "probability", "sentiment", "sentiment_score",
        "sentiment_confidence", "aspects", "aspect_sentiments", "entropy", "margin", "unmapped", "topic",
        "known_words",
        "p_Taste", "p_Noise", "p_General",
    ]  # fmt: skip
    assert frame["review"].to_list() == [0, 2, 2]
    assert frame["segment"].to_list() == [0, 0, 1]
    assert frame["probability"].to_list() == frame.select(pl.max_horizontal("^p_.*$")).to_series().to_list()


def test_no_reviews_give_no_labels(detector: AspectDetector) -> None:
    assert detector.label([]).schema == detector.label(["one"]).schema
    assert len(detector.predict([])) == 0


def test_a_detector_survives_saving_and_loading(detector: AspectDetector, run: Path, gold: Gold) -> None:
    loaded = AspectDetector.load(run)
    assert loaded.get_params() == detector.get_params()
    assert loaded.topics_ == detector.topics_
    assert loaded.topic_map_ == detector.topic_map_
    assert loaded.predict_proba(gold.texts).tobytes() == detector.predict_proba(gold.texts).tobytes()
    assert loaded.corpus_.segments.equals(detector.corpus_.segments)


def test_saving_what_was_loaded_gives_the_same_bytes(run: Path, tmp_path: Path, snapshot: Callable) -> None:
    AspectDetector.load(run).save(tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(run)


def test_fitting_into_a_folder_is_fitting_and_saving(
    texts: list[str], tiny: AspectDetector, tmp_path: Path, snapshot: Callable
) -> None:
    AspectDetector(**TINY).fit(texts, run=tmp_path / "fitted")
    tiny.save(tmp_path / "saved")
    assert snapshot(tmp_path / "fitted") == snapshot(tmp_path / "saved")


def test_copies_predict_the_same(detector: AspectDetector, run: Path) -> None:
    expected = detector.predict(SEGMENTS).tolist()
    assert copy.deepcopy(detector).predict(SEGMENTS).tolist() == expected
    assert pickle.loads(pickle.dumps(AspectDetector.load(run))).predict(SEGMENTS).tolist() == expected


def test_the_same_seed_gives_the_same_topics_and_another_seed_others(
    texts: list[str], tiny: AspectDetector
) -> None:
    assert AspectDetector(**TINY).fit(texts).topics_ == tiny.topics_
    assert AspectDetector(**TINY, seed=1).fit(texts).topics_.fingerprint != tiny.topics_.fingerprint


def test_a_new_fit_forgets_the_map_of_the_old_topics(texts: list[str]) -> None:
    detector = AspectDetector(**TINY).fit(texts).map_topics({"Taste": [0]})
    assert not hasattr(detector.fit(texts), "topic_map_")


@pytest.mark.parametrize("given", ["dev", "seeds"])
def test_it_learns_the_planted_aspects(detector: AspectDetector, gold: Gold, given: str) -> None:
    dev, test = (Gold(gold.texts[part], gold.aspects[part]) for part in (slice(0, 150), slice(150, None)))
    learnt = copy.copy(detector).suggest_map(
        **{"dev": {"dev": dev}, "seeds": {"seeds": SEEDS, "encoder": "none"}}[given]
    )
    always_general = sum(GENERAL in names for names in test.aspects) / len(test.aspects)
    assert accuracy(learnt, test) > always_general + 0.2


def test_a_suggestion_says_why_and_who(detector: AspectDetector) -> None:
    choices = copy.copy(detector).suggest_map(seeds=SEEDS, encoder="none").topic_map_.choices
    assert all(choice.by == "suggestion" and choice.why for choice in choices)
    assert len({choice.aspect for choice in choices}) > 3


def test_a_map_by_hand_leaves_the_other_topics_unmapped(tiny: AspectDetector) -> None:
    mapped = copy.copy(tiny).map_topics({"Taste": [1], "General": [0]}, by="Ada")
    assert [choice.aspect for choice in mapped.topic_map_.choices] == ["General", "Taste", None, None]
    assert {choice.by for choice in mapped.topic_map_.choices} == {"Ada"}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"Taste": [9]}, "No topic 9: there are topics 0 to 3."),
        ({"Taste": [1], "Noise": [1]}, "Topic 1 is mapped to both Taste and Noise. Choose one."),
        ({"unmapped": [1]}, "'unmapped' cannot name an aspect"),
    ],
)
def test_a_map_that_cannot_be_is_refused(
    tiny: AspectDetector, mapping: dict[str, list[int]], message: str
) -> None:
    with pytest.raises(MapError, match=message):
        copy.copy(tiny).map_topics(mapping)


def test_labelling_without_a_map_says_how_to_make_one(tiny: AspectDetector) -> None:
    for label in (tiny.label, tiny.predict, tiny.predict_proba):
        with pytest.raises(MapError, match=r"No topic map yet. Map the topics first: detector.suggest_map"):
            label(SEGMENTS)
    with pytest.raises(MapError, match=r"Nothing to map to: give aspects or dev."):
        tiny.suggest_map()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"Give a list of texts, not one text: \[text\]."),
        ([1, 2], "The texts must be str, got 1."),
        (pl.Series([1, 2]), "The texts must be str, got Int64."),
        (pd.DataFrame({"review": ["a"]}), r"Give one column of texts, not a table: table\['review'\]."),
        ([None, ""], "There is no text in the input: 0 segments."),
        ([], "There is no text in the input: 0 segments."),
    ],
)
def test_what_is_no_list_of_texts_is_refused(texts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        AspectDetector(**TINY).fit(texts)


def test_parameters_are_checked_when_it_is_fitted() -> None:
    with pytest.raises(ConfigError, match=r"n_topics must be from 2 to 10000, got 1."):
        AspectDetector(n_topics=1).fit(["text"])
    with pytest.raises(ConfigError, match=r"language must be one of .* got 'xx'."):
        AspectDetector(language="xx").fit(["text"])


def test_nothing_fitted_is_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"There is nothing to save yet. Fit the detector first."):
        AspectDetector().save(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_second_fit_into_one_run_is_refused_while_the_first_works(texts: list[str], tmp_path: Path) -> None:
    refused = []

    def second(stage: str, done: float) -> None:
        if stage == "teacher" and not refused:
            with pytest.raises(RunError, match="Another aspectra fit is writing"):
                AspectDetector(**TINY, seed=1).fit(texts, run=tmp_path / "run")
            refused.append(stage)

    AspectDetector(**TINY).fit(texts, run=tmp_path / "run", progress=second)
    assert refused
    assert AspectDetector.load(tmp_path / "run").seed == 0


def test_a_table_comes_back_as_one_of_its_library_with_its_other_columns(
    detector: AspectDetector, sample: Sample
) -> None:
    reviews = sample.reviews.head(5)
    ours, theirs = detector.label(reviews), detector.label(reviews.to_pandas())
    assert isinstance(theirs, pd.DataFrame)
    assert theirs.columns.to_list() == ours.columns
    assert ours.columns[: reviews.width - 1] == [name for name in reviews.columns if name != "text"]
    assert ours["text"].to_list() == theirs["text"].to_list()
    assert ours["date"].to_list() == reviews["date"].gather(ours["review"]).to_list()


def test_pandas_in_gives_pandas_out(detector: AspectDetector) -> None:
    texts = pd.Series(["Nice crema.", "Loud pump."])
    assert isinstance(detector.label_segments(texts), pd.DataFrame)
    assert isinstance(detector.label_segments(texts.to_list()), pl.DataFrame)
    assert detector.predict(texts).tolist() == detector.label_segments(texts)["aspect"].to_list()


def test_a_table_whose_text_cannot_be_told_says_what_it_has(detector: AspectDetector) -> None:
    table = pl.DataFrame({"a": ["Nice crema."], "b": ["Loud pump."]})
    with pytest.raises(InputError, match="no column with a usual name; it has a, b"):
        detector.label(table)
    with pytest.raises(InputError, match="no column 'c'; it has a, b"):
        detector.label(table, "c")
    assert detector.label(table, "b")["text"].to_list() == ["Loud pump."]


@pytest.mark.parametrize(
    "check",
    [
        checks.check_estimator_cloneable,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_valid_tag_types,
        checks.check_no_attributes_set_in_init,
        checks.check_do_not_raise_errors_in_init_or_set_params,
        checks.check_parameters_default_constructible,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_mixin_order,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learns_checks_that_need_no_numbers_pass(check: Callable[[str, object], None]) -> None:
    check("AspectDetector", AspectDetector())
    assert get_tags(AspectDetector()).input_tags.string


def test_before_fit_scikit_learn_sees_that_it_is_not_fitted(detector: AspectDetector) -> None:
    with pytest.raises(NotFittedError):
        AspectDetector().predict(["Nice crema."])
    check_is_fitted(detector)


def test_a_notebook_shows_topics_and_their_aspects(detector: AspectDetector) -> None:
    html = detector._repr_mimebundle_()["text/html"]
    assert html.count("<tr>") == 1 + len(detector.topics_.items)
    assert "<td style='text-align: left'>Noise</td>" in html
    assert "text/plain" in AspectDetector()._repr_mimebundle_()


def test_a_grid_search_compares_detectors_by_a_score_that_maps_them(texts: list[str]) -> None:
    answers = (frozenset({"Taste"}), frozenset({"Noise"}))
    gold = Gold(("The crema tastes bitter.", "The pump is so loud!") * 3, answers * 3)

    def share_right(detector: AspectDetector, texts: list[str], y: object = None) -> float:
        return evaluate(detector.suggest_map(dev=gold), gold).accuracy

    search = GridSearchCV(AspectDetector(**TINY), {"seed": np.arange(3, 5)}, scoring=share_right, cv=2).fit(
        texts
    )
    assert search.best_params_["seed"] in (3, 4)
    assert search.best_estimator_.topics_.items


def test_a_choice_for_a_topic_that_is_not_there_is_refused(detector: AspectDetector) -> None:
    with pytest.raises(MapError, match="No topic 99: there are topics 0 to 15"):
        copy.copy(detector).suggest_map(["Taste"], encoder="none", choices={99: "Taste"})


def test_what_a_person_decided_is_in_a_suggested_map(detector: AspectDetector) -> None:
    given = {0: "taste", 1: None, 2: "Nope"}
    made = copy.copy(detector).suggest_map(["Taste"], encoder="none", choices=given).topic_map_
    assert [choice.aspect for choice in made.choices[:3]] == ["Taste", None, "Nope"]
    assert [choice.by_person for choice in made.choices] == [True] * 3 + [False] * 13
    assert made.aspects[:2] == ("Taste", "Nope")


def test_a_suggestion_replaces_a_persons_map_only_if_told_to(detector: AspectDetector, own_run: Path) -> None:
    suggested = copy.copy(detector).suggest_map(["Taste"], encoder="none")
    with pytest.raises(MapError, match=r"a person chose .* only suggested now: 0, 1, .* with replace=True"):
        suggested.save(own_run)
    assert AspectDetector.load(own_run).topic_map_ == detector.topic_map_
    suggested.save(own_run, replace=True)
    assert AspectDetector.load(own_run).topic_map_ == suggested.topic_map_
    copy.copy(detector).map_topics({"Noise": [3]}, by="Ada").save(own_run)
    assert AspectDetector.load(own_run).classes_.tolist() == ["Noise"]


def test_an_encoder_may_be_a_path(detector: AspectDetector, encoder_folder: Path) -> None:
    ours = copy.copy(detector).suggest_map(["Taste"], encoder=encoder_folder)
    theirs = copy.copy(detector).suggest_map(["Taste"], encoder=str(encoder_folder))
    assert [one.aspect for one in ours.topic_map_.choices] == [
        one.aspect for one in theirs.topic_map_.choices
    ]
