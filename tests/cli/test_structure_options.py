"""Which option works with which kind of trial: every combination, through the command line, as the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pnsight_experiments.structure_options import OPTIONS, TRIALS, page, try_options

PAGE = Path(__file__).parents[2] / "docs" / "structure-options.md"


@pytest.fixture(scope="module")
def found(quick_default):
    return {trial.name: try_options(trial) for trial in TRIALS}


def test_every_option_works_or_is_refused_with_one_message(found):
    assert {name for options in OPTIONS.values() for name in options} == set(found[TRIALS[0].name])
    for trial, ends in found.items():
        for option, ended in ends.items():
            assert ended.code in (0, 2), (trial, option, ended.said)
            refusals = [line for line in ended.said.splitlines() if line.startswith("pnsight: ")]
            assert len(refusals) == (ended.code == 2), (trial, option, ended.said)


def test_the_page_says_which(found):
    assert PAGE.read_text(encoding="utf-8") == page(found), "run make docs"
