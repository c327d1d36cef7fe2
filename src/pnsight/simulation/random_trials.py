"""Random populations of other structures than two arms and two outcomes, frozen like the others.

Covariates depend on each other. Choice, compliance and outcomes depend on weighted sums of the covariates and on
products of two of them, and on three hidden causes that move all of these. There are people who are harmed as well as
people who benefit, and people of the same profile who choose differently would not respond alike.

Seeds 101-110 are for reporting only: nothing is ever chosen by looking at them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.noncompliance import noncompliance
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.data.time_to_event import time_to_event
from pnsight.errors import PopulationError, did_you_mean, join_names
from pnsight.queries import lattice
from pnsight.simulation.covariate_network import random_network
from pnsight.simulation.log_linear import LogLinearPopulation, log_linear_population
from pnsight.simulation.table_design import FollowUp, TableDesign

COVARIATES = 8
"""Covariates of a random trial unless another number is asked for."""

_ARMS = ("control", "treated")
_PLAIN = TableDesign("arm", "outcome")
_HIDDEN = ("h1", "h2", "h3")
_PRODUCTS = 10
_SPREAD, _PRODUCT_SPREAD, _HIDDEN_SPREAD, _CONSTANT_SPREAD = 0.9, 0.6, 1.4, 0.3
_ALIKE = 0.7
"""How much more common it is that a person has the same outcome under two arms."""

_COMPLY = 1.6
_LATER = 1.0
_LEAST_SHARE, _LEAST_CHOICE, _LEAST_CONFOUNDING, _LEAST_COMPLIERS = 0.05, 0.1, 0.02, 0.3


@dataclass(frozen=True)
class _Kind:
    """A kind of random trial; its number is part of the seed."""

    number: int
    structure: Structure
    design: TableDesign


_KINDS = {
    "arms3": _Kind(1, arms_and_outcomes(("placebo", "low", "high"), ("none", "partial", "complete")), _PLAIN),
    "grades5": _Kind(2, arms_and_outcomes(_ARMS, ("1", "2", "3", "4", "5")), _PLAIN),
    "survival": _Kind(
        3, time_to_event(_ARMS, (1, 2, 3, 4)), TableDesign("arm", "years", follow_up=FollowUp(1.0, 7.0, 5.0))
    ),
    "noncompliance": _Kind(4, noncompliance(_ARMS, ("0", "1")), _PLAIN),
    "noncompliance-alone": _Kind(5, noncompliance(_ARMS, ("0", "1"), (EXPERIMENTAL,)), _PLAIN),
}

TRIAL_KINDS = tuple(_KINDS)
"""Kinds of random population with more arms, more outcomes, times to an event, or noncompliance."""


def random_trial(kind: str, seed: int, covariates: int = COVARIATES) -> LogLinearPopulation:
    """The random population of that kind and seed.

    Parameters
    ----------
    kind
        One of `TRIAL_KINDS`.
    seed
        The same always gives the same population.
    covariates
        How many binary covariates it has, z1, z2, ...

    Returns
    -------
    The population.
    """
    if kind not in _KINDS:
        raise PopulationError(
            f"no kind of population is called {kind!r}; there are {join_names(TRIAL_KINDS)}."
            + did_you_mean(kind, TRIAL_KINDS)
        )
    rng = np.random.default_rng([18, _KINDS[kind].number, seed, covariates])
    population = _draw(kind, seed, covariates, rng)
    while not _interesting(population):
        population = _draw(kind, seed, covariates, rng)
    return population


def _draw(kind: str, seed: int, covariates: int, rng: np.random.Generator) -> LogLinearPopulation:
    structure, design = _KINDS[kind].structure, _KINDS[kind].design
    network = random_network(rng, covariates, dependent=True)
    hidden = dict(zip(_HIDDEN, rng.uniform(0.3, 0.7, size=len(_HIDDEN)), strict=True))
    effects = {statement: _weights(rng, network.names, scale) for statement, scale in _moved(structure)}
    for statement, mean in _constants(structure):
        effects.setdefault(statement, {})[""] = float(mean + _CONSTANT_SPREAD * rng.normal())
    return log_linear_population(f"{kind}:{seed}", network, structure, design, hidden, effects)


def _weights(rng: np.random.Generator, names: tuple[str, ...], scale: float) -> dict[str, float]:
    """Of each covariate, of some products of two, and of the hidden causes."""
    pairs = [(first, second) for second in range(len(names)) for first in range(second)]
    some = sorted(rng.choice(len(pairs), size=min(_PRODUCTS, len(pairs)), replace=False))
    products = [f"{names[pairs[number][0]]}*{names[pairs[number][1]]}" for number in some]
    found: dict[str, float] = {}
    for terms, spread in ((names, _SPREAD), (products, _PRODUCT_SPREAD), (_HIDDEN, _HIDDEN_SPREAD)):
        drawn = scale * spread * rng.normal(size=len(terms)) / np.sqrt(max(1, len(terms)))
        found |= dict(zip(terms, map(float, drawn), strict=True))
    return found


def _moved(structure: Structure) -> Iterator[tuple[str, float]]:
    """What covariates and hidden causes move, and how much: choices, what is taken, outcomes of all arms and each."""
    described = structure.description
    arms = range(len(described.arms))
    grade = 2 / len(described.outcomes)
    choices = ["X", *(f"D{z}" for z in arms if f"D{z}" in structure.people)]
    yield from ((f"{variable} == {arm}", 1.0) for variable in choices for arm in arms[1:])
    yield " + ".join(f"Y{k}" for k in arms), 0.7 * grade
    yield from ((f"Y{k}", 0.7 * grade) for k in arms)


def _constants(structure: Structure) -> Iterator[tuple[str, float]]:
    """What is more or less common by itself: each outcome, the same under two arms, and doing as assigned."""
    described = structure.description
    arms, last = range(len(described.arms)), len(described.outcomes) - 1
    for k in arms:
        for outcome in range(1, last + 1):
            yield f"Y{k} == {outcome}", _LATER if described.horizons and outcome == last else 0.0
    yield from ((f"Y{k} == Y{j}", _ALIKE) for k in arms for j in range(k))
    if described.kind == NONCOMPLIANCE:
        yield from ((f"D{z} == {z}", _COMPLY) for z in arms)


def _interesting(population: LogLinearPopulation) -> bool:
    """Some benefit and harm of the last arm, every arm chosen, some who comply and some who do not, confounding."""
    shares, people = population.mixture("")[1][0], population.structure.people
    last = len(population.structure.description.arms) - 1
    reference, treated = people["Y0"], people[f"Y{last}"]
    least = min(shares[treated > reference].sum(), shares[treated < reference].sum())
    chosen = np.bincount(people["X"], weights=shares, minlength=last + 1)
    enough = least > _LEAST_SHARE and chosen.min() > _LEAST_CHOICE
    if "D0" in people:
        comply = shares[(people["D0"] == 0) & (people["D1"] == 1)].sum()
        refuse = min(shares[people["D1"] == 0].sum(), shares[people["D0"] == 1].sum())
        enough &= comply > _LEAST_COMPLIERS and refuse > _LEAST_SHARE
    return bool(enough and _confounding(population) > _LEAST_CONFOUNDING)


def _confounding(population: LogLinearPopulation) -> float:
    """How far those who choose an arm differ from everyone of their profile in the outcomes that they have under it.

    Half the sum of absolute differences over outcomes (total variation), mean over arms and people.
    """
    people, described = population.structure.people, population.structure.description
    profiles = lattice.all_profiles(population.schema)
    shares, found = population.types(profiles), np.zeros(len(profiles))
    for k, y in product(range(len(described.arms)), range(len(described.outcomes))):
        chose, had = people["X"] == k, people[f"Y{k}"] == y
        among = shares[:, chose & had].sum(axis=1) / shares[:, chose].sum(axis=1)
        found += np.abs(shares[:, had].sum(axis=1) - among) / 2
    return float(population.covariates.mass(profiles) @ found) / len(described.arms)
