"""What rows are worth where they weigh unequally or come in clusters, and folds that split neither."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas
import pytest
from cluster_trials import design_effect, household_trial
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from pnsight.data.design_effect import row_worth
from pnsight.data.folds import deal_folds
from pnsight.data.sampled_rows import INDEPENDENT, SampledRows
from pnsight.data.two_by_two import EXPERIMENT_ALONE


def rows_of(cell, weight=None, cluster=None, rows=None) -> SampledRows:
    """Rows of one profile."""
    n = len(cell)
    found = np.ones(n) if rows is None else np.asarray(rows, float)
    weights = np.ones(n) if weight is None else np.asarray(weight, float)
    return SampledRows(
        np.zeros(n, np.intp),
        np.asarray(cell, np.intp),
        found,
        weights,
        np.full(n, INDEPENDENT) if cluster is None else np.asarray(cluster, np.intp),
        people=found,
        survey=weights,
        propensity=np.full(n, 0.5),
    )


def read(table, **how) -> pnsight.Study:
    return pnsight.read_study(table, treatment="x", outcome="y", **how)


def linearised(cell, weight, cluster, side) -> float:
    """The variance written out, cluster by cluster and category by category, in units of share (1 - share)."""
    cell, weight, cluster, side = map(np.asarray, (cell, weight, cluster, side))
    counted = np.bincount(side, weight)
    a = np.where(side == 0, 1, -1) / counted[side]
    total = spread = 0.0
    for k in np.unique(cell):
        p = weight[cell == k].sum() / weight.sum()
        spread += p * (1 - p)
        total += sum(((a * weight * ((cell == k) - p))[cluster == c]).sum() ** 2 for c in np.unique(cluster))
    clusters, n = len(np.unique(cluster)), len(cell)
    return total / spread * clusters / (clusters - 1) * (n - 1) / n


# --- what rows are worth --------------------------------------------------------------------------------


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=40), st.integers(0, 2**32))
def test_weights_alone_are_worth_kishs_effective_rows(weights, seed):
    cell = np.random.default_rng(seed).integers(0, 2, len(weights))
    w = np.array(weights)
    worth = row_worth(rows_of(cell, w), cell)
    assert worth * w.sum() == pytest.approx(w.sum() ** 2 / (w**2).sum())


@given(st.integers(0, 2**32), st.booleans())
def test_clusters_are_worth_what_the_linearised_variance_says(seed, two_sides):
    rng = np.random.default_rng(seed)
    n = 60
    cluster = rng.integers(0, 12, n)
    cell = (cluster + rng.integers(0, 2, n)) % 3
    weight = rng.exponential(size=n) + 0.1
    side = cluster % 2 if two_sides else np.zeros(n, np.intp)
    counted = np.bincount(side, weight)
    variance = max(
        linearised(cell, weight, cluster, side),
        (np.bincount(side, weight**2) / counted**2).sum(),
        (1 / np.bincount(side)).sum(),
    )
    worth = row_worth(rows_of(cell, weight, cluster), cell, side if two_sides else None)
    assert worth == pytest.approx((1 / counted).sum() / variance)


def test_rows_counted_together_are_worth_what_they_are_one_by_one():
    cell, cluster, n = np.array([0, 1, 0, 1]), np.array([0, 0, 1, INDEPENDENT]), np.array([3, 1, 5, 2])
    apart = rows_of(np.repeat(cell, n), cluster=np.repeat(cluster, n))
    assert row_worth(rows_of(cell, cluster=cluster, rows=n), cell) == pytest.approx(row_worth(apart, apart.cell))


def test_a_cluster_for_each_row_changes_nothing():
    cell = np.arange(50) % 3
    assert row_worth(rows_of(cell, cluster=np.arange(50)), cell) == pytest.approx(1)


def test_rows_are_never_worth_more_than_one_each():
    """Clusters that are each as mixed as everyone vary less than independent rows would."""
    cell, cluster = np.arange(60) % 2, np.arange(60) // 2
    assert row_worth(rows_of(cell, cluster=cluster), cell) == 1


def test_people_alike_in_all_they_show_are_worth_one_row_a_cluster():
    cell, cluster = np.arange(60) // 6 % 2, np.arange(60) // 6
    assert row_worth(rows_of(cell, cluster=cluster), cell) * 60 == pytest.approx(10, rel=0.11)
    same = np.zeros(60, np.intp)
    assert row_worth(rows_of(same, cluster=cluster), same) * 60 == pytest.approx(10)
    assert row_worth(rows_of(cell, cluster=same), cell) * 60 == pytest.approx(1)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.8])
def test_households_have_the_design_effect_of_theory(correlation):
    """Households of one to five; each arm's effect is estimated from 5,000 households, to about 3%."""
    trial = household_trial(10_000, seed=1, correlation=correlation)
    design = read(trial, cluster="household", covariates=[]).design
    expected = 1 / design_effect(trial["household"], correlation)
    assert design.row_worth == pytest.approx((expected, expected), rel=0.03)
    (table,) = design.tables
    assert (table.clusters, table.largest_cluster, table.split_clusters) == (10_000, 5, 0)
    assert table.effective_rows == pytest.approx(expected * len(trial), rel=0.03)


