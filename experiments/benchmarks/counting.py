"""Counting and plug-in bounds for all 1,024 groups, by pnsight and by a pandas loop over the groups.

Run it with: python experiments/benchmarks/counting.py [--repeats 5]

Both start from the same 200,000 + 200,000 rows of population `mediator` and end with the bounds on PNS of each
group. Runs alternate, so that a busy moment of the machine hits both; medians are printed, and the two answers must
agree.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import pandas

import pnsight

ROWS = 200_000
Source: TypeAlias = Any
"""A pandas frame, or the path of a Parquet file."""

Answer: TypeAlias = dict[str, tuple[float, float]]
"""Lower and upper end by profile; a profile without an answer is absent."""


# --- the way people do it today ------------------------------------------------------------------------------


def by_pandas_loop(experimental: Source, observational: Source) -> Answer:
    """Group both frames by all covariates and treat one group after the other."""
    trial, registry = (_frame(source) for source in (experimental, observational))
    covariates = [name for name in trial.columns if name not in ("x", "y")]
    arms = {}
    for profile, group in trial.groupby(covariates):
        arms[profile] = group.loc[group["x"] == 1, "y"].mean(), group.loc[group["x"] == 0, "y"].mean()
    answer = {}
    for profile, group in registry.groupby(covariates):
        treated, responded = group["x"] == 1, group["y"] == 1
        joint = (
            (treated & responded).mean(),
            (treated & ~responded).mean(),
            (~treated & responded).mean(),
            (~treated & ~responded).mean(),
        )
        if profile in arms:
            answer["".join(map(str, profile))] = scalar_bounds(*arms[profile], *joint)
    return {profile: ends for profile, ends in answer.items() if _possible(*ends)}


def _frame(source: Source) -> Any:
    return pandas.read_parquet(source) if isinstance(source, Path) else source


def scalar_bounds(a: float, b: float, xy: float, xy0: float, x0y: float, x0y0: float) -> tuple[float, float]:
    """Tian and Pearl's bounds on PNS for one group; NaN where an arm of the experiment is empty."""
    if math.isnan(a) or math.isnan(b):
        return math.nan, math.nan
    y = xy + x0y
    return max(0, a - b, y - b, a - y), min(a, 1 - b, xy + x0y0, a - b + xy0 + x0y)


def _possible(lower: float, upper: float) -> bool:
    return lower <= upper + 1e-9


# --- pnsight -------------------------------------------------------------------------------------------------


def by_pnsight(experimental: Source, observational: Source) -> pnsight.BoundTable:
    """Count once, then bound every group together."""
    study = pnsight.read_study(experimental, observational, treatment="x", outcome="y")
    return pnsight.PlugIn().fit(study).bounds(pnsight.queries.lattice.all_profiles(study.schema))


# --- the comparison ------------------------------------------------------------------------------------------


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(what: str, sources: tuple[Source, Source], repeats: int) -> None:
    """Check that both give the same numbers, then time them in turn."""
    groups, answered = agreement(by_pnsight(*sources), by_pandas_loop(*sources))
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(seconds(lambda: by_pnsight(*sources)))
        theirs.append(seconds(lambda: by_pandas_loop(*sources)))
    print(f"{what}: {groups:,} groups, {answered:,} with an answer, the same from both")
    print(f"  pnsight      {1000 * median(ours):10.1f} ms   (median of {repeats}, best {1000 * min(ours):.1f})")
    print(f"  pandas loop  {1000 * median(theirs):10.1f} ms   (median of {repeats}, best {1000 * min(theirs):.1f})")
    print(f"  ratio        {median(theirs) / median(ours):10.1f}")


def agreement(table: pnsight.BoundTable, expected: Answer) -> tuple[int, int]:
    """Number of groups and of groups with an answer; raises when the two differ anywhere."""
    ends = zip(table.queries, table.lower.tolist(), table.upper.tolist(), table.status, strict=True)
    found = {query: (lower, upper) for query, lower, upper, status in ends if status == "ok"}
    if found.keys() != expected.keys():
        raise SystemExit(f"the two answer different groups: {sorted(found.keys() ^ expected.keys())}")
    worst = max(abs(one - other) for query in found for one, other in zip(found[query], expected[query], strict=True))
    if worst > 1e-9:
        raise SystemExit(f"the two answers differ by up to {worst}")
    return len(table), len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    tables = pnsight.simulation.get("mediator").tables(ROWS, ROWS, seed=1)
    experimental, observational = (pandas.DataFrame(columns) for columns in tables)
    compare("pandas frames in memory", (experimental, observational), repeats)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "experimental.parquet", Path(folder) / "observational.parquet"
        for path, columns in zip(paths, tables, strict=True):
            pnsight.data.reading.write_parquet(columns, path)
        compare("Parquet files", paths, repeats)


if __name__ == "__main__":
    main()
