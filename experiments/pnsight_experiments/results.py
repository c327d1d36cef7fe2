"""Results on disk: one CSV line a row, appended in one write, so that a killed run loses nothing finished.

Whoever writes holds the folder's lock, so several runs may share a folder: what is unfinished at the end of a file is
then what a killed run left, and never what another is about to finish.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from pnsight._locks import Lock, locked
from pnsight._version import __version__
from pnsight.errors import OutputError
from pnsight_experiments.result_schemas import FITS, Sheet
from pnsight_experiments.settings import Setting

_WORDS = ("population", "learner", "threshold", "validation", "run", "note")
_VERSIONED = ("numpy", "scipy", "jax", "jaxlib", "optax", "scikit-learn", "duckdb", "narwhals")


class Results:
    """The rows of one sheet in a folder, and `runs.jsonl` with the machine, versions and command of each run."""

    def __init__(self, folder: Path, sheet: Sheet = FITS) -> None:
        self.folder = folder
        self.sheet = sheet
        self.path = folder / sheet.name

    def rows(self) -> list[dict[str, Any]]:
        """All complete rows, numbers as numbers and blanks as None."""
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]
        if complete and complete.split("\n", 1)[0] != ",".join(self.sheet.columns):
            self._refuse_columns()
        rows = [self._typed(row) for row in csv.DictReader(io.StringIO(complete))]
        return list({(_setting(row), row[self.sheet.part]): row for row in reversed(rows)}.values())[::-1]

    def _typed(self, row: dict[str, str]) -> dict[str, Any]:
        words = (*_WORDS, self.sheet.part)
        return {name: text if name in words else _number(text) for name, text in row.items()}

    def _refuse_columns(self) -> NoReturn:
        raise OutputError(f"{str(self.path)!r} has other columns than this version writes; name another --results.")

    def done(self) -> set[Setting]:
        """Settings that have their rows."""
        return {_setting(row) for row in self.rows()}

    def start(self, command: str) -> str:
        """Note a new run and drop a line that a killed run left unfinished; gives the run's name."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            started = datetime.now(UTC).isoformat(timespec="seconds")
            run = f"{started}-{os.getpid()}"
            with self._locked():
                self._mend()
                self._append("runs.jsonl", json.dumps({"run": run, "command": command, **environment()}) + "\n")
        except OSError as error:
            raise OutputError(f"cannot write results to {str(self.folder)!r}: {error.strerror}.") from None
        return run

    def add(self, rows: Iterable[dict[str, Any]], run: str) -> None:
        """Append the rows of one fit in one write, after whole lines."""
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, self.sheet.columns, lineterminator="\n", extrasaction="raise")
        writer.writerows({name: _cell(value) for name, value in {**row, "run": run}.items()} for row in rows)
        with self._locked():
            self._mend()
            self._append(self.path.name, buffer.getvalue())

    def _locked(self) -> AbstractContextManager[Lock]:
        return locked(self.folder / ".lock")

    def _append(self, name: str, text: str) -> None:
        handle = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            left = text.encode()
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        finally:
            os.close(handle)

    def _mend(self) -> None:
        """Cut off what a killed run left of a fit at the file's end, and start an empty file with its header."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content.rfind(b"\n") + 1
        last = content.rfind(b"\n", 0, max(0, whole - 1)) + 1
        if self.sheet.goes_on(content[last:whole].decode()):
            whole = last
        if whole < len(content):
            os.truncate(self.path, whole)
        header = ",".join(self.sheet.columns)
        if not whole:
            self._append(self.path.name, header + "\n")
        elif content.split(b"\n", 1)[0].decode() != header:
            self._refuse_columns()


def environment() -> dict[str, Any]:
    """Machine and versions, as far as results depend on them."""
    return {
        "pnsight": __version__,
        "source": _source_digest(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": _processor(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in _VERSIONED},
    }


def _source_digest() -> str:
    """A digest of the package's own code, since rows of one version may come from different code."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _processor() -> str:
    """The processor's own name where the system tells it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def command_line() -> str:
    """The command as a person would type it again."""
    return shlex.join(["pnsight", *sys.argv[1:]])


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else value


def _number(text: str) -> float | int | None:
    if not text:
        return None
    return float(text) if set(text) - set("-0123456789") else int(text)


def _setting(row: dict[str, Any]) -> Setting:
    """The setting whose fit a row describes."""
    given = {field.name: row[field.name] for field in fields(Setting)}
    return Setting(**{**given, "held_out": float(row["held_out"])})
