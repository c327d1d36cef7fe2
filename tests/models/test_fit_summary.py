"""What a fit chose can be stored and read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pnsight.models.response_types.fit_summary import CapacityScore, CovariateSummary, FitSummary


def chosen(prior_rows: float, inflation: float | None = 1.6, no_network: bool = False) -> FitSummary:
    covariates = (CovariateSummary("experimental", 2, 0.25, True, ((1, -3.5), (2, -3.25))),)
    return FitSummary(
        (CapacityScore("2 indices", 0.0, 1.0),),
        prior_rows,
        ((30.0, -0.5), (np.inf, -0.75)),
        8,
        inflation,
        covariates,
        () if inflation is None else (0.9, 0.8, 0.75),
        no_network,
    )


@pytest.mark.parametrize("prior_rows", [30.0, np.inf])
@pytest.mark.parametrize(("inflation", "no_network"), [(1.6, False), (None, False), (1.0, True)])
def test_a_summary_comes_back_from_json(prior_rows, inflation, no_network):
    summary = chosen(prior_rows, inflation, no_network)
    assert FitSummary.from_plain(json.loads(json.dumps(summary.plain()))) == summary


def test_the_words_say_how_the_rows_of_a_profile_count():
    assert "weighed against the networks, which are worth 30 rows" in str(chosen(30.0))
    assert "Shrinkage: none" in str(chosen(np.inf))


def test_the_words_say_what_the_covariates_are_like():
    assert "experimental table: independent within 2 latent classes; profiles as counted weigh 25.0%" in str(chosen(30))


def test_without_intervals_there_are_no_words_about_them():
    assert "Intervals: standard errors from simulated studies, times 1.60." in str(chosen(30))
    assert "Intervals" not in str(chosen(30, None))


def test_where_no_network_told_people_apart_the_words_say_what_took_its_place():
    said = str(chosen(np.inf, 1.0, no_network=True))
    assert "No network told people apart better than chance" in said
    assert "random effect" in said
    assert "Shrinkage" not in said
    assert "simulated studies" not in said
