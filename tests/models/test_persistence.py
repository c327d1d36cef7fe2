"""A model on disk: it answers as before, is written whole or not at all, and runs no code when it is read."""

from __future__ import annotations

import copy
import json
import os
import pickle
import struct
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pytest
from cluster_trials import household_trial
from safetensors.numpy import load_file

import pnsight
import web_models
from cases import MEN, WOMEN
from closed_forms import QUANTITIES
from noted import remark, rows_without
from numeric_tables import COLUMNS, tables
from pnsight import PlugIn
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.errors import ModelError, OutputError
from pnsight.models import model_files
from pnsight.models.persistence import FORMAT_VERSION
from pnsight.models.registry import MODELS, find_model
from pnsight.queries import lattice
from pnsight.queries.query import format_queries
from quick_config import QUICK
from stored_models import arrays_of, change_arrays, changed, description_of, write_sealed, write_unsealed

WORDS = Schema((Covariate("sexe, déclaré", ("femme", "homme")), Covariate("a=b\\c", ("1", "10", "oui"))))


def words_study(**more) -> Study:
    profiles = lattice.all_profiles(WORDS)
    counts = np.random.default_rng(1).integers(0, 5, size=(len(profiles), 8)).astype(float)
    return Study.from_tables(
        WORDS, profiles, counts[:, :4], counts[:, 4:], treatment="le médicament", outcome="guéri", **more
    )


def nobody_described() -> Study:
    return Study.from_tables(Schema(), np.zeros((1, 0), np.int32), np.array([WOMEN.experimental], float), None)


def clustered_study() -> Study:
    trial = household_trial(40, seed=1)
    registry = trial.assign(w=np.random.default_rng(1).exponential(size=len(trial)) + 0.1)
    how = {"cluster": "household", "survey_weight": "w", "covariates": ["old", "sex"]}
    return pnsight.read_study(trial, registry, treatment="x", outcome="y", **how)


STUDIES = {
    "sampled": lambda: populations.get("mediator").sample(3_000, 3_000, seed=1),
    "words": lambda: words_study(
        dropped={rows_without("sexe"): 3}, notes=(remark("été"),), ignored=("site",), treated="oui", success="guéri"
    ),
    "experiment alone": lambda: words_study().with_tables(observational=None),
    "no covariates": nobody_described,
    "sampled in clusters": lambda: clustered_study(),
}


@pytest.mark.parametrize("kind", STUDIES)
def test_a_loaded_model_answers_as_the_saved_one_for_every_quantity(kind, tmp_path):
    study = STUDIES[kind]()
    model = PlugIn().fit(study)
    pnsight.save(model, tmp_path / "model")
    loaded = pnsight.load(tmp_path / "model")
    codes = lattice.all_queries(study.schema)[-300:]
    for quantity in QUANTITIES if study.observational is not None else ("pns", "harm"):
        before, after = model.bounds(codes, quantity).columns(), loaded.bounds(codes, quantity).columns()
        assert before == after


@pytest.mark.parametrize("kind", STUDIES)
def test_the_study_survives_whole(kind, tmp_path):
    study = STUDIES[kind]()
    pnsight.save(PlugIn().fit(study), tmp_path / "model")
    loaded = pnsight.load(tmp_path / "model")
    assert isinstance(loaded, PlugIn)
    for name in ("schema", "treatment", "outcome", "treated", "success", "dropped", "ignored", "notes", "design"):
        assert getattr(loaded.study, name) == getattr(study, name)
    np.testing.assert_array_equal(loaded.study.profiles, study.profiles)
    np.testing.assert_array_equal(loaded.study.counts, study.counts)
    assert (loaded.study.observational is None) == (study.observational is None)


