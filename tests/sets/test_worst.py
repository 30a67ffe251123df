"""The worst of P(w|A) against factor·P(w|B): members of F, never beaten by others, the same by independent ways."""

from itertools import permutations

import numpy as np
import pytest
from tests.sets.members import inside, members

import trechter as tr
from trechter.privacy import LDP, LIP, Robust
from trechter.sets import KINDS
from trechter.sets.ratio import worst_by_levels

COUNTS = np.array([[0, 3, 11, 7, 1], [4, 0, 9, 2, 25], [8, 1, 1, 0, 13]])


def rows(random):
    """Rows over cells: dense, sparse, a cell that never occurred alone, and nearly constant ones."""
    k = COUNTS.size
    given = [random.random(k), (random.random(k) < 0.3).astype(float), np.eye(k)[0], np.tile(random.random(5), 3)]
    return np.array([*given, 1 + 0.01 * random.random(k), np.eye(k)[7]])


@pytest.mark.parametrize("notion", [LDP("0.5"), LIP("0.5")], ids=str)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("times", [1, 300])
def test_no_member_is_worse_than_the_worst(kind, notion, times):
    random = np.random.default_rng(0)
    among = Robust(notion, over=kind(alpha="0.05")).among(tr.Joint(COUNTS * times), "sx")
    w, events = rows(random), among.events
    found = among.worst(w)
    for P in members(among.around, 60, random):
        over, under = (P * events.over).sum(axis=1), (P * events.under).sum(axis=1)
        excess = (w * P) @ events.over.T / over - among.factor * (w * P) @ events.under.T / under
        assert np.all(excess <= found.excess + 1e-9)


@pytest.mark.parametrize("times", [1, 10, 10_000])
def test_the_two_sides_of_the_chi_square_set_are_in_its_projection(times):
    """Paper 004, Theorem 3: the conditionals' budgets add up to at most √(B+1) − 1 + P̂(s) + P̂(s'); and the search that knows
    only the support function finds nothing worse."""
    among = Robust(LDP("0.5"), over=tr.ChiSquare()).among(tr.Joint(COUNTS * times), "sx")
    p, w = among.around.p.reshape(3, 5), rows(np.random.default_rng(1))
    found = among.worst(w)
    for m, (s, t) in enumerate(permutations(range(3), 2)):
        for y in range(len(w)):
            R = found.over[y, m], found.under[y, m]
            spent = sum(np.sqrt((p[i][p[i] > 0] ** 2 / r[p[i] > 0]).sum()) for i, r in ((s, R[0]), (t, R[1])))
            assert spent <= np.sqrt(1 + among.around.radius) - 1 + p[s].sum() + p[t].sum() + 1e-10
            assert R[0].sum() == pytest.approx(1)
            assert R[1].sum() == pytest.approx(1)
            assert found.excess[y, m] == pytest.approx(
                R[0] @ w[y].reshape(3, 5)[s] - among.factor * R[1] @ w[y].reshape(3, 5)[t]
            )
    searched = worst_by_levels(among.around.support, among.around.p, among.events, w, among.factor)
    assert np.all(searched.excess <= found.excess + 1e-9)
    near = found.excess > 0  # where there is a violation both find it
    assert np.allclose(searched.excess[near], found.excess[near], atol=1e-6)


def test_conditions_hold_on_the_cone_and_cut_off_the_row():
    among = Robust(LDP("0.5"), over=tr.ChiSquare()).among(tr.Joint(COUNTS), "x")
    random = np.random.default_rng(2)
    w = random.random((20, 5)) ** 6
    whose, cuts, excess = among.cuts(w, 1e-11)
    assert len(whose) > 20
    assert np.allclose(np.bincount(whose, (cuts * w[whose]).sum(axis=1) > 0, 20), np.bincount(whose, minlength=20))
    inner = 1 + 0.2 * random.random((200, 5))
    inner = inner[among.excess(inner) <= 0]
    assert len(inner) > 20
    assert (inner @ cuts.T).max() <= 1e-12
    assert np.all(excess[whose] > 0)
    assert inside(among.around, among.around.p)
