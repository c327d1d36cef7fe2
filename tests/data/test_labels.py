"""Labels: kept with the study and the model, shown where people read, and nowhere in data for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pnsight
from pnsight.data.labels import Labels, read_labels
from pnsight.errors import TableError
from pnsight.output.plots import plot
from pnsight.web import create_app
from web_clients import Client

TEXT = """
[columns]
sex = "Sex of the <patient>"
outcome = "After 30 days"
nothing = "not here"

[values.sex]
female = "woman"
male = "man"
other = "not here"

[values.outcome]
recovered = "well again"
"""


@pytest.fixture
def labels(tmp_path) -> Path:
    (tmp_path / "labels.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "labels.toml"


@pytest.fixture
def model(labels, tmp_path) -> pnsight.Model:
    study = pnsight.simulation.get("toxic-drug").sample(4000, 4000, seed=3).with_labels(read_labels(labels))
    pnsight.save(pnsight.PlugIn().fit(study), tmp_path / "model")
    return pnsight.load(tmp_path / "model")


def test_a_model_keeps_the_labels_of_what_it_has(model):
    assert model.study.labels == Labels(
        {"sex": "Sex of the <patient>", "outcome": "After 30 days"},
        {"sex": {"female": "woman", "male": "man"}, "outcome": {"recovered": "well again"}},
    )
    assert model.study.labels.words({"sex": "male", "smoker": "no"}) == "Sex of the <patient> = man, smoker = no"
    assert model.study.labels.words({}) == "everyone"


def test_a_note_about_a_covariate_calls_it_by_its_label(model):
    note = pnsight.Note("single_level", {"covariate": "sex", "level": "male"})
    assert "Sex of the <patient>" in str(model.study.labels.note(note))
    assert model.study.labels.note(pnsight.Note("everything_known")) == pnsight.Note("everything_known")


def test_a_model_without_labels_is_stored_as_before(tmp_path):
    study = pnsight.simulation.get("toxic-drug").sample(400, 400, seed=3)
    pnsight.save(pnsight.PlugIn().fit(study), tmp_path / "plain")
    stored = json.loads((tmp_path / "plain" / "model.json").read_text(encoding="utf-8"))
    assert "labels" not in stored["study"]


def test_withholding_small_counts_keeps_labels(model):
    assert pnsight.suppress(model.study, 10).labels == model.study.labels


@pytest.mark.slow
def test_report_and_plots_use_them(model):
    summary = pnsight.output.report.summarise(model, 0.3)
    assert summary.data.outcome == "After 30 days"
    assert summary.data.success == "well again"
    assert "Sex of the <patient> = woman" in {answer.name for answer in summary.levels.answers}
    page = pnsight.output.report.render(summary)
    assert "Sex of the &lt;patient&gt;" in page
    (axes, *_) = plot(model, ["", "sex=male"]).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["everyone", "Sex of the <patient> = man"]


def test_the_explorer_uses_them_and_its_addresses_and_data_do_not(model):
    client = Client(create_app(model))
    page = client.get("/?with.sex=male").text
    assert "Sex of the &lt;patient&gt;" in page
    assert "<span>woman</span>" in page
    assert 'value="female"' in page
    assert "Sex of the" in client.get("/about").text
    described = {"name": "sex", "levels": ["female", "male"], "numbers": None}
    assert client.get("/api/model").json()["covariates"][1] == described


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns]\nsex = 3", r"something else than words; expected a table \[columns\]"),
        ("sex = 'Sex'", r"and 'sex'; expected a table"),
        ("[values]\nsex = 'x'", "something else than words"),
        ("[columns", "are not TOML"),
    ],
)
def test_a_file_of_another_form_is_refused(text, message, tmp_path):
    (tmp_path / "labels.toml").write_text(text)
    with pytest.raises(TableError, match=message):
        read_labels(tmp_path / "labels.toml")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TableError, match="cannot be read"):
        read_labels(tmp_path / "nowhere.toml")
