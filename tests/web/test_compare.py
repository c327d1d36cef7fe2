"""Two people or groups side by side."""

from __future__ import annotations

from page_text import read
from pnsight.output.per_hundred import per_hundred


def test_both_sides_show_what_the_model_says(client, model):
    page = read(client.get("/compare?with.sex=male&and.sex=female&and.region=South").text)
    sides = page.every("section", class_="side-by-side")
    assert [side.one("h2").text for side in sides] == ["sex = male", "sex = female, region = South"]
    for side, found in zip(sides, per_hundred(model, ["sex=male", "sex=female,region=South"]), strict=True):
        assert side.one("p", class_="hundred").text == found.page_sentence
        assert len(side.every("g")) == 100
        assert "harms" in side.one("p", class_="harm-and-net").text


def test_the_table_sets_both_beside_each_other(client, model):
    page = read(client.get("/compare?with.sex=male").text)
    rows = {
        row.one("th").text: [cell.text for cell in row.every("td")]
        for row in page.one("table", class_="compared").one("tbody").every("tr")
    }
    assert rows["How many they are"][1] == "all people"
    found = model.bounds(["sex=male", ""])
    assert rows["Rows in experiment"] == [f"{count:,.0f}" for count in found.support_experimental]


def test_what_is_chosen_stays_chosen(client):
    page = read(client.get("/compare?with.sex=male&and.region=South&threshold=0.2").text)
    first, second = page.one("select", name="with.sex"), page.one("select", name="and.region")
    assert "selected" in first.one("option", value="male").attributes
    assert "selected" in second.one("option", value="South").attributes
    assert page.one("input", name="threshold").attributes["value"] == "0.2"


def test_a_mistake_on_either_side_is_told(client):
    for address in ("/compare?with.sex=mael", "/compare?and.sex=mael"):
        response = client.get(address)
        assert response.status_code == 400
        assert "Did you mean 'male'?" in read(response.text).one("p", class_="problem").text
