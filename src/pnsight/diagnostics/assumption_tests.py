"""Whether a study contradicts an assumption: what the assumption implies, looked at for everyone and in subgroups.

Within every profile, ``monotone`` implies P(y_x') <= P(y) <= P(y_x), and ``exogenous`` that P(y|x) = P(y_x) and
P(y|x') = P(y_x'), which is two inequalities each; both together, that the treated of both tables respond at least as
often as the untreated. These are all that data can show of them. How they are compared is in `comparisons`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight.data.schema import OPEN, Codes
from pnsight.data.study import Study
from pnsight.diagnostics.inequalities import ASSIGNED, RESPONDED, RESPONDED_IF_CHOSEN, RESPONDED_IN_ALL, Claim
from pnsight.diagnostics.subgroup_tests import Comparisons
from pnsight.errors import AssumptionError
from pnsight.estimands.assumptions import ASSUMPTIONS, EXOGENOUS, MONOTONE, AssumeLike, read_assumptions

_TREATED, _UNTREATED = ASSIGNED[0], ASSIGNED[2]
_CHOSE, _DID_NOT = RESPONDED_IF_CHOSEN


def implied(assume: Sequence[str], experiment_alone: bool = False) -> tuple[Claim, ...]:
    """What the assumptions imply that the tables at hand can contradict."""
    return tuple(_implied(assume, experiment_alone))


def _implied(assume: Sequence[str], experiment_alone: bool) -> Iterator[Claim]:
    if MONOTONE in assume:
        yield Claim(_UNTREATED, _TREATED)
    if MONOTONE in assume and not experiment_alone:
        yield from (Claim(RESPONDED, _TREATED), Claim(_UNTREATED, RESPONDED))
    if EXOGENOUS in assume and not experiment_alone:
        for chosen, assigned in ((_CHOSE, _TREATED), (_DID_NOT, _UNTREATED)):
            yield from (Claim(chosen, assigned), Claim(assigned, chosen))
    if MONOTONE in assume and EXOGENOUS in assume and not experiment_alone:
        yield Claim(*reversed(RESPONDED_IN_ALL))


@dataclass(frozen=True)
class AssumptionTest:
    """What a study says about assumptions.

    Attributes
    ----------
    assume : their names
    found : the comparisons of what they imply
    """

    assume: tuple[str, ...]
    found: Comparisons

    @property
    def contradicted(self) -> bool:
        """Whether any subgroup contradicts the assumptions by more than chance explains."""
        return bool(self.found.named)

    def contradictions(self, codes: Codes) -> list[int]:
        """Which of the contradictions named are about people of these queries, shape (queries, covariates).

        A query is concerned if somebody could be both in it and in the subgroup.
        """
        return [which for which, group in enumerate(self.found.named_codes) if _overlap(codes, group).any()]

    def note(self, codes: Codes) -> str:
        """What was assumed and how it stands up for the people of these queries; refused where it is contradicted."""
        concerned = self.contradictions(codes)
        if concerned or not self.found.all_named:
            raise AssumptionError(self._refusal(concerned or [0]))
        if not self.found.queries:
            return f"{self._assumed}; nothing in the tables could contradict it, as no profile has rows on both sides"
        outcome = f"not contradicted in {self.found.extent}; {self.found.power}"
        if self.contradicted:
            others = "; ".join(self.found.named_groups)
            outcome = f"not contradicted for those asked about, among {self.found.extent}, but for {others}"
        return f"{self._assumed}; {outcome}"

    @property
    def _assumed(self) -> str:
        return "assumed: " + " and ".join(f"{name} ({ASSUMPTIONS[name]})" for name in self.assume)

    def _refusal(self, concerned: list[int]) -> str:
        first = concerned[0]
        at = self.found.named[first]
        others = [self.found.named_groups[which] for which in concerned[1:]]
        others += [] if self.found.all_named else ["more subgroups"]
        adjusted = f"{self.found.adjusted[at]:.2g}" if self.found.adjusted[at] > 0 else "below 1e-300"
        also = f" Also: {'; '.join(others)}." if others else ""
        return (
            f"{self._assumed}. The tables contradict it, as it implies {self.found.claims[at]}. "
            f"{self.found.told(first)} P-value, corrected for {len(self.found.queries):,} comparisons: {adjusted}."
            f"{also} Leave the assumption out{', or ask about other people' if self._others_may_be_asked else ''}."
        )

    @property
    def _others_may_be_asked(self) -> bool:
        """Whether there are people whom none of the contradictions concerns."""
        return self.found.all_named and not (self.found.named_codes == OPEN).all(axis=1).any()


def assumptions_of(study: Study, assume: AssumeLike) -> AssumptionTest:
    """Compare what the assumptions imply with the tables of a study, in every subgroup that has rows enough."""
    names = read_assumptions(assume)
    claims = implied(names, study.observational is None)
    if not claims:
        raise AssumptionError(
            f"{' and '.join(map(repr, names)) or 'nothing'} was assumed, of which an experiment alone shows nothing; "
            "leave the assumption out, or fit with an observational table."
        )
    return AssumptionTest(names, Comparisons.of(study, claims))


def _overlap(codes: Codes, group: Codes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each query and the group agree wherever both fix a covariate."""
    return np.asarray(((codes == group) | (codes == OPEN) | (group == OPEN)).all(axis=1))
