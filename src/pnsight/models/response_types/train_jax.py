"""Training of response-type networks: many members at once, each with its own counts, capacity and first weights.

A member maps a profile to a distribution over the eight response types: a few linear indices of the covariates, two
hidden layers, a softmax. All that either table shows is linear in the types, so both tables enter one likelihood.
Members are trained in small packs under `vmap`, each pack by one loop inside one compiled call; packs share the cores.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress
from pnsight._typing import FloatArray
from pnsight.data.law import COUNTED_CELLS
from pnsight.models.mlp_jax import mish
from pnsight.models.mlp_numpy import Layers
from pnsight.models.response_types.capacity import Rung
from pnsight.models.response_types.shrinkage import posterior

PACK = 4
"""Members trained together: their hidden values still fit the processor's cache."""

BLOCK = 4096
"""Most profiles in one step. Where there are more, each step takes the next block of them."""

PAD = 128
"""Profiles are padded to a multiple of this, so that studies of nearly one size share compiled code."""

PEAK_RATE, PEAK_RATE_OF_BLOCKS = 2e-2, 1e-2
"""Highest learning rate; the lower one where a step sees a block of the profiles, whose slope is noisier."""

WARM_UP = 0.3
DECAY_OF_MEAN, DECAY_OF_SQUARE = 0.9, 0.99
LEAST_SHARE = 1e-7
"""Added to every cell's probability before its logarithm."""


class Member(NamedTuple):
    """One network to train: its capacity, which of the given counts it sees, and the seed of its first weights."""

    rung: Rung
    source: int
    seed: int


class _Weights(NamedTuple):
    """A network in training; the product of the first two is its first layer."""

    indices: jax.Array
    first: jax.Array
    first_bias: jax.Array
    second: jax.Array
    second_bias: jax.Array
    last: jax.Array
    last_bias: jax.Array


_DECAYS = _Weights(1, 1, 0, 1, 0, 1, 0)  # type: ignore[arg-type]
"""Which weights decay: all but the biases."""


def train_members(
    inputs: npt.NDArray[np.float32],
    sources: Sequence[FloatArray],
    members: Sequence[Member],
    progress: Progress,
) -> list[Layers]:
    """Train every member; `inputs` have shape (profiles, columns), each of `sources` counts (profiles, 8)."""
    trained: dict[int, Layers] = {}
    centres = [posterior(np.full((1, 8), 1 / 8), counts.sum(axis=0, keepdims=True), 1.0)[0] for counts in sources]
    packs: list[list[int]] = []
    alike: dict[tuple[int, int, int], list[int]] = {}
    for place, member in enumerate(members):
        if member.rung.constant or not inputs.shape[1]:
            trained[place] = _constant(inputs.shape[1], centres[member.source])
        else:
            rung = member.rung
            alike.setdefault((rung.width(inputs.shape[1]), rung.hidden, rung.steps), []).append(place)
    for places in alike.values():
        packs += [places[start : start + PACK] for start in range(0, len(places), PACK)]
    data = _Blocks(inputs)
    progress(0, len(packs), "")
    with ThreadPoolExecutor(_threads()) as pool:
        futures = {
            pool.submit(_train_pack, data, sources, centres, [members[place] for place in places]): places
            for places in packs
        }
        for done, future in enumerate(as_completed(futures), start=1):
            trained.update(zip(futures[future], future.result(), strict=True))
            progress(done, len(packs), "")
    return [trained[place] for place in range(len(members))]


def _threads() -> int:
    """As many as cores, or as the environment allows the numerical libraries."""
    told = os.environ.get("NPROC", "")
    if told.isdecimal() and int(told):
        return int(told)
    if hasattr(os, "sched_getaffinity"):  # Linux alone knows which cores a process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _constant(columns: int, types: FloatArray) -> Layers:
    """The network that answers the same to everyone."""
    return ((np.zeros((8, columns), np.float32), np.log(types + LEAST_SHARE).astype(np.float32)),)


