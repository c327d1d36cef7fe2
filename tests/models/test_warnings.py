"""Warnings about a fit are the library's: the model has them, stores them and hands them on without counts."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from cases import INCOHERENT, WOMEN
from noted import kinds, values
from pnsight import PlugIn
from pnsight import simulation as populations
from pnsight.data.schema import Schema
from pnsight.diagnostics import coherence_of


def study_of(case) -> pnsight.Study:
    counts = [np.array([table], float) for table in (case.experimental, case.observational)]
    return pnsight.Study.from_tables(Schema(), np.zeros((1, 0), np.int32), *counts)


def uneven() -> pnsight.Study:
    """An experiment that treats some profiles less often, and tables that mix their people differently."""
    study = populations.get("mediator").sample(50_000, 50_000, seed=1)
    some, others = (study.profiles[:, [j]] == 1 for j in (3, 4))
    thinned = np.where(some & (np.arange(4) < 2), study.experimental / 3, study.experimental)
    return study.with_tables(experimental=thinned, observational=np.where(others, 1, 3) * study.observational)


def test_coherent_tables_that_may_be_added_up_give_no_warning():
    study = populations.get("mediator").sample(20_000, 20_000, seed=1)
    assert PlugIn().fit(study).warnings == ()
    assert PlugIn().fit(study.with_tables(observational=None)).warnings == ()


def test_tables_that_contradict_each_other_are_warned_of():
    model = PlugIn().fit(study_of(INCOHERENT))
    assert kinds(model.warnings) == ["tables_contradict"]
    assert [note.severity for note in model.warnings] == ["warning"]
    found = values(model.warnings, "tables_contradict")["found"]
    assert found == coherence_of(model.study).worst.values
    assert (found["group"], found["excess"]) == ("everyone", pytest.approx(0.35))


def test_rows_that_should_not_be_added_up_are_warned_of_where_they_are():
    study = uneven()
    said = values(PlugIn().fit(study).warnings, "rows_pooled")
    assert min(said["assignment"], said["mix"]) >= 0.1
    assert PlugIn(mix="profiles").fit(study).warnings == ()


def test_another_fit_has_warnings_of_its_own():
    model = PlugIn().fit(study_of(INCOHERENT))
    assert model.warnings
    assert model.fit(study_of(WOMEN)).warnings == ()


def test_a_stored_model_keeps_its_warnings(tmp_path):
    for study in (study_of(INCOHERENT), uneven()):
        model = PlugIn().fit(study)
        pnsight.save(model, tmp_path / "model")
        assert pnsight.load(tmp_path / "model").warnings == model.warnings != ()


def test_a_model_handed_on_is_warned_of_what_is_left():
    """What is warned of is found in the counts that are handed on."""
    shown = pnsight.suppress(PlugIn().fit(study_of(INCOHERENT)), 5)
    assert kinds(shown.warnings) == ["tables_contradict"]
    assert shown.warnings == PlugIn().fit(pnsight.suppress(study_of(INCOHERENT), 5)).warnings
    pooled = pnsight.suppress(PlugIn().fit(uneven()), 10)
    assert "rows_pooled" in kinds(pooled.warnings)
    assert pooled.warnings != PlugIn().fit(uneven()).warnings
