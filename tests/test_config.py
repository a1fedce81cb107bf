import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from aspectra.config import (
    MODEL_SIZE,
    FitConfig,
    PrepareConfig,
    StudentConfig,
    TeacherConfig,
    TopicsConfig,
    VectorsConfig,
)
from aspectra.errors import AspectraError, ConfigError, InputError, MapError, RunError


def test_defaults_are_the_papers_values() -> None:
    config = FitConfig()
    assert (config.n_topics, config.vector_size, config.window, config.negative) == (30, 128, 5, 5)
    assert (config.attention, config.smoothness, config.temperature, config.penalty_weight) == (
        "smooth",
        0.5,
        1.0,
        1.0,
    )
    assert (config.batch_size, MODEL_SIZE, config.warmup, config.clip) == (50, 1e5, 2000, 2.0)


def test_every_setting_says_what_it_means_and_what_the_paper_has() -> None:
    for spec in dataclasses.fields(FitConfig):
        assert spec.metadata["help"].endswith(".")
        assert spec.metadata["paper"]


def test_stages_share_no_setting_and_leave_out_only_the_seed() -> None:
    names = [
        spec.name
        for stage in (PrepareConfig, VectorsConfig, TeacherConfig, TopicsConfig)
        for spec in dataclasses.fields(stage)
    ]
    assert len(names) == len(set(names))
    assert {spec.name for spec in dataclasses.fields(FitConfig)} - set(names) == {"seed"}


def test_a_config_survives_json() -> None:
    config = FitConfig(n_topics=7, attention="mean", keep_junk=True, temperature=0.2)
    assert FitConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_stage_sees_its_own_settings_only() -> None:
    assert FitConfig(window=3).stage(VectorsConfig) == {
        "vector_size": 128,
        "window": 3,
        "negative": 5,
        "vector_epochs": 0,
    }


def test_a_whole_number_will_do_where_a_fraction_may_stand() -> None:
    assert FitConfig(temperature=1).temperature == 1


def test_numbers_of_numpy_and_paths_become_plain_settings() -> None:
    config = FitConfig(n_topics=np.int64(7), temperature=np.float32(0.5), keep_junk=np.True_)
    assert json.dumps(config.to_dict()) == json.dumps(
        FitConfig(n_topics=7, temperature=0.5, keep_junk=True).to_dict()
    )
    assert StudentConfig(encoder=Path("my") / "encoder").encoder == str(Path("my/encoder"))
    with pytest.raises(ConfigError, match=r"n_topics must be a whole number, got 7\.5"):
        FitConfig(n_topics=np.float64(7.5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_topics": 1}, "n_topics must be from 2 to 10000, got 1."),
        ({"batch_size": 1}, "batch_size must be from 2 to 100000, got 1."),
        ({"temperature": 0.0}, "temperature must be at least 0.05, got 0.0."),
        ({"temperature": float("nan")}, "temperature must be at least 0.05, got nan."),
        ({"smoothness": float("nan")}, "smoothness must be at least 0, got nan."),
        ({"attention": "sharp"}, "attention must be one of smooth, regular, mean, got 'sharp'."),
        ({"n_topics": "30"}, "n_topics must be a whole number, got '30'."),
        ({"n_topics": True}, "n_topics must be a whole number, got True."),
        ({"seed": -1}, "seed must be from 0 to 4294967294, got -1."),
        ({"seed": 2**32}, "seed must be from 0 to 4294967294, got 4294967296."),
        ({"steps": 10**12}, "steps must be from 0 to 100000000, got 1000000000000."),
        ({"smoothness": float("inf")}, "smoothness must be finite, got inf."),
    ],
)
def test_a_value_that_cannot_work_is_refused(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        FitConfig(**settings)
    assert str(caught.value) == message


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Unknown settings \['topics'\]. Known: \['"):
        FitConfig.from_dict({"topics": 3})


def test_the_model_size_of_an_older_run_becomes_part_of_the_learning_factor() -> None:
    assert FitConfig.from_dict({"model_size": 1e5, "clip": 1.0}) == FitConfig(clip=1.0)
    folded = FitConfig.from_dict({"model_size": 4e5, "learning_factor": 3.0})
    assert folded == FitConfig(learning_factor=1.5)


def test_all_our_errors_have_one_base() -> None:
    assert all(issubclass(kind, AspectraError) for kind in (ConfigError, InputError, MapError, RunError))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"teacher_weight": 1.5}, "teacher_weight must be from 0 to 1, got 1.5"),
        ({"attention": "hard"}, "attention must be one of smooth, regular, mean, got 'hard'"),
        ({"epochs": "two"}, "epochs must be a whole number, got 'two'"),
    ],
)
def test_settings_of_the_student_that_cannot_work_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        StudentConfig(**settings)
    with pytest.raises(ConfigError, match="Unknown settings"):
        StudentConfig.from_dict({"nonsense": 1})


def test_few_reviews_need_not_say_a_word_ten_times() -> None:
    assert [FitConfig().least_count(n) for n in (0, 14_000, 33_000, 10**6)] == [2, 2, 6, 10]
    assert FitConfig(min_count=7).least_count(100) == 7
