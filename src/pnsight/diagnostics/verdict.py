"""What a part of the check comes to, in one word and one sentence; and the level at which it raises an alarm."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARNING, FAILED = "ok", "warning", "failed"

SIGNS = {OK: "✓", WARNING: "!", FAILED: "✕"}
"""A character that stands for each."""

FALSE_ALARMS = 0.05
"""The chance that a part raises an alarm although nothing is wrong, over all that it looks at."""


@dataclass(frozen=True)
class Verdict:
    """One part's result."""

    status: str
    text: str
