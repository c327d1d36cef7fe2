"""Training of response-type networks: what they learn, and that nothing but the seed is arbitrary."""

from __future__ import annotations

from typing import get_args

import jax
import numpy as np
import pytest

from laws import empirical_law, of_types, p_xy, p_y_do_x, p_y_do_x0
from pnsight._progress import no_progress
from pnsight.data.number_codes import pack
from pnsight.data.number_scale import Coding, NumberScale
from pnsight.data.schema import Covariate, Schema
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.models import mlp_jax as networks
from pnsight.models import mlp_numpy as forward
from pnsight.models.response_types import train_jax as response_training
from pnsight.models.response_types.capacity import Capacity
from pnsight.models.response_types.config import TrainingConfig
from pnsight.models.response_types.profile_inputs import ProfileInputs
from pnsight.models.response_types.shrinkage import log_likelihood
from pnsight.models.response_types.train_jax import NetworkSpec, train_ensemble
from pnsight.queries import lattice

SCHEMA = Schema.binary("abc")
PROFILES = lattice.all_profiles(SCHEMA)
INPUTS = SCHEMA.effect_coding(PROFILES)
TRUE = np.random.default_rng(8).dirichlet(np.full(8, 2.0), size=8)
ROWS = 20_000
"""Rows of each profile in each arm and in the observational table."""

COUNTS = np.round(ROWS * (TRUE @ TWO_BY_TWO.incidence.T))

CONSTANT = Capacity(0, 0, 0.0)
FULL = Capacity(0, 16, 0.001, 1500)
ONE_INDEX = Capacity(1, 16, 0.01, 300)
SHORT = Capacity(0, 16, 0.01, 300)
DEEP = Capacity(0, 16, 0.001, 300, deep=True)
CAPACITIES = (CONSTANT, ONE_INDEX, FULL, DEEP)


def trained(*members, counts=(COUNTS,), inputs=INPUTS, config=TrainingConfig()):
    return train_ensemble(inputs, counts, members, TWO_BY_TWO, no_progress, config)


