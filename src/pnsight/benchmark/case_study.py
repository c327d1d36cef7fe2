"""The paper's case study: one rare profile and its ten one-open variants, everyone's answers and decisions.

The paper's digits do not follow from the printed Mediator population, so this reproduces the study's shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pnsight import lattice, populations
from pnsight.benchmark.paper import CASE_PROFILE
from pnsight.bound_table import BoundTable
from pnsight.decide import decisions
from pnsight.models import ExactMLP, MaskMLP, PlugIn
from pnsight.progress import Progress, silent

LETTERS = {"treat": "T", "not": "N", "uncertain": "U", "": "-"}
"""The paper's letters for decisions; a dash where there is no answer."""

THETA = 0.5


def case_study(
    budget: int = 200_000, seed: int = 1, threshold: int = 300, progress: Progress = silent
) -> dict[str, list[Any]]:
    """Bounds and decisions by oracle, plug-in, Exact-MLP (for the exact profile) and Mask-MLP, as columns."""
    population = populations.get("mediator")
    study = population.sample(experimental=budget, observational=budget, seed=seed)
    queries = lattice.one_open(CASE_PROFILE)
    settings: dict[str, Any] = {"threshold": threshold, "validation": "queries", "random_state": seed}
    exact = ExactMLP(**settings).fit(study).bounds(queries[0])
    answers = {
        "oracle": population.bounds(queries),
        "plug-in": PlugIn().fit(study).bounds(queries),
        "mask-mlp": MaskMLP(**settings).fit(study, progress).bounds(queries),
    }
    return _columns(queries, answers, exact)


def _columns(queries: list[str], answers: Mapping[str, BoundTable], exact: BoundTable) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"query": queries}
    for name, answer in answers.items():
        columns[name] = _ends(answer)
    columns["exact-mlp"] = [*_ends(exact), *[""] * (len(queries) - 1)]
    letters = [_letters(answer) for answer in answers.values()] + [_letters(exact) + [""] * (len(queries) - 1)]
    columns["decisions"] = ["/".join(letter for letter in row if letter) for row in zip(*letters, strict=True)]
    return columns


def _ends(answer: BoundTable) -> list[str]:
    pairs = zip(answer.lower, answer.upper, answer.status, strict=True)
    return [f"{lower:.3f}/{upper:.3f}" if status == "ok" else str(status) for lower, upper, status in pairs]


def _letters(answer: BoundTable) -> list[str]:
    return [LETTERS[str(word)] for word in decisions(answer.lower, answer.upper, THETA)]
