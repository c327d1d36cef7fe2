"""Soaks: long attacks on what pnsight promises, one file each.

To add one, write a file with a `Soak` and name it in `SOAKS`; its options, all whole numbers, become those of
`soak.py NAME`. A short run of each is a test in `tests/faults`.
"""

from __future__ import annotations

from soaks import bit_flips, kills
from soaks.soak import Findings, Soak

__all__ = ["SOAKS", "Findings", "Soak"]

SOAKS: dict[str, Soak] = {
    "kills": kills.SOAK,
    "bit-flips": bit_flips.SOAK,
}
"""Every soak, by its name on the command line."""
