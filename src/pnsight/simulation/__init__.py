"""Populations whose truth is known: the paper's by name, and random ones."""

from __future__ import annotations

from pnsight.simulation.catalog import NAMES, get
from pnsight.simulation.random_populations import KINDS, REPORTING_SEEDS, random_population
from pnsight.simulation.structural import CovariateNetwork, Population

__all__ = ["KINDS", "NAMES", "REPORTING_SEEDS", "CovariateNetwork", "Population", "get", "random_population"]
