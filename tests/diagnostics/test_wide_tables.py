"""Tables with so many columns that their profiles and queries are more than a float can count."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.data.study import Study
from pnsight.diagnostics.overlap import overlap_of
from pnsight.diagnostics.subgroups import PROFILE, enumerate_subgroups
from pnsight.errors import LimitError
from strategies import codes_of, schemas


def wide_study(width: int, profiles: int = 12) -> Study:
    """Few profiles that both tables have, of many covariates."""
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Covariate(f"c{j}", ("0", "1")) for j in range(width)))
    counts = rng.integers(5, 30, size=(2, profiles, 4)).astype(float)
    codes = np.unique(rng.integers(0, 2, size=(profiles, width)), axis=0).astype(np.int32)
    return Study.from_tables(schema, codes, *counts)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1000, 2000])
def test_a_table_of_thousands_of_columns_is_checked_and_asked(width):
    study = wide_study(width)
    found = pnsight.check(study)
    assert found.support.profiles == 0
    assert found.coherence.pairs_left_out
    answers = pnsight.PlugIn().fit(study).bounds(["", "c3=1"])
    assert answers.status.tolist() == ["ok", "ok"]


@pytest.mark.slow
def test_a_model_of_more_profiles_than_a_float_can_count_is_reported():
    model = pnsight.PlugIn().fit(wide_study(1025))
    page = pnsight.output.report.render(pnsight.output.report.summarise(model))
    assert "1,025 covariates" in page


@pytest.mark.slow
def test_so_many_queries_are_counted_in_powers_of_ten():
    model = pnsight.PlugIn().fit(wide_study(2000))
    with pytest.raises(LimitError, match=r"2000 covariates make about 10\^954 queries"):
        pnsight.queries.lattice.all_queries(model.schema)
    assert "of about 10^954 groups" in str(pnsight.rank(model).notes[0])


@given(schema=schemas(least=1, most=5), data=st.data())
@settings(max_examples=50)
def test_subgroups_are_all_that_fix_one_covariate_two_or_every_one(schema, data):
    profiles = np.unique(data.draw(codes_of(schema, lowest=0, most=8)), axis=0)
    varying = [j for j, size in enumerate(schema.shape) if size > 1]
    faces = [(), *((j,) for j in varying), *combinations(varying, 2)]
    faces += [tuple(varying)] if len(varying) > 2 else []
    expected = []
    for face in faces:
        codes = np.full(profiles.shape, OPEN)
        codes[:, list(face)] = profiles[:, list(face)]
        expected += sorted({tuple(row) for row in codes.tolist()})
    found = enumerate_subgroups(schema, profiles)
    assert [tuple(row) for row in found.codes.tolist()] == expected
    covers = [
        [all(c in (OPEN, p) for c, p in zip(row, profile, strict=True)) for profile in profiles.tolist()]
        for row in expected
    ]
    assert found.covers.toarray().astype(bool).tolist() == covers
    assert np.count_nonzero(found.kinds == PROFILE) == (len(profiles) if len(varying) > 2 else 0)


def test_a_pair_of_levels_is_hardly_covered_though_each_of_them_is():
    """Every level is as common in both tables; together two of them are in the observational one only."""
    schema = Schema(tuple(Covariate(name, ("0", "1")) for name in "abc"))
    profiles = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], dtype=np.int32)
    trial = np.array([0.0, 200.0, 200.0, 0.0])[:, None] * np.full(4, 0.25)
    registry = np.full((4, 4), 25.0)
    found = overlap_of(Study.from_tables(schema, profiles, trial, registry))
    assert [(one.group, one.share) for one in found.groups] == [("a=0, b=0", 0.25), ("a=1, b=1", 0.25)]
    assert found.uncovered == 0.5
