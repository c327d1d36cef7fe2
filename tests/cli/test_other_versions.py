"""A model that other versions of libraries fitted: every command that reads it says so, once."""

from __future__ import annotations

import pytest

from stored_models import changed, description_of

COMMANDS = {
    "query": ["query"],
    "decide": ["decide"],
    "ask": ["ask"],
    "rank": ["rank"],
    "select": ["select", "--budget", "1"],
    "explain": ["explain"],
    "report": ["report", "--format", "json"],
    "export": ["export"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_said_once_and_beside_the_results(command, run, churn, tmp_path):
    changed(churn, libraries=description_of(churn)["libraries"] | {"numpy": "1.0"})
    name, *more = COMMANDS[command]
    ended = run(name, churn, *more, *(["--out", tmp_path / "public"] if name == "export" else []))
    assert ended.err.count("warning: this model was fitted with numpy 1.0 and is read with numpy") == 1
    assert "\nwarning: this model was fitted" not in ended.out
