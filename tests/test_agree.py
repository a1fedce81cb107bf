from pathlib import Path

import pytest
from conftest import make_map

from aspectra.errors import MapError
from aspectra.topicmap.agree import agreed, compare, kappa, map_path, read_other_maps
from aspectra.topicmap.topicmap import SUGGESTION, write_map


def test_kappa_equals_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    one, two = (
        ["Image", "Sound", "Sound", None, "Image", None],
        ["Image", "Image", "Sound", None, "Sound", "Sound"],
    )
    expected = cohen_kappa_score([str(aspect) for aspect in one], [str(aspect) for aspect in two])
    assert kappa(make_map(*one), make_map(*two)) == pytest.approx(expected)


def test_open_topics_do_not_count_for_agreement() -> None:
    assert kappa(make_map("Image", by=SUGGESTION), make_map("Sound")) is None
    assert kappa(make_map("Image"), make_map("Image")) == 1


def test_conflicts_name_who_chose_what_and_the_rest_is_agreed() -> None:
    maps = {"Ada": make_map("Image", "Sound", None), "Ben": make_map("Image", None, None, by="Ben")}
    found = compare(maps)
    assert found["conflicts"] == {1: {"Ada": "Sound", "Ben": None}}
    assert (found["pairs"][0]["first"], found["pairs"][0]["n"]) == ("Ada", 3)
    assert [(choice.aspect, choice.by) for choice in agreed(maps).choices] == [
        ("Image", "Ada + Ben"),
        (None, SUGGESTION),
        (None, "Ada + Ben"),
    ]


def test_maps_are_kept_side_by_side_and_those_on_other_topics_are_ignored(tmp_path: Path) -> None:
    write_map(map_path(tmp_path, "Ada"), make_map("Image"))
    write_map(map_path(tmp_path, "Ben"), make_map("Sound"))
    assert list(read_other_maps(tmp_path, "print", but="Ben")) == ["Ada"]
    assert read_other_maps(tmp_path, "other print", but=None) == {}


@pytest.mark.parametrize("name", ["", "../Ada", "Ada Lovelace", "a" * 41])
def test_an_annotators_name_must_fit_in_a_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(MapError, match="1 to 40 letters"):
        map_path(tmp_path, name)
