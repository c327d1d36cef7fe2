"""The paper's case study, from two tables to the next question: python examples/case_study.py [ROWS OF EACH TABLE].

A rare profile of the mediator population, the same with each covariate left open in turn, what to decide for each, and
what to ask a person of whom only the first four covariates are known.
"""

import sys

import pnsight
from pnsight._text_table import format_table
from pnsight.decisions import Decisions, decided, left_open

PROFILE, KNOWN, THRESHOLD = "1101001110", "1101XXXXXX", 0.5


def main(rows: int = 200_000) -> None:
    """Learn from a sample, then decide, and ask."""
    population = pnsight.simulation.get("mediator")
    model = pnsight.ResponseTypeModel().fit(population.sample(experimental=rows, observational=rows, seed=1))

    plain = left_open(model, PROFILE, THRESHOLD)
    cautious = left_open(model, PROFILE, THRESHOLD, cautious=True)
    truth = decided(population.bounds(plain.answers.queries), THRESHOLD)
    print(f"The profile, then one covariate left open (X) at a time; treat if PNS is at least {THRESHOLD}\n")
    answers = {"query": plain.answers.queries, "truth": ends(truth), "so": list(truth.decision), "model": ends(plain)}
    print(format_table({**answers, "decision": list(plain.decision), "with caution": list(cautious.decision)}))

    questions = pnsight.ask(model, KNOWN, THRESHOLD).columns()
    shown = {name: [f"{value:.3f}" for value in questions[name]] for name in ("changes", "treat", "not", "uncertain")}
    print(f"\nOnly {KNOWN} is known. How likely does an answer change the decision, and to what?\n")
    print(format_table({"covariate": questions["covariate"], **shown}))

    print("\nAsk, hear the profile's answer, and ask again while that may change the decision\n")
    known = KNOWN
    while "X" in known:
        asked = pnsight.ask(model, known, THRESHOLD)
        print(f"{asked.now.words()[0]}\n    {asked.notes[0]}")
        if asked.columns()["changes"][0] < 0.001:
            break
        place = model.schema.names.index(asked.columns()["covariate"][0])
        known = known[:place] + PROFILE[place] + known[place + 1 :]


def ends(decisions: Decisions) -> list[str]:
    """Both ends of each answer."""
    return [f"{a:.3f} - {b:.3f}" for a, b in zip(decisions.answers.lower, decisions.answers.upper, strict=True)]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
