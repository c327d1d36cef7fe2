"""Writing in one step: what is replaced, what is followed, and what is written to as it is."""

from __future__ import annotations

import errno
import fcntl
import os
import threading

import pytest

from pnsight._files import replacing, replacing_together
from pnsight._locks import acquire, locked


def test_a_file_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as scratch:
        scratch.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as scratch:
            scratch.write_text("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one_and_what_it_points_to_is_replaced(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    with replacing(link) as scratch:
        scratch.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with replacing(pipe) as place:
        place.write_text("through")
    reader.join()
    assert read == ["through"]
    assert pipe.is_fifo()


# --- what killed writers leave ----------------------------------------------------------------------------


def abandoned(folder):
    """A scratch folder as a killed writer leaves it."""
    left = folder / ".pnsight-killed.tmp"
    left.mkdir()
    (left / ".lock").touch()
    (left / "a.txt").write_text("half")
    return left


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    left = abandoned(tmp_path)
    with replacing(tmp_path / "b.txt") as scratch:
        assert not left.exists()
        scratch.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def test_what_somebody_is_still_writing_is_left_alone(tmp_path):
    with replacing(tmp_path / "a.txt") as mine:
        mine.write_text("mine")
        with replacing(tmp_path / "b.txt") as other:
            other.write_text("other")
        assert mine.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_two_who_write_one_file_do_not_write_into_each_others(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path) as first, replacing(path) as second:
        first.write_text("first")
        second.write_text("second")
        assert first.read_text() == "first"
    assert path.read_text() == "first"


def test_a_link_that_is_called_like_a_scratch_folder_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    (tmp_path / ".pnsight-trap.tmp").symlink_to(precious)
    with replacing(tmp_path / "b.txt") as scratch:
        scratch.write_text("new")
    assert (precious / "thesis.txt").read_text() == "years of work"


def test_where_there_are_no_locks_nothing_of_others_is_removed(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    left = abandoned(tmp_path)
    with replacing(tmp_path / "b.txt") as scratch:
        scratch.write_text("new")
    assert (left / "a.txt").read_text() == "half"
    assert (tmp_path / "b.txt").read_text() == "new"


# --- files that belong together ---------------------------------------------------------------------------

PAIR = ("a.txt", "b.txt")


def write_pair(folder, text):
    with replacing_together(folder, PAIR) as scratch:
        for name in PAIR:
            (scratch / name).write_text(text)


def test_files_that_belong_together_are_replaced_together(tmp_path):
    for text in ("old", "new"):
        write_pair(tmp_path, text)
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(PAIR, text)


def test_what_fails_leaves_all_the_old_ones(tmp_path):
    write_pair(tmp_path, "old")

    def fail():
        with replacing_together(tmp_path, PAIR) as scratch:
            (scratch / "a.txt").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(PAIR, "old")


@pytest.mark.parametrize("replaced", [0, 1])
def test_who_is_killed_while_they_are_replaced_leaves_none_mixed(replaced, tmp_path, monkeypatch):
    write_pair(tmp_path, "old")
    genuine, calls = os.replace, []

    def killed(source, target):
        calls.append(target)
        if len(calls) > replaced:
            raise KeyboardInterrupt
        genuine(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_pair(tmp_path, "new")
    assert len({path.read_text() for path in tmp_path.iterdir()}) == 1


# --- locks ------------------------------------------------------------------------------------------------


def test_a_lock_has_one_holder_and_leaves_no_file(tmp_path):
    path = tmp_path / "lock"
    with locked(path):
        assert acquire(path, wait=False) is None
    assert not path.exists()
    lock = acquire(path, wait=False)
    assert lock.exclusive
    lock.release()


def test_a_lock_file_that_a_killed_process_left_is_taken_over(tmp_path):
    (tmp_path / "lock").touch()
    with locked(tmp_path / "lock") as lock:
        assert lock.exclusive


def test_who_waits_holds_the_file_of_that_name_and_not_one_that_was_removed(tmp_path):
    """Many threads take turns: none enters while another is inside, although each removes the file when it goes."""
    path, inside, most = tmp_path / "lock", [], []

    def enter():
        for _ in range(50):
            with locked(path):
                inside.append(None)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert len(most) == 200
