"""Tables in which few people are rare, to be published without them, and other tables that must then look the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas

import pnsight
from pnsight.data.small_cells import withheld_profiles
from pnsight.data.structure import DROP

Tables = tuple[pandas.DataFrame, pandas.DataFrame | None]

TOWNS = ("Aix", "Brest", "Cluny", "Dolancourt", "Ezewold")
RARE = ("Dolancourt", "Ezewold")
OTHER_RARE = ("Foswinkel", "Gaptelen")
"""Towns of a handful of people, and what they are called in tables that must look the same without them."""

SHARES = (0.5, 0.37, 0.1, 0.02, 0.01)
COVARIATES = ("town", "sex", "old")
SHOWN = ("x", "y", "dose", "grade", "days", "died", "taken", "partly")
"""What rows show of treatments and outcomes."""

WAYS: dict[str, dict[str, Any]] = {
    "unweighted": {},
    "survey weights": {"survey_weight": "w"},
    "weights that count": {"weight": "n"},
    "clusters": {"cluster": "home"},
    "all at once": {"survey_weight": "w", "cluster": "home", "assignment": "p"},
}
"""How rows are weighed, as options of `read_study`."""

DOSES, GRADES = ("none", "low", "high"), ("worse", "same", "better")

TRIALS: dict[str, dict[str, Any]] = {
    "three arms and three outcomes": {"treatment": "dose", "arms": DOSES, "outcome": "grade", "outcomes": GRADES},
    "times": {"outcome": None, "time": "days", "event": "died", "event_is": "bad", "horizons": (30, 90)},
    "noncompliance": {"treatment": "taken", "assigned": "x"},
    "missing outcomes left out": {"outcome": "partly"},
    "missing outcomes as sets": {"outcome": "partly", "missing_outcome": "set"},
    "missing outcomes, worst case": {"outcome": "partly", "missing_outcome": "worst-case"},
}
"""Other structures than two arms and two outcomes, as options of `read_study`; they have more cells to be small."""


def rare_tables(seed: int, rows: int = 800, alone: bool = False) -> Tables:
    """An experimental and an observational table of towns, two of which have a handful of people."""
    rng = np.random.default_rng(seed)
    return _table(rng, rows, randomised=True), None if alone else _table(rng, 2 * rows, randomised=False)


def _table(rng: np.random.Generator, rows: int, randomised: bool) -> pandas.DataFrame:
    town = rng.choice(len(TOWNS), rows, p=SHARES)
    sex, old = rng.integers(0, 2, rows), rng.random(rows) < 0.3
    chosen = 0.5 if randomised else 0.3 + 0.3 * sex
    x = rng.random(rows) < chosen
    y = rng.random(rows) < 0.25 + 0.25 * x + 0.15 * old - 0.05 * town
    found = pandas.DataFrame(
        {
            "town": np.array(TOWNS)[town],
            "sex": np.array(["female", "male"])[sex],
            "old": np.where(old, "yes", "no"),
            "x": x.astype(int),
            "y": y.astype(int),
            "w": np.round(rng.gamma(2.0, 1.0, rows) + 0.1, 3),
            "n": rng.integers(12, 39, rows),
            "home": rng.integers(0, rows // 2, rows),
            "p": rng.choice([0.4, 0.5, 0.6], rows),
        }
    )
    return found.assign(**_other_columns(rng.spawn(1)[0], found))


def _other_columns(rng: np.random.Generator, table: pandas.DataFrame) -> dict[str, Any]:
    """Treatments and outcomes of other structures."""
    rows, x, y = len(table), table["x"].to_numpy(), table["y"].to_numpy()
    dose, grade = x + (rng.random(rows) < 0.4) * x, y + (rng.random(rows) < 0.5) * y
    return {
        "dose": np.array(DOSES)[dose],
        "grade": np.array(GRADES)[grade],
        "days": np.where(y, rng.choice([10, 60], rows), 200),
        "died": y,
        "taken": np.where(rng.random(rows) < 0.3, 1 - x, x),
        "partly": np.where(rng.random(rows) < 0.2, None, y.astype(object)),
    }


def read(tables: Tables, **how: Any) -> pnsight.Study:
    """The study of tables."""
    return pnsight.read_study(*tables, **{"treatment": "x", "outcome": "y", "covariates": COVARIATES, **how})


@dataclass(frozen=True)
class RowsByFate:
    """Rows of a table that are shown, and those that are withheld."""

    shown: pandas.DataFrame
    withheld: pandas.DataFrame


def by_fate(tables: Tables, min_cell: int, **how: Any) -> list[RowsByFate]:
    """Rows of each table that are shown and withheld, recounted from the table itself."""
    study = read(tables, **how)
    people, found = study.people, []
    for name, table in zip(study.structure.tables, tables, strict=False):
        assert table is not None
        hidden = withheld_profiles(people[:, study.structure.all_columns_of(name)], people.sum(axis=1), min_cell)
        gone = {_labels(study, profile) for profile in study.profiles[hidden]}
        out = np.array([row in gone for row in table[list(COVARIATES)].itertuples(index=False, name=None)], dtype=bool)
        if study.structure.description.missing == DROP:
            out &= table[how.get("outcome") or "y"].notna().to_numpy()  # rows that are left out are not withheld
        found.append(RowsByFate(table[~out], table[out]))
    return found


def _labels(study: pnsight.Study, profile: np.ndarray) -> tuple[str, ...]:
    return tuple(one.levels[code] for one, code in zip(study.schema.covariates, profile, strict=True))


def without_withheld(tables: Tables, min_cell: int, **how: Any) -> Tables:
    """The tables as they are if the withheld rows had never been in them."""
    shown = [fate.shown for fate in by_fate(tables, min_cell, **how)]
    return shown[0], shown[1] if len(shown) > 1 else None


def refilled(fates: Sequence[RowsByFate], min_cell: int, seed: int, part: float = 1 / 8) -> Tables:
    """Other tables, the same but in the rows that are withheld.

    For that part of them, who they are, who is treated and who responds, what they weigh and whom they live with change
    places. There is one fewer or one more, whichever leaves about as many, all weigh more or less than before, and rare
    towns have other names.
    """
    rng, found = np.random.default_rng(seed), []
    for fate in fates:
        other = fate.withheld.reset_index(drop=True)
        for columns in (["town", "sex", "old"], list(SHOWN), ["w", "p"], ["n"], ["home"]):
            some = rng.permutation(len(other))[: int(len(other) * part)]
            other.loc[some, columns] = other.loc[rng.permutation(some), columns].to_numpy()
        other["w"] = np.round(other["w"] * rng.uniform(0.5, 2.0, len(other)), 3)
        other["town"] = other["town"].replace(dict(zip(RARE, OTHER_RARE, strict=True)))
        other = _one_fewer_or_more(other, int(rng.integers(len(other))), min_cell)
        found.append(pandas.concat([fate.shown, other.sample(frac=1, random_state=seed)], ignore_index=True))
    return found[0], found[1] if len(found) > 1 else None


def _one_fewer_or_more(rows: pandas.DataFrame, number: int, min_cell: int) -> pandas.DataFrame:
    """The rows without that one, or with it twice where about how many there are would change."""
    if round(len(rows) / min_cell) == round((len(rows) - 1) / min_cell):
        return rows.drop(index=number)
    return pandas.concat([rows, rows.loc[[number]]], ignore_index=True)


def twins(seed: int, min_cell: int, rows: int = 800, alone: bool = False, **how: Any) -> tuple[Tables, Tables]:
    """Two pairs of tables with different small cells, of which the same is left without them.

    Where so many rows change that a cell becomes large, or another has to be withheld, fewer do the next time.
    """
    tables = rare_tables(seed, rows, alone)
    fates, left = by_fate(tables, min_cell, **how), pnsight.suppress(read(tables, **how), min_cell)
    for attempt in range(1000):
        other = refilled(fates, min_cell, 1000 * seed + attempt, part=1 / (8 + attempt))
        if is_same(left, pnsight.suppress(read(other, **how), min_cell)):
            return tables, other
    raise AssertionError("no other tables leave the same")


def is_same(one: pnsight.Study, two: pnsight.Study) -> bool:
    """Whether the same rows are left in both studies, and about as many withheld."""
    return (
        one.withheld == two.withheld
        and one.schema == two.schema
        and np.array_equal(one.profiles, two.profiles)
        and np.array_equal(one.counts, two.counts)
    )
