"""Pairs of regressors, one for each end of the bounds: the paper's networks, or any of scikit-learn's.

JAX and scikit-learn are loaded only where something is trained; a stored pair of networks answers with NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress
from pnsight._typing import FloatArray
from pnsight.models.mlp_numpy import Activation, Layers, predict

if TYPE_CHECKING:
    from pnsight.models.bound_networks.train_jax import History, LabelledInputs

Inputs = npt.NDArray[np.float32]
"""One-hot queries, shape (queries, channels)."""


class BoundPredictor(Protocol):
    """Two fitted regressors."""

    def predict(self, inputs: Inputs) -> FloatArray:
        """Lower and upper end, shape (queries, 2)."""


@dataclass(frozen=True)
class NetworkPair:
    """A trained network for each end, and the epochs at which they were kept."""

    networks: tuple[Layers, ...]
    activation: Activation
    best_epochs: tuple[int, ...]

    def predict(self, inputs: Inputs) -> FloatArray:
        """Lower and upper end, shape (queries, 2)."""
        ends = [predict(layers, inputs, self.activation) for layers in self.networks]
        return np.stack(ends, axis=1).astype(np.float64)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Weights and biases by a name that says end and layer."""
        return {
            f"{end}.{layer}.{part}": values
            for end, layers in enumerate(self.networks)
            for layer, pair in enumerate(layers)
            for part, values in zip(("weights", "bias"), pair, strict=True)
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], activation: Activation, best_epochs: tuple[int, ...]
    ) -> NetworkPair:
        """The pair that `arrays` described."""
        depth = len(arrays) // 4
        networks = tuple(
            tuple((arrays[f"{end}.{layer}.weights"], arrays[f"{end}.{layer}.bias"]) for layer in range(depth))
            for end in range(2)
        )
        return cls(networks, activation, best_epochs)


@dataclass(frozen=True)
class RegressorPair:
    """A fitted scikit-learn regressor for each end."""

    lower: Any
    upper: Any

    def predict(self, inputs: Inputs) -> FloatArray:
        """Lower and upper end, clipped to [0, 1], shape (queries, 2)."""
        ends = np.stack([self.lower.predict(inputs), self.upper.predict(inputs)], axis=1)
        return np.asarray(np.clip(ends, 0.0, 1.0), dtype=np.float64)


def fit_regressors(regressor: Any, inputs: Inputs, ends: FloatArray) -> RegressorPair:
    """Fit a fresh copy of a scikit-learn regressor to each end.

    Parameters
    ----------
    regressor : scikit-learn regressor
        What to copy.
    inputs : array of shape (queries, channels)
        One-hot queries.
    ends : array of shape (queries, 2)
        Lower and upper bound.

    Returns
    -------
    RegressorPair
    """
    from sklearn.base import clone

    lower, upper = (clone(regressor).fit(inputs, ends[:, end]) for end in range(2))
    return RegressorPair(lower, upper)


def fit_networks(
    training: tuple[Inputs, FloatArray],
    validation: tuple[Inputs, FloatArray],
    *,
    hidden: tuple[int, ...],
    activation: Activation,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    progress: Progress,
    monitors: Mapping[str, LabelledInputs] | None = None,
) -> tuple[NetworkPair, History]:
    """Train both networks together, keeping each at its best validation error (early stopping).

    Parameters
    ----------
    training, validation : tuple of arrays of shape (queries, channels) and (queries, 2)
        One-hot queries with their lower and upper bound.
    hidden : tuple of int
        Units of each hidden layer.
    activation : {"mish", "relu"}
        Of the hidden layers.
    epochs, batch_size : int
        How long to train, and how many queries make a step.
    learning_rate : float
        Of Adam.
    seed : int
        Of the first weights and the batches.
    progress : Progress
        Called after each validation.
    monitors : mapping of str to LabelledInputs
        Further labelled inputs whose error is recorded.

    Returns
    -------
    pair : NetworkPair
    history : History
    """
    from pnsight.models.bound_networks.train_jax import LabelledInputs, TrainingProtocol, train_networks

    def report(epoch: int, total: int, training_mse: Any, validation_mse: Any) -> None:
        progress(epoch, total, f"validation error {float(np.sqrt(validation_mse.mean())):.4f}")

    trained = train_networks(
        LabelledInputs(*training),
        LabelledInputs(*validation),
        seed=seed,
        hidden=hidden,
        activation=activation,
        protocol=TrainingProtocol(learning_rate, batch_size, epochs),
        monitors=monitors,
        progress=report,
    )
    best = tuple(int(epoch) for epoch in trained.best_epoch)
    return NetworkPair(trained.networks, trained.activation, best), trained.history
