"""Training of response-type networks: many members at once, each with its own counts, capacity and first weights.

A member maps a profile to a distribution over the response types: a few linear indices of the covariates, or a layer
of units, two hidden layers, a softmax. All that either table shows is linear in the types, so both tables enter one
likelihood. Members are trained in small packs under `vmap`, each pack by one loop inside one compiled call; packs share
the cores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress
from pnsight._typing import Float32Array, FloatArray
from pnsight.data.number_scale import Coding
from pnsight.data.structure import Structure
from pnsight.models.mlp_jax import mish
from pnsight.models.mlp_numpy import Layers
from pnsight.models.response_types.capacity import Capacity
from pnsight.models.response_types.config import TrainingConfig
from pnsight.models.response_types.profile_inputs import ProfileInputs
from pnsight.models.response_types.shrinkage import map_estimate

_MIN_PROBABILITY = 1e-7
"""Added to every cell's probability before its logarithm."""

_ALIGNMENT = 16
"""Single-precision numbers in 64 bytes."""


class NetworkSpec(NamedTuple):
    """One network to train: its capacity, which of the given counts it sees, and the seed of its first weights."""

    capacity: Capacity
    source: int
    seed: int


class _Weights(NamedTuple):
    """A network in training; the product of the first two is its first layer.

    With `index_bias`, which is empty otherwise, the first is a layer of units of its own.
    """

    indices: jax.Array
    first: jax.Array
    first_bias: jax.Array
    second: jax.Array
    second_bias: jax.Array
    last: jax.Array
    last_bias: jax.Array
    index_bias: jax.Array


_DECAYS = _Weights(1, 1, 0, 1, 0, 1, 0, 0)  # type: ignore[arg-type]
"""Which weights decay: all but the biases."""


def train_ensemble(
    inputs: ProfileInputs | Float32Array,
    sources: Sequence[FloatArray],
    members: Sequence[NetworkSpec],
    structure: Structure,
    progress: Progress,
    config: TrainingConfig = TrainingConfig(),
) -> list[Layers]:
    """Train every member of an ensemble by maximum likelihood with weight decay.

    Parameters
    ----------
    inputs : array of shape (profiles, columns)
        Profiles as networks see them.
    sources : one array of shape (profiles, structure) each
        Counts that members are fitted to.
    members : sequence of NetworkSpec
        Networks to train.
    structure : Structure
        Which response types show up in which cell.
    progress : Progress
        Called after each pack of networks.
    config : TrainingConfig
        Learning rates and sizes.

    Returns
    -------
    list of Layers
        One network a member.
    """
    counts = _Counts.of(sources, structure)
    widths = {coding: _coded(inputs, coding).shape[1] for coding in {each.capacity.coding for each in members}}
    columns = [widths[member.capacity.coding] for member in members]
    constant = [member.capacity.constant or not wide for member, wide in zip(members, columns, strict=True)]
    trained = {
        place: _constant_network(columns[place], counts.overall[member.source])
        for place, member in enumerate(members)
        if constant[place]
    }
    packs = _packs(members, constant, columns, config.pack)
    done, total = 0, sum(map(len, packs.values()))
    progress(done, total, "")
    with ThreadPoolExecutor(_threads()) as pool:
        for coding, of_coding in packs.items():  # one after the other: the inputs are what takes most memory
            for pack, found in _train_packs(pool, _coded(inputs, coding), counts, members, of_coding, config):
                trained.update(zip(pack, found, strict=True))
                done += 1
                progress(done, total, "")
    return [trained[place] for place in range(len(members))]


def _train_packs(
    pool: ThreadPoolExecutor,
    inputs: ProfileInputs | Float32Array,
    counts: _Counts,
    members: Sequence[NetworkSpec],
    packs: Sequence[Sequence[int]],
    config: TrainingConfig,
) -> Iterator[tuple[Sequence[int], list[Layers]]]:
    """Packs of one coding and their networks, as they are done; the inputs are gone at the end."""
    data = _Data.of(inputs, counts, config)
    futures = {pool.submit(_train_pack, data, [members[k] for k in pack], config): pack for pack in packs}
    for future in as_completed(futures):
        yield futures[future], future.result()


def _coded(inputs: ProfileInputs | Float32Array, coding: Coding) -> ProfileInputs | Float32Array:
    """Profiles with numbers as that coding has them."""
    return replace(inputs, coding=coding) if isinstance(inputs, ProfileInputs) else inputs


def _packs(
    members: Sequence[NetworkSpec], constant: Sequence[bool], columns: Sequence[int], size: int
) -> dict[Coding, list[list[int]]]:
    """By coding, positions of members that are trained together: their arrays have one shape. Not of constant ones."""
    alike: dict[tuple[Coding, bool, int, int, int], list[int]] = {}
    for place, (member, is_constant) in enumerate(zip(members, constant, strict=True)):
        if not is_constant:
            one = member.capacity
            shape = one.coding, one.deep, one.width(columns[place]), one.hidden, one.steps
            alike.setdefault(shape, []).append(place)
    found: dict[Coding, list[list[int]]] = {}
    for (coding, *_), places in alike.items():
        found.setdefault(coding, []).extend(places[start : start + size] for start in range(0, len(places), size))
    return found


