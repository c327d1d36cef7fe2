"""Values of policies: how far estimates are off, how often intervals hold, and how often a rule said better is worse.

Run it with: python -m pnsight_experiments.policy_values --out FILE.csv [--rows 200000] [--studies 5] [--show]

For each population and study a response-type model is fitted, and what `pnsight.policies` says is compared with what
the rule that it learned is truly worth. Started again, it goes on where it stopped; `--show` prints the tables of what
is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pnsight
from pnsight._text_table import format_table
from pnsight.data.law import Law
from pnsight.decisions import POLICIES, policies, policy_values
from pnsight.decisions.policies import values_if_learned
from pnsight.queries import lattice
from pnsight_experiments.resumable import append, read

POPULATIONS = ("interaction:101", "tree:101", "index-dependent:101", "mediator", "confounder")
FIRST_SEED = 201
LEARNED = ("covariates", "covariates-and-choice")
"""Policies that are learned from the rows; the others are the same whatever was learned."""


def measure(name: str, rows: int, seed: int) -> list[dict[str, Any]]:
    """One row a policy: what it is worth, and what is said of it."""
    population = pnsight.simulation.get(name)
    profiles = lattice.all_profiles(population.schema)
    mass, types = population.mixture(profiles)
    exact = Law.from_types(types, population.structure)
    best = policy_values(exact, mass)
    model = pnsight.ResponseTypeModel(random_state=seed).fit(population.sample(rows, rows, seed=seed))
    found, learned = policies(model), values_if_learned(model.law(profiles), exact)
    said = {policy: found.of(policy) for policy in POLICIES}
    return [
        {
            "population": name,
            "rows": rows,
            "seed": seed,
            "policy": policy,
            "best": best[policy],
            "truth": float(mass @ learned[policy]),
            "usual": best["usual-care"],
            **{field: said[policy][field] for field in ("value", "low", "high", "gain_low", "gain_high")},
        }
        for policy in POLICIES
    ]


def table_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """By population and policy, and over all: means of what is true and said, error, and coverage of intervals."""
    columns: dict[str, list[str]] = {}
    places = dict.fromkeys((row["population"], row["policy"]) for row in rows)
    for name, policy in [*places, ("all", "all")] if rows else []:
        some = [row for row in rows if (name, policy) in ((row["population"], row["policy"]), ("all", "all"))]
        for column, text in _line(name, policy, some).items():
            columns.setdefault(column, []).append(text)
    return columns


def _line(name: str, policy: str, rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    value = {field: np.array([float(row[field]) for row in rows]) for field in rows[0] if field not in _WORDS}
    gain = value["truth"] - value["usual"]
    holds = {
        "holds the rule's": (value["low"] <= value["truth"]) & (value["truth"] <= value["high"]),
        "holds the best": (value["low"] <= value["best"]) & (value["best"] <= value["high"]),
        "holds the gain": (value["gain_low"] <= gain) & (gain <= value["gain_high"]),
    }
    return {
        "population": name,
        "policy": policy,
        "studies": str(len(rows)),
        "best": f"{value['best'].mean():.4f}",
        "learned": f"{value['truth'].mean():.4f}",
        "said": f"{value['value'].mean():.4f}",
        "error": f"{np.abs(value['value'] - value['truth']).mean():.4f}",
        "width": f"{(value['high'] - value['low']).mean():.4f}",
        **{column: f"{held.sum()} of {len(held)}" for column, held in holds.items()},
    }


_WORDS = ("population", "policy")


def claims(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """How often a learned rule is said to beat usual care, beyond its interval or not, and how often it does not."""
    learned = [row for row in rows if row["policy"] in LEARNED]
    beyond = [row for row in learned if float(row["gain_low"]) > 0]
    better = [row for row in learned if float(row["value"]) > float(row["usual"])]
    truly = [sum(float(row["truth"]) < float(row["usual"]) for row in some) for some in (beyond, better)]
    return {
        "said to be better than usual care": ["beyond the interval", "by the estimate"],
        "rules": [str(len(beyond)), str(len(better))],
        "truly worse": [str(number) for number in truly],
    }


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--populations", nargs="+", default=list(POPULATIONS))
    parser.add_argument("--rows", type=int, default=200_000, help="of each table")
    parser.add_argument("--studies", type=int, default=5)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        done = {(row["population"], int(row["rows"]), int(row["seed"])) for row in read(given.out)}
        for seed in range(FIRST_SEED, FIRST_SEED + given.studies):
            for name in given.populations:
                if (name, given.rows, seed) not in done:
                    append(given.out, *measure(name, given.rows, seed))
    rows = read(given.out)
    print(format_table(table_columns(rows)), format_table(claims(rows)), sep="\n\n")


if __name__ == "__main__":
    main()
