"""The model that a command is about, and what to know about how it was read."""

from __future__ import annotations

from pathlib import Path

import pnsight
from pnsight.cli.output import say


def load_model(folder: Path) -> pnsight.Model:
    """Read a model, and say it if other versions of libraries wrote it."""
    model = pnsight.load(folder)
    for note in model.read_notes:
        say(f"warning: {note}")
    return model
