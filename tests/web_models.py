"""Models to explore: quick to make, with names as people give them, and one for each thing that a model may lack."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import cases
import pnsight
from cases import LALONDE
from noted import remark
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from quick_config import QUICK

NASTY = "<script>alert(1)</script>"

CLINIC = Schema(
    (
        Covariate("sex", ("female", "male")),
        Covariate("age", ("18-40", "40-95"), edges=(18.0, 40.0, 95.0)),
        Covariate("region", ("North & East", "South")),
    )
)
NASTY_SCHEMA = Schema(
    (
        Covariate(NASTY, ('<img src=x onerror="alert(2)">', "a&b 'c'")),
        Covariate("z,=\\", ("a,b", "c=d")),
        Covariate("quantity", ("pn", "100%")),  # an option has the same name
    )
)


def study(schema: Schema = CLINIC, rows: int = 3000) -> Study:
    """Three covariates under other names."""
    found = populations.random_population("index", 1, covariates=3).sample(
        experimental=rows, observational=rows, seed=1
    )
    return replace(found, schema=schema, treatment="drug", outcome="recovered")


@cache
def clinic() -> pnsight.Model:
    """A response-type model with intervals."""
    return pnsight.ResponseTypeModel(config=QUICK).fit(study())


@cache
def nasty() -> pnsight.Model:
    """Names that would be markup, or options, if they were not escaped."""
    found = replace(
        study(NASTY_SCHEMA), treatment="<b>drug</b>", outcome="</title><script>", notes=(remark("<i>note</i>"),)
    )
    return pnsight.PlugIn().fit(found)


@cache
def plug_in() -> pnsight.Model:
    """Without an answer where there are no rows."""
    return pnsight.PlugIn().fit(study(rows=40))


@cache
def without_intervals() -> pnsight.Model:
    """Bounds alone."""
    return pnsight.ResponseTypeModel(intervals=False, config=QUICK).fit(study())


@cache
def mask_mlp() -> pnsight.Model:
    """Answers one quantity, and takes no assumptions."""
    return pnsight.MaskMLP(epochs=3, min_rows=100).fit(study())


@cache
def exact_mlp() -> pnsight.Model:
    """Answers only where every covariate is known."""
    found = populations.random_population("index", 1, covariates=6).sample(
        experimental=90_000, observational=90_000, seed=1
    )
    return pnsight.ExactMLP(epochs=3, min_rows=100).fit(found)


@cache
def alone() -> pnsight.Model:
    """An experiment alone."""
    return pnsight.ResponseTypeModel(config=QUICK).fit(study().with_tables(observational=None))


@cache
def without_covariates() -> pnsight.Model:
    """Everyone is one group."""
    found = study()
    counts = found.counts.sum(axis=0, keepdims=True)
    whole = Study.from_tables(Schema(), np.zeros((1, 0), np.int32), counts[:, :4], counts[:, 4:])
    return pnsight.ResponseTypeModel(config=QUICK).fit(whole)


@cache
def many_covariates() -> pnsight.Model:
    """More covariates than fit on a screen."""
    found = populations.random_population("index", 1, covariates=16).sample(
        experimental=2000, observational=2000, seed=1
    )
    return pnsight.PlugIn().fit(found)


@cache
def contradicted() -> pnsight.Model:
    """A trial beside a survey of other people, which contradict each other."""
    return pnsight.PlugIn().fit(replace(LALONDE.study(), treatment="training", outcome="employed"))


@cache
def half_contradicted() -> pnsight.Model:
    """Of two towns one is contradicted."""
    return pnsight.PlugIn().fit(cases.half_contradicted())


@cache
def guessing() -> pnsight.Model:
    """Says what its answers rest on: about men they are extrapolated, about women their own rows."""
    return _Guessing().fit(study())


class _Guessing(pnsight.PlugIn):
    """A plug-in that says of an answer about men that nobody like them was seen."""

    def compute_bounds(self, codes, estimand):
        basis = np.where(codes[:, 0] == 1, "extrapolated", np.where(codes[:, 0] == 0, "rows", "model"))
        return replace(super().compute_bounds(codes, estimand), basis=basis)


EVERY = {
    "response-types": clinic,
    "plug-in": plug_in,
    "without intervals": without_intervals,
    "mask-mlp": mask_mlp,
    "exact-mlp": exact_mlp,
    "experiment alone": alone,
    "no covariates": without_covariates,
    "sixteen covariates": many_covariates,
    "nasty names": nasty,
    "contradicted": contradicted,
    "half contradicted": half_contradicted,
    "guessing": guessing,
}
