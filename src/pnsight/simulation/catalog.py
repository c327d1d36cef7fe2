"""The paper's populations, and all others by name.

Source: appendix "The Causal Model" of Wang, Sun, Pearl and Li, "Learning Probabilities of Causation with
Mask-Augmented Data"; coefficients digit for digit. Twenty independent covariates, of which the first ten are
observed. `direct` is as printed, which makes the outcome impossible under treatment; `direct-positive` has the
sign of C_Y turned, the likely intent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.errors import PopulationError, did_you_mean, join_names
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.numeric_populations import NUMERIC_KINDS, numeric_population
from pnsight.simulation.population import Population
from pnsight.simulation.random_populations import KINDS, random_population
from pnsight.simulation.random_trials import TRIAL_KINDS, random_trial
from pnsight.simulation.structural import RESPONSES, Equation, StructuralPopulation
from pnsight.simulation.toxic_drug import NAME as TOXIC_DRUG
from pnsight.simulation.toxic_drug import toxic_drug
from pnsight.simulation.trials import TRIALS

OBSERVED = 10

X_WEIGHTS = np.array(
    [
        0.259223510143,
        -0.658140989167,
        -0.75025831768,
        0.162906462426,
        0.652023463285,
        -0.0892939586541,
        0.421469107769,
        -0.443129684766,
        0.802624388789,
        -0.225740978499,
        0.716621631717,
        0.0650682260309,
        -0.220690334026,
        0.156355773665,
        -0.50693672491,
        -0.707060278115,
        0.418812816935,
        -0.0822118703986,
        0.769299853833,
        -0.511585391002,
    ]
)
Y_WEIGHTS = np.array(
    [
        -0.792867111918,
        0.759967136147,
        0.55437722369,
        0.503970540409,
        -0.527187144651,
        0.378619988091,
        0.269255196301,
        0.671597043594,
        0.396010142274,
        0.325228576643,
        0.657808327574,
        0.801655023993,
        0.0907679484097,
        -0.0713852594543,
        -0.0691046005285,
        -0.222582013343,
        -0.848408031595,
        -0.584285069026,
        -0.324874831799,
        0.625621583197,
    ]
)
Z_PROBABILITIES = np.array(
    [
        0.352913861526,
        0.460995855543,
        0.331702473392,
        0.885505026779,
        0.017026872706,
        0.380772701708,
        0.028092602705,
        0.220819399962,
        0.617742227477,
        0.981975046713,
        0.142042291381,
        0.833602592350,
        0.882938907115,
        0.542143191999,
        0.085023436884,
        0.645357252864,
        0.863787135134,
        0.460539711624,
        0.314014079207,
        0.685879388218,
    ]
)
C_Y = -0.77953605542
U_X, U_Y = 0.601680857267, 0.497668975278

MEDIATOR_U_X, MEDIATOR_U_Y, U_M = 0.698319142733, 0.502331024722, 0.402331024722
C_M, C_Y_M, C_Y_X = -0.74234511918, 0.24235642321, 0.87953605542

_COVARIATES = CovariateNetwork.independent(tuple(f"z{i}" for i in range(1, OBSERVED + 1)), Z_PROBABILITIES[:OBSERVED])
_HIDDEN = Z_PROBABILITIES[OBSERVED:]
_CONFOUNDED = (("Z", "X"), ("Z", "Y"), ("X", "Y"))


def _index(weights: FloatArray, z: Codes, h: Codes) -> FloatArray:
    """Z_1..Z_20 times the weights, shape (profiles, hidden states)."""
    return (z @ weights[:OBSERVED])[:, None] + (h @ weights[OBSERVED:])[None, :]


def _chances(*probabilities: float) -> Iterable[tuple[float, tuple[int, ...]]]:
    """Every state of independent private causes with its probability."""
    for state in np.ndindex(*(2,) * len(probabilities)):
        yield float(np.prod([p if u else 1 - p for p, u in zip(probabilities, state, strict=True)])), state


def _chosen_above_half(u_x: float, z: Codes, h: Codes) -> FloatArray:
    """X = 1 if X_Z + U_X > 0.5."""
    index = _index(X_WEIGHTS, z, h)
    chance = np.zeros_like(index)
    for p, (u,) in _chances(u_x):
        chance += p * (index + u > 0.5)
    return chance


def _chosen_by_coin(u_x: float, z: Codes, h: Codes) -> FloatArray:
    """X = 1 if U_X > 0.5, whatever the covariates."""
    return np.full((len(z), len(h)), u_x)


def _respond(shape: tuple[int, ...], states: Iterable[tuple[float, FloatArray, FloatArray]]) -> FloatArray:
    """Response shares from each private state's probability and its outcomes untreated and treated."""
    shares = np.zeros((*shape, len(RESPONSES)))
    for p, untreated, treated in states:
        for k, (y0, y1) in enumerate(RESPONSES):
            shares[..., k] += p * ((untreated == y0) & (treated == y1))
    return shares


