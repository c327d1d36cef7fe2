"""Colours of decisions are the same on the pages as in figures, notebooks and reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pnsight.web
from pnsight._palette import DECISIONS

STYLE = (Path(pnsight.web.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
LIGHT = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", STYLE.split("@media")[0]))


@pytest.mark.parametrize("decision", ["treat", "not", "uncertain"])
def test_a_decision_has_one_colour_everywhere(decision):
    assert LIGHT[decision] == DECISIONS[decision].colour.lower()
