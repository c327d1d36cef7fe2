"""Adding up rows is called into question when it should be, and not when chance explains it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pnsight import simulation as populations
from pnsight.diagnostics import pooling_concerns
from pnsight.diagnostics.pooling import unevenness
from pnsight.notes import Note


@pytest.mark.parametrize("assignment", [0.5, 0.1])
@pytest.mark.parametrize("rows", [(300, 300), (5000, 500), (20_000, 200_000)])
@pytest.mark.parametrize("name", ["mediator", "tree-dependent:1"])
def test_a_fair_sample_raises_no_concern(name, rows, assignment):
    assert pooling_concerns(populations.get(name).sample(*rows, seed=3, assignment=assignment)) == []


def test_chance_alone_is_hardly_ever_called_uneven():
    """Five standard errors: with 500 draws none should stand out, however sparse the profiles or rare the arm."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        rows = rng.poisson(rng.choice([0.5, 2, 20]), rng.integers(2, 200))
        first = rng.binomial(rows, rng.choice([0.02, 0.1, 0.5]))
        if rows.sum():
            assert unevenness(first.astype(float), (rows - first).astype(float)) == 0


def test_the_size_of_what_varies_is_found():
    """Shares of 0.4 and 0.6 vary by a fifth of one half; a tenth as large a group changes nothing in that."""
    rng = np.random.default_rng(1)
    rows = np.full(100, 2000)
    share = np.repeat([0.4, 0.6], 50)
    for scale in (1.0, 0.1):
        first = rng.binomial(rows, scale * share)
        assert unevenness(first.astype(float), (rows - first).astype(float)) == pytest.approx(0.2, abs=0.02)


def test_uneven_arms_and_tables_that_differ_are_told_apart():
    study = populations.get("mediator").sample(50_000, 50_000, seed=1)
    thinned = study.experimental.copy()
    thinned[study.profiles[:, 3] == 1, :2] /= 3
    (arms,) = pooling_concerns(study.with_tables(experimental=thinned, observational=None))
    assert arms.kind == "assignment_varies"
    reweighted = (Note("rows_reweighted", {"column": "p"}),)
    assert (
        pooling_concerns(replace(study, notes=reweighted).with_tables(experimental=thinned, observational=None)) == []
    )
    older = np.where(study.profiles[:, [3]] == 1, study.observational / 3, study.observational)
    (tables,) = pooling_concerns(study.with_tables(observational=older))
    assert tables.kind == "mix_varies"
    assert min(arms.values["variation"], tables.values["variation"]) >= 0.1


def test_nobody_to_compare_with_is_no_concern():
    assert unevenness(np.array([5.0]), np.array([1.0])) == 0
    assert unevenness(np.array([5.0, 3.0]), np.zeros(2)) == 0
