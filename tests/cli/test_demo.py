"""The demo leaves what it says it leaves: tables, a model and a report."""

from __future__ import annotations

import pytest

import pnsight

pytestmark = pytest.mark.usefixtures("quick_default")


def test_the_demo_goes_from_tables_to_a_report(run, tmp_path):
    ended = run("demo", "--rows", 5000, "--out", tmp_path / "demo")
    assert "Usable" in ended.out
    assert "Sex = male" in ended.out
    model = pnsight.load(tmp_path / "demo" / "model")
    for quantity in ("pns", "harm"):
        answer = model.bounds("sex=male,kidney_disease=yes", quantity)
        assert f"{answer.lower[0]:.3f}-{answer.upper[0]:.3f}" in ended.out
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    everyone = model.bounds("")
    assert f"{everyone.lower[0]:.3f}" in page
    assert f"pnsight serve {tmp_path / 'demo' / 'model'} --threshold 0.3 --open" in ended.out


@pytest.mark.parametrize("known", [True, False])
def test_commands_are_shown_as_they_can_be_typed(run, tmp_path, monkeypatch, known):
    """By name where the shell finds it, otherwise by the program's place."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pnsight").write_text("")
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr("shutil.which", lambda name: name if known else None)
    monkeypatch.chdir(tmp_path)
    shown = [line for line in run("demo", "--rows", 1000).out.splitlines() if line.startswith("$ ")]
    assert {line.split()[1] for line in shown} == {"pnsight" if known else "bin/pnsight"}


def test_the_demo_runs_again_in_its_folder_but_spares_other_peoples(run, attempt, tmp_path):
    run("demo", "--rows", 1000, "--out", tmp_path / "demo")
    run("demo", "--rows", 1000, "--out", tmp_path / "demo")
    (tmp_path / "mine" / "model").mkdir(parents=True)
    (tmp_path / "mine" / "model" / "notes.txt").write_text("keep")
    ended = attempt("demo", "--rows", 1000, "--out", tmp_path / "mine")
    assert ended.code == 2
    assert not (tmp_path / "mine" / "data").exists()
