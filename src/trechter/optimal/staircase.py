"""The best protocol of two-letter outputs for a slab lo ≤ Σ v_x r_x ≤ hi, in closed form: O(n log n).

An output that mixes x beyond a bound b with x' on the other side of it, so that its posterior is at b, loses
`f·c(σ, τ)` nats of H(X), where f is the excess p_x(r_x − b) that it moves, σ = 1/|r_x − b|, τ = 1/|r_x' − b| and
`c(σ, τ) = σ ln(1 + τ/σ) + τ ln(1 + σ/τ)`. A letter inside the slab may be an output by itself and then loses nothing.
Let H be the letters above hi, L those below lo, M the rest.

Theorem. (a) For one bound it is best to couple antitonely: the letters beyond b, nearest first, with those on the other
side, farthest first. (b) If the mean of H ∪ L is above hi (below lo), only outputs at hi (lo) are used. (c) If it is between,
M is left alone, and there are thresholds: the letters of H nearest to hi and those of L farthest from hi are coupled at hi,
the rest of H with the rest of L at lo. The excess at both bounds must balance, which determines the thresholds.

Proof. (a) ∂²c/∂σ∂τ = 1/(σ+τ) > 0. (b, c) Per unit mass of x an output at b costs k(z), z = (r_x − b)/(b − r_x'), where
k(z) = (1+z) ln(1+z) − z ln z increases. If (x, m) at hi with m ∈ M and (x', y) at lo with y ∈ L were both used, y could
serve x at hi instead of m, and x' at hi (or x' alone, if in M) instead of lo: every z falls, and m is free. Counting
excess excludes the other cases. For the thresholds let u be optimal duals and `Φ_b(r) = min_y k(z) − z u_y` the price
at which a letter of H is served at b. Its slope is (Φ_b − ln(1+z))/(r − b) = (ln(1+1/z) − u_y)/(b − y), and from these
two forms the slope of Φ_hi exceeds that of Φ_lo wherever they are equal: they cross once, and so do those of L. ∎

The duals follow from the couplings, whose outputs form two paths with two letters in common: along a path U_x + U_x' = c
with U = u·σ, and the letters in common have one price. They are checked afterwards over all pairs, not trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.geometry.cone import Array
from trechter.optimal.slab import Slab

Index = NDArray[np.intp]
Integers = NDArray[np.object_]
Pair = tuple[Integers, Integers]
SAME = 1e-13  # bounds whose distances are proportional to so much are one
BITS = 300  # excess is counted in integers of about so many bits: products of floats, sums and balances are exact


@dataclass(frozen=True, eq=False)
class Path:
    """Outputs at one bound: letters, the mass that each output takes of them, and the potentials U up to a shift s.

    `first` are coupled nearest to the bound first and have potentials `rise` + s; `second` farthest first, `fall` − s.
    """

    first: Index
    second: Index
    mass_first: Array
    mass_second: Array
    rise: Array
    fall: Array


@dataclass(frozen=True, eq=False)
class Staircase:
    """The paths at hi and lo (None if unused), and the duals u (n): OPT loses Σ p u."""

    upper: Path | None
    lower: Path | None
    duals: Array


def cost(s: Array, t: Array) -> Array:
    """c(σ, τ): nats lost per unit of excess."""
    return np.asarray(s * np.log1p(t / s) + t * np.log1p(s / t))


def staircase(masses: Array, slab: Slab) -> Staircase:
    """The optimum and its duals."""
    H, L = np.flatnonzero(slab.upper > 0), np.flatnonzero(slab.lower > 0)
    outside = np.concatenate([H, L])
    if len(outside) == 0:
        return Staircase(None, None, np.zeros(len(masses)))
    above, below = (float(masses[outside] @ d[outside]) for d in (slab.upper, slab.lower))
    if len(L) == 0 or (len(H) and (above >= 0 or _one(slab))):
        path, duals = _one_bound(masses, slab.upper)
        return Staircase(path, None, duals)
    if len(H) == 0 or below >= 0:
        path, duals = _one_bound(masses, slab.lower)
        return Staircase(None, path, duals)
    return _two_bounds(masses, slab, H, L)


def _one(slab: Slab) -> bool:
    """Whether the bounds coincide up to rounding: then distances to them are proportional."""
    h, l = np.argmax(slab.upper), np.argmax(slab.lower)
    return bool(slab.upper[h] * slab.lower[l] >= (1 - SAME) * slab.lower[h] * slab.upper[l])


def _one_bound(masses: Array, d: Array) -> tuple[Path, Array]:
    """All letters beyond the bound, with as many on the other side as it takes."""
    first, second = (np.flatnonzero(side)[np.argsort(d[side])] for side in (d > 0, d < 0))
    excess = _counted(masses, d, first, second)
    have, need = np.cumsum(excess[1]), excess[0].sum()
    last = int(np.searchsorted(have, need))
    used, taken = masses.copy(), excess[1][: last + 1].copy()
    if last < len(second):  # the last one is used in part, unless it is the noise in a balance of everything
        taken[last] -= have[last] - need
        used[second[last]] *= taken[last] / excess[1][last]
    path = _path(first, second[: last + 1], (excess[0], taken), used, d)
    duals = np.zeros(len(masses))
    _price(duals, path, d, float(path.fall[-1]))  # the last one is free: it could be an output by itself
    return path, duals


def _two_bounds(masses: Array, slab: Slab, H: Index, L: Index) -> Staircase:
    """The nearest of H and the farthest of L at hi, the others at lo; one letter of each may be split."""
    H, L = H[np.argsort(slab.upper[H])], L[np.argsort(slab.upper[L])]
    hi, lo = (_counted(masses, d, H, L) for d in (slab.upper, slab.lower))
    h, at_h, l, at_l = _thresholds(hi, lo)
    left = int(lo[0][h] * (hi[0][h] - at_h) // hi[0][h])
    rest = min(max(sum(lo[0][h + 1 :]) + left - sum(lo[1][l + 1 :]), 0), lo[1][l])
    used = masses.copy()
    used[H[h]] *= at_h / hi[0][h]
    used[L[l]] *= at_l / hi[1][l]
    excess = np.append(hi[0][:h], at_h), np.append(hi[1][:l], at_l)
    upper = _path(H[: h + 1], L[: l + 1], excess, used, slab.upper)
    used[H[h]] = masses[H[h]] * ((hi[0][h] - at_h) / hi[0][h])
    used[L[l]] = masses[L[l]] * ((hi[1][l] - at_l) / hi[1][l])
    excess = np.append(lo[1][:l:-1], rest), np.append(lo[0][:h:-1], left)
    lower = _path(L[l:][::-1], H[h:][::-1], excess, used, slab.lower)
    return Staircase(upper, lower, _duals(slab, upper, lower))


def _thresholds(hi: Pair, lo: Pair) -> tuple[int, int, int, int]:
    """The letters of H and of L that are split, and how much of their excess is moved at hi.

    As ever more excess e of H and L is coupled at hi, the balance of what is left at lo is monotone in e: between two
    breakpoints, where one letter of each is being used, it is linear.
    """
    ends = np.cumsum(hi[0]), np.cumsum(hi[1])
    e = np.minimum(np.sort(np.concatenate([[0], *ends])), min(ends[0][-1], ends[1][-1]))
    moved = [
        np.interp(e.astype(float), np.append(0, end).astype(float), np.append(0, np.cumsum(x)).astype(float))
        for end, x in zip(ends, lo, strict=True)
    ]
    k = int(np.searchsorted(moved[0] - moved[1], float(lo[0].sum() - lo[1].sum())))
    h, l = (min(int(np.searchsorted(end, e[max(k - 1, 0)], side="right")), len(end) - 1) for end in ends)
    (a, b), (c, d) = (hi[0][h], hi[1][l]), (lo[0][h], lo[1][l])
    balance = _before(ends[1], l) - _before(ends[0], h), sum(lo[0][h:]) - sum(lo[1][l:])
    # share · a − other · b and share · c − other · d are these, and 0 ≤ share ≤ 1
    moved_h = min(max(a * (b * balance[1] - d * balance[0]) // (b * c - a * d), 0), a)
    at = _before(ends[0], h) + moved_h
    l = min(int(np.searchsorted(ends[1], at)), len(ends[1]) - 1)
    return h, moved_h, l, min(at - _before(ends[1], l), hi[1][l])


def _before(ends: Integers, k: int) -> int:
    return int(ends[k - 1]) if k else 0


def _counted(masses: Array, d: Array, *sides: Index) -> Pair:
    """The excess p·|d| of the letters of two sides, exact and on one scale; every letter has some."""
    (p, e), (x, f) = np.frexp(masses), np.frexp(np.abs(d))
    shift = e + f + BITS - (e + f)[np.concatenate(sides)].max()
    product = _whole(p) * _whole(x)
    scaled = (product << np.maximum(shift, 0).astype(object)) >> np.maximum(-shift, 0).astype(object)
    return np.maximum(scaled[sides[0]], 1), np.maximum(scaled[sides[1]], 1)


def _whole(mantissa: Array) -> Integers:
    return np.ldexp(mantissa, 53).astype(np.int64).astype(object)


def _path(first: Index, second: Index, excess: Pair, used: Array, d: Array) -> Path:
    i, j, f = _coupled(*excess)
    c = cost(1 / np.abs(d[first[i]]), 1 / np.abs(d[second[j]]))
    rise = np.append(0, np.cumsum(np.where(np.diff(i) == 0, 0, np.diff(c))))
    moved = f.astype(np.float64)
    return Path(first[i], second[j], _shared(used[first], i, moved), _shared(used[second], j, moved), rise, c - rise)


def _coupled(first: Integers, second: Integers) -> tuple[Index, Index, Integers]:
    """Two sequences laid along each other: which meet, and over what length; neighbours share a member."""
    ends = np.concatenate([np.cumsum(first), np.cumsum(second)])
    order = np.argsort(ends, kind="stable")
    passed = np.append(0, np.cumsum(order < len(first))[:-1])
    i = np.minimum(passed, len(first) - 1)
    j = np.minimum(np.arange(len(ends)) - passed, len(second) - 1)
    new = np.flatnonzero(np.append(True, (np.diff(i) != 0) | (np.diff(j) != 0)))
    return i[new], j[new], np.add.reduceat(np.diff(ends[order], prepend=0), new)


def _shared(used: Array, index: Index, f: Array) -> Array:
    """The mass used of each letter, over its outputs in proportion to the excess that they move."""
    total = np.bincount(index, f, len(used))[index]
    return np.asarray(used[index] * np.divide(f, total, out=np.zeros(len(f)), where=total > 0))


def _price(duals: Array, path: Path, d: Array, shift: float) -> None:
    duals[path.first] = (path.rise + shift) * np.abs(d[path.first])
    duals[path.second] = (path.fall - shift) * np.abs(d[path.second])


def _duals(slab: Slab, upper: Path, lower: Path) -> Array:
    """Both paths end at the letters h and l that they share, whose prices must agree: two equations for two shifts."""
    h, l = upper.first[-1], upper.second[-1]
    rates = np.abs([[slab.upper[h], slab.lower[h]], [slab.upper[l], slab.lower[l]]])
    # (rise + s) rate at hi = (fall' − s') rate at lo for h;  (fall − s) rate at hi = (rise' + s') rate at lo for l
    matrix = np.array([[rates[0, 0], rates[0, 1]], [-rates[1, 0], -rates[1, 1]]])
    right = [
        lower.fall[-1] * rates[0, 1] - upper.rise[-1] * rates[0, 0],
        lower.rise[-1] * rates[1, 1] - upper.fall[-1] * rates[1, 0],
    ]
    shift = np.linalg.solve(matrix, right)
    duals = np.zeros(len(slab.upper))
    _price(duals, upper, slab.upper, float(shift[0]))
    _price(duals, lower, slab.lower, float(shift[1]))
    return duals
