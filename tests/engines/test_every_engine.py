"""The same study from every engine: the group-by runs where the data live, and the counts are equal."""

from __future__ import annotations

import datetime
from collections import defaultdict
from functools import partial

import numpy as np
import pandas
import pytest

from engine_tables import ENGINES, as_postgres, as_postgres_query, as_spark
from noted import rows_without_treatment_or_outcome
from pnsight import read_study
from pnsight.data.schema import label

SEX, AGE, TOWN, SMOKER, DOSE, VISIT = "sexe déclaré", "Âge, en années", "town.of", "smoker?", "dose", "visit"
EDGES = [0, 40, 65, 120]
FEWEST = 25


def people(rows: int, seed: int, doses: tuple[int, ...]) -> dict[str, list]:
    """Words, awkward words, numbers with gaps, booleans, dates and weights."""
    rng = np.random.default_rng(seed)
    ages = [float(age) for age in rng.integers(18, 101, rows)]
    towns = rng.choice(["Aix", "Brest", 'l"Isle', "rare, 1", "rare=2"], rows, p=[0.5, 0.3, 0.16, 0.02, 0.02]).tolist()
    return {
        SEX: [None if i % 37 == 0 else sex for i, sex in enumerate(rng.choice(["femme", "homme"], rows).tolist())],
        AGE: [None if i % 29 == 0 else age for i, age in enumerate(ages)],
        TOWN: towns,
        SMOKER: [bool(value) for value in rng.integers(0, 2, rows)],
        DOSE: [int(value) for value in rng.choice(doses, rows)],
        VISIT: [datetime.date(2024, 2, 28) + datetime.timedelta(int(day)) for day in rng.integers(0, 3, rows)],
        "x": [int(value) for value in rng.integers(0, 2, rows)],
        "y": [None if i % 31 == 0 else int(value) for i, value in enumerate(rng.integers(0, 2, rows))],
        "pressure": [float(value) for value in rng.normal(140, 20, rows).round(3)],
        "weight": [int(value) for value in rng.integers(0, 4, rows)],
        "worth": [float(value) for value in rng.choice([0.5, 1.25, 3.0], rows)],
        "ward": [None if i % 41 == 0 else f"ward {value}" for i, value in enumerate(rng.integers(0, 60, rows))],
        "chance": [0.25 if town == "Aix" else 0.5 for town in towns],
    }


TRIAL, REGISTRY = people(300, 1, (2, 10)), people(400, 2, (2, 10, 50))


# --- by hand: one person at a time, with no code of the package but the names of levels -------------------


def counted(tables, profile_of, weigh):
    """Counts by profile, the four cells of each table side by side."""
    counts = defaultdict(lambda: [0.0] * 8)
    for first, table in zip((0, 4), tables, strict=True):
        for person in (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)):
            profile = profile_of(person)
            if person["y"] is not None and profile is not None:
                counts[profile][first + 2 * (1 - person["x"]) + (1 - person["y"])] += weigh(person, first == 0)
    return counts


def plainly(person):
    values = [person[name] for name in (SEX, TOWN, SMOKER, DOSE, VISIT)]
    return None if None in values else tuple(map(label, values))


def thoroughly(thirds, rare, person):
    age, pressure = person[AGE], person["pressure"]
    band = "missing" if age is None else "0-39" if age < 40 else "40-64" if age < 65 else "65-120"
    low, high = thirds
    third = (
        f"under-{label(low)}"
        if pressure < low
        else f"{label(low)}-{label(high)}"
        if pressure < high
        else f"{label(high)}+"
    )
    return person[SEX] or "missing", band, "other" if person[TOWN] in rare else person[TOWN], third


def balanced(person, randomised):
    chance = person["chance"] if person["x"] else 1 - person["chance"]
    return person["weight"] / (2 * chance) if randomised else person["weight"]


def by_hand_plainly():
    return counted((TRIAL, REGISTRY), plainly, lambda person, randomised: 1)


