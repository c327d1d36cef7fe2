"""Tables of the response-type model, from rows of results made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fit_rows import fit_row
from pnsight_experiments import Results
from pnsight_experiments.paper import reported
from pnsight_experiments.response_type_tables import (
    against_paper,
    headline,
    interval_table,
    on_random_populations,
    paper_ratios,
)
from pnsight_experiments.tables import TABLES, sheet_of, table_of

PLUG_IN = {"learner": "plug-in", "threshold": "", "validation": "", "dropped": "undefined"}
OURS = {"learner": "response-types", "threshold": "", "validation": ""}


def errors(value, **more):
    return {f"{space}_{end}_mae": value for space in ("exact", "mask") for end in ("lower", "upper")} | more


@pytest.fixture
def rows():
    place = {"population": "mediator", "budget": 200_000}
    return [
        fit_row(**place, **PLUG_IN, **errors(0.08)),
        fit_row(**place, learner="mask-mlp", threshold="300", validation="queries", **errors(0.02)),
        fit_row(**place, **OURS, **errors(0.004)),
        fit_row(**place, **OURS, seed=2, **errors(0.006)),
    ]


def test_the_headline_has_a_line_for_each_population_that_the_model_was_fitted_to(rows):
    paper = [reported("mediator", 200_000, "mask", "mask-mlp", end) for end in ("lower", "upper")]
    assert headline(rows) == {
        "population": ["mediator"],
        "plug-in": ["0.0800"],
        "Mask-MLP, paper": [f"{sum(paper) / 2:.4f}"],
        "Mask-MLP, ours": ["0.0200"],
        "response types": ["0.0050"],
    }
    assert headline(rows[:2]) == {}


def test_ratios_are_to_the_papers_error_in_the_same_place(rows):
    found = against_paper(rows)
    assert found["error"] == ["0.0050"] * 4
    assert found["seeds"] == [2] * 4
    assert found["our Mask-MLP"] == ["0.0200"] * 4
    assert found["ratio to ours"] == ["0.25"] * 4
    expected = [
        0.005 / reported("mediator", 200_000, space, "mask-mlp", end)
        for space in ("exact", "mask")
        for end in ("lower", "upper")
    ]
    assert paper_ratios(rows) == pytest.approx(expected)


def test_random_populations_are_compared_where_all_were_fitted_and_losses_are_named():
    rows = [
        fit_row(population=name, budget=200_000, **kind, **errors(value))
        for name, values in {"index:101": (0.08, 0.03, 0.01), "index:102": (0.06, 0.01, 0.02)}.items()
        for kind, value in zip(
            (PLUG_IN, {"learner": "mask-mlp", "threshold": "300", "validation": "queries"}, OURS), values, strict=True
        )
    ]
    rows.append(fit_row(population="index:103", budget=200_000, **OURS, **errors(0.5)))
    found = on_random_populations(rows)
    assert found["kind"] == ["index", "index"]
    assert found["populations"] == [2, 2]
    assert found["response-types"] == ["0.0150"] * 2
    assert found["plug-in over ours"] == ["4.67"] * 2
    assert found["mask-mlp over ours"] == ["1.33"] * 2
    assert found["losses"] == ["index:102 to mask-mlp"] * 2


def test_coverage_is_the_mean_over_the_fits_of_a_population_or_kind():
    def covered(name, share, seed=1):
        shares = {f"{space}_{end}_covered": share for space in ("exact", "mask") for end in ("lower", "upper")}
        widths = {"exact_width": 0.05, "mask_width": 0.03}
        bands = {f"covered_from_{start}": share for start in (0, 1, 30, 300)}
        place = {"population": name, "budget": 200_000, "seed": seed}
        return fit_row(**place, **OURS, **errors(0.01), **shares, **widths, **bands)

    rows = [covered("index:101", 0.9), covered("index:102", 0.94), covered("mediator", 0.88)]
    found = interval_table(rows)
    assert found["population"] == ["mediator", "index"]
    assert found["exact lower"] == ["88.00%", "92.00%"]
    assert found["mask width"] == ["0.0300", "0.0300"]
    assert found["no rows"] == ["88.00%", "92.00%"]


RESULTS = Path(__file__).parents[2] / "experiments" / "results"


@pytest.mark.parametrize("what", ["table-1", *TABLES])
def test_the_results_in_the_repository_make_every_table(what):
    columns = table_of(what, Results(RESULTS, sheet_of(what)).rows())
    (rows,) = {len(values) for values in columns.values()}
    assert rows


@pytest.mark.parametrize("what", ["transformer", "rivals"])
def test_a_table_without_results_is_empty(what, tmp_path):
    assert not any(table_of(what, Results(tmp_path, sheet_of(what)).rows()).values())