def test_covariates_of_households_randomised_whole_are_worth_less_and_otherwise_not():
    """What matters for balance is how treatment and covariate go together within clusters."""
    whole = read(household_trial(10_000, seed=2), cluster="household").design
    sizes = household_trial(10_000, seed=2)["household"]
    expected = [1 / design_effect(sizes, rho) for rho in (0.5, 1.0, 0.0)]
    assert whole.arm_worth[:3] == pytest.approx(expected, rel=0.05)
    one_by_one = read(household_trial(10_000, seed=2, whole=False), cluster="household").design
    assert one_by_one.arm_worth == pytest.approx((1, 1, 1, 1), rel=0.03)


def test_an_arm_whose_rows_count_for_less_is_worth_its_rows():
    """With eight of ten treated, a treated row counts 0.625 and an untreated 2.5; each was one person."""
    table = pandas.DataFrame({"x": [1] * 80 + [0] * 20, "y": [0, 1] * 50, "p": 0.8})
    study = read(table, assignment="p")
    assert study.design.row_worth == pytest.approx((1.6, 0.4))
    assert study.effective_counts.tolist() == [pytest.approx([40, 40, 10, 10])]
    assert study.design.notes == ()


# --- folds ----------------------------------------------------------------------------------------------


def fold_of_rows(study: pnsight.Study, table: pandas.DataFrame) -> pandas.DataFrame:
    """Each row of a table in which every row has a profile of its own, with the fold that it is in."""
    names = study.schema.names
    found = {}
    for profile, counts in zip(study.profiles, study.design.folds.sum(axis=2).T, strict=True):
        levels = tuple(c.levels[k] for c, k in zip(study.schema.covariates, profile, strict=True))
        assert (counts > 0).sum() == 1
        found[levels] = int(np.argmax(counts))
    return table.assign(fold=[found[tuple(map(str, row))] for row in table[list(names)].itertuples(index=False)])


