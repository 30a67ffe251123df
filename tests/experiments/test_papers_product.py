"""The papers' product obeys its theorem's conditions; what the theorem concludes from them is false, and measured."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from experiments.funnel.papers_product import best_papers_product, even_papers_product, factor, papers_product
from tests.conftest import random_counts

import trechter as tr


def level_of_conditions(counts, j, Q):
    """The least ε with e^-ε ≤ P(yʲ|s,x^J)/P(yʲ|x^J) ≤ e^ε for all J without j and all x^J: the theorem's words, in loops."""
    p, m, worst = counts / counts.sum(), counts.ndim - 1, 0.0
    others = [i for i in range(m) if i != j]
    for J in (J for size in range(m) for J in combinations(others, size)):
        for seen in product(*(range(p.shape[1 + i]) for i in J)):
            inside = np.take(np.moveaxis(p, [1 + i for i in J], range(len(J)))[seen], range(p.shape[0]), axis=0)
            left = [i for i in range(m) if i not in J]
            table = inside.sum(axis=tuple(1 + k for k, i in enumerate(left) if i != j))
            if table.sum() == 0:
                continue
            every = Q @ (table.sum(axis=0) / table.sum())
            for row in table[table.sum(axis=1) > 0]:
                ratios = (Q @ (row / row.sum()))[every > 0] / every[every > 0]
                worst = max(worst, *(abs(math.log(r)) if r > 0 else math.inf for r in ratios))
    return worst


@pytest.mark.parametrize("shape", [(2, 3, 3, 4), (3, 3, 4), (2, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_factors_obey_their_conditions_and_waste_nothing(seed, shape):
    counts = random_counts(seed, *shape)
    for j in range(len(shape) - 1):
        for epsilon in ("1/4", "1"):
            Q = factor(tr.Joint(counts), j, epsilon).matrix
            level = level_of_conditions(counts, j, Q)
            assert level <= float(Fraction(epsilon)) + 1e-9
            if not np.allclose(np.sort(Q.max(axis=0)), 1):  # anything but x itself is as open as it may be
                assert level >= float(Fraction(epsilon)) - 1e-6


def test_factor_is_the_lip_optimum_where_nothing_is_to_be_learnt_from_the_others():
    """X² is independent of (S, X¹): every slice is p(S, X¹)."""
    for seed in range(4):
        counts = random_counts(seed, 2, 5)
        joint = tr.Joint(counts[:, :, None] * np.array([3, 4, 5]))
        for epsilon in ("1/4", "1"):
            Q, alone = factor(joint, 0, epsilon), tr.Joint(counts, release={"X1": range(5)})
            assert tr.mutual_information(alone, Q) == pytest.approx(tr.design(alone, tr.LIP(epsilon)).utility, abs=1e-6)


def test_known_products():
    """Reference numbers of the even split, computed before this code was written."""
    joint = tr.Joint(np.random.default_rng(0).random((2, 3, 3, 4)))
    for epsilon, utility in (("1/2", 0.208), ("1", 0.666), ("2", 1.607)):
        even, best = even_papers_product(joint, epsilon), best_papers_product(joint, epsilon)
        assert even.utility == pytest.approx(utility, abs=5e-4)
        assert best.utility >= even.utility
        assert sum(best.epsilons) == sum(even.epsilons)
        assert best.level == pytest.approx(tr.SRLIP("inf").level(papers_product(joint, best.epsilons), joint))


def test_the_theorem_is_false():
    """Both factors keep to ε/2, and the product is not ε-SRLIP; decided in integers."""
    counts = np.array([[[2, 9], [5, 4]], [[1, 2], [10, 3]]])
    joint = tr.Joint(counts)
    found = even_papers_product(joint, "1/10")
    assert all(level_of_conditions(counts, j, factor(joint, j, "1/20").matrix) <= 0.05 + 1e-9 for j in range(2))
    assert found.level == pytest.approx(0.10236, abs=1e-5)
    assert not tr.certify(found.protocol, joint, tr.SRLIP("0.1023")).holds
    assert tr.certify(found.protocol, joint, tr.SRLIP("0.1024")).holds
