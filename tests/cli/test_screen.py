"""What people see on a screen: tables as wide as it, in words; files keep all columns, all digits and short queries."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.cells import cell_len

from cases import write_csv
from pnsight.cli.progress_bar import bar, counter, progress_lines, share_done
from pnsight.cli.screen import screen_style

AGE, SIZE = "groupe d'âge à l'inclusion dans l'étude", "Körpergröße über dem Median"
LEVELS = {AGE: ("moins de 65 ans", "65 ans et plus (né avant 1960)"), SIZE: ("ja", "nein")}
LEVELS |= {f"covariável número {k} medida na consulta inicial": ("não", "sim") for k in range(23)}
READ = ["--treatment", "traitement", "--outcome", "guérison", "--treated", "médicament", "--success", "guéri"]
GROUP = f"{AGE}=65 ans et plus (né avant 1960),{SIZE}=ja"


def table(path, seed, chosen):
    random = np.random.default_rng(seed)
    cells = {name: random.choice(levels, 600) for name, levels in LEVELS.items()}
    old = cells[AGE] == LEVELS[AGE][1]
    treated = random.random(600) < (0.3 + 0.4 * old if chosen else 0.5)
    well = random.random(600) < 0.2 + 0.5 * treated * old
    columns = [
        np.where(treated, "médicament", "soins habituels"),
        np.where(well, "guéri", "non"),
        *cells.values(),
    ]
    return write_csv(path, ",".join(("traitement", "guérison", *LEVELS)), map(",".join, zip(*columns, strict=True)))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return table(folder / "trial.csv", 1, chosen=False), table(folder / "registry.csv", 2, chosen=True)


@pytest.fixture
def wide(run, tables, tmp_path):
    """A model of 25 covariates with long names."""
    run("fit", *tables, *READ, "--model", "plug-in", "--out", tmp_path / "wide")
    return tmp_path / "wide"


COMMANDS = {
    "query": ["query", "MODEL", "", GROUP],
    "decide": ["decide", "MODEL", "", GROUP],
    "decide at all thresholds": ["decide", "MODEL", "--curve"],
    "ask": ["ask", "MODEL", GROUP],
    "ask for answers": ["ask", "MODEL", GROUP, "--levels"],
    "ask without": ["ask", "MODEL", GROUP, "--without"],
    "rank": ["rank", "MODEL"],
    "select": ["select", "MODEL", "--budget", 0.2],
    "select a curve": ["select", "MODEL", "--budget", 0.2, "--curve"],
    "policies": ["policies", "MODEL", "", GROUP],
    "tip": ["tip", "MODEL", "", GROUP],
    "explain": ["explain", "MODEL"],
    "check": ["check", "TABLES", *READ],
    "validate": ["validate", "TABLES", *READ, "--model", "plug-in", "--splits", 2, "--covariates", SIZE],
    "size": ["size", "--margin", 0.05],
    "formula": ["formula", "--quantity", "pn"],
    "oracle": ["oracle", "toxic-drug", "", "sex=male,kidney_disease=yes,age_group=65+"],
    "start": ["start", "TABLES", *READ, "--yes", "--no-run"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_longer_than_the_screen(attempt, wide, tables, monkeypatch, name):
    files = {"MODEL": [wide], "TABLES": list(tables)}
    command = [word for part in COMMANDS[name] for word in files.get(part, [part])]
    for width in (60, 80, 100, 120, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        ended = attempt(*command)
        assert ended.code in (0, 1), ended.err
        assert ended.out
        lines = (ended.out + ended.err).splitlines()
        to_copy = [line for line in lines if "pnsight check " in line or "pnsight fit " in line]  # whole
        assert [line for line in lines if cell_len(line) > width and line not in to_copy] == []


def test_a_reader_sees_groups_by_name_and_files_have_the_short_form(run, model):
    assert "z1 = 1, z2 = 0" in run("query", model, "z1=1,z2=0").out
    (row,) = run("query", model, "z1=1,z2=0", "--format", "csv").rows
    assert row["query"] == "10XXXXXXXX"
    assert len(row["lower"]) > len("0.123")
    assert "value_low" in row


def test_a_profile_of_many_covariates_keeps_its_short_form(run, model):
    assert "1101001110" in run("query", model, "1101001110").out


def test_what_there_was_no_room_for_is_said(run, model, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert "--format csv has everything" in " ".join(run("decide", model).err.split())


def test_many_selected_profiles_are_summed_up_and_the_file_lists_them(run, model, tmp_path):
    ended = run("select", model, "--budget", 0.3)
    assert ended.out.split()[:4] == ["covariate", "level", "of_treated", "of_all"]
    run("select", model, "--budget", 0.3, "--out", tmp_path / "list.csv")
    listed = (tmp_path / "list.csv").read_text(encoding="utf-8").splitlines()
    assert f"{len(listed) - 1} profiles are treated" in ended.err


# --- colours ------------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A stream that is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "to_file", "environment", "colours"),
    [
        (Screen(), False, {}, True),
        (Screen(), True, {}, False),
        (io.StringIO(), False, {}, False),
        (Screen(), False, {"NO_COLOR": "1"}, False),
        (Screen(), False, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_and_for_who_wants_them(monkeypatch, stream, to_file, environment, colours):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert screen_style(stream, to_file).colours is colours


# --- help, completion, progress -------------------------------------------------------------------------------


def test_the_list_of_commands_has_whole_sentences(run):
    _, _, listed = run("--help").out.partition("Commands:")
    summaries = " ".join(listed.split())
    assert "..." not in summaries
    assert "each better than every more general one." in summaries


def test_no_option_called_threshold_means_rows(run):
    assert "--threshold" not in run("fit", "--help").out


@pytest.mark.parametrize(
    ("words", "found"),
    [("pnsight ra", "rank"), ("pnsight query --quantity har", "harm"), ("pnsight rank --mar", "--margin")],
)
def test_a_shell_completes_commands_options_and_quantities(attempt, monkeypatch, words, found):
    monkeypatch.setenv("_PNSIGHT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert found in attempt().out.split()


def test_without_a_terminal_there_is_a_line_of_progress_every_ten_seconds():
    lines: list[str] = []
    times = iter([0.0, 1.0, 9.9, 10.0, 12.0, 25.0])
    report = progress_lines("training", lambda done, total, note: f"{done} of {total}", lines.append, times.__next__)
    for done in range(5):
        report(done, 5, "")
    assert lines == ["training: 2 of 5, 10 s", "training: 4 of 5, 25 s"]


def test_how_far_work_is_is_a_percentage():
    assert share_done(3, 20, "choosing") == "15%, choosing"
    assert share_done(0, 0, "") == "0%"


def test_no_bar_is_drawn_into_a_file_even_where_colour_is_forced(monkeypatch, capsys):
    """Kernels of notebooks set FORCE_COLOR for the commands they run, whose output is no terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    for shown in (bar, counter):
        with shown("fitting") as report:
            report(1, 2, "one of two")
    assert "\x1b" not in capsys.readouterr().err
