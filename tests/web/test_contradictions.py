"""Where the tables contradict each other the pages have no answer, say what the trial says, and lead there."""

from __future__ import annotations

import pytest

import pnsight
import web_models
from page_text import read
from pnsight import simulation as populations
from pnsight.web import create_app
from pnsight.wording import capitalised
from web_clients import Client

PAGES = ["/", "/groups", "/people", "/about"]
CONTRADICTED = "The tables contradict each other. For everyone, P(x',y) is 0.848 in the observational table"


@pytest.fixture
def lalonde(ask) -> Client:
    return ask("contradicted")


@pytest.fixture(scope="module")
def alone() -> Client:
    """A site that goes by the trial alone."""
    return Client(create_app(web_models.contradicted(), trial_alone=True))


# --- the answer -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0, 0.05, 0.2, 0.9])
def test_the_card_has_no_answer_but_a_verdict_and_the_trials_bounds(lalonde, threshold):
    page = read(lalonde.get(f"/answer?threshold={threshold}").text)
    assert page.one("h2").text == "No answer"
    assert page.one("p", class_="reason").text == (
        "The tables contradict each other here beyond chance; by the trial alone PNS is between 0.078 and 0.304."
    )
    both, trial = page.one("table", class_="numbers").one("tbody").every("tr")
    assert [cell.text for cell in both.every("td")][:2] == ["–", "–"]
    assert trial.one("th").text == "Trial alone"
    assert [cell.text for cell in trial.every("td")] == ["0.078", "0.304", "722", "–", "–"]
    assert not page.every("svg", class_="bar")


def test_a_link_goes_on_with_the_trial_alone(lalonde):
    link = read(lalonde.get("/answer?threshold=0.9").text).one("p", class_="go-on").one("a").attributes["href"]
    assert link == "/?threshold=0.9&trial_alone=yes"
    page = read(lalonde.get(link).text)
    assert page.one("h2", id="answer-title").text == "Do not treat"
    assert "checked" in page.one("input", name="trial_alone").attributes
    head = page.one("aside", class_="verdict").text
    assert "From the trial alone." in head
    assert "The trial is usable." in head
    assert "contradict" not in head
    assert "From the experiment alone, and of its people" in page.one("ul", class_="notes").text
    (line,) = page.one("table", class_="numbers").one("tbody").every("tr")
    cells = [cell.text for cell in line.every("td")]
    assert (cells[0][:5], cells[1][:5], cells[2:4]) == ("0.078", "0.304", ["722", "–"])


def test_a_quantity_that_the_trial_does_not_bound_is_said_to_be_so(lalonde):
    page = read(lalonde.get("/answer?quantity=pn").text)
    assert "the trial alone does not bound PN" in page.one("p", class_="reason").text
    assert len(page.one("table", class_="numbers").one("tbody").every("tr")) == 1


def test_those_who_are_not_concerned_are_answered(ask):
    page = read(ask("half contradicted").get("/answer?with.town=Ain&threshold=0.9").text)
    assert page.one("h2").text == "Do not treat"
    assert not page.every("p", class_="go-on")
    for people in ("", "with.town=Brest", "with.age=old"):
        page = read(ask("half contradicted").get(f"/answer?{people}").text)
        assert page.one("h2").text == "No answer"
        assert page.one("p", class_="go-on")


# --- the head of every page -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_the_verdict_and_the_warnings_are_at_the_head_of_every_page_once(lalonde, path):
    page = read(lalonde.get(path).text)
    head = page.one("aside", class_="verdict")
    assert "The tables are not usable" in head.text
    assert [CONTRADICTED in item.text for item in head.every("li")] == [True]
    if path != "/about":
        assert page.text.count(CONTRADICTED) == 1


def test_usable_tables_have_no_yes_over_warnings(client, ask):
    words = pnsight.output.tables_verdict.TablesVerdict.of_study(web_models.clinic().study).words
    assert read(client.get("/").text).one("aside", class_="verdict").text.startswith(f"The tables are {words}.")
    rare = read(ask("plug-in").get("/").text).one("aside", class_="verdict")
    assert rare.text.startswith("The tables are usable with warnings. 1 warning: support.")


def test_nothing_is_decided_from_a_trial_that_was_not_randomised():
    study = populations.get("mediator").sample(5_000, 5_000, seed=1)
    chosen = Client(create_app(pnsight.PlugIn().fit(study.with_tables(experimental=study.observational))))
    page = read(chosen.get("/?threshold=0").text)
    assert "The tables are not usable. Balance failed" in page.one("aside", class_="verdict").text
    assert page.one("h2", id="answer-title").text == "No decision"
    assert "the tables are not usable as they are, since balance failed" in page.one("p", class_="reason").text
    assert not page.every("table", class_="questions")
    groups = read(chosen.get("/groups?threshold=0").text)
    assert {row.every("td")[1].text for row in groups.one("table", class_="groups").one("tbody").every("tr")} == {
        "no decision"
    }
    people = read(chosen.post("/people", data={"text": "z1\n1\n", "threshold": "0"}).text)
    assert people.one("td", class_="decided").text.startswith("no decision")


# --- rankings and tables of people ----------------------------------------------------------------------


