"""Running the program in-process, and a folder with good and bad things to run it on."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from cases import CHURN, rows, write_csv
from pnsight.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, str]]:
        """Standard output read as CSV."""
        return list(csv.DictReader(io.StringIO(self.out)))

    @property
    def header(self) -> list[str]:
        """Column names of standard output read as CSV."""
        return next(csv.reader(io.StringIO(self.out)))


Run = Callable[..., Ended]


@pytest.fixture
def attempt(capsys) -> Run:
    """Run ``pnsight ...`` and say how it ended."""

    def run(*arguments: object) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Ended(int(stop.value.code or 0), shown.out, shown.err)

    return run


@pytest.fixture
def run(attempt) -> Run:
    """Run ``pnsight ...``, which must end well."""

    def succeed(*arguments: object) -> Ended:
        ended = attempt(*arguments)
        assert ended.code == 0, ended.err
        return ended

    return succeed


@pytest.fixture
def model(run, tmp_path):
    """Folder of a plug-in fitted to a small sample of the mediator population."""
    run("simulate", "mediator", "--experimental", 3000, "--observational", 3000, "--out", tmp_path)
    tables = [tmp_path / f"{name}.parquet" for name in ("experimental", "observational")]
    run("fit", *tables, "--treatment", "x", "--outcome", "y", "--model", "plug-in", "--out", tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def churn(run, tmp_path):
    """A model of case E, two groups of customers of whom only trials are known."""
    table = write_csv(tmp_path / "t.csv", "group,x,y", *(rows(counts, f"{name},") for name, counts in CHURN.items()))
    run("fit", table, "--treatment", "x", "--outcome", "y", "--model", "plug-in", "--out", tmp_path / "model")
    return tmp_path / "model"


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # the first write is cut short, as on a disk that is full
from pnsight.cli.main import main
main(sys.argv[1:])
"""


@pytest.fixture
def run_on_full_disk():
    """Run a command in a program of its own, whose files have room for a thousand bytes each."""

    def run(*arguments, unbuffered="", stdout=subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", LIMITED, *map(str, arguments)]
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment)

    return run
