"""A made-up row of benchmark results."""

from __future__ import annotations


def fit_row(**changes):
    plain = {
        "population": "mediator",
        "budget": 200_000,
        "seed": 1,
        "learner": "mask-mlp",
        "threshold": "100",
        "validation": "queries",
        "held_out": 0.0,
        "dropped": "",
        "note": "",
        "exact_lower_mae": None,
        "exact_upper_mae": None,
        "mask_lower_mae": 0.02,
        "mask_upper_mae": 0.03,
    }
    return {**plain, **changes}


def decision_row(**changes):
    """A made-up row of the benchmark of decisions."""
    from pnsight_experiments import DECISIONS

    plain = {
        **dict.fromkeys(DECISIONS.columns, 0.01),
        "population": "mediator",
        "budget": 200_000,
        "learner": "plug-in",
        "caution": "plain",
        "note": "",
    }
    return {**plain, **changes}
