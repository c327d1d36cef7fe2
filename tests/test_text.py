"""Words for numbers."""

from __future__ import annotations

import pytest

from pnsight._text import share_text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.0%"),
        (0.0002, "<0.1%"),
        (0.0005, "0.1%"),
        (0.0042, "0.4%"),
        (0.123, "12.3%"),
        (0.9994, "99.9%"),
        (0.9997, ">99.9%"),
        (1 - 2e-15, "100.0%"),
        (1.0, "100.0%"),
    ],
)
def test_a_share_is_none_or_all_only_if_it_is(share, text):
    assert share_text(share) == text
