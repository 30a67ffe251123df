"""The papers' protocol for several attributes (000, Theorem 3; 003, Theorem 4): a baseline whose promise may fail.

For each attribute j the best protocol Qʲ that is εʲ-LIP with respect to p(S, Xʲ | x^J) for every J without j and every x^J of
positive probability; then ΠQʲ, which the theorem says is Σεʲ-SRLIP. It need not be: the proof exchanges a sum and a
product that do not commute. So the level of the product is measured, and is what a figure shows.

For a protocol that reads xʲ alone, the conditions of SRLIP with J ∌ j are exactly those of Qʲ, and the others are void. So
the row cone of Qʲ is SRLIP's, with the coefficients of all letters that have the same xʲ added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

import trechter as tr
from trechter.finish import deliver
from trechter.geometry import Cone
from trechter.measures.mutual_information import Entropic
from trechter.model.dense import DenseProtocol
from trechter.model.letters import letters
from trechter.model.operations import product
from trechter.optimal.auto import solve
from trechter.optimal.problem import Budget, Problem

STEPS = 12  # splits are tried in steps of ε/12


@dataclass(frozen=True)
class PapersProduct:
    """A product with the budgets of its factors, what it says of X, and the least ε for which it is ε-SRLIP."""

    protocol: DenseProtocol
    epsilons: tuple[Fraction, ...]
    utility: float
    level: float


def papers_product(joint: tr.Joint, epsilons: Sequence[Any]) -> DenseProtocol:
    """ΠQʲ for the budgets εʲ > 0, one for each attribute."""
    return product([factor(joint, j, epsilon) for j, epsilon in enumerate(epsilons)])


def best_papers_product(joint: tr.Joint, epsilon: Any, steps: int = STEPS) -> PapersProduct:
    """The product of most I(X;Y) among the splits Σεʲ = ε into multiples of ε/steps."""
    unit, m = Fraction(epsilon) / steps, len(joint.release)
    factors = [[factor(joint, j, k * unit) for k in range(1, steps - m + 2)] for j in range(m)]
    cuts = [(0, *inner, steps) for inner in combinations(range(1, steps), m - 1)]
    splits = [np.diff(cut) for cut in cuts]
    products = [product([each[k - 1] for each, k in zip(factors, split, strict=True)]) for split in splits]
    utilities = [tr.mutual_information(joint, protocol) for protocol in products]
    best = int(np.argmax(utilities))
    return _measured(joint, products[best], tuple(int(k) * unit for k in splits[best]))


def even_papers_product(joint: tr.Joint, epsilon: Any) -> PapersProduct:
    """The product that the papers compute: εʲ = ε/m."""
    m = len(joint.release)
    epsilons = (Fraction(epsilon) / m,) * m
    return _measured(joint, papers_product(joint, epsilons), epsilons)


def factor(joint: tr.Joint, j: int, epsilon: Any) -> DenseProtocol:
    """Qʲ: of most I(Xʲ;Yʲ) under the theorem's conditions."""
    values, kept = letters(joint, "x").attributes[j], joint.p_x > 0
    same = (values[:, None] == np.arange(joint.shape[1 + j])).astype(float)
    masses = joint.p_x @ same
    conditions = tr.SRLIP(epsilon).cone(joint).A[:, kept] @ same[kept]
    problem = Problem(Cone(conditions[:, masses > 0]).active, masses[masses > 0], Entropic())
    alone = tr.Joint(_without_others(joint, j), secret=joint.secret, release=[joint.release[j]])
    return deliver(solve(problem, Budget()).rows, alone, tr.LIP(epsilon).spec, "x")[0]


def _without_others(joint: tr.Joint, j: int) -> Any:
    return joint.counts.sum(axis=tuple(k for k in range(1, joint.counts.ndim) if k != 1 + j))


def _measured(joint: tr.Joint, protocol: DenseProtocol, epsilons: tuple[Fraction, ...]) -> PapersProduct:
    utility, level = tr.mutual_information(joint, protocol), tr.SRLIP("inf").level(protocol, joint)
    return PapersProduct(protocol, epsilons, utility, level)
