"""Ranking and tables of people in a browser."""

from __future__ import annotations

import csv
import re

from playwright.sync_api import expect

import web_models
from pnsight.decisions import decide, rank

TABLE = "person,sex,age\nann,female,60\nbo,male,\ncy,,33\n"


def groups(page) -> list[str]:
    return page.locator("#table tbody th").all_inner_texts()


def test_groups_are_ranked_sorted_filtered_and_opened(visit):
    page = visit().open("/groups")
    found = rank(web_models.clinic(), 50)
    expect(page.locator("#table tbody tr")).to_have_count(len(found))
    page.get_by_role("link", name="At most").click()
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    upper = [float(text) for text in page.locator("#table td[data-label='At most'] b").all_inner_texts()]
    assert upper == sorted(upper, reverse=True)
    expect(page.get_by_role("link", name="At most")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    page.get_by_label("Show only groups that mention").fill("region")
    expect(page.locator("#table")).to_contain_text(f"of {len(found)} shown")
    assert all("region" in name for name in groups(page))
    page.wait_for_url("**/groups?*text=region*")
    first = page.locator("#table tbody tr").first
    lower = first.locator("td[data-label='At least'] b").inner_text()
    first.get_by_role("link").click()
    expect(page.locator(".numbers tbody tr:first-child b").first).to_have_text(lower)


def test_ranking_by_another_end_needs_one_click(visit):
    page = visit().open("/groups")
    page.get_by_role("radio", name="upper bound").check()
    found = rank(web_models.clinic(), 50, "upper")
    expect(page.locator("#table td[data-label='At most'] b").first).to_have_text(f"{found.answers.upper[0]:.3f}")
    page.wait_for_url("**/groups?*by=upper*")  # both rankings may begin with the same number
    page.reload()
    expect(page.get_by_role("radio", name="upper bound")).to_be_checked()


def test_ranking_by_harm_asks_about_harm(visit):
    page = visit().open("/groups")
    page.get_by_role("radio", name="harm").check()
    expect(page.get_by_label("Quantity")).to_have_value("harm")
    expect(page.locator("#meaning")).to_contain_text("only if they are not treated")
    expect(page.locator("#table")).to_contain_text("harm")
    page.get_by_label("Quantity").select_option("pn")
    expect(page.get_by_role("radio", name="lower bound")).to_be_checked()
    expect(page.locator("#table")).to_contain_text("bound on PN")


def test_a_ranking_that_takes_its_time_says_so(visit):
    page = visit().open("/groups")
    held = []
    page.route("**/groups/table*", lambda route: held.append(route))
    page.get_by_role("radio", name="upper bound").check()
    expect(page.get_by_role("status").first).to_have_text("Working…")
    expect(page.locator("#table")).to_have_attribute("aria-busy", "true")
    held.pop().continue_()
    expect(page.get_by_role("status").first).to_contain_text("groups")


def test_printed_groups_say_what_was_asked_and_begin_on_the_first_page(visit):
    page = visit().open("/groups?threshold=0.2")
    page.emulate_media(media="print")
    expect(page.locator("#table .asked")).to_be_visible()
    expect(page.get_by_text("http://127.0.0.1")).to_be_visible()
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    assert page.locator("#table tbody tr").first.bounding_box()["y"] < 500


def test_groups_work_without_a_script(visit):
    page = visit(java_script_enabled=False).open("/groups")
    page.get_by_label("Show only groups that mention").fill("region")
    page.get_by_role("button", name="Show the groups").click()
    assert groups(page)
    assert all("region" in name for name in groups(page))
    page.get_by_role("link", name="At least").click()
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")


def upload(page, table: str = TABLE) -> None:
    page.get_by_label("A file in CSV").set_input_files(
        {"name": "people.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )


def expected():
    return decide(web_models.clinic(), [{"sex": "female", "age": 60}, {"sex": "male"}, {"age": 33}], 0.2, cautious=True)


def test_a_table_of_people_comes_back_with_decisions(visit, tmp_path):
    page = visit().open("/people?threshold=0.2")
    upload(page)
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("#result tbody tr")).to_have_count(3)
    expect(page.locator("#result tbody tr").nth(1)).to_contain_text(f"{expected().answers.lower[1]:.3f}")
    expect(page.get_by_role("status")).to_contain_text("3 decisions")
    with page.expect_download() as event:
        page.get_by_role("button", name="Decide and download as CSV").click()
    event.value.save_as(tmp_path / "decisions.csv")
    with (tmp_path / "decisions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["person"] for row in rows] == ["ann", "bo", "cy"]
    assert [row["decision"] for row in rows] == [str(word) for word in expected().decision]


def test_a_table_that_cannot_be_read_is_told_with_its_row(visit):
    page = visit().open("/people")
    page.get_by_label("Or its text").fill("sex\nmale\nmael\n")
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("#result .unreadable")).to_contain_text(
        "row 2 (line 3 of the file): covariate 'sex' has no level 'mael'"
    )
    page.get_by_label("Or its text").fill("sex\nmale\n")
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("#result tbody tr")).to_have_count(1)


def test_tables_work_without_a_script(visit):
    page = visit(java_script_enabled=False).open("/people?threshold=0.2")
    upload(page)
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("#result tbody tr")).to_have_count(3)
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.2")


