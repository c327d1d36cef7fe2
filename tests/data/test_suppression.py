"""A study without small counts is the study of the tables without the rows that are withheld, and says no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas
import pytest
from cluster_trials import household_trial
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rare_people import COVARIATES, RARE, TRIALS, WAYS, rare_tables, read, twins, without_withheld

import pnsight
from noted import kinds, remark, rows_without, rows_without_treatment_or_outcome, values
from pnsight.data.study import Study, Withheld
from pnsight.data.suppression import suppress_study
from pnsight.errors import QueryError, TableError
from pnsight.notes import Note
from pnsight.queries import lattice
from strategies import studies

CELLS = [(x, y) for x in (0, 1) for y in (0, 1)]


@st.composite
def counted_studies(draw) -> Study:
    """Studies with counts on both sides of ten."""
    study = draw(studies(experiment_alone=None))
    number = st.integers(0, 40).map(float)
    return study.with_counts(draw(hnp.arrays(np.float64, study.counts.shape, elements=number)))


def is_small(counts, min_cell=10):
    return (np.asarray(counts) > 1e-9) & (np.asarray(counts) < min_cell)


def assert_same(first: Study, second: Study) -> None:
    """To the last bit, with what rows are worth and how they are dealt."""
    assert first.schema == second.schema
    np.testing.assert_array_equal(first.profiles, second.profiles)
    np.testing.assert_array_equal(first.counts, second.counts)
    assert (first.design is None) == (second.design is None)
    if first.design is not None:
        for worth in ("row_worth", "arm_worth", "mix_worth"):
            assert getattr(first.design, worth) == getattr(second.design, worth)
        np.testing.assert_array_equal(first.design.folds, second.design.folds)


# --- rows -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("alone", [False, True])
def test_what_is_left_is_what_reading_the_tables_without_the_withheld_rows_gives(way, alone):
    tables = rare_tables(1, alone=alone)
    left = suppress_study(read(tables, **WAYS[way]), 10)
    fresh = read(without_withheld(tables, 10, **WAYS[way]), **WAYS[way])
    assert_same(left, fresh)
    assert left.sampled is None
    assert len(fresh.profiles) > 2


@pytest.mark.parametrize("trial", TRIALS)
def test_so_it_is_of_every_structure_and_so_is_what_is_said_of_missing_outcomes(trial):
    tables, how = rare_tables(1, rows=4000), TRIALS[trial]
    study = read(tables, **how)
    left = suppress_study(study, 10)
    fresh = read(without_withheld(tables, 10, **how), **how)
    assert_same(left, fresh)
    assert len(study.profiles) > len(left.profiles) > 2
    kept = [[note for note in each.notes if note.kind == "outcomes_kept"] for each in (left, fresh)]
    assert kept[0] == kept[1]
    assert len(kept[0]) == (2 if "missing_outcome" in how else 0)


def test_rows_without_an_outcome_that_are_few_are_small_counts_like_others():
    """In one town three people lack an outcome: they are a cell of their own, whatever becomes of them."""
    rows = [{"town": town, "x": x, "y": y} for town in ("Aix", "Dol") for x, y in CELLS for _ in range(40)]
    rows += [{"town": "Aix", "x": x, "y": None} for x in (0, 1) for _ in range(12)]
    rows += [{"town": "Dol", "x": 1, "y": None}] * 3 + [{"town": "Cluny", "x": x, "y": 1} for x in (0, 1)] * 10
    study = pnsight.read_study(pandas.DataFrame(rows), treatment="x", outcome="y", missing_outcome="set")
    left = suppress_study(study, 10)
    assert left.schema.covariates[0].levels == ("Cluny",)  # Aix so that the total less Aix does not give the three away


def test_times_of_rows_that_count_in_parts_are_refused_and_others_are_not():
    trial, registry = rare_tables(1, rows=4000)
    censored = trial.assign(days=trial["days"].where(trial["sex"] == "male", 50))
    with pytest.raises(QueryError, match="how they count depends on all rows of their arm"):
        suppress_study(read((censored, registry), **TRIALS["times"]), 10)
    followed = {**TRIALS["times"], "horizons": (30,)}
    assert suppress_study(read((censored, registry), **followed), 10).withheld.left[0] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_tables_that_differ_in_withheld_rows_leave_the_same(way):
    first, second = twins(1, 10, **WAYS[way])
    before = [read(tables, **WAYS[way]) for tables in (first, second)]
    assert before[0].schema != before[1].schema
    left = [suppress_study(study, 10) for study in before]
    assert_same(*left)
    assert left[0].withheld == left[1].withheld
    assert left[0].notes == left[1].notes
    assert left[0].attrition == left[1].attrition
    assert left[0].dropped == left[1].dropped


@given(counted_studies())
def test_no_count_that_is_left_is_small_and_every_profile_has_some(study):
    left = suppress_study(study, 10)
    assert not is_small(left.counts).any()
    assert left.counts.any(axis=1).all()
    assert left.structure == study.structure


@given(counted_studies())
def test_the_record_is_about_what_is_gone(study):
    left = suppress_study(study, 10)
    for table, rows, rest in zip(study.structure.tables, left.withheld.rows, left.withheld.left, strict=False):
        gone = study.table(table).sum() - left.table(table).sum()
        assert rest == left.table(table).sum()
        assert rows % 10 == 0
        assert abs(rows - gone) <= (5 if gone >= 10 else 10)
        assert bool(rows) == bool(gone)


@given(counted_studies())
def test_levels_that_nobody_is_left_at_are_gone(study):
    left = suppress_study(study, 10)
    for j, covariate in enumerate(left.schema.covariates):
        assert set(covariate.levels) <= set(study.schema.covariates[j].levels)
        assert len(np.unique(left.profiles[:, j])) == len(covariate.levels)
    named = [[one.levels[code] for one, code in zip(left.schema.covariates, row, strict=True)] for row in left.profiles]
    if len(named):
        back = np.array([[c.code(v) for c, v in zip(study.schema.covariates, row, strict=True)] for row in named])
        counts = lattice.sum_over(
            study.schema, back.astype(np.int32).reshape(left.profiles.shape), study.profiles, study.counts
        )
        for table in study.structure.tables:
            columns = study.structure.columns_of(table)
            kept = left.counts[:, columns].any(axis=1)
            np.testing.assert_array_equal(left.counts[kept][:, columns], counts[kept][:, columns])


def test_bands_stay_and_so_do_their_edges():
    """Their names follow from the edges, which the user gave."""
    rng = np.random.default_rng(1)
    table = pandas.DataFrame(
        {"age": np.r_[rng.uniform(0, 60, 400), 90, 91], "x": np.arange(402) % 2, "y": rng.integers(0, 2, 402)}
    )
    study = pnsight.read_study(table, treatment="x", outcome="y", bands={"age": [0, 30, 60, 100]})
    left = suppress_study(study, 10)
    assert left.schema == study.schema
    assert not left.experimental[left.profiles[:, 0] == 2].any()


# --- people, not weights ----------------------------------------------------------------------------------


def heavy_people() -> pandas.DataFrame:
    """Four people of one town with weights from 12 to 38, and forty or fifty of two others in each cell."""
    rare = pandas.DataFrame({"town": "Dol", "x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "n": [12, 20, 31, 38]})
    common = [
        {"town": town, "x": x, "y": y, "n": 5}
        for town, people in (("Aix", 50), ("Brest", 40))
        for x, y in CELLS
        for _ in range(people)
    ]
    return pandas.concat([rare, pandas.DataFrame(common)], ignore_index=True)


@pytest.mark.parametrize("how", [{"weight": "n"}, {"survey_weight": "n"}])
def test_few_people_are_few_however_much_they_weigh(how):
    study = pnsight.read_study(heavy_people(), treatment="x", outcome="y", **how)
    assert study.people.tolist() == [[50] * 4, [40] * 4, [1] * 4]
    assert (study.counts[2] > 2).all()
    left = suppress_study(study, 10)
    assert left.schema.covariates[0].levels == ("Aix",)  # Brest hides Dol from whoever knows how many there are in all
    assert left.withheld == Withheld(10, (160.0, 0.0), (200.0, 0.0))


def test_a_table_of_counts_counts_people_if_it_is_said_to():
    table = heavy_people().groupby(["town", "x", "y"], as_index=False).sum()
    how = {"treatment": "x", "outcome": "y", "weight": "n"}
    assert not suppress_study(pnsight.read_study(table, **how), 10).counts.any()
    study = pnsight.read_study(table, **how, weight_is_people=True)
    assert study.sampled is None
    left = suppress_study(study, 10)
    np.testing.assert_array_equal(left.counts, study.counts)
    assert left.withheld.rows == (0, 0)


def test_rows_of_weight_zero_are_nobody():
    table = pandas.concat([heavy_people(), heavy_people().assign(n=0)], ignore_index=True)
    study = pnsight.read_study(table, treatment="x", outcome="y", weight="n")
    assert study.people.tolist() == [[50] * 4, [40] * 4, [1] * 4]


def test_numbers_of_people_are_whole_and_need_a_weight():
    table = heavy_people().assign(n=1.25)
    with pytest.raises(TableError, match=r"numbers of people, but some add up to 1.25; expected whole numbers"):
        pnsight.read_study(table, treatment="x", outcome="y", weight="n", weight_is_people=True)
    with pytest.raises(TableError, match="but no weight is given; name its column with --weight"):
        pnsight.read_study(table, treatment="x", outcome="y", covariates=["town"], weight_is_people=True)


def test_other_counts_are_no_longer_those_of_the_rows():
    study = read(rare_tables(1), survey_weight="w")
    assert study.with_counts(2 * study.counts).sampled is None
    assert study.with_tables(observational=2 * study.observational).sampled is None
    alone = study.with_tables(observational=None).drop_empty_profiles()
    assert list(alone.sampled) == ["experimental"]
    np.testing.assert_array_equal(alone.people.sum(axis=0), study.people[:, :4].sum(axis=0))


def test_weighted_counts_of_unknown_people_are_refused():
    study = read(rare_tables(1), survey_weight="w")
    with pytest.raises(QueryError, match="how many people are behind the weighted counts"):
        suppress_study(study.with_counts(2 * study.counts), 10)


# --- what is said -----------------------------------------------------------------------------------------


def test_names_of_rare_levels_are_not_handed_on():
    study = read(rare_tables(1, rows=12_000), merge_rare=1_500)
    assert study.schema.covariates[0].rare_levels == RARE
    left = suppress_study(study, 10)
    assert left.schema.covariates[0].levels == ("Aix", "Brest", "Cluny", "other")
    assert left.schema.covariates[0].rare_levels == ()
    assert values(left.notes, "rare_levels_merged") == {"covariate": "town", "levels": ()}
    assert str(left.notes[0]) == "town: rare levels became 'other'"
    gone = suppress_study(read(rare_tables(1), merge_rare=80), 10)
    assert gone.schema.covariates[0].levels == ("Aix", "Brest")
    assert gone.notes == ()  # nobody is left at the level that they became


def test_a_note_that_nobody_vouched_for_is_not_handed_on():
    study = read(rare_tables(1))
    kept = Note("rows_counted_once", {"table": "experimental", "column": "w"})
    left = suppress_study(replace(study, notes=(remark("Mr Dol, 87, of Ezewold"), kept)), 10)
    assert left.notes == (kept,)


def test_a_covariate_of_which_one_level_is_left_is_told_anew():
    study = pnsight.read_study(heavy_people(), treatment="x", outcome="y", covariates=["town"])
    assert "single_level" not in kinds(study.notes)
    assert values(suppress_study(study, 10).notes, "single_level") == {"covariate": "town", "level": "Aix"}


def test_rows_left_out_while_counting_are_told_if_they_are_not_few_and_without_what_they_lack():
    left_out = {rows_without("sex", "age"): 12, rows_without_treatment_or_outcome(): 3}
    left = suppress_study(replace(read(rare_tables(1)), dropped=left_out), 10)
    ((reason, rows),) = left.dropped.items()
    assert (str(reason), rows) == ("experimental rows without some covariate", 12)
    weighted = replace(read(rare_tables(1), weight="n"), dropped=left_out)
    assert suppress_study(weighted, 10).dropped == {}


def test_missing_outcomes_are_told_by_arm_and_not_to_the_last_person():
    study = read(rare_tables(1, rows=4000), outcome="partly")
    left = suppress_study(study, 10)
    assert left.withheld.share > 0.05
    for before, told, gone, rest in zip(
        study.attrition, left.attrition, left.withheld.rows, left.withheld.left, strict=True
    ):
        assert told.missing == tuple(10 * round(arm / 10) for arm in before.missing) != before.missing
        assert all(arm % 10 == 0 for arm in told.rows)
        assert abs(sum(told.rows) - (rest + gone + sum(told.missing))) <= 10
        assert told.shares == pytest.approx(before.shares, abs=0.01)
        assert before.levels
        assert not told.levels


@pytest.mark.parametrize("way", ["weights that count", "clusters", "all at once"])
def test_they_are_not_told_where_rows_are_no_people_or_not_independent(way):
    study = read(rare_tables(1), **WAYS[way], outcome="partly")
    assert study.attrition is not None
    assert suppress_study(study, 10).attrition is None


@pytest.mark.parametrize("trial", [name for name, how in TRIALS.items() if "missing_outcome" in how])
def test_missing_outcomes_that_are_kept_are_told_of_the_people_who_are_left(trial):
    tables, how = rare_tables(1, rows=4000), TRIALS[trial]
    left, fresh = suppress_study(read(tables, **how), 10), read(without_withheld(tables, 10, **how), **how)
    assert [(one.rows, one.missing) for one in left.attrition] == [(one.rows, one.missing) for one in fresh.attrition]
    assert all(any(one.missing) for one in left.attrition)


@pytest.mark.parametrize("kept", ["drop", "set", "worst-case"])
def test_no_withheld_row_changes_what_is_told_of_missing_outcomes(kept):
    """One person of a rare town takes the other treatment, and so 206 are treated instead of 205."""

    def left(treated: int) -> Study:
        town = {"Aix": 50, "Brest": 40}
        rows = [{"town": name, "x": x, "y": y} for name in town for x, y in CELLS for _ in range(town[name])]
        rows += [{"town": "Aix", "x": x, "y": None} for x in (0, 1) for _ in range(20)]
        rows += [{"town": "Dol", "x": int(number < treated), "y": number % 2} for number in range(11)]
        table = pandas.DataFrame(rows)
        return suppress_study(pnsight.read_study(table, treatment="x", outcome="y", missing_outcome=kept), 10)

    assert left(6).attrition == left(5).attrition
    assert left(6).attrition is not None
    assert left(6).withheld == left(5).withheld


def test_a_design_is_handed_on_without_small_numbers_and_without_a_persons_weight():
    trial = household_trial(400, seed=1)
    trial.loc[:2, "household"] = None
    trial["w"] = np.random.default_rng(1).uniform(1, 2, len(trial))
    how = {"cluster": "household", "survey_weight": "w", "covariates": ["sex"]}
    study = pnsight.read_study(trial, treatment="x", outcome="y", **how)
    assert study.design.tables[0].unclustered == 3
    left = suppress_study(study, 10)
    (table,) = left.design.tables
    assert (table.unclustered, table.largest_cluster, table.largest_weight) == (0, 10, None)
    (note,) = [note for note in left.notes if note.kind == "rows_worth"]
    assert note.values["unclustered"] == 0


@pytest.mark.parametrize(
    ("withheld", "told"),
    [
        (Withheld(10, left=(500.0, 0.0)), ["counts below 10 are withheld: there were none"]),
        (
            Withheld(10, (1230.0, 0.0), (1230.0, 0.0)),
            [
                "counts below 10 are withheld: about 1,230 of 2,460 experimental rows (50%)",
                "answers are about the people whose counts are left, who may respond otherwise than all: 50% of a "
                "table is withheld; fewer or coarser covariates withhold less",
            ],
        ),
    ],
)
def test_the_notes_tell_what_is_withheld_and_whom_answers_are_about(withheld, told):
    assert list(map(str, withheld.notes)) == told


def test_readers_are_warned_where_much_is_withheld():
    little, much = Withheld(10, (10.0, 10.0), (1000.0, 100.0)), Withheld(10, (10.0, 20.0), (1000.0, 100.0))
    assert [note.severity for note in little.notes] == ["info", "info"]
    assert [note.severity for note in much.notes] == ["info", "warning"]


# --- limits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [1, 0, -3, 2.5, True, "10"])
def test_a_limit_that_makes_no_sense_is_refused(given):
    with pytest.raises(QueryError, match="whole number of at least 2"):
        suppress_study(read(rare_tables(1)), given)


def test_withholding_again_up_to_the_same_limit_changes_nothing():
    once = suppress_study(read(rare_tables(1)), 10)
    assert suppress_study(once, 10) is once
    assert suppress_study(once, 5) is once
    with pytest.raises(QueryError, match=r"those below 10 already are.*start from the tables"):
        suppress_study(once, 20)


def test_all_covariates_are_named_as_before():
    assert suppress_study(read(rare_tables(1)), 10).schema.names == COVARIATES
