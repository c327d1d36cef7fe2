"""Small multilayer perceptrons in JAX: their first values, their activations, their answers.

A network is a tuple of (weights, bias) pairs, one a layer: weights (outputs, inputs), bias (outputs,), float32.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import jax
import jax.numpy as jnp

from pnsight.models.mlp_numpy import MISH_IS_IDENTITY_FROM, Activation

Parameters = tuple[tuple[jax.Array, jax.Array], ...]


@jax.custom_jvp
def mish(x: jax.Array) -> jax.Array:
    """Return x tanh(log(1 + e^x)) with a single exponential, same shape as `x`.

    With n = e^x (e^x + 2), tanh(log(1 + e^x)) = n / (n + 2). (Misra 2019, arXiv:1908.08681.)
    """
    e = jnp.exp(jnp.minimum(x, MISH_IS_IDENTITY_FROM))
    n = e * (e + 2)
    return x * (n / (n + 2))


@mish.defjvp
def _mish_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Share the exponential and the division between value and slope.

    d/dx n/(n + 2) = 2 n' / (n + 2)^2 with n' = 2 e^x (e^x + 1) = 2 (n - e^x).
    """
    (x,), (tangent,) = primals, tangents
    capped = jnp.minimum(x, MISH_IS_IDENTITY_FROM)
    e = jnp.exp(capped)
    n = e * (e + 2)
    reciprocal = 1 / (n + 2)
    ratio = n * reciprocal
    # `capped`, not x: past the cap the second term is zero to rounding, and must stay so however large x is.
    slope = ratio + 4 * capped * (n - e) * reciprocal * reciprocal
    return x * ratio, slope * tangent


def relu(x: jax.Array) -> jax.Array:
    """Return the positive part of `x`."""
    return jnp.maximum(x, 0)


ACTIVATIONS: dict[Activation, Callable[[jax.Array], jax.Array]] = {"mish": mish, "relu": relu}


def initialise(key: jax.Array, sizes: Sequence[int]) -> Parameters:
    """Draw a network whose layers have `sizes` units, inputs first.

    Weights and biases are uniform within 1 / sqrt(inputs of the layer), the default of PyTorch's `nn.Linear`.

    Parameters
    ----------
    key : jax.Array
        Source of randomness.
    sizes : sequence of int
        Units of each layer, inputs first.

    Returns
    -------
    tuple of pairs of arrays
        One pair of weights (outputs, inputs) and bias (outputs,) a layer.
    """
    # One draw for all layers: compiling the generator once per array would take longer than compiling the training.
    parts = [outputs * (inputs + 1) for inputs, outputs in pairwise(sizes)]
    draws = jnp.split(jax.random.uniform(key, (sum(parts),), jnp.float32, -1, 1), list(accumulate(parts))[:-1])
    return tuple(_layer(draw, inputs) for draw, inputs in zip(draws, sizes[:-1], strict=True))


def _layer(draws: jax.Array, inputs: int) -> tuple[jax.Array, jax.Array]:
    """Weights (outputs, inputs) and bias (outputs,) from draws (outputs * (inputs + 1),) between -1 and 1."""
    scaled = draws.reshape(-1, inputs + 1) * inputs**-0.5
    return scaled[:, :-1], scaled[:, -1]


def logits(parameters: Parameters, inputs: jax.Array, activation: Activation = "mish") -> jax.Array:
    """Return the last layer's values.

    Parameters
    ----------
    parameters : tuple of pairs of arrays
        Weights and biases.
    inputs : array of shape (n, p)
        One row each.
    activation : {"mish", "relu"}
        Of the hidden layers.

    Returns
    -------
    array of shape (n, outputs)
    """
    *inner, (weights, bias) = parameters
    # Features first inside: under vmap the first layers of all networks are then one matrix product.
    hidden = inputs.T
    for inner_weights, inner_bias in inner:
        hidden = ACTIVATIONS[activation](inner_weights @ hidden + inner_bias[:, None])
    return (weights @ hidden + bias[:, None]).T


def predict(parameters: Parameters, inputs: jax.Array, activation: Activation = "mish") -> jax.Array:
    """Return the answers in (0, 1) of a network with one output.

    Parameters
    ----------
    parameters : tuple of pairs of arrays
        Weights and biases.
    inputs : array of shape (n, p)
        One row each.
    activation : {"mish", "relu"}
        Of the hidden layers.

    Returns
    -------
    array of shape (n,)
    """
    return jax.nn.sigmoid(logits(parameters, inputs, activation)[:, 0])
