"""Extreme rays against a slow oracle in Fractions, by symmetry, and by the closure of the edge graph."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import gcd
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trechter as tr
from trechter.errors import SolverError
from trechter.geometry import Cone, extreme_rays, rays

ADULT = next((p for p in (Path(__file__).parents[k] / "shared/data/adult.csv.gz" for k in (2, 3)) if p.exists()), None)


def kernel(rows):
    """The vector that spans the null space of the rows, or None if its dimension is not one (Gauss–Jordan)."""
    rows, n, pivots = [list(map(Fraction, r)) for r in rows], len(rows[0]) if rows else 0, []
    for column in range(n):
        found = next((r for r in range(len(pivots), len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        k = len(pivots)
        rows[k], rows[found] = rows[found], rows[k]
        rows[k] = [v / rows[k][column] for v in rows[k]]
        rows = [r if i == k else [v - r[column] * w for v, w in zip(r, rows[k], strict=True)] for i, r in enumerate(rows)]
        pivots.append(column)
    free = [c for c in range(n) if c not in pivots]
    if len(free) != 1:
        return None
    vector = [Fraction(0)] * n
    vector[free[0]] = Fraction(1)
    for k, column in enumerate(pivots):
        vector[column] = -rows[k][free[0]]
    return vector


def primitive(vector):
    scale = 1
    for v in map(Fraction, vector):
        scale = scale * v.denominator // gcd(scale, v.denominator)
    integers = [int(v * scale) for v in vector]
    return tuple(v // gcd(*integers) for v in integers)


def oracle(A, n):
    """Every line that is cut out by n − 1 of the conditions, when one of its directions is in the cone."""
    conditions = [[-int(i == j) for j in range(n)] for i in range(n)] + [list(row) for row in A]
    if n == 1:
        return {(1,)} if all(row[0] <= 0 for row in A) else set()
    lines = filter(None, (kernel(rows) for rows in combinations(conditions, n - 1)))
    rays = ([sign * v for v in line] for line in lines for sign in (1, -1))
    return {
        primitive(ray) for ray in rays if all(sum(a * v for a, v in zip(row, ray, strict=True)) <= 0 for row in conditions)
    }


def exact(A, n):
    return Cone(np.array([list(row) for row in A], object).reshape(-1, n))


def as_set(rays):
    return {tuple(map(int, ray)) for ray in rays}


def same_rays(left, right, tolerance=1e-9):
    """Two float lists are equal as sets of directions."""
    left, right = (r / r.max(axis=1, keepdims=True, initial=0) for r in (left, right))
    return len(left) == len(right) and (
        not len(left)
        or all(
            np.abs(a[:, None] - b).max(axis=2).min(axis=1).max(initial=0) < tolerance
            for a, b in ((left, right), (right, left))
        )
    )


def lip(counts, E):
    """Conditions of ε-LIP, E = e^ε, in the arithmetic of its arguments."""
    n, s, x = counts.sum(), counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    return np.concatenate([n * counts - E * s * x, s * x - E * n * counts])


def ldp(counts, E):
    s = counts.sum(axis=1)
    pairs = [(i, j) for i in range(len(s)) for j in range(len(s)) if i != j]
    return np.array([counts[i] * s[j] - E * counts[j] * s[i] for i, j in pairs])


def small_cones(values):
    sizes = st.tuples(st.integers(1, 4), st.integers(0, 5))
    return sizes.flatmap(
        lambda nk: st.lists(st.lists(values, min_size=nk[0], max_size=nk[0]), min_size=nk[1], max_size=nk[1]).map(
            lambda A: (A, nk[0])
        )
    )


@given(small_cones(st.integers(-3, 3)))
@settings(max_examples=150, deadline=None)
def test_exact_and_float_rays_equal_the_oracle(cone):
    A, n = cone
    rays = extreme_rays(exact(A, n))
    assert len(as_set(rays)) == len(rays)
    assert as_set(rays) == oracle(A, n)
    assert all(type(v) is int for v in rays.flat)
    floats = extreme_rays(Cone(np.array(A, float).reshape(-1, n)))
    assert same_rays(floats, rays.astype(float).reshape(-1, n))


@given(small_cones(st.fractions(-2, 2, max_denominator=5)))
@settings(max_examples=50, deadline=None)
def test_fractions_are_exact(cone):
    A, n = cone
    assert as_set(extreme_rays(exact(A, n))) == oracle(A, n)


@given(small_cones(st.integers(-2, 2)), st.randoms())
@settings(max_examples=50, deadline=None)
def test_rays_depend_on_the_cone_alone(cone, random):
    A, n = cone
    scales = [(row, random.randint(1, 9)) for row in A for _ in range(random.randint(1, 2))]
    shuffled = [[scale * v for v in row] for row, scale in scales]
    random.shuffle(shuffled)
    assert as_set(extreme_rays(exact(shuffled, n))) == as_set(extreme_rays(exact(A, n)))


@given(st.integers(2, 3), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([lip, ldp]))
@settings(max_examples=60, deadline=None)
def test_perfect_privacy_is_exact(c, a, seed, conditions):
    counts = np.random.default_rng(seed).integers(0, 6, (c, a)) + np.eye(c, a, dtype=int)
    counts[:, 0] += 1
    A = conditions(np.array(counts.tolist(), object), 1)
    rays = extreme_rays(exact(A, a))
    assert as_set(rays) == oracle(A, a)
    assert not (rays @ A.T).any()
    assert ((rays != 0).sum(axis=1) <= c).all()
    assert same_rays(extreme_rays(Cone(A.astype(float))), rays.astype(float))


@given(st.integers(2, 3), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([lip, ldp]))
@settings(max_examples=60, deadline=None)
def test_privacy_cones_equal_the_oracle(c, a, seed, conditions):
    counts = np.random.default_rng(seed).integers(0, 9, (c, a)) + np.eye(c, a, dtype=int)
    A = conditions(np.array(counts.tolist(), object), Fraction(3, 2))
    rays = extreme_rays(exact(A, a))
    assert as_set(rays) == oracle(A, a)
    assert same_rays(extreme_rays(Cone(A.astype(float))), rays.astype(float))


@pytest.mark.parametrize("conditions", [lip, ldp])
def test_large_degenerate_cones_agree_with_exact_arithmetic(conditions):
    # Repeated columns, empty cells and several words of zeros; LDP has many dependent tight conditions.
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 20, (4, 9)) * (rng.random((4, 9)) < 0.7)
    counts = np.concatenate([counts, 3 * counts[:, :2], counts[:, 2:3] + 1], axis=1)
    A = conditions(np.array(counts.tolist(), object), Fraction(8, 5))
    A = np.concatenate([A, A[::-1] * 7, A[:30:-1] * 2, 0 * A, 0 * A])
    rays = extreme_rays(exact(A, 12))
    assert len(rays) > 50
    assert same_rays(extreme_rays(Cone(A.astype(float))), rays.astype(float))


@pytest.mark.parametrize(("c", "a"), [(9, 11), (3, 20), (2, 62)])
def test_the_edge_graph_is_closed(c, a):
    """In a simple cone each ray has n − 1 edges, and each is shared by two rays. The edge graph of a cone is connected,
    so a list of rays that is closed under edges has them all."""
    counts = np.random.default_rng(a).gamma(1, size=(c, a))
    A = lip(counts, 1.6)
    A = A[(A > 0).any(axis=1)]
    rays = extreme_rays(Cone(A))
    slack = np.concatenate([rays, -rays @ A.T], axis=1)
    scale = np.concatenate([rays.max(axis=1, keepdims=True).repeat(a, 1), rays @ np.abs(A.T)], axis=1)
    tight = slack < 1e-10 * scale
    assert (tight.sum(axis=1) == a - 1).all()
    edges = Counter(frozenset(np.flatnonzero(t)) - {k} for t in tight for k in np.flatnonzero(t))
    assert len(rays) > 100
    assert set(edges.values()) == {2}


def test_no_conditions_give_unit_vectors():
    for n in (1, 2, 5):
        assert (extreme_rays(Cone(np.zeros((0, n)))) == np.eye(n)).all()
        assert as_set(extreme_rays(exact([], n))) == as_set(np.eye(n))


def test_conditions_that_cannot_be_violated_are_void():
    assert (extreme_rays(Cone(np.array([[-1.0, 0, -2], [0, 0, 0]]))) == np.eye(3)).all()


def test_the_cone_of_zero_alone_has_no_rays():
    assert extreme_rays(Cone(np.ones((1, 3)))).shape == (0, 3)
    assert extreme_rays(exact([[1, -1], [-1, Fraction(3, 2)]], 2)).shape == (0, 2)
    assert extreme_rays(Cone(np.array([[1.0]]))).shape == (0, 1)


def test_zero_columns_are_free_letters():
    rays = extreme_rays(exact([[0, 1, -2]], 3))
    assert as_set(rays) == {(1, 0, 0), (0, 0, 1), (0, 2, 1)}


def test_rare_letters_and_secrets_do_not_drown():
    """Scaling a column scales that coordinate of every ray; scaling a row does nothing."""
    counts = np.random.default_rng(0).gamma(1, size=(4, 8))
    A = lip(counts, 1.5)
    column, row = 10.0 ** -np.arange(0, 16, 2), 10.0 ** -np.arange(0, 16, 2)[:, None]
    plain, scaled = extreme_rays(Cone(A)), extreme_rays(Cone(A * column * row))
    assert same_rays(scaled * column, plain)


def test_near_duplicates_are_merged():
    A = np.array([[1.0, -1.0, -1.0 - 1e-13], [-1.0, 1.0 - 1e-13, 1.0]])
    rays = extreme_rays(Cone(A))
    distance = np.abs(rays[:, None] - rays).max(axis=2) + np.eye(len(rays))
    assert distance.min() > 1e-11
    assert (Cone(A).excess(rays) < 1e-10).all()


def test_too_many_rays_is_an_error_that_says_how_many():
    counts = np.random.default_rng(0).gamma(1, size=(2, 30))
    full = len(extreme_rays(Cone(lip(counts, 1.5))))
    assert len(extreme_rays(Cone(lip(counts, 1.5)), 10**4)) == full
    with pytest.raises(SolverError, match=r"limit of 40: at least \d+ with"):
        extreme_rays(Cone(lip(counts, 1.5)), limit=40)


@pytest.mark.parametrize("shape", [(2, 12), (3, 10), (4, 8)])
def test_a_limit_stops_the_list_or_leaves_it_as_it_is(shape, monkeypatch):
    """It is an error exactly if a stage has more rays, although that stage is then not listed to its end."""
    cone, stages = Cone(lip(np.random.default_rng(sum(shape)).gamma(1, size=shape), 1.2)), []
    impose = rays._impose

    def recorded(*arguments):
        found = impose(*arguments)
        stages.append(len(found[0]))
        return found

    monkeypatch.setattr(rays, "_impose", recorded)
    full, largest = extreme_rays(cone), max(stages)
    for limit in (largest // 3, largest - 1, largest, largest + 1):
        if limit < largest:
            with pytest.raises(SolverError, match=f"limit of {limit}:"):
                extreme_rays(cone, limit)
        else:
            assert np.array_equal(extreme_rays(cone, limit), full)


def test_a_list_that_gets_long_is_given_up_at_once():
    """Among rays that are not simple the pairs beyond the limit are not looked for."""
    joint = tr.Joint(np.random.default_rng(2).random((2, 3, 3, 4)))
    cone = tr.SRLIP("1/2").cone(joint).active
    counts = []
    for limit in (500, 3000):
        with pytest.raises(SolverError, match="at least") as error:
            extreme_rays(cone, limit)
        counts.append(int(re.search(r"at least (\d+)", str(error.value))[1]))
    assert 500 < counts[0] < 2900
    assert 3000 < counts[1] < 9000  # there are 19,474


def test_conditions_that_are_not_finite_are_refused():
    for bad in (np.inf, np.nan):
        with pytest.raises(SolverError, match="not finite"):
            extreme_rays(Cone(np.array([[1.0, bad]])))


@pytest.mark.skipif(ADULT is None, reason="needs Adult in ../shared/data/adult.csv.gz, which is not in the project")
def test_adult_occupation_education():
    with gzip.open(ADULT, "rt", newline="") as file:
        counted = Counter((r["occupation"], r["education"]) for r in csv.DictReader(file))
    secrets, letters = (sorted(set(names)) for names in zip(*counted, strict=True))
    counts = np.array([[counted[s, x] for x in letters] for s in secrets], float)
    assert counts.shape == (15, 16)
    assert len(extreme_rays(Cone(lip(counts, np.exp(0.5))))) == 32952
