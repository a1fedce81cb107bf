"""The files that we write are what their schemas in docs/schemas say."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from referencing import Registry, Resource

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"
RUN_FILES = {
    "manifest": "manifest.json",
    "settings": "config.json",
    "vocabulary": "vocabulary.json",
    "topics": "topics.json",
    "history": "history.jsonl",
    "topic_map": "topic_map.json",
    "student": "student/config.json",
}


@cache
def validator(name: str) -> Any:
    schemas = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
    known = Registry().with_resources((file, Resource.from_contents(one)) for file, one in schemas.items())
    schema = schemas[f"{name}.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=known)


@pytest.mark.parametrize("name", RUN_FILES)
def test_the_files_of_a_run_are_what_their_schemas_say(student_run: Path, name: str) -> None:
    first = (student_run / RUN_FILES[name]).read_text()
    value = json.loads(first.splitlines()[0] if RUN_FILES[name].endswith(".jsonl") else first)
    assert [error.message for error in validator(name).iter_errors(value)] == []
    assert not validator(name).is_valid({})


def test_labels_and_gold_are_what_their_schemas_say(labelled_file: Path, gold_file: Path) -> None:
    rows = [json.loads(line) for line in pl.read_parquet(labelled_file).head(50).write_ndjson().splitlines()]
    assert [error.message for row in rows for error in validator("label").iter_errors(row)] == []
    assert not validator("label").is_valid({**rows[0], "probability": 2})
    assert validator("gold").is_valid(json.loads(gold_file.read_text().splitlines()[0]))


def test_every_schema_has_a_version_and_a_place_in_the_docs() -> None:
    page = (SCHEMAS.parent / "formats.md").read_text()
    schemas = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
    told = [f"[{name}](schemas/{name}) | {schema['version']}" for name, schema in schemas.items()]
    assert [line for line in told if line not in page] == []
    assert len(told) == 10
