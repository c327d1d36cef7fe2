"""How many queries lack the rows the paper asks for."""

from __future__ import annotations

from typing import Any

from pnsight.queries import lattice
from pnsight_experiments.fit import sampled
from pnsight_experiments.paper import BUDGETS, EXACT_WITHOUT_SUPPORT, MASK_WITHOUT_SUPPORT

THRESHOLD = 300
"""Rows in each table that the paper calls sufficient."""


def without_support(population: str = "mediator", seed: int = 1) -> dict[str, list[Any]]:
    """Share of exact and of all queries with fewer than 300 rows in one of the tables, by budget, beside the paper's.

    The paper's populations share one law of covariates, so one of them speaks for all.
    """
    shares = [_shares(population, budget, seed) for budget in BUDGETS]
    return {
        "rows a table": list(BUDGETS),
        "exact queries without": [f"{exact:.0%}" for exact, _ in shares],
        "exact, paper": [f"{EXACT_WITHOUT_SUPPORT:.0%}"] * len(shares),
        "all queries without": [f"{every:.0%}" for _, every in shares],
        "all, paper": [f"{MASK_WITHOUT_SUPPORT:.0%}"] * len(shares),
    }


def _shares(population: str, budget: int, seed: int) -> tuple[float, float]:
    study = sampled(population, budget, seed)
    counts = lattice.roll_up(study.schema, study.profiles, study.counts)
    lacking = study.structure.by_table(counts).min(axis=1) < THRESHOLD
    exact = (lattice.all_queries(study.schema) >= 0).all(axis=1)
    return float(lacking[exact].mean()), float(lacking.mean())