def test_folds_and_names_of_clusters_are_not_stored(tmp_path):
    study = clustered_study()
    assert study.design.folds is not None
    pnsight.save(PlugIn().fit(study), tmp_path)
    assert pnsight.load(tmp_path).study.design.folds is None
    (arrays,) = tmp_path.glob("*.safetensors")
    stored = load_file(arrays)
    assert {name.split(".")[0] for name in stored} == {"profiles", "counts", "rows"}
    assert stored["rows.experimental.cluster"].max() < 40


def test_rows_that_do_not_fit_the_study_are_refused(tmp_path):
    study = clustered_study()
    for table, name, value in (("experimental", "profile", 10**6), ("observational", "weight", 0)):
        rows = study.sampled[table]
        broken = replace(rows, **{name: np.full_like(getattr(rows, name), value)})
        pnsight.save(PlugIn().fit(replace(study, sampled={**study.sampled, table: broken})), tmp_path)
        with pytest.raises(ModelError, match=rf"the array rows\.{table}\.{name} does not fit the study"):
            pnsight.load(tmp_path)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("row_worth", [1.0], "row_worth is .1.0.; expected"),
        ("row_worth", [1.0, -1.0, 1.0], "row_worth is .*; expected"),
        ("arm_worth", [1.0], "arm_worth is .1.0.; expected"),
        ("tables", [{"table": "experimental"}], "tables.0.rows is missing"),
    ],
)
def test_a_design_that_does_not_fit_the_study_is_refused(part, value, said, tmp_path):
    pnsight.save(PlugIn().fit(clustered_study()), tmp_path)
    study = description_of(tmp_path)["study"]
    study["design"][part] = value
    changed(tmp_path, study=study)
    with pytest.raises(ModelError, match=said):
        pnsight.load(tmp_path)


def test_a_design_of_another_table_is_refused(tmp_path):
    pnsight.save(PlugIn().fit(clustered_study()), tmp_path)
    study = description_of(tmp_path)["study"]
    study["design"]["tables"][0]["table"] = "survey"
    changed(tmp_path, study=study)
    with pytest.raises(ModelError, match="about the tables survey, which the study has not"):
        pnsight.load(tmp_path)


def test_a_model_is_one_json_and_one_safetensors_file(tmp_path):
    pnsight.save(PlugIn().fit(words_study()), tmp_path / "new" / "model")
    files = sorted(path.name for path in (tmp_path / "new" / "model").iterdir())
    assert len(files) == 2
    assert files[1] == "model.json"
    assert files[0].startswith("arrays-")
    assert files[0].endswith(".safetensors")


def test_no_file_holds_a_pickle(tmp_path, monkeypatch):
    """Each file is of a format that holds data only, and reading never touches pickle."""
    pnsight.save(PlugIn().fit(words_study()), tmp_path)
    json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    (arrays,) = tmp_path.glob("*.safetensors")
    content = arrays.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    size = max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
    assert len(content) == 8 + length + size

    def refuse(*_, **__):
        raise AssertionError("a pickle was read")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    pnsight.load(tmp_path)


