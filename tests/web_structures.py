"""Studies of every structure with names as people give them, and a plug-in of each, quick to make."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import pnsight

SIZE = 900
ARMS = ("placebo", "10 mg", "40 mg")
RELIEF = ("none", "partial", "full")
RECOVERY = ("dead", "severe disability", "moderate disability", "slight disability", "no symptoms")
HORIZONS = (90, 180, 365)


@cache
def dose_model() -> pnsight.Model:
    """Three doses and three grades of relief."""
    columns = {"treatment": "dose", "outcome": "relief", "arms": ARMS, "outcomes": RELIEF}
    return _fitted(*(_graded(seed, seed == 1, *columns.values()) for seed in (1, 2)), columns)


@cache
def grade_model() -> pnsight.Model:
    """Two arms and five grades of recovery."""
    arms = ("standard care", "stroke unit")
    columns = {"treatment": "care", "outcome": "recovery", "arms": arms, "outcomes": RECOVERY}
    return _fitted(*(_graded(seed, seed == 1, *columns.values()) for seed in (1, 2)), columns)


@cache
def survival_model() -> pnsight.Model:
    """Days until death under two regimens."""
    columns = {"treatment": "regimen", "time": "days", "event": "died", "event_is": "bad", "horizons": HORIZONS}
    return _fitted(_timed(1, True), _timed(2, False), {**columns, "arms": ("chemotherapy", "immunotherapy")})


@cache
def screening_model() -> pnsight.Model:
    """An invitation to be screened that not everybody follows, and nothing else."""
    columns = {"treatment": "screened", "assigned": "invited", "treated": "yes", "outcome": "early"}
    return _fitted(_invited(1), None, columns)


MODELS = {"doses": dose_model, "grades": grade_model, "survival": survival_model, "screening": screening_model}


def _fitted(trial, registry, columns) -> pnsight.Model:
    return pnsight.PlugIn().fit(
        pnsight.read_study(pd.DataFrame(trial), None if registry is None else pd.DataFrame(registry), **columns)
    )


def _people(rng) -> dict[str, np.ndarray]:
    return {"sex": rng.choice(["female", "male"], SIZE), "age": rng.choice(["under 50", "50 and over"], SIZE)}


def _graded(seed, randomised, treatment, outcome, arms, outcomes):
    rng = np.random.default_rng(seed)
    people, frailty = _people(rng), rng.normal(size=SIZE)
    chosen = np.digitize(frailty + rng.normal(size=SIZE), np.linspace(-0.5, 0.5, len(arms) - 1))
    arm = rng.integers(0, len(arms), SIZE) if randomised else chosen
    felt = arm * (0.6 + 0.5 * (people["sex"] == "female")) - 0.5 * frailty + rng.normal(size=SIZE)
    grade = np.digitize(felt, np.linspace(-0.3, 1.5, len(outcomes) - 1))
    return {**people, treatment: np.array(arms)[arm], outcome: np.array(outcomes)[grade]}


def _timed(seed, randomised):
    rng = np.random.default_rng(seed)
    people, frailty = _people(rng), rng.gamma(2, 0.5, SIZE)
    arm = rng.integers(0, 2, SIZE) if randomised else (frailty + rng.normal(size=SIZE) > 1).astype(int)
    until = rng.exponential(400 / frailty * (1 + arm * (0.3 + (people["sex"] == "female"))))
    followed = rng.uniform(60, 1200, SIZE)
    return {
        **people,
        "regimen": np.array(["chemotherapy", "immunotherapy"])[arm],
        "days": np.ceil(np.minimum(until, followed)).astype(int),
        "died": (until <= followed).astype(int),
    }


def _invited(seed):
    rng = np.random.default_rng(seed)
    people, keen, invited = _people(rng), rng.normal(size=SIZE), rng.integers(0, 2, SIZE)
    taken = np.where(keen > 1.2, 1, np.where(keen < -1, 0, invited))
    early = taken * 0.8 + 0.3 * keen + rng.normal(size=SIZE) > 0.4
    words = np.array(["no", "yes"])
    return {**people, "invited": words[invited], "screened": words[taken], "early": early.astype(int)}
