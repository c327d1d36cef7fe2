"""What acting on a model is worth, against the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from fit_rows import decision_row
from pnsight import simulation as populations
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import PnsightError
from pnsight.queries import lattice
from pnsight_experiments import DECISIONS, Results, Setting, decision_tables, refuse_exact_learners, run
from pnsight_experiments.deciding import (
    SHARES,
    TOP,
    fit_and_decide,
    ranking_scores,
    selection_scores,
    sure_gain,
    top_scores,
)
from pnsight_experiments.scores import Truth, confidence_scores, truth

SMALL = populations.random_population("tree", 1, covariates=4)


def unlimited(population: populations.Population) -> pnsight.PlugIn:
    """The plug-in of a study with exactly the population's shares: nothing is left to chance."""
    profiles = lattice.all_profiles(population.schema)
    mass, types = population.mixture(profiles)
    cells = 1e6 * mass[:, None] * (types @ TWO_BY_TWO.incidence.T)
    return pnsight.PlugIn().fit(pnsight.Study.from_tables(population.schema, profiles, cells[:, :4] / 2, cells[:, 4:]))


# --- unlimited data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mediator", "tree-dependent:1"])
def test_with_unlimited_data_nothing_is_lost_and_every_promise_is_kept(name):
    population = populations.get(name)
    found = selection_scores(population, unlimited(population))
    for share in SHARES:
        assert found[f"delivered_{share}"] == pytest.approx(found[f"oracle_gain_{share}"], rel=1e-9)
        assert found[f"promised_{share}"] == pytest.approx(found[f"delivered_{share}"], rel=1e-9)


@pytest.mark.parametrize("name", ["mediator", "tree-dependent:1"])
def test_with_unlimited_data_the_best_are_the_oracles_and_none_is_too_high(name):
    population, known = populations.get(name), truth(name)
    model = unlimited(population)
    found = top_scores(known, population.mixture(known.codes)[0], model.bounds(known.codes).lower)
    for what in ("groups", "profiles"):
        assert found[f"{what}_right"] == 1
        assert found[f"{what}_true_lower"] == pytest.approx(found[f"{what}_oracle_lower"], abs=1e-9)
    listed = ranking_scores(population, model)
    assert listed["rank_listed"] > 0
    assert listed["rank_overstated"] == pytest.approx(0, abs=1e-9)


# --- budgets -----------------------------------------------------------------------------------------------


def test_enough_for_all_gains_what_all_of_them_gain():
    profiles = lattice.all_profiles(SMALL.schema)
    everyone = SMALL.mixture(profiles)[0] @ SMALL.bounds(profiles).lower
    assert sure_gain(SMALL, profiles, 1.0) == pytest.approx(everyone)


def test_a_budget_goes_to_the_first_of_the_list_and_part_of_the_next():
    first, second = profiles = lattice.all_profiles(SMALL.schema)[[5, 9]]
    (mass, _), lower = SMALL.mixture(profiles)[0], SMALL.bounds(profiles).lower
    share = mass + 0.001
    assert sure_gain(SMALL, np.stack([first, second]), share) == pytest.approx(mass * lower[0] + 0.001 * lower[1])


def test_a_list_that_is_too_short_leaves_the_rest_of_the_budget_unspent():
    profiles = lattice.all_profiles(SMALL.schema)[[5]]
    gained = SMALL.mixture(profiles)[0] @ SMALL.bounds(profiles).lower
    assert sure_gain(SMALL, profiles, 0.9) == pytest.approx(gained)
    assert sure_gain(SMALL, profiles[:0], 0.9) == 0


@given(order=st.permutations(range(16)), share=st.sampled_from(SHARES))
def test_no_order_gains_more_than_the_oracles(order, share):
    profiles = lattice.all_profiles(SMALL.schema)
    best = selection_scores(SMALL, unlimited(SMALL))[f"oracle_gain_{share}"]
    assert sure_gain(SMALL, profiles[list(order)], share) <= best + 1e-12


# --- the best ----------------------------------------------------------------------------------------------

