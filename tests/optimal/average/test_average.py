"""The average-case funnel and the bottleneck: against grids of posteriors, analytic cases and Blahut–Arimoto."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.conftest import random_joint

import trechter as tr
from trechter.audit.information import keeps_at_least, leaks_at_most
from trechter.errors import RequestError
from trechter.measures import entropy
from trechter.optimal.average.trade import Trade

METHODS = ("columns", "ascent", "merging")


def known(joint):
    """H(X), I(S;X)."""
    trade = Trade.of(joint, 0.0, 1)
    return trade.all_said, trade.all_leaked


def grid(a, n):
    """All posteriors over a letters in steps of 1/n."""
    if a == 1:
        return np.full((1, 1), 1.0)
    parts = [
        np.hstack([np.full((len(rest), 1), k / n), rest * (n - k) / n]) for k in range(n) for rest in [grid(a - 1, n - k)]
    ]
    return np.vstack([*parts, np.eye(1, a)])


def by_grid(joint, limit, sign, n):
    """The optimum over posteriors on a grid, the prior and the letters: one linear program."""
    p_x, p_s, links = joint.p_x, joint.p_s, joint.p / joint.p_x
    v = np.vstack([grid(len(p_x), n), p_x])
    said, leaked = (np.array([_kl(row, prior) for row in rows]) for rows, prior in ((v, p_x), (v @ links.T, p_s)))
    size = leaked.max()  # rows of size 1: a solver's tolerance is absolute
    found = linprog(-sign * said, sign * leaked[None] / size, [sign * limit / size], v.T, p_x)
    assert found.status == 0
    return float(-sign * found.fun)


def _kl(p, q):
    return sum(x * math.log(x / y) for x, y in zip(p, q, strict=True) if x > 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
@pytest.mark.parametrize(("c", "a", "n"), [(2, 2, 2000), (3, 2, 2000), (2, 3, 90), (3, 3, 90)])
def test_as_good_as_a_grid_of_posteriors_and_bounded_close_to_it(seed, share, c, a, n):
    joint = random_joint(seed + 10, c, a, zeros=0)
    _, most = known(joint)
    funnel, bottle = tr.average_funnel(joint, share * most), tr.information_bottleneck(joint, share * most)
    below, above = by_grid(joint, share * most, 1, n), by_grid(joint, share * most, -1, n)
    near = 40 / n**2 if a == 2 else 2e-3
    assert funnel.status == bottle.status == "optimal"
    assert below - 1e-6 <= funnel.bound <= below + near
    assert below - 2e-6 <= funnel.utility
    assert above - near <= bottle.bound <= above + 1e-6
    assert bottle.utility <= above + 2e-6


@pytest.mark.parametrize("seed", range(6))
def test_every_method_obeys_the_limit_and_none_passes_the_bound(seed):
    c, a = 2 + seed % 3, 4 + seed % 3
    joint = random_joint(seed, c, a)
    _, most = known(joint)
    for share in ("1/50", "1/2"):
        limit = Fraction(share) * Fraction(most)
        funnels = {m: tr.average_funnel(joint, limit, method=m) for m in METHODS}
        bottles = {m: tr.information_bottleneck(joint, limit, method=m) for m in METHODS}
        best, least = funnels["columns"], bottles["columns"]
        assert best.status == least.status == "optimal"
        for m in METHODS:
            assert leaks_at_most(funnels[m].protocol, joint, limit)
            assert keeps_at_least(bottles[m].protocol, joint, limit)
            assert funnels[m].stats["leakage"] == pytest.approx(tr.leakage(joint, funnels[m].protocol).information, abs=1e-12)
            assert funnels[m].utility <= best.bound + 1e-12
            assert funnels[m].bound >= best.utility - 1e-12
            assert bottles[m].utility >= least.bound - 1e-12
            assert bottles[m].bound <= least.utility + 1e-12
        assert funnels["ascent"].utility >= funnels["merging"].utility - 1e-9
        assert bottles["ascent"].utility <= bottles["merging"].utility + 1e-9
        assert sorted(set(np.unique(funnels["merging"].protocol.matrix))) in ([0, 1], [1])


def test_ascent_finds_the_optimum_as_a_rule_and_merging_does_not():
    gaps = {m: [] for m in ("ascent", "merging")}
    for seed in range(8):
        joint = random_joint(seed, 3, 6)
        limit = 0.2 * known(joint)[1]
        best = tr.average_funnel(joint, limit).utility
        for m, found in gaps.items():
            found.append(best - tr.average_funnel(joint, limit, method=m).utility)
    assert np.median(gaps["ascent"]) < 1e-6
    assert np.median(gaps["merging"]) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_the_curves_are_monotone_and_of_the_right_curvature(seed):
    joint = random_joint(seed + 20, 2 + seed, 4)
    whole, most = known(joint)
    limits = np.linspace(0, most, 6)
    funnel = np.array([tr.average_funnel(joint, m).utility for m in limits])
    bottle = np.array([tr.information_bottleneck(joint, m).utility for m in limits])
    for curve, sign in ((funnel, 1), (bottle, -1)):
        assert np.all(np.diff(curve) > 0)
        assert np.all(sign * np.diff(curve, 2) < 3e-6)
    assert np.all(funnel >= limits - 1e-9)
    assert np.all(bottle >= limits - 1e-9)  # nothing says more of S than of X
    assert funnel[-1] == pytest.approx(whole, abs=2e-6)
    assert np.all(np.diff(funnel) >= np.diff(limits) - 3e-6)  # what is leaked more is also said more
    assert bottle[0] == 0


@pytest.mark.parametrize("a", [2, 3, 5])
def test_where_the_secret_is_the_data_what_is_said_is_what_is_leaked(a):
    joint = tr.Joint(np.diag(np.arange(1, a + 1)))
    for limit in (0.1, 0.5):
        assert tr.average_funnel(joint, limit).utility == pytest.approx(limit, abs=1e-6)
        assert tr.information_bottleneck(joint, limit).utility == pytest.approx(limit, abs=1e-6)


def test_where_the_secret_has_nothing_to_do_with_the_data_it_is_published():
    joint = tr.Joint([[1, 2, 3], [2, 4, 6]])
    for method in METHODS:
        found = tr.average_funnel(joint, 0, method=method)
        assert found.utility == pytest.approx(entropy(joint.p_x), abs=1e-12)
        assert found.stats["leakage"] == 0
    assert tr.information_bottleneck(joint, 0).utility == 0


def test_a_limit_that_x_itself_keeps():
    joint = random_joint(1, 2, 5)
    whole, most = known(joint)
    for limit in (most * (1 + 1e-9), 10, "12.5"):
        found = tr.average_funnel(joint, limit)
        assert (found.status, found.utility) == ("optimal", pytest.approx(whole, abs=1e-12))


@pytest.mark.parametrize("seed", range(5))
def test_no_leak_on_average_is_no_leak_at_all(seed):
    joint = random_joint(seed, 2 + seed % 3, 6)
    perfect, found = tr.design(joint, tr.LIP(0)), tr.average_funnel(joint, 0)
    assert found.utility == pytest.approx(perfect.utility, abs=1e-6)
    assert found.stats["leakage"] == found.stats["lip"] == 0
    for tiny in (1e-15, 1e-10, 1e-8):
        nearly = tr.average_funnel(joint, tiny)
        assert perfect.utility - 1e-9 <= nearly.utility <= nearly.bound <= perfect.utility + 0.01
        assert nearly.stats["leakage"] <= tiny


def test_all_of_the_secret_with_the_least_of_the_data():
    """At R = I(S;X) values that tell the same of S are one output."""
    joint = tr.Joint([[1, 2, 3, 4], [2, 4, 1, 5]])
    for method in METHODS:
        found = tr.information_bottleneck(joint, known(joint)[1], method=method)
        merged = entropy(np.array([joint.p_x[0] + joint.p_x[1], *joint.p_x[2:]]))
        assert found.utility == pytest.approx(merged, abs=1e-6)
        assert found.stats["leakage"] == pytest.approx(known(joint)[1], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_blahut_arimoto_never_finds_less_than_the_bottleneck(seed):
    joint = random_joint(seed, 2 + seed % 2, 5)
    links = joint.p / joint.p_x
    draw, reached = np.random.default_rng(seed), []
    for beta in (2.0, 6.0, 30.0):
        q = draw.dirichlet(np.ones(6), 5).T
        for _ in range(3000):
            mass = q @ joint.p_x
            z = (q * joint.p_x) @ links.T / mass[:, None]
            kernel = mass[:, None] * np.exp(
                -beta * np.array([[_kl(l, row) for l in links.T] for row in np.maximum(z, 1e-300)])
            )
            q, last = kernel / kernel.sum(axis=0), q
            if np.abs(q - last).max() < 1e-10:
                break
        made = tr.leakage(joint, protocol := _protocol(joint, q)).information
        said = tr.mutual_information(joint, protocol)
        if made > 1e-6:
            found = tr.information_bottleneck(joint, made)
            assert found.bound <= said + 1e-9
            reached.append(said - found.utility)
    assert min(reached) < 1e-5


def _protocol(joint, matrix):
    from trechter.model.dense import DenseProtocol

    return DenseProtocol.from_matrix(matrix / matrix.sum(axis=0), joint)


def test_values_and_secrets_that_never_occur():
    joint = tr.Joint([[3, 0, 5, 1], [0, 0, 0, 0], [4, 0, 1, 9]])
    smaller = tr.Joint([[3, 5, 1], [4, 1, 9]])
    for limit in (0.0, 0.01, 0.05):
        assert tr.average_funnel(joint, limit).utility == pytest.approx(tr.average_funnel(smaller, limit).utility, abs=2e-6)
    assert tr.information_bottleneck(joint, 0.05).protocol.matrix.sum(axis=0) == pytest.approx(np.ones(4))


def test_one_value():
    for joint in (tr.Joint([[3], [4]]), tr.Joint([[3, 4]]), tr.Joint([[2]])):
        assert tr.average_funnel(joint, 0.1).utility == pytest.approx(entropy(joint.p_x), abs=1e-12)
        assert tr.information_bottleneck(joint, 0).utility == 0


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_out_of_time_there_is_a_protocol_and_a_true_bound(seconds):
    joint = random_joint(5, 4, 8)
    limit = 0.1 * known(joint)[1]
    best = tr.average_funnel(joint, limit)
    found = tr.average_funnel(joint, limit, time_limit=seconds, gap=1e-9)
    assert found.utility <= best.bound
    assert found.bound >= best.utility
    assert found.stats["leakage"] <= limit
    assert found.status == "gap"
    assert found.stats["stopped"] == "time limit"


def test_more_secrets_than_can_be_searched():
    joint = random_joint(3, 8, 9)
    limit = 0.1 * known(joint)[1]
    found = tr.average_funnel(joint, limit)
    assert (found.solver, found.status) == ("ascent", "heuristic")
    assert found.utility >= tr.average_funnel(joint, limit, method="merging").utility
    assert found.bound == pytest.approx(limit + known(joint)[0] - known(joint)[1])
    with pytest.raises(RequestError, match=r"8 values of the secret and 9 of X .* method='ascent'"):
        tr.average_funnel(joint, limit, method="columns")


def test_what_is_promised_is_nothing_and_the_worst_output_is_on_record():
    joint = random_joint(2, 2, 6)
    found = tr.average_funnel(joint, 0.02)
    assert found.certificate.notion.epsilon is None
    assert found.certificate.level == found.stats["lip"] == tr.certify(found.protocol, joint, tr.LIP("inf")).level
    assert found.stats["ldp"] == tr.certify(found.protocol, joint, tr.LDP("inf")).level
    assert found.stats["lip"] > 0.02
    bottle = tr.information_bottleneck(joint, 0.02)
    assert bottle.measure.less_is_better
    assert bottle.bound <= bottle.utility


@pytest.mark.parametrize("wrong", [-0.1, "a", math.inf, math.nan, None, True])
def test_a_limit_that_makes_no_sense(wrong):
    joint = random_joint(0, 2, 3)
    for call in (tr.average_funnel, tr.information_bottleneck):
        with pytest.raises(RequestError, match="a finite number of nats"):
            call(joint, wrong)


def test_other_bad_requests():
    joint = random_joint(0, 2, 3)
    with pytest.raises(RequestError, match="unknown method 'greedy'; use 'auto', 'columns'"):
        tr.average_funnel(joint, 0.1, method="greedy")
    with pytest.raises(RequestError, match=r"I\(S;Y\) ≥ 5 is out of reach: X itself says .* ask for at most that"):
        tr.information_bottleneck(joint, 5)
    with pytest.raises(RequestError, match="is no Joint"):
        tr.average_funnel([[1, 2]], 0.1)
    with pytest.raises(RequestError, match="gap=-1"):
        tr.average_funnel(joint, 0.1, gap=-1)
    with pytest.raises(
        RequestError, match=r"2 values of the secret and 1200 of X are too many for method='merging'; use bins"
    ):
        tr.average_funnel(random_joint(0, 2, 1200), 0.1)
