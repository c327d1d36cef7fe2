"""Studies and models of every kind to report on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cases import WOMEN
from noted import rows_without_treatment_or_outcome
from pnsight import ExactMLP, MaskMLP, Model, PlugIn, ResponseTypeModel
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from quick_config import QUICK

KINDS = (
    "plug-in",
    "response types",
    "without intervals",
    "mask",
    "mask of harm",
    "exact",
    "experiment alone",
    "no covariates",
    "observational alone",
)
"""Models that there are to report on."""

WORDS = Schema((Covariate("sex", ("F", "M")), Covariate("age", ("under-40", "40+")), Covariate("site", ("a", "b"))))


def worded(rows: int = 20_000, **more) -> Study:
    """Three covariates with names and levels that are words."""
    study = populations.random_population("index", 1, covariates=3).sample(rows, rows, seed=1)
    return replace(study, schema=WORDS, treatment="drug", outcome="well", treated="yes", success="healthy", **more)


def nobody_described() -> Study:
    """No covariates, and an experiment alone."""
    return Study.from_tables(Schema(), np.zeros((1, 0), np.int32), np.array([WOMEN.experimental], float), None)


def chosen_only() -> Study:
    """An observational table alone."""
    return worded().with_tables(experimental=np.zeros_like(worded().experimental))


@pytest.fixture(autouse=True)
def _one_day(monkeypatch):
    """Reports are made on the same day, also when a test runs past midnight."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture(scope="session")
def plug_in() -> PlugIn:
    return PlugIn().fit(worded())


@pytest.fixture(scope="module")
def fitted() -> ResponseTypeModel:
    return ResponseTypeModel(config=QUICK).fit(worded(5_000, dropped={rows_without_treatment_or_outcome(): 3}))


@pytest.fixture(scope="module")
def models(plug_in, fitted) -> dict[str, Model]:
    """One of each kind."""
    regressors = {"epochs": 2, "min_rows": 100}
    six = populations.random_population("index", 1, covariates=6).sample(40_000, 40_000, seed=1)
    return {
        "plug-in": plug_in,
        "response types": fitted,
        "without intervals": ResponseTypeModel(intervals=False, config=QUICK).fit(worded(2_000)),
        "mask": MaskMLP(**regressors).fit(worded()),
        "mask of harm": MaskMLP(quantity="harm", **regressors).fit(worded()),
        "exact": ExactMLP(repair="sort", **regressors).fit(six),
        "experiment alone": PlugIn().fit(worded().with_tables(observational=None)),
        "no covariates": PlugIn().fit(nobody_described()),
        "observational alone": PlugIn().fit(chosen_only()),
    }


@pytest.fixture(params=KINDS)
def model(request, models) -> Model:
    """Each of them in turn."""
    return models[request.param]
