"""How far work is, on a terminal and in a log, with a clock that the test moves."""

import io

import pytest

from aspectra.cli.meter import Meter, clock_time, in_words


class Screen(io.StringIO):
    """A stream that is or is not a terminal."""

    encoding = "utf-8"

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def lines(self) -> list[str]:
        """Return what is to be read: a line that is written again replaces the one before."""
        return [line.rpartition("\r")[2].replace("\x1b[K", "") for line in self.getvalue().split("\n")]


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_terminal_shows_count_total_speed_and_time_left(clock: Clock) -> None:
    meter = Meter(Screen(True), clock)
    meter.begin("Labelling", count=0)
    assert meter.stream.lines() == ["Labelling … 0:00"]
    for clock.seconds in (1.0, 2.0, 4.0):
        meter.update(clock.seconds / 200, 500)
        meter.draw()
    assert meter.stream.lines() == [
        "Labelling: this will take about 3 minutes.",
        "Labelling: 1,500 of about 75,000 segments, 375/s, 3:16 left",
    ]
    clock.seconds = 200.0
    meter.update(1.0, 73_500)
    meter.end()
    assert meter.stream.lines()[1:] == ["Labelling: 75,000 segments, 375/s, 3:20", ""]


def test_a_log_gets_a_line_every_ten_seconds_and_none_of_short_work(clock: Clock) -> None:
    meter = Meter(Screen(False), clock)
    meter.begin("Preparing segments")
    clock.seconds = 9.0
    meter.update(1.0)
    meter.draw()
    meter.begin("Learning word vectors")
    for second in range(10, 35):
        clock.seconds = float(second)
        meter.update((second - 9) / 25)
        meter.draw()
    meter.end()
    lines = meter.stream.lines()
    assert [line.split()[-3:] for line in lines[:2]] == [["%", "0:15", "left"], ["%", "0:05", "left"]]
    assert lines[2].split()[-3:] == ["100", "%", "0:25"]
    assert lines[3:] == [""]


def test_stages_are_lines_that_fit_80_columns_and_what_was_never_told_leaves_nothing(clock: Clock) -> None:
    meter = Meter(Screen(True), clock)
    meter.begin("Loading")
    clock.seconds = 4000.0
    meter.draw()
    assert meter.stream.lines() == ["Loading … 1:06:40"]
    meter.begin("Learning word vectors")
    meter.update(0.25)
    clock.seconds += 9000
    meter.draw()
    assert max(map(len, meter.stream.lines())) < 80
    assert meter.stream.lines()[0] == "Learning word vectors: this will take about 7.5 hours."
    meter.begin("Discovering topics")
    assert len(meter.stream.lines()) == 3


def test_a_slow_start_does_not_announce_hours(clock: Clock) -> None:
    meter = Meter(Screen(False), clock)
    meter.begin("Learning word vectors")
    clock.seconds = 80.0
    meter.update(0.016)
    meter.draw()
    assert "left" not in meter.stream.getvalue()
    for second in range(90, 120, 10):
        clock.seconds = float(second)
        meter.update(0.016 + (second - 80) / 40)
        meter.draw()
    assert meter.stream.lines()[1].endswith("27 %  0:29 left")
    assert "will take" not in meter.stream.getvalue()


def test_the_line_moves_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aspectra.cli.meter.REDRAWN", 0.01)
    drawn = []

    class Counted(Meter):
        def draw(self) -> None:
            drawn.append(1)
            if len(drawn) == 3:
                self.stop.set()

    with Counted(Screen(True)) as meter:
        meter.begin("Labelling", count=0)
        meter.stop.wait(10)
    assert len(drawn) >= 3


def test_times_are_written_for_people() -> None:
    assert [clock_time(seconds) for seconds in (0.4, 75, 3675)] == ["0:00", "1:15", "1:01:15"]
    assert [in_words(seconds) for seconds in (170, 5400, 7200)] == ["3 minutes", "90 minutes", "2.0 hours"]
