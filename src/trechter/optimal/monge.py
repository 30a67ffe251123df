"""Pricing all pairs across a bound at once: no output at it may be worth more than its letters cost.

With prices u an output of x and x' moves excess at a profit G = σ u_x + τ u_x' − c(σ, τ), which is G / (σ + τ) per unit of
its probability. As ∂²G/∂σ∂τ = −1/(σ+τ) < 0, the best partner falls as σ rises (Monge), so the best partners of m rows
among n columns take O(n log m + m) evaluations: the middle row first, then each half among the columns left to it.

Floats: a partner that is missed by an error of G costs any row below it no more than that error. To keep it small beside
every σ + τ, rows and columns are taken in bands, within which they differ by a factor of at most 2^BAND.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trechter.geometry.cone import Array
from trechter.optimal.staircase import cost

Index = NDArray[np.intp]
BAND = 5
ROUNDING = 2.0**-50  # relative error of one evaluation of G, with room to spare


def most_profit(d: Array, duals: Array) -> float:
    """An upper bound of G / (σ + τ) over all pairs across the bound that d is the distance from; −inf without pairs."""
    beyond, within = (_bands(d, side) for side in (d > 0, d < 0))
    return max((_block(d, duals, rows, columns) for rows in beyond for columns in within), default=-np.inf)


def _bands(d: Array, side: NDArray[np.bool_]) -> list[Index]:
    """Letters by size of 1/|d|, each band with the nearest to the bound first."""
    letters = np.flatnonzero(side)
    letters = letters[np.argsort(np.abs(d[letters]))]
    exponent = np.frexp(d[letters])[1] // BAND
    return np.split(letters, np.flatnonzero(np.diff(exponent)) + 1) if len(letters) else []


def _block(d: Array, duals: Array, rows: Index, columns: Index) -> float:
    """The bound for rows nearest first against columns farthest first: their best partners advance together."""
    rows, columns = (rows, columns[::-1]) if len(rows) >= len(columns) else (columns, rows[::-1])
    (s, u), (t, v) = ((1 / np.abs(d[i]), duals[i]) for i in (rows, columns))

    def profit(i: Index, j: Index) -> Array:
        return np.asarray(s[i] * u[i] + t[j] * v[j] - cost(s[i], t[j]))

    best = row_maxima(profit, len(rows), len(columns))
    # Each halving may miss by the errors of two evaluations, whose terms are largest at the ends of the bands.
    terms = (s * np.abs(u)).max() + (t * np.abs(v)).max() + s[0] + t[-1]
    error = ROUNDING * terms / (s[-1] + t[0]) * 2 * (len(rows).bit_length() + 1)
    return float((profit(np.arange(len(rows)), best) / (s + t[0])).max().clip(0) + error)


def row_maxima(value: Callable[[Index, Index], Array], m: int, n: int) -> Index:
    """The column of the largest value of each row, if it never decreases from row to row."""
    best = np.full(m + 1, n - 1)  # and −1, which is read as row m, is bounded below by 0
    step = 1 << (m.bit_length() - 1)
    while step:
        rows = np.arange(step - 1, m, 2 * step)
        first = np.where(rows - step < 0, 0, best[rows - step])
        count = best[np.minimum(rows + step, m)] - first + 1
        starts = np.cumsum(count) - count
        column = np.arange(count.sum()) - np.repeat(starts - first, count)
        values = value(np.repeat(rows, count), column)
        top = np.repeat(np.maximum.reduceat(values, starts), count)
        hits = np.flatnonzero(values == top)
        best[rows] = column[hits[np.searchsorted(hits, starts)]]
        step >>= 1
    return best[:m]
