"""Sphinx: how the documentation is built. Nothing is fetched, neither while building nor while reading."""

from __future__ import annotations

import re
from typing import Any

from pnsight import __version__

project = "pnsight"
author = "The pnsight authors"
copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
default_role = "code"
smartquotes = False  # x' is a symbol, not a quotation
myst_heading_anchors = 3

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
