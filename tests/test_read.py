import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from aspectra.errors import InputError
from aspectra.text.read import Source, open_source, read_reviews
from aspectra.text.rows import Repeats

ROWS = [
    {"id": 1, "text": "Great sound."},
    {"id": 2, "text": "Too dark, “sadly”.\nReally."},
    {"id": 3, "text": "Naïve remote 👍"},
]


def write_rows(path: Path) -> Path:
    frame = pl.DataFrame(ROWS)
    kind = path.name.partition(".")[2]
    if kind == "parquet":
        frame.write_parquet(path)
    else:
        separator = "\t" if kind.startswith("tsv") else ","
        data = (frame.write_ndjson() if "json" in kind else frame.write_csv(separator=separator)).encode()
        path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    return path


def texts(source: Source) -> list[str]:
    return [text for series in source.texts() for text in series]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "ndjson", "parquet", "csv.gz", "tsv.gz", "jsonl.gz"])
def test_every_format_gives_the_same_rows(tmp_path: Path, kind: str) -> None:
    source = open_source([str(write_rows(tmp_path / f"reviews.{kind}"))])
    frame = pl.concat(source.batches())
    assert frame["text"].to_list() == [row["text"] for row in ROWS]
    assert frame["id"].cast(pl.Int64).to_list() == [1, 2, 3]
    assert source.skipped.rows == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_file_has_a_review_a_line(tmp_path: Path, end: str) -> None:
    (tmp_path / "reviews.txt").write_bytes(f'Great, isn\'t it?{end}{end}Bad "one"'.encode())
    source = open_source([str(tmp_path / "reviews.txt")])
    assert texts(source) == ["Great, isn't it?", 'Bad "one"']
    assert source.skipped.summary() == ["reviews.txt: left out 1 row without text (line 2)"]


def test_files_and_globs_are_read_one_after_the_other(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.txt").write_text(f"review {name}\n")
    source = open_source([str(tmp_path / "c.txt"), str(tmp_path / "[ab].txt")])
    assert texts(source) == ["review c", "review a", "review b"]


def test_batches_hold_at_most_so_many_rows_and_lose_none(tmp_path: Path) -> None:
    (tmp_path / "reviews.txt").write_text("".join(f"review {number}\n" for number in range(25)))
    frames = list(open_source([str(tmp_path / "reviews.txt")]).batches(size=10))
    assert [len(frame) for frame in frames] == [10, 10, 5]
    assert pl.concat(frames)["text"].to_list() == [f"review {number}" for number in range(25)]


def test_a_source_can_be_read_again_and_counts_skipped_rows_once(tmp_path: Path) -> None:
    (tmp_path / "reviews.txt").write_text("one\n\ntwo\n")
    source = open_source([str(tmp_path / "reviews.txt")])
    assert texts(source) == texts(source) == ["one", "two"]
    assert len(source.skipped.rows) == 1


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_is_found(tmp_path: Path, mark: str) -> None:
    (tmp_path / "reviews.csv").write_text(f"id{mark}text\n1{mark}fine\n")
    assert texts(open_source([str(tmp_path / "reviews.csv")])) == ["fine"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_encodings_are_read_as_told(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "reviews.csv").write_bytes("text\nschön\n".encode(encoding))
    source = open_source([str(tmp_path / "reviews.csv")], encoding=encoding.removesuffix("-sig"))
    assert source.text_column == "text"
    assert texts(source) == ["schön"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["id", "text", "title"], "text"),
        (["id", "Review Text"], "Review Text"),
        (["reviewText", "comments"], "reviewText"),
        (["user", "what_they_said"], "what_they_said"),
    ],
)
def test_an_obvious_text_column_is_found(tmp_path: Path, columns: list[str], expected: str) -> None:
    row = ["A rather long text, as reviews usually are." if name == expected else "x1" for name in columns]
    pl.DataFrame([row], schema=columns, orient="row").write_csv(tmp_path / "reviews.csv")
    assert open_source([str(tmp_path / "reviews.csv")]).text_column == expected


