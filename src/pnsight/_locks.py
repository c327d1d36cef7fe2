"""Locks between processes: a file that one holder has at a time, and that the system frees when the holder ends.

The file goes when it is released. One that a killed process left behind is held by nobody, and whoever comes next
takes it over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Lock:
    """A lock file that is held.

    Attributes
    ----------
    path : of the file
    handle : of the open file, to which the system ties the lock
    exclusive : whether nobody else can hold it; not so where the system has no locks, as on some network drives
    """

    path: Path
    handle: int
    exclusive: bool

    def release(self) -> None:
        """Remove the file and let go of it, in this order: nobody can take what is no longer there."""
        self.path.unlink(missing_ok=True)
        os.close(self.handle)


@contextmanager
def locked(path: Path) -> Iterator[Lock]:
    """Hold a lock file, having waited for whoever holds it.

    Parameters
    ----------
    path
        The lock file, in a folder that exists.

    Yields
    ------
    The lock, which is released at the end.
    """
    lock = acquire(path)
    assert lock is not None
    try:
        yield lock
    finally:
        lock.release()


def acquire(path: Path, wait: bool = True) -> Lock | None:
    """Take a lock file, which is made if it is not there.

    Parameters
    ----------
    path
        The lock file, in a folder that exists.
    wait
        Whether to wait for whoever holds it.

    Returns
    -------
    The lock, or None if somebody else holds it.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
        try:
            exclusive = _take(handle, wait)
        except BlockingIOError:
            os.close(handle)
            return None
        if not exclusive or _is_at(handle, path):
            return Lock(path, handle, exclusive)
        os.close(handle)  # whoever held it removed it meanwhile, and somebody may have made another


def _take(handle: int, wait: bool) -> bool:
    """Whether the lock is taken; BlockingIOError if it is somebody else's, and False where there are no locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Whether the file that was opened is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
