"""What a trained network answers, in NumPy alone: asking a stored model does not have to load JAX."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float32]
Activation = Literal["mish", "relu"]

# One (weights, bias) pair a layer: weights (outputs, inputs) and bias (outputs,), as PyTorch keeps them.
Layers = tuple[tuple[FloatArray, FloatArray], ...]

# Rows per step, so that the hidden values of a step stay in the processor's cache.
BLOCK = 1024

# Beyond this, mish(x) = x to the last bit of a float32, and its exponentials cannot overflow before it.
MISH_IS_IDENTITY_FROM = 20.0


def mish(x: FloatArray) -> FloatArray:
    """Return x tanh(log(1 + e^x)) with a single exponential, same shape as `x`.

    With n = e^x (e^x + 2), tanh(log(1 + e^x)) = n / (n + 2). (Misra 2019, arXiv:1908.08681.)
    """
    e = np.exp(np.minimum(x, np.float32(MISH_IS_IDENTITY_FROM)))
    n = e * (e + 2)
    ratio: FloatArray = n / (n + 2)
    return x * ratio


def relu(x: FloatArray) -> FloatArray:
    """Return the positive part of `x`."""
    return np.maximum(x, np.float32(0))


def sigmoid(x: FloatArray) -> FloatArray:
    """Return 1 / (1 + e^-x), through tanh because that cannot overflow."""
    half = np.float32(0.5)
    odd: FloatArray = np.tanh(half * x)
    return half + half * odd


ACTIVATIONS: dict[Activation, Callable[[FloatArray], FloatArray]] = {"mish": mish, "relu": relu}


def predict(layers: Layers, inputs: ArrayLike, activation: Activation = "mish") -> FloatArray:
    """Return the answers in (0, 1) of one network with one output, shape (n,), to inputs of shape (n, p)."""
    rows = np.asarray(inputs, dtype=np.float32)
    answers = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        answers[block] = sigmoid(_logits(layers, rows[block], activation))[:, 0]
    return answers


def _logits(layers: Layers, hidden: FloatArray, activation: Activation) -> FloatArray:
    """Return the last layer's values before the sigmoid, shape (n, outputs)."""
    *inner, (weights, bias) = layers
    for inner_weights, inner_bias in inner:
        hidden = ACTIVATIONS[activation](hidden @ inner_weights.T + inner_bias)
    return hidden @ weights.T + bias
