"""The explorer: what it shows is what the model says, in any state, and nothing that was written becomes markup."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
import web_models
from page_text import Element, read
from pnsight._text import percent
from pnsight.decisions import ask, decide, what_if
from pnsight.estimands import QUANTITIES
from pnsight.models.suppression import suppress
from pnsight.output.about_answers import RESTS_ON
from pnsight.output.per_hundred import per_hundred
from pnsight.queries import lattice
from pnsight.queries.query import encode
from pnsight.web import create_app
from pnsight.wording import people_of_hundred, range_of_hundred
from quick_config import QUICK
from web_clients import Client, client_of

DECIDED = {"treat": "Treat", "not": "Do not treat", "uncertain": "Uncertain", "": "No answer"}
MEASURED = {**DECIDED, "treat": "Reaches the threshold", "not": "Stays below the threshold"}


def shown(found: Element, row: int = 0) -> list[str]:
    """The cells of a row of the answer's table."""
    return [cell.text for cell in found.one("table", class_="numbers").one("tbody").every("tr")[row].every("td")]


def expected(answer: pnsight.BoundTable) -> list[str]:
    cells = []
    for end in ("lower", "upper"):
        low, high = (values[0] for values in answer.interval(end))
        interval = "" if np.isnan(low) else f"{low:.3f} to {high:.3f}"
        cells.append(f"{getattr(answer, end)[0]:.3f}{interval}")
    support = (answer.support_experimental[0], answer.support_observational[0])
    assert answer.basis is not None
    return [*cells, *(f"{rows:,.0f}" for rows in support), RESTS_ON[str(answer.basis[0])]]


@settings(max_examples=40)
@given(
    fixed=st.fixed_dictionaries(
        {},
        optional={each.name: st.sampled_from(each.levels) for each in web_models.CLINIC.covariates},
    ),
    quantity=st.sampled_from(["pns", "pn", "ps", "pd", "pe"]),
    threshold=st.sampled_from([0.0, 0.1, 0.2, 0.35, 0.5]),
    refine=st.sampled_from(["none", "covariates"]),
    cautious=st.booleans(),
)
def test_the_answer_shown_is_the_models(fixed, quantity, threshold, refine, cautious):
    model, client = web_models.clinic(), client_of("response-types")
    asked = {f"with.{name}": level for name, level in fixed.items()}
    how = {"quantity": quantity, "threshold": threshold, "refine": refine} | ({} if cautious else {"cautious": "no"})
    page = read(client.get("/answer", params=asked | how).text)
    found = decide(model, fixed, threshold, cautious, quantity=quantity, refine=refine)
    assert shown(page) == expected(found.answers)
    assert page.one("h2").text == (DECIDED if quantity == "pns" else MEASURED)[str(found.decision[0])]
    if fixed:
        assert shown(page, 1) == expected(model.bounds("", quantity, refine=refine))
        assert f"{float(model.shares(encode(model.schema, fixed))[0]):.0%} of all people" in page.text


def test_the_whole_page_holds_answer_advice_and_every_level(client, model):
    page = read(client.get("/?with.sex=female&threshold=0.2").text)
    assert page.one("h2", id="answer-title").text == DECIDED[str(decide(model, "sex=female", 0.2, True).decision[0])]
    for covariate in model.schema.covariates:
        levels = [each.attributes["value"] for each in page.every("input", name=f"with.{covariate.name}")]
        assert levels == ["", *covariate.levels]
    assert "checked" in page.one("input", name="with.sex", value="female").attributes
    assert "checked" in page.one("input", name="with.age", value="").attributes
    assert page.one("section", id="advice").every("table")
    assert page.one("form", id="explore").attributes["method"] == "get"
    assert page.one("noscript").one("button").text == "Show the answer"


def test_every_field_has_a_label_and_every_group_a_legend(client):
    page = read(client.get("/").text)
    labelled = {label.attributes["for"] for label in page.every("label") if "for" in label.attributes}
    inside = {id(field) for label in page.every("label") for field in label.every("input")}
    for field in (*page.every("input"), *page.every("select")):
        assert field.attributes.get("id") in labelled or id(field) in inside
    for group in page.every("fieldset"):
        assert group.one("legend").text


