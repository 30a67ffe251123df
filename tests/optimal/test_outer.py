"""Robust information: what is found keeps its promise over F, its bound is one, and it is what brute force finds."""

import numpy as np
import pytest
from tests.sets.members import members

import trechter as tr
from trechter.sets import KINDS
from trechter.sets.ratio import SMOOTH

CHI = tr.ChiSquare(alpha="0.05")


def drawn(seed, shape, n):
    random = np.random.default_rng(seed)
    return tr.Joint(random.multinomial(n, random.dirichlet(np.ones(np.prod(shape)))).reshape(shape))


@pytest.mark.parametrize("notion", [tr.LDP(1), tr.LIP("0.5")], ids=str)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_robust_design_keeps_its_promise_and_has_a_bound(kind, notion):
    joint, over = drawn(1, (2, 3), 3_000), kind(alpha="0.05")
    result, plain = tr.design(joint, tr.Robust(notion, over=over)), tr.design(joint, notion)
    assert result.gap <= (1e-6 if kind.search is SMOOTH else 2e-5)  # faces and edges are harder to prove
    assert result.certificate.holds
    assert 0 < result.utility <= result.bound <= plain.bound + 1e-9
    worst = max(
        notion.level(result.protocol, tr.Joint(P.reshape(2, 3)))
        for P in members(over.around(joint), 100, np.random.default_rng(0))
    )
    assert worst <= float(notion.epsilon) + 1e-9


def test_no_protocol_of_a_fine_grid_is_better():
    """c = a = 2: rows are (u, 1) up to scale; the robust cone is an interval of u, and an optimum has its two ends as rows."""
    joint, robust = tr.Joint([[40, 10], [15, 60]]), tr.Robust(tr.LDP("0.8"), over=CHI)
    among, result = robust.among(joint, "x"), tr.design(joint, robust)
    u = np.exp(np.linspace(-4, 4, 20_001))
    private = u[among.excess(np.column_stack([u, np.ones_like(u)])) <= 0]
    low, high = np.array([private.min(), 1.0]), np.array([private.max(), 1.0])
    theta = np.linalg.solve(np.column_stack([low, high]), np.ones(2))
    rows = theta[:, None] * np.array([low, high])
    q = rows @ joint.p_x
    best = float((rows * joint.p_x * np.log(rows / q[:, None])).sum())
    assert result.utility == pytest.approx(best, abs=2e-4)
    assert result.bound >= best


def test_a_protocol_that_may_read_the_secret_is_at_least_as_good():
    joint, robust = drawn(2, (2, 3), 3_000), tr.Robust(tr.LDP(1), over=CHI)
    assert tr.design(joint, robust, reads="sx").bound >= tr.design(joint, robust).utility


def test_values_that_never_occurred_are_designed_for():
    joint = tr.Joint([[40, 10, 0], [15, 60, 0]])
    result = tr.design(joint, tr.Robust(tr.LDP("0.8"), over=CHI))
    assert result.certificate.holds
    assert result.gap <= 1e-4  # letters that never occurred are lent a millionth of the mass
    with pytest.raises(tr.TrechterError, match="never occur"):
        tr.design(joint, tr.Robust(tr.LDP("0.8"), over=CHI), measure=tr.ChiSquareInformation())


def test_more_rows_make_the_price_of_not_knowing_small():
    shares = np.array([[4, 1, 3], [1, 6, 2]])
    plain = tr.design(tr.Joint(shares), tr.LDP(1)).utility
    price = [plain - tr.design(tr.Joint(shares * k), tr.Robust(tr.LDP(1), over=CHI)).utility for k in (20, 200, 20_000)]
    assert price[0] > price[1] > price[2] > 0
    assert price[2] < 0.02


def test_perfect_privacy_over_a_set_says_nothing():
    result = tr.design(drawn(1, (2, 3), 300), tr.Robust(tr.LDP(0), over=CHI))
    assert result.utility == 0
    assert result.bound == 0
    assert result.certificate.holds
