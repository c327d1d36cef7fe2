"""How many rows another study would need, in the report: what `pnsight.size` says with the model as the pilot."""

from __future__ import annotations

import pnsight
from html_page import Page
from pnsight.output.report import render, summarise
from pnsight.output.report.sections import SIZE_MARGIN


def test_rows_are_those_of_the_library(plug_in):
    found = summarise(plug_in, 0.3, level=0.8)
    expected = pnsight.size(SIZE_MARGIN, 0.8, pilot=plug_in)
    assert [row.experimental for row in found.size.rows] == expected.experimental.tolist()
    assert "How many rows another study would need" in Page(render(found)).texts


def test_a_quantity_without_a_size_has_no_section(plug_in):
    asked = plug_in.estimand("benefit", payoffs=(1, 0, 0, -1))
    found = summarise(plug_in, 0.3, quantity=asked)
    assert "is not found for benefit" in found.size.refused
    assert "How many rows another study would need" not in Page(render(found)).texts
