"""The attacks of benchmarks/chaos/ find what has fallen, and a few of them run."""

import shutil
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def chaos(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    import benchmarks.chaos.__main__ as module

    return module


def test_some_bad_files_hold(
    chaos: Any, run: Path, labelled_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run, tmp_path / "run")
    shutil.copy(labelled_file, tmp_path / "labels.parquet")  # all is there: nothing has to be made
    page = tmp_path / "page.md"
    page.write_text("<!-- aspectra bench chaos: begin --><!-- aspectra bench chaos: end -->")
    with pytest.raises(SystemExit) as end:
        chaos.main(seed=1, only="files", scale=0.03, home=tmp_path, patience=100, markdown=page)
    table = capsys.readouterr().out
    assert end.value.code == 0, table
    assert "| bad files | 9 | 9 | 1 | 0.03 | " in table
    assert "| bad files | 9 | 9 | 1 | 0.03 | " in page.read_text()


@pytest.mark.parametrize(
    ("code", "err", "fault"),
    [
        (None, "", "no end in time"),
        (1, "Traceback (most recent call last):\nKeyError: 1", "traceback: KeyError: 1"),
        (-9, "", "exit code -9"),
        (1, "", "exit code 1 without a sentence"),
        (1, "aspectra: a.csv is empty.", ""),
        (0, "", ""),
    ],
)
def test_what_no_user_may_see_counts_as_fallen(chaos: Any, code: int | None, err: str, fault: str) -> None:
    from benchmarks.chaos.children import Outcome

    found = Outcome(("label",), code, "", err).fault()
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


def test_a_half_written_file_and_a_leftover_are_found(chaos: Any, tmp_path: Path) -> None:
    from benchmarks.chaos.commands import contents, hidden, misfits

    (tmp_path / "l.csv").write_text("text\nall of it\n")
    after = contents(tmp_path)
    assert misfits(contents(tmp_path), {}, after) == hidden(tmp_path) == ""
    (tmp_path / "l.csv").write_text("text\nall")
    (tmp_path / ".l.csv.0.csv").write_text("")
    assert "l.csv" in misfits(contents(tmp_path), {}, after)
    assert ".l.csv.0.csv" in hidden(tmp_path)


def test_the_same_seed_forges_the_same_and_another_seed_something_else(
    chaos: Any, run: Path, tmp_path: Path
) -> None:
    from benchmarks.chaos.mutator import mutate

    forged = []
    for number, seed in enumerate((1, 1, 2)):
        own = Path(shutil.copytree(run, tmp_path / str(number)))
        random = Random(seed)
        for path in sorted(own.glob("*.*")):
            mutate(path, random)
        forged.append({path.name: path.read_bytes() for path in own.iterdir()})
    assert forged[0] == forged[1] != forged[2]
    assert all(data != (run / name).read_bytes() for name, data in forged[0].items())


def test_what_others_take_of_the_machine_does_not_count_as_a_hang(chaos: Any) -> None:
    from benchmarks.chaos.patience import Patience, waiting_times

    with subprocess.Popen(["sleep", "60"]) as process:
        hanging = Patience(process.pid, 0.02)
        starved = Patience(process.pid, 0.02)
        time.sleep(0.05)
        assert hanging.ended()
        starved.waited = {thread: since - 1 for thread, since in waiting_times(process.pid).items()}
        assert not starved.ended()
        process.kill()
