"""Several runs share a folder of results, and workers end with the run that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from pnsight_experiments import Results

MOST_SECONDS = 60
"""After which a worker that has not ended never will: it looks twice a second whether it should."""

ENDLESS = """
import os, sys, threading
from dataclasses import replace
from pathlib import Path
from pnsight_experiments import Results, Setting, run
from pnsight_experiments.result_schemas import FITS

def work(setting):
    os.write(1, b"working\\n")
    threading.Event().wait()

if __name__ == "__main__":
    settings = [Setting("mediator", 1000, seed, "plug-in", "", "queries") for seed in (1, 2)]
    run(settings, Results(Path(sys.argv[1]), replace(FITS, measure=work)), jobs=2)
"""


def row(results, **values):
    return dict.fromkeys(results.sheet.columns, "") | values


def together(*calls):
    """Call all at once."""
    ready = threading.Barrier(len(calls))
    threads = [threading.Thread(target=lambda call=call: (ready.wait(), call())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_runs_that_start_together_write_one_header(tmp_path):
    for k in range(30):
        folder = tmp_path / str(k)
        together(*[lambda folder=folder: Results(folder).start("bench run")] * 6)
        assert (folder / "fits.csv").read_text().count("population,") == 1
        assert (folder / "runs.jsonl").read_text().count("\n") == 6
        assert sorted(path.name for path in folder.iterdir()) == ["fits.csv", "runs.jsonl"]


def test_rows_that_are_added_together_are_all_there_and_whole(tmp_path):
    results = Results(tmp_path)
    results.start("bench run")
    together(*[lambda k=k: results.add([row(results, seed=k, note="a" * 5000)], "run") for k in range(6)])
    header, *lines = results.path.read_text().splitlines()
    assert header == ",".join(results.sheet.columns)
    assert all(line.endswith("a" * 5000) for line in lines)
    assert sorted(int(line.split(",")[results.sheet.columns.index("seed")]) for line in lines) == list(range(6))


def test_what_a_killed_run_left_half_does_not_spoil_the_rows_of_another(tmp_path):
    results = Results(tmp_path)
    results.start("bench run")
    with results.path.open("a") as file:
        file.write("mediator,1000")
    results.add([row(results, seed=1)], "run")
    assert len(results.path.read_text().splitlines()) == 2
    assert "mediator" not in results.path.read_text()


@pytest.fixture
def endless(tmp_path):
    """A run whose two workers would work for ever, as soon as both do."""
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    command = [sys.executable, str(script), str(tmp_path / "results")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert [process.stdout.readline() for _ in range(2)] == [b"working\n"] * 2
    yield process
    process.stdout.close()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def test_workers_end_with_a_run_that_is_killed(endless):
    endless.kill()
    said, _ = endless.communicate(timeout=MOST_SECONDS)  # ends when nobody is left who could say anything
    assert said == b""
