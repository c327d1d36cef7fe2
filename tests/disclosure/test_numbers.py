"""Numbers that are handed on are nobody's, and follow from counts none of which is small."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import pnsight
from numeric_tables import COLUMNS, tables
from pnsight.data.number_codes import low_ends
from pnsight.errors import QueryError
from quick_config import QUICK

MIN_CELL = 10
COVARIATES = ["age", "weight", "town"]


def with_town(table: pd.DataFrame, rare: str, number: float) -> pd.DataFrame:
    """Nearly all live in one of two towns; three people, of whom one has a number of their own, in a rare one."""
    towns = np.array(["north", "south"])[np.arange(len(table)) % 2]
    towns[:3] = rare
    weights = table.weight.to_numpy().copy()
    weights[0] = number
    return table.assign(town=towns, weight=weights)


def read(rare: str, number: float) -> pnsight.Study:
    trial, registry = tables(3000, seed=4)
    return pnsight.read_study(
        with_town(trial, rare, number), with_town(registry, rare, number), **COLUMNS, covariates=COVARIATES
    )


@pytest.fixture(scope="module")
def twins() -> tuple[pnsight.Study, pnsight.Study]:
    """Two studies that differ in nothing but the numbers and the town of people who are withheld."""
    return read("hamlet", 161.83), read("croft", 29.47)


def test_studies_that_differ_in_what_is_withheld_publish_the_same(twins, tmp_path):
    first, second = (pnsight.suppress(study, MIN_CELL) for study in twins)
    assert first.schema == second.schema
    assert np.array_equal(first.profiles, second.profiles)
    assert np.array_equal(first.counts, second.counts)
    assert first.notes == second.notes
    model = pnsight.ResponseTypeModel(config=QUICK)
    for name, study in (("one", first), ("other", second)):
        pnsight.save(model.unfitted().fit(study), tmp_path / name)
    written = [
        sorted((file.name, file.read_bytes()) for file in (tmp_path / name).rglob("*") if file.is_file())
        for name in ("one", "other")
    ]
    assert written[0] == written[1]
    text = json.dumps([str(part) for part in written[0]])
    assert not any(secret in text for secret in ("hamlet", "croft", "161.83", "29.47"))


def test_no_number_that_only_one_person_has_is_handed_on(twins):
    study = pnsight.suppress(twins[0], MIN_CELL)
    place = study.schema.names.index("weight")
    own = set(low_ends(twins[0].profiles[:, place]).tolist())
    drawn = low_ends(study.profiles[:, place])
    assert np.isin(drawn, np.array([161.83, 29.47], dtype=np.float32)).sum() == 0
    assert len(set(drawn.tolist()) & own) < 0.01 * len(drawn)
    assert drawn.min() > 29.47
    assert drawn.max() < 161.83


def test_counts_of_bands_are_as_before_and_none_is_small(twins):
    study = pnsight.suppress(twins[0], MIN_CELL)
    people = study.grouped.counts
    assert people[people > 0].min() >= MIN_CELL
    ages = study.schema.covariate("age").levels
    bands = [f"age={level}" if level[0] not in "<>" else f"age{level}" for level in ages]
    codes = pnsight.queries.query.encode(study.schema, bands)
    left = pnsight.queries.lattice.sum_over(study.schema, codes, study.profiles, study.counts).sum()
    assert left == study.counts.sum() > 0.75 * twins[0].counts.sum()


def test_with_weights_bands_are_asked_for():
    trial, registry = (table.assign(w=1.0 + np.arange(len(table)) % 3) for table in tables(300))
    study = pnsight.read_study(trial, registry, **COLUMNS, survey_weight="w")
    with pytest.raises(QueryError, match="--bands"):
        pnsight.suppress(study, MIN_CELL)


def sparse(age: object) -> pnsight.Study:
    """A study of one number, of people of two towns."""
    trial, registry = (with_town(table, "north", 70.0).assign(age=age) for table in tables(600, seed=4))
    return pnsight.read_study(trial, registry, **COLUMNS, covariates=["age", "town"], numeric=["age"], missing="level")


def test_one_number_for_all_may_be_handed_on():
    left = pnsight.suppress(sparse(7), MIN_CELL)
    assert left.schema.covariate("age").levels == ("7",)
    assert set(low_ends(left.profiles[:, 0]).tolist()) == {7.0}


def test_where_nobody_with_a_number_is_left_missing_is_all_there_is():
    left = pnsight.suppress(sparse([30.0, 40.0, 50.0] + [np.nan] * 597), MIN_CELL)
    assert left.schema.covariate("age").levels == ("missing",)
    assert not left.schema.numeric
    assert left.profiles.dtype == np.int32