def test_the_advice_is_that_of_ask(client, model):
    page = read(client.get("/advice?with.sex=male&threshold=0.3").text)
    found = ask(model, "sex=male", 0.3, cautious=True)
    assert str(found.advice)[1:] in page.text
    rows = [row for table in page.every("table", class_="questions") for row in table.one("tbody").every("tr")]
    assert [row.one("th").text for row in rows] == found.columns()["covariate"]
    levels = found.by_level()
    for row in rows:
        name = row.one("th").text
        likely = [
            f"{level} {probability:.0%}"
            for asked, level, probability in zip(
                levels["covariate"], levels["level"], levels["probability"], strict=True
            )
            if asked == name
        ]
        told = [item.text for item in row.one("ul", class_="answers").every("li")]
        assert all(text.startswith(start) for text, start in zip(told, likely, strict=True))


def test_questions_say_what_they_change_the_decision_to_and_those_that_change_nothing_are_folded(client, model):
    for threshold in (0.1, 0.2, 0.3):
        columns = ask(model, "", threshold).columns()
        page = read(client.get(f"/advice?threshold={threshold}&cautious=no").text)
        folded = [row.one("th").text for table in page.every("details") for row in table.one("tbody").every("tr")]
        assert folded == [
            name for name, often in zip(columns["covariate"], columns["changes"], strict=True) if not often
        ]
        for row in (row for table in page.every("tbody") for row in table.every("tr")):
            place = columns["covariate"].index(row.one("th").text)
            told = [item.text for item in row.one("td", class_="chance").every("li")]
            now = str(ask(model, "", threshold).now.decision[0])
            words = {"treat": "treat", "not": "do not treat", "uncertain": "uncertain"}
            expected = [
                f"{percent(columns[word][place])} {words[word]}"
                for word in words
                if word != now and columns[word][place]
            ]
            assert told == expected


def test_few_people_like_this_are_told_with_the_answer():
    model, found = few_people(), "with.z1=1&with.z2=1"
    rows = model.bounds("z1=1,z2=1")
    said = read(Client(create_app(model)).get(f"/answer?{found}").text).one("p", class_="caveat").text
    assert said == "Only 7 people like this were seen; the answer rests on what the model learned from others."
    assert rows.support_experimental[0] + rows.support_observational[0] == 7
    page = read(Client(create_app(model)).get("/answer?with.z1=0").text)
    assert not page.every("p", class_="caveat")


def few_people() -> pnsight.Model:
    """Four groups of people, of which one has seven."""
    schema = pnsight.Schema.binary(["z1", "z2"])
    many, few = [[400, 600, 300, 700]], [[1, 2, 1, 0]]
    profiles = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    counts = np.array(many * 3 + few, dtype=np.float64)
    study = pnsight.Study.from_tables(schema, profiles, counts, np.array(many * 3 + [[1, 1, 1, 0]], dtype=np.float64))
    return pnsight.ResponseTypeModel(config=QUICK).fit(study)


def test_the_answers_to_a_question_lead_to_the_states_they_make(client, model):
    page = read(client.get("/advice?with.sex=male&threshold=0.3").text)
    link = page.one("a", data_set="region", data_level="South")
    followed = read(client.get(link.attributes["href"]).text)
    assert shown(followed) == expected(model.bounds({"sex": "male", "region": "South"}))


def test_what_is_known_can_be_left_open_again(client, model):
    page = read(client.get("/answer?with.sex=male&with.region=South").text)
    link = page.one("a", data_open="sex")
    assert link.attributes["href"] == "/?with.region=South"


def test_the_drawing_says_what_it_shows(client):
    bar = read(client.get("/answer?with.sex=male&threshold=0.3").text).one("svg", class_="bar")
    assert bar.attributes["role"] == "img"
    title = bar.one("title", id=bar.attributes["aria-labelledby"]).text
    assert title.startswith("PNS; these people: ")
    assert title.endswith("; threshold 0.3")
    assert "; everyone: " in title


