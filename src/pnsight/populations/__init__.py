"""Populations whose truth is known: the paper's by name, and random ones."""

from __future__ import annotations

from pnsight.populations.catalog import NAMES, get
from pnsight.populations.structural import CovariateNetwork, Population
from pnsight.populations.synthetic import KINDS, REPORTING_SEEDS, random

__all__ = ["KINDS", "NAMES", "REPORTING_SEEDS", "CovariateNetwork", "Population", "get", "random"]
