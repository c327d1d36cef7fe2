"""Design effect: what unequal weights and clusters leave of the rows' information.

The variance of a share is linearised: every cluster is resampled whole, and contributes the square of its weighted
deviations, summed. Divided by the variance that as many independent rows of equal weight would have, that is the design
effect; rows divided by it are the effective rows.
Sources: L. Kish (1965), "Survey Sampling", for the effective rows of unequal weights, (sum w)^2 / sum w^2;
K.-Y. Liang and S. L. Zeger (1986), "Longitudinal data analysis using generalized linear models", for the variance with
clusters.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.sampled_rows import SampledRows, sum_by

_ROUNDING = 1e-9


def row_worth(rows: SampledRows, category: IndexArray, side: IndexArray | None = None) -> float:
    """How many independent rows a counted row is worth, for shares of categories or for their difference of two sides.

    The variance of the shares, or of their differences between two sides that are alike, is added up over the
    categories and divided by that of as many independent rows of equal weight. Clusters are resampled whole. The
    variance is taken to be no smaller than with the weights alone (Kish), nor than that of the rows that were read: a
    design effect below one is mostly noise.

    Parameters
    ----------
    rows
        The entries.
    category : shape (entries,)
        Which category each is in.
    side : shape (entries,), or None
        The side that each is on, where two are compared; None for one side.

    Returns
    -------
    Effective rows over counted rows. Where everybody is in one category nothing shows how alike the people of a cluster
    are, and a cluster is worth one row; so is a single cluster.
    """
    side = np.zeros(len(rows.rows), np.intp) if side is None else np.unique(side, return_inverse=True)[1]
    counted = sum_by(side, rows.counted)
    as_read = float((1 / sum_by(side, rows.rows)).sum())
    weighted = float((sum_by(side, rows.rows * rows.weight**2) / counted**2).sum())
    clustered = 0.0 if rows.independent.all() else _cluster_variance(rows, category, side, counted)
    return float((1 / counted).sum()) / max(as_read, weighted, clustered)


def _cluster_variance(rows: SampledRows, category: IndexArray, side: IndexArray, counted: FloatArray) -> float:
    """The variance with clusters in units of share (1 - share), of which that of n independent rows is 1/n."""
    shares = sum_by(category, rows.counted) / counted.sum()
    spread = 1 - float((shares**2).sum())
    weight = rows.weight * np.where(side == 0, 1.0, -1.0) / counted[side]
    clusters, n = _n_clusters(rows), float(rows.rows.sum())
    if clusters > 1 and spread > _ROUNDING:
        factor = clusters / (clusters - 1) * (n - 1) / n  # one where each row is a cluster
        return factor * _robust_variance(rows, weight, category, shares) / spread
    return _robust_variance(rows, weight, np.zeros_like(category), np.zeros(1))  # as if a cluster's people were alike


def _n_clusters(rows: SampledRows) -> float:
    """Clusters, each row without one included."""
    return float(len(np.unique(rows.cluster[~rows.independent])) + rows.rows[rows.independent].sum())


def _robust_variance(rows: SampledRows, weight: FloatArray, category: IndexArray, shares: FloatArray) -> float:
    """Linearised variance, added up over categories: the sum over clusters of (sum of w (1[category] - share))^2.

    Here w is the weight over what is counted, and negative on the second side. What is the same for all rows of a
    cluster is not written out by category: (e - f)^2 = e^2 - 2 e f + f^2, and e is zero but in the cluster's own
    categories.
    """
    alone, among = rows.independent, float((shares**2).sum())
    by_itself = (rows.rows * weight**2 * (1 - 2 * shares[category] + among))[alone].sum()
    cluster = np.unique(rows.cluster[~alone], return_inverse=True)[1]
    kind, part = category[~alone], (rows.rows * weight)[~alone]
    totals = sum_by(cluster, part)
    own = sum_by(np.unique(cluster * len(shares) + kind, return_inverse=True)[1], part)
    crossed = (part * shares[kind] * totals[cluster]).sum()
    return float(by_itself + (own**2).sum() - 2 * crossed + (totals**2).sum() * among)
