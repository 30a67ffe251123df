"""The papers' product obeys its theorem's conditions; what the theorem concludes from them is false, and measured."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from tests.conftest import random_counts
from tests.oracles import levels

import trechter as tr
from trechter.mechanisms.factors import Factors
from trechter.mechanisms.papers_product import STEPS, Papers
from trechter.model.dense import DenseProtocol
from trechter.model.operations import product as product_of

COUNTEREXAMPLE = np.array([[[2, 9], [5, 4]], [[1, 2], [10, 3]]])


def even(joint, epsilon):
    """The product that the papers compute."""
    m = len(joint.release)
    return tr.papers_product(joint, tr.SRLIP(epsilon), epsilons=[Fraction(epsilon) / m] * m)


def factor(joint, j, epsilon):
    return Papers(Factors(joint, tr.SRLIP(epsilon))).factor(j, Fraction(epsilon))


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
        plain, best = even(joint, epsilon), tr.papers_product(joint, tr.SRLIP(epsilon))
        assert plain.utility == pytest.approx(utility, abs=5e-4)
        assert best.utility >= plain.utility
        assert sum(map(Fraction, best.stats["epsilons"])) == Fraction(epsilon)
        again = tr.papers_product(joint, tr.SRLIP(epsilon), epsilons=best.stats["epsilons"])
        assert again.protocol == best.protocol
        assert best.certificate.level == pytest.approx(tr.SRLIP("inf").level(best.protocol, joint), abs=1e-9)


def test_the_best_split_is_the_best_of_all():
    joint, unit = tr.Joint(random_counts(5, 2, 3, 3)), Fraction(1, STEPS)
    every = [tr.papers_product(joint, tr.SRLIP(1), epsilons=[k * unit, 1 - k * unit]).utility for k in range(1, STEPS)]
    assert tr.papers_product(joint, tr.SRLIP(1)).utility == max(every) > min(every)


def test_the_theorem_is_false_by_an_exact_counterexample():
    """Two levels by its own words, ln 200/171 and ln 56/53, and a product beyond their sum, already as LIP."""
    joint = tr.Joint(COUNTEREXAMPLE)
    tenths = [[[6, 8], [4, 2]], [[7, 6], [3, 4]]]
    words = [level_of_conditions(COUNTEREXAMPLE, j, np.array(Q) / 10) for j, Q in enumerate(tenths)]
    assert words == pytest.approx([math.log(200 / 171), math.log(56 / 53)], abs=1e-12)
    weights = np.kron(*map(np.array, tenths))
    for notion in ("lip", "srlip"):
        assert (
            levels.worst_ratio(notion, weights, COUNTEREXAMPLE) == Fraction(179, 144) > Fraction(200, 171) * Fraction(56, 53)
        )
    made = [_binary(np.array(Q), joint, j) for j, Q in enumerate(tenths)]
    assert tr.certify(product_of(made), joint, tr.SRLIP(1)).level == pytest.approx(math.log(179 / 144), abs=1e-12)


def _binary(tenths, joint, j):
    """The nearest protocol of integers over a power of two."""
    alone = tr.Joint(joint.counts.sum(axis=2 - j), release=[joint.release[j]])
    return DenseProtocol.from_matrix(tenths / 10, alone)


def test_its_promise_may_fail_and_the_certificate_says_so():
    """Both factors keep to ε/2, and the product is not ε-SRLIP; decided in integers."""
    joint = tr.Joint(COUNTEREXAMPLE)
    found = even(joint, "1/10")
    assert all(level_of_conditions(COUNTEREXAMPLE, j, factor(joint, j, "1/20").matrix) <= 0.05 + 1e-9 for j in range(2))
    assert found.certificate.level == pytest.approx(0.10236, abs=1e-5)
    assert not found.certificate.holds
    assert "false" in found.stats["warning"]
    assert not tr.certify(found.protocol, joint, tr.SRLIP("0.1023")).holds
    assert tr.certify(found.protocol, joint, tr.SRLIP("0.1024")).holds
    assert tr.product(joint, tr.SRLIP("1/10")).certificate.holds


def test_its_level_can_be_far_above_what_it_promises():
    for alpha, level in ((0.3, 2.79), (0.2, 3.08)):
        joint = tr.Joint(np.random.default_rng(114).dirichlet(np.full(18, alpha)).reshape(2, 3, 3))
        assert even(joint, 2).certificate.level > level
        assert tr.product(joint, tr.SRLIP(2)).certificate.level <= 2


def given_the_secret(seed, *shape, zeros=0.0):
    """Counts in which the attributes are independent given S."""
    c, *sizes = shape
    parts = [random_counts(seed + j, c, size, zeros=zeros) for j, size in enumerate(sizes)]
    counts = parts[0]
    for part in parts[1:]:
        counts = counts[..., None] * part.reshape(c, *[1] * (counts.ndim - 1), -1)
    return counts


@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 3, 2), (2, 2, 3, 2)])
def test_the_theorem_is_true_of_attributes_that_are_independent_given_the_secret(shape):
    for seed in range(6):
        joint = tr.Joint(given_the_secret(10 * seed, *shape))
        for epsilon in ("1/4", "1"):
            for found in (even(joint, epsilon), tr.papers_product(joint, tr.SRLIP(epsilon))):
                assert found.certificate.level <= float(Fraction(epsilon)) + 1e-9


def test_void_conditions_make_it_false_again():
    """Independent given S, but some (s, x) cannot occur; decided in integers."""
    joint = tr.Joint(given_the_secret(10, 2, 2, 3, 2, zeros=0.2))
    assert not tr.certify(even(joint, 1).protocol, joint, tr.SRLIP("1.003")).holds


def test_budgets_of_zero_and_infinity():
    joint = tr.Joint(random_counts(1, 2, 3, 2))
    assert tr.papers_product(joint, tr.LIP(1), epsilons=[0, 1]).stats["epsilons"] == ["0", "1"]
    assert tr.papers_product(joint, tr.LIP(0)).protocol.matrix.shape[1] == 6
    assert tr.papers_product(joint, tr.LIP("inf")).utility == pytest.approx(tr.identity(joint, tr.LIP(1)).utility)


@pytest.mark.parametrize(
    ("epsilons", "said"),
    [
        (["1/2"], "1 budgets for 2 attributes"),
        (["1/2", "3/4"], "sum to 1.25, more than the ε of SRLIP\\(1\\)"),
        (["inf", 0], "sum to ∞"),
        (["3/2", "-1/2"], "negative"),
        ("1/2", "one budget for each attribute"),
        (1, "one budget for each attribute"),
    ],
)
def test_budgets_that_do_not_fit(epsilons, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.papers_product(tr.Joint(COUNTEREXAMPLE), tr.SRLIP(1), epsilons=epsilons)
