"""Run the R examples of docs/r.md again, and write what they print into the page. Needs Rscript, reticulate and httr.

Run it with: python docs/run_r.py

Each `r` block is a program of its own, in one scratch folder; the `text` block that follows is replaced by its output.
The examples of the JSON interface ask a server of the model that the first example saved.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PAGE = Path(__file__).parent / "r.md"
PORT = 8971
SERVER = f"http://127.0.0.1:{PORT}"
_BLOCK = re.compile(r"^```r\n(?P<code>.*?)^```\n\n```text\n.*?^```$", re.MULTILINE | re.DOTALL)
_SECONDS = 60


def main() -> None:
    """Write the page with the output of its examples."""
    alone, heading, served = PAGE.read_text(encoding="utf-8").partition("## With the JSON interface\n")
    with tempfile.TemporaryDirectory() as folder:
        alone = _refreshed(alone, folder)
        with _serving(folder):
            served = _refreshed(served, folder)
    PAGE.write_text(alone + heading + served, encoding="utf-8")


def _refreshed(text: str, folder: str) -> str:
    return _BLOCK.sub(lambda block: f"```r\n{block['code']}```\n\n```text\n{_run(block['code'], folder)}```", text)


def _run(code: str, folder: str) -> str:
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "PNSIGHT_SERVER": SERVER}
    program = Path(folder) / "example.R"
    program.write_text(code, encoding="utf-8")
    return subprocess.run(
        ["Rscript", program.name], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


@contextmanager
def _serving(folder: str) -> Iterator[None]:
    """The folder's model is served meanwhile."""
    command = [sys.executable, "-m", "pnsight", "serve", "model", "--port", str(PORT)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_until_it_answers()
            yield
        finally:
            server.terminate()


def _wait_until_it_answers() -> None:
    for _ in range(_SECONDS):
        try:
            urlopen(f"{SERVER}/api/model").close()
            return
        except URLError:
            time.sleep(1)
    sys.exit(f"no server answers at {SERVER} after {_SECONDS} seconds.")


if __name__ == "__main__":
    main()
