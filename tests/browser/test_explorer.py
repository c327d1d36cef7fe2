"""The explorer as people use it: with the mouse, with keys alone, on a phone, with and without a script."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, expect

import web_models
from pnsight.decisions import ask, decide
from pnsight.output.per_hundred import per_hundred


def choose(page: Page, covariate: str, level: str) -> None:
    """Click on a level of a covariate."""
    page.get_by_role("group", name=covariate, exact=True).get_by_role("radio", name=level, exact=True).check()


def expect_bounds(page: Page, fixed: dict[str, str], **options) -> None:
    """The page comes to show what the model says."""
    answer = web_models.clinic().bounds(fixed, **options)
    ends = [f"{answer.lower[0]:.3f}", f"{answer.upper[0]:.3f}"]
    expect(page.locator(".numbers tbody tr:first-child b")).to_have_text(ends)


def query(page: Page) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(page.url).query))


def test_setting_and_opening_covariates_shows_the_models_bounds(visit):
    page = visit().open()
    expect_bounds(page, {})
    choose(page, "sex", "male")
    expect_bounds(page, {"sex": "male"})
    choose(page, "age", "40-95")
    expect_bounds(page, {"sex": "male", "age": "40-95"})
    choose(page, "sex", "female")
    expect_bounds(page, {"sex": "female", "age": "40-95"})
    choose(page, "sex", "open")
    expect_bounds(page, {"age": "40-95"})
    page.get_by_role("link", name="Everyone", exact=True).click()
    expect_bounds(page, {})
    expect(page.get_by_role("group", name="age").get_by_role("radio", name="open")).to_be_checked()


def test_every_state_has_an_address_that_can_be_shared(visit):
    first = visit().open()
    choose(first, "region", "North & East")
    first.get_by_label("Quantity").select_option("pn")
    first.get_by_label("Threshold", exact=True).fill("0.31")
    expect_bounds(first, {"region": "North & East"}, quantity="pn")
    expect(first.get_by_role("img", name="PN")).to_have_accessible_name(re.compile("threshold 0.31"))
    first.wait_for_url("**/?with.region=North+%26+East&quantity=pn&threshold=0.31")
    other = visit()
    page = other.open(first.url.removeprefix(other.base))
    expect_bounds(page, {"region": "North & East"}, quantity="pn")
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.31")


def test_the_decision_is_said_in_words_and_to_screen_readers(visit):
    page = visit().open("/?threshold=0.2&cautious=no")
    choose(page, "sex", "male")
    found = decide(web_models.clinic(), "sex=male", 0.2)
    expect(page.locator("#answer-title")).to_have_text({"uncertain": "Uncertain"}[str(found.decision[0])])
    expect(page.locator("#said")).to_contain_text("Uncertain. PNS is between")
    choose(page, "region", "South")
    lower = web_models.clinic().bounds("sex=male,region=South").lower[0]
    expect(page.locator("#said")).to_contain_text(f"Treat. PNS is at least {lower:.3f}")


def test_the_advice_follows_and_leads(visit):
    page = visit().open("/?threshold=0.2")
    choose(page, "sex", "male")
    found = ask(web_models.clinic(), "sex=male", 0.2)
    rows = page.locator("#advice .questions tbody tr")
    expect(rows.locator("th")).to_have_text(found.columns()["covariate"])
    for folded in page.locator("#advice summary").all():
        folded.click()
    first = found.columns()["covariate"][0]
    rows.get_by_role("link", name=first, exact=True).click()
    expect(page.get_by_role("group", name=first).get_by_role("radio", name="open")).to_be_focused()
    rows.locator("[data-set='region'][data-level='South']").click()
    expect_bounds(page, {"sex": "male", "region": "South"})
    page.get_by_title("leave sex open").click()
    expect_bounds(page, {"region": "South"})


def test_going_back_undoes_the_last_click_and_forward_does_it_again(visit):
    page = visit().open("/?threshold=0.2")
    choose(page, "sex", "male")
    expect_bounds(page, {"sex": "male"})
    page.get_by_label("Threshold", exact=True).fill("0.25")
    page.wait_for_url("**/?with.sex=male&threshold=0.25")
    choose(page, "region", "South")
    expect_bounds(page, {"sex": "male", "region": "South"})
    page.go_back()
    expect_bounds(page, {"sex": "male"})
    expect(page.get_by_role("group", name="region").get_by_role("radio", name="open")).to_be_checked()
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.25")
    page.go_back()
    expect_bounds(page, {})
    page.go_forward()
    expect_bounds(page, {"sex": "male"})
    choose(page, "age", "40-95")
    expect_bounds(page, {"sex": "male", "age": "40-95"})


def test_the_link_is_copied_or_marked_to_be_copied(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"]).open()
    choose(page, "sex", "male")
    page.wait_for_url("**/?with.sex=male")
    expect(page.locator("#link")).to_have_text(page.url)
    page.get_by_role("button", name="Copy link").press("Enter")
    expect(page.locator("#copied")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copied")).to_contain_text("The address is marked")
    assert page.evaluate("getSelection().toString()") == page.url


def test_a_threshold_that_cannot_be_meant_is_told_and_the_last_answer_stays(visit):
    page = visit().open("/?threshold=0.2")
    expect(page.locator("#advice table").first).to_be_attached()
    before = page.locator("#answer .reason").inner_text()
    page.get_by_label("Threshold", exact=True).fill("30")
    expect(page.locator("#field-problem")).to_contain_text("did you mean 0.3?")
    expect(page.locator("#field-problem")).to_contain_text("still the last answer")
    expect(page.locator("#answer .reason")).to_have_text(before)
    expect(page.locator("#advice table").first).to_be_attached()
    page.get_by_label("Threshold", exact=True).fill("0.3")
    expect(page.locator("#field-problem")).to_be_hidden()
    expect(page.locator("#answer .reason")).to_contain_text("0.3")


def test_a_refusal_takes_the_advice_with_it(visit):
    page = visit().open("/?threshold=0.2")
    expect(page.locator("#advice table").first).to_be_attached()
    page.get_by_text("Confidence, assumptions, population").click()
    page.get_by_label("Assume monotone").check()
    expect(page.locator("#answer .problem")).to_contain_text("The tables contradict it")
    expect(page.locator("#advice table")).to_have_count(0)
    expect(page.locator("#advice")).to_contain_text("Without an answer there is nothing to compare with.")
    page.get_by_label("Assume monotone").uncheck()
    expect(page.locator("#advice table").first).to_be_attached()


def test_the_first_screen_follows_what_is_chosen(visit):
    page = visit(viewport={"width": 1440, "height": 900}).open("/?threshold=0.2")
    choose(page, "sex", "male")
    found = per_hundred(web_models.clinic(), "sex=male")[0]
    expect(page.locator("#answer .hundred")).to_have_text(found.page_sentence)
    for part in (".hundred", ".per-hundred", "#answer-title", ".harm-and-net", ".known"):
        expect(page.locator("#answer").locator(part)).to_be_in_viewport()
    expect(page.get_by_role("link", name="Data: usable")).to_be_in_viewport()
    expect(page.get_by_role("img", name=found.picture_words)).to_be_visible()


def test_what_was_asked_before_can_be_opened_again_and_forgotten(visit):
    page = visit().open("/?threshold=0.2")
    choose(page, "sex", "male")
    expect_bounds(page, {"sex": "male"})
    choose(page, "region", "South")
    expect_bounds(page, {"sex": "male", "region": "South"})
    listed = page.locator("#history li")
    expect(listed).to_have_count(2)
    expect(listed.first).to_contain_text("sex = male: ")
    listed.first.get_by_role("link").click()
    expect_bounds(page, {"sex": "male"})
    page.get_by_role("button", name="Forget").click()
    expect(page.locator("#history")).to_be_hidden()


def test_what_if_leads_to_others_and_to_a_comparison(visit):
    page = visit().open("/?with.sex=male&threshold=0.2")
    row = page.locator(".otherwise tbody tr")
    expect(row).to_have_count(1)
    row.get_by_role("link", name="compare with sex = female").click()
    page.wait_for_url("**/compare?with.sex=male&threshold=0.2&and.sex=female")
    expect(page.locator(".side-by-side h2")).to_have_text(["sex = male", "sex = female"])
    page.get_by_label("region, second").select_option("South")
    page.wait_for_url("**/compare?threshold=0.2&with.sex=male&and.sex=female&and.region=South")
    expect(page.locator(".side-by-side h2")).to_have_text(["sex = male", "sex = female, region = South"])


def test_columns_do_not_scroll_by_themselves_and_rows_do_not_jump(visit):
    page = visit(viewport={"width": 390, "height": 844}).open()
    tall = "document.querySelector('.covariates').getBoundingClientRect().height"
    before = page.evaluate(tall)
    choose(page, "sex", "male")
    expect_bounds(page, {"sex": "male"})
    assert page.evaluate(tall) == before
    page.set_viewport_size({"width": 1400, "height": 900})
    assert page.evaluate("getComputedStyle(document.querySelector('.explore .main')).overflowY") == "visible"


def test_keys_are_enough(visit):
    page = visit().open()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    group = page.get_by_role("group", name="sex")
    for _ in range(20):
        page.keyboard.press("Tab")
        if group.locator(":focus").count():
            break
    expect(group.get_by_role("radio", name="open")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect_bounds(page, {"sex": "female"})
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect_bounds(page, {"sex": "female", "age": "40-95"})
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    expect_bounds(page, {"age": "40-95"})


def test_the_benefit_asks_for_payoffs_and_a_cost(visit):
    page = visit().open()
    expect(page.get_by_label("Threshold", exact=True)).to_be_visible()
    expect(page.get_by_label("responds because of it")).to_be_hidden()
    page.get_by_label("Quantity").select_option("benefit")
    expect(page.get_by_label("Threshold", exact=True)).to_be_hidden()
    page.get_by_label("responds because of it").fill("100")
    page.get_by_label("responds only without it").fill("-140")
    page.get_by_label("Cost per person").fill("2")
    expect_bounds(page, {}, quantity="benefit", payoffs=(100, 0, 0, -140))
    page.wait_for_url("**/?quantity=benefit&cost=2&complier=100&always=0&never=0&defier=-140")


def test_assumptions_are_tested_and_refused_with_the_evidence(visit):
    page = visit().open()
    page.get_by_text("Confidence, assumptions, population").click()
    page.get_by_label("Assume exogenous").check()
    expect(page.locator("#details .notes")).to_contain_text("not contradicted")
    page.get_by_label("Assume monotone").check()
    expect(page.locator("#answer .problem")).to_contain_text("The tables contradict it")
    page.get_by_label("Assume monotone").uncheck()
    expect_bounds(page, {}, assume="exogenous")
    page.get_by_label("Refine").check()
    page.get_by_label("Average over").select_option("experimental")
    expect_bounds(page, {}, assume="exogenous", refine="covariates", population="experimental")


def test_broken_input_is_told_and_mended(visit):
    page = visit().open()
    page.get_by_label("Threshold", exact=True).press("ControlOrMeta+a")
    page.keyboard.type("e")
    expect(page.get_by_role("alert")).to_contain_text("Threshold: give a number")
    expect_bounds(page, {})
    page.get_by_label("Threshold", exact=True).fill("0.4")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect_bounds(page, {})


def test_a_broken_address_is_told_and_the_page_still_works(visit):
    begun = visit()
    page = begun.open("/?with.sex=mael&with.nobody=1")
    expect(page.locator("#answer .problem")).to_contain_text("Did you mean 'male'?")
    choose(page, "sex", "male")
    expect_bounds(page, {"sex": "male"})
    assert begun.complaints.pop(0).startswith("Failed to load resource: the server responded with a status of 400")


def test_quick_changes_end_with_the_answer_to_the_last(visit):
    page = visit().open()
    for level in ("female", "male") * 5:
        choose(page, "sex", level)
    expect_bounds(page, {"sex": "male"})
    page.wait_for_url("**/?with.sex=male")


def test_a_server_that_is_gone_is_told(visit):
    begun = visit()
    page = begun.open()
    page.route("**/answer*", lambda route: route.abort())
    choose(page, "sex", "male")
    expect(page.locator("#answer .problem")).to_contain_text("Is pnsight serve still running?")
    page.unroute("**/answer*")
    choose(page, "sex", "female")
    expect_bounds(page, {"sex": "female"})
    assert all("net::ERR_FAILED" in said for said in begun.complaints)
    begun.complaints.clear()


def test_without_a_script_a_button_asks(visit):
    page = visit(java_script_enabled=False).open()
    choose(page, "sex", "male")
    page.get_by_label("Threshold", exact=True).fill("0.2")
    page.get_by_role("button", name="Show the answer").click()
    expect_bounds(page, {"sex": "male"})
    assert query(page)["with.sex"] == "male"
    expect(page.locator("#advice .questions tbody tr")).to_have_count(2)
    for folded in page.locator("#advice summary").all():
        folded.click()
    page.locator("#advice [data-set='region'][data-level='South']").click()
    expect_bounds(page, {"sex": "male", "region": "South"})


def test_plain_decisions_are_an_option(visit):
    threshold = float(web_models.clinic().bounds("sex=female").upper[0]) + 1e-4
    page = visit().open(f"/?with.sex=female&threshold={threshold:.6f}")
    expect(page.locator("#answer-title")).to_have_text("Uncertain")
    page.get_by_text("Confidence, assumptions, population").click()
    page.get_by_label("Plain.").check()
    expect(page.locator("#answer-title")).to_have_text("Do not treat")
    assert query(page)["cautious"] == "no"


def test_from_tables_that_contradict_each_other_a_link_leads_to_the_trial_alone_and_back(visit):
    page = visit("contradicted").open("/?threshold=0.9")
    expect(page.locator("#answer-title")).to_have_text("No answer")
    expect(page.locator(".verdict")).to_contain_text("not usable")
    expect(page.locator("svg.bar")).to_have_count(0)
    page.get_by_role("link", name="Go on with the trial alone").click()
    expect(page.locator("#answer-title")).to_have_text("Do not treat")
    expect(page.locator(".verdict")).to_contain_text("From the trial alone")
    assert query(page) == {"threshold": "0.9", "trial_alone": "yes"}
    page.get_by_label("Trial alone.").uncheck()
    expect(page.locator("#answer-title")).to_have_text("No answer")
    expect(page.locator(".verdict")).to_contain_text("not usable")


def test_covariates_are_found_among_many(visit):
    page = visit("sixteen covariates").open()
    expect(page.get_by_role("group", name="z1", exact=True)).to_be_visible()
    page.get_by_label("Find among 16 covariates").fill("z16")
    expect(page.locator("fieldset.covariate:visible")).to_have_count(1)
    choose(page, "z16", "1")
    page.wait_for_url("**/?with.z16=1")
    page.get_by_label("Find among 16 covariates").fill("nothing like it")
    expect(page.locator("#none-found")).to_be_visible()


def test_names_that_look_like_markup_do_nothing(visit):
    page = visit("nasty names").open()
    page.on("dialog", lambda dialog: pytest.fail(f"a name ran as a script: {dialog.message}"))
    choose(page, web_models.NASTY, "a&b 'c'")
    choose(page, "quantity", "100%")
    expect(page.locator("#answer .tag")).to_have_count(2)
    answer = web_models.nasty().bounds({web_models.NASTY: "a&b 'c'", "quantity": "100%"})
    expect(page.locator(".numbers tbody tr:first-child b").first).to_have_text(f"{answer.lower[0]:.3f}")
    page.get_by_role("link", name="Who benefits").click()
    expect(page.locator("#table tbody tr").first).to_be_visible()


def test_on_a_phone_nothing_is_wider_than_the_screen_and_the_answer_stays_in_sight(visit):
    begun = visit(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    for path in (
        "/groups",
        "/people",
        "/about",
        "/compare?with.sex=male",
        "/budget",
        "/decisions",
        "/policies",
        "/check",
        "/",
    ):
        page = begun.open(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    choose(page, "sex", "male")
    answer = web_models.clinic().bounds("sex=male")
    expect(page.locator("#summary")).to_contain_text(f"{answer.lower[0]:.3f} to {answer.upper[0]:.3f}")
    expect(page.locator("#summary")).to_be_in_viewport()
