"""From two files of one's own to the commands and a first answer: by flags, by questions, and without a terminal."""

from __future__ import annotations

import io
import shlex

import pytest

import pnsight

pytestmark = pytest.mark.usefixtures("quick_default")


@pytest.fixture
def files(run, tmp_path, monkeypatch):
    """A trial and a registry of the study with names, with an identifier that nobody should learn from."""
    monkeypatch.chdir(tmp_path)
    run("simulate", "toxic-drug", "--experimental", 1500, "--observational", 1500, "--format", "csv", "--out", "data")
    for name in ("experimental", "observational"):
        header, *lines = (tmp_path / "data" / f"{name}.csv").read_text().splitlines()
        numbered = [f"{header},patient id", *(f"{line},{k}" for k, line in enumerate(lines))]
        (tmp_path / "data" / f"{name}.csv").write_text("\n".join(numbered) + "\n")
    return ["data/experimental.csv", "data/observational.csv"]


class Terminal(io.StringIO):
    """A person who has written all answers already."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_the_proposal_is_shown_and_the_flags_are_named(attempt, files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    ended = attempt("start", *files)
    assert ended.code == 2
    assert "treatment: drug is treated" in ended.out
    assert "left out: tells people apart" in ended.out
    assert "give --yes" in ended.err
    assert "--treatment treatment --outcome outcome --treated drug --success recovered" in ended.err


def test_what_names_do_not_tell_has_to_be_given(attempt, files, tmp_path):
    for file in files:
        text = (tmp_path / file).read_text().replace(",drug,", ",a,").replace(",standard care,", ",b,")
        (tmp_path / file).write_text(text)
    ended = attempt("start", *files, "--yes")
    assert ended.code == 2
    assert "--treated (a, b)" in ended.err
    assert attempt("start", *files, "--yes", "--treated", "b").code == 0


def test_with_all_flags_nothing_is_asked(run, files):
    flags = "--treatment treatment --outcome outcome --treated drug --success recovered"
    shown = [shlex.split(line) for line in run("start", *files, *shlex.split(flags)).out.splitlines()[-3:]]
    assert [words[1] for words in shown] == ["check", "fit", "query"]
    assert shown[1][4:] == [*flags.split(), "--exclude", "patient id", "--out", "model"]


@pytest.mark.slow
def test_the_script_does_the_same_and_ends_with_an_answer(run, files, tmp_path):
    ended = run("start", *files, "--yes", "--run", "--script", "go.sh")
    assert "Usable" in ended.out
    assert "of those with treatment = drug have outcome = recovered" in " ".join(ended.out.split())
    model = pnsight.load(tmp_path / "model")
    assert model.schema.names[-1] == "treated_before"
    lower = model.bounds("").lower[0]
    people = pnsight.output.per_hundred.per_hundred(model)[0]
    assert people.sentence in " ".join(ended.out.split())
    assert "Allowing for chance, with 90% confidence" in ended.out
    assert "with drug" in people.sentence
    assert "serve model --open" in ended.out
    lines = [line for line in (tmp_path / "go.sh").read_text().splitlines() if " fit " in line]
    run(*shlex.split(lines[0])[1:])
    assert pnsight.load(tmp_path / "model").bounds("").lower[0] == lower


def test_on_a_terminal_a_wrong_answer_is_asked_again(run, files, monkeypatch):
    answers = ["n", "treatment", "outcome", "drugs", "standard care", "recovered", "sex,severity", "y", "n"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(answers) + "\n"))
    ended = run("start", *files)
    assert "Did you mean 'drug'?" in ended.err
    last = next(shlex.split(line) for line in ended.out.splitlines() if "pnsight fit " in line)
    assert last[last.index("--treated") + 1] == "standard care"
    assert last[last.index("--covariates") + 1] == "sex,severity"


def test_on_a_terminal_a_number_stands_for_a_name(run, files, monkeypatch):
    answers = ["n", "9", "9", "2", "2", "2,3", "y", "n"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(answers) + "\n"))
    ended = run("start", *files)
    assert "   9  treatment\n  10  outcome\n" in ended.err
    assert ended.err.count("treatment\n") == 1  # the outcome is another column
    assert "(left out: tells people apart)" in ended.err
    last = next(shlex.split(line) for line in ended.out.splitlines() if "pnsight fit " in line)
    assert last[last.index("--treated") + 1] == "standard care"
    assert last[last.index("--covariates") + 1] == "sex,severity"


def test_where_values_are_numbers_they_are_not_numbered(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["arm,outcome,sex", *[f"{1 + k % 2},{k % 3 % 2},{'fm'[k % 5 % 2]}" for k in range(200)]]
    (tmp_path / "trial.csv").write_text("\n".join(rows))
    monkeypatch.setattr("sys.stdin", Terminal("1\ny\nn\n"))
    ended = run("start", "trial.csv")
    assert "Which value of arm means treated?\n  1\n  2\nName" in ended.err
    assert "--treated 1" in ended.out


def test_on_a_terminal_enter_accepts_all(run, files, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    ended = run("start", *files, "--no-run")
    assert "Is that right?" in ended.err
    assert "--treated drug --success recovered" in ended.out


def test_tables_that_contradict_each_other_are_not_fitted(attempt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trial = ["x,y"] + ["1,1"] * 900 + ["1,0"] * 100 + ["0,1"] * 800 + ["0,0"] * 200
    registry = ["x,y"] + ["1,1"] * 50 + ["1,0"] * 450 + ["0,1"] * 50 + ["0,0"] * 450
    (tmp_path / "trial.csv").write_text("\n".join(trial))
    (tmp_path / "registry.csv").write_text("\n".join(registry))
    ended = attempt("start", "trial.csv", "registry.csv", "--yes", "--run")
    assert ended.code == 1
    assert not (tmp_path / "model").exists()
