"""Validation against the oracle: what held-out rows say of a model's bounds, beside what is true of them.

For each population and split a response-type model is fitted to three quarters of the rows. On groups with many
held-out rows, the error of its bounds and the coverage of its intervals are estimated from the held-out rows, and
computed from the truth. Results are added to the file as they come; what is there already is not computed again.

    python experiments/benchmarks/validate_oracle.py --rows 200000 --splits 5 --out validate.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import pnsight
from pnsight.decisions.validation import hold_out, measure_split, summarise_splits, supported_groups
from pnsight.estimands import Estimand
from pnsight.queries.query import encode

POPULATIONS = ("interaction:1", "tree:1", "index-dependent:1", "mediator", "confounder")
NUMBERS = ("error", "true_error", "expected_error", "coverage", "true_coverage", "seconds")
FIELDS = ("population", "rows", "split", *NUMBERS)
FOLDS, LEVEL = 4, 0.9


def measure(name: str, rows: int, split: int) -> dict[str, object]:
    """One split of one study."""
    begun = time.perf_counter()
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
        covered.append((low <= true + 1e-12) & (true <= high + 1e-12))
    return {
        "population": name,
        "rows": rows,
        "split": split,
        "error": said["error of bounds"],
        "true_error": float(np.sqrt((away**2).mean())),
        "expected_error": said["error that the model expects"],
        "coverage": said["coverage of intervals"],
        "true_coverage": float(np.mean(covered)),
        "seconds": time.perf_counter() - begun,
    }


def read(path: Path) -> list[dict[str, str]]:
    """What was measured before."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--populations", nargs="+", default=list(POPULATIONS))
    parser.add_argument("--rows", type=int, default=200_000, help="of each table")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("validate.csv"))
    given = parser.parse_args()
    done = {(row["population"], int(row["rows"]), int(row["split"])) for row in read(given.out)}
    for split in range(given.splits):
        for name in given.populations:
            if (name, given.rows, split) in done:
                continue
            new, found = not given.out.exists(), measure(name, given.rows, split)
            with given.out.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerow(found)
    rows = read(given.out)
    print(f"{'population':20}" + "".join(f"{field:>16}" for field in NUMBERS))
    for name in dict.fromkeys(row["population"] for row in rows):
        some = [row for row in rows if row["population"] == name]
        print(f"{name:20}" + "".join(f"{np.mean([float(row[field]) for row in some]):16.4f}" for field in NUMBERS))


if __name__ == "__main__":
    main()