def _banded_responses(c_y: float, u_y: float, z: Codes, h: Codes) -> FloatArray:
    """Y = 1 if 0 < C_Y X + Y_Z + U_Y < 1 or 1 < C_Y X + Y_Z + U_Y < 2."""

    def y(score: FloatArray) -> FloatArray:
        return np.asarray((score > 0) & (score < 2) & (score != 1))

    index = _index(Y_WEIGHTS, z, h)
    return _respond(index.shape, ((p, y(index + u), y(c_y + index + u)) for p, (u,) in _chances(u_y)))


def _direct_responses(c_y: float, u_y: float, z: Codes, h: Codes) -> FloatArray:
    """Y = 1 if C_Y X + U_Y > 0.7."""
    states = ((p, np.asarray(u > 0.7), np.asarray(c_y + u > 0.7)) for p, (u,) in _chances(u_y))
    return _respond((len(z), len(h)), states)


def _mediated_responses(z: Codes, h: Codes) -> FloatArray:
    """M = 1 if C_M X + U_M > 0.5; Y = 1 if C_YX X + C_YM M + Y_Z + U_Y > 2."""
    index = _index(Y_WEIGHTS, z, h)

    def y(x: int, u_m: int, u_y: int) -> FloatArray:
        m = C_M * x + u_m > 0.5
        return np.asarray(C_Y_X * x + C_Y_M * m + index + u_y > 2)

    states = ((p, y(0, u_m, u_y), y(1, u_m, u_y)) for p, (u_m, u_y) in _chances(U_M, MEDIATOR_U_Y))
    return _respond(index.shape, states)


def _confounder() -> StructuralPopulation:
    choice, responses = partial(_chosen_above_half, U_X), partial(_banded_responses, C_Y, U_Y)
    return StructuralPopulation("confounder", _COVARIATES, _HIDDEN, choice, responses, _CONFOUNDED)


def _covariate() -> StructuralPopulation:
    choice, responses = partial(_chosen_by_coin, U_X), partial(_banded_responses, C_Y, U_Y)
    return StructuralPopulation("covariate", _COVARIATES, _HIDDEN, choice, responses, (("Z", "Y"), ("X", "Y")))


def _direct(name: str, c_y: float) -> StructuralPopulation:
    choice: Equation = partial(_chosen_by_coin, U_X)
    none_hidden = np.zeros(0)  # nothing depends on Z, so there is nothing to sum out
    return StructuralPopulation(
        name, _COVARIATES, none_hidden, choice, partial(_direct_responses, c_y, U_Y), (("X", "Y"),)
    )


def _mediator() -> StructuralPopulation:
    choice, arrows = partial(_chosen_above_half, MEDIATOR_U_X), (*_CONFOUNDED, ("X", "M"), ("M", "Y"))
    return StructuralPopulation("mediator", _COVARIATES, _HIDDEN, choice, _mediated_responses, arrows)


_CATALOG: dict[str, Callable[[], StructuralPopulation]] = {
    "confounder": _confounder,
    "covariate": _covariate,
    "direct": partial(_direct, "direct", C_Y),
    "direct-positive": partial(_direct, "direct-positive", -C_Y),
    "mediator": _mediator,
}

NAMES = tuple(_CATALOG)
"""Names of the paper's populations."""

RANDOM: dict[str, Callable[[str, int], Population]] = {
    **dict.fromkeys(KINDS, random_population),
    **dict.fromkeys(TRIAL_KINDS, random_trial),
    **dict.fromkeys(NUMERIC_KINDS, numeric_population),
}
"""By kind of random population, how one is made of its kind and seed."""


def paper_population(name: str) -> StructuralPopulation:
    """One of the paper's populations, by a name among `NAMES`."""
    return _CATALOG[name]()


@cache
def get(name: str) -> Population:
    """A population by name: one of the paper's, a study with names, a trial of another structure, or ``kind:seed``."""
    kind, colon, seed = name.partition(":")
    if colon and seed.isdecimal() and kind in RANDOM:
        return RANDOM[kind](kind, int(seed))
    known: dict[str, Callable[[], Population]] = {**_CATALOG, TOXIC_DRUG: toxic_drug, **TRIALS}
    if name not in known:
        raise PopulationError(
            f"no population is called {name!r}; there are {join_names(known)}, and random ones written kind:seed "
            f"with a kind among {join_names(RANDOM)}, such as tree:7." + did_you_mean(name, known)
        )
    return known[name]()
