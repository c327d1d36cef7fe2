"""Structures of every kind, small enough for quick tests."""

from __future__ import annotations

import numpy as np

from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.law import Law
from pnsight.data.noncompliance import noncompliance
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.data.time_to_event import time_to_event
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two

DOSES = ("placebo", "low", "high")
GRADES = ("none", "mild", "severe")

STRUCTURES: dict[str, Structure] = {
    "two by two": TWO_BY_TWO,
    "named two by two": two_by_two(("placebo", "drug"), ("sick", "well")),
    "three arms": arms_and_outcomes(DOSES, ("no", "yes")),
    "an arm that is not tried": arms_and_outcomes(DOSES, ("no", "yes"), tried=("placebo", "high")),
    "three grades": arms_and_outcomes(("placebo", "drug"), GRADES),
    "three arms, three grades": arms_and_outcomes(DOSES, GRADES),
    "no order": arms_and_outcomes(("placebo", "drug"), GRADES, ordered=False),
    "survival": time_to_event(("care", "drug"), (30, 90, 365)),
    "recovery": time_to_event(("care", "drug"), (30, 90), event_is_bad=False),
    "noncompliance": noncompliance(("placebo", "drug"), ("no", "yes")),
    "noncompliance alone": noncompliance(("placebo", "drug"), ("no", "yes"), (EXPERIMENTAL,)),
    "missing, worst case": arms_and_outcomes(("placebo", "drug"), ("no", "yes"), missing="worst-case"),
    "experiment alone, three grades": arms_and_outcomes(("placebo", "drug"), GRADES, (EXPERIMENTAL,)),
}


def random_law(structure: Structure, seed: int, rows: int = 1, possible=None) -> tuple[np.ndarray, Law]:
    """Types of random populations, some of them without many of the types, and their laws."""
    rng = np.random.default_rng(seed)
    types = rng.dirichlet(np.full(structure.n_types, 0.3), rows)
    if possible is not None:
        types = types * possible
        types /= types.sum(axis=1, keepdims=True)
    return types, Law.from_types(types, structure)
