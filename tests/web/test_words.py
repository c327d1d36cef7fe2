"""The pages have words for everything that the library knows."""

from __future__ import annotations

from typing import get_args

from pnsight import estimands as bounds
from pnsight.data.study import Population
from pnsight.estimands.payoffs import Payoffs
from pnsight.estimands.resolve import CROSSED, INCOHERENT, UNDEFINED
from pnsight.models.registry import MODELS, find_model
from pnsight.output.about_answers import RESTS_ON
from pnsight.queries.bound_table import BASES, CONTRADICTED
from pnsight.web import words


def test_every_assumption_population_status_and_model_has_words():
    assert list(words.assumption_words()) == list(bounds.ASSUMPTIONS)
    assert list(words.PEOPLE) == list(get_args(Population))
    assert list(words.PAYOFFS) == list(Payoffs.__dataclass_fields__)
    assert set(words.NO_ANSWER) == {UNDEFINED, INCOHERENT, CROSSED, CONTRADICTED}
    assert set(RESTS_ON) == {"", *BASES}
    assert all(find_model(name).method for name in MODELS)


def test_every_decision_has_a_shape_of_its_own():
    for quantity in bounds.QUANTITIES:
        signs = words.signs(quantity).values()
        for told in ("kind", "shape", "words", "short"):
            assert len({getattr(sign, told) for sign in signs}) == 4


def test_only_do_not_treat_and_harm_that_is_reached_wear_the_colour_of_bad_news():
    assert [words.signs(quantity)["not"].kind for quantity in ("pns", "benefit", "pn", "harm")] == [
        *["not", "not", "below", "harmless"]
    ]
    assert words.signs("harm")["treat"].kind == "harmful"
