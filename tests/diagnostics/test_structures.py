"""The check of any structure: arms compared, contradictions found, compliance told, assumptions tested."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

import pnsight
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.diagnostics import assumptions_of
from pnsight.diagnostics.compatibility import INEQUALITIES, compatibility_inequalities
from pnsight.diagnostics.compliance import compliance_of
from pnsight.diagnostics.stratified_chi2 import association
from pnsight.errors import AssumptionError
from structures import STRUCTURES, random_law

ARMS = ["placebo", "low", "high"]


def trial_of_doses(rows=3000, seed=0, chosen=False, missing=0.0):
    """Three doses, given at random or by sex, and an outcome in three grades."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    dose = np.where(chosen & (rng.random(rows) < 0.6), 2 * sex, rng.integers(0, 3, rows))
    grade = rng.integers(0, 3, rows).astype(object)
    grade[rng.random(rows) < missing * (dose == 2)] = None
    return pd.DataFrame({"dose": np.array(ARMS)[dose], "grade": grade, "sex": sex})


def read(table, other=None):
    return pnsight.read_study(table, other, treatment="dose", outcome="grade", arms=ARMS, outcomes=[0, 1, 2])


def study_of(name, types_seed=0, rows=20_000):
    """A study without covariates whose counts are those of a random population."""
    structure = STRUCTURES[name]
    _, law = random_law(structure, types_seed)
    counts = np.zeros((1, structure.n_columns))
    counts[:, : structure.n_cells] = np.rint(law.cells * rows)
    schema = pnsight.Schema()
    return pnsight.Study(schema, np.zeros((1, 0), np.int32), counts, structure)


def test_the_inequalities_of_two_by_two_are_those_that_they_were():
    assert compatibility_inequalities(TWO_BY_TWO) == INEQUALITIES
    assert [str(each) for each in INEQUALITIES] == [
        "P(x,y) <= P(y_x)",
        "P(x,y') <= P(y'_x)",
        "P(x',y) <= P(y_x')",
        "P(x',y') <= P(y'_x')",
    ]
    assert not compatibility_inequalities(TWO_BY_TWO.only([EXPERIMENTAL]))


def test_with_more_arms_every_arm_that_was_tried_has_its_inequalities():
    found = [str(each) for each in compatibility_inequalities(STRUCTURES["an arm that is not tried"])]
    assert found == [
        "P(X=placebo,Y=no) <= P(Y[placebo]=no)",
        "P(X=placebo,Y=yes) <= P(Y[placebo]=yes)",
        "P(X=high,Y=no) <= P(Y[high]=no)",
        "P(X=high,Y=yes) <= P(Y[high]=yes)",
    ]


@pytest.mark.parametrize("name", [name for name in STRUCTURES if name != "missing, worst case"])
def test_a_study_that_some_population_has_is_not_contradicted(name):
    found = pnsight.check(study_of(name))
    assert found.coherence is None or not found.coherence.reported
    assert "failed" not in {verdict.status for verdict in found.verdicts.values()}


def test_an_assigned_arm_that_matters_by_itself_breaks_the_instrument_inequalities():
    cells = [(0, 0, 0, 100), (0, 0, 1, 900), (1, 0, 0, 900), (1, 0, 1, 50), (1, 1, 1, 50)]
    table = pd.DataFrame(cells, columns=["z", "d", "y", "n"])
    study = pnsight.read_study(table, treatment="d", outcome="y", assigned="z", weight="n")
    found = pnsight.check(study)
    assert found.verdicts["coherence"].status == "failed"
    assert "no population fits the experiment" in str(found)
    assert not found.ok
    fitted = pnsight.PlugIn().fit(study)
    answer = fitted.bounds(quantity="effect")
    assert answer.status[0] == "contradicted"
    assert any(note.kind == "answers_impossible" for note in answer.notes)
    assert "no population fits the experiment" in str(fitted.warnings[0])


def test_compliance_is_told_by_arm_and_by_covariate():
    rng = np.random.default_rng(0)
    old, z = rng.integers(0, 2, (2, 4000))
    d = z * (rng.random(4000) < 0.5 + 0.4 * old)
    table = pd.DataFrame({"z": z, "d": d, "y": rng.integers(0, 2, 4000), "old": old})
    found = compliance_of(pnsight.read_study(table, treatment="d", outcome="y", assigned="z"))
    assert found.arms == ("0", "1")
    assert found.other[0] == 0
    assert found.other[1] / found.rows[1] == pytest.approx((d != z)[z == 1].mean())
    (differing,) = found.differing
    assert (differing.arm, differing.covariate, differing.least_level) == ("1", "old", "1")
    assert "How many goes with old (1: 1" in found.verdict.text


