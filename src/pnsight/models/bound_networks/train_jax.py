"""Train several small networks of one architecture together, each to its own target.

All networks see the same inputs in the same order; weights say which rows count for which network. Rows are padded
to few different shapes, so that data of different sizes share compiled code; padding costs no time, because the loops
inside run over real rows only.

XLA uses every core it sees. To hold training to one thread, set the environment variable ``NPROC=1`` before the first
JAX computation of the process. (The flags ``xla_cpu_multi_thread_eigen=false`` and ``intra_op_parallelism_threads=1``,
often recommended for this, do not keep current versions to one thread.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import ArrayLike, NDArray

from pnsight._typing import Float32Array
from pnsight.models.mlp_jax import Parameters, initialise, predict
from pnsight.models.mlp_numpy import Activation, Layers

T = TypeVar("T")

BLOCK = 512
"""Rows per step of the innermost loop: their hidden values stay in the processor's cache."""

EPOCHS_PER_CALL = 10
"""Epochs per call of compiled code, whose orders of the rows are held in memory together."""

MIN_PADDED_ROWS = 4096
"""Data are padded to this many rows, and beyond it to a power of two."""

Progress = Callable[[int, int, Float32Array, Float32Array], None]
"""Called after each validation with epoch, epochs, training MSE (K,) and validation MSE (K,)."""


@dataclass(frozen=True)
class LabelledInputs:
    """Inputs with the targets of K networks.

    `inputs` are (n, p), `targets` (n, K). `weights`, (n, K), say how much each row counts for each network: zero hides
    it from that network, whatever its target; None means one everywhere.
    """

    inputs: ArrayLike
    targets: ArrayLike
    weights: ArrayLike | None = None


@dataclass(frozen=True)
class TrainingProtocol:
    """How to train; the defaults are the paper's. The last epoch is validated even if it ends a shorter round."""

    learning_rate: float = 1e-3
    batch_size: int = 4096
    epochs: int = 2000
    validate_every: int = 10


PAPER = TrainingProtocol()


@dataclass(frozen=True)
class History:
    """What each of v validations found, for the networks as they were then rather than the best so far.

    `epochs` is (v,); the errors are (v, K). `train_mse` is the running mean over the epoch that had just ended;
    `monitor_mae` the mean absolute error on each monitor.
    """

    epochs: NDArray[np.int64]
    train_mse: Float32Array
    validation_mse: Float32Array
    monitor_mae: Mapping[str, Float32Array]


@dataclass(frozen=True)
class TrainedNetworks:
    """K networks, each as it was when its own validation MSE was lowest, and how they came there.

    `best_epoch` is (K,); it is 0, and the network untrained, if no validation MSE was finite.
    """

    networks: tuple[Layers, ...]
    activation: Activation
    best_epoch: NDArray[np.int64]
    history: History


class _Table(NamedTuple):
    """Padded data: inputs (rows, p), targets (rows, K), weights (rows, K), and the number of real rows ()."""

    inputs: jax.Array
    targets: jax.Array
    weights: jax.Array
    real: jax.Array


class _Learner(NamedTuple):
    """K networks in training; every array has a leading axis K."""

    parameters: Parameters
    optimiser_state: Any


class _Checkpoint(NamedTuple):
    """One network as it was after some epoch, and its validation MSE then."""

    network: Layers
    mse: float
    epoch: int


class _Seen(NamedTuple):
    """One entry of the history."""

    epoch: int
    train_mse: Float32Array
    validation_mse: Float32Array
    monitor_mae: dict[str, Float32Array]


