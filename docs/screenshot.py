"""Take the pictures of the explorer and of a report: python docs/screenshot.py MODEL, with Chromium installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import pnsight
from pnsight.cli.demo import THRESHOLD

FIGURES = Path(__file__).parent / "figures"
PICTURE = FIGURES / "explorer.png"
STATE = "?with.sex=female&with.severity=severe&with.kidney_disease=no&threshold=0.3"


def main(model: str) -> None:
    command = [sys.executable, "-m", "pnsight", "serve", model, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        address = re.search(r"http://\S+", server.stderr.readline()).group()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 960})
        page.goto(address + STATE)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURE)
        report(browser, model)
        browser.close()
        server.terminate()


def report(browser: Browser, model: str) -> None:
    """The beginning of the report that the demo writes."""
    page = browser.new_page(viewport={"width": 1000, "height": 1700})
    page.set_content(pnsight.output.report.render(pnsight.output.report.summarise(pnsight.load(model), THRESHOLD)))
    page.screenshot(path=FIGURES / "report.png")


if __name__ == "__main__":
    main(sys.argv[1])
