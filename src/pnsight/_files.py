"""Writing files in one step or not at all, and reading no more than a file of one's own can hold.

What is written lies in a scratch folder beside its place until it is complete. A process that is killed leaves that
folder behind; the next one that writes there removes it, if nobody holds its lock.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pnsight._locks import Lock, acquire, locked

_PREFIX, _SUFFIX = ".pnsight-", ".tmp"
_LOCK = ".lock"
_READ_ONLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A scratch file to write to, which takes the place of `path` at the end, or goes if anything fails.

    A link is followed. What is neither a file nor missing, such as a pipe or a device, is written to as it is.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    with _scratch_folder(path.parent) as folder:
        yield folder / path.name
        _put_in_place(folder / path.name, path)


@contextmanager
def replacing_together(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A scratch folder for files that belong together, which take their places in `folder` at the end.

    All are complete before the first takes its place. Whoever is killed while they do leaves some missing, and never
    an old one beside a new one; of two who write at once, all files are of one.
    """
    folder = folder.resolve()
    with _scratch_folder(folder) as scratch:
        yield scratch
        with locked(folder / f"{_PREFIX}together{_LOCK}"):
            for name in names[1:]:
                (folder / name).unlink(missing_ok=True)
            for name in names:
                _put_in_place(scratch / name, folder / name)


def read_regular(path: Path, max_bytes: int) -> bytes:
    """The content of a regular file.

    Parameters
    ----------
    path
        A file, or a link to one. A pipe, a device or a folder is refused, without waiting for it.
    max_bytes
        A larger file is refused.

    Returns
    -------
    bytes

    Raises
    ------
    OSError
        With what is wrong.
    """
    handle = os.open(path, _READ_ONLY)
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if found.st_size > max_bytes:
            raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, more than {max_bytes:,}", str(path))
        with open(handle, "rb", closefd=False) as file:
            return file.read(max_bytes)
    finally:
        os.close(handle)


@contextmanager
def _scratch_folder(parent: Path) -> Iterator[Path]:
    """A new folder for this writer alone, which goes at the end; those that killed writers left go now."""
    _remove_abandoned(parent)
    lock = _new_scratch_folder(parent)
    try:
        yield lock.path.parent
    finally:
        _remove(lock)


def _new_scratch_folder(parent: Path) -> Lock:
    """The lock of a new folder, which is in it."""
    while True:
        folder = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, parent))
        with suppress(FileNotFoundError):  # somebody took it for abandoned before it was locked
            lock = acquire(folder / _LOCK, wait=False)
            if lock is not None:
                return lock


def _remove_abandoned(parent: Path) -> None:
    """Remove scratch folders of this user that nobody holds."""
    with suppress(OSError), os.scandir(parent) as entries:
        for folder in [Path(entry) for entry in entries if _is_own_scratch(entry)]:
            with suppress(OSError):  # somebody else was quicker
                lock = acquire(folder / _LOCK, wait=False)
                if lock is not None:
                    _remove(lock) if lock.exclusive else lock.release()


def _is_own_scratch(entry: os.DirEntry[str]) -> bool:
    """Whether it is a scratch folder, and no link to one, that this user made."""
    if not (entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX) and entry.is_dir(follow_symlinks=False)):
        return False
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _remove(lock: Lock) -> None:
    """Remove a scratch folder, of which one holds the lock."""
    shutil.rmtree(lock.path.parent, ignore_errors=True)
    lock.release()


def _put_in_place(scratch: Path, path: Path) -> None:
    """Replace a file, once the new one has reached the disk, and then its name."""
    with scratch.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(scratch, path)
    with suppress(OSError):  # not every system opens folders, or lets them be synchronised
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