@pytest.mark.parametrize("query", ["", "with.sex=male&with.age=40-95&with.region=South"])
@pytest.mark.parametrize("payoffs", [(100, -60, 0, -140), (-5, 3, 2, 4), (2, 2, 2, 2)])
def test_the_benefit_has_its_own_scale_and_cost(client, model, query, payoffs):
    how = dict(zip(("complier", "always", "never", "defier"), payoffs, strict=True))
    page = read(client.get(f"/answer?{query}&quantity=benefit&cost=1.5&{urlencode(how)}").text)
    fixed = {} if not query else {"sex": "male", "age": "40-95", "region": "South"}
    found = decide(model, fixed, 1.5, cautious=True, quantity="benefit", payoffs=payoffs)
    assert shown(page) == expected(found.answers)
    assert page.one("h2").text == DECIDED[str(found.decision[0])]
    assert (
        f"Treating is worth {payoffs[0]} for a person who responds because of it" in page.one("ul", class_="notes").text
    )


@pytest.mark.parametrize(
    ("quantity", "reaches", "below"), [("harm", "harmful", "harmless"), ("pe", "reaches", "below")]
)
def test_only_pns_and_benefit_say_whom_to_treat(client, quantity, reaches, below):
    for threshold, words, kind in (0, "Reaches the threshold", reaches), (1, "Stays below the threshold", below):
        page = read(client.get(f"/answer?quantity={quantity}&threshold={threshold}").text)
        title = page.one("h2")
        assert title.text == words
        assert title.every("svg", class_=kind)


@pytest.mark.parametrize("path", ["/", "/answer", "/groups", "/people"])
def test_a_threshold_in_per_cent_is_refused_with_what_was_meant(client, path):
    page = read(client.get(f"{path}?threshold=30").text)
    meant = "A threshold for PNS lies between 0 and 1, and 30 was given; did you mean 0.3?"
    assert page.one("p", class_="problem").text == meant
    assert "did you mean 0.9?" in read(client.get(f"{path}?level=90").text).one("p", class_="problem").text
    assert not read(client.get("/answer?quantity=benefit&cost=30").text).every("p", class_="problem")


def test_where_there_is_no_answer_there_is_no_advice(client):
    for path in ("/?threshold=30", "/?assume=monotone", "/advice?threshold=30"):
        page = read(client.get(path).text)
        assert not page.every("table", class_="questions")
        assert "Without an answer there is nothing to compare with." in page.text


def test_print_says_what_was_asked_and_how(client):
    how = "quantity=pn&threshold=0.25&refine=covariates&population=pooled&level=0.5"
    for path in ("/answer", "/groups/table"):
        page = read(client.get(f"{path}?{how}").text)
        assert page.one("p", class_="population").text == "Averaged over the people of both tables."
        said = page.one("p", class_="asked").text
        assert said.startswith("PN: Of those who were treated and responded, the share who needed the treatment")
        for words in ("Threshold: 0.25.", "Intervals: 50%.", "Cautious", "Refined"):
            assert words in said
        plain = read(client.get(f"{path}?{how}&cautious=no").text).one("p", class_="asked").text
        assert "Plain: decided by the bounds alone." in plain


def test_the_page_tells_its_link(client):
    link = read(client.get("/?threshold=0.3&with.sex=male").text).one("code", id="link").text
    assert link == "/?with.sex=male&threshold=0.3"
    assert read(client.get("/groups?by=upper&text=sex").text).one("code", id="link").text == "/groups?by=upper&text=sex"


def test_a_contradicted_assumption_is_refused_with_the_evidence(client, model):
    with pytest.raises(pnsight.PnsightError) as refused:
        model.bounds("", assume="monotone")
    response = client.get("/?assume=monotone")
    assert response.status_code == 200
    page = read(response.text)
    assert page.one("p", class_="problem").text.lower() == " ".join(str(refused.value).lower().split())
    assert "checked" in page.one("input", name="assume", value="monotone").attributes


def test_an_assumption_that_stands_is_stated_with_its_test(client, model):
    page = read(client.get("/answer?assume=exogenous&quantity=pn").text)
    answer = model.bounds("", "pn", assume="exogenous")
    assert shown(page) == expected(answer)
    assert str(answer.notes[0])[1:] in page.one("ul", class_="notes").text


def test_a_mistake_in_the_address_is_told_and_the_rest_is_kept(client):
    response = client.get("/?with.sex=mael&with.region=South&threshold=0.3")
    assert response.status_code == 400
    page = read(response.text)
    assert "Did you mean 'male'?" in page.one("p", class_="problem").text
    assert "checked" in page.one("input", name="with.region", value="South").attributes
    assert page.one("input", id="threshold").attributes["value"] == "0.3"


