"""The study with names: frozen, its oracle right, groups that really differ, and tables that are read by name."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import polars
import pytest

import pnsight
from golden.regenerate import TOXIC_DRUG, fingerprints
from pnsight.estimands.compiled import incompatibility
from pnsight.queries import lattice

DRUG = pnsight.simulation.get("toxic-drug")


def test_it_is_frozen():
    frozen = json.loads(TOXIC_DRUG.read_text(encoding="utf-8"))
    found = fingerprints(DRUG)
    assert found.keys() == frozen.keys()
    for part, values in found.items():
        assert values == pytest.approx(frozen[part], abs=1e-9)


def logistic(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def by_hand(old, male, severe, diabetes, kidney, heart, smoker, before) -> np.ndarray:
    """Shares of the eight types (drug chosen, recovers without, recovers with), from the equations written again."""
    shares = np.zeros(8)
    for hardy, sensitive in product((0, 1), repeat=2):
        weight = (0.2 if hardy else 0.8) * (0.4 if sensitive else 0.6)
        score = 2.2 + 0.9 * severe - 0.3 * old - 0.4 * kidney - 0.3 * heart + 0.2 * diabetes - 0.2 * smoker
        score += 0.4 * before - 4.5 * hardy - sensitive * (4.6 * male + 3.4 * kidney + 0.6 * before)
        chosen = logistic(score)
        illness = 0.7 * severe + 0.4 * old + 0.3 * diabetes + 0.5 * heart + 0.2 * smoker
        without = logistic(-3 - male - illness + 5.2 * hardy + sensitive * (3.6 * male + 2.4 * kidney))
        helps = -0.9 + 1.2 * severe + 1.6 * male - 0.5 * old - 0.6 * heart - 0.3 * smoker + 0.4 * before
        helps = logistic(helps - sensitive * (1.8 * male + 2.6 * kidney))
        harms = logistic(-4.5 + sensitive * (5.2 * male + 3.8 * kidney + 0.6 * old))
        responses = [(1 - without) * (1 - helps), (1 - without) * helps, without * harms, without * (1 - harms)]
        shares += weight * np.array([p * r for p in (1 - chosen, chosen) for r in responses])
    return shares


def test_the_types_are_those_of_the_equations_written_again():
    profiles = lattice.all_profiles(DRUG.schema)
    np.testing.assert_allclose(DRUG.types(profiles), [by_hand(*profile) for profile in profiles], atol=1e-12)


def test_every_law_is_coherent_and_the_truth_within_its_bounds():
    queries = lattice.all_queries(DRUG.schema)[::5]
    assert incompatibility(DRUG.law(queries)).max() < 1e-12
    for quantity in ("pns", "harm"):
        answer, truth = DRUG.bounds(queries, quantity), DRUG.true_value(queries, quantity)
        assert (answer.lower <= truth + 1e-12).all()
        assert (truth <= answer.upper + 1e-12).all()


def test_some_are_helped_some_harmed_and_the_registry_alone_misleads():
    asked = ["", "sex=female,severity=severe,kidney_disease=no", "sex=male,kidney_disease=yes"]
    helped, harmed = DRUG.bounds(asked), DRUG.bounds(asked, "harm")
    assert helped.lower[1] > 0.4
    assert harmed.upper[1] < 0.1
    assert harmed.lower[2] > 0.2
    y_x, _, y_x0, _, xy, xn, x0y, x0n = DRUG.law("").cells[0]
    assert abs(xy / (xy + xn) - x0y / (x0y + x0n)) < 0.02 < y_x - y_x0


def test_its_tables_hold_names_and_are_read_as_sampled():
    trial, registry = DRUG.tables(400, 300, seed=3)
    assert set(trial["treatment"]) == {"drug", "standard care"}
    assert set(registry["age_group"]) == {"under-65", "65+"}
    read = pnsight.read_study(polars.DataFrame(trial), polars.DataFrame(registry), **DRUG.reading)
    sampled = DRUG.sample(400, 300, seed=3)
    assert (read.treated, read.success) == (sampled.treated, sampled.success) == ("drug", "recovered")
    queries = ["", "sex=male", "kidney_disease=yes,age_group=65+"]
    both = [pnsight.PlugIn().fit(study).bounds(queries) for study in (read, sampled)]
    assert both[0].support_experimental[0] == 400
    np.testing.assert_array_equal(both[0].lower, both[1].lower)
    np.testing.assert_array_equal(both[0].support_observational, both[1].support_observational)
