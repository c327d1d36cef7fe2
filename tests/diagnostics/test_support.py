"""How many people and queries have rows enough, counted the slow way too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import pnsight
from noted import values
from pnsight import simulation as populations
from pnsight.data.schema import OPEN, Schema
from pnsight.diagnostics import support
from pnsight.diagnostics.support import ENOUGH_ROWS, support_of
from pnsight.queries import lattice
from strategies import studies


def rows_of(study: pnsight.Study, query: np.ndarray) -> list[float]:
    """Rows of each table that the query covers."""
    covered = [all(q in (OPEN, z) for q, z in zip(query, profile, strict=True)) for profile in study.profiles]
    tables = [study.experimental] if study.observational is None else [study.experimental, study.observational]
    return [table[covered].sum() for table in tables]


@given(study=studies(most=3, experiment_alone=None))
@settings(max_examples=50)
def test_shares_are_what_counting_one_by_one_gives(study):
    study = study.with_counts(study.counts * 30)
    found = support_of(study)

    def share(queries: np.ndarray) -> float:
        return float(np.mean([min(rows_of(study, query)) >= ENOUGH_ROWS for query in queries]))

    assert found.profiles == pytest.approx(share(lattice.all_profiles(study.schema)))
    assert found.queries == pytest.approx(share(lattice.all_queries(study.schema)))
    assert (found.queries_examined, found.queries_drawn) == (study.schema.n_queries, False)
    supported = [min(rows_of(study, profile)) >= ENOUGH_ROWS for profile in study.profiles]
    assert found.people * study.counts.sum() == pytest.approx(study.counts[supported].sum())


def test_drawn_queries_estimate_the_share_of_all(monkeypatch):
    study = populations.get("index:1").sample(20_000, 20_000, seed=1)
    listed = support_of(study)
    monkeypatch.setattr(support, "_MAX_LISTED_QUERIES", 10)
    drawn = support_of(study)
    assert drawn.queries_drawn
    assert drawn.queries == pytest.approx(listed.queries, abs=3 * np.sqrt(0.25 / drawn.queries_examined))
    assert values(drawn.verdict.notes, "support")["drawn"] == drawn.queries_examined
    assert values(listed.verdict.notes, "support")["drawn"] is None
    assert support_of(study) == drawn


def test_thirty_covariates_are_no_obstacle():
    study = populations.random_population("index", 1, covariates=20).sample(3_000, 3_000, seed=1)
    wide = replace(study, schema=Schema.binary(f"w{j}" for j in range(40)), profiles=np.tile(study.profiles, 2))
    assert support_of(wide).queries_drawn


def test_profiles_in_one_table_only_are_counted():
    schema = Schema.binary(["a", "b"])
    experimental = np.array([[100.0] * 4, [50] * 4, [0] * 4, [0] * 4])
    observational = np.array([[100.0] * 4, [0] * 4, [20] * 4, [30] * 4])
    found = support_of(pnsight.Study.from_tables(schema, lattice.all_profiles(schema), experimental, observational))
    assert (found.only_experimental, found.only_observational) == (1, 2)
    assert found.people_only_experimental == pytest.approx(1 / 3)
    assert found.people_only_observational == pytest.approx(1 / 3)
    assert found.people == pytest.approx(800 / 1200)
    assert found.verdict.status == "warning"
    assert values(found.verdict.notes, "profiles_in_one_table") == {
        "experimental": 1,
        "observational": 2,
        "of_experimental": pytest.approx(1 / 3),
        "of_observational": pytest.approx(1 / 3),
    }


def test_enough_rows_everywhere_is_no_warning():
    schema = Schema.binary(["a"])
    counts = np.full((2, 4), 100.0)
    found = support_of(pnsight.Study.from_tables(schema, lattice.all_profiles(schema), counts, counts))
    assert (found.people, found.profiles, found.queries) == (1.0, 1.0, 1.0)
    assert found.verdict.status == "ok"
