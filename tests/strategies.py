"""Arbitrary laws, schemas and studies for property tests."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from laws import of_types
from pnsight.data.law import Law
from pnsight.data.schema import OPEN, OPEN_SYMBOL, Covariate, Schema, label
from pnsight.data.study import Study
from pnsight.data.two_by_two import two_by_two_law

# --- laws: whole-number weights keep every probability at zero or well away from it ---------------------


@st.composite
def type_shares(draw: st.DrawFn, rows: int = 1) -> np.ndarray:
    """Distributions over the eight response types, shape (rows, 8); some types may be absent."""
    weights = draw(hnp.arrays(np.int64, (rows, 8), elements=st.integers(0, 20)))
    weights[weights.sum(axis=1) == 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def coherent_laws() -> st.SearchStrategy[Law]:
    """Laws that some population has, one row."""
    return type_shares().map(of_types)


@st.composite
def any_laws(draw: st.DrawFn) -> Law:
    """Laws of one row that a population may or may not have."""
    a, b = (draw(st.integers(0, 20)) / 20 for _ in range(2))
    cells = np.array(draw(st.lists(st.integers(0, 10), min_size=4, max_size=4).filter(any)))
    return two_by_two_law(np.array([a]), np.array([b]), (cells / cells.sum())[None, :])


@st.composite
def mixing_weights(draw: st.DrawFn, rows: int) -> np.ndarray:
    """One mixture of that many rows, shape (1, rows)."""
    weights = np.array(draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows).filter(any)))
    return (weights / weights.sum())[None, :]


# --- schemas --------------------------------------------------------------------------------------------

_AWKWARD = st.sampled_from(",=\\ \"'éßüÅ漢Xx0123456789-._")
_CHARACTERS = st.one_of(_AWKWARD, st.characters(exclude_categories=("Cs", "Cc")))

names = st.text(_CHARACTERS, min_size=1, max_size=8)
levels = st.text(_CHARACTERS, min_size=1, max_size=6).map(label).filter(lambda text: text is not None)
short_levels = _CHARACTERS.map(label).filter(lambda text: text not in (None, OPEN_SYMBOL, ",", "=", "\\"))


@st.composite
def schemas(
    draw: st.DrawFn, level: st.SearchStrategy[str | None] = levels, least: int = 0, most: int = 4, most_levels: int = 4
) -> Schema:
    """Covariates of any name with any levels."""
    found = draw(st.lists(names, min_size=least, max_size=most, unique=True))
    return Schema(
        tuple(
            Covariate(name, tuple(draw(st.lists(level, min_size=1, max_size=most_levels, unique=True))))
            for name in found
        )
    )


@st.composite
def codes_of(draw: st.DrawFn, schema: Schema, most: int = 6, lowest: int = OPEN) -> np.ndarray:
    """Queries of a schema as codes; with ``lowest=0`` exact ones only."""
    width = len(schema.names)
    rows = draw(st.integers(0, most))
    flat = [[draw(st.integers(lowest, size - 1)) for size in schema.shape] for _ in range(rows)]
    return np.array(flat, dtype=np.int32).reshape(rows, width)


# --- studies --------------------------------------------------------------------------------------------


@st.composite
def studies(draw: st.DrawFn, most: int = 4, experiment_alone: bool | None = False) -> Study:
    """Small studies with covariates of one to three levels and some profiles absent."""
    shape = draw(st.lists(st.integers(1, 3), max_size=most))
    schema = Schema(tuple(Covariate(f"c{j}", tuple(f"level {k}" for k in range(size))) for j, size in enumerate(shape)))
    everything = np.array(list(np.ndindex(*shape)), dtype=np.int32).reshape(math.prod(shape), len(shape))
    present = draw(hnp.arrays(bool, len(everything)))
    present[draw(st.integers(0, len(everything) - 1))] = True
    profiles = everything[present]
    alone = draw(st.booleans()) if experiment_alone is None else experiment_alone
    counts = draw(hnp.arrays(np.float64, (len(profiles), 4 if alone else 8), elements=st.integers(0, 9).map(float)))
    return Study.from_tables(schema, profiles, counts[:, :4], None if alone else counts[:, 4:])


@st.composite
def relabelled(draw: st.DrawFn, study: Study) -> tuple[Study, dict[str, dict[str, str]]]:
    """The same study with covariates, levels and profiles in another order, and each new level's old name."""
    covariates, old_names, columns = [], {}, []
    for j in draw(st.permutations(range(len(study.schema.names)))):
        covariate = study.schema.covariates[j]
        turn = draw(st.permutations(range(len(covariate.levels))))
        fresh = tuple(f"new {k}" for k in range(len(covariate.levels)))
        covariates.append(Covariate(covariate.name, fresh))
        old_names[covariate.name] = {fresh[turn[k]]: level for k, level in enumerate(covariate.levels)}
        columns.append(np.array(turn, dtype=np.int32)[study.profiles[:, j]])
    profiles = np.stack(columns, axis=1) if columns else study.profiles
    order = draw(st.permutations(range(len(profiles))))
    observational = None if study.observational is None else study.observational[order]
    return Study.from_tables(
        Schema(tuple(covariates)), profiles[order], study.experimental[order], observational
    ), old_names