def numbered(table: pandas.DataFrame) -> pandas.DataFrame:
    """With two columns that give every row a profile of its own, and are no identifiers."""
    return table.assign(tens=np.arange(len(table)) // 20, ones=np.arange(len(table)) % 20)


def test_folds_never_split_a_cluster_and_are_about_equal():
    table = numbered(household_trial(250, seed=3)[["household", "x", "y"]])
    study = read(table, cluster="household", numeric="none")
    dealt = fold_of_rows(study, table)
    assert (dealt.groupby("household")["fold"].nunique() == 1).all()
    sizes = dealt["fold"].value_counts()
    assert len(sizes) == 4
    assert sizes.max() - sizes.min() <= 10
    by_arm = dealt.groupby(["x", "fold"]).size()
    assert by_arm.max() - by_arm.min() <= 15


def test_a_cluster_in_both_tables_is_dealt_once():
    trial = numbered(household_trial(60, seed=4)[["household", "x", "y"]])
    study = pnsight.read_study(trial, trial, treatment="x", outcome="y", cluster="household")
    assert (((study.design.folds > 0).any(axis=2)).sum(axis=0) == 1).all()


def test_folds_split_no_weighted_row():
    rng = np.random.default_rng(5)
    table = numbered(pandas.DataFrame({"x": rng.integers(0, 2, 600), "y": rng.integers(0, 2, 600)}))
    table["w"] = rng.exponential(size=600) + 0.01
    dealt = fold_of_rows(read(table, survey_weight="w", numeric="none"), table)
    assert dealt["fold"].value_counts().max() <= 200  # 150 expected, four standard errors are 42


def test_folds_add_up_to_the_counts_and_are_the_same_in_any_order():
    table = household_trial(500, seed=6)
    table["w"] = np.random.default_rng(6).exponential(size=len(table)) + 0.5
    how = {"survey_weight": "w", "cluster": "household"}
    study, shuffled = read(table, **how), read(table.sample(frac=1, random_state=1), **how)
    np.testing.assert_allclose(study.design.folds.sum(axis=0), study.counts)
    np.testing.assert_array_equal(study.design.folds, shuffled.design.folds)
    assert study.design == shuffled.design


def test_rows_of_one_cell_are_dealt_independently():
    """Dealt evenly, each fold would have exactly a quarter, and nothing that is held out could disagree."""
    entries = replace(
        rows_of(np.zeros(400), np.full(400, 0.5), rows=np.full(400, 40.0)), profile=np.arange(400, dtype=np.intp)
    )
    first = deal_folds(EXPERIMENT_ALONE, 400, {"experimental": entries})[0, :, 0] / 0.5
    assert first.mean() == pytest.approx(10, abs=4 * np.sqrt(7.5 / 400))
    assert first.var() == pytest.approx(7.5, rel=0.35)  # 40 * 1/4 * 3/4; four standard errors of a variance of 400


# --- studies with a design ------------------------------------------------------------------------------


@pytest.fixture
def study() -> pnsight.Study:
    trial, registry = household_trial(300, seed=7), household_trial(400, seed=8)
    registry["w"] = np.random.default_rng(8).exponential(size=len(registry)) + 0.1
    how = {"cluster": "household", "survey_weight": "w", "covariates": ["old", "rural"]}
    return pnsight.read_study(trial, registry, treatment="x", outcome="y", **how)


def test_effective_counts_are_the_counts_times_what_they_are_worth(study):
    treated, untreated, registry = study.design.row_worth
    expected = study.counts * np.repeat([treated, untreated, registry], [2, 2, 4])
    np.testing.assert_allclose(study.effective_counts, expected)
    assert study.effective_counts.sum() == pytest.approx(sum(one.effective_rows for one in study.design.tables))


def test_without_a_design_counts_are_worth_themselves(study):
    plain = pnsight.Study.from_tables(study.schema, study.profiles, study.experimental, study.observational)
    assert plain.design is None
    assert plain.effective_counts is plain.counts


def test_other_counts_keep_the_worth_and_lose_the_folds(study):
    other = study.with_counts(study.counts * 2)
    assert other.design == study.design
    assert other.design.folds is None
    assert study.with_tables(observational=study.observational * 2).design.folds is None


def test_leaving_a_table_or_profiles_out_keeps_the_folds_in_step(study):
    alone = study.with_tables(observational=None)
    assert alone.design.row_worth == study.design.row_worth[:2]
    assert [one.table for one in alone.design.tables] == ["experimental"]
    np.testing.assert_allclose(alone.design.folds.sum(axis=0), alone.counts)
    registry = study.with_tables(experimental=None)
    assert registry.design.row_worth == study.design.row_worth[2:]
    np.testing.assert_allclose(registry.design.folds.sum(axis=0), registry.counts)
    some = np.where(np.arange(len(study.profiles))[:, None] == 0, 0.0, study.counts)
    fewer = replace(study, counts=some, design=replace(study.design, folds=study.design.folds * (some > 0)))
    assert fewer.drop_empty_profiles().design.folds.shape == (4, len(study.profiles) - 1, 8)
