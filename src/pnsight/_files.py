"""Writing files in one step or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A scratch file beside `path` to write to, which takes its place at the end, or goes if anything fails.

    A link is followed. What is neither a file nor missing, such as a pipe or a device, is written to as it is.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield scratch
        with scratch.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
