"""Factors: protocols Qʲ of one attribute each, drawn independently, and what a notion asks of one when others are given.

Every condition of a notion compares two distributions on X: F(y) ≤ e^ε G(y). For a product F(y) = Σ_x F(x) Π_j Qʲ(yʲ|xʲ), so

- given outputs y of some other attributes, it is linear in the row w of Qʲ: `Σ F(xʲ, y) w(xʲ) ≤ e^ε Σ G(xʲ, y) w(xʲ)`, where
  F(xʲ, y) adds up all x with this xʲ, each times the probability that it gives y;
- if the outputs of all others are given, these conditions are exactly those of the product;
- by the chain rule F(y) = Π_j F(yʲ | y¹…yʲ⁻¹). So if each Qʲ obeys `Σ F(xʲ|y) w(xʲ) ≤ e^εʲ Σ G(xʲ|y) w(xʲ)` given the outputs
  y of those before it, then the product keeps Σεʲ.

This is so for every notion; for SRLIP F and G are p(·|s,x^J) and p(·|x^J), and the output of an attribute in J tells nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import NotionError, SolverError, TooLargeError
from trechter.finish import deliver, deliver_rays
from trechter.geometry import Cone
from trechter.measures import entropy
from trechter.measures.entropic import Entropic
from trechter.mechanisms.calibration import Array
from trechter.mechanisms.record import promised
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.operations import product
from trechter.model.spec import VAST
from trechter.optimal.auto import solve
from trechter.optimal.problem import Budget, Problem
from trechter.privacy import Notion, Robust

Rows = Mapping[int, NDArray[Any]]  # the protocol of attribute j: outputs × values that occur
Epsilon = Fraction | None  # None is ∞
Split = tuple[Epsilon, ...]  # εʲ by attribute, in the order of the release
MOST_VALUES = 1400  # of X: the product is a matrix
MOST_CELLS = 20_000_000  # conditions times values of X: 160 MB each of F and G
MOST_EXACT = 300_000  # of them in exact numbers
EVEN = 1e-11  # terms that differ by less than this share cancel: what earlier factors left at the edge is not beyond it
NOISE = 1e-14  # a probability below this is noise of the floats; if it is not, the judge of the whole will say so
RARE = 1e-12  # the probability of an output that is not worth having
SHARE = 1e-14  # of a constant, the first that is tried


@dataclass(frozen=True, eq=False)
class Factors:
    """The factors of products for a joint and a notion; axes of tensors are the conditions, then the attributes' values."""

    joint: Joint
    notion: Notion

    def __post_init__(self) -> None:
        if isinstance(self.notion, Robust):
            raise NotionError(
                f"products are for the counts as they are, and {self.notion} is for a set of distributions: use tr.design"
            )
        check_sizes(self.joint, self.notion)

    def __len__(self) -> int:
        return len(self.joint.release)

    @cached_property
    def masses(self) -> Array:
        """p(x), over the values of each attribute that occur."""
        return np.asarray(self._occurring(self.joint.p_x[None])[0])

    @cached_property
    def marginals(self) -> list[Array]:
        """p(xʲ), where it is above 0."""
        return [_along(self.masses, j) for j in range(len(self))]

    @cached_property
    def conditions(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """F and G of every condition."""
        F, G = self.notion.conditions(letters(self.joint, "x"))
        return self._occurring(F), self._occurring(G)

    @cached_property
    def exact_conditions(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same in exact numbers."""
        F, G = self.notion.conditions(letters(self.joint, "x", exact=True))
        if F.size > MOST_EXACT:
            raise TooLargeError(f"{len(F):,} conditions on {F.shape[1]:,} values are too many for exact numbers; use ε > 0")
        return self._occurring(F), self._occurring(G)

    def given_earlier(self, j: int, earlier: Rows, epsilon: Epsilon) -> Array:
        """The best Qʲ that keeps ε given every output of earlier attributes: `Σ F(xʲ|y) w(xʲ) ≤ e^ε Σ G(xʲ|y) w(xʲ)`."""
        F, G = (_seen(T, j, earlier) for T in self.conditions)
        return self._best(j, *_conditionals(F, G, NOISE), epsilon)

    def given_others(self, j: int, others: Rows) -> Array:
        """The best Qʲ with which the product of all keeps the notion: `Σ F(xʲ,y) w(xʲ) ≤ e^ε Σ G(xʲ,y) w(xʲ)`."""
        F, G = (_seen(T, j, others) for T in self.conditions)
        alive = np.maximum(F.sum(axis=1), G.sum(axis=1)) > NOISE
        F, G = F[alive], G[alive]
        return self._best(j, F, G, self.notion.epsilon)

    def perfect(self, j: int, earlier: Mapping[int, DenseProtocol]) -> DenseProtocol:
        """The best Qʲ at ε = 0 given every output of earlier attributes; in exact numbers."""
        rows = {i: _primitive(protocol.weights[:, self._kept[i]]) for i, protocol in earlier.items()}
        F, G = (_seen(T, j, rows) for T in self.exact_conditions)
        F, G = _conditionals(F, G, 0)
        problem = Problem(Cone(F - G).active, self.marginals[j], Entropic())
        solution = solve(problem, Budget())
        if solution.rays is None or solution.scale is None:
            raise SolverError("no exact rays were found")
        same = problem.groups(solution.rows)
        return deliver_rays(solution.rays, solution.scale, same, self._alone(j), self.notion.at(0).spec, "x")[0]

    def utility(self, rows: Rows) -> float:
        """I(X;Y) = H(Y) − Σ_j H(Yʲ|Xʲ) of the product."""
        drawn = _drawn(self.masses[None], rows)
        given = sum(float(p @ [entropy(q) for q in rows[j].T]) for j, p in enumerate(self.marginals))
        return entropy(drawn.ravel()) - given

    def seen_rows(self, j: int, protocol: DenseProtocol) -> Array:
        """The matrix of a protocol of attribute j, over the values that occur."""
        return protocol.matrix[:, self._kept[j]]

    def rounded(self, j: int, rows: Array, epsilon: Epsilon) -> DenseProtocol:
        """Qʲ in integers, which keep ε towards a reader who sees nothing else."""
        return deliver(rows, self._alone(j), replace(self.notion.spec, epsilon=epsilon), "x")[0]

    def certified(self, rows: Rows) -> tuple[DenseProtocol, float]:
        """The product in integers, its factors mixed with constants, as little as the judge accepts; and how much that is."""
        share = 0.0
        while True:
            mixed = [(1 - share) * rows[j] + share * (rows[j] @ p)[:, None] for j, p in enumerate(self.marginals)]
            protocol = named([self.rounded(j, Q, None) for j, Q in enumerate(mixed)])
            checked: DenseProtocol = promised(protocol, self.joint, self.notion)
            if checked.certificate is not None and checked.certificate.holds:
                return checked, share
            if share == 1:
                raise SolverError(f"not even constants are certified for {self.notion}: this is a defect of rounding")
            share = min(1.0, 8 * share or SHARE * (1 + 1 / math.expm1(self.notion.spec.exponent)))

    def constant(self) -> DenseProtocol:
        """Nothing of any attribute."""
        return named([self.rounded(j, np.ones((1, len(p))), None) for j, p in enumerate(self.marginals)])

    def _best(self, j: int, F: Array, G: Array, epsilon: Epsilon) -> Array:
        """Rows of most I(Xʲ;Yʲ) with F w ≤ e^ε G w: the best for a few of the conditions, until all are obeyed."""
        F = math.exp(-min(float(epsilon), VAST)) * F if epsilon is not None else 0 * F
        A = np.where(np.abs(F - G) > EVEN * (F + G), F - G, 0)
        A = A[(A > 0).any(axis=1)]
        A = A / np.abs(A).max(axis=1, keepdims=True, initial=0)
        few = np.unique(A.argmax(axis=0)) if len(A) else np.zeros(0, np.intp)
        while True:
            rows = self._optimum(j, A[few])
            excess = (A @ rows.T - EVEN * np.abs(A) @ rows.T).T
            worst = [int(row.argmax()) for row in excess if row.max(initial=0) > 0]
            more = np.setdiff1d(worst, few)
            if not len(more):
                return _pruned(rows, self.marginals[j])
            few = np.union1d(few, more).astype(np.intp)

    def _optimum(self, j: int, A: Array) -> Array:
        problem = Problem(Cone(A).active, self.marginals[j], Entropic())
        solution = solve(problem, Budget())
        same = problem.groups(solution.rows)
        rows = np.maximum([solution.rows[same == g].sum(axis=0) for g in range(same.max() + 1)], 0)
        return np.asarray(rows / rows.sum(axis=0))

    @cached_property
    def _kept(self) -> list[NDArray[np.bool_]]:
        p = self.joint.p_x.reshape(self.joint.shape[1:])
        return [_along(p, j) > 0 for j in range(len(self))]

    def _occurring(self, T: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(T.reshape(-1, *self.joint.shape[1:])[np.ix_(np.ones(len(T), bool), *self._kept)])

    def _alone(self, j: int) -> Joint:
        others = tuple(1 + i for i in range(len(self)) if i != j)
        joint = self.joint
        return Joint(joint.counts.sum(axis=others), secret=joint.secret, release=[joint.release[j]])


def named(protocols: Sequence[DenseProtocol]) -> DenseProtocol:
    """The product, with a released column for each attribute that has the attribute's name."""
    whole = product(protocols)
    return replace(whole, released=tuple(a.name for a in whole.release))


def check_sizes(joint: Joint, notion: Notion) -> None:
    """Refuse what would not fit: the matrix of the product, or the conditions of the notion."""
    c, a = joint.exact.shape
    values = a if notion.spec.protect == "x" else c
    slices = math.prod(n + 1 for n in joint.shape[1:]) - a if notion.spec.name.startswith("sr") else 1
    conditions = slices * (values * (values - 1) if notion.spec.name.endswith("ldp") else 2 * values)
    if a > MOST_VALUES or conditions * a > MOST_CELLS:
        raise TooLargeError(
            f"a product for {a:,} values of X and {conditions:,} conditions of {notion} is too large; put values into bins, "
            "or release fewer attributes"
        )


def _pruned(rows: Array, masses: Array) -> Array:
    """Outputs that are nearly never seen are added to the likeliest: what others say given them would be noise."""
    q = rows @ masses
    kept = rows[q > RARE]
    kept[np.argmax(q[q > RARE])] += rows[q <= RARE].sum(axis=0)
    return np.asarray(kept)


def _conditionals(F: NDArray[Any], G: NDArray[Any], least: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """F(xʲ|y) and G(xʲ|y) where y occurs under both: else the condition is void, or has been broken before."""
    each, all_ = F.sum(axis=1), G.sum(axis=1)
    alive = np.asarray((each > least) & (all_ > least), bool)
    return F[alive] / each[alive, None], G[alive] / all_[alive, None]


def _primitive(weights: NDArray[np.object_]) -> NDArray[np.object_]:
    """Rows without their common factors: a condition on outputs does not change with them."""
    common = np.array([math.gcd(*row) or 1 for row in weights.tolist()], object)
    return np.asarray(weights // common[:, None])


def _seen(T: NDArray[Any], j: int, others: Rows) -> NDArray[Any]:
    """T(xʲ, y) for all conditions and all outputs y of the others, as rows; attributes that are not given are added up."""
    absent = tuple(1 + i for i in range(T.ndim - 1) if i != j and i not in others)
    T = T.sum(axis=absent, keepdims=True)
    found = np.moveaxis(_drawn(T, others), 1 + j, -1)
    return found.reshape(-1, found.shape[-1])


def _drawn(T: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """T with the axis of xⁱ replaced by one of yⁱ."""
    for i, Q in rows.items():
        T = np.moveaxis(np.tensordot(T, Q, axes=(1 + i, 1)), -1, 1 + i)
    return T


def _along(p: Array, j: int) -> Array:
    """The marginal of axis j."""
    return np.asarray(p.sum(axis=tuple(i for i in range(p.ndim) if i != j)))
