"""Spill folder: where DuckDB puts what does not fit into memory, private to one process and gone when it ends.

What is spilled are raw values of the tables. The folder can be read by its owner only, and no other process spills into
it. A process that is killed leaves its folder behind; the next one removes it. Every process locks its own folder, and
the system releases the lock when the process ends, however it ends: a folder that can be locked has lost its owner.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from pnsight.errors import TableError

if sys.platform != "win32":  # where a folder that was left behind cannot be told from one in use, and stays
    import fcntl

SPILL_VARIABLE = "PNSIGHT_SPILL_DIR"
"""Variable of the environment that names the folder in which spill folders are made."""

_PREFIX = "pnsight-spill-"


def make_spill_folder() -> Path | None:
    """Make the spill folder of this process, and remove those of processes that are no more.

    Returns
    -------
    Path or None
        A new folder that only its owner can read, removed when the process ends; None if the environment names no
        folder and the system has none for temporary files, in which case nothing can be spilled.

    Raises
    ------
    TableError
        If the environment names a folder in which none can be made.
    """
    parent = _parent()
    if parent is None:
        return None
    if sys.platform != "win32":
        _remove_abandoned(parent)
    try:
        folder = _make_locked(parent)
    except OSError as error:
        raise TableError(
            f"no folder for temporary files can be made in {str(parent)!r}: {error.strerror}. Set the environment "
            f"variable {SPILL_VARIABLE} to a folder that you may write to."
        ) from None
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _parent() -> Path | None:
    """The folder in which spill folders are made."""
    named = os.environ.get(SPILL_VARIABLE)
    if named:
        return Path(named).absolute()
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


def _make_locked(parent: Path) -> Path:
    """A new folder, locked for as long as this process lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))  # mode 0700
        try:
            _lock(folder)
        except (BlockingIOError, FileNotFoundError):  # another process took it for abandoned before it was locked
            continue
        except OSError:  # a file system without locks, on which no process takes a folder for abandoned
            return folder
        if folder.exists():
            return folder


def _lock(folder: Path) -> int | None:
    """Lock a folder until the file that is returned is closed; raises BlockingIOError if another process has."""
    if sys.platform == "win32":
        return None
    file = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise
    return file


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user's processes that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and (lock := _lock(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _remove_own(folder: Path, owner: int) -> None:
    """Remove the folder; a process that was forked from its owner leaves it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
