"""Standard output and signals: screens that lack letters, streams that are closed or full, what is no text, Ctrl-C."""

from __future__ import annotations

import _thread
import errno
import io
import json
import os
import signal
import sys

import pytest

import pnsight
from cases import write_csv
from pnsight.data.reading.duckdb_progress import report_progress
from pnsight.data.reading.files import new_connection
from pnsight.errors import OutputError

COLUMNS = ["--treatment", "x", "--outcome", "y"]


@pytest.fixture
def trial(tmp_path):
    return write_csv(tmp_path / "t.csv", "é,x,y", [f"{z},{x},{y}" for z in ("à", "日") for x in (0, 1) for y in (0, 1)])


def test_json_stays_json_on_a_screen_without_the_letters(trial, attempt, monkeypatch):
    written = io.BytesIO()
    screen = io.TextIOWrapper(written, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert attempt("check", trial, *COLUMNS, "--format", "json").code == 0
    assert "é" in str(json.loads(written.getvalue()))


def test_a_result_that_nobody_can_read_is_an_error(trial, attempt, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    ended = attempt("check", trial, *COLUMNS)
    sys.stdout.close()
    assert ended.code == 2
    assert ended.err.endswith("pnsight: cannot write the result: Bad file descriptor.\n")


def test_nothing_is_missed_where_messages_go_nowhere(trial, attempt, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    ended = attempt("check", trial, *COLUMNS, "--format", "csv")
    sys.stderr.close()
    assert ended.code == 0
    assert ended.header[0] == "part"


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts: what a shell starts in the background ignores SIGINT, and Python then leaves it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_counting_ends_quietly(attempt, monkeypatch, interruptible):
    interrupts = iter([_thread.interrupt_main])

    def count(*tables, **options):
        connection = new_connection()
        connection.execute("CREATE TEMP TABLE numbers AS FROM range(1000000)")
        with report_progress(connection, lambda share: next(interrupts, lambda: None)()):
            connection.sql("SELECT max(a.range * b.range % 7919) FROM numbers a, numbers b").fetchall()

    monkeypatch.setattr(pnsight, "read_study", count)
    ended = attempt("check", "t.csv", *COLUMNS)
    assert (ended.code, ended.out, ended.err) == (130, "", "")


# --- a disk that is full ----------------------------------------------------------------------------------

ALL = ("oracle", "mediator", "--space", "exact")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("kind", ["csv", "json", "table"])
def test_a_result_that_was_cut_short_is_an_error(kind, unbuffered, run_on_full_disk, tmp_path):
    with (tmp_path / "result").open("wb") as result:
        ended = run_on_full_disk(*ALL, "--format", kind, unbuffered=unbuffered, stdout=result)
    assert (ended.returncode, ended.stderr) == (2, "pnsight: cannot write the result: File too large.\n")


class Full(io.RawIOBase):
    """A disk that takes so many bytes."""

    def __init__(self, room: int) -> None:
        self.room, self.taken = room, b""

    def writable(self) -> bool:
        return True

    def write(self, content) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = bytes(content)[: self.room]
        self.room -= len(part)
        self.taken += part
        return len(part)

    def fileno(self) -> int:
        return self.handle


@pytest.mark.parametrize("room", [0, 1, 100])
def test_an_unbuffered_stream_is_written_completely_or_it_is_said(room, attempt, monkeypatch, tmp_path):
    disk = Full(room)
    disk.handle = os.open(tmp_path / "elsewhere", os.O_WRONLY | os.O_CREAT)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(disk, encoding="utf-8", write_through=True))
    ended = attempt(*ALL, "--format", "csv")
    assert (ended.code, ended.err) == (2, "pnsight: cannot write the result: No space left on device.\n")


def test_an_unbuffered_stream_with_room_has_the_whole_result(run, monkeypatch):
    disk = Full(10**9)
    expected = run(*ALL, "--format", "csv").out
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(disk, encoding="utf-8", write_through=True))
    run(*ALL, "--format", "csv")
    assert disk.taken.decode() == expected


@pytest.mark.parametrize("kind", ["csv", "json", "table", "parquet"])
def test_a_device_that_is_full_is_an_error(kind, attempt):
    ended = attempt(*ALL, "--format", kind, "--out", "/dev/full")
    assert ended.code == 2
    assert ended.err.startswith("pnsight: cannot write '/dev/full': ")
    assert "No space left on device" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["html", "json"])
def test_a_report_on_a_device_that_is_full_is_an_error(kind, attempt, churn):
    ended = attempt("report", churn, "--format", kind, "--out", "/dev/full")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("pnsight: cannot write '/dev/full': No space left on device.\n")


def test_a_figure_on_a_disk_that_is_full_is_an_error(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    figure = pnsight.plot(pnsight.simulation.get("mediator").bounds(["", "z4=1"]))
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match=r"cannot draw .*a\.svg': No space left on device"):
        pnsight.output.plots.save(figure, tmp_path / "a.svg")


@pytest.mark.parametrize("arguments", [ALL, ("query", "nowhere")])
def test_messages_that_nobody_can_read_change_no_exit_code(arguments, attempt, monkeypatch, tmp_path):
    expected = attempt(*arguments)
    disk = Full(0)
    disk.handle = os.open(tmp_path / "elsewhere", os.O_WRONLY | os.O_CREAT)
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(disk, encoding="utf-8", write_through=True))
    found = attempt(*arguments)
    assert (found.code, found.out) == (expected.code, expected.out)


# --- what is in a table or a model is not obeyed ------------------------------------------------------------

ESCAPE = "\x1b[2J"


@pytest.fixture
def hostile(run, tmp_path):
    """A model of a table whose names and levels are formulas and commands to a terminal."""
    cells = [f'"{z}",{x},{y}' for z in ("=1+1", f"{ESCAPE}b") for x in (0, 1) for y in (0, 1) for _ in range(9)]
    table = write_csv(tmp_path / "t.csv", f"@z{ESCAPE},x,y", cells)
    run("fit", table, *COLUMNS, "--model", "plug-in", "--out", tmp_path / "model")
    return tmp_path / "model"


COMMANDS = {
    "query": ["query", "--space", "exact"],
    "ask": ["ask", "--levels"],
    "decide": ["decide", "--space", "exact"],
    "mistake": ["query", "nobody=1"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_control_codes_of_a_table_do_not_reach_the_terminal(command, attempt, hostile):
    name, *more = COMMANDS[command]
    ended = attempt(name, hostile, *more)
    assert "\x1b" not in ended.out + ended.err
    assert "\\x1b[2J" in ended.out + ended.err


def test_a_file_has_them_as_they_are_and_a_terminal_has_not(run, hostile, monkeypatch):
    told = run("query", hostile, "--space", "exact", "--format", "csv")
    assert ESCAPE in told.out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert ESCAPE not in run("query", hostile, "--space", "exact", "--format", "csv").out


def test_formulas_of_a_table_are_none_in_a_csv(run, hostile):
    levels = {row["level"] for row in run("ask", hostile, "--levels", "--format", "csv").rows}
    assert levels == {"'=1+1", f"{ESCAPE}b"}
    assert all(
        row["query"].startswith("'@z") for row in run("query", hostile, "--space", "exact", "--format", "csv").rows
    )