LOWER = np.repeat(np.linspace(0.9, 0.1, TOP + 1), 3)  # each value three times, so the oracle's last has equals
MANY = len(LOWER)
MADE_UP = Truth(np.zeros((MANY, 1), dtype=np.int32), np.ones(MANY, dtype=bool), LOWER, LOWER)


def test_ties_are_no_mistakes():
    assert LOWER[TOP - 1] == LOWER[TOP]
    passed_over = np.where(np.arange(MANY) == TOP - 1, 0.0, LOWER)
    assert top_scores(MADE_UP, np.full(MANY, 0.01), passed_over)["profiles_right"] == 1
    further = np.where(np.arange(MANY) == TOP - 2, 0.0, passed_over)
    further[TOP + 1] = 0.0
    assert top_scores(MADE_UP, np.full(MANY, 0.01), further)["profiles_right"] == 0.99


def test_the_worst_are_all_wrong_and_their_truth_is_told():
    found = top_scores(MADE_UP, np.full(MANY, 0.01), -LOWER)
    assert found["groups_right"] == found["profiles_right"] == 0
    assert found["groups_true_lower"] == pytest.approx(LOWER[-TOP:].mean())
    assert found["groups_oracle_lower"] == pytest.approx(LOWER[:TOP].mean())


def test_groups_that_are_too_small_are_not_among_the_best():
    small_first = np.where(np.arange(MANY) < TOP, 0.009, 0.01)
    found = top_scores(MADE_UP, small_first, LOWER)
    assert found["groups_oracle_lower"] == pytest.approx(LOWER[TOP : 2 * TOP].mean())
    assert found["profiles_oracle_lower"] == pytest.approx(LOWER[:TOP].mean())