def test_small_counts_are_withheld_everywhere():
    model = suppress(web_models.clinic(), 20)
    client = Client(create_app(model))
    page = read(client.get("/answer?with.region=South").text)
    assert shown(page) == expected(model.bounds("region=South"))
    assert "Counts below 20 are withheld" in page.text
    assert "Counts below 20 are withheld" in read(client.get("/about").text).text
    assert "Small counts are withheld from this model" in read(client.get("/check").text).text
    assert "counts below 20 are withheld" in client.get("/api/bounds").json()["notes"][0]
    for row in read(client.get("/groups").text).one("table", class_="groups").one("tbody").every("tr"):
        rows = [
            cell.text for head in ("Rows in experiment", "Rows observed") for cell in row.every("td", data_label=head)
        ]
        assert len(rows) == 2
        assert all(int(text.replace(",", "")) >= 20 for text in rows)
    every = lattice.all_profiles(model.schema)
    found = model.bounds(every)
    rare = every[(found.support_experimental == 0) | (found.support_observational == 0)][0]
    names = {f"with.{one.name}": one.levels[code] for one, code in zip(model.schema.covariates, rare, strict=True)}
    page = read(client.get("/answer", params=names).text)
    assert "Few people like this were seen, or their counts are withheld" in page.one("p", class_="caveat").text


def test_no_answer_says_why(ask):
    page = read(ask("plug-in").get("/answer?with.sex=female&with.age=18-40&with.region=South").text)
    assert page.one("h2").text == "No answer"
    assert "no row of these people" in page.text or "contradict each other" in page.text


PAGES = (
    "/",
    "/groups",
    "/people",
    "/about",
    "/api/",
    "/compare",
    "/budget",
    "/decisions",
    "/policies",
    "/check",
    "/opinion",
    "/slack",
    "/proof",
    "/size",
)


@pytest.mark.parametrize("name", list(web_models.EVERY))
@pytest.mark.parametrize("path", PAGES)
def test_every_page_of_every_model_can_be_read(name, path, ask):
    response = ask(name).get(path)
    assert response.status_code == 200
    page = read(response.text)
    assert page.one("h1").text
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("a", class_="skip").attributes["href"] == "#main"
    ids = [each.attributes["id"] for each in page.every() if "id" in each.attributes]
    assert len(ids) == len(set(ids))


def test_a_model_offers_only_what_it_answers(ask):
    page = read(ask("mask-mlp").get("/").text)
    assert [each.attributes["value"] for each in page.every("option") if "disabled" not in each.attributes] == ["pns"]
    assert not page.every("input", name="assume")
    assert not page.every("input", name="cautious")
    assert not page.every("select", id="population")
    reasons = read(ask("mask-mlp").get("/about").text).one("section", id="model").text
    assert "fitted for pns and cannot bound harm" in reasons


def test_a_model_that_needs_every_covariate_says_so(ask):
    page = read(ask("exact-mlp").get("/").text)
    assert "answers only those: fix every covariate" in page.one("p", class_="problem").text


def test_an_experiment_alone_offers_what_it_can_bound(ask):
    page = read(ask("experiment alone").get("/").text)
    offered = [each.attributes["value"] for each in page.one("select", id="quantity").every("option")]
    closed = {each.attributes["value"] for each in page.every("option") if "disabled" in each.attributes}
    assert offered == list(QUANTITIES)
    assert closed == {name for name, one in QUANTITIES.items() if one.given is not None}
    assert shown(page)[-2:] == ["–", "own rows"]


def test_many_covariates_can_be_searched(ask, client):
    assert read(ask("sixteen covariates").get("/").text).every("input", id="find")
    assert not read(client.get("/").text).every("input", id="find")


@pytest.mark.parametrize("path", [*PAGES, "/answer", "/advice", "/groups/table"])
def test_names_are_never_markup(path, ask):
    model = web_models.nasty()
    query = urlencode({f"with.{each.name}": each.levels[0] for each in model.schema.covariates})
    for address in (path, f"{path}?{query}", f"{path}?with.{web_models.NASTY}={web_models.NASTY}&threshold=<b>"):
        page = read(ask("nasty names").get(address).text)
        assert all(each.attributes.get("src", "").startswith("/static/") for each in page.every("script"))
        assert all(each.attributes.get("src", "").startswith("/static/") for each in page.every("img"))
        assert not any(name.startswith("on") or name == "style" for each in page.every() for name in each.attributes)
        assert not page.every("i") or path == "/about"
        assert "drug" not in [each.text for each in page.every("b")]


