"""Training: the paper's protocol, for several networks at once."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pnsight.models import mlp_jax as networks
from pnsight.models.bound_networks import train_jax as training
from pnsight.models.bound_networks.train_jax import LabelledInputs, TrainingProtocol, train_networks
from pnsight.models.mlp_numpy import predict

HIDDEN = (8, 4)
SHORT = TrainingProtocol(learning_rate=1e-2, batch_size=4096, epochs=12, validate_every=4)


def data(rows, seed=0, nets=2):
    """Inputs (rows, 3) and smooth targets (rows, nets) within (0, 1)."""
    inputs = np.random.default_rng(seed).uniform(-1, 1, (rows, 3)).astype(np.float32)
    slopes = np.array([[2, -1, 0.5], [-1, 1, 1], [0.5, 0.5, -2]], dtype=np.float32)
    return LabelledInputs(inputs, 1 / (1 + np.exp(-inputs @ slopes[:, :nets])))


def train(fit=None, validation=None, protocol=SHORT, seed=3, **options):
    return train_networks(
        data(300) if fit is None else fit,
        data(100, seed=1) if validation is None else validation,
        seed=seed,
        hidden=HIDDEN,
        protocol=protocol,
        **options,
    )


def train_by_hand(examples, protocol, seed, weights=None):
    """Train the networks one after another: no padding, no blocks, one slice of the data per batch."""
    inputs, targets = examples.inputs, examples.targets
    weights = np.ones_like(targets) if weights is None else weights
    trained = []
    for k in range(targets.shape[1]):
        rng = np.random.default_rng(seed)
        parameters, state = begin_by_hand(jax.random.key(seed), k)
        for _ in range(protocol.epochs):
            order = rng.permutation(len(inputs))
            for start in range(0, len(inputs), protocol.batch_size):
                rows = order[start : start + protocol.batch_size]
                if weights[rows, k].any():
                    batch = inputs[rows], targets[rows, k], weights[rows, k]
                    parameters, state = step_by_hand(parameters, state, protocol.learning_rate, *batch)
        trained.append(parameters)
    return trained


@jax.jit
def begin_by_hand(key, k):
    parameters = networks.initialise(jax.random.fold_in(key, k), (3, *HIDDEN, 1))
    return parameters, optax.adam(0).init(parameters)


@jax.jit
def step_by_hand(parameters, state, learning_rate, inputs, targets, weights):
    def loss(parameters):
        return jnp.average((networks.predict(parameters, inputs) - targets) ** 2, weights=weights)

    updates, state = optax.adam(learning_rate).update(jax.grad(loss)(parameters), state)
    return optax.apply_updates(parameters, updates), state


def assert_same_networks(found, expected, atol):
    for network, other in zip(found, expected, strict=True):
        for layer, other_layer in zip(network, other, strict=True):
            for array, other_array in zip(layer, other_layer, strict=True):
                assert np.allclose(array, other_array, rtol=0, atol=atol)


def validation_mse_by_hand(result, validation):
    answers = np.stack([predict(network, validation.inputs) for network in result.networks], axis=1)
    return np.mean((answers - validation.targets) ** 2, axis=0)


@pytest.mark.parametrize(
    ("rows", "batch_size"),
    [(300, 4096), (300, 300), (300, 128), (900, 600), (1024, 1024)],
    ids=["one batch", "one full batch", "smaller last batch", "several blocks", "full blocks"],
)
def test_padding_and_blocks_do_not_change_the_result(rows, batch_size):
    # One validation, at the end, so that the checkpoint kept is the network after the last epoch.
    protocol = TrainingProtocol(learning_rate=1e-2, batch_size=batch_size, epochs=13, validate_every=13)
    result = train(data(rows), protocol=protocol)
    assert_same_networks(result.networks, train_by_hand(data(rows), protocol, seed=3), atol=1e-5)


def test_a_network_sees_only_rows_that_weigh_something_for_it_and_skips_batches_without_any():
    weights = np.zeros((300, 2), dtype=np.float32)
    weights[:150, 0] = 1
    weights[[200, 250], 1] = 2, 1  # two rows, three batches: one batch at least has neither
    protocol = TrainingProtocol(learning_rate=1e-2, batch_size=128, epochs=5, validate_every=5)
    examples = dataclasses.replace(data(300), weights=weights)
    result = train(examples, protocol=protocol)
    assert_same_networks(result.networks, train_by_hand(examples, protocol, seed=3, weights=weights), atol=1e-5)


def test_targets_that_weigh_nothing_may_be_anything_and_leave_the_other_network_alone():
    weights = np.ones((300, 2))
    weights[100:200, 1] = 0
    spoiled = data(300).targets.copy()
    spoiled[100:200, 1] = np.nan
    hidden = train(LabelledInputs(data(300).inputs, spoiled, weights))
    plain = train()
    masked = train(dataclasses.replace(data(300), weights=weights))
    assert_same_networks(hidden.networks, masked.networks, atol=0)
    assert_same_networks(hidden.networks[:1], plain.networks[:1], atol=0)
    assert np.abs(hidden.networks[1][0][0] - plain.networks[1][0][0]).max() > 1e-4


def test_weights_of_the_validation_rows_count():
    weights = np.zeros((100, 2))
    weights[:10] = 1
    first_ten = LabelledInputs(data(100, seed=1).inputs[:10], data(100, seed=1).targets[:10])
    weighted = train(validation=dataclasses.replace(data(100, seed=1), weights=weights))
    assert np.allclose(weighted.history.validation_mse, train(validation=first_ten).history.validation_mse, rtol=1e-5)


def test_each_network_is_kept_as_it_was_at_its_own_lowest_validation_mse():
    # A large step and noisy targets make validation go up and down, differently for each network.
    noisy = LabelledInputs(data(60).inputs, np.random.default_rng(5).random((60, 2)))
    validation = LabelledInputs(data(40, seed=1).inputs, np.random.default_rng(6).random((40, 2)))
    protocol = TrainingProtocol(learning_rate=0.05, batch_size=16, epochs=60, validate_every=2)
    result = train(noisy, validation, protocol)
    history = result.history
    best = history.validation_mse.argmin(axis=0)
    assert len(set(best)) > 1
    assert best.max() < len(history.epochs) - 1
    assert result.best_epoch.tolist() == history.epochs[best].tolist()
    assert np.allclose(validation_mse_by_hand(result, validation), history.validation_mse.min(axis=0), rtol=1e-4)


def test_history_has_an_entry_every_few_epochs_and_at_the_last():
    protocol = dataclasses.replace(SHORT, epochs=10)
    history = train(protocol=protocol).history
    assert history.epochs.tolist() == [4, 8, 10]
    assert history.train_mse.shape == history.validation_mse.shape == (3, 2)
    assert_same_networks(
        train(protocol=protocol).networks,
        train_by_hand(data(300), protocol, seed=3),
        atol=1e-5,
    )


def test_training_mse_is_the_running_mean_over_the_rows_of_the_epoch():
    # With a learning rate of zero nothing moves, and the running mean is the plain one.
    still = TrainingProtocol(learning_rate=0.0, batch_size=70, epochs=1, validate_every=1)
    result = train(data(300), validation=data(300), protocol=still)
    assert np.allclose(result.history.train_mse, result.history.validation_mse, rtol=1e-5)


def test_monitors_record_the_mean_absolute_error_and_change_nothing():
    monitor = data(700, seed=9)
    result = train(protocol=dataclasses.replace(SHORT, validate_every=12), monitors={"oracle": monitor})
    answers = np.stack([predict(network, monitor.inputs) for network in result.networks], axis=1)
    expected = np.abs(answers - monitor.targets).mean(axis=0)
    assert np.allclose(result.history.monitor_mae["oracle"], [expected], rtol=1e-4)
    assert_same_networks(result.networks, train(protocol=dataclasses.replace(SHORT, validate_every=12)).networks, 0)


def test_same_seed_same_answer_and_another_seed_another():
    assert_same_networks(train(seed=4).networks, train(seed=4).networks, atol=0)
    assert np.abs(train(seed=4).networks[0][0][0] - train(seed=5).networks[0][0][0]).max() > 1e-2


def test_progress_is_told_after_each_validation():
    told = []
    result = train(progress=lambda *news: told.append(news))
    assert [(epoch, epochs) for epoch, epochs, _, _ in told] == [(4, 12), (8, 12), (12, 12)]
    assert np.array_equal([train_mse for _, _, train_mse, _ in told], result.history.train_mse)
    assert np.array_equal([validation_mse for *_, validation_mse in told], result.history.validation_mse)


def test_data_of_the_same_padded_shape_share_compiled_code():
    train(data(300), data(100))
    compiled = training._train._cache_size(), training._errors._cache_size()
    other = dataclasses.replace(SHORT, learning_rate=1e-3, batch_size=100, epochs=6)
    train(data(4096), data(3000), protocol=other)
    assert (training._train._cache_size(), training._errors._cache_size()) == compiled


@pytest.mark.parametrize(("rows", "padded"), [(1, 4096), (4096, 4096), (4097, 8192), (25_000, 32_768)])
def test_rows_are_padded_to_a_power_of_two(rows, padded):
    assert training._padded_rows(rows) == padded


@pytest.mark.parametrize("activation", ["mish", "relu"])
def test_networks_learn_smooth_functions(activation):
    protocol = TrainingProtocol(learning_rate=1e-2, batch_size=500, epochs=200, validate_every=10)
    result = train(data(1000), protocol=protocol, activation=activation)
    assert result.history.validation_mse.min(axis=0).max() < 2e-3
    assert result.activation == activation


@pytest.mark.parametrize("setting", ["batch_size", "epochs", "validate_every"])
def test_a_protocol_without_work_is_refused(setting):
    with pytest.raises(ValueError, match=f"{setting} is 0; give a whole number of at least 1"):
        train(protocol=dataclasses.replace(SHORT, **{setting: 0}))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"training inputs have shape \(300, 3\), targets \(200, 2\)"):
        train(LabelledInputs(data(300).inputs, data(200).targets))
    with pytest.raises(ValueError, match=r"validation inputs .* training has p = 3 and K = 2"):
        train(validation=data(100, nets=3))


def test_values_that_cannot_be_learned_are_refused():
    inputs, targets = data(300).inputs, data(300).targets
    with pytest.raises(ValueError, match="training has a NaN or infinite value"):
        train(LabelledInputs(inputs, targets * np.nan))
    with pytest.raises(ValueError, match="training has a weight of -1"):
        train(LabelledInputs(inputs, targets, -np.ones((300, 2))))
    with pytest.raises(ValueError, match="validation has no row for network 1 of 2"):
        train(validation=LabelledInputs(inputs, targets, np.tile([1, 0], (300, 1))))