def train_networks(
    training: LabelledInputs,
    validation: LabelledInputs,
    *,
    seed: int,
    hidden: Sequence[int] = (64, 32, 16),
    activation: Activation = "mish",
    protocol: TrainingProtocol = PAPER,
    monitors: Mapping[str, LabelledInputs] | None = None,
    progress: Progress | None = None,
) -> TrainedNetworks:
    """Train one network for each column of the targets, by mean squared error with Adam and early stopping.

    The same arguments on the same machine give the same answer, bit for bit.

    Parameters
    ----------
    training, validation : LabelledInputs
        Rows to train on, and rows that say which epoch to keep.
    seed : int
        Of the first weights and the batches.
    hidden : sequence of int
        Units of each hidden layer.
    activation : {"mish", "relu"}
        Of the hidden layers.
    protocol : TrainingProtocol
        Learning rate, batch size and epochs.
    monitors : mapping of str to LabelledInputs
        Further labelled inputs whose mean absolute error is recorded at every validation; they do not influence
        training.
    progress : callable
        Called after each validation.

    Returns
    -------
    TrainedNetworks
    """
    _validate_protocol(protocol)
    table = _table("training", training)
    held_out = _table("validation", validation, like=table)
    watched = {name: _table(f"monitor {name!r}", data, like=table) for name, data in (monitors or {}).items()}
    fresh = _start(jax.random.key(seed), (table.inputs.shape[1], *hidden, 1), table.targets.shape[1])
    best = [_Checkpoint(network, np.inf, 0) for network in _unstacked(fresh.parameters)]
    seen: list[_Seen] = []
    for epoch, learner, train_mse in _validated_epochs(fresh, table, activation, protocol, seed):
        mse = np.asarray(_errors(learner.parameters, held_out, activation)[0])
        best = _better(best, _unstacked(learner.parameters), mse, epoch)
        mae = {name: np.asarray(_errors(learner.parameters, data, activation)[1]) for name, data in watched.items()}
        seen.append(_Seen(epoch, np.asarray(train_mse), mse, mae))
        if progress is not None:
            progress(epoch, protocol.epochs, seen[-1].train_mse, mse)
    networks, best_epochs = tuple(point.network for point in best), np.array([point.epoch for point in best])
    return TrainedNetworks(networks, activation, best_epochs, _history(seen))


# --- training ------------------------------------------------------------------------------------------------------


def _validated_epochs(
    learner: _Learner, table: _Table, activation: Activation, protocol: TrainingProtocol, seed: int
) -> Iterator[tuple[int, _Learner, jax.Array]]:
    """Train, stopping at each epoch to validate: its number, the networks, the training MSE (K,)."""
    rng = np.random.default_rng(seed)
    train = partial(_train, batch_size=protocol.batch_size, learning_rate=protocol.learning_rate, activation=activation)
    done = 0
    for stop in (*range(protocol.validate_every, protocol.epochs, protocol.validate_every), protocol.epochs):
        while done < stop:
            epochs = min(EPOCHS_PER_CALL, stop - done)
            learner, mse = train(learner, table, _orders(rng, table, epochs), epochs)
            done += epochs
        yield done, learner, mse


def _orders(rng: np.random.Generator, table: _Table, epochs: int) -> NDArray[np.int32]:
    """A fresh order of the real rows for each epoch, shape (EPOCHS_PER_CALL, rows); the rest is never read.

    Drawn in NumPy, because sorting random numbers in XLA would take a third of the time of an epoch.
    """
    orders = np.zeros((EPOCHS_PER_CALL, len(table.inputs)), dtype=np.int32)
    real = int(table.real)
    for order in orders[:epochs]:
        order[:real] = rng.permutation(real)
    return orders


@partial(jax.jit, static_argnames="activation")
def _train(
    learner: _Learner,
    table: _Table,
    orders: jax.Array,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    activation: Activation,
) -> tuple[_Learner, jax.Array]:
    """Train for some epochs, each in its own order; return the training MSE (K,) of the last one too."""
    update = jax.vmap(partial(_updated, optax.adam(learning_rate)))

    def epoch(index: jax.Array, state: tuple[_Learner, jax.Array]) -> tuple[_Learner, jax.Array]:
        return _train_epoch(state[0], table, orders[index], batch_size, update, activation)

    return _loop(epochs, epoch, (learner, _zeros(table)))


def _train_epoch(
    learner: _Learner,
    table: _Table,
    order: jax.Array,
    batch_size: int,
    update: Callable[[_Learner, jax.Array, Parameters], _Learner],
    activation: Activation,
) -> tuple[_Learner, jax.Array]:
    """Update once per batch of consecutive places in `order` (rows,); the last batch may be smaller."""

    def batch(index: jax.Array, state: tuple[_Learner, jax.Array, jax.Array]) -> tuple[_Learner, jax.Array, jax.Array]:
        learner, weight, error = state
        start = index * batch_size
        terms = partial(_loss_terms, learner.parameters, activation)
        weight_here, error_here, gradient = _summed(terms, table, order, start, start + batch_size)
        return update(learner, weight_here, gradient), weight + weight_here, error + error_here

    batches = _rounded_up(table.real, batch_size)
    learner, weight, error = _loop(batches, batch, (learner, _zeros(table), _zeros(table)))
    return learner, error / weight


