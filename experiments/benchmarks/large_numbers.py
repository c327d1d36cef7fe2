"""A hundred million rows of twelve numbers: fitted and scored in bounded memory, and the same on Spark and Dask.

Run it with: python experiments/benchmarks/large_numbers.py [--rows 100000000] [--folder DIR] [--phases fit,score]

Rows are written as Parquet files in pieces of a million, half of them of a randomised table, half of an observational
one: the shape of a large uplift data set. Then follow, each in a process of its own that reports its time, its
processor time and the most memory that it held:

    fit            pnsight fit --no-intervals
    copy, score    a plain copy of some pieces by DuckDB, and pnsight score of them, of 2 and of 20 million rows
    frames         one million rows scored from the file, by Dask and by Spark, which must agree to the digit

Phases that are done are kept in DIR/phases.json and not run again; without --folder, all is in a passing folder.
DuckDB copies with one thread, and processor time is what compares; that of Dask's and Spark's own processes is not
in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from counting_large import ROLES, peak_megabytes

from pnsight._text_table import format_table

PIECE = 1_000_000
NUMBERS = 12
NAMES = tuple(f"f{j}" for j in range(NUMBERS))
FEW, MANY = 2, 20
"""Pieces that are scored, to see whether memory grows."""

FRAME_ROWS = 1_000_000
COMPARED = ("decision", "lower", "upper", "status", "basis")


# --- the tables ----------------------------------------------------------------------------------------------


def write_pieces(folder: Path, rows: int) -> None:
    """Pieces of both tables in turn, of which no more than one is in memory; those that are there are kept."""
    roles = cycle(ROLES)
    for number in range(-(-rows // PIECE)):
        file = folder / f"{next(roles)}-{number:04d}.parquet"
        if not file.exists():
            scratch, size = file.with_suffix(".part"), min(PIECE, rows - number * PIECE)
            piece = draw_piece(number, size, file.name.startswith("experimental"))
            pyarrow.parquet.write_table(piece, scratch, use_dictionary=False, compression="none")
            scratch.rename(file)


def draw_piece(number: int, rows: int, randomised: bool) -> Any:
    """Some people: twelve numbers in single precision, the treatment, and the outcome.

    Whoever chooses the treatment is moved by a hidden cause that moves the outcomes too; effects differ with the
    numbers, and some people are harmed.
    """
    rng = np.random.default_rng([19, number])
    normal = rng.standard_normal((NUMBERS, rows), dtype=np.float32)
    hidden, coin = rng.standard_normal(rows, dtype=np.float32), rng.random((3, rows), dtype=np.float32)
    by_choice = coin[0] < _logistic(0.8 * normal[0] - 0.5 * normal[1] + 0.8 * hidden)
    treated = coin[0] < 0.5 if randomised else by_choice
    baseline = -0.6 + 0.7 * normal[2] + 0.5 * np.sin(1.5 * normal[3]) - 0.4 * normal[4] * normal[5] + 0.6 * hidden
    effect = 0.8 + 0.9 * np.tanh(normal[6] - normal[7]) - 0.8 * (normal[8] > 0.5)
    outcomes = [coin[1] < _logistic(baseline), coin[2] < _logistic(baseline + effect)]
    columns = dict(
        zip(NAMES, [np.exp(0.5 * each) if j % 3 == 0 else each for j, each in enumerate(normal)], strict=True)
    )
    flags = {"x": treated, "y": np.where(treated, outcomes[1], outcomes[0])}
    return pa.table({**columns, **{name: each.astype(np.int8) for name, each in flags.items()}})


def _logistic(score: Any) -> Any:
    return 1 / (1 + np.exp(-score))


def pattern(folder: Path, role: str) -> str:
    return str(folder / f"{role}-*.parquet")


def some_pieces(folder: Path, pieces: int) -> Path:
    """A folder with links to the first pieces, so that a pattern names them."""
    some = folder / f"first-{pieces}"
    some.mkdir(exist_ok=True)
    for file in sorted(folder.glob("*-*.parquet"), key=lambda each: each.stem[-4:])[:pieces]:
        if not (some / file.name).exists():
            (some / file.name).symlink_to(file.resolve())
    return some


# --- phases --------------------------------------------------------------------------------------------------


def fit(folder: Path) -> dict[str, Any]:
    """What the command line does."""
    out = folder / "model"
    tables = [pattern(folder, role) for role in ROLES]
    run_pnsight(
        "fit", *tables, "--treatment", "x", "--outcome", "y", "--no-intervals", "--seed", "1", "--out", str(out)
    )
    rows = duckdb.sql(f"SELECT sum(num_rows) FROM parquet_file_metadata('{folder}/*-*.parquet')").fetchone()
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 2**20
    return {"rows": int(rows[0]) if rows else 0, "found": f"model of {size:.1f} MB"}


def copy(pieces: int) -> Callable[[Path], dict[str, Any]]:
    """What DuckDB takes to read and write the same rows and nothing else."""

    def run(folder: Path) -> dict[str, Any]:
        source = f"read_parquet('{some_pieces(folder, pieces)}/*.parquet')"
        duckdb.sql("SET threads = 1")
        with tempfile.TemporaryDirectory(dir=folder) as passing:
            out = Path(passing) / "copy.parquet"
            duckdb.sql(f"COPY (SELECT * FROM {source}) TO '{out}' (FORMAT parquet)")
            return described(out)

    return run


def score(pieces: int) -> Callable[[Path], dict[str, Any]]:
    """What the command line does."""

    def run(folder: Path) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=folder) as passing:
            out = Path(passing) / "scored.parquet"
            people = str(some_pieces(folder, pieces) / "*.parquet")
            run_pnsight("score", str(folder / "model"), people, "--out", str(out))
            return described(out)

    return run


def described(file: Path) -> dict[str, Any]:
    rows = pyarrow.parquet.ParquetFile(file).metadata.num_rows
    return {"rows": rows, "found": f"{file.stat().st_size / 2**20:.0f} MB"}


def run_pnsight(*arguments: str) -> None:
    """The command, within this process."""
    from pnsight.cli.main import app

    app(list(arguments), standalone_mode=False)


def frames(folder: Path) -> dict[str, Any]:
    """One million rows from the file, by Dask and by Spark."""
    import pandas as pd

    import pnsight

    model = pnsight.load(folder / "model")
    file = next(some_pieces(folder, 1).glob("*.parquet"))
    people = pd.read_parquet(file).head(FRAME_ROWS).assign(row=lambda frame: np.arange(len(frame)))
    expected = pnsight.score(model, people)
    differ = {
        name: _different(expected, scored(model, people, folder))
        for name, scored in (("Dask", _by_dask), ("Spark", _by_spark))
    }
    if any(differ.values()):
        raise SystemExit(f"rows that differ from those of the file: {differ}")
    return {"rows": len(expected), "found": "no row differs, of Dask or Spark"}


def _different(expected: Any, found: Any) -> int:
    """Rows that are not equal to the last digit."""
    found = found.set_index("row").loc[expected["row"]].reset_index()
    wrong = [~((expected[name] == found[name]) | (expected[name].isna() & found[name].isna())) for name in COMPARED]
    return int(np.logical_or.reduce(wrong).sum())


def _by_dask(model: Any, people: Any, folder: Path) -> Any:
    import dask.dataframe
    from distributed import Client

    import pnsight

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        frame = dask.dataframe.from_pandas(people, npartitions=8)  # type: ignore[no-untyped-call]
        return pnsight.score(model, frame).compute()


def _by_spark(model: Any, people: Any, folder: Path) -> Any:
    from pyspark.sql import SparkSession

    import pnsight

    settings: dict[str, Any] = {
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.driver.memory": "3g",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    with tempfile.TemporaryDirectory(dir=folder) as passing:
        given, scored = Path(passing) / "people.parquet", Path(passing) / "scored"
        people.to_parquet(given)
        pnsight.score(model, spark.read.parquet(str(given)).repartition(8)).write.parquet(str(scored))
        spark.stop()
        import pandas as pd

        return pd.read_parquet(scored)


PHASES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "fit": fit,
    **{f"{what.__name__} {pieces} million": what(pieces) for pieces in (FEW, MANY) for what in (copy, score)},
    "frames": frames,
}
"""By name, what is done in a process of its own, on the tables in a folder."""


# --- measuring -----------------------------------------------------------------------------------------------


def report(phase: str, folder: Path) -> None:
    """In the process of its own: run a phase, and print what it took; libraries that it loads count."""
    found = PHASES[phase](folder)
    print(json.dumps({**found, "processor_seconds": time.process_time(), "peak_megabytes": peak_megabytes()}))


def measured(phase: str, folder: Path) -> dict[str, Any]:
    """What a phase took, run in a process of its own unless it was run before."""
    kept = folder / "phases.json"
    done: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if phase not in done:
        command = [sys.executable, __file__, "--phase", phase, "--folder", str(folder)]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        done[phase] = json.loads(printed.splitlines()[-1])
        print(f"{phase}: {done[phase]['processor_seconds']:.1f} s", file=sys.stderr)
        kept.write_text(json.dumps(done), encoding="utf-8")
    found: dict[str, Any] = done[phase]
    return found


def line(phase: str, taken: dict[str, Any], done: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What is shown of a phase: scoring is compared with a copy of the same pieces."""
    cpu, copied = taken["processor_seconds"], done.get(phase.replace("score", "copy"))
    compared = f"{cpu / copied['processor_seconds']:.1f}" if copied and phase.startswith("score") else ""
    return {
        "phase": phase,
        "rows": f"{taken['rows']:,}",
        "processor_seconds": f"{cpu:.1f}",
        "rows_a_processor_second": f"{taken['rows'] / cpu:,.0f}",
        "times_a_copy": compared,
        "peak_megabytes": f"{taken['peak_megabytes']:.0f}",
        "found": taken["found"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of both tables together")
    parser.add_argument("--folder", type=Path, help="folder of tables written before, or to write; else a passing one")
    parser.add_argument("--phases", default=",".join(PHASES), help="which, by comma")
    parser.add_argument("--phase", choices=PHASES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.phase:
        report(given.phase, given.folder)
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = given.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        write_pieces(folder, given.rows)
        done = {phase: measured(phase, folder) for phase in given.phases.split(",")}
        lines = [line(phase, taken, done) for phase, taken in done.items()]
        print(format_table({name: [each[name] for each in lines] for name in lines[0]}))


if __name__ == "__main__":
    main()
