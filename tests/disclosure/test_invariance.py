"""Tables that differ in nothing but what is withheld publish the same, to the last byte, in every output there is.

This is the strongest of the tests of disclosure: whatever anybody computes from what is published is the same for both,
so it can tell nothing about what differs. Outputs are registered in `published_outputs`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from disclosure_attacks import Secrets
from published_outputs import FOLDER, OUTPUTS, Published
from rare_people import OTHER_RARE, RARE, TRIALS, WAYS, Tables, read, twins

import pnsight
from pnsight.output.report import as_plain, render, summarise
from quick_config import QUICK

MIN_CELL = 10


@dataclass(frozen=True)
class Case:
    """A kind of model, and of tables."""

    model: Callable[[], pnsight.Model]
    how: dict[str, Any] = field(default_factory=dict)
    rows: int = 800
    alone: bool = False

    def tables(self) -> tuple[Tables, Tables]:
        """Two pairs of tables."""
        return twins(1, MIN_CELL, self.rows, self.alone, **self.how)


def _response_types() -> pnsight.Model:
    return pnsight.ResponseTypeModel(config=QUICK)


PUBLISHED_TRIALS = (
    "three arms and three outcomes",
    "times",
    "noncompliance",
    "missing outcomes left out",
    "missing outcomes as sets",
)

CASES = {
    **{f"plug-in, {way}": Case(pnsight.PlugIn, how) for way, how in WAYS.items()},
    "plug-in by profiles": Case(lambda: pnsight.PlugIn(mix="profiles")),
    "plug-in, rare levels merged": Case(pnsight.PlugIn, {"merge_rare": 80}),
    "plug-in of the experiment alone": Case(pnsight.PlugIn, rows=1600, alone=True),
    "response types": Case(_response_types),
    "response types, all at once": Case(_response_types, WAYS["all at once"]),
    **{f"plug-in, {trial}": Case(pnsight.PlugIn, TRIALS[trial], rows=6000) for trial in PUBLISHED_TRIALS},
    "response types, three arms": Case(_response_types, TRIALS["three arms and three outcomes"], rows=6000),
    "mask-mlp": Case(lambda: pnsight.MaskMLP(epochs=2, min_rows=30, validation="queries"), rows=4000),
}


@dataclass(frozen=True)
class Pair:
    """What is published of either pair of tables."""

    case: Case
    both: tuple[Published, Published]

    def private(self) -> tuple[pnsight.Study, pnsight.Study]:
        """The studies with all rows, which are not handed on."""
        first, second = (pnsight.load(each.place / "private").study for each in self.both)
        return first, second


@pytest.fixture(scope="module", params=CASES)
def published(request, tmp_path_factory) -> Pair:
    """Models of both pairs of tables, fitted to all rows, and handed on without small counts.

    Tests of one case run one after the other, so that each output is made once.
    """
    case = CASES[request.param]
    first, second = (_hand_on(case, tables, tmp_path_factory.mktemp("place")) for tables in case.tables())
    return Pair(case, (first, second))


def _hand_on(case: Case, tables: Tables, place: Path) -> Published:
    pnsight.save(case.model().fit(read(tables, **case.how)), place / "private")
    pnsight.save(pnsight.suppress(pnsight.load(place / "private"), MIN_CELL), place / FOLDER)
    return Published(place)


@pytest.fixture(autouse=True)
def _one_day(monkeypatch):
    """Reports are made on the same day, also when a test runs past midnight."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


def test_what_is_withheld_makes_no_difference_to_any_output(published):
    before, (first, second) = published.private(), published.both
    assert before[0].schema != before[1].schema or "merge_rare" in published.case.how
    assert [name for name in OUTPUTS if first.give(name) != second.give(name)] == []


def test_no_rare_level_is_named_in_any_output(published):
    for each, study in zip(published.both, published.private(), strict=True):
        many = {*study.schema.covariates[0].levels} - Secrets(study, MIN_CELL).names  # rare, but nowhere too few
        rare = {*RARE, *OTHER_RARE} - many
        assert len(rare) >= 3
        for name in OUTPUTS:
            assert [level for level in rare if level.encode() in each.give(name)] == [], name


@pytest.mark.parametrize("published", ["plug-in, unweighted", "plug-in, all at once"], indirect=True)
def test_a_report_that_withholds_is_the_report_on_what_is_handed_on(published):
    for each in published.both:
        direct = summarise(pnsight.load(each.place / "private"), 0.3, top=50, min_cell=MIN_CELL, opinion=True)
        assert render(direct).encode() + json.dumps(as_plain(direct)).encode() == each.give("report")


@pytest.mark.parametrize("published", ["plug-in, unweighted"], indirect=True)
def test_in_the_private_folder_the_difference_is_seen(published):
    """The tables do differ, in the folders that are not handed on."""
    first, second = published.private()
    assert {*first.schema.covariates[0].levels} ^ {*second.schema.covariates[0].levels} == {*RARE, *OTHER_RARE}
    assert not np.array_equal(first.counts, second.counts)


@pytest.mark.parametrize("options", [[], ["--survey-weight", "w", "--cluster", "home"], ["--weight", "n"]])
def test_from_tables_to_a_folder_with_the_program(options, tmp_path):
    """In one step and in two, the same is written, and the same for both pairs of tables."""
    how = {"--survey-weight": WAYS["all at once"], "--weight": WAYS["weights that count"]}.get((options or [""])[0], {})
    how = {name: value for name, value in how.items() if name != "assignment"}
    written = []
    for number, tables in enumerate(twins(1, MIN_CELL, **how)):
        place = tmp_path / str(number)
        place.mkdir()
        for name, table in zip(("trial", "registry"), tables, strict=True):
            table.to_csv(place / f"{name}.csv", index=False)
        at, roles = Published(place), ["--treatment", "x", "--outcome", "y", "--covariates", "town,sex,old"]
        fit = ["fit", "trial.csv", "registry.csv", *roles, "--model", "plug-in", *options]
        at.run(*fit, "--min-cell", MIN_CELL, "--out", FOLDER)
        written.append(OUTPUTS["folder"].give(at))
        at.run(*fit, "--out", "private")
        at.run("export", "private", "--min-cell", MIN_CELL, "--out", FOLDER)
        written.append(OUTPUTS["folder"].give(at))
    assert len({*written}) == 1


@pytest.mark.parametrize("role", ["experimental", "observational"])
def test_a_file_of_counts_is_the_same_whatever_is_withheld(role, tmp_path):
    """A site's counts are published without any model; each table is protected by itself."""
    written, pairs = [], twins(3, MIN_CELL, 1600, alone=True)
    for number, (table, _) in enumerate(pairs):
        place = tmp_path / str(number)
        place.mkdir()
        table.to_csv(place / "table.csv", index=False)
        roles = ["--treatment", "x", "--outcome", "y", "--covariates", "town,sex,old"]
        said = Published(place).run(
            "count", "table.csv", "--role", role, *roles, "--min-cell", MIN_CELL, "--out", "counts.parquet"
        )
        assert b"counts written" in said
        written.append((place / "counts.parquet").read_bytes())
    assert not pairs[0][0].equals(pairs[1][0])
    assert written[0] == written[1]
    assert [rare for rare in (*RARE, *OTHER_RARE) if rare.encode() in written[0]] == []
