"""The report in a browser: its first screen, nothing cut on any width or on paper, nothing that keeps people out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import pnsight
import web_models
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.output.per_hundred import per_hundred
from pnsight.output.report import render, summarise
from pnsight.queries import lattice

LONG = Schema(
    (
        Covariate("Vorbestehende Niereninsuffizienz (eGFR < 60 ml/min/1,73 m²)", ("ja", "nein")),
        Covariate("Antécédents familiaux de maladie cardiovasculaire", ("oui", "non")),
        Covariate("Medication adherence (proportion of days covered)", ("below 80%", "from 80% to 95%", "above 95%")),
    )
)

CUT = """() => [...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.textContent.trim().slice(0, 40))"""
"""Tables that are wider than their place."""


@cache
def with_long_names() -> pnsight.Model:
    """Groups whose names take several lines, of tens of thousands of rows."""
    random = np.random.default_rng(3)
    profiles = lattice.all_profiles(LONG)
    trial = random.integers(1500, 4000, size=(len(profiles), 4)).astype(float)
    trial[: len(profiles) // 2, 0] *= 4
    registry = random.integers(2000, 3000, size=(len(profiles), 4)).astype(float)
    study = Study.from_tables(LONG, profiles, trial, registry, treated="the drug", success="recovered within 30 days")
    return pnsight.PlugIn().fit(study)


@cache
def page_of(name: str) -> str:
    model = web_models.clinic() if name == "clinic" else with_long_names()
    return render(summarise(model, 0.2))


@pytest.fixture
def report(browser):
    """Open the report of a model."""
    contexts = []

    def opened(name: str, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_content(page_of(name))
        return page

    yield opened
    for context in contexts:
        context.close()


def test_the_first_screen_says_who_is_helped_and_harmed_who_is_meant_and_whether_the_data_are_sound(report):
    page = report("clinic", viewport={"width": 1440, "height": 900})
    for said in (per_hundred(web_models.clinic())[0].sentence, "Answers are averaged over the people", "Usable"):
        expect(page.get_by_text(said).first).to_be_in_viewport()


@pytest.mark.parametrize("name", ["clinic", "long names"])
@pytest.mark.parametrize("width", [1440, 1024])
def test_no_table_is_wider_than_a_screen(report, name, width):
    page = report(name, viewport={"width": width, "height": 900})
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", ["clinic", "long names"])
def test_no_table_is_wider_than_a_sheet_of_paper(report, name):
    page = report(name, viewport={"width": 680, "height": 1000})  # A4 less its margins
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_tables_slide_and_the_page_does_not(report):
    page = report("long names", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(report, scheme):
    found = Axe().run(report("clinic", color_scheme=scheme)).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
