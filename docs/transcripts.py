"""Examples in the pages, run again: what a page shows is what the program says today.

Two kinds of fenced block are run, in the order of the page, in one scratch folder a page:

- ``console``: each line that starts with ``$ `` is a command; the lines below it are replaced by its output, messages
  included but for those on how far it is. A command that ends in a backslash goes on in the next line.
  Below a comment that says so, `NEAR`, numbers may differ by a hundredth: what a network learns depends on the machine
  in its last digits. The page then stays as it is.
- ``python``: run as a program of its own; a ``text`` block that follows at once is replaced by what it prints.

Blocks of any other kind (``sh``, ``text`` elsewhere) are left alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NEAR = "<!-- Run again, numbers may differ by 0.01. -->\n"
_TOLERANCE = 0.01 + 1e-9
_NUMBER = re.compile(r"\d+\.\d+")

_BLOCK = re.compile(
    rf"(?P<near>^{re.escape(NEAR)})?^```console\n(?P<console>.*?)^```$|"
    r"^```python\n(?P<python>.*?)^```\n(?P<shown>\n```text\n.*?^```$)?",
    re.MULTILINE | re.DOTALL,
)
_PROGRESS = re.compile(r"[\w ]+: [\d,]+[% ].*, \d+ s")
"""A line that says how far a command is: how many there are depends on how fast the machine is."""

_COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*\n", re.MULTILINE)


def refreshed(page: Path) -> str:
    """The page with the output of its examples as it is today."""
    with tempfile.TemporaryDirectory() as folder:
        return _BLOCK.sub(lambda block: _rerun(block, page, folder), page.read_text(encoding="utf-8"))


def _rerun(block: re.Match[str], page: Path, folder: str) -> str:
    if block["console"] is not None:
        shown = _console(block["console"], page, folder)
        if block["near"] and _near(shown, block["console"]):
            shown = block["console"]
        return f"{block['near'] or ''}```console\n{shown}```"
    printed = _run([sys.executable, "-c", block["python"]], page, folder, may_fail=False)
    shown = f"\n```text\n{printed}```" if block["shown"] else ""
    return f"```python\n{block['python']}```\n{shown}"


def _near(one: str, other: str) -> bool:
    """Whether two outputs are the same but for blanks, dashes below a heading, and small differences of numbers."""
    words = [" ".join(_NUMBER.sub("#", re.sub(r"--+", "--", text)).split()) for text in (one, other)]
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=False)
    return words[0] == words[1] and all(abs(float(a) - float(b)) <= _TOLERANCE for a, b in pairs)


def _console(text: str, page: Path, folder: str) -> str:
    commands = _COMMAND.findall(text)
    return "".join(command + _run(["bash", "-c", command[2:]], page, folder, may_fail=True) for command in commands)


def _run(command: list[str], page: Path, folder: str, may_fail: bool) -> str:
    """Standard output and messages, in the order written; a crash stops the build of the documentation."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if "Traceback (most recent call last)" in done.stdout or (done.returncode and not may_fail):
        raise SystemExit(f"{page.name}: this example fails:\n{command[-1]}\n{done.stdout}")
    lines = (line.rstrip() for line in done.stdout.splitlines())
    return "".join(f"{line}\n" for line in lines if not _PROGRESS.fullmatch(line))
