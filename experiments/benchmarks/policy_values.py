"""Values of policies: how far estimates are off, how often intervals hold, and how often a rule said better is worse.

For each population and study a response-type model is fitted, and what `pnsight.policies` says is compared with what
the rule that it learned is truly worth. Results are added to the file as they come; what is there already is not
computed again.

    python experiments/benchmarks/policy_values.py --rows 200000 --studies 5 --out policies.csv
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import pnsight
from pnsight.data.law import Law
from pnsight.decisions import POLICIES, policies, policy_values
from pnsight.decisions.policies import values_if_learned
from pnsight.queries import lattice

POPULATIONS = ("interaction:1", "tree:1", "index-dependent:1", "mediator", "confounder")
NUMBERS = ("best", "truth", "usual", "value", "low", "high", "gain_low", "gain_high")
FIELDS = ("population", "rows", "seed", "policy", *NUMBERS)
HEADS = ("error", "covers rule", "covers best", "covers gain")


def measure(name: str, rows: int, seed: int) -> list[dict[str, object]]:
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


def read(path: Path) -> list[dict[str, str]]:
    """What was measured before."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(populations: list[str], rows: int, seeds: range, out: Path) -> None:
    """Measure what is missing in the file."""
    done = {(row["population"], int(row["rows"]), int(row["seed"])) for row in read(out)}
    for seed in seeds:
        for name in populations:
            if (name, rows, seed) in done:
                continue
            new = not out.exists()
            found = measure(name, rows, seed)
            with out.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerows(found)


def summary(rows: list[dict[str, str]]) -> str:
    """By population and policy, mean error and coverage; and how often a claimed improvement is none."""
    lines = [f"{'population':20}{'policy':24}{'studies':>8}" + "".join(f"{head:>13}" for head in HEADS)]
    for name, policy in dict.fromkeys((row["population"], row["policy"]) for row in rows):
        some = [row for row in rows if (row["population"], row["policy"]) == (name, policy)]
        best, truth, usual, value, low, high, gain_low, gain_high = (
            np.array([float(row[field]) for row in some]) for field in NUMBERS
        )
        covers = [
            ((low <= truth) & (truth <= high)).mean(),
            ((low <= best) & (best <= high)).mean(),
            ((gain_low <= truth - usual) & (truth - usual <= gain_high)).mean(),
        ]
        shown = "".join(f"{share:13.2f}" for share in covers)
        lines.append(f"{name:20}{policy:24}{len(some):8}{np.abs(value - truth).mean():13.4f}{shown}")
    claimed = [row for row in rows if row["policy"].startswith("covariates") and float(row["gain_low"]) > 0]
    worse = sum(float(row["truth"]) < float(row["usual"]) for row in claimed)
    lines.append(f"rules said to be better than usual care: {len(claimed)}; truly worse: {worse}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--populations", nargs="+", default=list(POPULATIONS))
    parser.add_argument("--rows", type=int, default=200_000, help="of each table")
    parser.add_argument("--studies", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("policies.csv"))
    given = parser.parse_args()
    run(given.populations, given.rows, range(given.first_seed, given.first_seed + given.studies), given.out)
    print(summary(read(given.out)))


if __name__ == "__main__":
    main()
