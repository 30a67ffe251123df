"""The papers' protocol for several attributes (000, Theorem 3; 003, Theorem 4): a baseline whose promise may fail.

For each attribute j the best protocol Qʲ that is εʲ-LIP with respect to p(S, Xʲ | x^J) for every J without j and every x^J of
positive probability; then ΠQʲ, which the theorem says is Σεʲ-SRLIP.

The theorem is false. From (36) to (37) its proof exchanges a sum over the values that a reader does not know and a product
over j, although p(xʲ | s, x^J) depends on the attributes that were summed before: what Y¹ says of X¹ it says of X² too. It is
true where the attributes are independent given S and every (s, x) can occur: where p(s, x^J) = 0 its condition is void, and
that is enough to break it again. In general the level of the product can be above Σεʲ, as well as far below, and need not
fall with the budgets. The certificate is of the product itself and says what its level is; `product` is the one whose
promise can be relied on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from trechter.errors import RequestError
from trechter.exact import epsilon_from, epsilon_text
from trechter.measures import Measure
from trechter.mechanisms.factors import Epsilon, Factors, Split, named
from trechter.mechanisms.record import record
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.optimal.design import TINY, check_request
from trechter.privacy import Notion

STEPS = 12  # splits are tried in steps of ε/12
FALSE = "the papers' theorem, by which this product would keep the promise, is false"


def papers_product(
    joint: Joint, notion: Notion, *, epsilons: Iterable[Any] | None = None, measure: Measure | None = None
) -> Result:
    """ΠQʲ for budgets εʲ ≥ 0 that sum to at most ε; without them for those of most I(X;Y). It may break its promise."""
    check_request(joint, notion, measure)
    start, papers = time.perf_counter(), Papers(Factors(joint, notion))
    split = papers.best_split() if epsilons is None else _checked(epsilons, joint, notion)
    told = [epsilon_text(epsilon) for epsilon in split]
    result = record("papers-product", papers.product(split), joint, notion, measure, start, epsilons=told)
    if not result.certificate.holds:
        result.stats["warning"] = FALSE
    return result


@dataclass(frozen=True, eq=False)
class Papers:
    """The theorem's factors, each found once."""

    factors: Factors
    known: dict[tuple[int, Epsilon], DenseProtocol] = field(default_factory=dict)

    def product(self, split: Split) -> DenseProtocol:
        """ΠQʲ."""
        return named([self.factor(j, epsilon) for j, epsilon in enumerate(split)])

    def factor(self, j: int, epsilon: Epsilon) -> DenseProtocol:
        """Qʲ: of most I(Xʲ;Yʲ) under the theorem's conditions, which are those that no other output is given in."""
        if (j, epsilon) not in self.known:
            self.known[j, epsilon] = self._factor(j, epsilon)
        return self.known[j, epsilon]

    def _factor(self, j: int, epsilon: Epsilon) -> DenseProtocol:
        if epsilon is not None and epsilon < TINY:
            return self.factors.perfect(j, {})
        return self.factors.rounded(j, self.factors.given_earlier(j, {}, epsilon), epsilon)

    def best_split(self) -> Split:
        """The split of ε into multiples of ε/12 whose product says most of X."""
        m, epsilon, unit = len(self.factors), self.factors.notion.epsilon, Fraction(1, max(STEPS, len(self.factors)))
        if not epsilon:
            return (epsilon,) * m
        cuts = ((0, *inner, unit.denominator) for inner in combinations(range(1, unit.denominator), m - 1))
        splits = [tuple((high - low) * unit * epsilon for low, high in pairwise(cut)) for cut in cuts]
        return max(splits, key=self._utility)

    def _utility(self, split: Split) -> float:
        rows = {j: self.factors.seen_rows(j, self.factor(j, epsilon)) for j, epsilon in enumerate(split)}
        return self.factors.utility(rows)


def _checked(epsilons: Iterable[Any], joint: Joint, notion: Notion) -> Split:
    """One budget for each attribute, which together do not exceed ε."""
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise RequestError(f"epsilons={epsilons!r} must be one budget for each attribute, for example ['0.25', '0.75']")
    split = tuple(epsilon_from(epsilon) for epsilon in epsilons)
    if len(split) != len(joint.release):
        raise RequestError(f"{len(split)} budgets for {len(joint.release)} attributes; each needs one, in order")
    finite = [epsilon for epsilon in split if epsilon is not None]
    total = sum(finite, Fraction(0)) if len(finite) == len(split) else None
    if notion.epsilon is not None and (total is None or total > notion.epsilon):
        shown = "∞" if total is None else f"{float(total):.6g}"
        raise RequestError(f"the budgets sum to {shown}, more than the ε of {notion}; lower them, or ask for a higher level")
    return split
