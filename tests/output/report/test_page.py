"""The page: one file that needs nothing else, in which everything is escaped and every number is the model's."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import date
from urllib.parse import urlparse

import numpy as np
import pandas as pd

import pnsight
from html_page import Page
from noted import remark, rows_without
from pnsight import PlugIn
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.output.per_hundred import per_hundred
from pnsight.output.report import render, summarise
from pnsight.output.report.data import Checked, Part
from pnsight.output.report.page import _axes
from pnsight.queries import lattice
from pnsight.wording import range_of_hundred

EVIL = "<script>alert('x')</script>"


DAY = date(2026, 1, 31)


def page_of(model, **options) -> tuple[str, Page]:
    html = render(summarise(model, **{"made": DAY, **options}))
    return html, Page(html)


def evil_study() -> Study:
    schema = Schema((Covariate(EVIL, (f"{EVIL}1", "b&b")), Covariate("$\\alpha$", ("{{ 7*7 }}", "性"))))
    counts = np.random.default_rng(1).integers(200, 400, size=(4, 8)).astype(float)
    notes = {"dropped": {rows_without(EVIL): 30}, "ignored": (EVIL,), "notes": (remark(EVIL),)}
    names = {"treatment": EVIL, "outcome": EVIL, "treated": EVIL, "success": EVIL}
    return Study.from_tables(schema, lattice.all_profiles(schema), counts[:, :4], counts[:, 4:], **names, **notes)


def test_it_is_one_well_formed_file_that_needs_nothing_else(model):
    html, page = page_of(model)
    assert html.startswith("<!DOCTYPE html>")
    assert not page.open
    assert not {"script", "link", "iframe", "object", "embed", "form", "img"} & set(page.tags)
    assert all(place.startswith("#") for place in page.places)
    addresses = [urlparse(found).netloc for found in re.findall(r"https?://[^\"'\s)<]+", html)]
    assert set(addresses) <= {"www.w3.org"}  # names of formats, which nobody fetches
    assert "@import" not in html
    assert "url(http" not in html
    assert len(html.encode()) < 2_000_000


def test_names_of_columns_and_levels_are_escaped_wherever_they_stand():
    html, page = page_of(PlugIn().fit(evil_study()), threshold=0.1, payoffs=(1, 0, 0, -1), title=EVIL)
    assert "script" not in page.tags
    assert "<script" not in html
    assert EVIL in page.texts  # the title, as text
    assert f"{EVIL}1" in page.texts  # a level, under its covariate
    assert "{{ 7*7 }}" in html
    assert not any(text.endswith("49") and "=" in text for text in page.texts)


def test_every_figure_is_there_with_words_for_those_who_do_not_see_it(fitted):
    html, _ = page_of(fitted, payoffs=(100, -60, 0, -140), threshold=0.2)
    assert html.count('role="img" aria-label="') == 3  # slack, gains and thresholds
    assert html.count('role="img" aria-labelledby="hundred-title"') == 1
    identifiers = re.findall(r'\bid="([^"]*)"', html)
    assert len(identifiers) == len(set(identifiers))


def test_numbers_on_the_page_are_those_of_the_model(fitted):
    _, page = page_of(fitted)
    for quantity in ("pns", "pn", "ps", "harm"):
        answer = fitted.bounds("", quantity)
        assert f"{answer.lower[0]:.3f}" in page.texts
        assert f"{answer.upper[0]:.3f}" in page.texts
        low, high = answer.interval("lower")
        assert f"{low[0]:.3f} to {high[0]:.3f}" in page.texts
    best = pnsight.rank(fitted, 10)
    for lower, rows in zip(best.answers.lower, best.answers.support_observational, strict=True):
        assert f"{lower:.3f}" in page.texts
        assert f"{rows:,.0f}" in page.rows


def test_what_the_model_cannot_tell_is_said_in_place_of_it(models):
    html, _ = page_of(models["exact"])
    assert "This model cannot tell: exact-mlp learned from exact queries" in html
    assert "This model cannot tell" in page_of(models["mask"])[0]


def test_decisions_have_a_sign_and_a_word(fitted):
    html, _ = page_of(fitted, threshold=0.2)
    assert ">◆</span>&nbsp;uncertain<" in html


def test_the_same_model_gives_the_same_page(plug_in):
    assert page_of(plug_in)[0] == page_of(plug_in)[0]


def test_gains_are_told_at_round_budgets_and_end_where_nothing_more_is_gained(fitted):
    _, page = page_of(fitted)
    at = page.texts.index("The same in numbers, as shares of all people")
    told = [text for text in page.texts[at : at + 40] if re.fullmatch(r"[\d.]+%", text)]
    curve = pnsight.select(fitted, 1.0).curve()["treated"]
    assert told[0] == "10.0%"
    assert told[-1] == f"{curve[-1]:.1%}"
    assert len(told) == len(set(told))


def test_a_page_for_paper_repeats_heads_and_cuts_no_row():
    html, _ = page_of(PlugIn().fit(populations.get("mediator").sample(2_000, 2_000, seed=1)))
    assert "@page { size: A4" in html
    assert "table-header-group" in html
    assert re.search(r"tr, .figures, figure[^}]*break-inside: avoid", html)


def test_dark_screens_get_a_dark_page_with_figures_on_white_and_paper_stays_white(plug_in):
    html, _ = page_of(plug_in)
    dark = html[html.index("@media screen and (prefers-color-scheme: dark)") : html.index("* { box-sizing")]
    assert "--ground: #0e1116" in dark
    assert "figure { background: #fff" in dark
    assert html.count("prefers-color-scheme") == 1


def test_it_says_when_it_was_made(plug_in):
    _, page = page_of(plug_in)
    assert "pnsight report, made on 2026-01-31" in page.texts


def test_that_the_tables_are_usable_is_said_once(plug_in):
    _, page = page_of(plug_in)
    assert page.texts.count("Usable") == 1
    assert page.texts[page.texts.index("Usable") + 1] == "Nothing that was looked at speaks against it."


def test_warnings_about_the_tables_are_in_the_verdict_on_the_card():
    parts = (Part("support", "warning", "few rows."),)
    check = Checked(True, "usable with warnings", "1 warning: support.", parts, "")
    page = Page(render(replace(summarise(PlugIn().fit(evil_study()), made=DAY), check=check)))
    at = page.texts.index("Usable with warnings")
    assert page.texts[at + 1] == "1 warning: support."
    assert "Yes" not in page.texts


def test_the_net_effect_stands_under_the_bounds_with_its_own_interval(fitted):
    found = summarise(fitted).net
    html, page = page_of(fitted)
    assert f'colspan="2">{found.treated - found.untreated:+.3f}</td>' in html
    assert f"{found.low:+.3f} to {found.high:+.3f}" in page.texts


def test_the_net_gain_has_a_column_only_where_it_differs(fitted):
    found = summarise(fitted, made=DAY)
    lower = replace(found.gains, net=tuple(least - 0.1 for least in found.gains.guaranteed))
    alike = replace(found.gains, net=found.gains.guaranteed)
    assert "Net" in Page(render(replace(found, gains=lower))).texts
    assert "Net" not in Page(render(replace(found, gains=alike))).texts


def test_levels_stand_under_their_covariate_and_none_is_left_out():
    model = PlugIn().fit(populations.get("mediator").sample(2_000, 2_000, seed=1))
    html, _ = page_of(model)
    drawn = html[html.index("Everyone, and each level by itself") : html.index("Who benefits most")]
    heads = re.findall(r'scope="rowgroup">(z\d+)<', drawn)
    assert sorted(heads) == sorted(model.schema.names)
    for part in drawn.split('scope="rowgroup">')[1:]:
        assert sorted(re.findall(r'class="level">(\d)<', part)) == ["0", "1"]


def test_covariates_whose_levels_differ_most_come_first_and_the_higher_lower_bound_before_the_lower(plug_in):
    found = summarise(plug_in).levels.answers
    assert not found[0].fixed
    lower = {}
    for answer in found[1:]:
        lower.setdefault(next(iter(answer.fixed)), []).append(answer.lower)
    spreads = [max(values) - min(values) for values in lower.values()]
    assert spreads == sorted(spreads, reverse=True)
    assert all(values == sorted(values, reverse=True) for values in lower.values())


def test_bars_begin_and_end_where_the_bounds_are_on_an_axis_that_fits_them(plug_in):
    found = summarise(plug_in, threshold=0.3, made=DAY)
    axis = _axes(found)["levels"]
    ends = [end for groups in (found.levels, found.best) for answer in groups.answers for end in _ends(answer)]
    assert axis.low <= min(ends) <= max(ends) <= axis.high
    assert axis.high - axis.low < 3 * (max(*ends, 0.3) - min(*ends, 0.3))
    html = render(found)
    for answer in found.levels.answers:
        assert f'x1="{axis.share(answer.lower):.2%}" x2="{axis.share(answer.upper):.2%}"' in html


def _ends(answer) -> tuple[float, float]:
    return answer.lower, answer.upper


def test_the_log_of_the_fit_is_folded(fitted):
    html, _ = page_of(fitted)
    assert html.index("<details>") < html.index("<pre>") < html.index("</details>")


def test_the_report_begins_with_what_is_known_of_a_hundred_people(plug_in):
    _, page = page_of(plug_in)
    told = per_hundred(plug_in)[0]
    at = page.texts.index(told.sentence)
    assert page.texts[at - 1] == "Who responds because of drug?"


def test_the_first_screen_says_who_is_helped_who_is_harmed_who_is_meant_and_whether_the_data_are_sound(fitted):
    _, page = page_of(fitted)
    before_the_data = page.texts[: page.texts.index("The data")]
    first = " ".join(before_the_data)
    told = per_hundred(fitted)[0]
    helped, harmed = (range_of_hundred(*share.ends) for share in (told.helped, told.harmed))
    assert f"drug makes the difference for {helped}; it harms {harmed}." in first
    assert "Of 100 people," in first
    assert "Answers are averaged over the people of the observational table." in first
    verdict = before_the_data[before_the_data.index("Are the tables usable?") + 1]
    assert verdict in ("Usable", "Usable with warnings", "Not usable")


def test_files_and_their_days_are_told(tmp_path):
    table = pd.DataFrame({"drug": [0, 1] * 40, "well": [0, 1, 1, 1] * 20, "sex": ["F", "M", "M", "F"] * 20})
    names = [tmp_path / "trial.csv", tmp_path / "registry.csv"]
    for name in names:
        table.to_csv(name, index=False)
        os.utime(name, (1_767_225_600, 1_767_225_600))
    study = pnsight.read_study(*names, treatment="drug", outcome="well")
    pnsight.save(PlugIn().fit(study), tmp_path / "model")
    html, _ = page_of(pnsight.load(tmp_path / "model"))
    assert ", from trial.csv, of 2026-01-01" in html
    assert ", from registry.csv, of 2026-01-01" in html
    assert str(tmp_path) not in html
    assert "trial.csv" not in page_of(PlugIn().fit(study), min_cell=2)[0]


def test_what_the_model_chose_comes_last(fitted):
    html, _ = page_of(fitted)
    assert html.index("For those who check: what the model chose") > html.index("How to cite")
    assert html.index("<pre>") > html.index("For those who check")


def test_words_of_the_command_line_are_not_on_the_page(fitted):
    html, _ = page_of(fitted, threshold=0.2)
    for word in ("lower_low", "all queries", ">to not<", "would show"):
        assert word not in html


def test_bands_rare_levels_and_columns_not_used_are_told():
    study = evil_study()
    bands = Covariate("age", ("under-40", "40+"), (-np.inf, 40.0, np.inf), ())
    rare = Covariate("town", ("Rome", "other"), None, ("Oslo", "Bern"))
    html, page = page_of(PlugIn().fit(replace(study, schema=Schema((bands, rare)), ignored=("site",))))
    assert "(bands)" in page.texts
    assert "other: Oslo, Bern" in html
    assert "site" in page.texts


def test_covariates_with_the_same_levels_are_told_together():
    _, page = page_of(PlugIn().fit(populations.get("mediator").sample(2_000, 2_000, seed=1)))
    at = page.texts.index("Covariates")
    assert "z1, z2, z3, z4, z5, z6, z7, z8, z9, z10" in page.texts[at : at + 6]
