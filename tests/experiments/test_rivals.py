"""Rivals: shares estimated one by one are made coherent, and a Transformer trains by Mask-MLP's protocol."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import pnsight
from pnsight import simulation as populations
from pnsight.estimands.compiled import coherence_terms
from pnsight_experiments.response_type_tables import beside_rivals
from pnsight_experiments.rivals import RIVALS, ShareByShare, Shares
from pnsight_experiments.scores import errors, truth
from pnsight_experiments.settings import PRESETS
from pnsight_experiments.summary import transformer_table
from pnsight_experiments.transformer import MaskTransformer


@pytest.fixture(scope="module")
def study():
    return populations.get("mediator").sample(experimental=4000, observational=4000, seed=301)


def test_five_shares_become_a_law_that_is_possible(study, monkeypatch):
    """Whatever a rival says of each share: here of every one that it is nine tenths, or one."""
    for share in (0.9, 1.0):
        monkeypatch.setitem(RIVALS, "lightgbm", lambda known, asked, share=share: np.full(len(asked), share))
        law = ShareByShare(rival="lightgbm").fit(study).law(["z1=1", "z1=0,z4=1", ""])
        assert (coherence_terms(law.structure)(law) > -1e-6).all()


def test_a_gaussian_process_is_nearer_to_the_truth_than_the_plug_in():
    known, study = truth("mediator"), populations.get("mediator").sample(experimental=800, observational=800, seed=301)
    found = {}
    for name, model in (("plug-in", pnsight.PlugIn()), ("rival", ShareByShare(rival="gaussian-process"))):
        lower, upper = model.fit(study).raw_ends(known.codes).T
        found[name] = errors(known, lower, upper, ~(np.isnan(lower) | np.isnan(upper)))
    assert found["rival"]["mask_scored"] == len(known.codes)  # it answers about everybody
    for end in ("lower", "upper"):
        assert found["rival"][f"mask_{end}_mae"] < found["plug-in"][f"mask_{end}_mae"]


@pytest.mark.parametrize("rival", RIVALS)
def test_a_share_that_is_the_same_for_all_is_not_asked_of_a_rival(rival, study):
    """All of the treated respond: a method that takes yes and no cannot be fitted to that."""
    y_x, n_x = study.counts[:, :1], study.counts[:, 1:2]
    counts = np.concatenate([y_x + n_x, 0 * n_x, study.counts[:, 2:]], axis=1)
    model = ShareByShare(rival=rival)
    everyone = model._share(study, study.profiles, *counts.T[:2])
    nobody = model._share(study, study.profiles, *counts.T[1::-1])
    np.testing.assert_allclose([everyone, nobody], [np.ones(len(counts)), np.zeros(len(counts))], atol=1e-3)


def test_rows_are_counted_out_again():
    features, said = Shares(np.array([[1.0], [-1.0]]), np.array([2.0, 0.0]), np.array([3.0, 2.0]), 0).expanded()
    assert sorted(zip(features[:, 0], said, strict=True)) == [(-1, 0), (-1, 0), (1, 0), (1, 1), (1, 1)]


@pytest.mark.parametrize(("rival", "library"), [("lightgbm", "lightgbm"), ("bart", "stochtree")])
def test_a_library_that_is_missing_is_named_with_what_to_install(rival, library, study, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(pnsight.PnsightError, match=rf"{rival} needs a library: .*{library}.*\[rivals\]"):
        ShareByShare(rival=rival).fit(study)


def test_the_table_compares_ours_with_the_best_rival():
    row = {"note": "", "held_out": 0.0, "dropped": "", "population": "mediator"}
    errors_of = {"plug-in": 0.1, "bart": 0.03, "lightgbm": 0.06, "response-types": 0.02}
    rows = [{**row, "learner": name, "mask_lower_mae": e, "mask_upper_mae": e} for name, e in errors_of.items()]
    found = beside_rivals(rows)
    assert found["gaussian-process"] == [""]
    assert found["best rival over ours"] == ["1.50"]


def test_a_transformer_learns_the_bounds_of_well_supported_queries(study):
    training = {"min_rows": 900, "validation": "queries", "learning_rate": 0.01, "random_state": 1}
    start, later = (MaskTransformer(epochs=epochs, **training).fit(study) for epochs in (10, 40))
    assert later.best_epochs_[0] > 10
    assert later.tried_[900] < start.tried_[900]
    again = MaskTransformer(epochs=10, **training).fit(study)
    asked = study.profiles[:50]
    np.testing.assert_array_equal(again.raw_ends(asked), start.raw_ends(asked))


def test_the_transformer_is_compared_on_the_seeds_that_both_networks_have():
    row = {"note": "", "held_out": 0.0, "population": "mediator", "budget": 200_000, "threshold": "300"}
    cells = [("mask-mlp", 1, 0.02), ("mask-mlp", 2, 0.5), ("mask-transformer", 1, 0.03)]
    found = transformer_table(
        [
            {**row, "validation": "queries", "learner": name, "seed": seed, "mask_lower_mae": e, "mask_upper_mae": e}
            for name, seed, e in cells
        ]
    )
    assert (found["seeds"], found["ratio"]) == ([1], ["1.50"])


def test_the_presets_are_what_they_say():
    (rivals,), (transformer,) = PRESETS["rivals"], PRESETS["transformer"]
    assert len(rivals.settings()) == 11 * 5
    assert len(transformer.settings()) == 5 * 3 * 2
