"""The map as a CSV table, to edit in a spreadsheet: one row per topic with its aspect, keywords and a note.

What a person changed in the table comes back as that person's choices. The keywords guard against a table of
other topics.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from aspectra import rundir
from aspectra.config import GENERAL, NOT_REVIEW, UNMAPPED
from aspectra.disk import write_atomic
from aspectra.errors import MapError
from aspectra.text.rows import find_delimiter
from aspectra.topicmap.topicmap import TopicMap

FORMULA = re.compile(r"'*[=+\-@\t\r]")
COLUMNS = ("topic", "aspect", "keywords", "note")


def export_csv(topic_map: TopicMap, path: Path) -> None:
    """Write the map as a table, UTF-8 with a byte order mark so that Excel reads it right."""
    rundir.refuse_own_file(path)
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(COLUMNS)
    for choice in topic_map.choices:
        texts = (choice.aspect or UNMAPPED, " ".join(choice.keywords), choice.why)
        writer.writerow((choice.topic, *map(for_excel, texts)))
    write_atomic(path, table.getvalue().encode("utf-8-sig"))


def import_csv(path: Path, current: TopicMap, by: str) -> TopicMap:
    """Return the current map with the rows that differ in the table as choices of this person.

    An empty aspect or `unmapped` is unmapped; upper or lower case is the same. A row with keywords must have
    those of its topic.
    """
    result, seen = current, set()
    for place, row in read_table(path):
        topic = row_topic(row, current, place)
        if topic in seen:
            raise MapError(f"{place}: topic {topic} is there twice. Remove one.")
        seen.add(topic)
        before = current.choices[topic]
        aspect, note = row_aspect(row, current, place), row.get("note", before.why).strip()
        if (aspect, note) != (before.aspect, before.why):
            result = result.with_choice(topic, aspect, by, note)
    missing = sorted(set(range(len(current.choices))) - seen)
    if missing:
        raise MapError(
            f"{path} has no row for topic {', '.join(map(str, missing))}. "
            "Put it back; leave its aspect empty to unmap it."
        )
    return result


def read_table(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Return each row with its place in words."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise MapError(f"No file {path}. Export the map first and edit that file.") from error
    except OSError as error:
        raise MapError(f"Cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise MapError(f'{path} is not UTF-8. In Excel, save it as "CSV UTF-8".') from error
    header = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=find_delimiter(header), restval="")
    if not {"topic", "aspect"} <= set(reader.fieldnames or ()):
        raise MapError(
            f"{path}, line 1 must name the columns {', '.join(COLUMNS)}; found {header.strip()!r}."
        )
    try:
        return [(f"{path}, line {reader.line_num}", cells(row)) for row in reader]
    except csv.Error as error:
        raise MapError(f"{path}, line {reader.line_num + 1} cannot be read as CSV ({error}).") from error


def cells(row: dict[str, str]) -> dict[str, str]:
    """Return a row as it was exported; cells beyond the last column have no name and are left out."""
    return {name: from_excel(cell) for name, cell in row.items() if name}


def for_excel(cell: str) -> str:
    """Put ' before text that a spreadsheet would run as a formula."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def from_excel(cell: str) -> str:
    """Take that ' away; a spreadsheet may have done so already."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def row_topic(row: dict[str, str], current: TopicMap, place: str) -> int:
    number = row["topic"].strip()
    if not number.isdecimal() or len(number) > 9 or int(number) >= len(current.choices):
        raise MapError(
            f"{place}: topic must be a number from 0 to {len(current.choices) - 1}, got {number[:20]!r}."
        )
    keywords = row.get("keywords", "").split()
    if keywords and keywords != list(current.choices[int(number)].keywords):
        raise MapError(
            f"{place}: these are not the keywords of topic {number}. "
            "The table was made for other topics: export it again."
        )
    return int(number)


def row_aspect(row: dict[str, str], current: TopicMap, place: str) -> str | None:
    name = row["aspect"].strip()
    if name.casefold() in ("", UNMAPPED):
        return None
    spelling = {known.casefold(): known for known in (*current.aspects, GENERAL, NOT_REVIEW)}
    if name.casefold() not in spelling:
        raise MapError(
            f"{place}: unknown aspect {name!r}. Use one of {', '.join(spelling.values())} or {UNMAPPED}."
        )
    return spelling[name.casefold()]