def test_if_everyone_is_contradicted_no_group_is_listed_and_a_link_goes_on(lalonde):
    page = read(lalonde.get("/groups").text)
    assert "No group can be ranked: the tables contradict each other beyond chance" in page.text
    link = page.one("p", class_="go-on").one("a").attributes["href"]
    assert link == "/groups?trial_alone=yes"
    assert len(read(lalonde.get(link).text).one("table", class_="groups").one("tbody").every("tr")) == 1


def test_contradicted_groups_are_left_out_and_counted(ask):
    page = read(ask("half contradicted").get("/groups").text)
    rows = page.one("table", class_="groups").one("tbody").every("tr")
    assert rows
    assert all("Ain" in row.one("th").text for row in rows)
    assert (
        "Left out: 6 of 9 groups, about which the tables contradict each other" in page.one("ul", class_="notes").text
    )


def test_people_whom_the_tables_contradict_each_other_about_get_no_decision_but_the_trials_bounds(ask):
    client = ask("half contradicted")
    text = "town,age\nAin,old\nBrest,old\n"
    rows = read(client.post("/people", data={"text": text, "threshold": "0.9"}).text).one("tbody").every("tr")
    assert rows[0].one("td", class_="decided").text == "do not treat"
    assert rows[1].one("td", class_="decided").text.startswith("no answer")
    assert "contradict each other beyond chance" in rows[1].text
    assert "By the trial alone 0.100 to 0.200." in rows[1].text
    file = client.post("/people.csv", data={"text": text}).text.splitlines()
    assert file[0].endswith("status,basis,value_low,value_high,trial_lower,trial_upper")
    assert ",contradicted," in file[2]


# --- a site that goes by the trial alone ----------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_that_a_site_goes_by_the_trial_alone_is_said_at_the_head_of_every_page(alone, path):
    page = read(alone.get(path).text)
    head = page.one("aside", class_="verdict").text
    assert "From the trial alone. The observational table is not used" in head
    assert "contradict" not in head
    assert not page.every("input", name="trial_alone")


def test_its_answers_and_its_programs_are_the_trials(alone):
    page = read(alone.get("/?threshold=0.9").text)
    assert page.one("h2", id="answer-title").text == "Do not treat"
    (answer,) = alone.get("/api/bounds").json()["answers"]
    assert (answer["status"], answer["lower"]) == ("ok", pytest.approx(0.078, abs=5e-4))
    assert alone.get("/api/model").json()["rows_observational"] is None


# --- the JSON interface ---------------------------------------------------------------------------------


def test_programs_get_the_status_and_the_trials_bounds(lalonde):
    found = lalonde.get("/api/decide?threshold=0.2").json()
    (row,) = found["decisions"]
    assert (row["status"], row["decision"], row["decision_cautious"]) == ("contradicted", "", "")
    assert (row["lower"], row["upper"]) == (None, None)
    assert [row["trial_lower"], row["trial_upper"]] == pytest.approx([0.078, 0.304], abs=5e-4)
    assert [CONTRADICTED[1:] in warning for warning in found["warnings"]] == [True]
    assert not any(CONTRADICTED[1:] in note for note in found["notes"])
    assert found["population"] == "each"


def test_programs_may_go_by_the_trial_alone(lalonde):
    found = lalonde.post("/api/bounds", json={"trial_alone": True}).json()
    assert found["answers"][0]["status"] == "ok"
    assert (found["population"], found["warnings"]) == ("experimental", [])
    assert found == lalonde.get("/api/bounds?trial_alone=true").json()
    assert "--trial-alone" in lalonde.get("/api/rank").json()["error"]
    assert lalonde.get("/api/rank?trial_alone=true").json()["groups"]


def test_the_description_names_every_status_and_basis(lalonde):
    schemas = lalonde.get("/api/openapi.json").json()["components"]["schemas"]
    answer = schemas["AnswerFields"]["properties"]
    assert answer["status"]["enum"] == ["ok", "incoherent", "undefined", "crossed", "contradicted"]
    assert answer["basis"]["enum"] == ["rows", "model", "extrapolated", ""]
    assert {"value_low", "value_high", "trial_lower", "trial_upper"} <= set(answer)
    assert "decision_cautious" in schemas["DecisionFields"]["properties"]


def test_the_model_says_what_its_tables_are_worth(lalonde, client):
    found = lalonde.get("/api/model").json()
    assert found["verdict"] == "not usable"
    assert CONTRADICTED[1:] in found["warnings"][0]
    assert client.get("/api/model").json()["warnings"] == list(map(str, web_models.clinic().warnings))


def refusal(model: pnsight.Model) -> str:
    """Why a model cannot answer from the experiment alone; empty if it can."""
    try:
        model.from_trial_alone()
    except pnsight.PnsightError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("name", list(web_models.EVERY))
@pytest.mark.parametrize("path", ["/", "/groups", "/people"])
def test_every_model_goes_by_the_trial_alone_or_says_why_it_cannot(name, path, ask):
    response, refused = ask(name).get(f"{path}?trial_alone=yes"), refusal(web_models.EVERY[name]())
    page = read(response.text)
    assert response.status_code == (400 if refused else 200)
    if refused:
        assert page.one("p", class_="problem").text == capitalised(refused)
    else:
        assert "From the trial alone." in page.one("aside", class_="verdict").text
