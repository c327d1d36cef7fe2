"""What a person sees on the screen changes on purpose only: python tests/golden/regenerate.py."""

from __future__ import annotations

import pytest

from golden.regenerate import SCREENS, screen


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_as_frozen(name):
    assert screen(name) == SCREENS[name].read_text(encoding="utf-8")
