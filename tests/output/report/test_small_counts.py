"""With small counts withheld, none is printed: not on the page, not in the data, and not by subtraction."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pnsight
from html_page import Page
from noted import rows_without_treatment_or_outcome
from pnsight import PlugIn
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.errors import ModelError
from pnsight.output.report import as_plain, render, summarise
from pnsight.queries import lattice
from pnsight.queries.query import encode

LIMIT = 10
COUNTED = {
    "support_experimental",
    "support_observational",
    "experimental_rows",
    "observational_rows",
    "events",
    "arm_rows",
    "rows",
}


@st.composite
def some_studies(draw) -> Study:
    """Two or three covariates, counts on both sides of the limit, many in half of the profiles, and rows left out."""
    shape = draw(st.lists(st.integers(2, 3), min_size=1, max_size=3))
    schema = Schema(tuple(Covariate(f"c{j}", tuple(f"level {k}" for k in range(n))) for j, n in enumerate(shape)))
    profiles = lattice.all_profiles(schema)
    large = draw(hnp.arrays(np.float64, (len(profiles), 8), elements=st.integers(0, 400).map(float)))
    small = draw(hnp.arrays(np.float64, large.shape, elements=st.integers(0, 12).map(float)))
    counts = np.where(draw(hnp.arrays(bool, (len(profiles), 1))), small, large)
    counts[::2] += 400
    left_out = {rows_without_treatment_or_outcome(): draw(st.integers(1, 20))}
    return Study.from_tables(schema, profiles, counts[:, :4], counts[:, 4:], dropped=left_out)


def counts_in(found, name="") -> list[float]:
    """Numbers of people, wherever they are in plain data."""
    if isinstance(found, dict):
        inside = [counts_in(part, key if name != "dropped" else "dropped") for key, part in found.items()]
        return [number for part in inside for number in part]
    if isinstance(found, list):
        return [number for part in found for number in counts_in(part, name)]
    return [found] if name in {*COUNTED, "dropped"} and isinstance(found, int | float) else []


def cells_of(summary) -> list[np.ndarray]:
    """Counts of cells that add up to others that are shown: Table 1 less each of its levels, and rows less events."""
    one = summary.table_one
    everyone = np.array([column.rows for column in one.columns])
    levels = [np.array(level.rows) for covariate in one.covariates for level in covariate.levels]
    groups = (*summary.levels.answers, *summary.best.answers, *summary.harmed.answers)
    without = [np.array(group.arm_rows) - np.array(group.events) for group in groups]
    return [*levels, *(everyone - level for level in levels), *without]


def assert_none_small(numbers) -> None:
    assert not [number for number in numbers if 0 < number < LIMIT]


@settings(max_examples=12)
@given(some_studies())
def test_no_small_count_is_in_the_data_or_on_the_page(study):
    assume(pnsight.suppress(study, LIMIT).counts.any())
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
    assume(pnsight.suppress(study, LIMIT).counts.any())
    summary = summarise(PlugIn().fit(study), min_cell=LIMIT, threshold=0.2, top=50)
    shown = {answer.query: answer for answer in (*summary.levels.answers, *summary.best.answers)}
    codes = {query: encode(study.schema, query)[0] for query in shown}
    for query, answer in shown.items():
        for wider, other in shown.items():
            if ((codes[wider] == -1) | (codes[wider] == codes[query])).all():
                assert_none_small([other.support_experimental - answer.support_experimental])
                assert_none_small([other.support_observational - answer.support_observational])
                assert_none_small(np.array(other.events) - answer.events)
                assert_none_small(np.array(other.arm_rows) - answer.arm_rows)
    for cells in cells_of(summary):
        assert_none_small(cells)


def test_arms_and_outcomes_are_told_from_what_is_left(plug_in):
    summary = summarise(plug_in, min_cell=1_000)
    left = pnsight.suppress(plug_in.study, 1_000)
    assert 0 < left.counts.sum() < plug_in.study.counts.sum()
    for counts, rows in zip(summary.counts, left.table_rows, strict=True):
        assert sum(float(row[-1].replace(",", "")) for row in counts.rows) == rows


FEW = 60
"""A limit below which some profiles of `fitted` are, and others are not."""


def test_a_response_type_model_is_reported_without_small_counts(fitted):
    summary = summarise(fitted, min_cell=FEW, threshold=0.2)
    plain = json.loads(json.dumps(as_plain(summary)))
    assert counts_in(plain)
    assert not [number for number in counts_in(plain) if 0 < number < FEW]
    left = pnsight.suppress(fitted.study, FEW)
    assert 0 < left.withheld.share < 1
    assert summary.data.withheld == str(left.withheld.notes[0])
    assert summary.caveats[: len(left.withheld.notes)] == tuple(map(str, left.withheld.notes))
    assert summary.data.dropped == {}
    assert summary.data.notes == tuple(map(str, left.notes))


@pytest.mark.parametrize("min_cell", [2, 10, 100])
def test_a_report_with_a_limit_is_the_report_on_the_exported_model(plug_in, min_cell):
    """Its check of the tables too, which were checked before small counts were withheld when the model was fitted."""
    direct = as_plain(summarise(plug_in, min_cell=min_cell))
    assert direct == as_plain(summarise(pnsight.suppress(plug_in, min_cell)))


def test_where_everything_is_withheld_there_is_no_report(plug_in, fitted):
    for model in (plug_in, fitted):
        with pytest.raises(ModelError, match="nothing is left"):
            summarise(model, min_cell=10**6)
