"""Quick fits that the tests of decisions share."""

from __future__ import annotations

import pytest

import pnsight
from pnsight import simulation as populations
from quick_config import QUICK


@pytest.fixture(scope="module")
def fitted() -> pnsight.ResponseTypeModel:
    """A response-type model with intervals, ten covariates."""
    study = populations.get("mediator").sample(experimental=20_000, observational=20_000, seed=1)
    return pnsight.ResponseTypeModel(config=QUICK).fit(study)


@pytest.fixture(scope="module")
def without_intervals() -> pnsight.ResponseTypeModel:
    """The same model without intervals."""
    study = populations.get("mediator").sample(experimental=20_000, observational=20_000, seed=1)
    return pnsight.ResponseTypeModel(intervals=False, config=QUICK).fit(study)


@pytest.fixture(scope="module")
def plug_in() -> pnsight.PlugIn:
    """The same population, each query by its own rows."""
    study = populations.get("mediator").sample(experimental=20_000, observational=20_000, seed=1)
    return pnsight.PlugIn().fit(study)
