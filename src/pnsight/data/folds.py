"""Folds for cross-validation that split no cluster and no row, however much it weighs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.sampled_rows import INDEPENDENT, SampledRows, group_of_cell
from pnsight.data.structure import Structure

N_FOLDS = 4
"""Folds that the rows are dealt into."""

_SEED = 0


def deal_folds(
    structure: Structure, profiles: int, tables: Mapping[str, SampledRows], folds: int = N_FOLDS, seed: int = _SEED
) -> FloatArray:
    """Deal whole clusters, or whole rows where there are none, into folds.

    Rows are dealt independently of each other: dealing those of a cell evenly would make each fold look like the others
    by more than chance does. Clusters are dealt by size and by the group that most of their rows are in, so that folds
    have about equally many of each arm, with no regard to outcomes.

    Parameters
    ----------
    structure
        The cells of both tables.
    profiles
        How many profiles there are.
    tables
        By name, rows in the order of `SampledRows.in_order`.
    folds
        How many folds.
    seed
        Of all randomness.

    Returns
    -------
    Shape (folds, profiles, cells + sets): counts that add up to those of the tables.
    """
    rng = np.random.default_rng(seed)
    fold_of = _deal_clusters(structure, tables, folds, rng)
    found = np.zeros((folds, profiles, structure.n_columns))
    for name, rows in tables.items():
        columns = structure.all_columns_of(name)
        dealt = np.zeros((len(rows.rows), folds))
        dealt[rows.independent] = _deal_rows(rows.rows[rows.independent], folds, rng)
        held = np.flatnonzero(~rows.independent)
        dealt[held, fold_of[rows.cluster[held]]] = rows.rows[held]
        for fold in range(folds):
            counted = rows.summed(dealt[:, fold] * rows.weight, profiles, len(columns))
            found[fold][:, columns] = counted
    return found


def _deal_clusters(
    structure: Structure, tables: Mapping[str, SampledRows], folds: int, rng: np.random.Generator
) -> IndexArray:
    """The fold of each cluster, the same in both tables."""
    clusters = 1 + max(int(rows.cluster.max(initial=INDEPENDENT)) for rows in tables.values())
    size = np.zeros((clusters, len(structure.groups)))
    for name, rows in tables.items():
        held = rows.take(~rows.independent)
        np.add.at(size, (held.cluster, group_of_cell(structure, name)[held.cell]), held.counted)
    shuffled = rng.permutation(len(size))
    order = shuffled[np.lexsort((-size.sum(axis=1)[shuffled], size.argmax(axis=1)[shuffled]))]
    rounds = -(-len(order) // folds)
    fold_of = np.empty(len(order), dtype=np.intp)
    fold_of[order] = np.argsort(rng.random((rounds, folds)), axis=1).ravel()[: len(order)]
    return fold_of


def _deal_rows(rows: FloatArray, folds: int, rng: np.random.Generator) -> FloatArray:
    """How many of each entry's rows go to each fold, shape (entries, folds); a part of a row goes with one of them."""
    whole = np.floor(rows)
    dealt = rng.multinomial(whole.astype(np.int64), np.full(folds, 1 / folds)).astype(np.float64)
    dealt[np.arange(len(rows)), rng.integers(folds, size=len(rows))] += rows - whole
    return dealt
