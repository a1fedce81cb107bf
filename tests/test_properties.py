"""What must hold for any input: tables of text, requests to page and service, bytes in a run's files."""

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from test_forged import sign

import aspectra
from aspectra import rundir
from aspectra.detector import AspectDetector
from aspectra.errors import AspectraError, InputError
from aspectra.labelling.files import label_source
from aspectra.serve.app import make_app as make_service
from aspectra.serve.batching import Limits
from aspectra.studio.opening import Opening, open_studio
from aspectra.studio.server import make_app as make_page
from aspectra.studio.studio import Studio
from aspectra.text.read import open_source
from aspectra.text.segment import without_html
from aspectra.text.write import write_frames

short = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
Rows = list[dict[str, Any]]

CELLS: dict[str, st.SearchStrategy[Any]] = {
    "note": st.text(max_size=8),
    "aspect": st.text(max_size=3),
    "stars": st.integers(-(2**63), 2**63 - 1),
    "price": st.floats(allow_nan=False, allow_infinity=False),
    "bought": st.booleans(),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Draw rows with a text, an id, and other columns, where values may be missing."""
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), unique=True))
    row = {name: st.none() | CELLS[name] for name in names}
    rows = draw(
        st.lists(st.fixed_dictionaries({"text": st.text(max_size=12), **row}), min_size=1, max_size=5)
    )
    return [{"id": number, **row} for number, row in enumerate(rows)]


def write_rows(rows: Rows, path: Path) -> None:
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)


def read_rows(path: Path) -> Rows:
    if path.suffix == ".csv":
        text = path.read_bytes().decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return pl.read_parquet(path).to_dicts()


def bare(text: str) -> str:
    """Leave out what segments may lose: white space, and marks of a page."""
    return "".join(sign for sign in without_html(pl.Series([text]))[0] if not sign.isspace())


@pytest.mark.parametrize(
    ("given_as", "written_as"), [(".csv", ".csv"), (".jsonl", ".parquet"), (".parquet", ".jsonl")]
)
@short
@example(rows=[{"id": 0, "text": "\x1c", "note": None}, {"id": 1, "text": "Loud.", "note": "=1"}])
@given(rows=tables())
def test_every_row_and_every_carried_value_comes_through(
    detector: AspectDetector, tmp_path: Path, given_as: str, written_as: str, rows: Rows
) -> None:
    source, output = tmp_path / f"in{given_as}", tmp_path / f"out{written_as}"
    write_rows(rows, source)
    try:
        reviews = open_source([str(source)], "text", "id")
        write_frames(label_source(detector.labeller(), reviews, lambda *n: None), output, raw_cells=True)
    except InputError as error:
        told = str(error)
        assert not any(bare(row["text"]) for row in rows) or ("NUL" in told and given_as == ".csv")
        return
    found, lost = read_rows(output), 0
    for row in rows:
        segments = [one for one in found if int(one["id"]) == row["id"]]
        lost += not segments
        assert "".join(bare(one["text"]) for one in segments) == bare(row["text"])
        for name in set(row) - {"text", "id"}:
            kept = {json.dumps(one["input_aspect" if name == "aspect" else name]) for one in segments}
            in_csv = "" if row[name] is None else str(row[name])
            assert kept <= {json.dumps(in_csv if written_as == ".csv" else row[name])}
    assert lost == len(reviews.skipped.rows)


@pytest.fixture(scope="module")
def studio(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Studio:
    own = Path(shutil.copytree(run, tmp_path_factory.mktemp("page") / "run"))
    return open_studio(own, Opening(by="Ada", aspects=("Taste", "Noise"), encoder="none", replace=True))


@pytest.fixture(scope="module")
def page(studio: Studio) -> Iterator[TestClient]:
    app = make_page(studio, "sesame", 8765, lambda: None)
    with TestClient(app, "http://127.0.0.1:8765", cookies={"aspectra-8765": "sesame"}) as client:
        yield client


@pytest.fixture(scope="module")
def service(detector: AspectDetector) -> Iterator[TestClient]:
    app = make_service(detector.label, detector.topic_map_, Limits(), local=True)
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        yield client


FIELDS = ("choices", "topic", "text", "names", "name", "to", "place", "hue", "about", "words", "examples")
PLAUSIBLE = st.sampled_from(
    ["Taste", "Noise", "General", "Smell", 0, 3, "3", ["Smell"], {"0": "Taste"}, None]
)
ACTIONS = st.fixed_dictionaries(
    {
        "kind": JSON
        | st.sampled_from(["assign", "note", "add", "rename", "delete", "move", "colour", "describe"])
    },
    optional=dict.fromkeys(FIELDS, PLAUSIBLE | JSON),
)


def state_of(studio: Studio) -> tuple[Any, ...]:
    session = studio.session
    files = [path.read_bytes() for path in (session.path, studio.run / rundir.DEV) if path.exists()]
    return session.state, session.version, len(session.done), studio.own, files


@short
@given(action=ACTIONS | JSON, version=st.none() | JSON)
def test_an_action_is_done_or_changes_nothing(
    studio: Studio, page: TestClient, action: Any, version: Any
) -> None:
    before = state_of(studio)
    sent = {"action": action, "version": studio.session.version if version is None else version}
    answer = page.post("/api/act", content=json.dumps(sent))
    assert answer.status_code in (200, 400, 409)
    assert answer.status_code == 200 or state_of(studio) == before


@short
@given(path=st.sampled_from(["/api/act", "/api/try", "/api/answer"]), sent=JSON | st.binary(max_size=20))
def test_any_body_sent_to_the_page_is_refused_in_a_sentence(
    studio: Studio, page: TestClient, path: str, sent: Any
) -> None:
    before = state_of(studio)
    content = sent if isinstance(sent, bytes) else json.dumps(sent)
    answer = page.post(path, content=content)
    assert answer.status_code in (400, 409)
    assert answer.json()["error"]
    assert state_of(studio) == before


@short
@given(row=PLAUSIBLE | JSON, aspect=PLAUSIBLE | JSON, drawn=st.sampled_from(["random", "doubtful"]) | JSON)
def test_any_label_is_kept_or_refused(
    studio: Studio, page: TestClient, row: Any, aspect: Any, drawn: Any
) -> None:
    before = len(studio.own or ())
    sent = {"row": row, "aspect": aspect, "drawn": drawn}
    answer = page.post("/api/answer", content=json.dumps(sent))
    assert answer.status_code in (200, 400)
    assert len(studio.own or ()) - before == (answer.status_code == 200 and aspect is not None)


@short
@given(
    words=st.lists(
        st.text(max_size=20) | st.sampled_from(["card", "trials", "api", "page", ".."]), max_size=4
    )
)
def test_any_address_of_the_page_has_an_answer(page: TestClient, words: list[str]) -> None:
    path = "/api/" + "/".join(quote(word, safe="") for word in words)
    assert page.get(path, params={"seed": "".join(words)}).status_code < 500


@short
@given(sent=JSON | st.fixed_dictionaries({"texts": JSON | st.lists(st.text(max_size=20), max_size=3)}))
def test_any_json_sent_to_the_service_is_labelled_or_refused(service: TestClient, sent: Any) -> None:
    answer = service.post("/label", content=json.dumps(sent), headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        assert {row["review"] for row in answer.json()["segments"]} <= set(range(len(sent["texts"])))
    else:
        assert answer.json()["detail"]


TEXT = "The crema tastes bitter. It is loud."
NAMES = [
    rundir.MANIFEST,
    rundir.TOPIC_MAP,
    *(name for names in rundir.STAGE_FILES.values() for name in names),
]


@pytest.fixture(scope="module")
def spoilt_run(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(run, tmp_path_factory.mktemp("spoilt") / "run"))


@pytest.fixture(scope="module")
def right(run: Path) -> pl.DataFrame:
    return aspectra.load(run).label([TEXT])


def mutated(data: bytes, cut: float, put: bytes) -> bytes:
    """Put bytes in the place of others."""
    at = int(cut * len(data))
    return data[:at] + put + data[at + len(put) :]


@settings(short, max_examples=60)
@given(
    name=st.sampled_from(NAMES),
    cut=st.none() | st.floats(0, 1),
    put=st.binary(max_size=20),
    signed=st.booleans(),
)
def test_any_bytes_in_a_runs_file_are_refused_or_change_no_answer(
    run: Path,
    spoilt_run: Path,
    right: pl.DataFrame,
    name: str,
    cut: float | None,
    put: bytes,
    signed: bool,
) -> None:
    own = spoilt_run / name
    own.write_bytes(put if cut is None else mutated(own.read_bytes(), cut, put))
    try:
        if signed and name not in (rundir.MANIFEST, rundir.TOPIC_MAP):
            sign(spoilt_run)
        answer = aspectra.load(spoilt_run).label([TEXT])
        same = answer.equals(right)
    except AspectraError:
        same = True
    finally:
        for changed in (name, rundir.MANIFEST):
            shutil.copy(run / changed, spoilt_run / changed)
    assert same or signed
