"""Where DuckDB spills: a private folder for each process, gone when it ends, however it ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager

import pytest

from pnsight.data.reading import spill
from pnsight.data.reading.spill import SPILL_VARIABLE, make_spill_folder
from pnsight.errors import TableError

READING = """
from pnsight.data.reading.files import new_connection
connection = new_connection()
connection.execute("SET memory_limit = '30MB'; SET threads = 1")
connection.sql("CREATE TABLE raw AS SELECT md5(range::VARCHAR) AS value FROM range(1000000)")
print(connection.sql("SELECT current_setting('temp_directory')").fetchone()[0], flush=True)
input()
print(connection.sql("SELECT count(DISTINCT value) FROM raw").fetchone()[0])
"""


@contextmanager
def reading(parent):
    """A process that has spilled raw values to its folder in `parent` and waits; and that folder."""
    environment = {**os.environ, SPILL_VARIABLE: str(parent)}
    command = [sys.executable, "-c", READING]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, parent / os.path.basename(process.stdout.readline().strip())
        finally:
            process.kill()


@pytest.fixture
def parent(tmp_path, monkeypatch):
    monkeypatch.setenv(SPILL_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_processes_that_spill_at_once_share_nothing_and_leave_nothing(parent):
    with reading(parent) as (first, one), reading(parent) as (second, two):
        assert one != two
        for folder in (one, two):
            assert any(folder.iterdir())
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [process.communicate("\n")[0].strip() for process in (first, second)] == ["1000000", "1000000"]
    assert list(parent.iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_process_spilled_goes_when_the_next_begins(parent):
    with reading(parent) as (killed, left), reading(parent) as (living, kept):
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert any(left.iterdir())
        mine = make_spill_folder()
        assert sorted(parent.iterdir()) == sorted([kept, mine])
        assert living.communicate("\n")[0].strip() == "1000000"


def test_a_folder_of_another_kind_or_behind_a_link_is_left_alone(parent, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "work.csv").touch()
    (parent / "pnsight-spill-link").symlink_to(elsewhere)
    (parent / "pnsight-spilled-by-hand").mkdir()
    make_spill_folder()
    assert (elsewhere / "work.csv").exists()
    assert (parent / "pnsight-spilled-by-hand").exists()


def test_a_folder_taken_for_abandoned_before_it_was_locked_is_made_again(parent, monkeypatch):
    lock, taken = spill._lock, []

    def lock_too_late(folder):
        if not taken:
            taken.append(folder)
            folder.rmdir()
        return lock(folder)

    monkeypatch.setattr(spill, "_lock", lock_too_late)
    made = make_spill_folder()
    assert taken
    assert made.is_dir()
    assert made not in taken


def test_a_file_system_without_locks_still_has_a_folder(parent, monkeypatch):
    def no_locks(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(spill.fcntl, "flock", no_locks)
    first, second = make_spill_folder(), make_spill_folder()
    assert first.is_dir()
    assert second.is_dir()


def test_a_process_that_was_forked_does_not_remove_the_folder(parent):
    folder = make_spill_folder()
    spill._remove_own(folder, os.getpid() + 1)
    assert folder.is_dir()
    spill._remove_own(folder, os.getpid())
    assert not folder.exists()


def test_a_folder_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(SPILL_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(TableError, match=f"nowhere': No such file or directory. Set .* {SPILL_VARIABLE} to a folder"):
        make_spill_folder()


def test_nothing_is_spilled_where_there_is_no_folder_for_temporary_files(monkeypatch):
    def none():
        raise FileNotFoundError

    monkeypatch.delenv(SPILL_VARIABLE, raising=False)
    monkeypatch.setattr(spill.tempfile, "gettempdir", none)
    assert make_spill_folder() is None
