"""A real Chromium and real servers; whatever goes wrong in the console, or to another host, fails the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import web_models
from pnsight.web.limits import Limits
from running import running

expect.set_options(timeout=30_000)  # a busy machine is slow, which is no fault

LIMITS = Limits(quick_workers=1, heavy_workers=1)
"""As `pnsight serve` does, the servers compute in other processes, here in fewer."""

QUIET = [
    *["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    *["--disable-component-update", "--disable-sync"],
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser; Debian's, as Playwright's own would have to be fetched.

    It ends with the module: while Playwright lasts, no other test can run an event loop.
    """
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        yield found
        found.close()


@pytest.fixture(scope="module")
def address() -> Iterator[Callable[[str], str]]:
    """The address of a server of the model of that name, started when first asked for."""
    known: dict[str, str] = {}
    with ExitStack() as servers:

        def of(name: str) -> str:
            if name not in known:
                known[name] = servers.enter_context(running(web_models.EVERY[name](), limits=LIMITS))
            return known[name]

        yield of


@dataclass
class Visit:
    """A page, and all that happened on the way."""

    page: Page
    base: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str = "/") -> Page:
        """Open an address of the server."""
        self.page.goto(self.base + path)
        return self.page


@pytest.fixture
def visit(browser, address) -> Iterator[Callable[..., Visit]]:
    """Visit the explorer of a model; in the end nothing may have been complained of or asked of another host."""
    visits: list[Visit] = []
    with ExitStack() as contexts:

        def begin(name: str = "response-types", **options) -> Visit:
            context = contexts.enter_context(browser.new_context(**options))
            found = Visit(context.new_page(), address(name))
            found.page.on("request", lambda request: found.requests.append(request.url))
            found.page.on("console", lambda said: found.complaints.append(said.text))
            found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
            found.page.on("requestfailed", lambda request: _unless_given_up(found, request))
            visits.append(found)
            return found

        yield begin
    for each in visits:
        assert each.complaints == []
        assert each.requests
        assert [url for url in each.requests if not url.startswith((each.base, "blob:", "data:"))] == []


def _unless_given_up(visit: Visit, request) -> None:
    """A request that a later one took the place of is no failure."""
    if request.failure != "net::ERR_ABORTED":
        visit.complaints.append(f"{request.url}: {request.failure}")
