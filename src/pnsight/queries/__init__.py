"""Groups of people: the query language, the lattice of all queries, and the answers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from pnsight.queries import bound_table, lattice, query

__getattr__, __dir__, _ = lazy_loader.attach(__name__, submodules=["bound_table", "lattice", "query"])

__all__ = ["bound_table", "lattice", "query"]
