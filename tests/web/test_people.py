"""Many people: a table goes in and comes back with decisions, or a message says what is wrong with it and where."""

from __future__ import annotations

import csv
import io

import pytest

import web_models
from page_text import Element, read
from pnsight.decisions import decide
from pnsight.errors import LimitError, TableError
from pnsight.web import people
from pnsight.web.people import read_table

TABLE = "person,sex,age,decision\nann,female,60,old\nbo,male,,old\ncy,,33,old\n"


def upload(client, table: str | bytes, path="/people/result", **fields):
    content = table.encode() if isinstance(table, str) else table
    return client.post(path, files={"file": ("people.csv", content, "text/csv")}, data=fields)


def shown(page: Element) -> list[list[str]]:
    return [
        [cell.text for cell in row.every("td")] for row in page.one("table", class_="plain").one("tbody").every("tr")
    ]


def told(response) -> str:
    said = read(response.text).one("p", class_="problem").text
    return said[0].lower() + said[1:]


def test_every_person_gets_the_decision_of_the_library(client, model):
    response = upload(client, TABLE, "/people.csv", threshold="0.1")
    found = decide(model, [{"sex": "female", "age": 60}, {"sex": "male"}, {"age": 33}], 0.1)
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [row["decision"] for row in rows] == [str(word) for word in found.decision]
    assert [float(row["lower"]) for row in rows] == pytest.approx(list(found.answers.lower))
    assert [row["person"] for row in rows] == ["ann", "bo", "cy"]
    assert [row["decision_given"] for row in rows] == ["old"] * 3
    assert response.headers["content-disposition"] == 'attachment; filename="decisions.csv"'
    assert response.headers["content-type"] == "text/csv; charset=utf-8"


def test_no_text_of_the_table_is_a_formula_in_the_file(client):
    table = "=name,sex,debt\n=1+1,female,-12.5\n@sum(a1),male,-1+cmd\n"
    response = upload(client, table, "/people.csv", threshold="0.1")
    header, *rows = csv.reader(io.StringIO(response.text))
    assert header[:3] == ["'=name", "sex", "debt"]
    assert [row[:3] for row in rows] == [["'=1+1", "female", "-12.5"], ["'@sum(a1)", "male", "'-1+cmd"]]
    again = upload(client, response.content, "/people.csv", threshold="0.1")
    assert [row[:3] for row in csv.reader(io.StringIO(again.text))] == [header[:3], *(row[:3] for row in rows)]


def test_the_page_shows_decisions_and_counts_them(client, model):
    page = read(upload(client, TABLE, "/people", threshold="0.1").text)
    found = decide(model, [{"sex": "female", "age": 60}, {"sex": "male"}, {"age": 33}], 0.1)
    rows, words = shown(page), {"treat": "treat", "not": "do not treat", "uncertain": "uncertain"}
    assert [row[3] for row in rows] == ["ann", "bo", "cy"]
    decided = zip(rows, found.decision, strict=True)
    assert all(row[0].startswith(words[str(word)]) for row, word in decided)
    low, high = found.answers.interval("lower")
    ends = zip(found.answers.lower, low, high, strict=True)
    assert [row[1] for row in rows] == [f"{value:.3f}{low:.3f} to {high:.3f}" for value, low, high in ends]
    heads = [head.text for head in page.one("table", class_="plain").one("thead").every("th")]
    own = ["person", "sex", "age", "decision"]
    assert heads == ["Decision", "At least", "At most", *own, "Rows in experiment", "Rows observed", "Rests on"]
    assert "3 decisions: treat if PNS is at least 0.1" in page.text
    assert "kept as they are: person, decision" in page.text
    assert page.one("input", id="threshold").attributes["value"] == "0.1"


def test_a_table_can_be_pasted(client):
    response = client.post("/people", data={"text": "sex\nmale\n", "quantity": "pn"})
    page = read(response.text)
    assert "1 decision: the threshold is reached if PN is at least 0.5" in page.text
    assert page.one("textarea").text == "sex male"


