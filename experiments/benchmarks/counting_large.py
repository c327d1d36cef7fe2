"""Counting tables that are larger than memory should hold, by pnsight from files, through Dask and through Spark.

Run it with: python experiments/benchmarks/counting_large.py [--rows 50000000] [--folder DIR]

Rows of population `mediator` are written as Parquet files in pieces of a million, `--rows` for each table. Then each
way of counting runs in a process of its own, which reports its time and, on Linux, the most memory it held: a plain
GROUP BY in DuckDB, which only counts, and pnsight on the files, on Dask frames and on Spark frames, which must give
equal studies. Times leave out loading the libraries, and of Spark also starting it; Spark's memory is that of the
Python side, without its own process.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

import pnsight
import pnsight.data.reading

PIECE = 1_000_000
ROLES = ("experimental", "observational")


# --- the tables ----------------------------------------------------------------------------------------------


def write_tables(folder: Path, rows: int) -> None:
    """Pieces of both tables, so that no more than one of them is in memory."""
    population = pnsight.simulation.get("mediator")
    for piece, start in enumerate(range(0, rows, PIECE)):
        size = min(PIECE, rows - start)
        for role, columns in zip(ROLES, population.tables(size, size, seed=piece + 1), strict=True):
            pnsight.data.reading.write_parquet(columns, folder / f"{role}-{piece:04d}.parquet")


def pattern(folder: Path, role: str) -> str:
    return str(folder / f"{role}-*.parquet")


# --- ways of counting ----------------------------------------------------------------------------------------


def by_plain_sql(folder: Path) -> Callable[[], str]:
    """What DuckDB needs to count both tables and nothing else; the rows it counted."""

    def count() -> str:
        rows = 0
        for role in ROLES:
            source = f"read_parquet('{pattern(folder, role)}')"
            groups = duckdb.sql(f"SELECT * EXCLUDE (x, y), x, y, count(*) AS n FROM {source} GROUP BY ALL").fetchnumpy()
            rows += int(groups["n"].sum())
        return f"{rows:,} rows"

    return count


def by_pnsight(folder: Path) -> Callable[[], str]:
    return lambda: digest(*(pattern(folder, role) for role in ROLES))


def by_dask(folder: Path) -> Callable[[], str]:
    import dask.dataframe

    return lambda: digest(*(dask.dataframe.read_parquet(pattern(folder, role)) for role in ROLES))


def by_spark(folder: Path) -> Callable[[], str]:
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    spark = SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()
    return lambda: digest(*(spark.read.parquet(pattern(folder, role)) for role in ROLES))


def digest(experimental: Any, observational: Any) -> str:
    """The study in a few letters: equal for equal counts."""
    study = pnsight.read_study(experimental, observational, treatment="x", outcome="y")
    content = study.profiles.tobytes() + study.counts.tobytes()
    return f"{len(study.profiles)} profiles {hashlib.sha256(content).hexdigest()[:8]}"


WAYS: Mapping[str, Callable[[Path], Callable[[], str]]] = {
    "plain SQL in DuckDB": by_plain_sql,
    "pnsight on the files": by_pnsight,
    "pnsight through Dask": by_dask,
    "pnsight through Spark": by_spark,
}
"""By name, what gets ready to count the tables in a folder."""


# --- measuring -----------------------------------------------------------------------------------------------


def measured(way: str, folder: Path) -> dict[str, Any]:
    """Run one way of counting in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def report(way: str, folder: Path) -> None:
    """In the process of its own: count, and print what it took."""
    count = WAYS[way](folder)
    before, start = peak_megabytes(), time.perf_counter()
    found = count()
    taken = {"seconds": time.perf_counter() - start, "peak": peak_megabytes(), "before": before, "found": found}
    print(json.dumps(taken))


def peak_megabytes() -> float:
    """The most memory this process has held; `getrusage` would count what its parent held before it, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000_000, help="rows of each table")
    parser.add_argument("--folder", type=Path, help="folder of tables written before, or to write; else a passing one")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        report(arguments.way, arguments.folder)
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = arguments.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.glob("*.parquet")):
            write_tables(folder, arguments.rows)
        compare(folder, arguments.rows)


def compare(folder: Path, rows: int) -> None:
    size = sum(file.stat().st_size for file in folder.glob("*.parquet")) / 2**20
    print(f"{rows:,} + {rows:,} rows, {size:,.0f} MB of Parquet")
    print(f"{'':22} {'seconds':>8} {'peak MB':>8} {'above start':>12}  found")
    found = {}
    for way in WAYS:
        taken = measured(way, folder)
        found[way] = taken["found"]
        above = taken["peak"] - taken["before"]
        print(f"{way:22} {taken['seconds']:8.2f} {taken['peak']:8.0f} {above:12.0f}  {taken['found']}", flush=True)
    if len({text for way, text in found.items() if way.startswith("pnsight")}) > 1:
        raise SystemExit("the engines give different studies")


if __name__ == "__main__":
    main()