def _updated(
    optimiser: optax.GradientTransformation, learner: _Learner, weight: jax.Array, gradient: Parameters
) -> _Learner:
    """One network after a batch of total weight () and summed gradient; unchanged if no row of the batch is its own."""
    mean = jax.tree.map(lambda total: total / jnp.where(weight > 0, weight, 1), gradient)
    updates, state = optimiser.update(mean, learner.optimiser_state)
    moved = _Learner(optax.apply_updates(learner.parameters, updates), state)
    return _where(weight > 0, moved, learner)


# --- sums over rows ------------------------------------------------------------------------------------------------


def _loss_terms(
    parameters: Parameters, activation: Activation, inputs: jax.Array, targets: jax.Array, weights: jax.Array
) -> tuple[jax.Array, jax.Array, Parameters]:
    """Summed over rows for each network: weight (K,), squared error (K,) and its gradient."""

    def squared_error(parameters: Parameters, targets: jax.Array, weights: jax.Array) -> jax.Array:
        return jnp.sum(weights * (predict(parameters, inputs, activation) - targets) ** 2)

    error, gradient = jax.vmap(jax.value_and_grad(squared_error), in_axes=(0, 1, 1))(parameters, targets, weights)
    return weights.sum(axis=0), error, gradient


def _error_terms(
    parameters: Parameters, activation: Activation, inputs: jax.Array, targets: jax.Array, weights: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Summed over rows for each network: weight, squared error and absolute error, each (K,)."""
    predict_each = jax.vmap(partial(predict, activation=activation), in_axes=(0, None), out_axes=1)
    error = predict_each(parameters, inputs) - targets
    return weights.sum(axis=0), (weights * error**2).sum(axis=0), (weights * jnp.abs(error)).sum(axis=0)


@partial(jax.jit, static_argnames="activation")
def _errors(parameters: Parameters, table: _Table, activation: Activation) -> tuple[jax.Array, jax.Array]:
    """Mean squared and mean absolute error of each network, both (K,)."""
    order = jnp.arange(len(table.inputs))
    terms = partial(_error_terms, parameters, activation)
    weight, squared, absolute = _summed(terms, table, order, jnp.int32(0), table.real)
    return squared / weight, absolute / weight


def _summed(
    terms: Callable[[jax.Array, jax.Array, jax.Array], T],
    table: _Table,
    order: jax.Array,
    start: jax.Array,
    stop: jax.Array,
) -> T:
    """Add up `terms(inputs, targets, weights)` over the real rows at places `start` to `stop` of `order`."""
    stop = jnp.minimum(stop, table.real)

    def block(index: jax.Array | int) -> T:
        places = start + index * BLOCK + jnp.arange(BLOCK)
        rows = order[places]
        weights = jnp.where((places < stop)[:, None], table.weights[rows], 0)
        return terms(table.inputs[rows], table.targets[rows], weights)

    def add(index: jax.Array, sums: T) -> T:
        return cast(T, jax.tree.map(jnp.add, sums, block(index)))

    nothing: T = jax.tree.map(lambda term: jnp.zeros(term.shape, term.dtype), jax.eval_shape(block, 0))
    return _loop(_rounded_up(stop - start, BLOCK), add, nothing)


def _loop(times: jax.Array | int, body: Callable[[jax.Array, T], T], state: T) -> T:
    """Run `body` a number of times that compiled code need not know: it may differ from call to call."""
    return cast(T, jax.lax.fori_loop(0, times, body, state))


def _where(condition: jax.Array, chosen: T, otherwise: T) -> T:
    """One of two trees of arrays."""
    return cast(T, jax.tree.map(lambda a, b: jnp.where(condition, a, b), chosen, otherwise))


def _rounded_up(numerator: jax.Array, denominator: int) -> jax.Array:
    """The quotient, rounded up to a whole number."""
    return (numerator + denominator - 1) // denominator


def _zeros(table: _Table) -> jax.Array:
    """One zero for each network, shape (K,)."""
    return jnp.zeros(table.targets.shape[1], jnp.float32)


# --- beginning and end ---------------------------------------------------------------------------------------------


@partial(jax.jit, static_argnames=("sizes", "networks"))
def _start(key: jax.Array, sizes: tuple[int, ...], networks: int) -> _Learner:
    """Fresh networks. Each has its own key, so its first weights do not depend on how many there are."""
    keys = jax.vmap(partial(jax.random.fold_in, key))(jnp.arange(networks))
    parameters = jax.vmap(partial(initialise, sizes=sizes))(keys)
    # Adam's state does not depend on the learning rate.
    return _Learner(parameters, jax.vmap(optax.adam(0.0).init)(parameters))


def _unstacked(parameters: Parameters) -> list[Layers]:
    """Networks with a leading axis K as K networks in NumPy."""
    stacked = [(np.asarray(weights), np.asarray(bias)) for weights, bias in parameters]
    return [tuple((weights[k], bias[k]) for weights, bias in stacked) for k in range(len(stacked[0][0]))]


def _better(best: list[_Checkpoint], networks: list[Layers], mse: Float32Array, epoch: int) -> list[_Checkpoint]:
    """Per network, this epoch's if its MSE is lower, else the best so far."""
    now = [_Checkpoint(network, float(mse[k]), epoch) for k, network in enumerate(networks)]
    return [new if new.mse < old.mse else old for new, old in zip(now, best, strict=True)]


def _history(seen: Sequence[_Seen]) -> History:
    return History(
        epochs=np.array([entry.epoch for entry in seen], dtype=np.int64),
        train_mse=np.stack([entry.train_mse for entry in seen]),
        validation_mse=np.stack([entry.validation_mse for entry in seen]),
        monitor_mae={name: np.stack([entry.monitor_mae[name] for entry in seen]) for name in seen[0].monitor_mae},
    )


# --- at the edge ---------------------------------------------------------------------------------------------------


def _table(name: str, data: LabelledInputs, like: _Table | None = None) -> _Table:
    """The data as float32 and padded; targets that weigh nothing may be NaN and become zero."""
    inputs, targets = np.asarray(data.inputs, np.float32), np.asarray(data.targets, np.float32)
    weights = np.ones_like(targets) if data.weights is None else np.asarray(data.weights, np.float32)
    _validate_shapes(name, inputs, targets, weights, like)
    targets = np.where(weights > 0, targets, np.float32(0))
    _validate_values(name, inputs, targets, weights)
    real, rows = len(inputs), _padded_rows(len(inputs))
    inputs, targets, weights = (np.pad(array, ((0, rows - real), (0, 0))) for array in (inputs, targets, weights))
    return _Table(jnp.asarray(inputs), jnp.asarray(targets), jnp.asarray(weights), jnp.int32(real))


def _padded_rows(count: int) -> int:
    """MIN_PADDED_ROWS or the next power of two."""
    return max(MIN_PADDED_ROWS, 1 << (count - 1).bit_length())


def _validate_protocol(protocol: TrainingProtocol) -> None:
    for name in ("batch_size", "epochs", "validate_every"):
        if getattr(protocol, name) < 1:
            raise ValueError(f"{name} is {getattr(protocol, name)}; give a whole number of at least 1.")


def _validate_shapes(
    name: str, inputs: Float32Array, targets: Float32Array, weights: Float32Array, like: _Table | None
) -> None:
    given = f"{name} inputs have shape {inputs.shape}, targets {targets.shape}, weights {weights.shape}"
    if inputs.ndim != 2 or targets.ndim != 2 or len(inputs) != len(targets) or weights.shape != targets.shape:
        raise ValueError(f"{given}; expected (n, p), (n, K) and (n, K).")
    if like is not None and (inputs.shape[1], targets.shape[1]) != (like.inputs.shape[1], like.targets.shape[1]):
        raise ValueError(f"{given}; training has p = {like.inputs.shape[1]} and K = {like.targets.shape[1]}.")


def _validate_values(name: str, inputs: Float32Array, targets: Float32Array, weights: Float32Array) -> None:
    if not (np.isfinite(inputs).all() and np.isfinite(targets).all() and np.isfinite(weights).all()):
        raise ValueError(f"{name} has a NaN or infinite value; only a target that weighs nothing may be one.")
    if (weights < 0).any():
        raise ValueError(f"{name} has a weight of {weights.min()}; weights are zero or more.")
    empty = np.flatnonzero(weights.sum(axis=0) <= 0)
    if len(empty):
        raise ValueError(f"{name} has no row for network {empty[0]} of {weights.shape[1]}; each network needs one.")