def test_saving_again_replaces_the_model_and_leaves_nothing_behind(tmp_path):
    for case in (WOMEN, MEN):
        study = nobody_described().with_tables(experimental=np.array([case.experimental], float))
        pnsight.save(PlugIn().fit(study), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert pnsight.load(tmp_path).study.experimental.tolist() == [list(MEN.experimental)]


def test_saving_into_an_empty_folder_is_fine(tmp_path):
    (tmp_path / "empty").mkdir()
    pnsight.save(PlugIn().fit(words_study()), tmp_path / "empty")
    assert pnsight.load(tmp_path / "empty").schema == WORDS


@pytest.mark.parametrize("fails_at", ["model.json", "arrays-"])
def test_a_write_that_fails_leaves_the_old_model_as_it_was(fails_at, tmp_path, monkeypatch):
    pnsight.save(PlugIn().fit(words_study()), tmp_path)
    before = pnsight.load(tmp_path).bounds("").columns()
    genuine = os.replace

    def failing(source, target):
        if os.path.basename(target).startswith(fails_at):
            raise OSError(28, "No space left on device")
        genuine(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OutputError, match=r"cannot write the model to .*No space left on device"):
        pnsight.save(PlugIn().fit(nobody_described()), tmp_path)
    monkeypatch.undo()
    assert pnsight.load(tmp_path).bounds("").columns() == before
    assert not list(tmp_path.glob("*.tmp"))
    assert not list(tmp_path.glob(".*"))


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="the folder holds other files; name a new one"):
        pnsight.save(PlugIn().fit(words_study()), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_model_json_of_another_program_is_left_alone(tmp_path):
    (tmp_path / "model.json").write_text('{"keras": 3}')
    with pytest.raises(OutputError, match="the folder holds other files; name a new one"):
        pnsight.save(PlugIn().fit(words_study()), tmp_path)
    assert (tmp_path / "model.json").read_text() == '{"keras": 3}'


def test_a_file_is_not_taken_for_a_folder(tmp_path):
    (tmp_path / "model").write_text("a file")
    with pytest.raises(OutputError, match="it is a file; name a folder"):
        pnsight.save(PlugIn().fit(words_study()), tmp_path / "model")
    with pytest.raises(OutputError, match="cannot write the model"):
        pnsight.save(PlugIn().fit(words_study()), tmp_path / "model" / "inside")


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ModelError, match="not fitted"):
        pnsight.save(PlugIn(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


# --- reading what is not right --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    pnsight.save(PlugIn().fit(words_study()), tmp_path / "model")
    return tmp_path / "model"


def test_what_is_not_a_model_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"no model folder '.*nowhere'; expected a folder written by `pnsight fit"):
        pnsight.load(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"it has no model\.json"):
        pnsight.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="no model folder"):
        pnsight.load(tmp_path / "file")


