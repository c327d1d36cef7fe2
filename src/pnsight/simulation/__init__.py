"""Populations whose truth is known: the paper's and trials of other structures by name, and random ones."""

from __future__ import annotations

from pnsight.simulation.catalog import NAMES, get, paper_population
from pnsight.simulation.covariate_network import CovariateNetwork
from pnsight.simulation.gaussian_covariates import GaussianCovariates
from pnsight.simulation.log_linear import LogLinearPopulation, log_linear_population
from pnsight.simulation.numeric_population import NumericPopulation
from pnsight.simulation.numeric_populations import NUMERIC_KINDS, numeric_population
from pnsight.simulation.population import Population
from pnsight.simulation.profile_population import ProfilePopulation
from pnsight.simulation.random_populations import KINDS, REPORTING_SEEDS, random_population
from pnsight.simulation.random_trials import TRIAL_KINDS, random_trial
from pnsight.simulation.structural import StructuralPopulation
from pnsight.simulation.table_design import FollowUp, TableDesign
from pnsight.simulation.trials import TRIAL_NAMES

__all__ = [
    "KINDS",
    "NAMES",
    "NUMERIC_KINDS",
    "REPORTING_SEEDS",
    "TRIAL_KINDS",
    "TRIAL_NAMES",
    "CovariateNetwork",
    "FollowUp",
    "GaussianCovariates",
    "LogLinearPopulation",
    "NumericPopulation",
    "Population",
    "ProfilePopulation",
    "StructuralPopulation",
    "TableDesign",
    "get",
    "log_linear_population",
    "numeric_population",
    "paper_population",
    "random_population",
    "random_trial",
]
