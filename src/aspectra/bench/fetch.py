"""Fetch published data from its public sources, with checksums.

A broken download goes on when it is repeated; a file with a wrong checksum is not kept.
"""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from aspectra.errors import InputError
from aspectra.progress import Progress
from aspectra.rundir import checksum

CHUNK = 1 << 16
TIMEOUT = 30
NO_SUCH_RANGE = 416


@dataclass(frozen=True)
class Remote:
    """A file: where it goes below the data folder, its SHA-256, and its address, if it can be fetched."""

    to: str
    sha256: str
    url: str = ""


@dataclass(frozen=True)
class Origin:
    """One published set of files; `by_hand` says what to do when they cannot be fetched."""

    files: tuple[Remote, ...]
    by_hand: str


def oposum(*checksums: tuple[str, str]) -> tuple[Remote, ...]:
    commit = "ee37968cc341ecc56022b8401ea59561632397a7"
    base = f"https://raw.githubusercontent.com/stangelid/oposum/{commit}/data/gold/aspects/"
    return tuple(Remote(f"oposum/{name}.asp", digest, f"{base}{name}.asp") for name, digest in checksums)


def citysearch(*checksums: tuple[str, str]) -> tuple[Remote, ...]:
    commit = "05af3006acdd2dd11e3bdaf711fe6592f53e7b41"
    base = f"https://raw.githubusercontent.com/JaTrev/unsupervised_graph-based/{commit}/data/restaurant/"
    return tuple(Remote(f"citysearch/{name}", digest, base + name) for name, digest in checksums)


ORIGINS = {
    "oposum": Origin(
        oposum(
            ("bags_and_cases-dev", "057c6b0379137899d5aa62236b534e05174d611b949786224737bbc60475b830"),
            ("bags_and_cases-tst", "4afd5ed1be17d8682b75c98914ff78284b467283f071e3bc2bb53da26f68fcc4"),
            ("bluetooth-dev", "eb878db5473f9ccc454f3ea465a15ce03fc4c817aa396b4e5dfa243387dfc5a2"),
            ("bluetooth-tst", "be772c7c63619a7fa2816139c3158e3d6d4c7ca00815ffd9ad9d4f75e60ff7af"),
            ("boots-dev", "dfaa93d933a8e12b2bb7206e4b8d2ff2be7f3b84d135c7ba6da2db9b8fb5ac7a"),
            ("boots-tst", "e6724a7d71216279e0e4243e36644fe10eeb3f87b4bd1d50c035f94dba433570"),
            ("keyboards-dev", "c6c4894ff2b457cc3c319d991cdcf009c5ceeb16b7220c9020c2f5383b522a52"),
            ("tv-dev", "a2870b8ea618ae58c9fb4f245deb59470b21e438a42dd87f767c3c61cca8405c"),
            ("tv-tst", "98e3444cb83fc4f237a64b364ac555652b97f991b36ee4786550a03e3e93c5bb"),
            ("vacuums-dev", "d5bc727445bd2427076bc57c274e245b941552bb2898e52b367e2bcd562a5a13"),
        ),
        "Take the files of data/gold/aspects in https://github.com/stangelid/oposum "
        "and put them in {folder}/oposum.",
    ),
    "citysearch": Origin(
        citysearch(
            ("test.txt", "4e3b0ce7779865b05bd15d1c8b9e81e20b033387b4b7b4495ec45cda5796c615"),
            ("test_label.txt", "5e4b8846023f63679a4232e74566ee341a178cc240d339d4f4ed7eecc0890d9f"),
        ),
        "Take test.txt and test_label.txt of the restaurant data that "
        "https://github.com/ruidan/Unsupervised-Aspect-Extraction links to "
        "and put them in {folder}/citysearch.",
    ),
    "semeval": Origin(
        (
            Remote(
                "semeval/restaurants-2014-test.xml",
                "3ca8e63fe883bc694e93e062c68c0ddfa670b41f7f91d1dd6896b057faf94953",
            ),
            Remote(
                "semeval/restaurants-2015-test.xml",
                "26085008a5182381504fefdb7b56654baccd08851c900e6b05452055d9cfede9",
            ),
        ),
        "SemEval asks for a registration: get the restaurants test files with gold labels of 2014 (task 4) "
        "and 2015 (task 12) at http://metashare.ilsp.gr:8080 and save them as "
        "{folder}/semeval/restaurants-2014-test.xml and restaurants-2015-test.xml.",
    ),
}


def get(name: str, folder: Path, progress: Progress) -> list[Path]:
    """Fetch what is not there yet of one origin; return all its files."""
    if name not in ORIGINS:
        raise InputError(f"No data {name!r}. There are {', '.join(ORIGINS)}.")
    origin = ORIGINS[name]
    by_hand = origin.by_hand.format(folder=folder)
    for file in origin.files:
        path = folder / file.to
        if path.exists() and checksum(path) != file.sha256:
            raise InputError(f"{path} is not the published file (another SHA-256). Move it away and repeat.")
        if not path.exists():
            if not file.url:
                raise InputError(f"{path} is not there. {by_hand}")
            fetch(file, path, by_hand, progress)
        progress(file.to, 1.0)
    return [folder / file.to for file in origin.files]


def fetch(file: Remote, path: Path, by_hand: str, progress: Progress) -> None:
    """Download into a .part file, or go on with one; rename it if its checksum is right."""
    part = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        download(file, part, progress)
    except urllib.error.HTTPError as error:
        if error.code == NO_SUCH_RANGE:
            part.unlink()
            return fetch(file, path, by_hand, progress)
        raise InputError(f"{file.url} answers {error.code} ({error.reason}). {by_hand}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise InputError(
            f"Cannot reach {file.url} ({reason}): is there a network? Repeat to go on, or: {by_hand}"
        ) from None
    if checksum(part) != file.sha256:
        part.unlink()
        raise InputError(
            f"{file.url} is not the published file (another SHA-256); nothing was kept. {by_hand}"
        )
    os.replace(part, path)


def download(file: Remote, part: Path, progress: Progress) -> None:
    begun = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(file.url, headers={"Range": f"bytes={begun}-"} if begun else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        goes_on = begun and answer.status == http.HTTPStatus.PARTIAL_CONTENT
        done = begun if goes_on else 0
        total = done + int(answer.headers.get("Content-Length") or 0)
        with part.open("ab" if goes_on else "wb") as out:
            while chunk := answer.read(CHUNK):
                out.write(chunk)
                done += len(chunk)
                progress(file.to, min(0.99, done / max(total, 1)))
        if done < total:
            raise http.client.IncompleteRead(b"", total - done)
