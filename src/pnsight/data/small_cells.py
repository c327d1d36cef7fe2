"""Small cells: which profiles of a table are withheld, so that no small count is shown or left over.

Primary suppression: a profile with a small count in any cell of a table is withheld from that table whole, so that no
sum of what is shown, and no difference of such sums, contains a part of it. Complementary suppression: the table's
totals may be known from elsewhere. What is missing in the total of a cell must itself be no small count, so further
profiles are withheld, those with fewest people in all tables first: then mostly the same ones in each.
Source: L. Willenborg and T. de Waal (2001), "Elements of Statistical Disclosure Control", chapter 6.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import BoolArray, FloatArray


def withheld_profiles(people: FloatArray, sizes: FloatArray, min_cell: int) -> BoolArray:
    """Which profiles of a table are withheld.

    Parameters
    ----------
    people : shape (profiles, cells)
        How many people of the table are in each cell.
    sizes : shape (profiles,)
        How many people each profile has in all tables.
    min_cell
        Counts from 1 to below this are small.

    Returns
    -------
    Shape (profiles,). What is withheld of a cell is nobody, everybody, or at least `min_cell` people.
    """
    hidden = np.asarray(_is_small(people, min_cell).any(axis=1))
    before = -1
    while hidden.sum() > before:  # what is withheld for one cell is missing in others too
        before = int(hidden.sum())
        for cell in np.flatnonzero(_is_small(people[hidden].sum(axis=0), min_cell)):
            _complement(hidden, people[:, cell], sizes, min_cell)
    return hidden


def _is_small(people: FloatArray, min_cell: int) -> BoolArray:
    return np.asarray((people > 0) & (people < min_cell))


def _complement(hidden: BoolArray, people: FloatArray, sizes: FloatArray, min_cell: int) -> None:
    """Withhold profiles until enough people of a cell, shape (profiles,), are withheld."""
    others = np.flatnonzero(~hidden & (people > 0))
    fewest_first = others[np.argsort(sizes[others], kind="stable")]
    lacking = min_cell - people[hidden].sum()
    enough = 1 + int(np.searchsorted(np.cumsum(people[fewest_first]), lacking))
    hidden[fewest_first[: enough if lacking > 0 else 0]] = True
