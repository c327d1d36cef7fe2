"""Seconds per training epoch: pnsight against a plain PyTorch loop, one thread each, measured in turns.

Two networks 30-64-32-16-1 on 25,000 one-hot rows in batches of 4096. PyTorch trains them one after the other, as its
users would; pnsight trains them together. Both times leave out compilation and validation.

    pip install torch==2.13.0
    python experiments/benchmarks/training_speed.py
"""

from __future__ import annotations

import os

# Before JAX starts: its thread pool has as many threads as this says.
os.environ["NPROC"] = "1"

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pnsight._typing import Float32Array
from pnsight.models.bound_networks.train_jax import LabelledInputs, TrainingProtocol, train_networks

try:
    import torch
except ImportError:
    sys.exit("This comparison needs PyTorch, which pnsight itself does not. Install it with: pip install torch==2.13.0")

COVARIATES, NETWORKS, HIDDEN, BATCH, LEARNING_RATE = 10, 2, (64, 32, 16), 4096, 1e-3
WARM_UP = 2


def random_rows(rows: int) -> tuple[Float32Array, Float32Array]:
    """Return one-hot inputs (rows, 30) and targets (rows, 2)."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, (rows, COVARIATES))
    inputs = np.eye(3, dtype=np.float32)[levels].reshape(rows, -1)
    return inputs, rng.random((rows, NETWORKS), dtype=np.float32)


def pnsight_seconds(inputs: Float32Array, targets: Float32Array, epochs: int) -> float:
    """Return seconds per epoch of both networks together: the second of two equal rounds of training."""
    ends: list[float] = []
    train_networks(
        LabelledInputs(inputs, targets),
        LabelledInputs(inputs[:1], targets[:1]),
        seed=0,
        hidden=HIDDEN,
        protocol=TrainingProtocol(LEARNING_RATE, BATCH, epochs=2 * epochs, validate_every=epochs),
        progress=lambda *_: ends.append(time.perf_counter()),
    )
    return (ends[1] - ends[0]) / epochs


def pytorch_seconds(inputs: Float32Array, targets: Float32Array, epochs: int) -> float:
    """Return seconds per epoch of both networks together."""
    tensors = torch.from_numpy(inputs)
    return sum(_pytorch_network_seconds(tensors, torch.from_numpy(column), epochs) for column in targets.T.copy())


def _pytorch_network_seconds(inputs: Any, targets: Any, epochs: int) -> float:
    network = _pytorch_network(inputs.shape[1])
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    _pytorch_epochs(network, optimiser, inputs, targets[:, None], WARM_UP)
    start = time.perf_counter()
    _pytorch_epochs(network, optimiser, inputs, targets[:, None], epochs)
    return (time.perf_counter() - start) / epochs


def _pytorch_network(width: int) -> Any:
    layers: list[Any] = []
    for units in HIDDEN:
        layers += [torch.nn.Linear(width, units), torch.nn.Mish()]
        width = units
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 1), torch.nn.Sigmoid())


def _pytorch_epochs(network: Any, optimiser: Any, inputs: Any, targets: Any, epochs: int) -> None:
    loss = torch.nn.MSELoss()
    for _ in range(epochs):
        order = torch.randperm(len(inputs))
        for start in range(0, len(inputs), BATCH):
            rows = order[start : start + BATCH]
            optimiser.zero_grad()
            loss(network(inputs[rows]), targets[rows]).backward()
            optimiser.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=25_000)
    parser.add_argument("--epochs", type=int, default=20, help="epochs per measurement")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each, in turns")
    given = parser.parse_args()
    torch.set_num_threads(1)
    inputs, targets = random_rows(given.rows)
    measured: dict[str, list[float]] = {"pnsight": [], "PyTorch": []}
    measures: dict[str, Callable[[Float32Array, Float32Array, int], float]]
    measures = {"pnsight": pnsight_seconds, "PyTorch": pytorch_seconds}
    print(f"{given.rows} rows, {NETWORKS} networks, batches of {BATCH}, one thread; seconds per epoch")
    for turn in range(given.rounds):
        for name, measure in measures.items():
            measured[name].append(measure(inputs, targets, given.epochs))
        print(f"turn {turn + 1}: " + "  ".join(f"{name} {times[-1]:.4f}" for name, times in measured.items()))
    ours, theirs = (statistics.median(measured[name]) for name in measures)
    print(f"median: pnsight {ours:.4f}  PyTorch {theirs:.4f}  ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
