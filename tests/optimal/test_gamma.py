"""LDP through the cone equals LDP through Γ, the known polytope in a² − a dimensions, for a ≤ 4.

Γ: the matrices Q (a × a, one output a row) with Q ≥ 0, columns summing to 1 and (Q p_{X|s})_y ≤ e^ε (Q p_{X|s'})_y. Its
vertices are enumerated here by double description in exact numbers of its homogenisation, and I(X;Y) is convex on it.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import trechter as tr
from trechter.exact import exp_bounds
from trechter.geometry import Cone
from trechter.geometry.rays import extreme_rays


def gamma_optimum(counts, eps):
    """max I(X;Y) over the vertices of Γ: rays of a cone in which the last column is what the others leave."""
    c, a = counts.shape
    given = counts / counts.sum(axis=1, keepdims=True)
    p, E = counts.sum(axis=0) / counts.sum(), float(exp_bounds(Fraction(eps))[0])
    conditions = []
    for y in range(a):
        for s in range(c):
            for t in range(c):
                if s != t:
                    row = np.zeros((a, a))
                    row[y] = given[s] - E * given[t]
                    conditions.append(row.ravel())
    for x in range(1, a):  # all columns have the same sum: equalities as pairs
        row = np.zeros((a, a))
        row[:, x], row[:, 0] = 1, -1
        conditions += [row.ravel(), -row.ravel()]
    rays = extreme_rays(Cone(np.array(conditions)))
    best = 0.0
    for ray in rays:
        Q = ray.reshape(a, a) / ray.reshape(a, a).sum(axis=0)
        q = Q @ p
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(Q > 0, Q * p * np.log(Q / q[:, None]), 0)
        best = max(best, float(terms.sum()))
    return best, len(rays)


@pytest.mark.parametrize(("a", "seeds"), [(3, range(4)), (4, range(1))])
@pytest.mark.parametrize("eps", ["1/2", "1"])
def test_cone_equals_gamma(a, seeds, eps):
    for seed in seeds:
        counts = np.random.default_rng(seed).integers(1, 100, (2, a))
        optimum, vertices = gamma_optimum(counts, eps)
        result = tr.design(tr.Joint(counts), tr.LDP(eps))
        assert result.utility == pytest.approx(optimum, abs=1e-8)
        assert vertices > result.stats.get("rays", 0)
        assert math.isfinite(optimum)
