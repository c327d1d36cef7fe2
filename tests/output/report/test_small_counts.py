"""With small counts withheld, none is printed: not on the page, not in the data, and not by subtraction."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pnsight
from html_page import Page
from noted import rows_without_treatment_or_outcome
from pnsight import PlugIn
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.notes import Note
from pnsight.output.report import as_plain, render, summarise
from pnsight.queries import lattice
from pnsight.queries.query import encode

LIMIT = 10
COUNTED = {"support_experimental", "support_observational", "experimental_rows", "observational_rows"}


@st.composite
def some_studies(draw) -> Study:
    """Two or three covariates, counts on both sides of the limit, and rows left out."""
    shape = draw(st.lists(st.integers(2, 3), min_size=1, max_size=3))
    schema = Schema(tuple(Covariate(f"c{j}", tuple(f"level {k}" for k in range(n))) for j, n in enumerate(shape)))
    profiles = lattice.all_profiles(schema)
    large = draw(hnp.arrays(np.float64, (len(profiles), 8), elements=st.integers(0, 400).map(float)))
    small = draw(hnp.arrays(np.float64, large.shape, elements=st.integers(0, 12).map(float)))
    counts = np.where(draw(hnp.arrays(bool, (len(profiles), 1))), small, large)
    left_out = {rows_without_treatment_or_outcome(): draw(st.integers(1, 20))}
    return Study.from_tables(schema, profiles, counts[:, :4], counts[:, 4:], dropped=left_out)


def counts_in(found, name="") -> list[float]:
    """Numbers of people, wherever they are in plain data."""
    if isinstance(found, dict):
        inside = [counts_in(part, key if name != "dropped" else "dropped") for key, part in found.items()]
        return [number for part in inside for number in part]
    if isinstance(found, list):
        return [number for part in found for number in counts_in(part, name)]
    return [found] if (name in COUNTED or name == "dropped") and found is not None else []


def assert_none_small(numbers) -> None:
    assert not [number for number in numbers if 0 < number < LIMIT]


@settings(max_examples=12)
@given(some_studies())
def test_no_small_count_is_in_the_data_or_on_the_page(study):
    summary = summarise(PlugIn().fit(study), min_cell=LIMIT, threshold=0.2)
    plain = json.loads(json.dumps(as_plain(summary)))
    assert_none_small(counts_in(plain))
    assert len(counts_in(plain)) >= 4
    html = render(summary)
    page = Page(html)
    assert_none_small([float(text.replace(",", "")) for text in page.rows])
    told = [number for text in page.texts for number in re.findall(r"([\d,]+) (?:\w+ )?rows", text)]
    assert_none_small([float(number.replace(",", "")) for number in told])
    assert f"Counts below {LIMIT} are withheld" in html


@settings(max_examples=12)
@given(some_studies())
def test_differences_of_nested_groups_that_are_shown_are_not_small_either(study):
    summary = summarise(PlugIn().fit(study), min_cell=LIMIT, threshold=0.2, top=50)
    shown = {answer.query: answer for answer in (*summary.levels.answers, *summary.best.answers)}
    codes = {query: encode(study.schema, query)[0] for query in shown}
    for query, answer in shown.items():
        for wider, other in shown.items():
            if ((codes[wider] == -1) | (codes[wider] == codes[query])).all():
                assert_none_small([other.support_experimental - answer.support_experimental])
                assert_none_small([other.support_observational - answer.support_observational])


def test_a_response_type_model_is_reported_without_small_counts(fitted):
    summary = summarise(fitted, min_cell=300, threshold=0.2)
    plain = json.loads(json.dumps(as_plain(summary)))
    assert not [number for number in counts_in(plain) if 0 < number < 300]
    assert summary.data.withheld == str(pnsight.models.suppression.suppress(fitted, 300).study.withheld.note)
    assert summary.data.dropped == {}
    left_out = {"reason": rows_without_treatment_or_outcome().plain(), "min_cell": 300}
    assert summary.data.notes == (str(Note("few_rows_left_out", left_out)),)


def test_a_model_that_learned_from_all_rows_still_ranks_all_groups(fitted):
    """Its ranking would be empty if groups needed rows that are withheld."""
    groups = summarise(fitted, min_cell=10**6).best.answers
    assert len(groups) > 1
    assert not any(answer.support_experimental for answer in groups)


@pytest.mark.parametrize("min_cell", [2, 10, 100])
def test_a_report_with_a_limit_is_the_report_on_the_exported_model(plug_in, min_cell):
    """But for the check of the tables, which is made before."""
    direct = as_plain(summarise(plug_in, min_cell=min_cell))
    exported = as_plain(summarise(pnsight.models.suppression.suppress(plug_in, min_cell)))
    for part in direct.keys() - {"check"}:
        assert direct[part] == exported[part]


def test_everything_withheld_still_makes_a_report(plug_in, fitted):
    for model in (plug_in, fitted):
        summary = summarise(model, min_cell=10**6)
        assert summary.data.experimental_rows == 0
        assert Page(render(summary)).rows
