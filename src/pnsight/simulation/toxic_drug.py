"""A study with names: a drug that helps many and harms some, in a trial and in a registry where people chose.

The story is that of S. Mueller and J. Pearl (2023), "Personalized decision making: a conceptual introduction": a drug
that harms hardly a woman but many men, which no trial shows by itself. The comorbidities and all numbers are invented.
Two hidden causes, a hardy constitution and a sensitivity to the drug, move what people choose as well as what happens
to them. In the registry those with the drug recover as often as those without; among men with kidney disease the trial
finds hardly an effect, and both tables together show that the drug helps many of them and harms as many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.two_by_two import two_by_two
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.structural import StructuralPopulation
from pnsight.simulation.table_design import TableDesign

NAME = "toxic-drug"

_NO_YES = ("no", "yes")

_COVARIATES = CovariateNetwork(
    ("age_group", "sex", "severity", "diabetes", "kidney_disease", "heart_failure", "smoker", "treated_before"),
    ((), (), (0,), (0,), (0, 3), (0,), (1,), (2,)),
    (
        np.array(0.42),
        np.array(0.48),
        np.array([0.35, 0.5]),
        np.array([0.14, 0.28]),
        np.array([[0.07, 0.22], [0.16, 0.38]]),
        np.array([0.06, 0.2]),
        np.array([0.2, 0.3]),
        np.array([0.25, 0.45]),
    ),
    (("under-65", "65+"), ("female", "male"), ("mild", "severe"), *(_NO_YES,) * 5),
)
"""Older people are more often severely ill and have more of the other illnesses; diabetes goes with kidney disease."""

_HARDY, _SENSITIVE = 0.2, 0.4
"""How common the hidden causes are."""


def _logistic(score: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-score)))


def _columns(z: npt.NDArray[Any]) -> tuple[FloatArray, ...]:
    """Each covariate as a column, shape (profiles, 1)."""
    return tuple(z[:, j : j + 1].astype(np.float64) for j in range(z.shape[1]))


def _chosen(z: npt.NDArray[Any], h: Codes) -> FloatArray:
    """P(drug | z, h): the severely ill ask for it, the hardy and those who feel that it harms them go without."""
    old, male, severe, diabetes, kidney, heart, smoker, before = _columns(z)
    hardy, sensitive = h.T.astype(np.float64)
    known = 2.2 + 0.9 * severe - 0.3 * old - 0.4 * kidney - 0.3 * heart + 0.2 * diabetes - 0.2 * smoker
    warned = sensitive * (4.6 * male + 3.4 * kidney + 0.6 * before)
    return _logistic(known - warned - 4.5 * hardy + 0.4 * before)


def _responses(z: npt.NDArray[Any], h: Codes) -> FloatArray:
    """P(recovers without, recovers with | z, h), in the order never, helped, harmed, always; shape (n, m, 4)."""
    old, male, severe, diabetes, kidney, heart, smoker, before = _columns(z)
    hardy, sensitive = h.T.astype(np.float64)
    illness = 0.7 * severe + 0.4 * old + 0.3 * diabetes + 0.5 * heart + 0.2 * smoker
    without = _logistic(-3.0 + 5.2 * hardy + 3.6 * male * sensitive - 1.0 * male + 2.4 * kidney * sensitive - illness)
    helps = _logistic(
        -0.9
        + 1.2 * severe
        + 1.6 * male
        - 0.5 * old
        - 0.6 * heart
        - 0.3 * smoker
        + 0.4 * before
        - sensitive * (1.8 * male + 2.6 * kidney)
    )
    harms = _logistic(-4.5 + sensitive * (5.2 * male + 3.8 * kidney + 0.6 * old))
    return np.stack(
        [(1 - without) * (1 - helps), (1 - without) * helps, without * harms, without * (1 - harms)], axis=-1
    )


def toxic_drug() -> StructuralPopulation:
    """The population: drug or standard care, recovered or not, and eight covariates with names."""
    return StructuralPopulation(
        NAME,
        _COVARIATES,
        np.array([_HARDY, _SENSITIVE]),
        _chosen,
        _responses,
        (("Z", "X"), ("Z", "Y"), ("X", "Y")),
        two_by_two(("standard care", "drug"), ("not recovered", "recovered")),
        TableDesign("treatment", "outcome"),
    )
