"""Reconciling a query's law with its own rows: the more rows a group has itself, the more they count for it.

For each group of cells there are two estimates of a query's shares: the model's, whose error is expected to be `error`,
and what the query's own rows say, whose sampling error is known. They are compared at the same profiles, so that it
does not matter whose mix of people is asked for: the rows' mean residual is added to the model's answer, with a weight.
The two errors are not independent, as the model was fitted to the same rows; so the weight goes by fourth powers, close
to one or zero, and the mean is taken to be as good as the better of the two. The result must be a law that some
population has. Where it is not, the observational shares give way first: rows that were randomised are not bent by rows
that were chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import Structure
from pnsight.estimands.compiled import coherence_terms
from pnsight.models.response_types.law_errors import MIN_SPREAD
from pnsight.models.response_types.shrinkage import types_of_law

_NOTICED_AT_SE = 3.0
"""Standard errors by which own rows may differ from the model before they are believed more than it expects."""

_MIN_NOTICED_ROWS = 100
"""Fewer rows of a query are no reason to think that the model is further off than expected: they are too noisy."""

_LIKELY_PART = 0.4
"""Part of the expected squared error that the weight of own rows goes by: intervals are made for the worse half of
queries, while weights are best for most."""

_MIN_ERROR = 1e-12
_ROUNDING = 1e-9


class Reconciled(NamedTuple):
    """Laws of queries, shape (queries, cells), the effective rows of each group (queries, groups), and the weight that
    a query's own rows have in it, likewise.
    """

    law: FloatArray
    rows: FloatArray
    own_weight: FloatArray


def reconcile(
    law: FloatArray, error: FloatArray, own_rows: FloatArray, residual: FloatArray, structure: Structure
) -> Reconciled:
    """Weigh the model's law of each query against the query's own rows.

    Parameters
    ----------
    law : shape (queries, cells)
        The model's law.
    error : shape (queries, groups)
        Expected relative error of its shares.
    own_rows : shape (queries, groups)
        Effective rows of the query in each group.
    residual : shape (queries, cells)
        What the rows show beyond what the model says of their profiles, in rows.
    structure
        Layout of the cells.

    Returns
    -------
    Laws that are as coherent as the model's.
    """
    model, sampling = np.maximum(error, _MIN_ERROR) ** 2, 1 / np.maximum(own_rows, _MIN_ERROR)
    cells = structure.for_cells(own_rows)
    beyond = np.divide(residual, cells, out=np.zeros_like(residual), where=cells > 0)
    spread = np.maximum(structure.by_group(law * (1 - law)), MIN_SPREAD)
    noticed = structure.by_group(beyond**2) / spread - _NOTICED_AT_SE**2 * sampling
    model = np.where(own_rows >= _MIN_NOTICED_ROWS, np.maximum(model, noticed), model)
    likely = _LIKELY_PART * model
    weight = np.where(own_rows > 0, likely**2 / (likely**2 + sampling**2), 0.0)
    by_cell = structure.for_cells(weight)
    mean = (1 - by_cell) * law + by_cell * np.clip(law + beyond, 0.0, 1.0)  # no share that the model has is lost
    found = mean / structure.for_cells(structure.by_group(mean))
    return Reconciled(_possible(found, structure), 1 / np.minimum(model, sampling), weight)


def _possible(law: FloatArray, structure: Structure) -> FloatArray:
    """The law, or where no population has it the nearest that one has."""
    wrong = np.flatnonzero((coherence_terms(structure)(Law(structure, law)) < -_ROUNDING).any(axis=0))
    if not len(wrong):
        return law
    even = np.full((len(wrong), structure.n_types), 1 / structure.n_types)
    found = law.copy()
    found[wrong] = structure.cell_probabilities(types_of_law(even, law[wrong], structure))
    return found
