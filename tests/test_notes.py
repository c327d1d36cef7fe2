"""Notes are data: they compare, survive JSON and are worded in one place."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from pnsight import wording
from pnsight.notes import Note, sentences

RARE = Note("rare_levels_merged", {"covariate": "town", "levels": ["Cluny", "Dol"]}, "info")

SIDES = {
    "left": {"text": "P(x,y)", "where": "observational", "value": 0.45},
    "right": {"text": "P(y_x)", "where": "experimental", "value": 0.1},
}
CONTRADICTION = {"group": "sex=M", "pooled": False, **SIDES, "excess": 0.35, "low": 0.3, "high": 0.4}
SAID = (
    "For sex=M, P(x,y) is 0.450 in the observational table, but P(y_x) only 0.100 in the experiment: 0.350 too much "
    "(0.300 to 0.400)."
)
MONOTONE = "assumed: monotone (nobody is harmed by the treatment)"
DECISION = {"quantity": "pns", "lower": 0.6, "upper": 0.9, "threshold": 0.5, "status": "ok"}
ROWS = {"basis": "", "trial": None, "rows": [1200, 3]}

BROKEN_LIMIT = {
    "assumed": ["correlation>=0"],
    "group": "sex=male",
    "kind": "correlation",
    "value": -0.1,
    "errors": 0.73,
}

SENTENCES = {
    "sites_added": (
        {
            "sites": [
                {"site": "north", "table": "experimental"},
                {"site": "south", "table": "experimental"},
                {"site": "register", "table": "observational"},
            ]
        },
        "added up from 2 experimental tables (north, south) and 1 observational table (register)",
    ),
    "withheld_at_sites": (
        {"sites": [{"site": "north", "table": "experimental", "share": 0.18}], "share": 0.15, "wider": 0.085},
        "of their people, sites withhold about: north 18%. With 15% of a table missing, intervals are about 8% wider "
        "than with everybody, and shares of everybody could differ by up to 0.15 if those who are missing respond "
        "otherwise",
    ),
    "sites_agree": (
        {"tests": 21, "smallest": 0.4, "compared": 0.6},
        "sites do not differ among people who are alike (smallest p-value of 21 looks, corrected: 0.4, of 60% of the "
        "people).",
    ),
    "sites_differ": (
        {
            "sites": [
                {
                    "site": "west",
                    "others": ["north", "south"],
                    "cell": "y_x",
                    "share": 0.5524,
                    "other_share": 0.39,
                    "adjusted": 0.001,
                },
                {"site": "north", "others": ["south"], "cell": "all cells", "share": None, "adjusted": 0.02},
            ]
        },
        "people who are alike differ between sites: y_x has 0.552 of them at west and 0.390 at the others (p = 0.001, "
        "corrected); north from south (p = 0.02, corrected). Answers are averages over sites; to have them apart, let "
        "each site add a column with its name before it counts.",
    ),
    "sites_not_compared": (
        {},
        "no profile has people at two sites that could be compared; coarser covariates would help.",
    ),
    "covariates_left_open": (
        {"covariates": ["age", "sex"]},
        "covariates without a column, left open for everybody: age, sex",
    ),
    "columns_renamed": (
        {"columns": {"status": "status_given"}},
        "columns of the table that have the name of an answer's column: status is now status_given",
    ),
    "people_scored": (
        {"people": 1200, "decisions": [{"decision": "treat", "people": 1000}, {"decision": "", "people": 200}]},
        "1,200 rows scored: treat 1,000, no decision 200",
    ),
    "people_extrapolated": (
        {"people": 3, "of": 1200},
        "no decision for 3 of 1,200 rows: extrapolated: nobody like this was seen; --extrapolate (extrapolate=True) "
        "decides all the same",
    ),
    "people_contradicted": (
        {"people": 3, "of": 1200},
        "no answer from both tables for 3 of 1,200 rows: no population fits both. What the trial alone says is in "
        "trial_lower and trial_upper; --trial-alone goes on with that",
    ),
    "people_invalid": (
        {"people": 1, "of": 1200, "row": 7, "problem": "covariate 'sex' has no level 'x'; it has f, m."},
        "1 of 1,200 rows cannot be read: their status is invalid, and the column problem says why. The first is row "
        "7: covariate 'sex' has no level 'x'; it has f, m.",
    ),
    "remark": ({"text": "as it is {so}"}, "as it is {so}"),
    "rows_counted_once": (
        {"table": "experimental", "column": "w"},
        "rows of the experimental table count once each: it has no column 'w'",
    ),
    "rows_independent": (
        {"table": "observational", "column": "household"},
        "rows of the observational table are taken to be independent: it has no column 'household'",
    ),
    "coded_differently": (
        {"column": "well"},
        "well is 0 or 1 in one table and false or true in the other; 1 is taken to mean true",
    ),
    "rows_worth": (
        {
            "table": "experimental",
            "rows": 3210.0,
            "worth": 1900.4,
            "unequal": True,
            "clusters": 812,
            "unclustered": 12.0,
        },
        "3,210 experimental rows weigh unequally, come in 812 clusters (12 of them in none, and each by itself) and "
        "are worth 1,900",
    ),
    "rows_reweighted": (
        {"column": "p"},
        "experimental rows are reweighted by column 'p', as if a fair coin had decided",
    ),
    "other_versions": (
        {
            "others": [
                {"library": "jax", "then": "0.6.0", "here": "0.7.1"},
                {"library": "scipy", "then": "", "here": "2"},
            ]
        },
        "this model was fitted with jax 0.6.0, scipy (not known) and is read with jax 0.7.1, scipy 2: its answers may "
        "differ in their last digits, and those of a model fitted again to the same tables, with the same seed, by "
        "some thousandths; install the versions that fitted it to get the same",
    ),
    "numeric_covariates": (
        {"covariates": ["age", "visit"], "origins": {"visit": "2024-01-31"}},
        "age, visit are numbers and not cut into bands; visit counts days since 2024-01-31 (--numeric, --bands)",
    ),
    "numbers_drawn": (
        {"covariates": ["age"], "bands": 3},
        "numbers of age were drawn anew within up to 3 bands each, from counts none of which is small: none is "
        "anybody's, and within a band people are taken to be alike",
    ),
    "table_sampled": (
        {"table": "observational", "drawn": 500_000, "of": 2_000_000},
        "nearly every row of the observational table differs from all others: about 500,000 of its 2,000,000 rows "
        "(25%) were drawn, always the same ones, and the rest is not used",
    ),
    "groups_sampled": (
        {"table": "observational", "drawn": 500_000, "of": 50_000_000, "groups": 4_000_000},
        "the observational table has 4,000,000 distinct profiles or more: about 500,000 of its 50,000,000 rows (1%) "
        "were drawn, always the same ones, and the rest is not used",
    ),
    "averaged_near": (
        {"widths": [{"covariate": "age", "within": 1.5}]},
        "a number with other covariates left open is averaged over people near it, as if they had it: age within 1.5 "
        "of the number asked about",
    ),
    "fewer_bands": (
        {"covariate": "age", "found": 2, "wanted": 4},
        "age has 2 bands, not 4: many rows share a number",
    ),
    "rare_levels_merged": (
        {"covariate": "town", "levels": ["Cluny", "Dol"]},
        "town: rare levels that became 'other': Cluny, Dol",
    ),
    "single_level": (
        {"covariate": "country", "level": "UK"},
        "country is UK in every row; it is kept, but distinguishes nobody",
    ),
    "rows_without_treatment_or_outcome": (
        {"table": "experimental"},
        "experimental rows without treatment or outcome",
    ),
    "rows_without_covariates": (
        {"table": "observational", "covariates": ["sex", "dose"]},
        "observational rows without sex, dose",
    ),
    "counts_withheld": (
        {"min_cell": 5, "tables": [{"table": "experimental", "rows": 60.0, "of": 1000.0}]},
        "counts below 5 are withheld: about 60 of 1,000 experimental rows (6%)",
    ),
    "columns_kept": (
        {"columns": ["id", "ward"]},
        "columns that are not covariates, kept as they are: id, ward",
    ),
    "edges_published": (
        {"covariates": ["age", "income"]},
        "bands of age, income were cut at quantiles, which are numbers that somebody has, and are in the model; give "
        "the edges with --bands to publish none",
    ),
    "people_with_counts_only": (
        {"share": 0.06},
        "answers are about the people whose counts are left, who may respond otherwise than all: 6% of a table is "
        "withheld; fewer or coarser covariates withhold less",
    ),
    "check_summary": (
        {"failed": ["coherence"], "warned": ["support"]},
        "Not usable as it is: coherence failed; 1 warning (support).",
    ),
    "support": (
        {"people": 0.5, "profiles": 0.25, "queries": 0.75, "rows": 300, "alone": False, "drawn": 300},
        "50% of people have a profile with at least 300 rows in each table, as have 25% of possible profiles and 75% "
        "of all groups that can be asked about (of 300 drawn at random).",
    ),
    "scarce_support": ({}, "Fewer rows say little by themselves: use a model that learns across profiles."),
    "profiles_in_one_table": (
        {"experimental": 1, "observational": 2, "of_experimental": 1 / 3, "of_observational": 1 / 4},
        "In one table only: 1 profile of the experimental table (33% of its rows), 2 of the observational one (25%).",
    ),
    "balance_without_covariates": ({}, "no covariates, so nothing that could predict treatment."),
    "treatment_unpredictable": (
        {"tests": 11, "smallest": 0.24},
        "covariates do not predict treatment (smallest p-value of 11 looks, corrected: 0.24).",
    ),
    "treatment_chosen": (
        {"stratification": ["a", "b"], "unexplained": ["c"]},
        "treatment depends on a, b and, among people alike in those, on c: it looks chosen, not randomised. Are the "
        "tables in the right order?",
    ),
    "positivity_violated": (
        {"share": 1.0, "stratification": ["c"]},
        "100% of people are at levels of c where all have the same treatment: it was not randomised.",
    ),
    "allocation_by_combinations": (
        {"p_value": 0.001},
        "allocation seems to differ between combinations of covariates (p = 0.001, corrected), though by none alone.",
    ),
    "allocation_differs": (
        {
            "stratification": [{"covariate": "b", "least": 0.5, "most": 0.67}],
            "unexplained": [],
            "explained": True,
            "one_armed": 0.25,
        },
        "allocation differs by b (share treated 0.50 to 0.67); given that, covariates do not predict treatment; 25% of "
        "people are at levels where all have the same treatment. Fix b in queries: rows pooled over it mislead.",
    ),
    "shift_without_covariates": ({}, "no covariates, so nothing the tables could mix differently."),
    "same_mix": (
        {"tests": 3, "smallest": 0.5},
        "both tables have the same mix of covariates (smallest p-value of 3 looks, corrected: 0.5).",
    ),
    "small_covariate_shift": (
        {"covariates": []},
        "the tables differ in combinations of covariates, though in none alone, but by little.",
    ),
    "covariate_shift": (
        {"covariates": [{"covariate": "town", "difference": 0.447}]},
        "the tables differ in town (0.45). Answers that leave these open depend on whose mix of people is meant.",
    ),
    "outcomes_missing": ({"share": 0.012}, "1.2% of outcomes are missing, about as often in both arms."),
    "outcomes_missing_by_arm": (
        {
            "table": "experimental",
            "treated": 0.32,
            "untreated": 0.0,
            "difference": 0.32,
            "low": 0.307,
            "high": 0.339,
            "arm": "treated",
            "respond": 0.55,
            "least": 0.374,
            "most": 0.694,
        },
        "in the experiment outcomes are missing for 32.0% of the treated and 0.0% of the untreated, a difference of "
        "0.320 (0.307 to 0.339) that chance does not explain. Those who are left may respond otherwise than those who "
        "are missing: 0.550 of the treated respond among those left, but 0.374 if none of the missing did, and 0.694 "
        "if all did.",
    ),
    "outcomes_missing_by_covariate": (
        {
            "table": "observational",
            "arm": "untreated",
            "covariates": [{"covariate": "age", "least": 0.01, "most": 0.2}],
        },
        "in the observational table how many outcomes of the untreated are missing goes with age (1.0% to 20.0% by "
        "level).",
    ),
    "many_outcomes_missing": (
        {"table": "experimental", "share": 0.12},
        "in the experiment 12.0% of outcomes are missing, about as often in both arms: answers are about those who are "
        "left.",
    ),
    "overlap_without_covariates": ({}, "no covariates, so nothing that could tell the tables' people apart."),
    "covered": (
        {"alone": False, "uncovered": 0.01},
        "the experiment covers the people of the observational table but for 1.0%.",
    ),
    "values_hardly_shared": (
        {"covariates": [{"covariate": "year", "shared": 0.0}]},
        "the tables hardly share a value of year (0.0% of people are at values of both): they seem to be of different "
        "times or places. If the people are alike nevertheless, leave the column out with --covariates.",
    ),
    "hardly_covered": (
        {"share": 0.23, "groups": ["age=80+", "town=e, sex=M"], "more": 2},
        "the experiment hardly covers 23% of the observational table's people: it has less than a tenth of its share "
        "of age=80+; town=e, sex=M and 2 more groups. What it says about them comes from other people.",
    ),
    "one_armed": (
        {"table": "experimental", "levels": [{"level": "town=e", "arm": "treated"}], "more": 1},
        "in the experiment everybody has the same treatment at town=e (all treated) and 1 more level.",
    ),
    "coded_alike": ({}, "nothing suggests that treatment or outcome mean different things in the tables."),
    "recoding_fits": (
        {"what": ["outcome"]},
        "the tables contradict each other, but would not if outcome were coded the other way round in one of them: "
        "check what its values mean.",
    ),
    "responses_mirrored": (
        {"treated": 0.3, "untreated": 0.2, "chose": 0.71, "did_not": 0.78},
        "of the treated and of the untreated 0.30 and 0.20 respond in the experiment, but 0.71 and 0.78 in the "
        "observational table, about one less that: check whether the outcome is coded the other way round in one of "
        "them.",
    ),
    "outcome_constant": (
        {"table": "observational", "responds": True},
        "in the observational table everybody responds, though not in the other table: check how its outcome is coded.",
    ),
    "columns": ({"covariates": 3, "most_levels": 12}, "3 covariates, with at most 12 levels."),
    "numbers_without_bands": (
        {"covariates": [{"covariate": "age", "levels": 73, "rare": 2}]},
        "each distinct number is a level of its own in age (73): cut into bands, as with --bands age=4.",
    ),
    "levels_are_rare": (
        {"covariates": [{"covariate": "town", "levels": 130, "rare": 90}]},
        "most levels have fewer than 10 rows in town (90 of 130): merge them with --merge-rare, or leave the column "
        "out.",
    ),
    "sampled": (
        {
            "table": "experimental",
            "rows": 4546.0,
            "worth": 2486.2,
            "unequal": True,
            "clusters": 1500,
            "unclustered": 0.0,
            "largest": 5.0,
            "split": 3,
            "design_effect": 1.83,
        },
        "4,546 experimental rows weigh unequally and come in 1,500 clusters of up to 5 rows, 3 of them in several "
        "arms; they are worth 2,486 (design effect 1.83).",
    ),
    "few_clusters": (
        {"table": "experimental", "clusters": 7},
        "an arm of the experiment has only 7 clusters: how much they vary is itself uncertain, and so is every "
        "interval.",
    ),
    "no_population_fits": ({}, "no population fits both tables."),
    "contradiction": (CONTRADICTION, SAID),
    "also_contradicted": ({"groups": ["town=b", "town=e"]}, "Also: town=b; town=e."),
    "subgroups_contradicted": (
        {"broken": 3, "subgroups": 1200},
        "Subgroups that break an inequality: 3 of 1,200.",
    ),
    "nothing_compared": ({}, "nothing could be compared: no profile has rows in both tables."),
    "no_contradiction": (
        {"subgroups": 1, "comparisons": 4, "detectable": 0.02},
        "no contradiction in 1 subgroup (4 comparisons); for everyone, a contradiction of 0.020 would have been "
        "noticed.",
    ),
    "pairs_not_compared": ({}, "Pairs of covariates were too many to look at."),
    "little_compared": (
        {"share": 0.1},
        "But only 10% of the rows are in profiles that both tables have: check again with fewer covariates.",
    ),
    "assignment_varies": (
        {"variation": 0.6},
        "the experiment treats some profiles more often than others (shares vary by 60%)",
    ),
    "mix_varies": (
        {"variation": 0.2},
        "the two tables mix the covariates differently (shares vary by 20%)",
    ),
    "rows_pooled": (
        {"assignment": None, "mix": 0.2},
        "the two tables mix the covariates differently (shares vary by 20%); this model adds up rows, so its answers "
        "mislead where a query leaves covariates open. Use --model response-types, or plug-in with --mix profiles, and "
        "--population to say whose mix; against the first --assignment helps too, where the probability of treatment "
        "is known.",
    ),
    "tables_contradict": (
        {"found": CONTRADICTION},
        f"the tables contradict each other. {SAID} See: pnsight check",
    ),
    "people_averaged": ({"population": "pooled"}, "averaged over the people of both tables"),
    "answers_contradicted": (
        {"contradicted": 2, "of": 3},
        "no answer from both tables for 2 of 3 groups asked about: no population fits both. What the trial alone says "
        "is in trial_lower and trial_upper; --trial-alone goes on with that",
    ),
    "same_for_everyone": (
        {},
        "the rows gave no reason to tell people apart: the estimate is the same for everyone, and the intervals allow "
        "for differences that so few rows cannot rule out",
    ),
    "random_effects": (
        {},
        "no network told people apart better than chance; groups differ only as far as their own rows and those of "
        "people like them show, and the intervals allow for differences that the rows cannot rule out",
    ),
    "trial_alone": ({}, "from the experiment alone, and of its people: the observational table is not used"),
    "payoffs": (
        {"complier": 100, "always": -60, "never": 0, "defier": -140},
        "payoffs: helped 100, always -60, never 0, harmed -140",
    ),
    "refined": ({}, "refined: the average of the profiles' own bounds"),
    "no_experiment": (
        {},
        "no experimental row says what treatment does; an observational table alone answers under assume='exogenous' "
        "(--assume exogenous) only",
    ),
    "assumption_untestable": (
        {"assumed": ["monotone"]},
        f"{MONOTONE}; nothing in the tables could contradict it, as no profile has rows on both sides",
    ),
    "assumption_not_contradicted": (
        {"assumed": ["monotone"], "subgroups": 3, "comparisons": 9, "detectable": 0.05},
        f"{MONOTONE}; not contradicted in 3 subgroups (9 comparisons); for everyone, a contradiction of 0.050 would "
        "have been noticed",
    ),
    "assumption_contradicted_elsewhere": (
        {"assumed": ["monotone"], "subgroups": 3, "comparisons": 9, "elsewhere": ["sex=M"]},
        f"{MONOTONE}; not contradicted for those asked about, among 3 subgroups (9 comparisons), but for sex=M",
    ),
    "assumption_contradicted": (
        {
            "assumed": ["monotone"],
            "implies": "P(y) <= P(y_x)",
            "found": CONTRADICTION,
            "comparisons": 9,
            "adjusted": 0.001,
            "also": ["town=b"],
            "more": True,
            "others_may_be_asked": True,
        },
        f"{MONOTONE}. The tables contradict it, as it implies P(y) <= P(y_x). {SAID} P-value, corrected for 9 "
        "comparisons: 0.001. Also: town=b; more subgroups. Leave the assumption out, or ask about other people.",
    ),
    "median_unbiased": (
        {},
        "ends are moved outwards until each claims too much at most half of the time (half-median-unbiased): the "
        "largest of several noisy estimates is too large, the smallest too small",
    ),
    "simultaneous": (
        {"answers": 1200, "level": 0.9},
        "the intervals of these 1,200 answers hold together with a confidence of 90% (Bonferroni), and so are wider",
    ),
    "noisy_profiles": (
        {"share": 0.001, "rows": 300},
        "less than 1% of people have a profile with fewer than 300 rows in an arm or table: its noise makes refined "
        "bounds look tighter than they are; use a response-types model",
    ),
    "people_left_out": (
        {"answers": 1, "of": 2, "share": 0.04, "refined": False},
        "1 of 2 answers leave out people who have a profile that lacks rows in one arm or table, at most 4.0% of those "
        "asked about",
    ),
    "queries_unanswered": (
        {"queries": 1, "of": 2, "share": 0.05, "refined": True},
        "1 of 2 queries have no answer: more than 5% of those asked about have a profile that lacks rows in one arm or "
        "table, or whose bounds cross; use fewer or coarser covariates",
    ),
    "per_hundred": (
        {
            "people": ["Sex = female"],
            "among": "",
            "arm": "the drug",
            "reference": "",
            "outcome": "recovered",
            "better": "",
            "with_arm": [0.49, 0.49],
            "with_reference": [0.2, 0.21],
            "helped": [0.28, 0.43],
            "harmed": [0.001, 0.15],
            "extrapolated": True,
        },
        "of 100 people with Sex = female, 49 have recovered with the drug, 20 to 21 without it; the drug makes the "
        "difference for 28 to 43; it harms fewer than 1 to 15 (extrapolated: nobody like this was seen)",
    ),
    "harm_and_net": (
        {"arm": "the drug", "reference": "", "outcome": "recovered", "harmed": [0.0, 0.15], "net": [-0.03, 0.28]},
        "the drug harms 0 to 15 of 100; in all, from 3 fewer to 28 more have recovered with the drug than without it",
    ),
    "encoding_guessed": (
        {"encoding": "cp1252"},
        "the text is not in UTF-8; it was read as cp1252 (Latin-1)",
    ),
    "per_hundred_chance": (
        {"level": 0.9, "helped": [0.25, 0.46], "harmed": [0.0, 0.999]},
        "allowing for chance, with 90% confidence each: helped 25 to 46, harmed 0 to more than 99",
    ),
    "per_hundred_unanswered": (
        {"people": [], "among": "who do as assigned", "status": "undefined"},
        "of 100 people who do as assigned, how many are helped and how many harmed cannot be said: one of the tables "
        "has no row of them that could tell",
    ),
    "decision": (
        {"decision": "treat", **DECISION, **ROWS, "interval": {"level": 0.9, "reaches": 0.55, "agrees": True}},
        "treat: pns is at least 0.600, not below 0.5, and the 90% interval of that bound reaches 0.550, on the same "
        "side (rows: 1,200 experimental, 3 observational).",
    ),
    "decisions_counted": (
        {"treat": 1200, "not_": 0, "uncertain": 1, "unanswered": 2},
        "1,203 decisions: treat 1,200, uncertain 1, no answer 2",
    ),
    "choices_counted": (
        {"treat": 1200, "not_": 0, "leave": 3, "uncertain": 1, "unanswered": 2},
        "1,206 decisions: treat 1,200, leave 3, uncertain 1, no answer 2",
    ),
    "choice_decision": (
        {"decision": "leave", "usual": 0.7, "if_treated": 0.49, "if_untreated": 0.21, "rows": [1200, 3]},
        "leave it to them: 0.700 respond if they choose for themselves, 0.490 if treated, 0.210 if not (rows: 1,200 "
        "experimental, 3 observational).",
    ),
    "usual_care_better": (
        {"groups": 2, "of": 5, "query": "sex=M", "group": "Sex = men", "treat": True, "fewer": 0.21},
        "for 2 of 5 groups, most for Sex = men, usual care is better: 0.210 fewer respond if all are treated than if "
        "they choose for themselves; decide --leave (leave=True) weighs that too",
    ),
    "usual_care_beats_rule": (
        {
            "queries": 1,
            "of": 1,
            "query": "",
            "group": "everyone",
            "usual": 0.55,
            "rule": 0.54,
            "choice": 0.56,
            "surely": False,
        },
        "usual care has more respond (0.5500) than the best rule by covariates (0.5400), though that may be chance: "
        "people know something that the covariates do not show. A rule that also goes by what they would choose has "
        "0.5600",
    ),
    "size_of_subgroups": (
        {"subgroups": 4, "simultaneous": True},
        "rows of all 4 subgroups together, which are equally large, with intervals that hold together (Bonferroni)",
    ),
    "size_worst_only": (
        {},
        "in the worst case only: give guesses (--prevalence, prevalence=) or a pilot (--pilot, pilot=) for what is "
        "expected",
    ),
    "validation_groups": (
        {"groups": 1200, "rows": 300},
        "bounds were compared 1,200 times, in groups that fix up to 2 covariates and have at least 300 held-out rows "
        "in each arm and in the registry",
    ),
    "validation_without_groups": (
        {"rows": 300},
        "no group has 300 held-out rows in each arm and in the registry, so bounds were not compared; hold more out, "
        "or gather more rows",
    ),
    "opinions_agree": (
        {"groups": 12},
        "the second opinion agrees with the model, within chance, on 12 groups",
    ),
    "opinions_differ": (
        {"queries": ["XX", "1X"], "of": 5, "tighter": True},
        "the two differ beyond chance on 2 of 5 groups (everyone, 1X): the model claims more than the rows bear "
        "out: go by the second opinion there, which holds whatever the model",
    ),
    "opinion_needs_rows": (
        {"groups": 1, "rows": 300, "each": 20},
        "there is no second opinion on 1 group: it takes 300 rows in each arm and table, and 20 for every category of "
        "a covariate",
    ),
    "opinion_needs_overlap": (
        {"groups": 2, "rows": 300, "each": 20},
        "there is no second opinion on 2 groups, whose people an arm or a table hardly has: categories with fewer than "
        "20 rows there, or a mix that no weights can give it",
    ),
    "opinion_contradicted": (
        {"groups": 1},
        "there is no second opinion on 1 group: its ends cross by more than chance, so the tables contradict each "
        "other there",
    ),
    "everything_known": ({}, "every covariate is known: there is nothing to ask"),
    "nobody_described": ({}, "nobody fits this description, so how likely an answer is cannot be said"),
    "no_question_helps": ({}, "no single question would change the decision"),
    "extrapolated_undecided": (
        {"queries": 2, "of": 1200},
        "no decision for 2 of 1,200 queries: extrapolated: nobody like this was seen; --extrapolate "
        "(extrapolate=True) decides all the same",
    ),
    "nothing_decided_whatever_known": (
        {},
        "the tables contradict each other about these people, whatever else is known; --trial-alone "
        "(trial_alone=True) goes by the trial alone",
    ),
    "contradicted_left_out": (
        {"groups": 3, "of": 1200, "trial_can_answer": True},
        "left out: 3 of 1,200 groups, about which the tables contradict each other; --trial-alone (trial_alone=True) "
        "goes by the trial alone",
    ),
    "ask_first": (
        {"covariate": "sex", "probability": 0.5, "always": False, "effect": "unsettles"},
        "ask for sex first: in 50% of cases it makes the decision uncertain",
    ),
    "groups_ranked": (
        {
            "groups": 210,
            "of": 59_049,
            "all_fixing": 1,
            "most_fixed": 3,
            "enough": 7,
            "least_share": 0.01,
            "least_support": 100,
        },
        "of 59,049 groups 210 were looked at, all that fix up to 1 covariate and the best narrowed down to at most 3; "
        "7 of them describe at least 1% "
        "of the people and have at least 100 rows in each table",
    ),
    "short_list": (
        {"listed": 3, "top": 20, "others": 209, "margin": 0.01},
        "3 groups listed of the 20 asked for: none of the 209 others that were compared is above every more general "
        "group by 0.01, so naming it would add nothing; a smaller --margin, --least-share or --least-support (margin, "
        "least_share, least_support) lets in more",
    ),
    "ranked_cautiously": (
        {"end": "lower", "level": 0.9, "below": 0.02, "too_high": 0.01},
        "ranked with caution: by where the 90% interval of the lower bound begins, on average 0.020 below it; being "
        "the best of many, the bounds listed are about 0.010 too high on average",
    ),
    "overestimation_unknown": (
        {},
        "this model gives no intervals: how far the best of many are overestimated is not known",
    ),
    "nobody_known_harmed": (
        {},
        "No group has a lower bound on harm above 0: the tables do not show that anybody is harmed, nor that nobody "
        "is.",
    ),
    "not_considered": (
        {"share": 0.25, "why": "few_rows"},
        "25% of the people have a profile with too few rows and are not considered",
    ),
    "winners_curse": (
        {"too_high": 0.01, "in_all": 12.5},
        "being the best of many, the lower bounds of those treated are about 0.010 too high on average, 12.5 in all",
    ),
    "harm_among_treated": (
        {"profiles": 3},
        "of the profiles treated, 3 would have fewer respond than untreated: more are harmed",
    ),
    "groups_compared": (
        {"groups": 1, "most_fixed": 2, "least_share": 0.02},
        "1 group that fix up to 2 covariates and hold at least 2.0% of the people were compared",
    ),
    "uncertain_now": (
        {"uncertain": 0.4, "stays": 0.1},
        "uncertain now: 40.0% of the people; 10.0% are expected to stay so with unlimited rows of both tables, as "
        "their bounds lie on both sides of the threshold",
    ),
    "rows_from_everyone": (
        {"rows": 1000, "change": -0.01},
        "if 1,000 rows from everyone were added instead: -0.010000",
    ),
    "outcomes_kept": (
        {"table": "experimental", "rows": 12.0, "how": "worst-case"},
        "12 experimental rows without an outcome are kept as rows that may have any outcome at all, so that bounds "
        "hold in the worst case",
    ),
    "rows_censored": (
        {"table": "observational", "rows": 1200.0},
        "1,200 observational rows were censored before the last horizon; that is taken to say nothing about when their "
        "event comes, given their covariates",
    ),
    "outcomes_missing_by_arms": (
        {"table": "experimental", "arms": [{"arm": "placebo", "share": 0.01}, {"arm": "high", "share": 0.12}]},
        "in the experiment outcomes are missing for 1.0% of placebo, 12.0% of high, which chance does not explain. "
        "Those who are left may respond otherwise than those who are missing; --missing-outcome worst-case allows for "
        "that.",
    ),
    "outcomes_missing_allowed_for": (
        {"share": 0.1},
        "10.0% of outcomes are missing; the bounds hold whatever they are.",
    ),
    "compliance": (
        {"arms": [{"arm": "placebo", "share": 0.0}, {"arm": "drug", "share": 0.25}]},
        "another arm than the one assigned was taken by 0.0% of those assigned placebo, 25.0% of those assigned drug.",
    ),
    "compliance_by_covariate": (
        {
            "covariates": [
                {
                    "arm": "drug",
                    "covariate": "age",
                    "least": 0.1,
                    "least_level": "old",
                    "most": 0.4,
                    "most_level": "young",
                    "p_value": 0.001,
                }
            ]
        },
        "How many goes with age (drug: 10.0% at old to 40.0% at young).",
    ),
    "coding_not_checked": (
        {},
        "not looked at, as what a recoding would be is known of two arms and two outcomes only.",
    ),
    "instrument_invalid": (
        {},
        "no population fits the experiment: either the assigned arm matters by itself, beside what is taken, or it was "
        "not assigned at random.",
    ),
    "answers_impossible": (
        {"contradicted": 2, "of": 9},
        "no answer for 2 of 9 groups asked about: no population fits the experiment",
    ),
    "assumption_impossible": (
        {"assumed": ["one-sided"], "cells": ["D=1,Y=1|Z=0"], "rows": 3.0},
        "assumed: one-sided (nobody takes the treatment who was not assigned to it). The tables contradict it: 3 rows "
        "are where nobody would be then, at D=1,Y=1|Z=0. Leave the assumption out, or check how those rows are coded.",
    ),
    "arm_decision": (
        {
            "decision": "uncertain",
            "between": ["low", "high"],
            "quantity": "pns",
            "reference": "placebo",
            "threshold": 0.2,
            "bounds": [{"arm": "low", "lower": 0.3, "upper": 0.5}, {"arm": "high", "lower": 0.4, "upper": 0.7}],
        },
        "uncertain between low and high (pns against placebo, which must reach 0.2: low 0.300 to 0.500, high 0.400 to "
        "0.700).",
    ),
    "arms_counted": (
        {"decisions": [{"decision": "arm:high", "queries": 3}, {"decision": "", "queries": 1}], "of": 4},
        "4 decisions: arm:high 3, no answer 1",
    ),
    "contrast": ({"treated": "high", "reference": "placebo"}, "high against placebo"),
    "horizon": ({"horizon": 90.0}, "at the horizon 90"),
    "time_convention": (
        {"horizon": 90.0},
        "time gained until 90: the area between two curves that are straight between horizons, so that events within "
        "an interval are taken to be spread evenly over it",
    ),
    "among_compliers": (
        {"treated": "drug", "reference": "placebo"},
        "among those who take drug if assigned to it, and placebo if assigned to that",
    ),
    "statement": ({"statement": "Y[high] == mild", "given": None}, "Y[high] == mild"),
    "statement_given": ({"statement": "Y[high] == mild", "given": "X == low"}, "Y[high] == mild, given X == low"),
    "rarer_levels_not_shown": ({"levels": 20}, "20 rarer levels are not shown"),
    "covariates_not_shown": ({"covariates": 12}, "12 more covariates are not shown"),
    "smaller_groups_not_listed": ({"groups": 4}, "4 smaller ones are not listed"),
    "slack": (
        {"slack": "0.05"},
        "slack 0.05: the shares who respond with and without treatment may differ from the trial's by so much",
    ),
    "misread_outcome": (
        {"share": 0.02},
        "up to a share of 0.02 of the outcomes of each arm and table may be recorded wrongly, in any pattern",
    ),
    "slack_needs_rows": (
        {"model": "response-types"},
        "slack does not reconcile the tables here: this response-types model learned as if both showed people who "
        "respond alike. A plug-in model (--model plug-in) judges the contradiction at the slack that is given",
    ),
    "limit_not_contradicted": (
        {"assumed": ["harm<=0.05"], "groups": 1},
        "assumed: harm<=0.05 (at most 0.05 of these people are harmed by the treatment); the estimates of the group do "
        "not contradict it",
    ),
    "limit_within_chance": (
        {**BROKEN_LIMIT, "groups": 1, "of": 1},
        "assumed: correlation>=0 (the outcomes with and without treatment are correlated by at least 0). By the "
        "estimates it does not hold for sex=male: their correlation is -0.100 at most, which is off by 0.7 standard "
        "errors. That is within chance, so the nearest shares are taken under which it holds",
    ),
    "limit_contradicted": (
        {**BROKEN_LIMIT, "errors": 7.25, "comparisons": 4, "adjusted": 1e-12, "also": ["sex=female"], "more": 2},
        "assumed: correlation>=0 (the outcomes with and without treatment are correlated by at least 0). The tables "
        "contradict it. For sex=male, their correlation is -0.100 at most, which is off by 7.2 standard errors: more "
        "than chance explains. P-value, corrected for 4 comparisons: 1e-12. Also: sex=female; 2 more groups. Leave the "
        "assumption out, or assume less.",
    ),
    "assumption_buys": (
        {"width": 0.04, "without": 0.09, "answers": 3},
        "the bounds are 0.0400 wide on average over 3 answers, and without what is assumed 0.0900",
    ),
    "tipping": (
        {"along": "1", "plain": True},
        "slack: by how much the shares who respond with and without treatment may differ from the trial's, in either "
        "arm and to either side; a decision is uncertain beyond its tip",
    ),
    "tipping_point": (
        {"decision": "treat", "tip": 0.0145, "along": "treated=1", "plain": False, "reconciled_at": 0.0},
        "the decision to treat holds as long as the shares who respond with and without treatment differ from the "
        "trial's by 0.0145 times treated=1 at most; beyond that it is uncertain",
    ),
}


def test_every_kind_of_note_is_worded_here():
    assert set(SENTENCES) == wording.KINDS


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_note_says_its_sentence(kind):
    values, sentence = SENTENCES[kind]
    assert str(Note(kind, values)) == sentence


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_note_survives_json_and_pickle(kind):
    note = Note(kind, SENTENCES[kind][0], "warning")
    copies = Note.from_plain(json.loads(json.dumps(note.plain()))), pickle.loads(pickle.dumps(note))
    for copy in copies:
        assert copy == note
        assert hash(copy) == hash(note)
        assert str(copy) == str(note)


def test_a_page_words_payoffs_and_reasons_as_its_form_does():
    payoffs = Note("payoffs", {"complier": 100, "always": -60, "never": 0, "defier": -140})
    reason = Note("decision", {"decision": "treat", **DECISION, **ROWS, "interval": None})
    assert sentences([payoffs, reason, RARE], "page") == [
        "Treating is worth 100 for a person who responds because of it, -60 for a person who responds either way, 0 "
        "for a person who responds neither way, -140 for a person who responds only without it",
        "pns is at least 0.600, not below 0.5.",
        str(RARE),
    ]


WITHOUT = {**DECISION, **ROWS, "decision": "", "interval": None}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            {"status": "contradicted", "trial": [0.0779, 0.3036]},
            "the tables contradict each other here beyond chance; by the trial alone pns is between 0.078 and 0.304",
        ),
        (
            {"status": "contradicted", "trial": [0.2, 0.2]},
            "the tables contradict each other here beyond chance; by the trial alone pns is 0.200",
        ),
        (
            {"status": "contradicted"},
            "the tables contradict each other here beyond chance; the trial alone does not bound pns",
        ),
        ({"status": "undefined"}, "the answer is undefined"),
        (
            {"basis": "extrapolated"},
            "extrapolated: nobody like this was seen, and that pns is between 0.600 and 0.900 is guessed from others",
        ),
        ({}, "pns is between 0.600 and 0.900, but how far these bounds may be off is not known"),
    ],
)
def test_that_nothing_is_decided_has_its_reason(values, reason):
    note = Note("decision", {**WITHOUT, **values})
    assert str(note) == f"no decision: {reason} (rows: 1,200 experimental, 3 observational)."
    assert sentences([note], "page") == [f"{reason}."]


def test_notes_that_say_the_same_are_equal_whatever_holds_the_values():
    assert Note("rare_levels_merged", {"levels": ("Cluny", "Dol"), "covariate": "town"}) == RARE
    numbers = {"answers": np.int64(1), "of": 2, "share": np.float64(0.04), "refined": np.bool_(False)}
    assert Note("people_left_out", numbers) == Note("people_left_out", SENTENCES["people_left_out"][0])
    assert len({RARE, Note("rare_levels_merged", dict(RARE.values)), Note("refined")}) == 2
    assert Note("refined") != Note("refined", severity="warning")


def test_a_note_without_wording_cannot_be_made():
    with pytest.raises(ValueError, match="no note is of kind 'rumour'"):
        Note("rumour")


def test_a_stored_note_whose_values_are_missing_is_refused_when_it_is_read():
    with pytest.raises(KeyError):
        Note.from_plain({"kind": "remark", "values": {}, "severity": "info"})


@pytest.mark.parametrize(
    ("others", "why"),
    [
        (0, "no other is large enough and has an answer"),
        (1, "the other one is not above every more general group by 0.01, so naming it would add nothing"),
    ],
)
def test_a_short_list_says_why_and_a_page_names_no_options(others, why):
    values = {"listed": 1, "top": 5, "others": others, "margin": 0.01}
    assert wording.sentence("short_list", values, "page") == f"1 group listed of the 5 asked for: {why}"