def by_hand_thoroughly():
    pressures = sorted(
        p for t in (TRIAL, REGISTRY) for p, w in zip(t["pressure"], t["weight"], strict=True) for _ in range(w)
    )
    thirds = pressures[len(pressures) // 3], pressures[2 * len(pressures) // 3]
    towns = [
        town
        for table in (TRIAL, REGISTRY)
        for town, weight, y in zip(table[TOWN], table["weight"], table["y"], strict=True)
        for _ in range(weight)
        if y is not None
    ]
    rare = [town for town in set(towns) if towns.count(town) < FEWEST]
    assert len(rare) == 2
    return counted((TRIAL, REGISTRY), partial(thoroughly, thirds, rare), balanced)


READINGS = {
    "plainly": (
        {"covariates": [SEX, TOWN, SMOKER, DOSE, VISIT], "missing": "drop"},
        by_hand_plainly,
    ),
    "with bands, weights, gaps and rare levels": (
        {
            "covariates": [SEX, AGE, TOWN, "pressure"],
            "bands": {AGE: EDGES, "pressure": 3},
            "merge_rare": FEWEST,
            "missing": "level",
            "weight": "weight",
            "assignment": "chance",
        },
        by_hand_thoroughly,
    ),
}


SAMPLED = {"covariates": [SEX, DOSE], "missing": "drop", "survey_weight": "worth", "cluster": "ward"}


def by_hand_sampled():
    """Weights over their mean in each table; rows without outcome or sex are not used."""
    used = [
        [w for w, y, sex in zip(table["worth"], table["y"], table[SEX], strict=True) if None not in (y, sex)]
        for table in (TRIAL, REGISTRY)
    ]
    means = dict(zip((True, False), map(np.mean, used), strict=True))

    def profile_of(person):
        return None if person[SEX] is None else (person[SEX], label(person[DOSE]))

    return counted((TRIAL, REGISTRY), profile_of, lambda person, randomised: person["worth"] / means[randomised])


STARTED = {
    "Spark": ("spark", as_spark),
    "PostgreSQL table": ("postgres", as_postgres),
    "PostgreSQL query": ("postgres", as_postgres_query),
}
"""Engines that a fixture starts, by name: the fixture, and what makes a table there."""


def builder(engine, request):
    """What makes a table of an engine from columns and a path."""
    if engine in ENGINES:
        return ENGINES[engine]
    fixture, make = STARTED[engine]
    return partial(make, request.getfixturevalue(fixture))


def by_profile(study):
    named = [tuple(c.levels[k] for c, k in zip(study.schema.covariates, row, strict=True)) for row in study.profiles]
    return dict(zip(named, study.counts.tolist(), strict=True))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("engine", [*ENGINES, *STARTED])
def test_the_same_study_from_every_engine(engine, reading, request, tmp_path):
    build = builder(engine, request)
    trial, registry = (build(t, tmp_path / name) for name, t in (("trial", TRIAL), ("registry", REGISTRY)))
    how, by_hand = READINGS[reading]
    study = read_study(trial, registry, treatment="x", outcome="y", **how)
    found = {profile: counts for profile, counts in by_profile(study).items() if any(counts)}
    expected = {profile: counts for profile, counts in by_hand().items() if any(counts)}
    assert found.keys() == expected.keys()
    for profile, counts in expected.items():
        assert found[profile] == pytest.approx(counts, rel=1e-12)
    dropped = [("experimental", TRIAL), ("observational", REGISTRY)]
    weigh = "weight" in how
    assert {rows_without_treatment_or_outcome(role) for role, _ in dropped} <= study.dropped.keys()
    for role, table in dropped:
        lost = sum(w if weigh else 1 for y, w in zip(table["y"], table["weight"], strict=True) if y is None)
        assert study.dropped[rows_without_treatment_or_outcome(role)] == lost


@pytest.mark.parametrize("engine", [*ENGINES, *STARTED])
def test_survey_weights_and_clusters_are_the_same_from_every_engine(engine, request, tmp_path):
    build = builder(engine, request)
    trial, registry = (build(t, tmp_path / name) for name, t in (("trial", TRIAL), ("registry", REGISTRY)))
    study = read_study(trial, registry, treatment="x", outcome="y", **SAMPLED)
    expected = by_hand_sampled()
    for profile, counts in by_profile(study).items():
        assert counts == pytest.approx(expected[profile], rel=1e-12)
    plain = read_study(pandas.DataFrame(TRIAL), pandas.DataFrame(REGISTRY), treatment="x", outcome="y", **SAMPLED)
    assert study.design == plain.design
    np.testing.assert_array_equal(study.design.folds, plain.design.folds)


@pytest.mark.parametrize("engine", [*ENGINES, *STARTED])
def test_people_are_counted_behind_weights_in_every_engine(engine, request, tmp_path):
    build = builder(engine, request)
    trial, registry = (build(t, tmp_path / name) for name, t in (("trial", TRIAL), ("registry", REGISTRY)))
    how = {"treatment": "x", "outcome": "y", "covariates": [SEX, DOSE], "missing": "drop"}
    study = read_study(trial, registry, weight="weight", **how)
    tables = pandas.DataFrame(TRIAL), pandas.DataFrame(REGISTRY)
    once = read_study(*(table[table["weight"] > 0] for table in tables), **how)
    assert study.schema == once.schema
    np.testing.assert_array_equal(study.people, once.counts)
    assert study.counts.sum() != once.counts.sum()
