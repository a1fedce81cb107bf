from pathlib import Path

import pytest
from test_topicmap import make_map

from aspectra.config import GENERAL
from aspectra.errors import MapError
from aspectra.topicmap.spreadsheet import export_csv, import_csv
from aspectra.topicmap.topicmap import SUGGESTION


def test_an_untouched_table_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    topic_map = make_map("Image", GENERAL, None)
    export_csv(topic_map, path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbftopic,aspect,keywords,note")
    assert import_csv(path, topic_map, by="Ada") == topic_map


def test_text_that_excel_would_run_is_text_there_and_comes_back(tmp_path: Path) -> None:
    path, notes = tmp_path / "map.csv", ("=1+1", "'=x", "it's fine")
    topic_map = make_map("Image", "Image", "Image")
    for topic, note in enumerate(notes):
        topic_map = topic_map.with_choice(topic, "Image", "Ada", note)
    export_csv(topic_map, path)
    cells = [line.rpartition(",")[2] for line in path.read_text().splitlines()[1:]]
    assert cells == ["'=1+1", "''=x", "it's fine"]
    assert import_csv(path, topic_map, by="Bob") == topic_map


@pytest.mark.parametrize("content", [b"topic,aspect\n0,\0", b"topic,aspect\n" + b"9" * 5000 + b",Image\n"])
def test_a_table_that_cannot_be_read_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "map.csv").write_bytes(content)
    with pytest.raises(MapError, match="line 2"):
        import_csv(tmp_path / "map.csv", make_map("Image"), by="Ada")
    with pytest.raises(MapError, match="Cannot read"):
        import_csv(tmp_path, make_map("Image"), by="Ada")


def test_a_table_edited_in_a_spreadsheet_gives_choices_of_that_person(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    path.write_text(
        "topic;aspect;keywords;note\n2;general;;vage\n0; ;picture color;words fit\n1;sound;;words fit\n",
        encoding="utf-8",
    )
    before = make_map("Image", "Sound", None)
    after = import_csv(path, before, by="Ada")
    assert [choice.aspect for choice in after.choices] == [None, "Sound", GENERAL]
    assert [choice.by for choice in after.choices] == ["Ada", SUGGESTION, "Ada"]
    assert after.choices[2].why == "vage"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "0,Smell",
            r"line 2: unknown aspect 'Smell'\. Use one of Image, Sound, General, Not a review or unmapped",
        ),
        ("0,Image\n0,Image", "line 3: topic 0 is there twice"),
        ("9,Image", "line 2: topic must be a number from 0 to 2, got '9'"),
        ("0,Image,loud speaker", "line 2: these are not the keywords of topic 0"),
        ("0,Image", "no row for topic 1, 2"),
    ],
)
def test_a_bad_table_is_refused_with_the_line(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "map.csv"
    path.write_text(f"topic,aspect,keywords\n{rows}\n", encoding="utf-8")
    with pytest.raises(MapError, match=message):
        import_csv(path, make_map("Image", "Sound", None), by="Ada")


@pytest.mark.parametrize(
    ("data", "message"), [(b"topic,aspect\n\xff", "save it as"), (b"a,b\n", "line 1 must name the columns")]
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "map.csv"
    path.write_bytes(data)
    with pytest.raises(MapError, match=message):
        import_csv(path, make_map("Image"), by="Ada")
