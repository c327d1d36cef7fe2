"""What the diagnostics say: support, balance, covariate shift, compatibility of the tables, and pooling of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import count_text, number_of, percent, share_text
from pnsight.errors import join_names

# --- subgroup tests ---------------------------------------------------------------------------------------


def extent(subgroups: int, comparisons: int) -> str:
    """How much was compared."""
    return f"{number_of(subgroups, 'subgroup')} ({number_of(comparisons, 'comparison')})"


def minimum_detectable(size: float) -> str:
    """How large a contradiction would have been noticed."""
    return f"for everyone, a contradiction of {size:.3f} would have been noticed"


def contradiction(
    group: str, pooled: bool, left: Mapping[str, Any], right: Mapping[str, Any], excess: float, low: float, high: float
) -> str:
    """One inequality that a subgroup breaks; each side has `text`, `where` and `value`."""
    return (
        f"For {group}{', profile by profile,' if pooled else ','} {left['text']} is {left['value']:.3f} "
        f"{_TABLES[left['where']]}, but {right['text']} only {right['value']:.3f} {_TABLES[right['where']]}: "
        f"{excess:.3f} too much ({low:.3f} to {high:.3f})."
    )


_TABLES = {
    "experimental": "in the experiment",
    "observational": "in the observational table",
    "both": "in both tables together",
}


def _no_contradiction(subgroups: int, comparisons: int, detectable: float) -> str:
    return f"no contradiction in {extent(subgroups, comparisons)}; {minimum_detectable(detectable)}."


def _also_contradicted(groups: Sequence[str]) -> str:
    return f"Also: {'; '.join(groups)}."


def _little_compared(share: float) -> str:
    shared = f"{percent(share)} of the rows are in profiles that both tables have"
    return f"But only {shared}: check again with fewer covariates."


# --- support ----------------------------------------------------------------------------------------------


def _support(people: float, profiles: float, queries: float, rows: int, alone: bool, drawn: int | None) -> str:
    table = "the experiment" if alone else "each table"
    sampled = "" if drawn is None else f" (of {drawn:,} drawn at random)"
    return (
        f"{percent(people)} of people have a profile with at least {rows} rows in {table}, as have {percent(profiles)} "
        f"of possible profiles and {percent(queries)} of all groups that can be asked about{sampled}."
    )


def _profiles_in_one_table(
    experimental: int, observational: int, of_experimental: float, of_observational: float
) -> str:
    return (
        f"In one table only: {number_of(experimental, 'profile')} of the experimental table "
        f"({percent(of_experimental)} of its rows), {observational:,} of the observational one "
        f"({percent(of_observational)})."
    )


# --- balance and covariate shift --------------------------------------------------------------------------


def _evidence(tests: int, smallest: float) -> str:
    return f"smallest p-value of {number_of(tests, 'look')}, corrected: {smallest:.2g}"


def _treatment_unpredictable(tests: int, smallest: float) -> str:
    return f"covariates do not predict treatment ({_evidence(tests, smallest)})."


def _treatment_chosen(stratification: Sequence[str], unexplained: Sequence[str]) -> str:
    return (
        f"treatment depends on {join_names(stratification)} and, among people alike in those, on "
        f"{join_names(unexplained)}: it looks chosen, not randomised. Are the tables in the right order?"
    )


def _positivity_violated(share: float, stratification: Sequence[str]) -> str:
    levels = f"{percent(share)} of people are at levels of {join_names(stratification)}"
    return f"{levels} where all have the same treatment: it was not randomised."


def _allocation_by_combinations(p_value: float) -> str:
    return (
        f"allocation seems to differ between combinations of covariates (p = {p_value:.2g}, corrected), though by none "
        "alone."
    )


def _allocation_differs(
    stratification: Sequence[Mapping[str, Any]], unexplained: Sequence[str], explained: bool, one_armed: float
) -> str:
    shares = [f"{one['covariate']} (share treated {one['least']:.2f} to {one['most']:.2f})" for one in stratification]
    text = f"allocation differs by {join_names(shares)}"
    if unexplained:
        text += f", and a little by {join_names(unexplained)}"
    if explained:
        text += "; given that, covariates do not predict treatment"
    if one_armed:
        text += f"; {percent(one_armed)} of people are at levels where all have the same treatment"
    names = join_names(one["covariate"] for one in stratification)
    return f"{text}. Fix {names} in queries: rows pooled over it mislead."


def _same_mix(tests: int, smallest: float) -> str:
    return f"both tables have the same mix of covariates ({_evidence(tests, smallest)})."


def _differing(covariates: Sequence[Mapping[str, Any]]) -> str:
    names = [f"{one['covariate']} ({one['difference']:.2f})" for one in covariates]
    return f"in {join_names(names)}" if names else "in combinations of covariates, though in none alone"


def _small_shift(covariates: Sequence[Mapping[str, Any]]) -> str:
    return f"the tables differ {_differing(covariates)}, but by little."


def _covariate_shift(covariates: Sequence[Mapping[str, Any]]) -> str:
    return (
        f"the tables differ {_differing(covariates)}. Answers that leave these open depend on whose mix of people is "
        "meant."
    )


# --- attrition --------------------------------------------------------------------------------------------


def _outcomes_missing(share: float) -> str:
    if not share:
        return "no outcome is missing."
    return f"{share_text(share)} of outcomes are missing, about as often in both arms."


def _missing_allowed_for(share: float) -> str:
    return f"{share_text(share)} of outcomes are missing; the bounds hold whatever they are."


def _missing_by_arm(
    table: str = "",
    treated: float = 0.0,
    untreated: float = 0.0,
    difference: float = 0.0,
    low: float = 0.0,
    high: float = 0.0,
    arm: str = "",
    respond: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> str:
    if not table:
        return "outcomes are missing more often in one arm than in the other; those who are left may respond otherwise."
    text = (
        f"{_TABLES[table]} outcomes are missing for {share_text(treated)} of the treated and {share_text(untreated)} "
        f"of the untreated, a difference of {difference:.3f} ({low:.3f} to {high:.3f}) that chance does not explain. "
        "Those who are left may respond otherwise than those who are missing"
    )
    if respond is None:
        return f"{text}."
    return (
        f"{text}: {respond:.3f} of the {arm} respond among those left, but {least:.3f} if none of the missing did, and "
        f"{most:.3f} if all did."
    )


def _missing_by_arms(table: str = "", arms: Sequence[Mapping[str, Any]] = ()) -> str:
    if not table:
        return "outcomes are missing more often in one arm than in others; those who are left may respond otherwise."
    shares = join_names(f"{share_text(one['share'])} of {one['arm']}" for one in arms)
    return (
        f"{_TABLES[table]} outcomes are missing for {shares}, which chance does not explain. Those who are left may "
        "respond otherwise than those who are missing; --missing-outcome worst-case allows for that."
    )


def _compliance(arms: Sequence[Mapping[str, Any]]) -> str:
    shares = join_names(f"{share_text(one['share'])} of those assigned {one['arm']}" for one in arms)
    return f"another arm than the one assigned was taken by {shares}."


def _compliance_by_covariate(covariates: Sequence[Mapping[str, Any]]) -> str:
    by = [
        f"{one['covariate']} ({one['arm']}: {share_text(one['least'])} at {one['least_level']} to "
        f"{share_text(one['most'])} at {one['most_level']})"
        for one in covariates
    ]
    return f"How many goes with {join_names(by)}."


def _missing_by_covariate(table: str = "", arm: str = "", covariates: Sequence[Mapping[str, Any]] = ()) -> str:
    if not table:
        return "outcomes are missing more often for some people than for others."
    by = [
        f"{one['covariate']} ({share_text(one['least'])} to {share_text(one['most'])} by level)" for one in covariates
    ]
    return f"{_TABLES[table]} how many outcomes of the {arm} are missing goes with {join_names(by)}."


def _many_missing(table: str, share: float) -> str:
    return (
        f"{_TABLES[table]} {share_text(share)} of outcomes are missing, about as often in both arms: answers are about "
        "those who are left."
    )


# --- sites ------------------------------------------------------------------------------------------------


def _sites_agree(tests: int, smallest: float, compared: float) -> str:
    part = "" if compared > 0.995 else f", of {percent(compared)} of the people"
    return f"sites do not differ among people who are alike ({_evidence(tests, smallest)}{part})."


def _sites_differ(sites: Sequence[Mapping[str, Any]]) -> str:
    return (
        f"people who are alike differ between sites: {'; '.join(map(_site_differs, sites))}. Answers are averages over "
        "sites; to have them apart, let each site add a column with its name before it counts."
    )


def _site_differs(one: Mapping[str, Any]) -> str:
    others = one["others"][0] if len(one["others"]) == 1 else "the others"
    told = f"(p = {one['adjusted']:.2g}, corrected)"
    if one["share"] is None:
        return f"{one['site']} from {others} {told}"
    return (
        f"{one['cell']} has {one['share']:.3f} of them at {one['site']} and {one['other_share']:.3f} at {others} {told}"
    )


# --- overlap, coding, columns and sampling ----------------------------------------------------------------


def _covered(alone: bool, uncovered: float) -> str:
    if alone:
        return "both arms have people at every level that many have."
    hardly = f" but for {share_text(uncovered)}" if uncovered else ""
    return f"the experiment covers the people of the observational table{hardly}."


def _values_hardly_shared(covariates: Sequence[Mapping[str, Any]]) -> str:
    named = [f"{one['covariate']} ({share_text(one['shared'])} of people are at values of both)" for one in covariates]
    return (
        f"the tables hardly share a value of {join_names(named)}: they seem to be of different times or places. If the "
        "people are alike nevertheless, leave the column out with --covariates."
    )


def _hardly_covered(share: float, groups: Sequence[str], more: int) -> str:
    others = f" and {number_of(more, 'more group')}" if more else ""
    return (
        f"the experiment hardly covers {percent(share)} of the observational table's people: it has less than a tenth "
        f"of its share of {'; '.join(groups)}{others}. What it says about them comes from other people."
    )


def _one_armed(table: str, levels: Sequence[Mapping[str, str]], more: int) -> str:
    named = [f"{one['level']} (all {one['arm']})" for one in levels]
    others = f" and {number_of(more, 'more level')}" if more else ""
    return f"{_TABLES[table]} everybody has the same treatment at {join_names(named)}{others}."


def _recoding_fits(what: Sequence[str]) -> str:
    return (
        f"the tables contradict each other, but would not if {' or '.join(what)} were coded the other way round in one "
        "of them: check what its values mean."
    )


def _responses_mirrored(treated: float, untreated: float, chose: float, did_not: float) -> str:
    return (
        f"of the treated and of the untreated {treated:.2f} and {untreated:.2f} respond in the experiment, but "
        f"{chose:.2f} and {did_not:.2f} in the observational table, about one less that: check whether the outcome is "
        "coded the other way round in one of them."
    )


def _outcome_constant(table: str, responds: bool) -> str:
    return (
        f"{_TABLES[table]} {'everybody responds' if responds else 'nobody responds'}, though not in the other table: "
        "check how its outcome is coded."
    )


def _columns(covariates: int, most_levels: int) -> str:
    if not covariates:
        return "no covariates."
    return f"{number_of(covariates, 'covariate')}, with at most {number_of(most_levels, 'level')}."


def _numbers_without_bands(covariates: Sequence[Mapping[str, Any]]) -> str:
    named = join_names(f"{one['covariate']} ({one['levels']:,})" for one in covariates)
    return (
        f"each distinct number is a level of its own in {named}: cut into bands, as with "
        f"--bands {covariates[0]['covariate']}=4."
    )


def _levels_are_rare(covariates: Sequence[Mapping[str, Any]]) -> str:
    named = join_names(f"{one['covariate']} ({one['rare']:,} of {one['levels']:,})" for one in covariates)
    return f"most levels have fewer than 10 rows in {named}: merge them with --merge-rare, or leave the column out."


def _sampled(
    table: str,
    rows: float,
    worth: float,
    unequal: bool,
    clusters: int | None,
    unclustered: float,
    largest: float,
    split: int,
    design_effect: float,
) -> str:
    parts = ["weigh unequally"] if unequal else []
    if clusters is not None:
        across = f", {split:,} of them in several arms" if split else ""
        parts.append(f"come in {number_of(clusters, 'cluster')} of up to {count_text(largest)} rows{across}")
    return (
        f"{count_text(rows)} {table} rows {' and '.join(parts)}; they are worth {worth:,.0f} (design effect "
        f"{design_effect:.2f})."
    )


def _few_clusters(table: str, clusters: int) -> str:
    where = "an arm of the experiment" if table == "experimental" else "the observational table"
    if clusters == 1:
        return f"all rows of {where} are in one cluster: how clusters vary cannot be told, and they are worth one row."
    return f"{where} has only {clusters} clusters: how much they vary is itself uncertain, and so is every interval."


# --- fitting ----------------------------------------------------------------------------------------------


def _assignment_varies(variation: float) -> str:
    return f"the experiment treats some profiles more often than others (shares vary by {variation:.0%})"


def _mix_varies(variation: float) -> str:
    return f"the two tables mix the covariates differently (shares vary by {variation:.0%})"


def _rows_pooled(assignment: float | None, mix: float | None) -> str:
    found = [] if assignment is None else [_assignment_varies(assignment)]
    found += [] if mix is None else [_mix_varies(mix)]
    return (
        f"{' and '.join(found)}; this model adds up rows, so its answers mislead where a query leaves covariates open. "
        "Use --model response-types, or plug-in with --mix profiles, and --population to say whose mix; against the "
        "first --assignment helps too, where the probability of treatment is known."
    )


def _tables_contradict(
    found: Mapping[str, Any] | None = None,
    codes: Sequence[Sequence[int]] = (),
    also: Sequence[Sequence[int]] = (),
    alone: bool = False,
) -> str:
    detail = "" if found is None else f" {contradiction(**found)}"
    which = "no population fits the experiment." if alone else "the tables contradict each other."
    return f"{which}{detail} See: pnsight check"


def _check_summary(failed: Sequence[str], warned: Sequence[str]) -> str:
    warnings = f"{number_of(len(warned), 'warning')} ({', '.join(warned)})"
    if failed:
        return f"Not usable as it is: {' and '.join(failed)} failed{f'; {warnings}' if warned else ''}."
    return f"Usable{f', with {warnings}' if warned else ''}."


def _validation_groups(groups: int, rows: int) -> str:
    return (
        f"bounds were compared {groups:,} times, in groups that fix up to 2 covariates and have at least {rows} "
        "held-out rows in each arm and in the registry"
    )


def _opinions_agree(groups: int) -> str:
    return f"the second opinion agrees with the model, within chance, on {number_of(groups, 'group')}"


def _opinions_differ(queries: Sequence[str], of: int, tighter: bool) -> str:
    some = [query if query.strip("X") else "everyone" for query in queries]
    named = join_names(some[:5]) + (f", and {len(some) - 5:,} more" if len(some) > 5 else "")
    what = (
        "the model claims more than the rows bear out: go by the second opinion there, which holds whatever the model"
        if tighter
        else "the model's bounds are wider than the rows allow: both hold, and the second opinion's are tighter"
    )
    return f"the two differ beyond chance on {len(some):,} of {number_of(of, 'group')} ({named}): {what}"


def _opinion_needs_rows(groups: int, rows: int, each: int) -> str:
    return (
        f"there is no second opinion on {number_of(groups, 'group')}: it takes {rows} rows in each arm and table, and "
        f"{each} for every category of a covariate"
    )


def _opinion_needs_overlap(groups: int, rows: int, each: int) -> str:
    return (
        f"there is no second opinion on {number_of(groups, 'group')}, whose people an arm or a table hardly has: "
        f"categories with fewer than {each} rows there, or a mix that no weights can give it"
    )


def _opinion_contradicted(groups: int) -> str:
    return (
        f"there is no second opinion on {number_of(groups, 'group')}: its ends cross by more than chance, so the "
        "tables contradict each other there"
    )


DIAGNOSTICS: dict[str, Any] = {
    "opinions_agree": _opinions_agree,
    "opinions_differ": _opinions_differ,
    "opinion_needs_rows": _opinion_needs_rows,
    "opinion_needs_overlap": _opinion_needs_overlap,
    "opinion_contradicted": _opinion_contradicted,
    "sites_agree": _sites_agree,
    "sites_differ": _sites_differ,
    "sites_not_compared": "no profile has people at two sites that could be compared; coarser covariates would help.",
    "validation_groups": _validation_groups,
    "validation_without_groups": (
        "no group has {rows} held-out rows in each arm and in the registry, so bounds were not compared; hold more "
        "out, or gather more rows"
    ),
    "check_summary": _check_summary,
    "support": _support,
    "scarce_support": "Fewer rows say little by themselves: use a model that learns across profiles.",
    "profiles_in_one_table": _profiles_in_one_table,
    "balance_without_covariates": "no covariates, so nothing that could predict treatment.",
    "treatment_unpredictable": _treatment_unpredictable,
    "treatment_chosen": _treatment_chosen,
    "positivity_violated": _positivity_violated,
    "allocation_by_combinations": _allocation_by_combinations,
    "allocation_differs": _allocation_differs,
    "shift_without_covariates": "no covariates, so nothing the tables could mix differently.",
    "same_mix": _same_mix,
    "small_covariate_shift": _small_shift,
    "covariate_shift": _covariate_shift,
    "outcomes_missing": _outcomes_missing,
    "outcomes_missing_allowed_for": _missing_allowed_for,
    "outcomes_missing_by_arm": _missing_by_arm,
    "outcomes_missing_by_arms": _missing_by_arms,
    "outcomes_missing_by_covariate": _missing_by_covariate,
    "compliance": _compliance,
    "compliance_by_covariate": _compliance_by_covariate,
    "coding_not_checked": "not looked at, as what a recoding would be is known of two arms and two outcomes only.",
    "instrument_invalid": (
        "no population fits the experiment: either the assigned arm matters by itself, beside what is taken, or it was "
        "not assigned at random."
    ),
    "many_outcomes_missing": _many_missing,
    "overlap_without_covariates": "no covariates, so nothing that could tell the tables' people apart.",
    "covered": _covered,
    "values_hardly_shared": _values_hardly_shared,
    "hardly_covered": _hardly_covered,
    "one_armed": _one_armed,
    "coded_alike": "nothing suggests that treatment or outcome mean different things in the tables.",
    "recoding_fits": _recoding_fits,
    "responses_mirrored": _responses_mirrored,
    "outcome_constant": _outcome_constant,
    "columns": _columns,
    "numbers_without_bands": _numbers_without_bands,
    "levels_are_rare": _levels_are_rare,
    "sampled": _sampled,
    "few_clusters": _few_clusters,
    "no_population_fits": "no population fits both tables.",
    "contradiction": contradiction,
    "also_contradicted": _also_contradicted,
    "subgroups_contradicted": "Subgroups that break an inequality: {broken:,} of {subgroups:,}.",
    "nothing_compared": "nothing could be compared: no profile has rows in both tables.",
    "no_contradiction": _no_contradiction,
    "pairs_not_compared": "Pairs of covariates were too many to look at.",
    "little_compared": _little_compared,
    "assignment_varies": _assignment_varies,
    "mix_varies": _mix_varies,
    "rows_pooled": _rows_pooled,
    "tables_contradict": _tables_contradict,
}
