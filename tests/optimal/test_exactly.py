"""Perfect privacy where rays are too many to list: exact rays from the supports of float rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import levels

import trechter as tr
from trechter.geometry import Cone, extreme_rays
from trechter.optimal import pairs
from trechter.optimal.exactly import exact_ray, vertices_of


def equalities(seed, c, a):
    """The cone of rows that are independent of the secret, in exact numbers."""
    counts = np.random.default_rng(seed).integers(1, 30, (c, a))
    given = [[Fraction(int(n), int(row.sum())) for n in row] for row in counts]
    total = [Fraction(int(n), int(counts.sum())) for n in counts.sum(axis=0)]
    rows = [[g - t for g, t in zip(row, total, strict=True)] for row in given]
    return Cone(np.array(rows + [[-v for v in row] for row in rows], object))


@pytest.mark.parametrize("seed", range(8))
def test_every_ray_is_found_again_from_its_floats(seed):
    cone = equalities(seed, 3, 7)
    for ray in extreme_rays(cone):
        row = ray.astype(float)
        assert exact_ray(cone, row / row.sum()).tolist() == ray.tolist()


def test_what_is_no_vertex_has_no_ray():
    cone = equalities(0, 3, 7)
    rays = extreme_rays(cone).astype(float)
    assert exact_ray(cone, rays[0] + rays[-1]) is None or len(rays) == 1
    assert exact_ray(cone, np.eye(7)[0]) is None


def test_perfect_privacy_of_many_values_is_exact_and_optimal():
    counts = np.random.default_rng(0).integers(1, 100, (4, 26))
    joint = tr.Joint(counts)
    result = tr.design(joint, tr.LIP(0), solver="columns")
    assert result.utility == pytest.approx(tr.design(joint, tr.LIP(0)).utility, abs=1e-6)
    assert result.certificate.level_exact == 1
    assert result.gap <= 1e-6
    assert levels.worst_ratio("lip", result.protocol.weights, counts) == 1
    assert result.utility == pytest.approx(tr.design(joint, tr.LIP("1e-6")).utility, abs=1e-3)


def test_time_may_run_out():
    joint = tr.Joint(np.random.default_rng(0).integers(1, 100, (8, 60)))
    result = tr.design(joint, tr.LIP(0), time_limit=1.5)
    assert result.certificate.level_exact == 1
    assert result.utility <= result.bound


@pytest.mark.parametrize("seed", range(8))
def test_what_is_no_vertex_is_taken_apart_into_some(seed):
    rng = np.random.default_rng(seed)
    cone = equalities(seed, int(rng.integers(2, 5)), int(rng.integers(6, 13)))
    rays = extreme_rays(cone).astype(float)
    row = rng.dirichlet(np.full(len(rays), 0.3)) @ (rays / rays.max(axis=1, keepdims=True))
    parts = list(vertices_of(cone, row))
    assert all(exact_ray(cone, part) is not None for part in parts)
    assert np.sum(parts, axis=0) == pytest.approx(row, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_distortion_is_linear_at_perfect_privacy_too(seed):
    """The outputs of the linear program are no vertices; what is delivered is exact all the same."""
    rng = np.random.default_rng(seed)
    joint = tr.Joint(rng.integers(1, 50, (3, 9)))
    measure = tr.Distortion(rng.random((9, 4)), readings=list("abcd"))
    listed, linear = (tr.design(joint, tr.LDP(0), measure=measure, solver=s) for s in ("vertices", "linear"))
    assert linear.certificate.level_exact == 1
    assert linear.status == "optimal"
    assert linear.utility == pytest.approx(listed.utility, abs=1e-6)


def test_conditions_that_are_nearly_one_are_not_one_in_exact_numbers():
    """Four secrets mixed from two profiles in floats: the conditions differ in the sixteenth digit, so they are three."""
    rng = np.random.default_rng(1)
    joint = tr.Joint(rng.dirichlet(np.ones(2), 4) @ rng.dirichlet(np.ones(2), 7).T)
    for notion in (tr.LIP(0), tr.LDP(0), tr.LIP("1e-9")):
        assert tr.design(joint, notion).certificate.holds
    exact = tr.design(joint, tr.LIP(0))
    assert (exact.solver, exact.certificate.level_exact) == ("vertices", 1)


def test_pairs_without_a_matrix_are_exact_too(monkeypatch):
    """The same protocol but for rounding, with a value that nobody has; its level is 1 to the letter."""
    counts = np.random.default_rng(2).integers(0, 90, (2, 40)) * (np.arange(40) != 7)
    joint = tr.Joint(counts)
    dense = tr.design(joint, tr.LIP(0))
    monkeypatch.setattr(pairs, "LARGE", 0)
    sparse = tr.design(joint, tr.LIP(0))
    assert sparse.protocol.kind == "sparse"
    assert levels.worst_ratio("lip", sparse.protocol.weights, counts) == 1
    assert sparse.utility == pytest.approx(dense.utility, abs=1e-7)
    assert sparse.status == "optimal"
    assert sparse.protocol.matrix[:, 7] == pytest.approx(sparse.protocol.matrix @ joint.p_x, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0, "1e-9"])
def test_thousands_of_values_in_seconds(epsilon):
    joint = tr.Joint(np.random.default_rng(2).integers(0, 900, (2, 5000)))
    result = tr.design(joint, tr.LDP(epsilon))
    assert result.certificate.holds
    assert result.gap <= 2e-6
    assert result.seconds < 20


def test_rays_of_any_size_are_shares_of_their_largest_entry():
    """Floats far apart make integers beyond all floats."""
    counts = np.random.default_rng(5).random((2, 4, 4)) * 10.0 ** -np.random.default_rng(6).integers(0, 16, (1, 4, 4))
    for notion in (tr.SRLIP(0), tr.LIP(0), tr.SRLDP("1e-9")):
        result = tr.design(tr.Joint(counts), notion)
        assert result.certificate.holds
        assert result.gap <= 1e-6 or notion.epsilon


def test_time_ends_the_taking_apart():
    joint = tr.Joint(np.random.default_rng(0).random((5, 300)))
    result = tr.design(joint, tr.LIP(0), time_limit=1)
    assert result.certificate.level_exact == 1
    assert result.seconds < 8


def test_a_solver_at_its_wits_end_leaves_the_constant():
    """Counts along a curve, 20 secrets: floats see fewer equations than there are. Nothing is said, and why is."""
    x, y = np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 32)[None]
    joint = tr.Joint(np.floor(1000 * np.exp(-8 * (x - y) ** 2)).astype(int))
    result = tr.design(joint, tr.LIP(0), time_limit=3)
    assert result.certificate.level_exact == 1
    assert 0 <= result.utility <= result.bound <= tr.design(joint, tr.LIP("inf")).utility + 1e-9
    assert (result.status == "gap") == ("stopped" in result.stats)
