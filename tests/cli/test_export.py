"""`pnsight export`: a folder to hand on, and what it says about what it leaves out."""

from __future__ import annotations

import pnsight


def test_an_exported_model_has_no_small_count_and_says_what_is_withheld(model, run, tmp_path):
    ended = run("export", model, "--min-cell", 20, "--out", tmp_path / "public")
    assert "counts below 20 are withheld" in ended.err
    counts = pnsight.load(tmp_path / "public").study.counts
    assert not ((counts > 0) & (counts < 20)).any()
    assert "counts below 20 are withheld" in run("query", tmp_path / "public").err


def test_ten_is_the_limit_unless_another_is_given(model, run, tmp_path):
    run("export", model, "--out", tmp_path / "public")
    assert pnsight.load(tmp_path / "public").study.withheld.min_cell == 10


def test_the_model_itself_stays_as_it_was(model, run, tmp_path):
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    run("export", model, "--out", tmp_path / "public")
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_a_limit_below_two_is_refused(model, attempt, tmp_path):
    ended = attempt("export", model, "--min-cell", 1, "--out", tmp_path / "public")
    assert ended.code == 2
    assert "1 was given; expected at least 2" in ended.err
    assert not (tmp_path / "public").exists()


def test_a_folder_of_other_things_is_refused(model, attempt, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ended = attempt("export", model, "--out", tmp_path / "mine")
    assert ended.code == 2
    assert "the folder holds other files" in ended.err


def test_the_model_is_not_replaced_by_its_own_export(model, attempt):
    before = sorted((path.name, path.read_bytes()) for path in model.iterdir())
    ended = attempt("export", model, "--out", model / ".." / model.name)
    assert ended.code == 2
    assert "is the model itself" in ended.err
    assert sorted((path.name, path.read_bytes()) for path in model.iterdir()) == before
