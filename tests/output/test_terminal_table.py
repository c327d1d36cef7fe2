"""Results on a terminal: few digits, ends together, a bar where there is room, colours where they are wanted."""

from __future__ import annotations

import pytest

from pnsight.output.terminal_table import TerminalStyle, short_text, terminal_table

ANSWERS = {
    "query": ["sex=male", ""],
    "decision": ["treat", "uncertain"],
    "lower": [0.31234567, 0.1],
    "upper": [0.5, 1.0],
    "lower_low": [0.3, 0.05],
    "lower_high": [0.32, 0.15],
    "upper_low": [0.45, 0.9],
    "upper_high": [0.55, 1.0],
    "support_experimental": [120, 4000],
    "support_observational": [80, 5000],
    "status": ["ok", "ok"],
    "basis": ["", ""],
}
WIDE = TerminalStyle(200)


def shown(style, **changes):
    return terminal_table({**ANSWERS, **changes}, style)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.31234567, "0.312"),
        (0.0, "0.000"),
        (-1e-17, "0.000"),
        (0.0004, "4e-04"),
        (-0.25, "-0.250"),
        (12.0, "12"),
        (12345.678, "12,345.678"),
        (None, ""),
        ("ok", "ok"),
    ],
)
def test_a_reader_sees_three_decimals_and_zero_only_where_it_is(value, text):
    assert short_text(value) == text


def test_both_ends_of_an_interval_and_both_tables_rows_share_a_column():
    text, left_out = shown(WIDE)
    assert "0.300-0.320" in text
    assert "120+80" in text
    assert left_out == ()


def test_a_dash_is_never_a_minus_sign():
    assert "-0.300 to 0.320" in shown(WIDE, lower_low=[-0.3, 0.05])[0]


def test_columns_without_content_are_not_shown():
    assert "basis" not in shown(WIDE)[0]


def test_the_bar_goes_from_end_to_end_with_thin_lines_for_intervals():
    bar = shown(WIDE)[0].splitlines()[-1].split("  ")[-1]
    assert len(bar) == 42 - 2
    assert set(bar) == {"━", "─"}


def test_the_bar_has_letters_that_every_terminal_has_where_it_must():
    assert "━" not in shown(TerminalStyle(200, lines=False))[0]
    assert "===" in shown(TerminalStyle(200, lines=False))[0]


def test_the_bar_spans_all_bounds_where_one_is_outside_0_to_1():
    heading = shown(WIDE, lower=[-0.5, 0.1], lower_low=[-0.6, 0.05])[0].splitlines()[-4]
    assert heading.split()[-2:] == ["-0.6", "1"]


def test_where_room_is_lacking_intervals_go_before_decisions_support_and_status():
    text, left_out = shown(TerminalStyle(60))
    assert left_out == ("lower_low", "lower_high", "upper_low", "upper_high")
    assert all(word in text for word in ("decision", "lower", "support", "status"))


def test_a_decision_has_its_colour_and_nothing_else_changes():
    plain, coloured = shown(WIDE)[0], shown(TerminalStyle(200, colours=True))[0]
    assert "\x1b[36mtreat\x1b[0m" in coloured
    assert "\x1b[2muncertain\x1b[0m" in coloured
    for code in ("\x1b[36m", "\x1b[2m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_names_of_groups_cannot_move_the_cursor():
    assert "\x1b" not in shown(WIDE, query=["\x1b[2Jsex", "\n"])[0]
