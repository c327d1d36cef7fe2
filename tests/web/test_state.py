"""Addresses: every state has one, and what is wrong with an address is said."""

from __future__ import annotations

from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import web_models
from pnsight.estimands import QUANTITIES, Estimand, Payoffs
from pnsight.queries.query import decode, encode
from pnsight.web.capabilities import UNIT_PAYOFFS
from pnsight.web.state import Options, Reader, State
from pnsight.web.words import PEOPLE

numbers = st.floats(-1e12, 1e12, allow_subnormal=False).map(lambda number: float(f"{number:.12g}"))

shares = st.floats(0, 1, allow_subnormal=False).map(lambda number: float(f"{number:.12g}"))


@st.composite
def states(draw, model) -> State:
    quantity = draw(st.sampled_from(list(QUANTITIES.values())))
    threshold = draw(st.none() | (numbers if quantity.has_payoffs else shares))
    estimand = Estimand(
        quantity,
        Payoffs(*draw(st.lists(numbers, min_size=4, max_size=4))) if quantity.has_payoffs else None,
        tuple(name for name in ("monotone", "exogenous") if draw(st.booleans())),
        draw(st.sampled_from(["none", "covariates"])),
        float(f"{draw(st.floats(0.001, 0.999)):.12g}"),
        draw(st.none() | st.sampled_from(list(PEOPLE))),
    )
    options = Options(estimand, None if threshold == quantity.default_threshold else threshold, draw(st.booleans()))
    return State(tuple(draw(st.integers(-1, levels - 1)) for levels in model.schema.shape), options)


@given(data=st.data())
def test_the_address_of_a_state_is_read_as_that_state(data):
    model = web_models.clinic()
    state = data.draw(states(model))
    reader = Reader(model)
    assert reader.read(parse_qsl(reader.write(state))) == (state, "")


def test_names_that_look_like_markup_or_options_are_read_again():
    model = web_models.nasty()
    reader = Reader(model)
    for code in range(2):
        state = State((code, 1 - code, code), Options())
        assert reader.read(parse_qsl(reader.write(state))) == (state, "")


def test_the_address_of_what_is_usual_is_empty():
    reader = Reader(web_models.clinic())
    state, problem = reader.read([("quantity", "pns"), ("threshold", "0.5"), ("level", "0.90"), ("with.sex", "")])
    assert (reader.write(state), problem) == ("", "")


def test_a_number_finds_its_band():
    state, _ = Reader(web_models.clinic()).read([("with.age", "52")])
    np.testing.assert_array_equal(state.codes, encode(web_models.clinic().schema, "age=40-95"))


def test_payoffs_are_one_for_each_person_helped_until_others_are_given():
    reader = Reader(web_models.clinic())
    assert reader.read([("quantity", "benefit")])[0].options.estimand.payoffs == UNIT_PAYOFFS
    assert reader.read([("quantity", "benefit"), ("never", "7")])[0].options.estimand.payoffs == Payoffs(1, 0, 7, -1)
    assert reader.read([("quantity", "pn"), ("never", "7")])[0].options.estimand.payoffs is None


def test_the_threshold_of_a_benefit_is_its_cost():
    reader = Reader(web_models.clinic())
    given = [("quantity", "benefit"), ("threshold", "0.3"), ("cost", "5")]
    assert reader.read(given)[0].options.reach == 5
    assert reader.read([("quantity", "pn"), ("threshold", "0.3"), ("cost", "5")])[0].options.reach == 0.3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("with.sexx", "male"), "Did you mean 'sex'?"),
        (("with.sex", "mael"), "Did you mean 'male'?"),
        (("with.age", "17"), "cannot be 17"),
        (("quantity", "pnn"), "no quantity is called 'pnn'"),
        (("threshold", "much"), "threshold is 'much'"),
        (("threshold", "nan"), "threshold is 'nan'"),
        (("threshold", "1e13"), "threshold is '1e13'"),
        (("level", "1"), "between 0 and 1"),
        (("level", "0"), "between 0 and 1"),
        (("level", "90"), "did you mean 0.9?"),
        (("threshold", "30"), "lies between 0 and 1, and 30 was given; did you mean 0.3?"),
        (("threshold", "-0.1"), "lies between 0 and 1, and -0.1 was given."),
        (("assume", "kindness"), "no assumption is called 'kindness'"),
        (("refine", "much"), "refine is 'much'"),
        (("population", "mars"), "population is 'mars'"),
        (("cautious", "maybe"), "cautious is 'maybe'; expected yes, no."),
        (("trial_alone", "perhaps"), "trial_alone is 'perhaps'; expected no, yes."),
        (("quantiy", "pn"), "no option is called 'quantiy'. Did you mean 'quantity'?"),
    ],
)
def test_a_mistake_is_named_and_left_out(given, said):
    state, problem = Reader(web_models.clinic()).read([given, ("with.region", "South")])
    assert said in problem
    assert state == State((-1, -1, 1), Options())


