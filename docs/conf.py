"""Sphinx: how the documentation is built. Nothing is fetched, neither while building nor while reading.

Formulas are set by MathJax, which sphinx-mathjax-offline brings along and copies beside the pages. The notebooks of the
gallery are executed whenever their pages are read; what they show is what the code says today.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pnsight import __version__

sys.path.insert(0, str(Path(__file__).parent))
from run_notebooks import find_own_programs

find_own_programs()

project = "pnsight"
author = "The pnsight authors"
copyright = author
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build"]
default_role = "code"
smartquotes = False  # x' is a symbol, not a quotation
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_labels = False

mathjax3_config = {"chtml": {"scale": 0.92}}

nb_execution_mode = "force"
nb_execution_in_temp = True  # what a notebook writes is gone when it ends
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds for one cell, on a busy machine
nb_merge_streams = True

html_theme = "furo"
html_title = f"pnsight {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {
    name: name for name in ("Codes", "Ends", "Equation", "FloatArray", "QueryLike", "Score", "Table")
}
python_maximum_signature_line_length = 100


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", _plain_signature)
    app.connect("autodoc-process-docstring", _attributes_as_list, priority=400)  # before napoleon


def _plain_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Aliases and functions by their names, and defaults that are made afresh as an ellipsis."""

    def plain(text: str | None) -> str | None:
        text = text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)|<function (\w+)>", r"\1\2", text)
        return text and text.replace("<factory>", "...")

    return plain(signature), plain(returns)


def _attributes_as_list(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """An "Attributes" section as a list: its entries may name several attributes at once, or give no type."""
    if "Attributes" not in lines:
        return
    start = lines.index("Attributes")
    end = next((i for i in range(start + 2, len(lines)) if not lines[i].strip()), len(lines))
    entries: list[str] = []
    for line in lines[start + 2 : end]:
        if not line.startswith(" "):
            names, _, rest = line.partition(" : ")
            entries.append(f"- ``{names}``: {rest}")
        else:
            entries[-1] += f" {line.strip()}" if "; " in entries[-1] else f"; {line.strip()}"
    lines[start:end] = ["Attributes:", "", *entries]


suppress_warnings = ["ref.python"]  # shapes such as (types,) in docstrings are no cross-references
