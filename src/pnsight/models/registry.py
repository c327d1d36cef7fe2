"""Registry of models: the name that the command line and stored models use, and the class that it stands for.

A class is imported when it is asked for, so that a list of names costs nothing.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING

from pnsight.errors import ModelError, did_you_mean, join_names

if TYPE_CHECKING:
    from pnsight.models.base import Model

MODELS: dict[str, str] = {
    "response-types": "pnsight.models.response_types.model:ResponseTypeModel",
    "mask-mlp": "pnsight.models.bound_networks.regressor:MaskMLP",
    "exact-mlp": "pnsight.models.bound_networks.regressor:ExactMLP",
    "plug-in": "pnsight.models.plug_in:PlugIn",
}
"""Where each model is defined, as ``module:Class``, by its name and in the order in which they are listed."""


def find_model(name: str) -> type[Model]:
    """The class of the model of that name.

    Parameters
    ----------
    name
        One of `MODELS`.

    Returns
    -------
    Its class; raises `ModelError` with a suggestion where there is none.
    """
    if name not in MODELS:
        raise ModelError(f"no model is called {name!r}; known: {join_names(MODELS)}." + did_you_mean(name, MODELS))
    module, _, attribute = MODELS[name].partition(":")
    found: type[Model] = getattr(import_module(module), attribute)
    return found


def constructor_parameters(name: str) -> tuple[str, ...]:
    """What the constructor of a model takes.

    Parameters
    ----------
    name
        One of `MODELS`.

    Returns
    -------
    Names of the parameters, in order.
    """
    return tuple(inspect.signature(find_model(name)).parameters)
