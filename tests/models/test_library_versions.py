"""A model says which libraries fitted it, and whoever reads it with others is told."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

import pnsight
from cases import WOMEN
from noted import kinds, values
from pnsight.models import library_versions
from pnsight.models.suppression import suppress
from stored_models import changed, description_of


@pytest.fixture
def folder(tmp_path):
    pnsight.save(pnsight.PlugIn().fit(WOMEN.study()), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def of_others(folder):
    """The folder of a model that another JAX fitted."""
    changed(folder, libraries=description_of(folder)["libraries"] | {"jax": "0.0.1"})
    return folder


def test_a_stored_model_says_which_libraries_fitted_it(folder):
    assert description_of(folder)["libraries"] == {
        "pnsight": pnsight.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "jax": version("jax"),
    }


def test_nothing_is_said_where_the_same_libraries_read_it(folder):
    assert pnsight.load(folder).read_notes == ()
    assert pnsight.PlugIn().fit(WOMEN.study()).read_notes == ()


def test_who_reads_it_with_others_is_told_which(of_others):
    notes = pnsight.load(of_others).read_notes
    assert kinds(notes) == ["other_versions"]
    assert values(notes, "other_versions")["others"] == ({"library": "jax", "then": "0.0.1", "here": version("jax")},)
    assert notes[0].severity == "warning"


def test_a_model_that_is_read_and_written_again_still_says_who_fitted_it(of_others, tmp_path):
    pnsight.save(pnsight.load(of_others), tmp_path / "copy")
    assert description_of(tmp_path / "copy")["libraries"]["jax"] == "0.0.1"


def test_a_model_without_small_counts_is_fitted_again_and_so_fitted_here(of_others, tmp_path):
    pnsight.save(suppress(pnsight.load(of_others), 5), tmp_path / "public")
    assert description_of(tmp_path / "public")["libraries"]["jax"] == version("jax")


def test_a_model_that_is_fitted_again_was_fitted_here(of_others, tmp_path):
    model = pnsight.load(of_others).fit(WOMEN.study())
    assert model.read_notes == ()
    pnsight.save(model, tmp_path / "again")
    assert description_of(tmp_path / "again")["libraries"]["jax"] == version("jax")


def test_a_library_that_does_not_tell_its_version_stops_nothing(folder, monkeypatch):
    monkeypatch.setattr(library_versions, "LIBRARIES", ("numpy", "no-such-library"))
    assert library_versions.installed_versions()["no-such-library"] == ""
    assert values(pnsight.load(folder).read_notes, "other_versions")["others"][0]["library"] == "no-such-library"


def test_the_report_says_it_where_the_model_is_described(of_others):
    summary = pnsight.output.report.summarise(pnsight.load(of_others))
    (said,) = summary.model.notes
    assert "fitted with jax 0.0.1" in said
    page = pnsight.output.report.render(summary)
    assert page.index("what the model chose") < page.index("fitted with jax 0.0.1")
    assert json.dumps(pnsight.output.report.as_plain(summary)).count("fitted with jax 0.0.1") == 1