@pytest.mark.parametrize("content", ["", "{", "\xff", '"text"', "[]", '{"format": "other"}', "null"])
def test_a_json_that_is_not_a_models_is_refused(content, folder):
    (folder / "model.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ModelError, match="expected a folder written by"):
        pnsight.load(folder)


def test_another_version_of_the_format_is_refused_with_what_to_do(folder):
    for version in (1, 99):
        changed(folder, format_version=version, pnsight_version="9.9")
        said = rf"has format {version}, this pnsight .* reads format {FORMAT_VERSION}; fit the model again.*9\.9"
        with pytest.raises(ModelError, match=said):
            pnsight.load(folder)


def test_a_model_of_the_first_form_is_refused_with_the_advice_to_fit_it_again(folder):
    changed(folder, format_version=1, pnsight_version="0.1.0")
    with pytest.raises(ModelError) as refused:
        pnsight.load(folder)
    assert str(refused.value) == (
        f"model {str(folder)!r} has format 1, this pnsight {pnsight.__version__} reads format {FORMAT_VERSION}; "
        "fit the model again."
    )


@pytest.mark.parametrize("name", ["response-types", "experiment alone"])
def test_a_stored_model_says_how_it_represents_its_profiles(name, tmp_path):
    model = web_models.EVERY[name]()
    pnsight.save(model, tmp_path)
    description = description_of(tmp_path)
    learned = description["learned"]
    assert (learned["representation"], learned["trial"]) == ("enumerated", None)
    assert len(learned["decay"]) == len(model.structure.groups)
    assert pnsight.load(tmp_path).config == model.config
    learned["representation"] = "sampled"
    changed(tmp_path, learned=learned)
    with pytest.raises(ModelError, match="is damaged"):
        pnsight.load(tmp_path)


def test_an_unknown_kind_of_model_is_refused_with_the_known_ones(folder):
    changed(folder, model="oracle-of-delphi")
    with pytest.raises(ModelError, match=r"kind 'oracle-of-delphi'.*knows .*plug-in"):
        pnsight.load(folder)


@pytest.mark.parametrize("key", ["format_version", "model", "parameters", "learned", "study", "warnings", "arrays"])
def test_a_description_that_lacks_a_part_is_refused(key, folder):
    description = description_of(folder)
    del description[key]
    write_sealed(folder, description)
    with pytest.raises(ModelError, match=r"model\.json|model '"):
        pnsight.load(folder)


@pytest.mark.parametrize(
    ("key", "value"), [("model", ["plug-in"]), ("study", 3), ("arrays", 5), ("parameters", {"unheard": 1})]
)
def test_a_description_with_a_part_of_another_kind_is_refused(key, value, folder):
    changed(folder, **{key: value})
    with pytest.raises(ModelError):
        pnsight.load(folder)


REMARK = remark("rows are few").plain()
ATTRITION = {"table": "experimental", "rows": [9, 9], "missing": [1, 0], "arm_worth": [1, 1], "worth": 1, "levels": []}
LEFT_OUT = {"reason": rows_without("sexe").plain(), "rows": 3}

DAMAGED = {
    "levels that are numbers": (("study", "covariates", 0, "levels"), [1, 2], r"levels\.0 is 1; expected text"),
    "no levels": (("study", "covariates", 0, "levels"), [], r"'sexe, déclaré' has the levels \[\]"),
    "a level twice": (("study", "covariates", 0, "levels"), ["a", "a"], "expected one or more, each once"),
    "levels in one word": (("study", "covariates", 0, "levels"), "mf", r"levels is 'mf'; expected a list"),
    "fewer levels than counted": (("study", "covariates", 1, "levels"), ["1"], "levels that the covariates have not"),
    "edges that fall": (("study", "covariates", 1, "edges"), [3, 2, 1], r"edges \[3.0, 2.0, 1.0\]; expected rising"),
    "a name twice": (("study", "covariates", 0, "name"), "a=b\\c", "two covariates have the same name"),
    "no name": (("study", "covariates", 0, "name"), None, r"name is None; expected text"),
    "no quantity": (("parameters", "quantity"), None, r"parameters\.quantity is None; expected text"),
    "an unknown quantity": (("parameters", "quantity"), "pxs", "no quantity is called 'pxs'"),
    "an unknown mix": (("parameters", "mix"), "cells", "parameters.mix is 'cells'; expected 'rows' or 'profiles'"),
    "a word for true": (("study", "experiment_alone"), "no", "experiment_alone is 'no'; expected true or false"),
    "rows in words": (("study", "dropped"), [LEFT_OUT | {"rows": "few"}], r"0\.rows is 'few'; expected a number"),
    "endlessly many rows": (
        ("study", "dropped"),
        [LEFT_OUT | {"rows": float("inf")}],
        "rows is inf; expected a number",
    ),
    "a note in words": (("study", "notes"), ["rows are few"], r"notes\.0 is 'rows are few'; expected an object"),
    "an unknown note": (("warnings",), [REMARK | {"kind": "rumour"}], "no note is of kind 'rumour'"),
    "a note without its values": (("warnings",), [REMARK | {"values": {}}], "KeyError: 'text'"),
    "a truth for a version": (
        ("format_version",),
        True,
        f"has format True, this pnsight .* reads format {FORMAT_VERSION}",
    ),
    "a word for a version": (("format_version",), "4", "has format '4', this pnsight .* reads format"),
    "missing outcomes of no arm": (
        ("study", "attrition"),
        [ATTRITION | {"missing": [1]}],
        "attrition has other than 2 numbers of rows",
    ),
    "fewer than no missing outcomes": (("study", "attrition"), [ATTRITION | {"missing": [-1, 0]}], "from zero"),
    "rows that are worth nothing": (("study", "attrition"), [ATTRITION | {"arm_worth": [1, 0]}], "2 positive numbers"),
    "nothing withheld": (("study", "withheld"), {"min_cell": 5, "rows": [1]}, "rows is .1.; expected a list of 2"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_description_that_was_changed_is_refused_with_the_place_and_what_was_expected(damage, folder):
    place, value, said = DAMAGED[damage]
    description = description_of(folder)
    part = description
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    write_sealed(folder, description)
    with pytest.raises(ModelError, match=said) as refused:
        pnsight.load(folder)
    assert str(refused.value).startswith(f"model {str(folder)!r} ")


def parts_of(value, place=()):
    """The place of everything in plain data."""
    yield place
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from parts_of(part, (*place, name))


@pytest.mark.parametrize("name", ["response-types", "experiment alone", "mask-mlp"])
def test_whatever_part_of_a_description_is_changed_a_model_answers_or_is_refused(name, tmp_path):
    pnsight.save(web_models.EVERY[name](), tmp_path)
    assert pnsight.load(tmp_path).name == web_models.EVERY[name]().name
    whole = description_of(tmp_path)
    for *place, last in list(parts_of(whole))[1:]:
        for value in (None, [], {}, "other", 2, 0.5, ["other"]):
            description = copy.deepcopy(whole)
            reduce(getitem, place, description)[last] = value
            write_sealed(tmp_path, description)
            try:
                model = pnsight.load(tmp_path)
            except ModelError:
                continue
            model.bounds(format_queries(model.schema, model.study.profiles[:1])).columns()
            model.explain()
            model._repr_html_()


def test_a_description_that_is_nested_without_end_is_refused(folder):
    (folder / "model.json").write_text('{"format":' * 100_000)
    with pytest.raises(ModelError, match=r"unreadable model\.json .*expected a folder written by"):
        pnsight.load(folder)
    with pytest.raises(OutputError, match="the folder holds other files"):
        pnsight.save(PlugIn().fit(words_study()), folder)


def test_what_may_not_be_read_is_not_called_damaged(folder, monkeypatch):
    (arrays,) = folder.glob("*.safetensors")
    content = arrays.read_bytes()
    arrays.unlink()
    arrays.mkdir()
    with pytest.raises(ModelError, match=r"cannot be read .*Is a directory.*check that you may read"):
        pnsight.load(folder)
    arrays.rmdir()
    arrays.write_bytes(content)

    def forbidden(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    for owner, step in ((Path, "is_dir"), (os, "open")):
        monkeypatch.setattr(owner, step, forbidden)
        with pytest.raises(ModelError, match=r"cannot be read .*Permission denied.*check that you may read"):
            pnsight.load(folder)
        monkeypatch.undo()


@pytest.mark.parametrize("keep", [0, 4, 40, -1])
def test_truncated_arrays_are_refused(keep, folder):
    (arrays,) = folder.glob("*.safetensors")
    arrays.write_bytes(arrays.read_bytes()[:keep])
    with pytest.raises(
        ModelError, match=r"arrays '.*safetensors' are not those that were written; fit the model again"
    ):
        pnsight.load(folder)


def test_absent_arrays_are_refused(folder):
    (arrays,) = folder.glob("*.safetensors")
    arrays.unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        pnsight.load(folder)


def test_arrays_of_another_model_are_refused(folder):
    """A well-formed file that lacks what the model needs."""
    from safetensors.numpy import save_file

    (arrays,) = folder.glob("*.safetensors")
    save_file({"something": np.ones(3)}, arrays)
    with pytest.raises(ModelError):
        pnsight.load(folder)


def test_every_model_is_known_by_its_own_name():
    assert find_model("plug-in") is PlugIn
    assert all(find_model(name).name == name for name in MODELS)


def test_arrays_in_which_anything_was_changed_are_refused(tmp_path):
    pnsight.save(PlugIn().fit(words_study()), tmp_path)
    (arrays,) = tmp_path.glob("*.safetensors")
    content = bytearray(arrays.read_bytes())
    content[-1] ^= 0xFF
    arrays.write_bytes(content)
    with pytest.raises(ModelError, match="are not those that were written; fit the model again"):
        pnsight.load(tmp_path)


@pytest.mark.parametrize(
    "place", [("study", "treatment"), ("pnsight_version",), ("digest",), ("study", "covariates", 0)]
)
def test_a_description_in_which_anything_was_changed_is_refused_with_what_to_do(place, folder):
    description = description_of(folder)
    *before, last = place
    part = reduce(getitem, before, description)
    part[last] = {**part[last], "name": "sexe"} if isinstance(part[last], dict) else "otherwise"
    write_unsealed(folder, description)
    with pytest.raises(ModelError) as refused:
        pnsight.load(folder)
    assert str(refused.value) == (
        f"model {str(folder)!r} is damaged: its model.json is not what was written (the digest in it is another); fit "
        "the model again, or take it from a copy that is whole."
    )


def test_a_description_that_was_only_laid_out_otherwise_is_read(folder):
    before = pnsight.load(folder).bounds("").columns()
    text = json.dumps(description_of(folder), indent=7, sort_keys=True)
    (folder / "model.json").write_text(text, encoding="utf-8")
    assert pnsight.load(folder).bounds("").columns() == before


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_of_json_is_refused(constant, folder):
    text = (folder / "model.json").read_text(encoding="utf-8")
    text = text.replace(f'"format_version": {FORMAT_VERSION}', f'"format_version": {constant}')
    (folder / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=f"unreadable model.json .*{constant}"):
        pnsight.load(folder)


# --- files that are not what they seem --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["/dev/zero", "../other/arrays-0.safetensors", "arrays-0/../a.safetensors", "", "."])
def test_arrays_are_a_file_of_the_folder_itself(name, folder):
    changed(folder, arrays=description_of(folder)["arrays"] | {"file": name})
    with pytest.raises(ModelError, match=r"arrays\.file is .*; expected the name of a file in it"):
        pnsight.load(folder)


@pytest.mark.parametrize("file", ["model.json", "arrays"])
@pytest.mark.parametrize("other", ["fifo", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting_for_it(other, file, folder):
    path = folder / (file if file == "model.json" else description_of(folder)["arrays"]["file"])
    path.unlink()
    os.mkfifo(path) if other == "fifo" else path.symlink_to("/dev/zero")
    with pytest.raises(ModelError, match=r"cannot be read .*not a regular file"):
        pnsight.load(folder)


def test_a_link_to_the_arrays_is_followed(folder, tmp_path):
    arrays = folder / description_of(folder)["arrays"]["file"]
    arrays.rename(tmp_path / "elsewhere")
    arrays.symlink_to(tmp_path / "elsewhere")
    assert pnsight.load(folder).schema == WORDS


@pytest.mark.parametrize("file", ["model.json", "arrays"])
def test_a_file_that_is_far_too_large_is_not_read_into_memory(file, folder):
    path = folder / (file if file == "model.json" else description_of(folder)["arrays"]["file"])
    os.truncate(path, 2**40)  # without content, so that it takes no place
    with pytest.raises(ModelError, match=r"cannot be read .*1,099,511,627,776 bytes, more than"):
        pnsight.load(folder)


def test_arrays_that_could_not_be_read_again_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(model_files, "MAX_ARRAYS_BYTES", 100)
    with pytest.raises(OutputError, match="bytes, more than the 100 that can be read again; fit it to fewer"):
        pnsight.save(PlugIn().fit(words_study()), tmp_path / "model")
    assert not (tmp_path / "model").exists()


BAD_COUNTS = {
    "not a number": (lambda counts: np.where(counts == counts.max(), np.nan, counts), "not finite, or are below zero"),
    "without end": (lambda counts: np.where(counts == counts.max(), np.inf, counts), "not finite, or are below zero"),
    "below zero": (lambda counts: counts - 1, "not finite, or are below zero"),
    "fewer cells": (lambda counts: counts[:, :5], "do not fit the covariates"),
    "a cube": (lambda counts: counts[:, :, None], "do not fit the covariates"),
    "whole numbers": (lambda counts: counts.astype(np.int64), "counts are int64; expected"),
}


@pytest.mark.parametrize("name", BAD_COUNTS)
def test_counts_that_no_table_has_are_refused(name, folder):
    change, said = BAD_COUNTS[name]
    change_arrays(folder, counts=change(arrays_of(folder)["counts"].astype(float)))
    with pytest.raises(ModelError, match=f"is damaged: .*{said}"):
        pnsight.load(folder)


def test_profiles_that_are_no_whole_numbers_are_refused(folder):
    change_arrays(folder, profiles=arrays_of(folder)["profiles"].astype(np.float64) + 0.25)
    with pytest.raises(ModelError, match="profiles are float64"):
        pnsight.load(folder)


def numbers_study() -> Study:
    trial, registry = tables(300)
    trial.loc[:9, "weight"] = np.nan
    return pnsight.read_study(trial, registry, **COLUMNS, missing="level")


def test_a_number_takes_four_bytes_and_a_small_count_one(tmp_path):
    study = numbers_study()
    model = pnsight.ResponseTypeModel(config=QUICK, intervals=False).fit(study)
    pnsight.save(model, tmp_path)
    stored = arrays_of(tmp_path)
    names = ("profiles", "profiles.numbers", "counts", "model.people", "model.people.numbers")
    assert [stored[name].dtype for name in names] == [np.uint8, np.float32, np.uint8, np.uint8, np.float32]
    assert np.isnan(stored["profiles.numbers"]).any()
    loaded = pnsight.load(tmp_path)
    np.testing.assert_array_equal(loaded.study.profiles, study.profiles)
    np.testing.assert_array_equal(loaded.study.counts, study.counts)
    queries = ["", "age=52", "weight=missing", "age=40..65,sex=m"]
    assert loaded.bounds(queries).columns() == model.bounds(queries).columns()
    for numbers in (stored["profiles.numbers"] * np.inf, stored["profiles.numbers"][:, :1]):
        change_arrays(tmp_path, **{"profiles.numbers": np.ascontiguousarray(numbers)})
        with pytest.raises(ModelError, match=r"is damaged: the numbers of profiles are float32 of shape"):
            pnsight.load(tmp_path)


def test_large_counts_and_parts_of_rows_are_stored_to_the_digit(tmp_path):
    for count in (255, 256, 65_536, 2**53, 0.1):
        study = words_study()
        counts = study.counts.copy()
        counts[0, 0] = count
        pnsight.save(PlugIn().fit(study.with_counts(counts)), tmp_path)
        np.testing.assert_array_equal(pnsight.load(tmp_path).study.counts, counts)


def test_levels_that_a_covariate_has_not_are_refused(folder):
    profiles = arrays_of(folder)["profiles"]
    profiles[0, 0] = 200
    change_arrays(folder, profiles=profiles)
    with pytest.raises(ModelError, match="is damaged: profiles have levels that the covariates have not"):
        pnsight.load(folder)


def test_what_was_learned_has_numbers_only_unless_nan_says_that_nothing_is_known(tmp_path):
    pnsight.save(web_models.without_intervals(), tmp_path)
    arrays = arrays_of(tmp_path)
    assert np.isnan(arrays["model.profile_errors"]).all()
    assert pnsight.load(tmp_path).bounds("").columns() == web_models.without_intervals().bounds("").columns()
    for name, value in (("model.masses", np.nan), ("model.profile_types", np.inf), ("model.profile_errors", np.inf)):
        pnsight.save(web_models.without_intervals(), tmp_path)
        change_arrays(tmp_path, **{name: np.full_like(arrays[name], value)})
        with pytest.raises(ModelError, match=f"array '{name.removeprefix('model.')}' has values that are not finite"):
            pnsight.load(tmp_path)
