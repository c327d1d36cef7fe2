"""What a model's folder survives: writers killed at random points, several at once, and bits that flip.

`make soak` does the same for longer.
"""

from __future__ import annotations

import re


def test_killed_writers_leave_one_whole_model(soak):
    found = soak("kills", kills=24, writers=2, seed=7)
    assert re.search(r"\b24  writers killed", found)
    assert re.search(r"\b16  of them two or more at once", found)
    assert re.search(r"\b0  models lost, mixed or unreadable", found)


def test_whatever_bit_of_a_model_flips_it_is_refused_or_answers_as_before(soak):
    found = soak("bit-flips", sample=400, seed=7)
    assert found.count("400  bits of") == 2