def test_what_is_asked_goes_along_to_the_other_pages(visit):
    page = visit().open("/?threshold=0.2")
    page.get_by_role("group", name="sex").get_by_role("radio", name="female").check()
    page.wait_for_url("**/?with.sex=female&threshold=0.2")
    for name in (
        "Who benefits",
        "Compare",
        "Budget",
        "Who is treated",
        "Usual care",
        "Many people",
        "The check",
        "About",
    ):
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        page.wait_for_url("**/*?with.sex=female&threshold=0.2")
    page.get_by_role("navigation").get_by_role("link", name="Explore").click()
    expect(page.get_by_role("radio", name="female")).to_be_checked()


def test_a_budget_is_typed_and_shown_with_its_baselines(visit):
    page = visit().open("/budget")
    page.get_by_label("How many can be treated").fill("300")
    page.get_by_label("Of how many people").fill("1000")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/budget?budget=300&people=1000")
    expect(page.locator(".choices tbody th")).to_have_text(
        ["By the bounds, best first", "As many, chosen at random", "Treat all who are considered"]
    )


def test_decisions_are_counted_by_the_covariate_that_is_chosen(visit):
    page = visit().open("/decisions?threshold=0.2")
    page.get_by_label("By", exact=True).select_option("region")
    page.wait_for_url("**/decisions?threshold=0.2&by=region")
    expect(page.locator(".by-covariate tbody th")).to_have_text(["North & East", "South", "Everyone"])


def test_usual_care_and_other_thresholds_are_shown_with_the_harm_of_treating(visit):
    page = visit().open("/policies?threshold=0.2&with.sex=male")
    expect(page.locator(".policies tbody th")).to_have_count(5)
    first = page.locator(".thresholds tbody tr").first
    expect(first.locator("td[data-label='Treated, harmed at most']")).to_have_text(re.compile(r"\d%$"))
    page.get_by_role("navigation").get_by_role("link", name="Explore").click()
    expect(page.get_by_role("radio", name="male", exact=True)).to_be_checked()


def test_the_check_names_each_part_and_its_question(visit):
    page = visit().open("/check")
    expect(page.locator(".parts dt").first).to_contain_text("Are there enough rows? support:")
    expect(page.locator("header .badge")).to_have_text("Data: usable")


def test_the_page_for_programs_and_the_one_about_the_explorer_open(visit):
    begun = visit()
    page = begun.open("/about")
    page.get_by_role("link", name="the interface and how to use it").click()
    page.wait_for_url("**/api/")
    expect(page.locator("main")).to_contain_text("/api/bounds")


def test_on_a_phone_the_tab_of_the_page_is_in_sight(visit):
    begun = visit(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    for path, name in (
        ("/", "Explore"),
        ("/decisions", "Who is treated"),
        ("/policies", "Usual care"),
        ("/about", "About"),
    ):
        tab = begun.open(path).get_by_role("navigation").get_by_role("link", name=name, exact=True)
        expect(tab).to_be_in_viewport(ratio=1)


def test_on_a_phone_both_choices_of_a_comparison_are_in_sight(visit):
    page = visit(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True).open("/compare?with.sex=male")
    for whom in ("first", "second"):
        choice = page.get_by_label(f"sex, {whom}")
        choice.scroll_into_view_if_needed()
        box = choice.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_on_paper_tables_are_not_cut(visit):
    page = visit(viewport={"width": 680, "height": 1000}).open("/compare?with.sex=male&and.sex=female")
    page.emulate_media(media="print")
    expect(page.locator("#compare")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_decision_stays_in_sight_beside_a_wide_table(visit):
    page = visit(viewport={"width": 800, "height": 700}).open("/people")
    wide = ",".join(f"note{k}" for k in range(30))
    page.get_by_label("Or its text").fill(f"sex,{wide}\nmale{',x' * 30}\n")
    page.get_by_role("button", name="Decide", exact=True).click()
    cell = page.locator("#result tbody .decided")
    cell.wait_for()
    page.locator("#result .scroll").evaluate("each => each.scrollLeft = 1500")
    expect(cell).to_be_in_viewport()
