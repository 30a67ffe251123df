"""From float probabilities to integer weights over 2^bits, so that privacy survives.

Columns (ε > 0). With E = e^ε and b rows let d = ⌈E/(E−1)⌉, D = ⌈(b−1)/(E−1)⌉ and Z = d(b−1) + D. Rows y ≥ 1 become
⌊(M−Z) Q_y⌋ + d and row 0 becomes ⌊(M−Z) Q_0⌋ + D plus what its column lacks of M. Flooring costs the others at most
E ≤ d(E−1), and row 0 gains less than b−1 ≤ D(E−1): every row that obeyed f·w ≤ E g·w for distributions f, g still does.

Rays (ε = 0). Equalities do not survive column rounding. Write each row as m·r with r an integer ray and m rounded down:
the remainder M·1 − Σ m r is non-negative and obeys every equality that the rays and the vector 1 obey.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trechter.exact.exponential import exp_bounds
from trechter.exact.matrices import Integers

WORD = 62  # weights over at most 2^62 fit 64-bit integers, and so do their column sums
SPARE = 36  # bits that keep what rounding costs below 1e-10 of a nat
VAST = 64  # above this ε the margins are what they are at ∞


def margins(epsilon: Fraction | None, rows: int) -> tuple[int, int]:
    """(d, D): what every row but the first is given, and what the first is given."""
    if epsilon is None:
        return 0, 0
    E = factor(epsilon)
    return -int(-E // (E - 1)), -int((1 - rows) // (E - 1))


def factor(epsilon: Fraction) -> Fraction:
    """At most e^ε, above 1, and precise where margins depend on it."""
    return max(exp_bounds(min(epsilon, Fraction(VAST)))[0], 1 + epsilon)


def bits_needed(epsilon: Fraction | None, rows: int, least: int = 48) -> int:
    """Enough bits for rounding to cost nothing that matters; at ε > 0."""
    d, D = margins(epsilon, rows)
    return max(least, (d * (rows - 1) + D).bit_length() + SPARE)


def round_columns(Q: NDArray[np.float64], epsilon: Fraction | None, bits: int) -> Integers:
    """Integer weights of a matrix whose columns are taken as exact shares; the first row takes the rounding."""
    d, D = margins(epsilon, len(Q))
    M = 1 << bits
    weights: NDArray[np.object_] = _floors(Q, M - d * (len(Q) - 1) - D) + d
    weights[0] = 0
    weights[0] = M - weights.sum(axis=0)
    return weights.astype(np.int64) if bits <= WORD else weights


def round_rays(rays: NDArray[np.object_], scale: NDArray[np.float64], bits: int) -> NDArray[np.object_]:
    """Integer rows ⌊scale·2^bits / max ray⌋·ray for integer rays, and as the last row what is left of 2^bits."""
    M = 1 << bits
    multiples = np.array([int(Fraction(float(s)) * M / most) for s, most in zip(scale, rays.max(axis=1), strict=True)], object)
    spent = max((multiples[:, None] * rays).sum(axis=0))
    if spent > M:  # the scales are floats and may overdraw by a hair
        multiples = multiples * M // spent
    rows = multiples[:, None] * rays
    return np.vstack([rows, M - rows.sum(axis=0)])


def _floors(Q: NDArray[np.float64], room: int) -> NDArray[np.object_]:
    """⌊room · Q / (sum of its column)⌋ of the floats as the binary fractions that they are."""
    if room <= 0:
        raise ValueError(f"the margins of {len(Q)} rows leave no room: use more bits")
    if not (np.all(np.isfinite(Q)) and np.all(Q >= 0) and np.all(Q.any(axis=0))):
        raise ValueError("a matrix of probabilities has finite entries ≥ 0 and no empty column")
    units = units_of(Q)
    floors: NDArray[np.object_] = units * room // units.sum(axis=0)
    return floors


def units_of(values: NDArray[np.float64]) -> NDArray[np.object_]:
    """Floats as the integers that they are, on one scale."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(mantissa, 53).astype(np.int64).astype(object) << (exponent - exponent.min()).astype(object))
