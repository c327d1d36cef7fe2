"""The case study: its columns, its letters, and what it says where there is no answer."""

import numpy as np
import pytest

import pnsight_experiments as benchmark
from pnsight_experiments.case_study import _letters, _text


@pytest.fixture(scope="module")
def columns():
    """A small budget and few epochs: the shape of the study, not its figures."""
    return benchmark.case_study(budget=20_000, seed=1, threshold=50, epochs=20)


def test_the_profile_and_its_ten_one_open_variants_are_asked(columns):
    assert columns["query"][0] == "1101001110"
    assert [query.count("X") for query in columns["query"]] == [0] + [1] * 10


def test_every_learner_has_its_ends_and_exact_mlp_only_for_the_exact_profile(columns):
    assert columns["oracle"][0] == "0.251/0.333"
    assert columns["exact-mlp"][1:] == [""] * 10
    assert all(columns["mask-mlp"])


def test_decisions_follow_the_order_of_the_columns(columns):
    assert columns["decisions"][0].startswith("N/")
    assert len(columns["decisions"][0].split("/")) == 5
    assert len(columns["decisions"][1].split("/")) == 4


def test_no_answer_and_crossed_answers_are_named():
    assert _text(np.nan, np.nan) == "undefined"
    assert _text(0.4, 0.3) == "0.400/0.300 crossed"
    assert _letters(np.array([[0.4, 0.3], [np.nan, np.nan], [0.6, 0.7], [0.1, 0.9]])) == ["-", "-", "T", "U"]
