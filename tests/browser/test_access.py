"""A real browser says where a request comes from, and shows the token once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import expect

import web_models
from pnsight.web.access import Access
from running import running

TOKEN = "a-token-that-is-long"


@pytest.fixture(scope="module")
def locked():
    with running(web_models.plug_in(), Access(token=TOKEN, required=True)) as address:
        yield address


class _Elsewhere(BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title>")

    def log_message(self, *arguments):
        """Nothing."""


@pytest.fixture(scope="module")
def elsewhere():
    """A page of this machine under another name, which browsers take for another site."""
    with HTTPServer(("127.0.0.1", 0), _Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join(60)


@pytest.fixture
def page(browser):
    with browser.new_context() as context:
        yield context.new_page()


def test_without_the_token_nothing_is_shown(page, locked):
    assert page.goto(locked).status == 401
    expect(page.locator("body")).to_contain_text("asks for a token")


def test_the_address_with_the_token_opens_the_explorer_and_all_its_pages(page, locked):
    page.goto(f"{locked}/?threshold=0.3&token={TOKEN}")
    assert page.url == f"{locked}/?threshold=0.3"
    page.get_by_label("male", exact=True).check()
    expect(page.locator("#answer")).to_contain_text("sex = male")
    page.get_by_role("link", name="Who benefits").click()
    expect(page.locator("#table")).to_contain_text("stands out")
    page.get_by_role("link", name="Many people").click()
    page.get_by_label("Or its text").fill("sex\nmale\n")
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("#result")).to_contain_text("1 decision")
    with page.expect_download() as download:
        page.get_by_role("button", name="Decide and download as CSV").click()
    assert download.value.suggested_filename == "decisions.csv"
    assert page.evaluate("document.cookie") == ""


@dataclass(frozen=True)
class Recorded(Access):
    """Knows what it answered to whom."""

    seen: list = field(default_factory=list)

    def check(self, scope):
        found = super().check(scope)
        self.seen.append((scope["method"], scope["path"], found and found.status_code))
        return found


def test_a_page_of_another_site_gets_nothing_out_of_the_server(page, elsewhere):
    access = Recorded(token=TOKEN)
    with running(web_models.plug_in(), access) as address:
        page.goto(f"{address}/about?token={TOKEN}")
        page.goto(elsewhere)
        for method, path in (("GET", "/"), ("GET", "/groups"), ("GET", "/api/rank"), ("POST", "/people")):
            access.seen.clear()
            options = {"method": method, "mode": "no-cors", "credentials": "include"}
            page.evaluate("([at, how]) => fetch(at, how).catch(() => null)", [address + path, options])
            assert access.seen == [(method, path, 403)]


def test_a_link_on_another_site_is_followed_with_one_click_more(page, address, elsewhere):
    target = address("plug-in") + "/groups?by=upper"
    page.goto(elsewhere)
    with page.expect_response(target) as asked:
        page.evaluate("address => { location.href = address }", target)
    assert asked.value.status == 403
    page.get_by_role("link", name="Open the explorer").click()
    expect(page.locator("#table")).to_contain_text("stands out")
    assert page.url == target
