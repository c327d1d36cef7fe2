"""Tables that fit: headings broken, words wrapped, columns left out in order, nothing wider than asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pnsight._text_table import fit_table, text_column, wrap_cell

TABLE = {
    "group": ["everyone", "Körpergröße = über dem Median, Wohnort = Île-de-France"],
    "lower": [0.25, 0.5],
    "a_long_heading": [1, 2],
    "status": ["ok", "ok"],
}


def fitted(width, **orders):
    return fit_table([text_column(name, values) for name, values in TABLE.items()], width, **orders)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_asked(width):
    assert max(map(cell_len, fitted(width).text.splitlines())) <= width


def test_with_enough_room_nothing_is_broken():
    assert len(fitted(200).text.splitlines()) == 4


def test_words_are_wrapped_and_headings_broken_before_a_column_is_left_out():
    narrow = fitted(50)
    assert narrow.left_out == ()
    assert narrow.text.splitlines() == [
        "                                   a_long_",
        "group                       lower  heading  status",
        "-----------------------  --------  -------  ------",
        "everyone                 0.250000        1  ok",
        "Körpergröße = über dem   0.500000        2  ok",
        "Median,",
        "Wohnort = Île-de-France",
    ]


def test_columns_go_from_the_right_unless_an_order_is_given():
    assert fitted(36).left_out == ("status",)
    assert fitted(36, first_to_go=[("lower",)]).left_out == ("lower",)
    assert fitted(36, last_to_go=["status"]).left_out == ("a_long_heading",)


def test_columns_that_belong_together_go_together():
    assert fitted(36, first_to_go=[("lower", "status")]).left_out == ("lower", "status")


def test_the_first_column_stays_however_narrow_it_is():
    assert fitted(12).left_out == ("lower", "a_long_heading", "status")


def test_no_word_is_broken_for_the_sake_of_another_column():
    long = {
        "column": ["Bildungsabschlussart"],
        "values": ["kein Abschluss (1,231), Hochschulabschluss (2,074), andere"],
    }
    shown = fit_table([text_column(name, values) for name, values in long.items()], 50)
    assert "Bildungsabschlussart" in shown.text
    assert "Hochschulabschluss" in shown.text


def test_what_is_left_out_is_said_below():
    assert str(fitted(36)).splitlines()[-1] == "(no room for status)"


def test_a_group_is_broken_after_a_comma_if_it_can_be():
    assert wrap_cell("Sex = male, Kidney disease = yes", 21) == ["Sex = male,", "Kidney disease = yes"]


def test_a_word_that_is_too_long_is_broken_within():
    assert wrap_cell("abcdefgh ij", 4) == ["abcd", "efgh", "ij"]


@given(st.text(alphabet="aéß漢 ,", max_size=60), st.integers(2, 30))
def test_wrapping_keeps_every_letter_and_the_width(text, width):
    lines = wrap_cell(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)