def _threads() -> int:
    """As many as cores, or as the environment allows the numerical libraries."""
    allowed = os.environ.get("NPROC", "")
    if allowed.isdecimal() and int(allowed):
        return int(allowed)
    if hasattr(os, "sched_getaffinity"):  # Linux alone knows which cores a process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _constant_network(columns: int, types: FloatArray) -> Layers:
    """The network that answers the same to everyone."""
    return ((np.zeros((len(types), columns), np.float32), np.log(types + _MIN_PROBABILITY).astype(np.float32)),)


class _Blocks:
    """Profiles in blocks of equal size, in an order that mixes them if there is more than one block."""

    def __init__(self, rows: int, config: TrainingConfig) -> None:
        self.blocks = -(-rows // config.block)
        self.size = -(-rows // (self.blocks * config.pad)) * config.pad
        self._order = np.random.default_rng(0).permutation(rows) if self.blocks > 1 else np.arange(rows)

    def arrange(self, values: ProfileInputs | npt.NDArray[np.floating]) -> Float32Array:
        """Values (profiles, k) as (blocks, k, size), zero where a block is padded."""
        found = _aligned_zeros(self.blocks, values.shape[1], self.size)
        for block in range(self.blocks):
            rows = self._order[block * self.size : (block + 1) * self.size]
            found[block, :, : len(rows)] = values[rows].T
        return found


def _aligned_zeros(*shape: int) -> Float32Array:
    """Zeros that begin where the processor likes it, so that JAX takes them without a copy."""
    size = math.prod(shape)
    found = np.zeros(size + _ALIGNMENT, dtype=np.float32)
    start = -(found.ctypes.data // found.itemsize) % _ALIGNMENT
    return found[start : start + size].reshape(shape)


class _Counts(NamedTuple):
    """What members are fitted to; `overall` holds for each source the types of everyone together, (types,)."""

    sources: Sequence[FloatArray]
    overall: Sequence[FloatArray]
    incidence: Float32Array

    @classmethod
    def of(cls, sources: Sequence[FloatArray], structure: Structure) -> _Counts:
        even = np.full((1, structure.n_types), 1 / structure.n_types)
        overall = [map_estimate(even, counts.sum(axis=0, keepdims=True), 1.0, structure)[0] for counts in sources]
        return cls(sources, overall, structure.observed_incidence.astype(np.float32))


class _Data(NamedTuple):
    """What members of one coding are trained on.

    `inputs` are (blocks, columns, size), where JAX has them, so that all packs share them.
    """

    blocks: _Blocks
    inputs: jax.Array
    counts: _Counts

    @classmethod
    def of(cls, inputs: ProfileInputs | Float32Array, counts: _Counts, config: TrainingConfig) -> _Data:
        blocks = _Blocks(len(inputs), config)
        return cls(blocks, jax.device_put(blocks.arrange(inputs), may_alias=True), counts)


def _train_pack(data: _Data, members: Sequence[NetworkSpec], config: TrainingConfig) -> list[Layers]:
    filled = [*members, *[members[-1]] * (config.pack - len(members))]  # one shape, compiled once
    capacity, columns, counts = members[0].capacity, data.inputs.shape[1], data.counts
    width = capacity.width(columns)
    kept = np.array([np.arange(width) < (member.capacity.rank or width) for member in filled], np.float32)
    start = _start(
        np.array([member.seed for member in filled], np.uint32),
        np.array([counts.overall[member.source] for member in filled], np.float32),
        columns,
        width,
        capacity.hidden,
        capacity.deep,
    )
    trained = _train(
        start,
        data.inputs,
        np.stack([data.blocks.arrange(counts.sources[member.source]) for member in filled], axis=1),
        kept,
        np.array([member.capacity.decay for member in filled], np.float32),
        np.array([member.capacity.sparsity for member in filled], np.float32),
        counts.incidence,
        capacity.steps,
        config,
    )
    numpy = [np.asarray(part) for part in trained]
    return [_merge_indices(_Weights(*(part[k] for part in numpy)), kept[k]) for k in range(len(members))]


def _merge_indices(weights: _Weights, kept: Float32Array) -> Layers:
    """The member as a plain network: linear indices are part of the first layer."""
    rest = (
        (np.asarray(weights.second), np.asarray(weights.second_bias)),
        (np.asarray(weights.last), np.asarray(weights.last_bias)),
    )
    indices, first, bias = (np.asarray(part) for part in (weights.indices, weights.first, weights.first_bias))
    if weights.index_bias.size:
        return ((indices, np.asarray(weights.index_bias)), (first, bias), *rest)
    return ((np.asarray(weights.first * kept) @ indices, bias), *rest)


@partial(jax.jit, static_argnames=("columns", "width", "hidden", "deep"))
def _start(seeds: jax.Array, overall: jax.Array, columns: int, width: int, hidden: int, deep: bool = False) -> _Weights:
    """First weights of a pack: normal, scaled to the inputs of each layer; members start near the types of everyone."""
    shapes = ((width, columns), (hidden, width), (hidden, hidden), (overall.shape[1], hidden))
    sizes = [rows * columns for rows, columns in shapes]

    def draw(seed: jax.Array, types: jax.Array) -> _Weights:
        normal = jnp.split(jax.random.normal(jax.random.key(seed), (sum(sizes),)), list(np.cumsum(sizes)[:-1]))
        index, first, second, last = (
            part.reshape(shape) * shape[1] ** -0.5 for part, shape in zip(normal, shapes, strict=True)
        )
        none = jnp.zeros(hidden)
        log_types, index_bias = jnp.log(types + _MIN_PROBABILITY), jnp.zeros(width if deep else 0)
        return _Weights(index, first, none, second, none, last / 2, log_types, index_bias)

    return jax.vmap(draw)(seeds, overall)


@partial(jax.jit, static_argnames="config")
def _train(
    start: _Weights,
    inputs: jax.Array,
    counts: jax.Array,
    kept: jax.Array,
    decay: jax.Array,
    sparsity: jax.Array,
    incidence: jax.Array,
    steps: int,
    config: TrainingConfig,
) -> _Weights:
    """AdamW with a one-cycle learning rate, written out; where a layer of units is first, with proximal steps of lasso.

    optax.adamw is as fast and takes the same steps to the last bit but one; over a thousand steps that bit grows until
    networks with little weight decay differ in the second digit, so changing over would change every fitted model.

    `inputs` are (blocks, columns, size), `counts` (blocks, pack, cells, size), `kept` (pack, width), `decay` and
    `sparsity` (pack,).
    """
    rows = counts.sum(axis=(0, 2, 3)) / len(counts)
    peak = config.peak_rate if len(inputs) == 1 else config.peak_rate_of_blocks
    gradient = jax.vmap(jax.grad(_loss), in_axes=(0, None, 0, 0, 0, None))
    none = jax.tree.map(jnp.zeros_like, start)
    beta1, beta2 = config.beta1, config.beta2

    def step(number: jax.Array, state: tuple[_Weights, _Weights, _Weights]) -> tuple[_Weights, _Weights, _Weights]:
        weights, mean, square = state
        block = number % len(inputs)
        slope = gradient(weights, inputs[block], counts[block], kept, rows, incidence)
        mean = jax.tree.map(lambda old, new: beta1 * old + (1 - beta1) * new, mean, slope)
        square = jax.tree.map(lambda old, new: beta2 * old + (1 - beta2) * new**2, square, slope)
        time = number + 1.0
        rate = peak * _one_cycle(time / steps, config.warm_up)

        def move(w: jax.Array, m: jax.Array, s: jax.Array, decays: int) -> jax.Array:
            adam = m / (1 - beta1**time) / (jnp.sqrt(s / (1 - beta2**time)) + 1e-8)
            return w - rate * (adam + decays * decay.reshape(-1, *[1] * (w.ndim - 1)) * w)

        moved = jax.tree.map(move, weights, mean, square, _DECAYS)
        if start.index_bias.size:
            moved = moved._replace(indices=_shrink(moved.indices, rate * sparsity[:, None, None]))
        return moved, mean, square

    trained: tuple[_Weights, _Weights, _Weights] = jax.lax.fori_loop(0, steps, step, (start, none, none))
    return trained[0]


def _shrink(weights: jax.Array, by: jax.Array) -> jax.Array:
    """Weights nearer to zero by as much, those that would pass it zero: the proximal step of the lasso's penalty."""
    return jnp.sign(weights) * jnp.maximum(jnp.abs(weights) - by, 0)


def _one_cycle(done: jax.Array, warm_up: float) -> jax.Array:
    """Learning rate as a share of its peak: up in a half cosine during warm-up, then down to zero in another."""
    up = 0.04 + 0.48 * (1 - jnp.cos(jnp.pi * done / warm_up))
    down = 0.5 * (1 + jnp.cos(jnp.pi * (done - warm_up) / (1 - warm_up)))
    return jnp.where(done < warm_up, up, down)


def _loss(
    weights: _Weights,
    inputs: jax.Array,
    counts: jax.Array,
    kept: jax.Array,
    rows: jax.Array,
    incidence: jax.Array,
) -> jax.Array:
    """Mean negative log-likelihood of a row: multinomial in each group of cells.

    `inputs` are (p, profiles), `counts` (structure, profiles).
    """
    index = (weights.indices * kept[:, None]) @ inputs
    if weights.index_bias.size:
        index = mish(index + weights.index_bias[:, None])
    hidden = mish(weights.first @ index + weights.first_bias[:, None])
    hidden = mish(weights.second @ hidden + weights.second_bias[:, None])
    types = jax.nn.softmax(weights.last @ hidden + weights.last_bias[:, None], axis=0)
    return -(counts * jnp.log(incidence @ types + _MIN_PROBABILITY)).sum() / rows
