"""One fit of the benchmark: sample, learn, score."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

from pnsight import simulation as populations
from pnsight._typing import FloatArray
from pnsight.data.study import Study
from pnsight.errors import ModelError
from pnsight.models import BoundRegressor, Model, ResponseTypeModel
from pnsight.models.bound_networks.training_examples import feasible_examples, split_rows
from pnsight_experiments.scores import Truth, crossings, decision_scores, errors, interval_scores, truth
from pnsight_experiments.settings import BASELINE, CONVENTIONS, Setting

HELD_OUT_SUPPORT = 300
"""Held-out rows that a query needs in both tables to be scored without an oracle."""

Row = dict[str, Any]


@lru_cache(maxsize=2)
def sampled(population: str, budget: int, seed: int) -> Study:
    """The study of a setting: as many observational as experimental rows."""
    return populations.get(population).sample(experimental=budget, observational=budget, seed=seed)


def fit_and_score(setting: Setting) -> list[Row]:
    """Rows of results for one fit: two for the plug-in, whose scores depend on which answers are dropped."""
    study, held_out = sampled(setting.population, setting.budget, setting.seed), None
    if setting.held_out:
        study, held_out = split_rows(study, setting.held_out, np.random.default_rng([setting.seed, 2]))
    model, told = timed_fit(setting, study)
    if model is None:
        return [told]
    known = truth(setting.population)
    lower, upper = raw_bounds(model, known)
    shared = {
        **told,
        **_learned(model),
        **crossings(known, lower, upper),
        **decision_scores(known, lower, upper),
        **_interval_scores(model, known),
        **_held_out_errors(model, held_out),
    }
    kept = _kept(setting, lower, upper)
    rows = [{**shared, "dropped": name, **errors(known, lower, upper, keep)} for name, keep in kept.items()]
    return [_without_mask(row) for row in rows] if _space(model) == "exact" else rows


def timed_fit(setting: Setting, study: Study) -> tuple[Model | None, Row]:
    """The fitted model, or none if it cannot be fitted; and what to note in any case: setting, seconds, why not."""
    started = time.perf_counter()
    model: Model | None
    try:
        model, note = setting.model().fit(study), {}
    except ModelError as error:
        model, note = None, {"note": str(error)}
    return model, {**asdict(setting), **note, "seconds": time.perf_counter() - started}


def _without_mask(row: Row) -> Row:
    """A learner of exact queries has no scores over all queries."""
    return {name: value for name, value in row.items() if not name.startswith("mask_")}


def _space(model: Model) -> str:
    return model.space if isinstance(model, BoundRegressor) else "mask"


def _kept(setting: Setting, lower: FloatArray, upper: FloatArray) -> dict[str, Any]:
    """Which queries are scored, by the name of the convention."""
    defined = ~(np.isnan(lower) | np.isnan(upper))
    if setting.learner != BASELINE:
        return {"": defined}
    return dict(zip(CONVENTIONS, (defined, defined & (lower <= upper)), strict=True))


def raw_bounds(model: Model, known: Truth) -> tuple[FloatArray, FloatArray]:
    """Ends as the model computes them, crossings included; NaN where it has no answer."""
    asked = known.exact if _space(model) == "exact" else np.ones_like(known.exact)
    ends = np.full((len(known.codes), 2), np.nan)
    ends[asked] = model.raw_ends(known.codes[asked])
    return ends[:, 0], ends[:, 1]


def _learned(model: Model) -> Row:
    if not isinstance(model, BoundRegressor):
        return {}
    chosen = {"chosen_threshold": model.min_rows_, "examples": model.examples_}
    epochs = (
        {}
        if model.regressor is not None
        else dict(zip(("lower_epoch", "upper_epoch"), model.best_epochs_, strict=True))
    )
    return {**chosen, **epochs}


def _interval_scores(model: Model, known: Truth) -> Row:
    """Scores of the intervals, for a model that gives them."""
    return interval_scores(known, model.bounds(known.codes)) if isinstance(model, ResponseTypeModel) else {}


def _held_out_errors(model: Model, held_out: Study | None) -> Row:
    """Distance to the plug-in bounds of rows that the learner did not see, on well-supported queries."""
    if held_out is None:
        return {}
    examples = feasible_examples(held_out, _space(model), "pns").supported(HELD_OUT_SUPPORT)
    distance = np.abs(model.raw_ends(examples.codes) - examples.ends)
    lower, upper = np.nanmean(distance, axis=0)
    return {"held_out_queries": len(examples), "held_out_lower_mae": float(lower), "held_out_upper_mae": float(upper)}