def test_no_more_than_the_first_rows_are_shown(client):
    page = read(upload(client, "sex\n" + "male\n" * 250).text)
    assert len(shown(page)) == 100
    assert "and 150 more rows: download them all" in page.text


@pytest.mark.parametrize(
    "table",
    [
        "sex;age\nmale;60\nfemale;20\n",
        "sex\tage\nmale\t60\nfemale\t20\n",
        '"sex","age"\r\n"male","60"\r\n"female","20"\r\n',
        "sex,age\rmale,60\rfemale,20\r",
        "\n\nsex,age\nmale,60\n\nfemale,20",
        b"\xef\xbb\xbfsex,age\nmale,60\nfemale,20\n",
        "sex,age\nmale,60\nfemale,20\n".encode("utf-16"),
        " sex , age \nmale,60\nfemale,20\n",
    ],
    ids=["semicolons", "tabs", "quotes", "old line ends", "empty lines", "mark", "utf-16", "spaces"],
)
def test_tables_are_read_as_programs_write_them(table):
    content = table if isinstance(table, bytes) else table.encode()
    assert read_table(content).columns == {"sex": ["male", "female"], "age": ["60", "20"]}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("sex\nmael\n", "row 1 (line 2 of the file): covariate 'sex' has no level 'mael'"),
        ("sexx\nmale\n", "none of them is a covariate; the covariates are sex, age, region"),
        ("age,Sex\n20,male\n", "a column 'Sex'; write it 'sex'"),
        ("sex,age\nmale\n", "row 1 (line 2 of the file) has 1 value for 2 columns: sex, age"),
        ("sex,,age\nmale,1,2\n", "column 2 of the table has no name"),
        ("sex,sex\nmale,male\n", "more than one column called sex"),
        ("sex\n", "column names but no row"),
        ("", "no table was sent"),
        ("\n \n", "the table is empty"),
        (b"sex\nM\xfcnchen\n", "has no level 'M\xfcnchen'"),
        (b"PK\x03\x04\x00\x00", "not text"),
        ("sex\n" + "x" * 200_000, "cannot be read as CSV"),
    ],
)
def test_a_mistake_is_named_with_its_place(client, table, said):
    response = upload(client, table, "/people") if table else client.post("/people", data={"text": ""})
    assert response.status_code == 400
    assert said in told(response)


def test_rows_that_cannot_be_read_are_flagged_one_by_one_and_the_others_decided(client, model):
    table = '\nsex,age,note\nmael,20,"two\nlines"\n\nmale,10,\nfemale,60,\nmale\n'
    page = read(upload(client, table, "/people", threshold="0.1").text)
    rows = shown(page)
    assert rows[0][0].startswith("cannot be read")
    assert "row 1 (line 3 of the file): covariate 'sex' has no level 'mael'" in rows[0][0]
    assert "row 2 (line 6 of the file): covariate 'age' cannot be 10" in rows[1][0]
    assert "row 4 (line 8 of the file) has 1 value for 3 columns" in rows[3][0]
    assert "3 of 4 rows cannot be read" in page.text
    assert rows[2][1].startswith(f"{model.bounds('sex=female,age=40-95').lower[0]:.3f}")


def test_in_the_file_a_row_that_cannot_be_read_says_why(client):
    rows = list(csv.DictReader(io.StringIO(upload(client, "sex\nmael\nmale\n", "/people.csv").text)))
    assert [row["status"] for row in rows] == ["invalid", "ok"]
    assert [bool(row["problem"]) for row in rows] == [True, False]
    assert (rows[0]["lower"], rows[0]["decision"], rows[0]["support_experimental"]) == ("", "", "0")


def test_where_no_row_can_be_read_all_mistakes_are_listed_up_to_twenty(client):
    said = told(upload(client, "sex,age\n" + "male\n" * 30, "/people"))
    assert said.startswith("no row of this table can be read, of 30:")
    assert said.count("has 1 value for 2 columns") == 20
    assert said.endswith("and 10 more.")


