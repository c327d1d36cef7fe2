"""What knowing more would change: probabilities of answers, decisions after them, and which question to ask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from cases import write_sexes
from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight.data.law import Law
from pnsight.decisions import ask, decide, left_open
from pnsight.errors import QueryError
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight_experiments.paper import CASE_PROFILE
from strategies import studies

ROUNDING = 1e-6
"""The law of the covariates and the types are kept in single precision."""


def summed(names, values) -> dict[str, float]:
    total: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        total[name] = total.get(name, 0.0) + value
    return total


@pytest.mark.parametrize("population", ["observational", "experimental", "pooled"])
@pytest.mark.parametrize("query", ["", "z4=1,z9=0", "110100111X"])
def test_the_answers_to_a_question_have_probabilities_that_add_up_to_one(fitted, query, population):
    found = ask(fitted, query, population=population)
    assert (found.probability >= 0).all()
    for total in summed(found.covariate, found.probability).values():
        assert total == pytest.approx(1, abs=ROUNDING)


@pytest.mark.parametrize("query", ["", "z4=1,z9=0", "110100111X"])
def test_mixing_the_laws_of_the_answers_by_their_probabilities_gives_the_law_of_the_query(without_intervals, query):
    """As the model learned them; in a model with intervals a group's own rows move the group's law besides."""
    found, whole = ask(without_intervals, query), without_intervals.law(query)
    parts: Law = without_intervals.law(list(found.after.answers.queries))
    for name in set(found.covariate):
        asked = np.array([covariate == name for covariate in found.covariate])
        mixed = parts[asked].mix(found.probability[asked][None])
        np.testing.assert_allclose(p_y_do_x(mixed), p_y_do_x(whole), atol=ROUNDING)
        np.testing.assert_allclose(p_y_do_x0(mixed), p_y_do_x0(whole), atol=ROUNDING)
        np.testing.assert_allclose(p_xy(mixed), p_xy(whole), atol=ROUNDING)


@given(study=studies(experiment_alone=None), data=st.data())
def test_the_probability_of_an_answer_is_its_share_of_the_querys_rows(study, data):
    model = pnsight.PlugIn().fit(study)
    codes = np.array([data.draw(st.integers(-1, size - 1)) for size in study.schema.shape], dtype=np.int32)
    found = ask(model, codes[None])
    table = study.experimental if study.observational is None else study.observational
    for name, level, probability in zip(found.covariate, found.level, found.probability, strict=True):
        place = study.schema.index(name)
        fits = ((codes == -1) | (codes == study.profiles)).all(axis=1)
        has = study.profiles[:, place] == study.schema.covariates[place].levels.index(level)
        rows = table[fits].sum()
        if rows:
            assert probability == pytest.approx(table[fits & has].sum() / rows)
        else:
            assert np.isnan(probability)


def test_each_answer_is_decided_as_if_it_had_been_part_of_the_query(fitted):
    found = ask(fitted, "z4=1", 0.4, cautious=True)
    assert len(found.level) == 18
    described = [f"z4=1,{name}={level}" for name, level in zip(found.covariate, found.level, strict=True)]
    assert list(decide(fitted, described, 0.4, cautious=True).decision) == list(found.after.decision)
    assert list(found.by_level())[:5] == ["covariate", "level", "probability", "query", "decision"]


def test_a_question_is_summed_up_by_the_probability_of_each_decision(fitted):
    found = ask(fitted, "z4=1", 0.4)
    columns = found.columns()
    for k, name in enumerate(columns["covariate"]):
        asked = [row for row, covariate in enumerate(found.covariate) if covariate == name]
        for word in ("treat", "not", "uncertain"):
            expected = sum(found.probability[row] for row in asked if found.after.decision[row] == word)
            assert columns[word][k] == pytest.approx(expected)
        other = sum(found.probability[row] for row in asked if found.after.decision[row] != found.now.decision[0])
        assert columns["changes"][k] == pytest.approx(other)
    assert columns["changes"] == sorted(columns["changes"], reverse=True)
    assert columns["changes"][0] > 0
    assert f"ask for {columns['covariate'][0]} first" in repr(found)


@pytest.fixture
def sexes(tmp_path):
    """Women with a PNS of 0.279, men with one of 0.49, as many of either."""
    study = pnsight.read_study(*write_sexes(tmp_path), treatment="x", outcome="y")
    return pnsight.PlugIn().fit(study)


@pytest.mark.parametrize(
    ("threshold", "now", "changes", "effect"),
    [
        (0.2, "treat", 0.0, None),
        (0.3, "treat", 0.5, "changes"),
        (0.4, "uncertain", 1.0, "settles"),
        (0.45, "not", 0.5, "changes"),
        (0.6, "not", 0.0, None),
    ],
)
def test_asking_for_the_sex_is_worth_what_it_changes(sexes, threshold, now, changes, effect):
    found = ask(sexes, "", threshold)
    assert found.now.decision[0] == now
    assert found.columns()["changes"] == [pytest.approx(changes)]
    assert found.columns()["width"] == [pytest.approx(0, abs=1e-9)]
    if effect is None:
        assert found.advice == Note("no_question_helps")
    else:
        asked = {"covariate": "sex", "probability": pytest.approx(changes), "always": changes == 1, "effect": effect}
        assert (found.advice.kind, found.advice.values) == ("ask_first", asked)


def test_a_question_that_only_unsettles_a_decision_is_told_as_that(plug_in):
    found = ask(plug_in, "z1=1,z2=0,z3=0,z4=1,z5=0,z6=0", 0.415)
    columns = found.columns()
    assert (str(found.now.decision[0]), columns["treat"][0]) == ("not", 0.0)
    assert columns["uncertain"][0] == pytest.approx(columns["changes"][0])
    assert found.advice.values["effect"] == "unsettles"


def test_a_person_known_wholly_leaves_nothing_to_ask(sexes):
    found = ask(sexes, "F")
    assert found.columns()["covariate"] == []
    assert found.notes == (Note("everything_known"),)


def test_nobody_to_ask_about_is_said(plug_in):
    found = ask(plug_in, "1111111XXX")
    assert found.columns()["changes"] == [None, None, None]
    assert found.notes[0] == Note("nobody_described")


def test_one_query_at_a_time(plug_in):
    for several in (["z1=1", "z2=1"], []):
        with pytest.raises(QueryError, match="one at a time"):
            ask(plug_in, several)


def test_leaving_out_each_known_covariate_is_the_papers_case_study(fitted):
    found = left_open(fitted, CASE_PROFILE)
    assert list(found.answers.queries) == lattice.profile_and_parents(CASE_PROFILE)
    assert found.columns()["left_open"] == ["", *fitted.schema.names]
    assert list(found.decision) == list(decide(fitted, lattice.profile_and_parents(CASE_PROFILE)).decision)


def test_any_query_shows_what_its_decision_rests_on(fitted):
    found = left_open(fitted, "z9=0,z4=1", 0.4)
    assert list(found.answers.queries) == ["XXX1XXXX0X", "XXXXXXXX0X", "XXX1XXXXXX"]
    assert found.columns()["left_open"] == ["", "z4", "z9"]
