"""Networks: activations, first weights, and the same answers from JAX and from NumPy."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pnsight.models import mlp_jax as networks
from pnsight.models import mlp_numpy as forward

POINTS = np.concatenate([np.linspace(-30, 30, 601), [-1e30, -100, -88, 0, 88, 100, 1e30]]).astype(np.float32)


def mish_by_definition(x):
    return x * jnp.tanh(jax.nn.softplus(x))


def random_network(sizes=(30, 64, 32, 16, 1)):
    return networks.initialise(jax.random.key(0), sizes)


def as_layers(parameters):
    return tuple((np.asarray(weights), np.asarray(bias)) for weights, bias in parameters)


@pytest.mark.parametrize("mish", [networks.mish, forward.mish], ids=["jax", "numpy"])
def test_mish_is_x_times_tanh_of_softplus(mish):
    assert np.allclose(mish(POINTS), mish_by_definition(POINTS), rtol=1e-6, atol=1e-6)


def test_slope_of_mish_is_the_slope_of_its_definition():
    slope = jax.vmap(jax.grad(networks.mish))(POINTS)
    # Differentiating the definition in float32 is itself no more accurate than this.
    assert np.allclose(slope, jax.vmap(jax.grad(mish_by_definition))(POINTS), rtol=0, atol=5e-6)


def test_mish_far_out_is_the_identity_on_the_right_and_zero_on_the_left():
    far = jnp.array([100.0, -100.0])
    assert networks.mish(far).tolist() == [100.0, 0.0]
    assert jax.vmap(jax.grad(networks.mish))(far).tolist() == [1.0, 0.0]


def test_mish_can_be_differentiated_twice():
    second = jax.vmap(jax.grad(jax.grad(networks.mish)))(jnp.linspace(-5, 5, 21))
    expected = jax.vmap(jax.grad(jax.grad(mish_by_definition)))(jnp.linspace(-5, 5, 21))
    assert np.allclose(second, expected, atol=1e-5)


@pytest.mark.parametrize("activation", ["mish", "relu"])
def test_numpy_and_jax_give_the_same_answers(activation):
    parameters = random_network()
    inputs = np.random.default_rng(0).normal(size=(2500, 30)).astype(np.float32)
    expected = networks.predict(parameters, inputs, activation)
    answers = forward.predict(as_layers(parameters), inputs, activation)
    assert answers.shape == (2500,)
    assert answers.dtype == np.float32
    assert np.allclose(answers, expected, rtol=0, atol=1e-6)


def test_numpy_and_jax_agree_where_the_sigmoid_saturates():
    parameters = random_network((3, 1))
    inputs = np.array([[-1e3, 1e3, -1e3], [1e3, -1e3, 1e3], [0, 0, 0]], dtype=np.float32)
    expected = networks.predict(parameters, inputs)
    assert np.allclose(forward.predict(as_layers(parameters), inputs), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 100, 700, 1024, 1025, 3000])
def test_a_product_in_parts_is_the_product(rows):
    rng = np.random.default_rng(0)
    values, weights = (rng.normal(size=(n, 30)).astype(np.float32) for n in (rows, 32))
    np.testing.assert_allclose(forward._product(values, weights), values @ weights.T, rtol=1e-5, atol=1e-5)


def test_no_rows_have_no_answers():
    assert forward.predict(as_layers(random_network()), np.empty((0, 30))).shape == (0,)


def test_first_weights_are_uniform_within_one_over_root_of_the_inputs():
    parameters = random_network((100, 400, 5))
    for (weights, bias), (inputs, outputs) in zip(parameters, [(100, 400), (400, 5)], strict=True):
        assert weights.shape == (outputs, inputs)
        assert bias.shape == (outputs,)
        assert weights.dtype == bias.dtype == jnp.float32
        assert jnp.abs(weights).max() <= inputs**-0.5
        assert jnp.abs(bias).max() <= inputs**-0.5
    # 40,000 draws: the standard deviation of a uniform is known to about half a percent.
    assert float(parameters[0][0].std()) == pytest.approx(0.1 / np.sqrt(3), rel=0.02)


def test_a_network_may_have_several_outputs():
    assert networks.logits(random_network((4, 6, 8)), jnp.ones((10, 4))).shape == (10, 8)


def test_the_numpy_forward_pass_does_not_load_jax():
    source = "import sys, pnsight.models.mlp_numpy; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 0