def test_values_of_several_kinds_in_a_column_become_text(tmp_path: Path) -> None:
    lines = [
        {"text": "a", "x": 1},
        {"text": "b", "x": ["c", 2]},
        {"text": "d", "x": None},
        {"text": "e"},
        {"text": "f", "x": "g"},
    ]
    (tmp_path / "reviews.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (frame,) = open_source([str(tmp_path / "reviews.jsonl")]).batches()
    assert frame["x"].to_list() == ["1", '["c", 2]', None, None, "g"]


def test_a_batch_without_any_text_is_left_out_like_its_rows(tmp_path: Path) -> None:
    lines = [{"text": "a"}, {"text": "b"}, {"text": None}, {"id": 4}, {"text": "e"}, {"text": " "}]
    (tmp_path / "reviews.jsonl").write_text("\n".join(map(json.dumps, lines)))
    source = open_source([str(tmp_path / "reviews.jsonl")])
    assert [frame["text"].to_list() for frame in source.batches(size=2)] == [["a", "b"], [], ["e"]]
    assert source.skipped.summary() == ["reviews.jsonl: left out 3 rows without text (line 3, 4, 6)"]


def test_a_column_stays_where_later_rows_lack_it(tmp_path: Path) -> None:
    lines = [{"text": "a", "stars": 1}, {"text": "b"}]
    (tmp_path / "reviews.jsonl").write_text("\n".join(map(json.dumps, lines)))
    frames = list(open_source([str(tmp_path / "reviews.jsonl")]).batches(size=1))
    assert [frame["stars"].to_list() for frame in frames] == [[1], [None]]


def test_rows_that_cannot_be_read_are_counted_with_their_line_numbers(tmp_path: Path) -> None:
    lines = [
        '{"text": "a"}',
        "",
        "{broken",
        '["list"]',
        '{"text": "cut \\ud83d"}',
        '{"text": ""}',
        '{"text": "b"}',
    ]
    (tmp_path / "reviews.jsonl").write_text("\n".join(lines))
    source = open_source([str(tmp_path / "reviews.jsonl")])
    assert texts(source) == ["a", "cut \ufffd", "b"]
    assert source.skipped.summary() == [
        "reviews.jsonl: left out 2 rows that are not JSON objects (line 3, 4)",
        "reviews.jsonl: left out 1 row without text (line 6)",
    ]


def test_line_numbers_hold_after_a_review_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_text('id,text\n1,"two\n\nlines"\n2,\n3,too,many\n4,fine\n')
    source = open_source([str(tmp_path / "reviews.csv")])
    assert texts(source) == ["two\n\nlines", "fine"]
    assert source.skipped.rows == [
        ("reviews.csv", 6, "that do not have 2 columns"),
        ("reviews.csv", 5, "without text"),
    ]


def test_only_the_first_five_line_numbers_are_said(tmp_path: Path) -> None:
    (tmp_path / "reviews.txt").write_text("fine\n" + "\n" * 7)
    source = open_source([str(tmp_path / "reviews.txt")])
    assert texts(source) == ["fine"]
    assert source.skipped.summary() == ["reviews.txt: left out 7 rows without text (line 2, 3, 4, 5, 6, …)"]


def test_the_fingerprint_is_of_the_content_and_not_of_the_name(tmp_path: Path) -> None:
    for name, text in (("a", "fine\n"), ("b", "fine\n"), ("c", "other\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    first, same, other = (open_source([str(tmp_path / f"{name}.txt")]).fingerprint() for name in "abc")
    assert first == same != other


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.csv",
            b"a,b\n1,2\n",
            r"x.csv has no obvious text column among a, b. Name it: --text-column NAME.",
        ),
        ("x.csv", b"text,text\na,b\n", "has the column 'text' twice. Rename one of them."),
        ("x.csv", b'text\n"a"b\n', r"line 2 cannot be read as CSV .*Fix the line."),
        ("x.csv", b",\n1,2\n", "is empty: no header in line 1."),
        (
            "x.jsonl",
            b'{"text": 1}',
            r"No review with text in .*x.jsonl. x.jsonl: left out 1 row whose text is not text \(line 1\).",
        ),
        ("x.jsonl", b"1\n2\n", "2 rows that are not JSON objects"),
        ("x.parquet", b"PAR1 but not for long", "x.parquet is not a complete Parquet file"),
        ("x.parquet.gz", b"", "Unpack it first: gunzip"),
        ("x.csv.gz", b"text\nnot zipped\n", "is not a complete gzip file"),
        (
            "x.docx",
            b"PK",
            "x.docx is unknown. Known: .csv, .tsv, .jsonl, .ndjson, .parquet, .txt, each also with .gz.",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_with_a_remedy(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(open_source([str(tmp_path / name)]).batches())


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No such file: .*nothing-\*\.csv"):
        open_source([str(tmp_path / "nothing-*.csv")])
    with pytest.raises(InputError, match=r"has no file of a known format"):
        open_source([str(tmp_path)])


def test_columns_that_are_not_there_are_named_with_those_that_are(tmp_path: Path) -> None:
    path = str(write_rows(tmp_path / "reviews.csv"))
    for wrong in ({"text_column": "body"}, {"id_column": "body"}):
        with pytest.raises(InputError, match=r"has no column 'body'; it has id, text. Name one of them."):
            texts(open_source([path], **wrong))
    with pytest.raises(InputError, match=r"Column 'text' cannot be both the id and the text."):
        open_source([path], id_column="text")


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"Unknown encoding 'klingon'. Try utf-8, latin-1, cp1252 or utf-16."
    ):
        open_source([str(write_rows(tmp_path / "reviews.csv"))], encoding="klingon")


def test_reviews_in_memory_have_their_text_in_the_column_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,comment,text\n1,Good sound.,x\n2,,y\n")
    (tmp_path / "b.csv").write_text("id,comment,stars\n3,Bad picture.,5\n")
    with pytest.warns(UserWarning, match=r"a\.csv: left out 1 row without text \(line 3\)"):
        reviews = read_reviews(tmp_path / "a.csv", str(tmp_path / "b.csv"), text_column="comment")
    assert reviews["text"].to_list() == ["Good sound.", "Bad picture."]
    assert reviews["input_text"].to_list() == ["x", None]
    assert reviews["stars"].to_list() == [None, "5"]


def test_reviews_of_a_plain_text_file_are_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Good sound.\nBad picture.\n")
    assert read_reviews(tmp_path / "*.txt")["text"].to_list() == ["Good sound.", "Bad picture."]


def test_reviews_that_repeat_an_earlier_one_are_counted_and_left_out_if_wanted(tmp_path: Path) -> None:
    long, short = "The same five words here.", "Works great."
    path = tmp_path / "a.csv"
    pl.DataFrame({"text": [long, short, short, f" {long}", "Another five words are here.", long]}).write_csv(
        path
    )
    source = open_source([str(path)])
    assert sum(len(frame) for frame in source.batches(2)) == 6
    assert source.repeats.summary(False) == [
        "2 of 6 reviews have the text of an earlier one: --skip-duplicates leaves them out."
    ]
    other = open_source([str(path)], skip_duplicates=True)
    assert pl.concat(other.texts()).to_list() == [long, short, short, "Another five words are here."]
    assert other.fingerprint() != source.fingerprint()


def test_repeated_reviews_are_counted_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aspectra.text.rows.MOST_TEXTS", 500)
    texts = pl.Series([f"Review {number // 2} has five words" for number in range(20_000)])
    about, each = Repeats(), Repeats(each=True)
    for start in range(0, len(texts), 1000):
        about.find(texts[start : start + 1000])
        each.find(texts[start : start + 1000])
    assert each.repeated == 10_000
    assert about.repeated == pytest.approx(10_000, rel=0.2)
    assert sum(map(len, about.seen)) <= 500
    assert about.summary(False)[0].startswith("About ")


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"{name} review\n")
    named = [str(tmp_path), str(tmp_path / "a.txt"), str(tmp_path / "*.txt")]
    assert texts(open_source(named)) == ["a review", "b review"]


def test_what_programs_write_into_an_empty_cell_is_no_text(tmp_path: Path) -> None:
    rows = ["NaN", " None", "NULL", "N/A", "NaN", "None of it works.", "fine"]
    (tmp_path / "reviews.csv").write_text("text\n" + "\n".join(rows))
    source = open_source([str(tmp_path / "reviews.csv")])
    assert texts(source) == rows[-2:]
    assert source.skipped.summary()[:2] == [
        "reviews.csv: left out 2 rows without text, but 'NaN' (line 2, 6)",
        "reviews.csv: left out 1 row without text, but 'None' (line 3)",
    ]
    (tmp_path / "reviews.txt").write_text("None\nfine\n")
    assert texts(open_source([str(tmp_path / "reviews.txt")])) == ["None", "fine"]