def test_one_sided_is_refused_where_somebody_took_the_treatment_without_being_assigned_to_it():
    cells = [(0, 0, 0, 500), (0, 1, 1, 3), (1, 0, 0, 200), (1, 1, 1, 300)]
    table = pd.DataFrame(cells, columns=["z", "d", "y", "n"])
    fitted = pnsight.PlugIn().fit(pnsight.read_study(table, treatment="d", outcome="y", assigned="z", weight="n"))
    with pytest.raises(AssumptionError, match=r"3 rows are where nobody would be then, at D=1,Y=1\|Z=0"):
        fitted.bounds(quantity="effect", assume="one-sided")
    assert fitted.bounds(quantity="effect", assume="no-defiers").status[0] == "ok"


def test_no_defiers_is_refused_where_more_take_the_treatment_if_not_assigned():
    cells = [(0, 0, 0, 400), (0, 1, 1, 600), (1, 0, 0, 700), (1, 1, 1, 300)]
    table = pd.DataFrame(cells, columns=["z", "d", "y", "n"])
    study = pnsight.read_study(table, treatment="d", outcome="y", assigned="z", weight="n")
    estimand = pnsight.Estimand.parse("effect", assume="no-defiers")
    assert assumptions_of(study, "no-defiers", estimand.possible(study.structure)).contradicted
    with pytest.raises(AssumptionError, match="The tables contradict it"):
        pnsight.PlugIn().fit(study).bounds(quantity="effect", assume="no-defiers")


def test_monotone_of_grades_is_tested_as_dominance():
    cells = [("a", 0, 300), ("a", 1, 300), ("a", 2, 400), ("b", 0, 500), ("b", 1, 300), ("b", 2, 200)]
    table = pd.DataFrame(cells, columns=["x", "y", "n"])
    fitted = pnsight.PlugIn().fit(
        pnsight.read_study(table, treatment="x", outcome="y", arms=["a", "b"], outcomes=[0, 1, 2], weight="n")
    )
    with pytest.raises(AssumptionError, match="contradict"):
        fitted.bounds(assume="monotone")
    answer = fitted.bounds(assume="monotone", contrast="a:b")
    assert answer.status[0] == "ok"
    assert (answer.lower[0], answer.upper[0]) == pytest.approx((0.2, 0.4))  # some must move up; two steps at most


def test_balance_of_several_arms_is_tested_and_a_choice_is_found():
    assert pnsight.check(read(trial_of_doses())).verdicts["balance"].status == "ok"
    assert pnsight.check(read(trial_of_doses(chosen=True))).verdicts["balance"].status != "ok"


def test_missing_outcomes_are_compared_between_several_arms():
    found = pnsight.check(read(trial_of_doses(missing=0.3))).attrition
    (note,) = [note for note in found.notes if note.kind == "outcomes_missing_by_arms"]
    assert [one["arm"] for one in note.values["arms"]] == ARMS
    assert note.values["arms"][2]["share"] == pytest.approx(0.3, abs=0.05)
    even = pnsight.check(read(trial_of_doses())).attrition
    assert not even.notes


def test_what_was_not_looked_at_is_said():
    told = pnsight.check(read(trial_of_doses(), trial_of_doses(seed=1)))
    assert told.verdicts["coding"].notes[0].kind == "coding_not_checked"


def test_the_chi_square_of_several_groups_is_pearson_s():
    table = np.random.default_rng(0).integers(5, 60, (4, 3)).astype(float)
    found = association(table, np.arange(4))
    expected = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.mean == pytest.approx(expected.dof * table.sum() / (table.sum() - 1))
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.3)


def test_the_chi_square_of_several_groups_has_its_moments():
    rng = np.random.default_rng(1)
    groups, cells = np.repeat([0, 1, 2], [30, 50, 40]), np.repeat([0, 1, 2, 3], 30)
    found = []
    for _ in range(400):
        shuffled = rng.permutation(groups)
        table = np.stack([np.bincount(cells[shuffled == k], minlength=4) for k in range(3)], axis=1).astype(float)
        found.append(association(table, np.arange(4)))
    drawn = np.array([one.statistic for one in found])
    assert drawn.mean() == pytest.approx(found[0].mean, abs=4 * drawn.std() / 20)
    assert drawn.var() == pytest.approx(found[0].variance, rel=0.3)