def assert_same(one, other):
    for ours, theirs in zip(one, other, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def likelihood(network, counts=COUNTS) -> float:
    """Mean log-likelihood of a row."""
    types = forward.probabilities(network, INPUTS).astype(float)
    return float(log_likelihood(types, counts, TWO_BY_TWO).sum() / counts.sum())


# --- what is learned ------------------------------------------------------------------------------------


def test_a_constant_capacity_answers_everyone_with_the_pooled_law():
    (network,) = trained(NetworkSpec(CONSTANT, 0, 1))
    law = of_types(forward.probabilities(network, INPUTS).astype(float))
    plug_in = empirical_law(*(part.sum(axis=0, keepdims=True) for part in (COUNTS[:, :4], COUNTS[:, 4:])))
    # One row of an even prior among 480,000; the rest is where expectation-maximisation stands still.
    np.testing.assert_allclose(p_y_do_x(law), np.full(8, p_y_do_x(plug_in)[0]), atol=1e-3)
    np.testing.assert_allclose(p_y_do_x0(law), np.full(8, p_y_do_x0(plug_in)[0]), atol=1e-3)
    np.testing.assert_allclose(p_xy(law), np.tile(p_xy(plug_in), (8, 1)), atol=1e-3)


def test_without_covariates_every_capacity_is_constant():
    nobody_described = np.zeros((1, 0), np.float32)
    counts = COUNTS.sum(axis=0, keepdims=True)
    one, other = trained(NetworkSpec(CONSTANT, 0, 1), NetworkSpec(FULL, 0, 2), counts=[counts], inputs=nobody_described)
    assert_same(one, other)


def test_a_full_network_reproduces_the_plug_in_law_of_profiles_with_many_rows():
    """Twenty thousand rows an arm: a share is known to a standard error of at most .0035, and the counts are those
    expected, so that what is left is how well 1500 steps fit them. Five such errors are allowed."""
    (network,) = trained(NetworkSpec(FULL, 0, 1))
    law, plug_in = of_types(forward.probabilities(network, INPUTS).astype(float)), of_types(TRUE)
    np.testing.assert_allclose(p_y_do_x(law), p_y_do_x(plug_in), atol=5 * 0.0035)
    np.testing.assert_allclose(p_y_do_x0(law), p_y_do_x0(plug_in), atol=5 * 0.0035)
    np.testing.assert_allclose(p_xy(law), p_xy(plug_in), atol=5 * 0.0035)


def test_an_experiment_alone_is_learned_too():
    (network,) = trained(NetworkSpec(FULL, 0, 1), counts=[COUNTS * ([1] * 4 + [0] * 4)])
    law, plug_in = of_types(forward.probabilities(network, INPUTS).astype(float)), of_types(TRUE)
    np.testing.assert_allclose(p_y_do_x(law), p_y_do_x(plug_in), atol=5 * 0.0035)
    np.testing.assert_allclose(p_y_do_x0(law), p_y_do_x0(plug_in), atol=5 * 0.0035)


def test_more_capacity_fits_the_rows_better():
    capacities = (CONSTANT, ONE_INDEX, FULL)
    constant, index, full = (likelihood(found) for found in trained(*(NetworkSpec(r, 0, 1) for r in capacities)))
    assert constant < index < full


def test_a_capacity_of_one_index_sees_the_covariates_through_one_number():
    (network,) = trained(NetworkSpec(ONE_INDEX, 0, 3))
    first, _ = network[0]
    assert first.shape == (16, 3)
    assert np.linalg.matrix_rank(first, tol=1e-5 * np.abs(first).max()) == 1


def test_each_member_learns_from_its_own_counts():
    turned = COUNTS[::-1].copy()
    members = [NetworkSpec(SHORT, source, 5) for source in (0, 1)]
    one, other = trained(*members, counts=[COUNTS, turned])
    assert likelihood(one, COUNTS) > likelihood(other, COUNTS)
    assert likelihood(other, turned) > likelihood(one, turned)


def test_sparsity_draws_weights_of_the_first_layer_to_zero():
    """A column of chance stands beside the three covariates."""
    rng = np.random.default_rng(4)
    rows = np.repeat(np.arange(8), 200)
    counts = np.stack([rng.multinomial(20, TRUE[row] @ TWO_BY_TWO.incidence.T / 3) for row in rows]).astype(float)
    inputs = np.column_stack([INPUTS[rows], rng.normal(size=len(rows))]).astype(np.float32)
    plain, sparse = trained(
        NetworkSpec(DEEP, 0, 2), NetworkSpec(DEEP._replace(sparsity=0.3), 0, 2), counts=[counts], inputs=inputs
    )
    without, sparse = (np.abs(network[0][0]) for network in (plain, sparse))
    assert (without > 0).all()
    assert (sparse == 0).mean() > 0.3
    assert (sparse.sum(axis=0) < without.sum(axis=0) / 2).all()
    assert sparse.sum(axis=0).argmin() == 3


def test_members_of_different_codings_are_each_trained_on_their_own():
    scale = NumberScale.of(np.arange(64.0), np.ones(64))
    schema = Schema((Covariate("a", ("0", "1")), Covariate.numeric("n", scale)))
    numbers = np.arange(64.0)
    inputs = ProfileInputs(schema, np.column_stack([np.arange(64) % 2, pack(numbers, numbers)]))
    counts = np.random.default_rng(3).multinomial(50, np.full(8, 1 / 8), size=64).astype(float)
    capacities = [SHORT._replace(coding=coding) for coding in get_args(Coding)]
    members = [NetworkSpec(capacities[k], 0, 4) for k in (2, 0, 1, 0)]
    together = trained(*members, counts=[counts], inputs=inputs)
    assert [len(network[0][0][0]) for network in together] == [21, 2, 10, 2]
    for member, network in zip(members, together, strict=True):
        assert_same(network, trained(member, counts=[counts], inputs=inputs)[0])


# --- what is arbitrary ----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_network_and_another_seed_another():
    one, again, other = (trained(NetworkSpec(SHORT, 0, seed))[0] for seed in (4, 4, 5))
    assert_same(one, again)
    assert np.abs(one[0][0] - other[0][0]).max() > 1e-2


def test_members_are_given_back_in_the_order_asked_for_whatever_they_are_trained_beside():
    members = [
        NetworkSpec(ONE_INDEX, 0, 1),
        NetworkSpec(SHORT, 0, 2),
        NetworkSpec(CONSTANT, 0, 3),
        *(NetworkSpec(SHORT, 0, seed) for seed in range(10, 14)),
        NetworkSpec(ONE_INDEX, 0, 4),
    ]
    together = trained(*members)
    assert len(together) == len(members)
    for member, network in zip(members, together, strict=True):
        assert_same(network, trained(member)[0])


def test_no_members_are_no_networks():
    assert trained() == []


def test_progress_is_told_up_to_the_end():
    told = []
    members = [NetworkSpec(SHORT, 0, seed) for seed in range(TrainingConfig().pack + 1)]
    train_ensemble(INPUTS, [COUNTS], members, TWO_BY_TWO, lambda *news: told.append(news))
    assert [(done, total) for done, total, _ in told] == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(("told", "threads"), [("1", 1), ("3", 3)])
def test_the_environment_says_how_many_threads_to_use(told, threads, monkeypatch):
    monkeypatch.setenv("NPROC", told)
    assert response_training._threads() == threads


@pytest.mark.parametrize("told", ["", "0", "many"])
def test_else_there_are_as_many_threads_as_cores(told, monkeypatch):
    monkeypatch.setenv("NPROC", told)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3, 4})
    assert response_training._threads() == 5


