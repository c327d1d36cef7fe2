"""Standard output and signals: screens that lack letters, streams that are closed, and Ctrl-C."""

from __future__ import annotations

import _thread
import io
import json
import signal
import sys

import pytest

import pnsight
from cases import write_csv
from pnsight.data.reading.duckdb_progress import report_progress
from pnsight.data.reading.files import new_connection

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
