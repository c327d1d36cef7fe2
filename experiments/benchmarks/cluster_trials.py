"""How often `pnsight check` calls a cluster trial unbalanced in which nothing is wrong, with its clusters and without.

Run it with: python experiments/benchmarks/cluster_trials.py [--trials 200]

Households of one to five people, randomised whole or person by person, and villages of about fifty, half of them
treated. Outcome and covariates are alike within clusters; nobody's covariates have anything to do with treatment.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas

import pnsight
from pnsight.diagnostics.balance import balance_of


def alike_within(
    clusters: npt.NDArray[np.intp], share: float, correlation: float, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """0 or 1 for each row, with that share of ones and that intraclass correlation."""
    common = (rng.random(clusters.max() + 1) < share)[clusters]
    own = rng.random(len(clusters)) < share
    return np.where(rng.random(len(clusters)) < np.sqrt(correlation), common, own).astype(np.intp)


def household_trial(households: int, seed: int, correlation: float = 0.3, whole: bool = True) -> pandas.DataFrame:
    """Households of one to five people, randomised whole or person by person.

    The outcome, and the covariates `old` and `rural`, are alike within households; `sex` is not.
    """
    rng = np.random.default_rng(seed)
    household = np.repeat(np.arange(households), rng.integers(1, 6, households))
    drawn = rng.integers(0, 2, households)[household] if whole else rng.integers(0, 2, len(household))
    return pandas.DataFrame(
        {
            "household": [f"h{number}" for number in household],
            "x": drawn,
            "y": alike_within(household, 0.4, correlation, rng),
            "old": alike_within(household, 0.3, 0.5, rng),
            "rural": alike_within(household, 0.5, 1.0, rng),
            "sex": rng.integers(0, 2, len(household)),
        }
    )


def village_trial(villages: int, rows: int, seed: int, correlation: float = 0.1) -> pandas.DataFrame:
    """Villages of about so many rows, half of them treated whole; outcome and five covariates are alike within them."""
    rng = np.random.default_rng(seed)
    village = np.repeat(np.arange(villages), rng.poisson(rows, villages) + 1)
    treated = rng.permutation(np.arange(villages) % 2)
    columns = {"y": 0.4, **{f"c{j}": 0.2 + 0.1 * j for j in range(5)}}
    alike = {name: alike_within(village, share, correlation, rng) for name, share in columns.items()}
    return pandas.DataFrame({"village": village, "x": treated[village], **alike})


def design_effect(clusters: pandas.Series, correlation: float) -> float:
    """In theory: one plus the correlation times the number of others in a row's cluster (Kish 1965)."""
    sizes = clusters.value_counts()
    return float(1 + correlation * ((sizes**2).sum() / sizes.sum() - 1))


TRIALS: dict[str, tuple[str, Callable[[int], pandas.DataFrame]]] = {
    "1,000 households, randomised whole": ("household", lambda seed: household_trial(1_000, seed)),
    "1,000 households, person by person": ("household", lambda seed: household_trial(1_000, seed, whole=False)),
    "40 villages": ("village", lambda seed: village_trial(40, 50, seed)),
    "10 villages": ("village", lambda seed: village_trial(10, 50, seed)),
}
"""By name, the column of the clusters and what makes the trial."""


def alarms(cluster: str, make: Callable[[int], pandas.DataFrame], trials: int, named: bool) -> int:
    """How many of the trials are not called balanced, with the clusters named or not."""
    found = 0
    for seed in range(trials):
        table = make(seed)
        read = {"cluster": cluster} if named else {"covariates": [c for c in table if c not in (cluster, "x", "y")]}
        study = pnsight.read_study(table, treatment="x", outcome="y", **read)
        found += balance_of(study).verdict.status != "ok"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    trials = parser.parse_args().trials
    for name, (cluster, make) in TRIALS.items():
        told, untold = (alarms(cluster, make, trials, named) for named in (True, False))
        print(f"{name}: {told} of {trials} trials called unbalanced with the clusters named, {untold} without")


if __name__ == "__main__":
    main()
