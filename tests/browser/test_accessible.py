"""Nothing that keeps people out: what axe finds, in light and dark, on every page."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = {
    "explore": "/?with.sex=male&threshold=0.2&cautious=yes",
    "a refusal": "/?assume=monotone",
    "benefit": "/?quantity=benefit&complier=100",
    "what if": "/?with.sex=male&with.region=South&threshold=0.2",
    "groups": "/groups?by=upper&sort=lower",
    "compare": "/compare?with.sex=male&and.sex=female",
    "budget": "/budget?budget=300&people=1000",
    "who is treated": "/decisions?by=sex&threshold=0.2",
    "usual care": "/policies?threshold=0.2",
    "slack": "/slack?with.sex=male&threshold=0.2",
    "the check": "/check",
    "a second opinion": "/opinion?with.sex=male",
    "people": "/people",
    "about": "/about",
    "interface": "/api/",
}


def serious(found: list[dict]) -> list[str]:
    """What keeps people out, and where."""
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES.values(), ids=list(PAGES))
def test_axe_finds_nothing_serious(visit, path, scheme):
    page = visit(color_scheme=scheme, reduced_motion="reduce").open(path)
    if path.startswith("/groups"):
        page.locator("#table tbody tr").first.wait_for()  # a page that is still ranking is another one
    if path.startswith("/opinion"):
        page.locator("table.opinions").wait_for(timeout=90_000)  # until then the page looks again
    if path == "/people":
        page.get_by_label("Or its text").fill("sex\nmale\n")
        page.get_by_role("button", name="Decide", exact=True).click()
        page.locator("#result tbody tr").wait_for()
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_a_phone(visit, scheme):
    page = visit(color_scheme=scheme, viewport={"width": 390, "height": 800}).open("/?with.sex=male")
    found = Axe().run(page).response["violations"]
    assert serious(found) == []


@pytest.mark.parametrize("path", ["/", "/groups", "/?trial_alone=yes"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_where_the_tables_contradict_each_other(visit, path, scheme):
    found = Axe().run(visit("contradicted", color_scheme=scheme).open(path)).response["violations"]
    assert serious(found) == []


@pytest.mark.parametrize("name", ["mask-mlp", "no covariates", "sixteen covariates", "nasty names", "guessing"])
def test_axe_finds_nothing_serious_whatever_the_model(visit, name):
    page = visit(name).open()
    found = Axe().run(page).response["violations"]
    assert serious(found) == []
