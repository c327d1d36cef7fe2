"""What answers mean for a hundred people, in words, counts and a picture."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import pnsight
import web_models
import web_structures
from pnsight.data.labels import Labels
from pnsight.data.two_by_two import two_by_two
from pnsight.estimands.estimand import Estimand
from pnsight.output.icon_array import icon_array
from pnsight.output.per_hundred import PerHundred, per_hundred
from pnsight.wording import PARTS


def named_study(case, labels=None):
    """A case whose arms and outcomes have names."""
    structure = two_by_two(("standard care", "drug"), ("not", "recovered"))
    return replace(
        case.study(), structure=structure, treatment="treatment", outcome="outcome", labels=labels or Labels()
    )


def of_case(case, estimand=None, **options) -> PerHundred:
    return per_hundred(pnsight.PlugIn().fit(named_study(case, **options)), "", estimand)[0]


def test_the_sentence_has_both_arms_by_name_those_helped_and_those_harmed() -> None:
    assert of_case(cases.POOLED).sentence == (
        "Of 100 people, 49 have recovered with drug, 21 with standard care; drug makes the difference for 34 to 43; it "
        "harms 6 to 15."
    )


def test_labels_take_the_place_of_names() -> None:
    labels = Labels(
        {"treatment": "Treatment"}, {"treatment": {"drug": "the drug"}, "outcome": {"recovered": "got well"}}
    )
    assert (
        "49 have got well with the drug, 21 with standard care; the drug makes"
        in of_case(cases.MEN, labels=labels).sentence
    )


def test_yes_and_no_are_called_by_their_column() -> None:
    found = per_hundred(pnsight.PlugIn().fit(web_models.study()))[0]
    assert "have recovered with drug," in found.sentence
    assert "without it; drug makes the difference" in found.sentence


def test_parts_of_women_and_men_are_those_of_the_published_example() -> None:
    assert of_case(cases.WOMEN).parts == {**dict.fromkeys(PARTS, 0), "helped": 28, "unaffected": 72}
    assert of_case(cases.MEN).parts == {**dict.fromkeys(PARTS, 0), "helped": 49, "harmed": 21, "unaffected": 30}


def test_the_experiment_alone_leaves_more_open() -> None:
    found = of_case(cases.WOMEN, Estimand(trial_alone=True))
    assert (found.parts["helped"], found.parts["maybe_helped"], found.parts["maybe_harmed"]) == (28, 21, 21)


def test_chance_is_told_where_there_are_intervals() -> None:
    assert str(of_case(cases.MEN).chance).startswith("allowing for chance, with 90% confidence each: helped 46 to 52")
    assert per_hundred(web_models.without_intervals())[0].chance is None


def test_people_are_named_unless_a_page_names_them() -> None:
    found = per_hundred(web_models.plug_in(), ["sex=female,age=18-40"])[0]
    assert found.sentence.startswith("Of 100 people with sex = female, age = 18-40, ")
    assert found.page_sentence.startswith("Of 100 such people, ")


cells = st.lists(st.integers(0, 400), min_size=8, max_size=8)


@given(cells)
def test_parts_add_up_to_a_hundred_whatever_the_tables(counts) -> None:
    case = cases.Case(tuple(counts[:4]), tuple(counts[4:]), {})
    found = of_case(case)
    assert (sum(found.parts.values()) == 100) == (found.helped is not None)
    assert all(count >= 0 for count in found.parts.values())


@pytest.mark.parametrize("name", web_structures.MODELS)
def test_every_structure_has_its_hundred_people(name) -> None:
    model = web_structures.MODELS[name]()
    for found in per_hundred(model, ["", "sex=female", "sex=male,age=under 50"]):
        assert sum(found.parts.values()) == 100
        assert found.arm in found.sentence


def test_of_graded_outcomes_it_is_said_for_whom_they_are_better_and_worse() -> None:
    found = per_hundred(web_structures.dose_model())[0]
    assert "relief is higher under 40 mg than it would be under placebo for 48 to 91" in found.sentence
    assert found.with_arm is None
    assert found.with_reference is None


def test_of_times_it_is_told_who_is_spared_by_the_last_horizon() -> None:
    assert "have no event by 365 with immunotherapy" in per_hundred(web_structures.survival_model())[0].sentence


def test_nothing_is_counted_where_the_tables_contradict_each_other() -> None:
    found = per_hundred(web_models.contradicted())[0]
    assert found.parts == {}
    assert icon_array(found) == ""
    assert found.note.values["status"] == "contradicted"
    assert "cannot be said: the tables contradict each other" in found.sentence


def test_nothing_is_counted_where_there_are_no_rows() -> None:
    found = per_hundred(web_models.many_covariates(), [dict.fromkeys(web_models.many_covariates().schema.names, "1")])[
        0
    ]
    assert found.note.values["status"] == "undefined"
    assert found.helped is None


def test_a_model_without_a_law_says_that_it_does_not_know_harm() -> None:
    class Agreeing(pnsight.MaskMLP):
        def raw_ends(self, codes, quantity="pns"):
            return np.tile([0.2, 0.4], (len(codes), 1))

    model = Agreeing(epochs=1, min_rows=100).fit(web_models.study())
    found = per_hundred(model)[0]
    assert found.sentence == (
        "Of 100 people, drug makes the difference for 20 to 40; how many are harmed this model does not say."
    )
    assert found.parts == {}


def test_a_model_of_another_quantity_says_nothing() -> None:
    assert per_hundred(pnsight.MaskMLP(quantity="pn", epochs=1, min_rows=100).fit(web_models.study())) == []


def test_answers_about_people_like_nobody_seen_say_so_in_words_and_picture() -> None:
    women, men = per_hundred(web_models.guessing(), ["sex=female", "sex=male"])
    assert men.extrapolated
    assert not women.extrapolated
    assert "nobody like this was seen" in men.sentence
    assert "nobody like this was seen" in men.picture_words
    assert 'class="per-hundred extrapolated"' in icon_array(men)


def test_the_picture_has_a_sign_for_each_of_a_hundred_people_and_its_words() -> None:
    found = per_hundred(web_models.nasty())[0]
    picture = ElementTree.fromstring(icon_array(found, "first"))
    people = picture.findall("./svg/g/*")
    assert len(people) == 100
    kinds = [each.get("class").split()[0] for each in people]
    assert {kind: kinds.count(kind) for kind in kinds} == {kind: n for kind, n in found.parts.items() if n}
    assert picture.find("./svg/title").text == found.picture_words
    assert picture.find(".//title").get("id") == picture.find("./svg").get("aria-labelledby")
