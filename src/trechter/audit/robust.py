"""The judge of a robust promise: P(y|A) ≤ e^ε P(y|B) for every distribution P in F, proved, for all conditions of a notion.

Write w for a row of the protocol, P·w for its sum over cells, E for e^ε. Where P breaks the condition there is a number t with

    P_A·(w − t) > 0   and   P_B·(t − E w) > 0,        E min_B w < t < max_A w.

So for any λ_A, λ_B ≥ 0 the values v = λ_A (w − t) on A, plus λ_B (t − E w) on B, have P·v > 0. A proof that no P in F breaks
it is a list of intervals that cover all such t, each with its λ's, and a proof at both of its ends that P·v ≤ 0 all over F
(`worlds`): v is affine in t, and max P·v is convex in v, so what holds at both ends holds between them.

Intervals, λ's and the level itself are looked for in floats, many conditions at a time, and are a rumour. What is returned is
proved in integers and balls. A larger E makes v smaller, so what was covered for one E stays covered for a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.audit.apart import APART, Counted
from trechter.audit.conditions import Batch, Condition
from trechter.audit.events import Amounts, Group, check_seen, events, groups
from trechter.audit.worlds import WORLDS, Array, Exact
from trechter.errors import SolverError, TooLargeError
from trechter.exact import exp_bounds
from trechter.exact.matrices import Integers
from trechter.model.joint import Joint
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import Spec

MARGINS = [Fraction(1, 10**k) for k in (10, 9, 8, 7, 6, 4, 2)]  # above the worst that was found, relatively
STEPS = 28  # to the weight of A against B
ROUNDS, MOST_OPEN = 60, 4  # of halving intervals; how many may be left, by condition
CLIMBS, STILL = 40, 1e-11  # of linearising the ratio; a step that is none
PLACES = 60  # binary places of t and of λ
TINY = 1e-15  # what μ is raised by, so that it is not below the largest value
HARDLY = Fraction(1, 10**7)  # above e^ε
HUGE = 1e15  # a ratio that is taken for infinite
MOST_CONDITIONS = 50_000  # some minutes
MOST_EPSILON = 30  # whose exponential is less than that


@dataclass(frozen=True)
class Cover:
    """Intervals of t, each of a condition, with the weight of A (that of B is 1 less it)."""

    row: NDArray[np.intp]
    start: Array
    end: Array
    share: Array


@dataclass(frozen=True)
class Aim:
    """A bound e^ε of the ratio that is hoped for, from below; `only`: no other is of use."""

    bound: Fraction
    only: bool = False


def judge_robust(
    weights: Integers | SparseWeights,
    reads: str,
    joint: Joint,
    spec: Spec,
    *,
    protected: NDArray[np.intp] | None = None,
    only: bool = False,
) -> Fraction | None:
    """An upper bound, proved, of e^level of integer weights of a protocol, over the set of a promise; None is ∞.

    `protected` is the protected value of each cell, if that is not the secret. With `only`, None is also what is above e^ε: a
    candidate is refused as soon as one P in F breaks the promise.
    """
    conditions, amounts = asked(weights, reads, joint, spec, protected)
    aim = Aim(exp_bounds(spec.epsilon)[0], only) if spec.epsilon is not None and spec.epsilon <= MOST_EPSILON else None
    return decide(conditions, amounts, aim)


def asked(
    weights: Integers | SparseWeights, reads: str, joint: Joint, spec: Spec, protected: NDArray[np.intp] | None = None
) -> tuple[list[Condition], Amounts]:
    """The conditions of a promise on all rows, and how much lies in each cell."""
    assert spec.over is not None
    amounts, found = Amounts(spec.over.around(joint)), events(joint, spec, reads, protected)
    letters = np.arange(joint.exact.size) % (joint.exact.shape[1] if reads == "x" else joint.exact.size)
    outputs = weights.outputs if isinstance(weights, SparseWeights) else len(weights)
    _check_size(outputs * len(found.pairs), spec)
    parts = amounts.parts(weights, found, letters)
    check_seen(found, parts, joint, spec)
    pairs = list(zip(found.pairs, amounts.rest(found), strict=True))
    return [Condition.of(groups(pair, row, rest)) for row in parts for pair, rest in pairs], amounts


def _check_size(conditions: int, spec: Spec) -> None:
    if conditions > MOST_CONDITIONS:
        raise TooLargeError(
            f"{spec} is {conditions:,} conditions for this protocol, each to be proved for a whole set of distributions; "
            f"at most {MOST_CONDITIONS:,} are: use a protocol with fewer outputs, or merge values"
        )


def decide(conditions: list[Condition], amounts: Amounts, aim: Aim | None) -> Fraction | None:
    """The answer of `judge_robust`: a search, but for conditions whose ratio is the same for all distributions."""
    settled = [c.settled for c in conditions]
    floor = max([Fraction(1), *(r for r in settled if r is not None)])
    loose = [c for c, r in zip(conditions, settled, strict=True) if r is None]
    if aim and aim.only and floor > aim.bound:
        return None
    found = Search(loose, amounts).decide(floor, aim) if loose else floor
    if found and aim and not aim.only and aim.bound < found < aim.bound * (1 + HARDLY):
        return decide(conditions, amounts, replace(aim, only=True)) or found  # a proof of e^ε itself may still be found
    return found


class Search:
    """The worst ratio of some conditions: found in floats, proved in integers and balls."""

    def __init__(self, conditions: list[Condition], amounts: Amounts) -> None:
        self.conditions, self.amounts = conditions, amounts
        self.world = WORLDS[amounts.region.name](amounts.region.radius)
        self.batch = Batch(conditions, amounts)
        kind = APART.get(amounts.region.name)
        self.apart = kind(amounts.region.radius) if kind else None
        self.direct = ~(self.batch.a & self.batch.b).any(axis=1) & (self.apart is not None)
        self.hints = np.full((3, len(conditions)), np.inf)

    def decide(self, floor: Fraction, aim: Aim | None) -> Fraction | None:
        """The answer of `judge_robust`; it is at least `floor`."""
        worst = self.apart_worst(self.climb(float(floor), aim), aim)
        if aim and aim.only:
            return aim.bound if worst <= aim.bound and self.shown(worst, aim.bound)[1] else None
        if aim and worst > aim.bound and Search(self.conditions, self.amounts).decide(floor, Aim(aim.bound, only=True)):
            return aim.bound  # Newton's steps went past the worst ratio
        for margin in MARGINS:
            if not worst < HUGE:
                return None
            if aim and worst < aim.bound < worst * (1 + margin) and self.shown(worst, aim.bound)[1]:
                return aim.bound
            worst, bound = self.shown(worst, None, floor, margin)
            if bound:
                return bound
        raise SolverError(f"no bound near the worst ratio that was found, {worst:.6g}, could be proved; please report this")

    def shown(
        self, worst: float, fixed: Fraction | None, floor: Fraction = Fraction(1), margin: Fraction = Fraction(0)
    ) -> tuple[float, Fraction | None]:
        """The worst ratio found, at least the one given, and a bound that is proved for all conditions: the fixed one, or one
        that is hardly above the worst; None if it could not be proved."""
        bound = fixed or max(floor, Fraction(worst) * (1 + margin))
        row = np.array([k for k in range(len(self.conditions)) if not self._directly(k, bound)], np.intp)
        worst, cover = self.cover(row, worst, fixed, margin)
        if not worst < HUGE:
            return worst, None
        bound = fixed or max(floor, Fraction(worst) * (1 + margin))
        return worst, bound if self.proved(row, cover, bound) else None

    def climb(self, worst: float, aim: Aim | None) -> float:
        """A ratio that some P in F reaches: linearise P(y|A) − E P(y|B), E the worst ratio so far, take the P that is best for
        that, again and again. Conditions leave when they are sure to be no worse, or come to rest."""
        p = self.batch.cells.shares if not self.batch.cells.high.any() else self._inside()
        worst, row = max(worst, float(self.batch.ratio(p).max())), np.arange(len(self.conditions))
        for _ in range(CLIMBS):
            if not len(row) or not worst < HUGE or (aim and aim.only and worst > aim.bound):
                break
            bound = nextafter(float(aim.bound), 0) if aim and aim.only else worst * (1 + float(MARGINS[0]))
            values, sums = self.batch.gradient(p, row, bound)
            found, level = self.world.worst(values, self.batch.cells.take(row))
            worst = max(worst, float(self.batch.ratio(found, row).max()))
            left = (np.abs(found - p).max(axis=1) > STILL) & ~self._enough(row, level, sums, bound)
            p, row = found[left], row[left]
        return worst

    def apart_worst(self, worst: float, aim: Aim | None) -> float:
        """The same, of two events apart to the last digits: the bound of P(y|A) − E P(y|B) falls with E, and its slope says
        where it ends. The μ and ν that prove a little more than the answer are kept."""
        row = np.flatnonzero(self.direct & ~(self.hints[2] <= worst))
        if self.apart is None or not len(row):
            return worst
        for _ in range(CLIMBS):
            bound = nextafter(float(aim.bound), 0) if aim and aim.only else worst * (1 + float(MARGINS[0]))
            sides, top, low = self.batch.shares(row), self.batch.most[row], self.batch.least[row]
            mu, nu, excess, slope = self.apart.best(sides, top, low, bound)
            sure = excess <= 0
            self.hints[:, row[sure]] = mu[sure], nu[sure], np.full(sure.sum(), bound)
            with np.errstate(all="ignore"):
                reached = np.where(sure, 0, bound - excess / slope)
            row = row[~sure]
            if not len(row) or not np.all(reached < HUGE):
                return max(worst, float(np.nan_to_num(reached, nan=np.inf).max(initial=0)))
            if aim and aim.only:
                return max(worst, float(reached.max()))
            worst = max(worst, float(reached.max()))
        return worst

    def _enough(self, row: Any, level: Array, sums: list[tuple[Array, Array]], bound: float) -> NDArray[np.bool_]:
        """Whether the μ and ν that belong to a step prove a condition; they are kept, with the bound that they prove."""
        if self.apart is None:
            return np.zeros(len(row), bool)
        (a, over), (b, under) = sums
        mu, nu = over + level * a, level * b / bound - under
        sure = np.asarray(self.direct[row] & (self.apart.excess(self.batch.shares(row), mu, nu, bound) < 0))
        self.hints[:, row[sure]] = mu[sure], nu[sure], np.full(sure.sum(), bound)
        return sure

    def _directly(self, k: int, bound: Fraction) -> bool:
        """Whether a condition of two events apart is proved by its μ and ν, for this bound or a smaller one."""
        mu, nu, least = self.hints[:, k].tolist()
        if self.apart is None or not least <= bound:
            return False
        found, shift = self.conditions[k].found, self.conditions[k].shift + PLACES
        a = [(g.amount[1], g.weight << PLACES) for g in found if g.in_a]
        b = [(g.amount[1], g.weight << PLACES) for g in found if g.in_b]
        whole = Counted(a, b, self.amounts.all[1])
        return self.apart.proves(whole, _whole(mu + TINY, shift), _whole(nu + TINY, shift), Fraction(least))

    def _inside(self) -> Array:
        return self.world.worst(np.zeros_like(self.batch.weight), self.batch.cells)[0]

    def cover(self, row: NDArray[np.intp], worst: float, fixed: Fraction | None, margin: Fraction) -> tuple[float, Cover]:
        """The worst ratio found, at least the one given, and intervals of all t that prove a little more to be a bound.

        With `fixed`, that is what is to be proved, and a worse ratio ends the search.
        """
        kept: list[tuple[Any, ...]] = []
        most, many = HUGE if fixed is None else float(fixed), len(row) + 50
        bound = worst * (1 + float(margin)) if fixed is None else most
        start, end = bound * self.batch.least[row], self.batch.most[row]
        for _ in range(ROUNDS):
            row, start, end = (part[start < end] for part in (row, start, end))
            if not len(row) or worst > most or len(row) > MOST_OPEN * many:
                break
            middle = (start + end) / 2
            share, ratio = self.balance(row, middle, bound)
            if ratio.max() > bound:
                worst = float(ratio.max())
                if not worst < HUGE:
                    break
                bound = worst * (1 + float(margin)) if fixed is None else most
            share, sure = self.settle(row, start, end, share, bound)
            kept.append((row[sure], start[sure], end[sure], share[sure]))
            row, middle = row[~sure], middle[~sure]
            start, end = np.append(start[~sure], middle), np.append(middle, end[~sure])
            row = np.append(row, row)
        kept.append((row, start, end, np.full(len(row), 0.5)))
        return worst, Cover(*(np.concatenate(part) for part in zip(*kept, strict=True)))

    def balance(self, row: Any, t: Array, bound: float) -> tuple[Array, Array]:
        """For each t the weight of A that makes the largest P·v least, and the largest ratio of the P's met on the way.

        The largest P·v is convex in the weight. Each P is a line below it: a step is to where two meet, or half.
        """
        over, under = self.batch.sides(row, t, bound)
        cells, low, high = self.batch.cells.take(row), np.zeros(len(t)), np.ones(len(t))
        left, right = self.world.worst(under, cells)[0], self.world.worst(over, cells)[0]
        for step in range(STEPS):
            share = (low + high) / 2 if step % 2 else _meet(left, right, over, under, low, high)
            p, _ = self.world.worst(share[:, None] * over + (1 - share)[:, None] * under, cells)
            more = (p * (over - under)).sum(1) > 0  # A counts for too much
            low, high = np.where(more, low, share), np.where(more, share, high)
            left, right = np.where(more[:, None], left, p), np.where(more[:, None], p, right)
        lack, excess = (left * (over - under)).sum(1), (right * (over - under)).sum(1)
        part = np.clip(np.divide(excess, excess - lack, out=np.full(len(t), 0.5), where=excess > lack), 0, 1)[:, None]
        ratios = [self.batch.ratio(p, row) for p in (left, right, part * left + (1 - part) * right)]
        return _meet(left, right, over, under, low, high), np.max(ratios, axis=0)

    def settle(self, row: Any, start: Array, end: Array, share: Array, bound: float) -> tuple[Array, NDArray[np.bool_]]:
        """Of the weights found, all on A and all on B, the one that does best at both ends, and whether that is enough."""
        choices = np.array([share, np.ones_like(share), np.zeros_like(share)])
        most = np.array([np.maximum(*(self.largest(row, t, c, bound) for t in (start, end))) for c in choices])
        best = np.argmin(most, axis=0)
        pick = best, np.arange(len(share))
        return choices[pick], most[pick] <= 0

    def largest(self, row: Any, t: Array, share: Array, bound: float) -> Array:
        """The largest P·v over F at a t."""
        values = self._values(row, t, share, bound)
        return np.asarray((self.world.worst(values, self.batch.cells.take(row))[0] * values).sum(1))

    def _values(self, row: Any, t: Array, share: Array, bound: float) -> Array:
        over, under = self.batch.sides(row, t, bound)
        return np.asarray(share[:, None] * over + (1 - share)[:, None] * under)

    def proved(self, rows: NDArray[np.intp], cover: Cover, bound: Fraction) -> bool:
        """Whether the intervals cover every t of these conditions, and each of them holds, for this bound of the ratio."""
        order = np.lexsort((cover.start, cover.row))
        cover = Cover(cover.row[order], cover.start[order], cover.end[order], cover.share[order])
        hints = [self._hint(cover, t, float(bound)).tolist() for t in (cover.start, cover.end)]
        first, last = (np.searchsorted(cover.row, rows, side=side) for side in ("left", "right"))
        return all(
            self._covered(k, [(cover, i, hints[0][i], hints[1][i]) for i in range(first[j], last[j])], bound)
            for j, k in enumerate(rows.tolist())
        )

    def _hint(self, cover: Cover, t: Array, bound: float) -> Array:
        """The μ that floats recommend, a little above the largest value."""
        t = np.clip(t, bound * self.batch.least[cover.row], self.batch.most[cover.row])
        values = self._values(cover.row, t, cover.share, bound)
        mu = self.world.worst(values, self.batch.cells.take(cover.row))[1]
        return np.asarray(mu + TINY * np.abs(values).max(axis=1, initial=0))

    def _covered(self, k: int, pieces: list[tuple[Cover, int, float, float]], bound: Fraction) -> bool:
        condition = self.conditions[k]
        shift = condition.shift + PLACES
        low = (min(g.weight for g in condition.found if g.in_b) * bound.numerator << PLACES) // bound.denominator
        high = max(g.weight for g in condition.found if g.in_a) << PLACES
        counts, least, most = condition.exact
        cells = Exact(counts, least, most, self.amounts.whole)
        scales = Fraction(self.batch.scale_a[k]), Fraction(self.batch.scale_b[k])
        reached = low
        for cover, i, *hints in pieces:
            start, end = (_whole(float(t[i]), shift) for t in (cover.start, cover.end))
            # Floats round the ends of all: the first piece and the last are proved up to the exact ones.
            ends = [low if i == pieces[0][1] else max(start, low), high if i == pieces[-1][1] else min(end, high)]
            if ends[0] > reached:
                return False
            if ends[0] < ends[1]:
                share = Fraction(float(cover.share[i]))
                weights = _whole(share * scales[0], PLACES), _whole((1 - share) * scales[1], PLACES)
                if min(weights) < 0 or not any(weights):
                    return False
                for t, mu in zip(ends, hints, strict=True):
                    values = list(_values(condition.found, t, weights, bound))
                    hint = _whole(mu, shift + PLACES) * bound.denominator
                    if not self._proves(values, cells, hint):
                        return False
            reached = max(reached, ends[1])
        return reached >= high

    def _proves(self, values: list[int], cells: Exact, mu: int) -> bool:
        return max(values) <= 0 or self.world.proves(values, cells, mu)


def _values(found: Sequence[Group], t: int, weights: tuple[int, int], bound: Fraction) -> Iterator[int]:
    """v times a constant, in integers."""
    up, down = bound.numerator, bound.denominator
    for g in found:
        weight = g.weight << PLACES
        over = weights[0] * (weight - t) * down if g.in_a else 0
        yield over + (weights[1] * (t * down - weight * up) if g.in_b else 0)


def _meet(left: Array, right: Array, over: Array, under: Array, low: Array, high: Array) -> Array:
    """The weight of A for which two distributions give the same P·v, between the weights known."""
    at_none, slope = ((left - right) * under).sum(1), ((right - left) * (over - under)).sum(1)
    return np.asarray(np.clip(np.divide(at_none, slope, out=(low + high) / 2, where=slope > 0), low, high))


def _whole(value: float | Fraction, places: int) -> int:
    exact = Fraction(value)
    return (exact.numerator << places) // exact.denominator
