"""Which of several arms: certain, uncertain between which, or none better than the reference."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from pnsight.data.schema import Schema
from pnsight.data.study import Study
from pnsight.decisions.which_arm import _choose
from pnsight.errors import QueryError
from structures import STRUCTURES


def study(trial):
    """Rows of the three arms, without and with a response, and no registry."""
    structure = STRUCTURES["three arms"].only(["experimental"])
    return Study(Schema(), np.zeros((1, 0), np.int32), np.array([trial], dtype=float), structure)


@pytest.mark.parametrize(
    ("ends", "decision", "between"),
    [
        ([(0.6, 0.7), (0.1, 0.5)], "arm:a", ("a",)),
        ([(0.6, 0.7), (0.1, 0.65)], "uncertain", ("a", "b")),
        ([(0.3, 0.7), (0.1, 0.4)], "uncertain", ("a", "reference")),
        ([(0.1, 0.4), (0.1, 0.3)], "arm:reference", ("reference",)),
        ([(np.nan, np.nan), (0.9, 0.95)], "", ()),
    ],
)
def test_an_arm_is_best_if_nothing_else_can_be_better(ends, decision, between):
    arrays = [(np.array([low]), np.array([high])) for low, high in ends]
    found, names = _choose(["a", "b"], "reference", arrays, threshold=0.5)
    assert (found[0], names[0]) == (decision, between)


def test_every_arm_is_compared_with_the_reference():
    model = pnsight.PlugIn().fit(study([800, 200, 700, 300, 100, 900]))
    found = pnsight.decide(model, quantity="effect")
    assert found.decision[0] == "arm:high"
    assert found.decision_cautious[0] == "arm:high"
    assert found.columns()["arm"] == ["high"]
    assert found.columns()["lower"] == [pytest.approx(0.7)]
    assert str(found.reason()) == (
        "high (effect against placebo, which must reach 0: low 0.100 to 0.100, high 0.700 to 0.700)."
    )


def test_a_close_call_is_uncertain_with_caution():
    model = pnsight.PlugIn().fit(study([800, 200, 500, 500, 490, 510]))
    found = pnsight.decide(model, quantity="effect")
    assert (found.decision[0], found.decision_cautious[0]) == ("arm:high", "uncertain")
    cautious = pnsight.decide(model, quantity="effect", cautious=True)
    assert cautious.between[0] == ("low", "high")


def test_with_a_contrast_it_is_treat_or_not():
    model = pnsight.PlugIn().fit(study([800, 200, 700, 300, 100, 900]))
    assert pnsight.decide(model, contrast="high:placebo").decision[0] == "treat"
    with pytest.raises(QueryError, match="between 0 and 1"):
        pnsight.decide(model, threshold=2)
