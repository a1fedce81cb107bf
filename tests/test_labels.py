import json
from pathlib import Path

import pytest

from aspectra.aspects.aspects import Aspect, aspects_of_run, write_aspects
from aspectra.errors import InputError
from aspectra.rundir import ASPECTS, DEV, LABELS
from aspectra.scores import Gold
from aspectra.topicmap.labels import keep_labels, labels_of_run, take_over

GIVEN = Gold(("Loud.", "Dear, but quiet."), (frozenset(["Noise"]), frozenset(["Price", "Noise"])))


def on_page(run: Path, *rows: tuple[str, str]) -> None:
    lines = [json.dumps({"text": text, "aspects": [name], "drawn": "random"}) for text, name in rows]
    (run / DEV).write_text("\n".join(lines))


def test_labels_that_a_map_was_made_with_are_kept_as_they_were_given(tmp_path: Path) -> None:
    assert keep_labels(tmp_path, GIVEN) == ""
    assert labels_of_run(tmp_path, ("Noise", "Price")) == (GIVEN, [])


def test_a_map_without_labels_forgets_those_of_the_map_before_and_says_so(tmp_path: Path) -> None:
    assert keep_labels(tmp_path, None) == ""
    keep_labels(tmp_path, GIVEN)
    assert "no longer kept" in keep_labels(tmp_path, None)
    assert labels_of_run(tmp_path, ("Noise", "Price")) == (None, [])


def test_what_was_labelled_on_the_page_comes_before_what_was_given(tmp_path: Path) -> None:
    keep_labels(tmp_path, GIVEN)
    on_page(tmp_path, ("Loud.", "Price"), ("Heavy.", "Weight"))
    found, notes = labels_of_run(tmp_path, ("Noise", "Price"))
    assert found == Gold(("Dear, but quiet.", "Loud."), (GIVEN.aspects[1], frozenset(["Price"])))
    assert notes == ["Left out of the run's labels, because the map does not have their aspects: 1."]


def test_damaged_labels_are_named(tmp_path: Path) -> None:
    (tmp_path / LABELS).write_text("no JSON")
    with pytest.raises(InputError, match=r"labels.jsonl, line 1 is not JSON"):
        labels_of_run(tmp_path, ("Noise",))


def test_a_new_run_takes_over_descriptions_and_labels_but_keeps_its_own(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for run in (old, new):
        run.mkdir()
    said = [Aspect("Noise", words=("hum",)), Aspect("Price", about="What it costs.")]
    write_aspects(old / ASPECTS, said)
    write_aspects(new / ASPECTS, [Aspect("noise"), Aspect("Price", words=("dollar",))])
    keep_labels(old, GIVEN)
    on_page(old, ("Loud.", "Noise"))
    on_page(new, ("Heavy.", "Weight"))
    take_over(old, new)
    assert aspects_of_run(new) == (Aspect("noise", words=("hum",)), Aspect("Price", words=("dollar",)))
    assert (new / LABELS).read_bytes() == (old / LABELS).read_bytes()
    assert "Heavy." in (new / DEV).read_text()


def test_labels_of_a_renamed_aspect_go_with_it_also_into_another_run(tmp_path: Path) -> None:
    page = {"aliases": {"Noise": "Loudness", "Cost": "Price"}, "hues": {"Loudness": 0, "Price": 1, "Cost": 2}}
    (tmp_path / "studio.json").write_text(json.dumps(page))
    on_page(tmp_path, ("Loud.", "Noise"), ("Dear.", "Cost"))
    found = labels_of_run(tmp_path, ("Loudness", "Price", "Cost"))
    assert found == (Gold(("Loud.", "Dear."), (frozenset(["Loudness"]), frozenset(["Cost"]))), [])
    (tmp_path / "new").mkdir()
    take_over(tmp_path, tmp_path / "new")
    first = json.loads((tmp_path / "new" / DEV).read_text().splitlines()[0])
    assert first == {"text": "Loud.", "aspects": ["Loudness"], "drawn": "random"}


def test_nothing_is_taken_over_from_a_damaged_run(tmp_path: Path) -> None:
    (tmp_path / LABELS).write_text("no JSON")
    write_aspects(tmp_path / ASPECTS, [Aspect("Noise", words=("hum",))])
    (tmp_path / "new").mkdir()
    with pytest.raises(InputError, match="is not JSON"):
        take_over(tmp_path, tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
