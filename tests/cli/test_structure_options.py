"""Which option works with which kind of trial: every combination, through the command line, as the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pnsight_experiments.structure_options import OPTIONS, TRIALS, page, try_options

PAGE = Path(__file__).parents[2] / "docs" / "structure-options.md"
NAMES = [trial.name for trial in TRIALS]


def column(text, number):
    """What the tables of a page say in one of their columns, by option."""
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {row[0].removeprefix("| "): row[1 + number].removesuffix(" |") for row in rows}


@pytest.mark.parametrize("trial", TRIALS, ids=NAMES)
def test_every_option_works_or_is_refused_with_one_message_as_the_page_says(trial, quick_default):
    found = try_options(trial)
    for option, ended in found.items():
        refusals = [line for line in ended.said.splitlines() if line.startswith("pnsight: ")]
        assert (ended.code, len(refusals)) in ((0, 0), (2, 1)), (option, ended.said)
    here, shown = page({trial.name: found}), PAGE.read_text(encoding="utf-8")
    assert column(shown, TRIALS.index(trial)) == column(here, 0), "run make docs"
    messages = [line for line in shown.splitlines() if line.startswith("- `") and f"({trial.name}): " in line]
    assert set(messages) <= set(here.splitlines()), "run make docs"


def test_the_page_has_every_option_and_every_kind_of_trial():
    shown = PAGE.read_text(encoding="utf-8")
    assert list(column(shown, 0)) == [f"`{option}`" for options in OPTIONS.values() for option in options]
    assert shown.count(" | ".join(NAMES)) == len(OPTIONS)
