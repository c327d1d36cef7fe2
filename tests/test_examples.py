"""The examples run, and what the documentation shows of them is what they print."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def case_study():
    spec = importlib.util.spec_from_file_location("case_study", ROOT / "examples" / "case_study.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def printed(case_study, quick_default, capsys):
    """The case study with few rows and a quick fit."""
    case_study.main(rows=20_000)
    return capsys.readouterr().out


def test_the_case_study_shows_the_profile_its_ten_variants_and_the_truth(printed, case_study):
    rows = re.findall(r"^([01X]{10})  (\d\.\d{3} - \d\.\d{3})  ", printed, re.MULTILINE)
    assert [query.count("X") for query, _ in rows] == [0] + [1] * 10
    assert rows[0] == (case_study.PROFILE, "0.251 - 0.333")


def test_the_case_study_asks_about_what_is_open_and_stops_when_no_answer_matters(printed):
    assert {"z5", "z6", "z7", "z8", "z9", "z10"} <= set(re.findall(r"^z\d+", printed, re.MULTILINE))
    assert printed.count("\n1101XXXXXX: ") == 1
    known = re.findall(r"^([01X]{10}): ", printed, re.MULTILINE)
    assert [query.count("X") for query in known] == list(range(6, 6 - len(known), -1))
    assert printed.rstrip().splitlines()[-1].lstrip().startswith(("no single question", "ask for"))


def test_what_the_documentation_shows_has_the_lines_that_the_case_study_prints_today(printed):
    shown = (ROOT / "experiments" / "results" / "case_study.txt").read_text(encoding="utf-8")
    assert _words(shown) == _words(printed)


def _words(text: str) -> list[str]:
    """What does not depend on the rows: titles, column names and the queries of the first table."""
    tables = text.partition("\nAsk, hear")[0].splitlines()
    return sorted(re.sub(r"\d\.\d{3}.*|\b(treat|not|uncertain)\b|[- ]+", " ", line).strip() for line in tables if line)
