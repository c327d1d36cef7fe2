"""One fit of the benchmark of decisions: what it is worth to decide, to spend a budget and to rank by a model.

Everything is measured against the oracle, whose bounds are those that unlimited data would give. People are weighted
by their true shares.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from pnsight import simulation as populations
from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.decisions import rank, select
from pnsight.decisions.rule import cautious_ends
from pnsight.errors import PnsightError
from pnsight.estimands.resolve import ROUNDING
from pnsight.models import Model
from pnsight.queries import lattice
from pnsight.queries.query import encode
from pnsight.simulation import Population
from pnsight_experiments.fit import Row, sampled, timed_fit
from pnsight_experiments.scores import Truth, confidence_scores, decision_scores, truth
from pnsight_experiments.settings import CAUTIONS, FLAGSHIP, Setting

SHARES = (0.1, 0.25, 0.5)
"""Budgets, as shares of the population."""

TOP = 100
"""How many of the best are compared with the oracle's."""

LISTED = 20
"""How many `rank` lists."""

LEAST_SHARE = 0.01
"""Share of the people that a group must hold to be among the best, the default of `rank`."""


def refuse_exact_learners(settings: Iterable[Setting]) -> None:
    """Refuse learners that answer exact queries only, before anything is fitted."""
    for setting in settings:
        if setting.learner.startswith("exact-"):
            raise PnsightError(
                f"{setting.learner} answers exact queries only; decisions are compared over all queries, so name "
                "learners such as plug-in, mask-mlp and response-types."
            )


def fit_and_decide(setting: Setting) -> list[Row]:
    """Rows of results for one fit: plain, and cautious too for the flagship; baselines decide as the paper does."""
    model, told = timed_fit(setting, sampled(setting.population, setting.budget, setting.seed))
    if model is None:
        return [told]
    population, known = populations.get(setting.population), truth(setting.population)
    answers = model.bounds(known.codes)
    rows = []
    for caution in CAUTIONS if setting.learner == FLAGSHIP else CAUTIONS[:1]:
        plain = caution == CAUTIONS[0]
        lower, upper = (answers.lower, answers.upper) if plain else cautious_ends(answers)
        scores = {
            **decision_scores(known, lower, upper),
            **confidence_scores(known, lower, upper),
            **selection_scores(population, model, cautious=not plain),
            **top_scores(known, _mass(setting.population), lower),
            **(ranking_scores(population, model) if plain else {}),
        }
        rows.append({**told, "caution": caution, **scores})
    return rows


@cache
def _mass(population: str) -> FloatArray:
    """Share of the people in each query of `truth`."""
    return populations.get(population).mixture(truth(population).codes)[0]


def selection_scores(population: Population, model: Model, cautious: bool = False) -> Row:
    """By budget: what the oracle's choice surely gains, what `select` promised for its own, and what that delivers."""
    profiles = lattice.all_profiles(population.schema)
    best_first = profiles[np.argsort(-population.bounds(profiles).lower, kind="stable")]
    result: Row = {}
    for share in SHARES:
        chosen = select(model, share, cautious=cautious)
        result[f"oracle_gain_{share}"] = sure_gain(population, best_first, share)
        result[f"promised_{share}"] = chosen.totals()["guaranteed"]
        result[f"delivered_{share}"] = sure_gain(population, encode(model.schema, chosen.answers.queries), share)
    return result


def sure_gain(population: Population, profiles: Codes, share: float) -> float:
    """Share of all people who surely respond because of it, if profiles are treated in this order.

    Treated are this share of the people, or all that are listed if those are fewer, as many of each profile as there
    truly are: the list says whom to treat next, however wrong the model is about how many they are.
    """
    mass = population.mixture(profiles)[0]
    treated = np.clip(share - (np.cumsum(mass) - mass), 0.0, mass)
    some = treated > 0
    return float(treated[some] @ population.bounds(profiles[some]).lower)


def top_scores(known: Truth, mass: FloatArray, merit: FloatArray) -> Row:
    """The best by a model's merit beside the oracle's: of groups that are large enough, and of all exact profiles.

    ``right`` is the share of the model's best whose true lower bound reaches that of the oracle's last, so that ties
    are no mistakes; ``true_lower`` and ``oracle_lower`` are the mean true lower bounds of the model's and of the
    oracle's best. The candidates are the same for every model.
    """
    candidates = {"groups": mass >= LEAST_SHARE, "profiles": known.exact & (mass > 0)}
    return {
        f"{name}_{what}": value
        for name, inside in candidates.items()
        for what, value in _best_beside(known.lower[inside], merit[inside]).items()
    }


def _best_beside(true: FloatArray, merit: FloatArray) -> Row:
    """Both arrays over the same candidates; those without an answer are not among the model's best."""
    best, oracles_best = _best(merit), _best(true)
    last = true[oracles_best].min()
    return {
        "right": float((true[best] >= last - ROUNDING).sum() / len(oracles_best)),
        "true_lower": float(true[best].mean()) if len(best) else None,
        "oracle_lower": float(true[oracles_best].mean()),
    }


def _best(merit: FloatArray) -> npt.NDArray[np.intp]:
    order = np.argsort(-merit, kind="stable")  # what is missing comes last
    return order[~np.isnan(merit[order])][:TOP]


def ranking_scores(population: Population, model: Model) -> Row:
    """How many groups `rank` lists, by how much their lower bounds are too high on average, and what it foretold."""
    found = rank(model, top=LISTED)
    if not len(found):
        return {"rank_listed": 0}
    true = population.bounds(encode(model.schema, found.answers.queries)).lower
    return {
        "rank_listed": len(found),
        "rank_overstated": float((found.answers.lower - true).mean()),
        "rank_foretold": found.overestimated,
    }
