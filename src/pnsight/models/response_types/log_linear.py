"""A network without hidden layers, fitted to known distributions over the types: multinomial logistic regression.

Random effects say something of every profile, but profiles may be too many to list. Those that were not counted are
left to the log-linear law that is nearest to what random effects say of those that were.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import Float32Array, FloatArray
from pnsight.models.mlp_numpy import Layers

_RIDGE = 1.0
"""Precision of the normal prior of each weight, in rows; intercepts are free."""

_MIN_SHARE = 1e-6
_MAX_ITERATIONS = 200


def fit_log_linear(inputs: Float32Array, types: FloatArray, rows: FloatArray) -> Layers:
    """The network whose distributions have the least divergence from those of profiles, by their rows.

    Parameters
    ----------
    inputs : array of shape (profiles, columns)
        Profiles as networks see them.
    types : array of shape (profiles, types)
        What the network should say of them.
    rows : array of shape (profiles,)
        How much each counts.

    Returns
    -------
    Layers
        One layer; its mean over the rows is that of the types.
    """
    from scipy.optimize import minimize

    design = np.column_stack([inputs, np.ones(len(inputs))]).astype(np.float64)
    ridge = _RIDGE * np.append(np.ones(inputs.shape[1]), 0.0)

    def loss_and_gradient(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(types.shape[1], -1)
        logs = _log_softmax(design @ weights.T)
        loss = -(rows @ (types * logs).sum(axis=1)) + (ridge * weights**2).sum() / 2
        gradient = (rows[:, None] * (np.exp(logs) - types)).T @ design + ridge * weights
        return float(loss), gradient.ravel()

    start = np.zeros((types.shape[1], design.shape[1]))
    start[:, -1] = np.log(np.maximum(rows @ types / rows.sum(), _MIN_SHARE))
    found = minimize(
        loss_and_gradient, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _MAX_ITERATIONS}
    )
    weights = found.x.reshape(start.shape).astype(np.float32)
    # Laid out as a stored network is when it is read, so that its sums are the same to the last digit.
    return ((np.ascontiguousarray(weights[:, :-1]), np.ascontiguousarray(weights[:, -1])),)


def _log_softmax(values: FloatArray) -> FloatArray:
    shifted = values - values.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
