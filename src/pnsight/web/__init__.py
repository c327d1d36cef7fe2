"""The explorer in the browser, and a JSON interface to the same answers, served from one's own machine.

Names are loaded when first used: a process that computes for a server needs no web libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from pnsight.web.app import create_app
    from pnsight.web.limits import Limits
    from pnsight.web.server import serve

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__, submod_attrs={"app": ["create_app"], "limits": ["Limits"], "server": ["serve"]}
)

__all__ = ["Limits", "create_app", "serve"]
