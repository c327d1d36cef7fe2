"""What if one thing that is known were otherwise."""

from __future__ import annotations

import web_models
from pnsight.decisions import decide, what_if


def test_every_other_level_of_what_is_known_is_decided_upon():
    model = web_models.clinic()
    found = what_if(model, "sex=male,region=South", 0.2)
    assert found is not None
    assert list(zip(found.covariates, found.levels, strict=True)) == [("sex", "female"), ("region", "North & East")]
    expected = decide(model, ["sex=female,region=South", "sex=male,region=North & East"], 0.2)
    assert list(found.decisions.decision) == list(expected.decision)
    assert list(found.decisions.answers.lower) == list(expected.answers.lower)


def test_of_everyone_nothing_is_known_that_could_be_otherwise():
    assert what_if(web_models.clinic()) is None
