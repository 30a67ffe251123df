"""Perfect privacy where rays are too many to list: exact rays from the supports of float rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import levels

import trechter as tr
from trechter.geometry import Cone, extreme_rays
from trechter.optimal.exactly import exact_ray


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
