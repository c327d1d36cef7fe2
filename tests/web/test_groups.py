"""Who benefits: the ranking of the library, sorted and filtered on the server so that it works without a script."""

from __future__ import annotations

import pytest

import web_models
from page_text import Element, read
from pnsight._text import as_records
from pnsight.decisions import rank
from pnsight.estimands import Estimand
from pnsight.wording import sentence


def rows(page: Element) -> list[Element]:
    return page.one("table", class_="groups").one("tbody").every("tr")


def names(page: Element) -> list[str]:
    return [row.one("th").text for row in rows(page)]


def cells(page: Element, label: str) -> list[float]:
    return [float(row.one("td", data_label=label).one("b").text) for row in rows(page)]


@pytest.mark.parametrize(("by", "end"), [("lower", "At least"), ("upper", "At most")])
def test_the_groups_are_those_of_rank(client, model, by, end):
    page = read(client.get(f"/groups?by={by}").text)
    found = rank(model, 50, by)
    assert cells(page, end) == [float(f"{value:.3f}") for value in getattr(found.answers, by)]
    assert f"{len(found)} groups with the highest {by} bound on PNS" in page.text
    for note in found.notes:
        assert sentence(note.kind, note.values, "page")[1:] in page.text


def test_a_group_opens_in_the_explorer(client, model):
    page = read(client.get("/groups?quantity=pn").text)
    first = rows(page)[0]
    explored = read(client.get(first.one("a").attributes["href"]).text)
    assert (
        explored.one("table", class_="numbers").every("b")[0].text
        == first.one("td", data_label="At least").one("b").text
    )


@pytest.mark.parametrize(("sort", "label"), [("lower", "At least"), ("upper", "At most")])
def test_numbers_are_sorted_from_the_largest_and_the_other_way_round(client, sort, label):
    found = cells(read(client.get(f"/groups/table?sort={sort}").text), label)
    assert found == sorted(found, reverse=True)
    assert cells(read(client.get(f"/groups/table?sort={sort}&order=ascending").text), label) == sorted(found)


def test_names_are_sorted_alphabetically(client):
    found = names(read(client.get("/groups/table?sort=people").text))
    assert found == sorted(found)
    assert len(found) > 2


def test_following_the_title_of_a_column_sorts_by_it_and_following_it_again_turns_it_round(client):
    link = read(client.get("/groups?text=sex").text).one("a", data_swap="/groups/table?text=sex&sort=upper")
    once = read(client.get(link.attributes["href"]).text)
    column = next(head for head in once.every("th", scope="col") if "aria-sort" in head.attributes)
    assert column.attributes["aria-sort"] == "descending"
    twice = read(client.get(column.one("a").attributes["href"]).text)
    assert names(twice) == names(once)[::-1]
    assert all("sex" in name for name in names(twice))


def test_only_groups_that_mention_a_text_are_shown(client):
    every = names(read(client.get("/groups").text))
    page = read(client.get("/groups?text=SEX+%3D+MALE").text)
    assert names(page) == [name for name in every if "sex = male" in name]
    assert f"{len(names(page))} of {len(every)} shown" in page.text
    assert f"None of the {len(every)} groups listed mentions that." in read(client.get("/groups?text=nobody").text).text


@pytest.mark.parametrize(
    "text", ["sex=male", "sex = male", "SEX =male", "ma sex", "region=south sex=male", "south, male"]
)
def test_all_words_of_the_text_must_be_mentioned_in_any_order(client, text):
    every = names(read(client.get("/groups").text))
    words = text.lower().replace(" =", "=").replace("= ", "=").replace(",", "").split()
    expected = [name for name in every if all(word in name.lower().replace(" = ", "=") for word in words)]
    assert names(read(client.get("/groups", params={"text": text}).text)) == expected != []


def test_bounds_are_shown_with_their_intervals(client, model):
    found = rank(model, 50).answers
    first = rows(read(client.get("/groups").text))[0]
    for label, end in ("At least", "lower"), ("At most", "upper"):
        low, high = (values[0] for values in found.interval(end))
        assert first.one("td", data_label=label).one("span").text == f"{low:.3f} to {high:.3f}"


def test_where_nobody_is_shown_to_be_harmed_no_group_is_listed(client, model):
    found = rank(model, 50, "harm")
    page = read(client.get("/groups?by=harm").text)
    assert client.get("/api/rank?by=harm&top=50").json()["groups"] == as_records(found.columns())
    if found.answers.lower.max() > 0:
        assert min(cells(page, "At least")) > 0
    else:
        assert "do not show that anybody is harmed, nor that nobody is" in page.text
        assert not page.every("table")


def test_ranked_by_benefit_the_payoffs_and_the_cost_count(client, model):
    page = read(client.get("/groups?by=benefit&complier=5&cost=0.4").text)
    found = rank(model, 50, "benefit", payoffs=(5, 0, 0, -1))
    assert cells(page, "At least") == [float(f"{value:.3f}") for value in found.answers.lower]
    assert page.one("input", id="cost").attributes["value"] == "0.4"
    assert "selected" in page.one("option", value="benefit").attributes


def test_the_usual_order_may_be_said(client):
    query = "by=lower&sort=place&order=ascending"
    assert names(read(client.get(f"/groups?{query}").text)) == names(read(client.get("/groups").text))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("by=luck", "by is 'luck'; expected lower, upper, benefit, harm."),
        ("sort=luck", "sort is 'luck'; expected place, people,"),
        ("order=luck", "order is 'luck'; expected ascending, descending."),
        ("by=upper&by=lower", "by is given as 'upper', 'lower'; give it once."),
        ("sorted=lower", "no option is called 'sorted'. Did you mean 'sort'?"),
    ],
)
def test_an_order_that_is_not_known_is_refused(client, query, said):
    for path in ("/groups", "/groups/table"):
        response = client.get(f"{path}?{query}")
        assert response.status_code == (400 if path == "/groups" else 200)
        assert said[1:] in read(response.text).one("p", class_="problem").text


def test_mistakes_and_refusals_are_told_in_place_of_the_groups(client, ask):
    assert "no level 'x'" in read(client.get("/groups?with.sex=x").text).one("p", class_="problem").text
    assert "contradict" in read(client.get("/groups?assume=monotone").text).one("p", class_="problem").text
    assert "fix every covariate" in read(ask("exact-mlp").get("/groups").text).one("p", class_="problem").text


def test_what_a_model_cannot_be_ranked_by_is_not_offered(ask):
    page = read(ask("mask-mlp").get("/groups").text)
    assert [each.attributes["value"] for each in page.every("input", name="by")] == ["lower", "upper"]


def test_the_people_of_the_explorer_are_kept(client):
    page = read(client.get("/groups?with.sex=male&threshold=0.2").text)
    assert page.one("input", type="hidden", name="with.sex").attributes["value"] == "male"
    explore = next(each for each in page.one("nav").every("a") if each.text == "Explore")
    assert explore.attributes["href"] == "/?with.sex=male&threshold=0.2"


def test_the_explorer_lists_the_groups_that_rank_lists():
    from pnsight.web.explorer import Explorer

    explorer = Explorer(web_models.clinic())
    found, ranked = explorer.ranking("lower", Estimand(), 5), rank(explorer.model, 5)
    assert found.columns() == ranked.columns()
    assert found.notes == ranked.notes
