"""`pnsight report`: the file it writes, in both formats, and what it refuses."""

from __future__ import annotations

import json
import os

import pytest

import pnsight
from cases import LALONDE, write_case


def test_a_page_is_written_whole_and_nothing_else(model, run, tmp_path):
    (tmp_path / "out").mkdir()
    ended = run("report", model, "--out", tmp_path / "out" / "report.html", "--title", "Who responds")
    assert ended.out == ""
    assert "wrote" in ended.err
    assert os.listdir(tmp_path / "out") == ["report.html"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert "<h1>Who responds</h1>" in page


def test_json_has_the_same_numbers_as_query(model, run, tmp_path):
    run("report", model, "--out", tmp_path / "report.json", "--threshold", 0.3, "--top", 3)
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    answer = found["everyone"][0]["answer"]
    row = json.loads(run("query", model, "", "--format", "json").out)[0]
    for name in ("lower", "upper", "support_experimental", "status"):
        assert answer[name] == row[name]
    assert found["threshold"] == 0.3
    assert len(found["best"]["answers"]) <= 3


def test_without_a_file_it_goes_to_the_screen(model, run):
    assert run("report", model).out.startswith("<!DOCTYPE html>")
    assert json.loads(run("report", model, "--format", "json").out)["version"] == pnsight.__version__


def test_small_counts_are_withheld_on_request(model, run, tmp_path):
    run("report", model, "--min-cell", 10, "--out", tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["data"]
    assert data["withheld"].startswith("counts below 10 are withheld")
    assert data["experimental_rows"] < 3000


def test_payoffs_and_cost_add_a_section(model, run):
    page = run("report", model, "--payoffs", "100,-60,0,-140", "--cost", 10).out
    assert "<h2>Benefit</h2>" in page
    assert "Treating one person costs 10" in page
    assert "<h2>Benefit</h2>" not in run("report", model).out


def test_a_second_opinion_is_there_if_asked_for(run, model):
    assert "<h2>A second opinion</h2>" in run("report", model, "--opinion").out
    assert "<h2>A second opinion</h2>" not in run("report", model).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cost", 5], "--cost 5 was given without --payoffs"),
        (["--payoffs", "1,2"], "payoffs"),
        (["--min-cell", 1], "1 was given; expected at least 2"),
        (["--top", 0], "0 was given; expected at least 1"),
        (["--level", 2], "is 2; give a number between 0 and 1; did you mean 0.02?"),
        (["--threshold", "nan"], "the threshold is nan"),
        (["--format", "pdf"], "pdf"),
        (["--out", "report.pdf"], "'report.pdf' ends in '.pdf'; expected one of .html, .htm, .json"),
        (["--out", "no/such/folder/report.html"], "must be a file in a folder that exists"),
    ],
)
def test_mistakes_end_with_one_message(model, attempt, options, message):
    ended = attempt("report", model, *options)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert not ended.out


def test_a_report_that_cannot_be_written_leaves_the_old_one(model, run, attempt, tmp_path, monkeypatch):
    out = tmp_path / "report.html"
    run("report", model, "--out", out)
    before = out.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    ended = attempt("report", model, "--out", out, "--title", "another")
    assert ended.code == 2
    assert "No space left" in ended.err
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_the_trial_alone_is_reported_and_decisions_can_be_plain(run, tmp_path):
    run(
        *["fit", *write_case(LALONDE, tmp_path), "--treatment", "x", "--outcome", "y"],
        *["--model", "plug-in", "--out", tmp_path / "model"],
    )
    both, alone = (
        json.loads(run("report", tmp_path / "model", "--threshold", 0.05, "--format", "json", *more).out)
        for more in ([], ["--trial-alone", "--plain"])
    )
    assert both["check"]["verdict"] == "not usable"
    assert both["everyone"][0]["answer"]["decision"] == ""
    assert both["everyone"][0]["answer"]["trial_lower"] == pytest.approx(0.078, abs=5e-4)
    assert alone["everyone"][0]["answer"]["decision"] == "treat"
    assert (alone["trial_alone"], alone["cautious"]) == (True, False)


def test_tables_are_written_beside_the_report(model, run, attempt, tmp_path):
    for name in ("tables.xlsx", "tables.md"):
        ended = run("report", model, "--out", tmp_path / "a.html", "--tables", tmp_path / name)
        assert f"wrote {tmp_path / name}" in ended.err
    assert (tmp_path / "tables.md").read_text(encoding="utf-8").startswith("# Who responds")
    assert (tmp_path / "tables.xlsx").read_bytes().startswith(b"PK")
    ended = attempt("report", model, "--tables", tmp_path / "tables.doc")
    assert ended.code == 2
    assert "ends in '.doc'; expected one of .xlsx, .md, or leave --tables out" in ended.err
