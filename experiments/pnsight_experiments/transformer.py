"""A small Transformer over tokens of covariate and value, in the place of Mask-MLP's network.

The paper's outlook asks for it. Everything else is Mask-MLP's: training queries, their split, batches, Adam, and
keeping each network at its best validation error. A query is as many tokens as there are covariates, each one the
embedding of the covariate's value or of its being open; layers of attention, and then the mean over tokens (Vaswani et
al. 2017, with normalisation first).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pnsight._progress import Progress
from pnsight._typing import FloatArray
from pnsight.data.study import Study
from pnsight.models import MaskMLP
from pnsight.models.bound_networks.pairs import Inputs
from pnsight.models.bound_networks.regressor import Trial, split_queries
from pnsight.models.bound_networks.train_jax import TrainingProtocol
from pnsight.models.bound_networks.training_examples import TrainingExamples

Parameters: TypeAlias = dict[str, Any]

WIDTH, HEADS, LAYERS, HIDDEN = 16, 2, 1, 32
"""Width of a token, heads of attention, layers, and units of the network after it."""

_BLOCK = 8192  # queries answered at a time

_IN_CACHE = 128
"""Queries of a batch whose gradient is taken together: larger arrays leave the processor's cache, at half the speed."""


def initialise(key: jax.Array, channels: int) -> Parameters:
    """Draw a network.

    Parameters
    ----------
    key
        Source of randomness.
    channels
        How many values all covariates have together, being open included.

    Returns
    -------
    Arrays by name.
    """
    keys = iter(jax.random.split(key, 2 + 6 * LAYERS))

    def drawn(inputs: int, outputs: int) -> jax.Array:
        return jnp.asarray(jax.random.normal(next(keys), (inputs, outputs), jnp.float32) * inputs**-0.5)

    def layer() -> Parameters:
        shapes = dict.fromkeys(("query", "key", "value", "mixed"), (WIDTH, WIDTH))
        found: Parameters = {name: drawn(*shape) for name, shape in shapes.items()}
        into, out = drawn(WIDTH, HIDDEN), drawn(HIDDEN, WIDTH)
        return {**found, "into": into, "into_bias": jnp.zeros(HIDDEN), "out": out, "out_bias": jnp.zeros(WIDTH)}

    embedding = jax.random.normal(next(keys), (channels, WIDTH), jnp.float32)
    last = jax.random.normal(next(keys), (WIDTH,), jnp.float32) * WIDTH**-0.5
    return {"embedding": embedding, "layers": [layer() for _ in range(LAYERS)], "last": last, "bias": jnp.zeros(())}


def answer(parameters: Parameters, tokens: jax.Array) -> jax.Array:
    """Answer queries.

    Parameters
    ----------
    parameters
        Of one network.
    tokens : shape (queries, covariates)
        The channel of each covariate's value.

    Returns
    -------
    Shape (queries,), in (0, 1).
    """
    hidden = parameters["embedding"][tokens]
    for layer in parameters["layers"]:
        hidden = hidden + _attention(layer, _normalised(hidden))
        inner = jax.nn.gelu(_normalised(hidden) @ layer["into"] + layer["into_bias"])
        hidden = hidden + inner @ layer["out"] + layer["out_bias"]
    return jax.nn.sigmoid(_normalised(hidden).mean(axis=1) @ parameters["last"] + parameters["bias"])


