"""Execute the notebooks of the gallery, each in a fresh kernel and a scratch folder, and say how long each took.

Run it with: python docs/run_notebooks.py [NAME...]

A notebook is a page of text with `{code-cell}` blocks (MyST), which Sphinx executes too when it builds the pages. An
error in any cell ends the run with exit code 1.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOKS = Path(__file__).parent / "notebooks"
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?P<options>(?::[^\n]*\n)*)(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_CELL_SECONDS = 300


def notebooks() -> list[Path]:
    """Pages of the gallery with code to execute, in the order of their names."""
    return [page for page in sorted(NOTEBOOKS.glob("*.md")) if cells(page)]


def cells(page: Path) -> list[str]:
    """The code of each cell."""
    return [found["code"] for found in _CELL.finditer(page.read_text(encoding="utf-8"))]


def execute(page: Path) -> nbformat.NotebookNode:
    """The notebook with the output of its cells; an error in a cell raises `CellExecutionError`."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells(page)])
    find_own_programs()
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=_CELL_SECONDS, startup_timeout=_CELL_SECONDS, kernel_name="python3")
        client.execute(cwd=folder)
    return notebook


def find_own_programs() -> None:
    """Let a cell that calls ``pnsight`` on the command line find the program of this environment, activated or not."""
    own = str(Path(sys.executable).parent)
    if not os.environ["PATH"].startswith(own):
        os.environ["PATH"] = f"{own}{os.pathsep}{os.environ['PATH']}"


def main() -> None:
    """Execute those that are named, or all."""
    named = set(sys.argv[1:]) or {page.stem for page in notebooks()}
    if unknown := named - {page.stem for page in notebooks()}:
        sys.exit(f"no notebook {', '.join(sorted(unknown))}; there are {', '.join(p.stem for p in notebooks())}.")
    failed = [page.stem for page in notebooks() if page.stem in named and not _runs(page)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def _runs(page: Path) -> bool:
    """Whether a notebook runs without an error; says how long it took, or what went wrong."""
    before = _processor_seconds()
    try:
        execute(page)
    except CellExecutionError as error:
        print(f"{page.stem}: {error}", file=sys.stderr)
        return False
    print(f"{page.stem}: {_processor_seconds() - before:.1f} s of processor time")
    return True


def _processor_seconds() -> float:
    """What kernels that have ended used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