def test_what_has_no_answer_is_missing_among_the_best():
    merit = np.where(np.arange(MANY) < TOP // 4, LOWER, np.nan)
    found = top_scores(MADE_UP, np.full(MANY, 0.01), merit)
    assert found["groups_right"] == 0.25
    assert found["groups_true_lower"] == pytest.approx(LOWER[: TOP // 4].mean())
    assert top_scores(MADE_UP, np.full(MANY, 0.01), np.full(MANY, np.nan))["groups_true_lower"] is None


# --- confidence --------------------------------------------------------------------------------------------


def test_confident_where_the_oracle_is_unsure_is_counted_apart_from_contradicted():
    known = Truth(
        codes=np.zeros((4, 1), dtype=np.int32),
        exact=np.array([True, True, True, False]),
        lower=np.array([0.6, 0.1, 0.4, 0.4]),
        upper=np.array([0.9, 0.2, 0.6, 0.6]),
    )
    says_treat = np.array([0.7, 0.7, 0.7, np.nan])
    found = confidence_scores(known, says_treat, says_treat)
    assert (found["exact_answered"], found["mask_answered"]) == (1, 0.75)
    assert (found["exact_confident_0.5"], found["mask_confident_0.5"]) == (1, 0.75)
    assert found["mask_unsure_0.5"] == pytest.approx(1 / 3)
    nobody = confidence_scores(known, np.zeros(4), np.ones(4))
    assert (nobody["mask_confident_0.5"], nobody["mask_unsure_0.5"]) == (0, None)


# --- rows of results ---------------------------------------------------------------------------------------

SETTINGS = [Setting("mediator", 20_000, 1, learner) for learner in ("plug-in", "response-types")]


@pytest.fixture(scope="module")
def finished(quick_default, tmp_path_factory):
    results = Results(tmp_path_factory.mktemp("decided"), DECISIONS)
    assert run(SETTINGS, results) == 2
    return results


def test_the_flagship_has_a_plain_and_a_cautious_row_any_other_a_plain_one(finished):
    assert [(row["learner"], row["caution"]) for row in finished.rows()] == [
        ("plug-in", "plain"),
        ("response-types", "plain"),
        ("response-types", "cautious"),
    ]


def test_caution_decides_less_and_promises_less(finished):
    _, plain, cautious = finished.rows()
    for space in ("exact", "mask"):
        assert cautious[f"{space}_answered"] == plain[f"{space}_answered"] == 1
        for theta in (0.3, 0.5):
            assert cautious[f"{space}_confident_{theta}"] < plain[f"{space}_confident_{theta}"]
    for share in SHARES:
        assert cautious[f"promised_{share}"] < plain[f"promised_{share}"]
        assert cautious[f"delivered_{share}"] <= cautious[f"oracle_gain_{share}"]


def test_what_rank_foretells_is_told_once(finished):
    plug_in, plain, cautious = finished.rows()
    assert plug_in["rank_listed"] > 0
    assert plug_in["rank_foretold"] > 0
    assert plain["rank_foretold"] > 0
    assert cautious["rank_listed"] is None


@pytest.mark.parametrize("lines", [0, 1, 2, 3])
def test_a_run_killed_between_the_rows_of_a_fit_makes_both_again(finished, quick_default, tmp_path, lines):
    content = finished.path.read_text().splitlines(keepends=True)
    killed = Results(tmp_path, DECISIONS)
    killed.path.write_text("".join(content[:lines]) + content[lines][:40])
    run(SETTINGS, killed)
    unlike = ("seconds", "run")
    rows, whole = ([{k: v for k, v in row.items() if k not in unlike} for row in r.rows()] for r in (killed, finished))
    assert rows == whole


def test_both_kinds_of_results_share_a_folder(finished):
    fits = Results(finished.folder)
    run(SETTINGS[:1], fits)
    assert {path.name for path in finished.folder.iterdir()} == {"fits.csv", "decisions.csv", "runs.jsonl"}
    assert len(fits.rows()) == 2
    assert len(finished.rows()) == 3


def test_too_few_examples_become_a_row_with_a_note_and_no_line_of_a_table():
    (row,) = fit_and_decide(Setting("direct-positive", 1_000, 1, "mask-mlp", "999", "queries"))
    assert "training needs" in row["note"]
    assert decision_tables.selection_table([decision_row(), {**decision_row(), **row}])["fits"] == [1] * 6


def test_learners_that_do_not_answer_all_queries_are_refused():
    with pytest.raises(PnsightError, match="exact-mlp answers exact queries only"):
        refuse_exact_learners([Setting("mediator", 5_000, 1, "exact-mlp", "300", "queries")])


# --- tables ------------------------------------------------------------------------------------------------


def test_tables_begin_with_the_means_and_put_random_populations_of_a_kind_together():
    rows = [decision_row(population=name) for name in ("tree:101", "tree:102", "mediator")]
    columns = decision_tables.top_table(rows)
    assert columns["population"] == ["all of the catalog", "all random", "mediator", "tree"]
    assert columns["fits"] == [1, 2, 1, 2]


def test_a_loss_is_a_share_of_what_the_oracle_gains_in_all():
    rows = [
        decision_row(**{"oracle_gain_0.1": 0.03, "delivered_0.1": 0.02, "promised_0.1": 0.04}),
        decision_row(**{"oracle_gain_0.1": 0.01, "delivered_0.1": 0.01, "promised_0.1": 0.005}, seed=2),
    ]
    line = {name: values[0] for name, values in decision_tables.selection_table(rows).items()}
    assert (line["budget"], line["oracle"], line["delivered"]) == ("10%", "0.0200", "0.0150")
    assert (line["lost"], line["lost of it"]) == ("0.0050", "25.0%")
    assert (line["short of promise"], line["kept"]) == ("0.0075", "1 of 2")


def test_where_nothing_can_be_gained_no_share_of_it_is_lost():
    rows = [decision_row(**{"oracle_gain_0.1": 0.0, "delivered_0.1": 0.0, "promised_0.1": 0.001})]
    line = {name: values[0] for name, values in decision_tables.selection_table(rows).items()}
    assert (line["lost"], line["lost of it"], line["kept"]) == ("0.0000", "", "0 of 1")


def test_decisions_have_a_line_for_each_space_and_blanks_where_nobody_was_confident():
    columns = decision_tables.decision_table([decision_row(**{"exact_wrong_0.5": None})])
    assert columns["space"][:2] == ["exact", "mask"]
    assert columns["wrong at 0.5"][:2] == ["", "1.00%"]
