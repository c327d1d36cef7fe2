"""Small models to attack: each bears a number, in its description and in its arrays."""

from __future__ import annotations

import numpy as np

from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.models.base import Model
from pnsight.models.plug_in import PlugIn

SCHEMA = Schema(
    (Covariate("sexe déclaré", ("femme", "homme")), Covariate("age", ("18-40", "40-95"), (18.0, 40.0, 95.0)))
)


def numbered(number: int) -> Model:
    """A model of a number, whose warnings are not looked for: that would take longer than all else."""
    counts = np.full((1, 4), float(number))
    study = Study.from_tables(
        Schema(), np.zeros((1, 0), np.int32), counts, counts, treatment=f"drug {number}", outcome="y"
    )
    model = PlugIn().fit(study)
    model.keep_warnings(())
    return model


def number_of(model: Model) -> int:
    """The number that a model bears; ValueError if it is not whole."""
    found = {int(model.study.treatment.removeprefix("drug ")), *map(int, model.study.counts.ravel())}
    if len(found) != 1:
        raise ValueError(f"a model is of several writers: {sorted(found)}")
    return found.pop()


def described(seed: int) -> Model:
    """A model with names, bands, notes and counts that differ."""
    rng = np.random.default_rng(seed)
    profiles = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    trial, registry = rng.integers(20, 90, size=(2, 4, 4)).astype(float)
    study = Study.from_tables(SCHEMA, profiles, trial, registry, treatment="le médicament", outcome="guéri")
    return PlugIn().fit(study)
