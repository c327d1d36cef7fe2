"""The paper's case study: one rare profile and its ten one-open variants, everyone's answers and decisions.

The paper's digits do not follow from the printed Mediator population, so this reproduces the study's shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pnsight import simulation as populations
from pnsight._progress import Progress, no_progress
from pnsight._typing import FloatArray
from pnsight.decisions import decisions
from pnsight.models import ExactMLP, MaskMLP, PlugIn, ResponseTypeModel
from pnsight.queries import lattice
from pnsight.queries.query import encode
from pnsight_experiments.paper import CASE_PROFILE

LETTERS = {"treat": "T", "not": "N", "uncertain": "U", "": "-"}
"""The paper's letters for decisions; a dash where there is no answer."""

THETA = 0.5


def case_study(
    budget: int = 200_000, seed: int = 1, threshold: int = 300, progress: Progress = no_progress, epochs: int = 2000
) -> dict[str, list[Any]]:
    """Bounds and decisions by oracle, plug-in, Exact-MLP (for the exact profile), Mask-MLP and response types."""
    population = populations.get("mediator")
    study = population.sample(experimental=budget, observational=budget, seed=seed)
    queries = lattice.profile_and_parents(CASE_PROFILE)
    codes = encode(study.schema, queries)
    settings: dict[str, Any] = {
        "min_rows": threshold,
        "validation": "queries",
        "random_state": seed,
        "epochs": epochs,
    }
    truth = population.bounds(codes)
    ends = {
        "oracle": np.stack([truth.lower, truth.upper], axis=1),
        "plug-in": PlugIn().fit(study).raw_ends(codes),
        "exact-mlp": ExactMLP(**settings).fit(study).raw_ends(codes[:1]),
        "mask-mlp": MaskMLP(**settings).fit(study, progress).raw_ends(codes),
        "response-types": ResponseTypeModel(intervals=False, random_state=seed).fit(study).raw_ends(codes),
    }
    shown = {name: _padded([_text(*pair) for pair in pairs], len(queries)) for name, pairs in ends.items()}
    letters = [_padded(_letters(pairs), len(queries)) for pairs in ends.values()]
    decided = ["/".join(letter for letter in row if letter) for row in zip(*letters, strict=True)]
    return {"query": queries, **shown, "decisions": decided}


def _text(lower: float, upper: float) -> str:
    """Both ends as the learner has them, a crossing named as what it is."""
    if np.isnan(lower) or np.isnan(upper):
        return "undefined"
    return f"{lower:.3f}/{upper:.3f}" + (" crossed" if lower > upper else "")


def _letters(ends: FloatArray) -> list[str]:
    return [LETTERS[str(word)] for word in decisions(ends[:, 0], ends[:, 1], THETA)]


def _padded(words: list[str], length: int) -> list[str]:
    return words + [""] * (length - len(words))
