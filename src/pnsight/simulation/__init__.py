"""Populations whose truth is known: the paper's and trials of other structures by name, and random ones."""

from __future__ import annotations

from pnsight.simulation.catalog import NAMES, get
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.log_linear import LogLinearPopulation, log_linear_population
from pnsight.simulation.population import Population
from pnsight.simulation.random_populations import KINDS, REPORTING_SEEDS, random_population
from pnsight.simulation.random_trials import TRIAL_KINDS, random_trial
from pnsight.simulation.structural import StructuralPopulation
from pnsight.simulation.table_design import FollowUp, TableDesign
from pnsight.simulation.trials import TRIAL_NAMES

__all__ = [
    "KINDS",
    "NAMES",
    "REPORTING_SEEDS",
    "TRIAL_KINDS",
    "TRIAL_NAMES",
    "CovariateNetwork",
    "FollowUp",
    "LogLinearPopulation",
    "Population",
    "StructuralPopulation",
    "TableDesign",
    "get",
    "log_linear_population",
    "random_population",
    "random_trial",
]
