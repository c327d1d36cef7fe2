"""What a trained network answers, in NumPy alone: asking a stored model does not have to load JAX."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pnsight._typing import Float32Array

Activation = Literal["mish", "relu"]

# One (weights, bias) pair a layer: weights (outputs, inputs) and bias (outputs,), as PyTorch keeps them.
Layers = tuple[tuple[Float32Array, Float32Array], ...]

Product = Callable[[Float32Array, Float32Array], Float32Array]

# Rows per step, so that the hidden values of a step stay in the processor's cache.
BLOCK = 1024

# Products of matrices with more multiplications than this may be shared out among threads, which for so little work
# takes several times as much processor time as it saves, most of all on a machine that is busy.
ONE_THREAD = 1 << 18

# Beyond this, mish(x) = x to the last bit of a float32, and its exponentials cannot overflow before it.
MISH_IS_IDENTITY_FROM = 20.0


def mish(x: Float32Array) -> Float32Array:
    """Return x tanh(log(1 + e^x)) with a single exponential, same shape as `x`.

    With n = e^x (e^x + 2), tanh(log(1 + e^x)) = n / (n + 2). (Misra 2019, arXiv:1908.08681.)
    """
    n = np.minimum(x, np.float32(MISH_IS_IDENTITY_FROM))
    np.exp(n, out=n)
    over = n + 2
    n *= over
    np.add(n, 2, out=over)
    n /= over
    n *= x
    return n


def relu(x: Float32Array) -> Float32Array:
    """Return the positive part of `x`."""
    return np.maximum(x, np.float32(0))


def sigmoid(x: Float32Array) -> Float32Array:
    """Return 1 / (1 + e^-x), through tanh because that cannot overflow."""
    half = np.float32(0.5)
    odd: Float32Array = np.tanh(half * x)
    return half + half * odd


ACTIVATIONS: dict[Activation, Callable[[Float32Array], Float32Array]] = {"mish": mish, "relu": relu}


def softmax(x: Float32Array) -> Float32Array:
    """Return e^x over its sum along the last axis."""
    largest = x[..., 0]
    for column in range(1, x.shape[-1]):  # of few columns, faster than along each row
        largest = np.maximum(largest, x[..., column])
    e = np.exp(x - largest[..., None])
    found: Float32Array = e / e.sum(axis=-1, keepdims=True)
    return found


def predict(layers: Layers, inputs: ArrayLike, activation: Activation = "mish") -> Float32Array:
    """Return the answers in (0, 1) of a network with one output.

    Parameters
    ----------
    layers : Layers
        Weights and biases.
    inputs : array of shape (n, p)
        One row each.
    activation : {"mish", "relu"}
        Of the hidden layers.

    Returns
    -------
    array of shape (n,)
    """
    return _by_block(lambda rows: sigmoid(_logits(layers, rows, activation)), inputs)[:, 0]


def mean_probabilities(networks: Sequence[Layers], inputs: ArrayLike) -> NDArray[np.float64]:
    """Return the mean of the distributions that an ensemble of networks gives.

    Parameters
    ----------
    networks : sequence of Layers
        The ensemble.
    inputs : array of shape (n, p)
        One row each.

    Returns
    -------
    array of shape (n, outputs)
    """
    total = sum((probabilities(network, inputs) for network in networks), np.float64(0))
    return np.asarray(total / len(networks), dtype=np.float64)


def probabilities(layers: Layers, inputs: ArrayLike, one_by_one: bool = False) -> Float32Array:
    """Return the distribution that a network with a softmax gives.

    Parameters
    ----------
    layers : Layers
        Weights and biases.
    inputs : array of shape (n, p)
        One row each.
    one_by_one : bool
        Whether each row is multiplied by itself: in a product of many, the last digit depends on a row's place.

    Returns
    -------
    array of shape (n, outputs)
    """
    product = _product_by_row if one_by_one else _product
    return _by_block(lambda rows: softmax(_logits(layers, rows, "mish", product)), inputs)


def _by_block(answer: Callable[[Float32Array], Float32Array], inputs: ArrayLike) -> Float32Array:
    """Answers to all rows, some at a time."""
    rows = np.asarray(inputs, dtype=np.float32)
    starts = range(0, max(1, len(rows)), BLOCK)  # no rows are one empty block, so that the shape is known
    return np.concatenate([answer(rows[start : start + BLOCK]) for start in starts])


def _logits(
    layers: Layers, hidden: Float32Array, activation: Activation, product: Product | None = None
) -> Float32Array:
    """Return the last layer's values before the sigmoid, shape (n, outputs)."""
    *inner, (weights, bias) = layers
    multiply = product or _product
    for inner_weights, inner_bias in inner:
        hidden = ACTIVATIONS[activation](multiply(hidden, inner_weights) + inner_bias)
    return multiply(hidden, weights) + bias


def _product_by_row(rows: Float32Array, weights: Float32Array) -> Float32Array:
    """Return rows @ weights.T, each row by itself, whichever rows are beside it."""
    found: Float32Array = np.matmul(rows[:, None, :], weights.T)[:, 0]
    return found


def _product(rows: Float32Array, weights: Float32Array) -> Float32Array:
    """Return rows @ weights.T, a block's rows in parts of equal size that one thread multiplies."""
    part = max(1, ONE_THREAD // max(1, weights.size))
    if len(rows) < 2 * part:
        return rows @ weights.T
    found = np.empty((len(rows), len(weights)), dtype=np.float32)
    for start, stop in _parts(len(rows), part):
        np.matmul(rows[start:stop], weights.T, out=found[start:stop])
    return found


@lru_cache
def _parts(rows: int, most: int) -> tuple[tuple[int, int], ...]:
    """Beginnings and ends of parts of equal size, of at most so many rows."""
    return tuple(pairwise(np.linspace(0, rows, 1 - (-rows // most), dtype=np.intp).tolist()))
