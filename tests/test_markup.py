"""What a notebook shows: no script, nothing unescaped, numbers rounded and to the right, decisions marked."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import pnsight
from noted import remark, rows_without
from pnsight import MaskMLP, PlugIn, ResponseTypeModel
from pnsight import _markup as markup
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.queries import lattice

EVIL = "<script>alert('x')</script>"


def evil_study() -> Study:
    schema = Schema((Covariate(EVIL, (f"{EVIL}1", "b&b")),))
    counts = np.random.default_rng(1).integers(50, 90, size=(2, 8)).astype(float)
    profiles = lattice.all_profiles(schema)
    names = {"treatment": EVIL, "outcome": EVIL, "dropped": {rows_without(EVIL): 3}, "notes": (remark(EVIL),)}
    return Study.from_tables(schema, profiles, counts[:, :4], counts[:, 4:], treated=EVIL, success=EVIL, **names)


def parsed(shown: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{shown.replace('&nbsp;', ' ')}</div>")


def shown_by_everything() -> dict[str, str]:
    study = evil_study()
    model = PlugIn().fit(study)
    found = {
        "study": study,
        "model": model,
        "unfitted model": ResponseTypeModel(),
        "unfitted regressor": MaskMLP(),
        "check": pnsight.check(study),
        "bounds": model.bounds(study.profiles),
        "decisions": pnsight.decisions.decide(model, study.profiles, 0.1),
        "questions": pnsight.ask(model),
        "ranking": pnsight.rank(model),
        "selection": pnsight.select(model, 0.5),
    }
    return {name: one._repr_html_() for name, one in found.items()}


def test_nothing_has_a_script_and_everything_is_escaped_and_well_formed():
    for name, shown in shown_by_everything().items():
        assert "<script" not in shown, name
        assert parsed(shown).find(".//script") is None, name
    assert "&lt;script&gt;" in shown_by_everything()["bounds"]


def test_no_background_and_no_colour_of_letters_is_forced():
    """Only the sign of a decision has a colour, so that notebooks may be black or white."""
    for name, shown in shown_by_everything().items():
        assert "background" not in shown, name
        coloured = [cell.text for cell in parsed(shown).iter() if re.search(r"(^|;)color:#", cell.get("style", ""))]
        assert set(coloured) <= {"●", "□", "◆", "✕"}, name


def test_numbers_are_rounded_and_to_the_right_words_to_the_left():
    shown = markup.table({"n": [1234567, None], "p": [0.123456789, 1.0], "w": ["a", "b"], "big": [1e300, 2.0]}, "c")
    cells = {cell.text: cell.get("style") for cell in parsed(shown).iter("td")}
    assert cells["1,234,567"] == "text-align:right"
    assert cells["0.1235"] == "text-align:right"
    assert cells["1.0000"] == "text-align:right"
    assert cells["a"] == "text-align:left"
    heads = {cell.text: cell.get("style") for cell in parsed(shown).iter("th")}
    assert heads == {
        "n": "text-align:right",
        "p": "text-align:right",
        "w": "text-align:left",
        "big": "text-align:right",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000"),
        (-0.5, "-0.5000"),
        (1e-7, "1e-07"),
        (16.3581, "16.36"),
        (12345.678, "12,346"),
        (1e300, "1e+300"),
        (np.inf, "inf"),
        (np.nan, ""),
        (True, "True"),
    ],
)
def test_a_value_is_shown_in_few_digits(value, text):
    cells = [cell.text or "" for cell in parsed(markup.table({"v": [value]}, "c")).iter("td")]
    assert cells == [text]


def test_decisions_are_marked_with_their_sign():
    model = PlugIn().fit(populations.random_population("index", 1, covariates=3).sample(20_000, 20_000, seed=1))
    shown = pnsight.decisions.decide(model, lattice.all_queries(model.schema), 0.15)._repr_html_()
    for sign, words in (("●", "treat"), ("□", "do not treat"), ("◆", "uncertain")):
        assert f">{sign}</span>&nbsp;{words}<" in shown


def test_a_study_tells_its_coding_its_covariates_and_what_is_left_out():
    study = replace(
        populations.get("mediator").sample(1_000, 2_000, seed=1), treated="drug", dropped={rows_without("age"): 12}
    )
    shown = study._repr_html_()
    for told in ("1,000", "2,000", "treated means drug", "z1 (2)", "12 experimental rows without age"):
        assert told in shown
    assert "withheld: " in pnsight.models.suppression.suppress(study, 10)._repr_html_()


def test_a_model_tells_what_it_was_given_and_what_it_was_fitted_to():
    model = PlugIn(mix="profiles")
    assert "not yet" in model._repr_html_()
    shown = model.fit(evil_study())._repr_html_()
    for told in ("PlugIn (plug-in)", "profiles", "experimental rows"):
        assert told in shown


def test_a_check_shows_its_summary_and_a_sign_for_each_part():
    shown = pnsight.check(populations.get("mediator").sample(20_000, 20_000, seed=1))._repr_html_()
    assert "<b>Usable" in shown
    for part in ("support", "balance", "shift", "coherence"):
        assert part in shown
    assert "✓ ok" in shown