class _Blocks:
    """Profiles in blocks of equal size, in an order that mixes them if there is more than one block."""

    def __init__(self, inputs: npt.NDArray[np.float32]) -> None:
        rows = len(inputs)
        self.blocks = -(-rows // BLOCK)
        self.size = -(-rows // (self.blocks * PAD)) * PAD
        mixed = np.random.default_rng(0).permutation(rows) if self.blocks > 1 else np.arange(rows)
        self._order = np.concatenate([mixed, np.full(self.blocks * self.size - rows, rows)])
        self.inputs = self.arranged(inputs)

    def arranged(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
        """Values (profiles, k) as (blocks, k, size), zero where a block is padded."""
        padded = np.concatenate([values, np.zeros((1, values.shape[1]), values.dtype)]).astype(np.float32)[self._order]
        return np.ascontiguousarray(padded.reshape(self.blocks, self.size, -1).transpose(0, 2, 1))


def _train_pack(
    data: _Blocks, sources: Sequence[FloatArray], centres: Sequence[FloatArray], members: Sequence[Member]
) -> list[Layers]:
    filled = [*members, *[members[-1]] * (PACK - len(members))]  # one shape, compiled once
    rung, columns = members[0].rung, data.inputs.shape[1]
    width = rung.width(columns)
    kept = np.array([np.arange(width) < (member.rung.rank or width) for member in filled], np.float32)
    start = _start(
        np.array([member.seed for member in filled], np.uint32),
        np.array([centres[member.source] for member in filled], np.float32),
        columns,
        width,
        rung.hidden,
    )
    trained = _train(
        start,
        data.inputs,
        np.stack([data.arranged(sources[member.source]) for member in filled], axis=1),
        kept,
        np.array([member.rung.decay for member in filled], np.float32),
        rung.steps,
    )
    numpy = [np.asarray(part) for part in trained]
    return [_merged(_Weights(*(part[k] for part in numpy)), kept[k]) for k in range(len(members))]


def _merged(weights: _Weights, kept: npt.NDArray[np.float32]) -> Layers:
    """The member as a plain network: its linear indices are part of the first layer."""
    first = np.asarray(weights.first * kept) @ np.asarray(weights.indices)
    return (
        (first, np.asarray(weights.first_bias)),
        (np.asarray(weights.second), np.asarray(weights.second_bias)),
        (np.asarray(weights.last), np.asarray(weights.last_bias)),
    )


@partial(jax.jit, static_argnames=("columns", "width", "hidden"))
def _start(seeds: jax.Array, centres: jax.Array, columns: int, width: int, hidden: int) -> _Weights:
    """First weights of a pack: normal, scaled to the inputs of each layer; every member starts near its centre."""
    shapes = ((width, columns), (hidden, width), (hidden, hidden), (8, hidden))
    sizes = [rows * columns for rows, columns in shapes]

    def draw(seed: jax.Array, centre: jax.Array) -> _Weights:
        normal = jnp.split(jax.random.normal(jax.random.key(seed), (sum(sizes),)), list(np.cumsum(sizes)[:-1]))
        index, first, second, last = (
            part.reshape(shape) * shape[1] ** -0.5 for part, shape in zip(normal, shapes, strict=True)
        )
        none = jnp.zeros(hidden)
        return _Weights(index, first, none, second, none, last / 2, jnp.log(centre + LEAST_SHARE))

    return jax.vmap(draw)(seeds, centres)


@jax.jit
def _train(
    start: _Weights, inputs: jax.Array, counts: jax.Array, kept: jax.Array, decay: jax.Array, steps: int
) -> _Weights:
    """AdamW with a one-cycle rate.

    `inputs` are (blocks, columns, size), `counts` (blocks, pack, 8, size), `kept` (pack, width).
    """
    rows = counts.sum(axis=(0, 2, 3)) / len(counts)
    peak = PEAK_RATE if len(inputs) == 1 else PEAK_RATE_OF_BLOCKS
    gradient = jax.vmap(jax.grad(_loss), in_axes=(0, None, 0, 0, 0))
    none = jax.tree.map(jnp.zeros_like, start)

    def step(number: jax.Array, state: tuple[_Weights, _Weights, _Weights]) -> tuple[_Weights, _Weights, _Weights]:
        weights, mean, square = state
        block = number % len(inputs)
        slope = gradient(weights, inputs[block], counts[block], kept, rows)
        mean = jax.tree.map(lambda old, new: DECAY_OF_MEAN * old + (1 - DECAY_OF_MEAN) * new, mean, slope)
        square = jax.tree.map(lambda old, new: DECAY_OF_SQUARE * old + (1 - DECAY_OF_SQUARE) * new**2, square, slope)
        time = number + 1.0
        rate = peak * _one_cycle(time / steps)

        def move(w: jax.Array, m: jax.Array, s: jax.Array, decays: int) -> jax.Array:
            adam = m / (1 - DECAY_OF_MEAN**time) / (jnp.sqrt(s / (1 - DECAY_OF_SQUARE**time)) + 1e-8)
            return w - rate * (adam + decays * decay.reshape(-1, *[1] * (w.ndim - 1)) * w)

        return jax.tree.map(move, weights, mean, square, _DECAYS), mean, square

    trained: tuple[_Weights, _Weights, _Weights] = jax.lax.fori_loop(0, steps, step, (start, none, none))
    return trained[0]


def _one_cycle(done: jax.Array) -> jax.Array:
    """Rate as a share of its peak: up in a half cosine during warm-up, then down to zero in another."""
    up = 0.04 + 0.48 * (1 - jnp.cos(jnp.pi * done / WARM_UP))
    down = 0.5 * (1 + jnp.cos(jnp.pi * (done - WARM_UP) / (1 - WARM_UP)))
    return jnp.where(done < WARM_UP, up, down)


def _loss(weights: _Weights, inputs: jax.Array, counts: jax.Array, kept: jax.Array, rows: jax.Array) -> jax.Array:
    """Mean negative log-likelihood of a row: binomial in each experimental arm, multinomial in the other table.

    `inputs` are (p, profiles), `counts` (8, profiles).
    """
    index = (weights.indices * kept[:, None]) @ inputs
    hidden = mish(weights.first @ index + weights.first_bias[:, None])
    hidden = mish(weights.second @ hidden + weights.second_bias[:, None])
    types = jax.nn.softmax(weights.last @ hidden + weights.last_bias[:, None], axis=0)
    cells = jnp.asarray(COUNTED_CELLS, jnp.float32) @ types
    return -(counts * jnp.log(cells + LEAST_SHARE)).sum() / rows