# --- blocks ---------------------------------------------------------------------------------------------


def test_profiles_in_several_blocks_are_learned_nearly_as_well_as_in_one():
    member = NetworkSpec(FULL, 0, 1)
    (in_one,) = trained(member)
    (in_three,) = trained(member, config=TrainingConfig(block=3, pad=1))
    nothing_learned = likelihood(trained(NetworkSpec(CONSTANT, 0, 1))[0])
    lost = likelihood(in_one) - likelihood(in_three)
    assert abs(lost) < 0.05 * (likelihood(in_one) - nothing_learned)


@pytest.mark.parametrize(("rows", "block", "blocks"), [(8, 4096, 1), (8, 4, 2), (1000, 300, 4), (5000, 4096, 2)])
def test_blocks_hold_every_profile_once_and_zeros_beside(rows, block, blocks):
    inputs = np.arange(1, rows + 1, dtype=np.float32)[:, None]
    data = response_training._Blocks(rows, TrainingConfig(block=block))
    arranged = data.arrange(inputs)
    assert data.blocks == blocks
    assert arranged.shape == (blocks, 1, data.size)
    found = np.sort(arranged.ravel())
    np.testing.assert_array_equal(found[-rows:], inputs.ravel())
    assert not found[:-rows].any()
    np.testing.assert_array_equal(data.arrange(2 * inputs), 2 * arranged)


# --- the same network in JAX and in NumPy ---------------------------------------------------------------


@pytest.mark.parametrize("capacity", CAPACITIES, ids=str)
def test_numpy_gives_the_types_that_jax_gives(capacity):
    (network,) = trained(NetworkSpec(capacity, 0, 1))
    expected = jax.nn.softmax(networks.logits(network, INPUTS), axis=1)
    found = forward.probabilities(network, INPUTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_plain_network_has_the_loss_of_the_one_in_training(rank):
    """First weights of a member, with its indices apart and merged into the first layer."""
    width = 3 if rank == 0 else 5
    start = response_training._start(np.array([7], np.uint32), np.full((1, 8), 1 / 8, np.float32), 3, width, 16)
    weights = response_training._Weights(*(part[0] for part in start))
    kept = (np.arange(width) < (rank or width)).astype(np.float32)
    counts = COUNTS.T.astype(np.float32)
    loss = float(
        response_training._loss(
            weights, INPUTS.T, counts, kept, np.float32(COUNTS.sum()), TWO_BY_TWO.incidence.astype(np.float32)
        )
    )
    merged = response_training._merge_indices(weights, kept)
    assert likelihood(merged) == pytest.approx(-loss, rel=1e-5)  # single precision, 64 terms


def test_the_rate_rises_to_its_peak_and_falls_to_zero():
    done = np.linspace(0, 1, 101)
    rate = np.asarray(response_training._one_cycle(done, TrainingConfig().warm_up))
    assert rate.argmax() == 30
    assert rate[30] == pytest.approx(1)
    assert rate[0] == pytest.approx(0.04)
    assert rate[-1] == pytest.approx(0, abs=1e-6)
    assert (np.diff(rate[:31]) > 0).all()
    assert (np.diff(rate[30:]) < 0).all()


def test_without_knowledge_of_the_cores_it_may_use_a_process_takes_all(monkeypatch):
    monkeypatch.delenv("NPROC", raising=False)
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert response_training._threads() == 3