def _attention(layer: Parameters, hidden: jax.Array) -> jax.Array:
    heads = (*hidden.shape[:2], HEADS, WIDTH // HEADS)
    query, key, value = ((hidden @ layer[name]).reshape(heads) for name in ("query", "key", "value"))
    weights = jax.nn.softmax(jnp.einsum("nihd,njhd->nhij", query, key) * (WIDTH // HEADS) ** -0.5, axis=-1)
    return jnp.asarray(jnp.einsum("nhij,njhd->nihd", weights, value).reshape(hidden.shape) @ layer["mixed"])


def _normalised(hidden: jax.Array) -> jax.Array:
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-6)


@dataclass(frozen=True)
class TransformerPair:
    """A trained network for each end, stacked, and the epochs at which they were kept."""

    networks: Parameters
    best_epochs: tuple[int, ...]

    def predict(self, inputs: Inputs) -> FloatArray:
        """Lower and upper end of one-hot queries, shape (queries, 2)."""
        tokens = _tokens(inputs)
        parts = [_answers(self.networks, tokens[i : i + _BLOCK]).T for i in range(0, len(tokens), _BLOCK)]
        return np.concatenate(parts).astype(np.float64)


@jax.jit
def _answers(networks: Parameters, tokens: jax.Array) -> jax.Array:
    """Of both networks, shape (2, queries)."""
    return jax.vmap(answer, in_axes=(0, None))(networks, tokens)


def _tokens(inputs: Inputs) -> jax.Array:
    """The channels that are one in each query, shape (queries, covariates)."""
    return jnp.asarray(np.nonzero(inputs)[1].reshape(len(inputs), -1))


def train(
    training: tuple[Inputs, FloatArray],
    validation: tuple[Inputs, FloatArray],
    protocol: TrainingProtocol,
    seed: int,
    progress: Progress,
) -> TransformerPair:
    """Train a network for each end, keeping each at its best validation error.

    Parameters
    ----------
    training, validation
        One-hot queries, and their lower and upper bounds, shape (queries, 2).
    protocol
        Learning rate, batches and epochs.
    seed
        Of the first weights and the order of the queries.
    progress
        Called after each validation.

    Returns
    -------
    Both networks.
    """
    (tokens, ends), (held_out, right) = ((_tokens(x), jnp.asarray(y.T, jnp.float32)) for x, y in (training, validation))
    start, order = jax.random.split(jax.random.key(seed))
    now = jax.vmap(partial(initialise, channels=training[0].shape[1]))(jax.random.split(start, 2))
    optimiser = optax.adam(protocol.learning_rate)
    state = jax.vmap(optimiser.init)(now)
    best, least, epochs = now, np.full(2, np.inf), [0, 0]
    for done in range(protocol.validate_every, protocol.epochs + 1, protocol.validate_every):
        keys = jax.random.split(jax.random.fold_in(order, done), protocol.validate_every)
        now, state = _epochs(now, state, tokens, ends, keys, protocol.batch_size, protocol.learning_rate)
        error = np.asarray(((_answers(now, held_out) - right) ** 2).mean(axis=1))
        for end in np.flatnonzero(error < least):
            least[end], epochs[end] = error[end], done
            best = jax.tree.map(lambda kept, new, end=end: kept.at[end].set(new[end]), best, now)
        progress(done, protocol.epochs, f"validation error {float(np.sqrt(error.mean())):.4f}")
    return TransformerPair(best, tuple(epochs))


@partial(jax.jit, static_argnames=("batch_size", "learning_rate"))
def _epochs(
    networks: Parameters,
    state: Any,
    tokens: jax.Array,
    ends: jax.Array,
    keys: jax.Array,
    batch_size: int,
    learning_rate: float,
) -> tuple[Parameters, Any]:
    """Some epochs, each in its own order; what does not fill a batch is left for another epoch."""
    optimiser, size = optax.adam(learning_rate), min(batch_size, tokens.shape[0])

    def step(held: tuple[Parameters, Any], rows: jax.Array) -> tuple[tuple[Parameters, Any], None]:
        def one(network: Parameters, own: Any, wanted: jax.Array) -> tuple[Parameters, Any]:
            updates, own = optimiser.update(_gradient(network, tokens[rows], wanted[rows]), own)
            return optax.apply_updates(network, updates), own

        return jax.vmap(one)(*held, ends), None

    def epoch(held: tuple[Parameters, Any], key: jax.Array) -> tuple[tuple[Parameters, Any], None]:
        order = jax.random.permutation(key, tokens.shape[0])
        batches = order[: tokens.shape[0] // size * size].reshape(-1, size)
        return jax.lax.scan(step, held, batches)[0], None

    found: tuple[Parameters, Any] = jax.lax.scan(epoch, (networks, state), keys)[0]
    return found


def _gradient(network: Parameters, tokens: jax.Array, wanted: jax.Array) -> Parameters:
    """Gradient of the mean squared error of a batch, tokens (queries, covariates), summed over parts of it."""
    queries = len(wanted)
    parts = queries // _IN_CACHE if queries % _IN_CACHE == 0 else 1

    def add(total: Parameters, part: tuple[jax.Array, jax.Array]) -> tuple[Parameters, None]:
        slope = jax.grad(lambda each: ((answer(each, part[0]) - part[1]) ** 2).sum() / queries)(network)
        return jax.tree.map(jnp.add, total, slope), None

    divided = tokens.reshape(parts, -1, tokens.shape[1]), wanted.reshape(parts, -1)
    found: Parameters = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, network), divided)[0]
    return found


class MaskTransformer(MaskMLP):
    """Mask-MLP with a Transformer in the place of its network; for the experiment, it cannot be stored."""

    name: ClassVar[str] = "mask-transformer"

    def _train(
        self,
        study: Study,
        examples: TrainingExamples,
        validation: TrainingExamples | None,
        min_rows: int,
        progress: Progress,
    ) -> Trial:
        training = examples
        if validation is None:
            training, validation = split_queries(examples, np.random.default_rng([self.random_state, 1]))
        encode = study.schema.one_hot
        seen, apart = ((encode(each.codes), each.ends) for each in (training, validation))
        protocol = TrainingProtocol(self.learning_rate, self.batch_size, self.epochs)
        pair = train(seen, apart, protocol, self.random_state, progress)
        missed = pair.predict(apart[0]) - apart[1]
        return Trial(min_rows, len(examples), pair, None, float(np.mean(missed**2)))

    @property
    def best_epochs_(self) -> tuple[int, ...]:
        """Epochs at which the networks for the lower and upper end were kept."""
        return self.pair_.best_epochs if isinstance(self.pair_, TransformerPair) else ()