def test_the_first_screen_says_who_is_helped_who_is_harmed_who_is_meant_and_whether_the_data_are_sound(client, model):
    page = read(client.get("/?with.sex=male&threshold=0.2").text)
    first = page.one("section", id="answer")
    found = per_hundred(model, "sex=male")[0]
    helped, harmed = (range_of_hundred(*share.ends) for share in (found.helped, found.harmed))
    assert f"drug makes the difference for {helped}; it harms {harmed}." in first.one("p", class_="hundred").text
    assert f"Drug harms {harmed} of 100" in first.one("p", class_="harm-and-net").text
    assert "For people with sex = male" in first.one("p", class_="known").text
    assert page.one("header").one("a", class_="badge").text == "Data: usable"
    before_the_form = page.one("main").children
    places = [each.attributes.get("id") for each in before_the_form if isinstance(each, Element)]
    assert places.index("answer") < places.index("explore")


def test_the_picture_has_a_hundred_people(client):
    figure = read(client.get("/answer").text).one("figure", class_="per-hundred")
    assert len(figure.every("g")) == 100


def test_a_number_that_rounds_to_the_threshold_shows_what_tells_it_apart(model, client):
    upper = float(model.bounds("sex=female").upper[0])
    near = round(upper, 3) if round(upper, 3) > upper else round(upper, 3) + 0.001
    threshold = round(upper + (near - upper) / 2, 6)
    page = read(client.get(f"/answer?with.sex=female&threshold={threshold}&cautious=no").text)
    told = page.one("p", class_="reason").text
    assert f", below {threshold:g}" in told
    assert float(told.split("at most ")[1].split(",")[0]) < threshold


def test_an_answer_about_nobody_who_was_seen_is_visibly_weaker(ask):
    page = read(ask("guessing").get("/answer?with.sex=male").text)
    assert page.one("p", class_="guess").text == "Extrapolated: nobody like this was seen."
    assert page.every("rect", class_="guessed")
    assert page.one("figure", class_="per-hundred").attributes["class"] == "per-hundred extrapolated"
    assert not read(ask("guessing").get("/answer?with.sex=female").text).every("rect", class_="guessed")


def test_a_decision_to_treat_never_stands_without_harm(ask):
    for name in web_models.EVERY:
        page = read(ask(name).get("/answer?threshold=0").text)
        if page.every("h2", class_="treat"):
            assert "harm" in page.one("p", class_="harm-and-net").text


def test_an_answer_after_which_to_treat_says_how_many_that_harms(client, model):
    page = read(client.get("/advice?with.sex=male&threshold=0.2&cautious=no").text)
    found = ask(model, "sex=male", 0.2).after
    harm = model.bounds(found.answers.queries, "harm").upper
    treated = found.decision == "treat"
    assert treated.any()
    assert sorted(each.text for each in page.every("span", class_="why")) == sorted(
        f"harms at most {people_of_hundred(share)} of 100" for share in harm[treated]
    )


def test_what_if_is_that_of_the_library(client, model):
    page = read(client.get("/advice?with.sex=male&with.region=South&threshold=0.2&cautious=no").text)
    found = what_if(model, "sex=male,region=South", 0.2)
    rows = page.one("table", class_="otherwise").one("tbody").every("tr")
    assert [row.one("th").text for row in rows] == ["sex = female", "region = North & East"]
    ends = zip(found.decisions.answers.lower, found.decisions.answers.upper, strict=True)
    assert [row.every("td")[1].text for row in rows] == [f"{low:.3f} to {high:.3f}" for low, high in ends]
    harm = model.bounds(["sex=female,region=South", "sex=male,region=North & East"], "harm").upper
    harmed = [row.one("td", data_label="Harmed").text for row in rows]
    assert harmed == [f"at most {people_of_hundred(share)} of 100" for share in harm]
    assert rows[0].every("a")[1].attributes["href"] == (
        "/compare?with.sex=male&with.region=South&threshold=0.2&cautious=no&and.sex=female&and.region=South"
    )
    assert not read(client.get("/advice").text).every("table", class_="otherwise")