@pytest.mark.parametrize("key", ["with.sex", "quantity", "threshold", "level", "population"])
def test_what_is_given_twice_is_named_and_left_out(key):
    given = [(key, "a"), (key, "b"), ("with.region", "South"), ("with.region", "South")]
    state, problem = Reader(web_models.clinic()).read(given)
    assert problem == f"{key} is given as 'a', 'b'; give it once."
    assert state == State((-1, -1, 1), Options())


def test_a_blank_beside_a_value_is_no_second_value():
    state, problem = Reader(web_models.clinic()).read([("threshold", "0.3"), ("threshold", ""), ("cautious", "yes")])
    assert (state.options, problem) == (Options(threshold=0.3), "")


def test_decisions_are_cautious_unless_plain_ones_are_asked_for():
    reader = Reader(web_models.clinic())
    plain, problem = reader.read([("cautious", "no")])
    assert (plain.options, problem) == (Options(cautious=False), "")
    assert reader.write(plain) == "cautious=no"
    assert reader.write(reader.read([("cautious", "yes")])[0]) == ""


def test_the_trial_alone_stands_in_the_address():
    reader = Reader(web_models.plug_in())
    state, problem = reader.read([("trial_alone", "yes")])
    assert (state.options.estimand.trial_alone, problem) == (True, "")
    assert reader.write(state) == "trial_alone=yes"
    assert state.options.unusual
    assert reader.read([("trial_alone", "no")])[0].options == Options()


def test_several_assumptions_are_no_mistake():
    state, problem = Reader(web_models.clinic()).read([("assume", "monotone"), ("assume", "exogenous")])
    assert (state.options.estimand.assume, problem) == (("monotone", "exogenous"), "")


def test_an_experiment_alone_has_only_its_own_people():
    reader = Reader(web_models.alone())
    assert "only those of the experimental table" in reader.read([("population", "observational")])[1]
    assert reader.read([("population", "experimental")])[1] == ""


def test_all_mistakes_are_named():
    _, problem = Reader(web_models.clinic()).read([("with.sex", "x"), ("with.age", "17"), ("level", "2")])
    for said in ("no level 'x'", "cannot be 17", "between 0 and 1"):
        assert said in problem


def test_only_a_response_type_model_can_be_asked_about_other_people():
    _, problem = Reader(web_models.plug_in()).read([("population", "pooled")])
    assert "this plug-in model has only the people it was fitted to" in problem


def test_a_long_text_is_refused_before_anything_is_made_of_it():
    reader = Reader(web_models.clinic())
    state, problem = reader.read([("with.age", "1" * 15_900), ("with.sex", "male"), ("x" * 5000, "1")])
    assert decode(reader.schema, state.codes[0]).fixed == {"sex": "male"}
    assert "with.age has a name or value of 15,900 characters; give at most 4,000." in problem
    assert "5,000 characters" in problem
    assert len(problem) < 500


def test_of_many_mistakes_the_first_are_told():
    reader = Reader(web_models.clinic())
    state, problem = reader.read([("with.sex", "male"), *((f"with.c{k}", "1") for k in range(1000))])
    assert decode(reader.schema, state.codes[0]).fixed == {"sex": "male"}
    assert problem.count("no covariate is called") == 5
    assert problem.endswith("What comes after that was not read.")
    _, problem = reader.read([(f"c{k}", "1") for k in range(1000)])
    assert problem.count("no option is called") == 5
    assert problem.endswith("995 more options are none.")