def test_a_table_in_latin_1_with_semicolons_is_read_and_said_to_be(client):
    table = "pr\xe9nom;sex\nRen\xe9e;female\n".encode("latin-1")
    page = read(upload(client, table).text)
    assert shown(page)[0][3:5] == ["Ren\xe9e", "female"]
    assert "The text is not in UTF-8; it was read as cp1252 (Latin-1)" in page.text


def test_a_decision_to_treat_says_how_many_are_harmed_at_most(client, model):
    page = read(upload(client, "sex\nmale\n", "/people/result", threshold="0").text)
    harm = model.bounds("sex=male", "harm").upper[0]
    assert shown(page)[0][0] == f"treat harms at most {100 * harm:.0f} of 100"


def test_a_long_value_is_told_by_its_length(client):
    said = told(upload(client, "sex,age\nmale," + "1" * 11_999 + "x\n", "/people"))
    assert said == "row 1 (line 2 of the file): the value of 'age' has 12,000 characters; at most 4,000 are read."


def test_no_answer_says_why_in_the_table(ask):
    page = read(upload(ask("plug-in"), "sex,age,region\nfemale,20,South\n", "/people").text)
    assert "no row of these people" in page.text or "contradict each other" in page.text


def test_the_script_gets_a_message_as_a_part_of_the_page(client):
    response = upload(client, "sex\nmael\n")
    assert response.status_code == 200
    assert "no level 'mael'" in told(response)


def test_a_file_that_cannot_be_made_is_a_page_with_the_reason(client):
    response = upload(client, "sex\nmael\n", "/people.csv")
    assert response.status_code == 400
    assert response.headers["content-type"].startswith("text/html")
    assert "no level 'mael'" in told(response)


def test_a_mistake_in_how_to_ask_is_named(client):
    assert "threshold is 'x'" in told(upload(client, TABLE, "/people", threshold="x"))
    assert "contradict" in told(upload(client, TABLE, "/people", assume="monotone"))


def test_too_much_is_refused(client, monkeypatch):
    monkeypatch.setattr(people, "MOST_ROWS", 3)
    response = upload(client, "sex\n" + "male\n" * 4, "/people")
    assert response.status_code == 413
    assert "more than 3 people" in told(response)
    monkeypatch.setattr(people, "MOST_BYTES", 10)
    assert upload(client, TABLE, "/people").status_code == 413
    with pytest.raises(LimitError, match="at most 10"):
        read_table(b"x" * 11)


def test_without_covariates_everyone_gets_the_same_answer(ask):
    page = read(upload(ask("no covariates"), "person\nann\nbo\n", "/people").text)
    assert [row[3] for row in shown(page)] == ["ann", "bo"]


def test_what_is_uploaded_is_never_markup(client):
    nasty = web_models.NASTY
    page = read(upload(client, f"{nasty},sex\n{nasty},male\n", "/people").text)
    assert shown(page)[0][3] == nasty
    assert [each.attributes["src"][:8] for each in page.every("script")] == ["/static/"]
    assert nasty in told(client.post("/people", data={"text": f"sex\n{nasty}\n"}))


def test_a_table_in_one_column_is_read_whatever_separates():
    assert read_table(b"sex\nmale\n").columns == {"sex": ["male"]}
    with pytest.raises(TableError):
        read_table(b"sex\n\n")


def test_many_queries_that_would_take_too_long_are_refused_before_they_do(monkeypatch):
    from pnsight.web.explorer import Explorer
    from pnsight.web.people import decide_about

    explorer = Explorer(web_models.clinic())
    monkeypatch.setattr("pnsight.web.explorer.MAX_ENUMERATED_PROFILES", 0)
    monkeypatch.setattr("pnsight.web.explorer.MOST_SECONDS", 0.0)
    options = explorer.reader.read([])[0].options
    with pytest.raises(LimitError, match="100 queries would take this model about"):
        decide_about(explorer, b"sex\n" + b"male\n" * 100, options)
