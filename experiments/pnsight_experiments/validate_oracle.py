"""Validation against the oracle: what held-out rows say of a model's bounds, beside what is true of them.

Run it with: python -m pnsight_experiments.validate_oracle --out FILE.csv [--rows 200000] [--splits 5] [--show]

For each population and split a response-type model is fitted to three quarters of the rows. On groups with many
held-out rows, the error of its bounds and the coverage of its intervals are estimated from the held-out rows, and
computed from the truth. Started again, it goes on where it stopped; `--show` prints the table of what is there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pnsight
from pnsight._text_table import format_table
from pnsight.decisions.validation import (
    error_of_bounds,
    hold_out,
    mean_square,
    measure_split,
    summarise_splits,
    supported_groups,
)
from pnsight.estimands import Estimand
from pnsight.queries.query import encode
from pnsight_experiments.resumable import append, read

POPULATIONS = ("interaction:101", "tree:101", "index-dependent:101", "mediator", "confounder")
FOLDS, LEVEL = 4, 0.9
ROUNDING = 1e-12


def measure(name: str, rows: int, split: int) -> dict[str, Any]:
    """One split of one study."""
    begun = time.process_time()
    population = pnsight.simulation.get(name)
    study, asked = population.sample(rows, rows, seed=1), Estimand.parse("pns", level=LEVEL)
    held = hold_out(study, FOLDS, split)
    model = pnsight.ResponseTypeModel().fit(study.with_counts(study.counts - held).drop_empty_profiles())
    test = study.with_counts(held)
    found = measure_split(model, test, asked, encode(study.schema, []), split)
    columns = summarise_splits({model.name: [found]}, LEVEL)
    said = dict(zip(columns["measure"], columns["value"], strict=True))
    groups = supported_groups(test, split)
    answers, truth = model.bounds(groups, asked), population.bounds(groups, asked)
    away = np.concatenate([answers.lower - truth.lower, answers.upper - truth.upper])
    covered = []
    ends = (answers.interval("lower"), truth.lower), (answers.interval("upper"), truth.upper)
    for (low, high), true in ends:
        covered.append((low <= true + ROUNDING) & (true <= high + ROUNDING))
    return {
        "population": name,
        "rows": rows,
        "split": split,
        "square": mean_square(found.ends),
        "true_square": float((away**2).mean()),
        "expected_error": said["error that the model expects"],
        "coverage": said["coverage of intervals"],
        "true_coverage": float(np.mean(covered)),
        "seconds": time.process_time() - begun,
    }


def table_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """By population, means over the splits: what held-out rows say, and what is true."""
    columns: dict[str, list[str]] = {}
    names = [*dict.fromkeys(row["population"] for row in rows), "all"]
    for name in names if rows else []:
        some = [row for row in rows if name in (row["population"], "all")]
        mean = {field: np.mean([float(row[field]) for row in some]) for field in some[0] if field != "population"}
        line = {
            "population": name,
            "splits": str(len(some)),
            "error, held-out rows": _error_and_interval([float(row["square"]) for row in some], name != "all"),
            "error, true": f"{np.sqrt(mean['true_square']):.4f}",
            "error that the model expects": f"{mean['expected_error']:.4f}",
            "coverage, held-out rows": f"{mean['coverage']:.1%}",
            "coverage, true": f"{mean['true_coverage']:.1%}",
            "seconds a split": f"{mean['seconds']:.0f}",
        }
        for column, text in line.items():
            columns.setdefault(column, []).append(text)
    return columns


def _error_and_interval(squares: Sequence[float], one_study: bool) -> str:
    """As `pnsight validate` puts them together over the splits of a study."""
    value, low, high = error_of_bounds(squares, LEVEL)
    return f"{value:.4f}" if np.isnan(low) or not one_study else f"{value:.4f} ({low:.4f}-{high:.4f})"


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--populations", nargs="+", default=list(POPULATIONS))
    parser.add_argument("--rows", type=int, default=200_000, help="of each table")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        done = {(row["population"], int(row["rows"]), int(row["split"])) for row in read(given.out)}
        for split in range(given.splits):
            for name in given.populations:
                if (name, given.rows, split) not in done:
                    append(given.out, measure(name, given.rows, split))
    print(format_table(table_columns(read(given.out))))


if __name__ == "__main__":
    main()
