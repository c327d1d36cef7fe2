"""The explorer in the browser, and a JSON interface to the same answers, served from one's own machine."""

from __future__ import annotations

from pnsight.web.app import create_app
from pnsight.web.server import serve

__all__ = ["create_app", "serve"]
