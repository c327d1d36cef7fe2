"""What a report says is what the model says, for every kind of model, and what a model cannot tell is said to be so."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

import pnsight
from laws import p_y_do_x, p_y_do_x0
from noted import rows_without_treatment_or_outcome
from pnsight import PlugIn
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.decisions import UNCERTAIN, rank
from pnsight.decisions.ranking import NOBODY_KNOWN_HARMED
from pnsight.errors import OutputError, QueryError
from pnsight.notes import Note
from pnsight.output.report import as_plain, summarise, words
from pnsight.output.report import data as values
from pnsight.output.report.data import Answer
from pnsight.output.report.sections import MOST_DOUBTS, MOST_LEVELS
from pnsight.output.wording import between
from pnsight.queries.query import encode
from pnsight.wording import sentence

ENDS = ("lower", "upper", "lower_low", "lower_high", "upper_low", "upper_high")


def assert_same(answer: Answer, table: pnsight.BoundTable, row: int = 0) -> None:
    """A row of a report and a row of a table of bounds."""
    columns = table.columns()
    for name in ("query", "support_experimental", "support_observational", "status"):
        assert getattr(answer, name) == columns[name][row], name
    for name in ENDS:  # sums of many queries at once and of one round differently
        assert getattr(answer, name) == pytest.approx(columns[name][row], abs=1e-12), name


def test_every_number_for_everyone_is_what_the_model_answers(model):
    for headline in summarise(model).everyone:
        if headline.answer is None:
            with pytest.raises(pnsight.PnsightError, match=r"\w"):
                model.bounds("", headline.quantity)
            assert headline.refused
        else:
            assert_same(headline.answer, model.bounds("", headline.quantity))
            assert bool(headline.sentence) == (headline.answer.status == "ok")


def test_every_group_has_the_bounds_and_the_decision_that_the_model_gives(model):
    found = summarise(model, threshold=0.2)
    for groups in (found.levels, found.best, found.harmed):
        for answer in groups.answers:
            assert_same(answer, model.bounds(answer.query, groups.quantity))
            assert answer.share == pytest.approx(model.shares(encode(model.schema, answer.query))[0])
    for answer in (*found.levels.answers, *found.best.answers):
        decided = pnsight.decisions.decide(model, answer.query, 0.2, quantity=found.quantity)
        assert (answer.decision, answer.decision_cautious) == (decided.decision[0], decided.decision_cautious[0])


def test_it_is_plain_data(model):
    def finite(value):
        if isinstance(value, dict):
            return all(finite(part) for part in value.values())
        if isinstance(value, list):
            return all(map(finite, value))
        return not isinstance(value, float) or not math.isnan(value)

    text = json.dumps(as_plain(summarise(model)))
    assert finite(json.loads(text))


def test_plain_law_models_answer_all_parts(models):
    for kind in ("plug-in", "response types"):
        found = summarise(models[kind], payoffs=(100, -60, 0, -140), cost=5)
        assert [headline.quantity for headline in found.everyone] == ["pns", "pn", "ps", "harm"]
        parts = [found.levels, found.best, found.harmed, found.doubts, found.gains, found.benefit.best]
        assert not any(part.refused for part in parts)
        assert found.net.sentence


def test_the_net_effect_is_that_of_the_law(models):
    found, law = summarise(models["response types"]).net, models["response types"].law("")
    assert (found.treated, found.untreated) == (p_y_do_x(law)[0], p_y_do_x0(law)[0])


def test_the_net_effect_has_the_interval_of_those_helped_less_those_harmed(models):
    found = summarise(models["response types"], level=0.8).net
    answer = models["response types"].bounds("", payoffs=(1, 0, 0, -1), level=0.8)
    assert answer.lower[0] == pytest.approx(answer.upper[0])  # it is a number, whichever end one takes
    assert found.treated - found.untreated == pytest.approx(answer.lower[0])
    for end in ("lower", "upper"):
        assert (found.low, found.high) == pytest.approx(tuple(side[0] for side in answer.interval(end)))


def test_without_intervals_the_net_effect_has_none(models):
    found = summarise(models["without intervals"]).net
    assert (found.low, found.high) == (None, None)
    assert found.sentence


def test_a_bound_regressor_tells_its_own_quantity_and_what_it_cannot(models):
    found = summarise(models["mask"])
    assert [headline.quantity for headline in found.everyone] == ["pns"]
    assert not found.net.sentence
    assert "cannot bound harm" in found.harmed.refused
    assert found.level is None
    harm = summarise(models["mask of harm"])
    assert harm.quantity == "harm"
    assert "not what treating a person brings" in harm.gains.refused


def test_exact_mlp_answers_complete_profiles_only(models):
    found = summarise(models["exact"])
    for part in (found.everyone[0], found.levels, found.best, found.doubts):
        assert "answers only those" in part.refused
    assert len(found.gains.treated) > 1


def test_an_experiment_alone_has_no_bounds_on_what_people_chose(models):
    found = summarise(models["experiment alone"])
    refused = {headline.quantity: bool(headline.refused) for headline in found.everyone}
    assert refused == {"pns": False, "pn": True, "ps": True, "harm": False}
    assert found.data.observational_rows is None
    assert words.EXPERIMENT_ALONE in found.bounds
    assert [part.name for part in found.check.parts] == ["support", "balance", "overlap", "columns"]


def test_without_covariates_there_is_everyone_only(models):
    found = summarise(models["no covariates"])
    assert [answer.name for answer in found.levels.answers] == ["everyone"]
    assert not found.data.covariates


def test_an_observational_table_alone_says_nothing_of_treatment(models):
    found = summarise(models["observational alone"])
    assert found.everyone[0].answer.status == "undefined"
    assert not found.net.sentence
    assert len(found.gains.treated) < 2


def test_groups_in_doubt_are_the_largest_uncertain_levels_with_what_ask_says(fitted):
    threshold = 0.2
    found = summarise(fitted, threshold=threshold)
    uncertain = [answer for answer in found.levels.answers if answer.decision_cautious == UNCERTAIN]
    assert uncertain
    largest = sorted(uncertain, key=lambda answer: -answer.share)[:MOST_DOUBTS]
    assert [doubt.group for doubt in found.doubts.groups] == largest
    for doubt in found.doubts.groups:
        asked = pnsight.ask(fitted, doubt.group.query, threshold, cautious=True)
        assert doubt.advice == str(asked.advice)
        columns = asked.columns()
        worth = [(name, p) for name, p in zip(columns["covariate"], columns["changes"], strict=True) if p]
        assert [(question.covariate, question.changes) for question in doubt.questions] == worth[:3]


def test_the_curve_of_gains_is_that_of_select(fitted):
    found, curve = summarise(fitted).gains, pnsight.select(fitted, 1.0).curve()
    for name in ("treated", "guaranteed", "net", "best_case"):
        assert set(getattr(found, name)) <= set(curve[name])
        assert getattr(found, name)[-1] == curve[name][-1]


def two_kinds(b: tuple[float, float]) -> PlugIn:
    """Everybody responds if treated at 0.6; untreated, each of two halves at its own share, who all choose alike."""
    schema = Schema((Covariate("sex", ("F", "M")),))
    experimental = np.array([[0.6, 0.4, share, 1 - share] for share in b]) * 10_000
    observational = np.array([[0.3, 0.2, share / 2, (1 - share) / 2] for share in b]) * 10_000
    return PlugIn().fit(Study.from_tables(schema, np.array([[0], [1]], np.int32), experimental, observational))


def test_that_profiles_added_up_are_bounded_more_tightly_than_their_average_is_explained():
    model = two_kinds((0.1, 0.59))
    found = summarise(model)
    whole, refined = model.bounds(""), model.bounds("", refine="covariates")
    assert found.gains.best_case[-1] == pytest.approx(refined.upper[0])
    assert refined.upper[0] < whole.upper[0] - 0.001
    assert words.added_up((whole.lower[0], whole.upper[0]), (refined.lower[0], refined.upper[0])) in found.gains.reading
    assert f"{refined.upper[0]:.3f} here" in found.gains.reading[-1]


def test_there_is_nothing_to_explain_where_profiles_are_alike():
    assert summarise(two_kinds((0.3, 0.3))).gains.reading == (words.SAME_NET,)


def test_a_net_gain_below_the_gain_at_least_is_not_said_to_be_the_same(plug_in):
    found = summarise(plug_in).gains
    assert (words.SAME_NET in found.reading) == found.net_is_least
    assert not replace(found, net=tuple(least - 0.01 for least in found.guaranteed)).net_is_least
    assert not replace(found, net=(None,) * len(found.net)).net_is_least


def reversing() -> PlugIn:
    """Treating old people helps few of them, but half of the few old women."""
    schema = Schema((Covariate("age", ("young", "old")), Covariate("sex", ("F", "M"))))
    profiles, rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32), np.array([1.0, 1.0, 0.3, 1.7])
    anyway, helped = np.array([0.4, 0.4, 0.4, 0.1]), np.array([0.2, 0.2, 0.5, 0.0])
    cells = np.stack([anyway + helped, 1 - anyway - helped, anyway, 1 - anyway], axis=1)
    counts = 5_000 * rows[:, None] * cells
    return PlugIn().fit(Study.from_tables(schema, profiles, counts, counts))


def test_a_verdict_that_turns_round_where_more_is_known_is_shown_as_an_example():
    found = summarise(reversing(), threshold=0.45)
    decisions = {answer.name: answer.decision for answer in (*found.levels.answers, *found.best.answers)}
    assert decisions["age = old"] == "not"
    assert decisions["age = old, sex = F"] == "treat"
    assert found.turned.startswith("Here age = old by itself is not to be treated, but 1 of the ")
    assert "go by the most that is known" in found.most_known


def test_no_verdict_turns_round_where_none_is_against_treating(fitted):
    assert summarise(fitted, threshold=0.0).turned == ""


def test_a_report_bears_the_day_it_is_told_to(plug_in, monkeypatch):
    assert summarise(plug_in, made=date(2026, 1, 31)).made == "2026-01-31"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert as_plain(summarise(plug_in))["made"] == "1970-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(OutputError, match="SOURCE_DATE_EPOCH is 'yesterday'; expected whole seconds since 1970"):
        summarise(plug_in)


def test_without_being_told_a_report_bears_the_day_it_is(plug_in, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    before = datetime.now().astimezone().date()
    assert before <= date.fromisoformat(summarise(plug_in).made) <= datetime.now().astimezone().date()


def test_where_a_threshold_comes_from_is_said(plug_in):
    assert summarise(plug_in, threshold=0.35).about_threshold.startswith("The threshold, here 0.35, is not found in")


def test_benefit_is_compared_with_its_cost(models):
    found = summarise(models["plug-in"], payoffs=(100, -60, 0, -140), cost=1_000).benefit
    assert found.everyone.answers[0].decision == "not"
    assert found.cost == 1_000
    assert_same(found.everyone.answers[0], models["plug-in"].bounds("", payoffs=(100, -60, 0, -140)))


def test_a_cost_without_payoffs_is_refused(plug_in):
    with pytest.raises(QueryError, match="a cost of 5 is given, but no payoffs"):
        summarise(plug_in, cost=5)


def test_nobody_known_to_be_harmed_is_said_to_be_so(fitted):
    found = summarise(fitted).harmed
    assert all(answer.lower > 0 for answer in found.answers)
    if not found.answers:
        assert found.notes == (str(NOBODY_KNOWN_HARMED),)


def test_the_data_are_told_with_their_coding_and_what_is_left_out(fitted):
    data = summarise(fitted).data
    assert (data.treatment, data.treated, data.outcome, data.success) == ("drug", "yes", "well", "healthy")
    assert data.experimental_rows == data.observational_rows == 5_000
    assert data.dropped == {str(rows_without_treatment_or_outcome()): 3}
    assert [covariate.name for covariate in data.covariates] == ["sex", "age", "site"]


def test_the_check_is_that_of_the_study(plug_in):
    found, check = summarise(plug_in).check, pnsight.check(plug_in.study)
    assert (found.ok, found.verdict) == (check.ok, "usable")
    told = {part.name: (part.status, part.text) for part in found.parts}
    assert told == {name: (verdict.status, verdict.text) for name, verdict in check.verdicts.items()}


def test_with_small_counts_withheld_what_is_left_is_checked(fitted):
    found = summarise(fitted, min_cell=10).check
    assert found == summarise(pnsight.suppress(fitted, 10)).check
    assert "taken out before" in found.summary


def test_many_levels_are_cut_to_those_most_people_have():
    schema = Schema((Covariate("town", tuple(f"town {k:02}" for k in range(60))),))
    counts = np.full((60, 8), 40.0) * np.arange(1, 61)[:, None]
    model = PlugIn().fit(
        Study.from_tables(schema, np.arange(60, dtype=np.int32)[:, None], counts[:, :4], counts[:, 4:])
    )
    found = summarise(model).levels
    assert len(found.answers) == MOST_LEVELS + 1
    assert [answer.name for answer in found.answers[:2]] == ["everyone", "town = town 20"]
    assert found.notes == (str(Note("rarer_levels_not_shown", {"levels": 20})),)


def test_the_best_groups_are_those_that_rank_lists(plug_in):
    found, ranked = summarise(plug_in).best, rank(plug_in, 10)
    assert [answer.lower for answer in found.answers] == list(ranked.answers.lower[: len(found.answers)])
    assert {sentence(note.kind, note.values, "page") for note in ranked.notes} >= set(found.notes)


def test_progress_names_each_part(plug_in):
    told = []
    summarise(plug_in, progress=lambda done, total, note: told.append((done, total, note)))
    assert [done for done, _, _ in told] == list(range(8))
    assert told[0][2] == "checking the tables"


def test_all_parts_are_values():
    """Frozen, all the way down."""
    classes = [found for found in vars(values).values() if is_dataclass(found)]
    assert len(classes) > 10
    for found in classes:
        assert found.__dataclass_params__.frozen
        assert fields(found)


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (0.123, 0.456, "at least 12.3% and at most 45.6%"),
        (0.0, 0.456, "at most 45.6%"),
        (0.123, 1.0, "at least 12.3%"),
        (0.0, 1.0, "anything from none to all"),
        (0.2791, 0.2794, "27.9%"),
        (0.0002, 0.456, "at most 45.6%"),
        (0.123, 0.9998, "at least 12.3%"),
        (0.0, 0.0002, "less than 0.1%"),
        (0.9998, 1.0, "more than 99.9%"),
        (0.0, 0.0, "0.0%"),
    ],
)
def test_bounds_are_said_without_ends_that_say_nothing(lower, upper, said):
    assert between(lower, upper) == said


@pytest.mark.parametrize(
    ("treated", "untreated", "said"),
    [(0.5, 0.2, "30.0% more on balance"), (0.2, 0.5, "30.0% fewer"), (0.4, 0.4, "as many on balance")],
)
def test_the_net_effect_is_said_in_words(treated, untreated, said):
    assert said in words.net_sentence(treated, untreated)


def test_the_works_to_cite_are_those_of_the_citation_file():
    facts = (Path(__file__).parents[3] / "CITATION.cff").read_text(encoding="utf-8")
    told = " ".join(words.CITATIONS)
    for fact in (
        "Learning Probabilities of Causation with Mask-Augmented Data",
        "Probabilities of causation: Bounds and identification",
        "Annals of Mathematics and Artificial Intelligence",
    ):
        assert fact in facts
        assert fact in told
    for name in ("Wang", "Sun", "Pearl", "Li", "Tian", "287", "313", "2000", "Apache-2.0", pnsight.__version__):
        assert name in facts
        assert name in told


def test_a_model_with_another_default_quantity_is_still_reported_by_pns():
    study = populations.random_population("index", 1, covariates=3).sample(2_000, 2_000, seed=1)
    assert summarise(PlugIn(quantity="pn").fit(study)).quantity == "pns"
