"""The configuration of a response-type model: a value that is checked, stored, read again and shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pnsight import ResponseTypeModel
from pnsight.errors import ModelError
from pnsight.models.response_types.capacity import CONSTANT, Capacity
from pnsight.models.response_types.config import Effort, LatentClassConfig, ResponseTypeConfig, TrainingConfig
from pnsight.models.stored import parse
from quick_config import EFFORT, QUICK


@pytest.mark.parametrize("config", [ResponseTypeConfig(), QUICK, replace(QUICK, training=TrainingConfig(pack=2))])
def test_a_configuration_comes_back_from_json(config):
    assert parse(json.loads(json.dumps(config.plain())), ResponseTypeConfig, "config") == config


def test_models_have_the_default_configuration_unless_they_are_given_another():
    assert ResponseTypeModel().config == ResponseTypeConfig()
    assert ResponseTypeModel(config=QUICK).config is QUICK


def test_a_configuration_is_shown_by_what_differs_from_the_default():
    assert repr(ResponseTypeConfig()) == "ResponseTypeConfig()"
    assert repr(ResponseTypeConfig(draws=64)) == "ResponseTypeConfig(draws=64)"
    assert str(ResponseTypeConfig(draws=64, folds=5)) == "other than the default: folds, draws"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (ResponseTypeConfig(draws=0), r"config\.draws has 0; expected a number of at least 1"),
        (ResponseTypeConfig(training=TrainingConfig(peak_rate=-1.0)), r"config\.training\.peak_rate has -1\.0"),
        (ResponseTypeConfig(training=TrainingConfig(peak_rate=float("nan"))), r"peak_rate has nan"),
        (ResponseTypeConfig(latent_classes=LatentClassConfig(classes=())), r"latent_classes\.classes is empty"),
        (ResponseTypeConfig(effort=Effort((Capacity(2, 8, 0.1),))), "expected the constant capacity first"),
        (ResponseTypeConfig(effort=Effort((CONSTANT, Capacity(2, 8, 0.1, 0)))), "at least one step"),
        (ResponseTypeConfig(effort=replace(EFFORT, folds=5)), r"config\.effort\.folds is 5; expected from 2 to"),
    ],
)
def test_a_configuration_that_nothing_can_be_fitted_with_is_refused(config, said):
    with pytest.raises(ModelError, match=said):
        ResponseTypeModel(config=config).validate_parameters()


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("draws", "many", r"parameters\.config\.draws is 'many'; expected a whole number"),
        ("training", {}, r"parameters\.config\.training\.pack is missing"),
        ("effort", 3, r"parameters\.config\.effort is 3; expected an object"),
        ("efforts", 3, r"parameters\.config\.efforts is 3; expected no part of this name"),
        ("effort", {**QUICK.plain()["effort"], "capacities": [[0, 0, 0.0]]}, r"capacities\.0\.3 is missing"),
    ],
)
def test_a_stored_configuration_that_was_changed_is_refused_with_its_place(place, value, said):
    with pytest.raises(ValueError, match=said):
        parse({**json.loads(json.dumps(QUICK.plain())), place: value}, ResponseTypeConfig, "parameters.config")
