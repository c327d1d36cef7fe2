"""Confidence intervals on the command line: of the plug-in, corrected ends, and intervals that hold together."""

from __future__ import annotations

import pytest

COLUMNS = ("lower_low", "lower_high", "upper_low", "upper_high", "value_low", "value_high")


def numbers(row: dict[str, str], *names: str) -> list[float]:
    return [float(row[name]) for name in names]


def test_the_plug_in_gives_intervals(model, run):
    everyone, nobody = run("query", model, "", "1101001110", "--format", "csv").rows
    low, lower, high = numbers(everyone, "lower_low", "lower", "lower_high")
    assert low < lower < high
    low, lower, upper, high = numbers(everyone, "value_low", "lower", "upper", "value_high")
    assert low < lower < upper < high
    assert nobody["status"] == "undefined"
    assert {nobody[name] for name in COLUMNS} == {""}


def test_more_confidence_gives_longer_intervals(model, run):
    usual, sure = (run("query", model, "--level", level, "--format", "csv").rows[0] for level in (0.9, 0.99))
    assert numbers(sure, "value_low") < numbers(usual, "value_low")
    assert numbers(sure, "upper_high") > numbers(usual, "upper_high")


def test_intervals_that_hold_together_are_wider_and_say_so(model, run):
    asked = ("query", model, "", "z1=1", "z1=0", "--format", "csv")
    alone, together = run(*asked), run(*asked, "--simultaneous")
    assert "the intervals of these 3 answers hold together with a confidence of 90% (Bonferroni)" in together.err
    for one, other in zip(alone.rows, together.rows, strict=True):
        assert numbers(other, "upper_high") > numbers(one, "upper_high")
        assert numbers(other, "lower", "upper") == numbers(one, "lower", "upper")


def test_corrected_ends_lie_outside_and_say_so(model, run):
    plain, corrected = (run("query", model, *more, "--format", "csv") for more in ((), ("--median-unbiased",)))
    assert "half-median-unbiased" in corrected.err
    assert numbers(corrected.rows[0], "lower") <= numbers(plain.rows[0], "lower")
    assert numbers(corrected.rows[0], "upper") >= numbers(plain.rows[0], "upper")


@pytest.mark.parametrize("option", ["--simultaneous", "--median-unbiased"])
def test_a_known_population_has_no_sampling_error(option, attempt):
    ended = attempt("oracle", "mediator", option)
    assert ended.code == 2
    assert option in ended.err
