"""Cutting planes: the four problems of paper 004, their bound, and that nothing in F breaks what they promise."""

from functools import partial

import numpy as np
import pytest
from tests.sets.members import members

import trechter as tr
from trechter.optimal import cuts
from trechter.sets import KINDS

design = partial(tr.design, solver="cuts")
SQUARED = tr.Distortion(lambda x, y: (x - y) ** 2)
CHI = tr.ChiSquare(alpha="0.05")


def jeffreys(n, seed, shape=(3, 5)):
    random = np.random.default_rng(seed)
    while True:
        counts = random.multinomial(n, random.dirichlet(np.full(np.prod(shape), 0.5))).reshape(shape)
        if counts.sum(axis=1).min() > 0:
            return tr.Joint(counts)


def four(joint, epsilon="0.5", reads="sx"):
    """NUNP, NURP, RUNP, RURP."""
    plain, robust = tr.LDP(epsilon), tr.Robust(tr.LDP(epsilon), over=CHI)
    worst = tr.WorstCase(SQUARED, over=CHI)
    asked = [(plain, SQUARED, tr.design), (robust, SQUARED, design), (plain, worst, design), (robust, worst, design)]
    return [solved(joint, notion, measure=measure, reads=reads) for notion, measure, solved in asked]


@pytest.mark.parametrize("n", [75, 15_000])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_four_problems(n, seed):
    joint = jeffreys(n, seed)
    nunp, nurp, runp, rurp = found = four(joint)
    assert all(result.gap <= 1e-6 and result.certificate.holds for result in found)
    assert nunp.bound <= nurp.utility
    assert runp.bound <= rurp.utility
    assert nunp.utility <= runp.utility + 1e-6
    assert nurp.utility <= rurp.utility + 1e-6
    around, levels = CHI.around(joint), []
    for result in found:
        worst = tr.Robust(tr.LDP("0.5"), over=CHI).level(result.protocol, joint)
        levels.append(worst)
        over = [
            tr.LDP("0.5").level(result.protocol, tr.Joint(P.reshape(3, 5)))
            for P in members(around, 40, np.random.default_rng(2))
        ]
        assert max(over) <= worst + 1e-9
    assert max(levels[1], levels[3]) <= 0.5  # robust privacy holds over all of F
    assert min(levels[0], levels[2]) > 0.55  # and without it much more is given away


@pytest.mark.parametrize(("n", "seed"), [(1_500, 3), (1_500, 5), (75, 30), (75, 37)])
def test_a_plain_promise_and_the_worst_distortion_close_their_gap(n, seed):
    """Points beyond the master's answer break the plain promise; outputs of cells never seen cost nothing at P̂, but in F."""
    joint = jeffreys(n, seed)
    result = tr.design(joint, tr.LDP("0.5"), measure=tr.WorstCase(SQUARED, over=CHI), reads="sx")
    assert result.certificate.holds
    assert result.gap <= 1e-6
    assert result.stats["mixed"] < 1e-9


def test_an_output_said_for_the_noise_of_cells_never_seen_does_not_void_a_robust_promise():
    random = np.random.default_rng([106, 75])
    counts = random.multinomial(75, np.random.default_rng(106).dirichlet(np.full(15, 0.5))).reshape(3, 5)
    notion, measure = tr.Robust(tr.LDP("0.5"), over=CHI), tr.WorstCase(SQUARED, over=CHI)
    assert tr.design(tr.Joint(counts), notion, measure=measure, reads="sx").gap <= 1e-6


def test_the_distortion_promised_is_the_worst_of_the_set():
    joint = jeffreys(300, 3)
    result = design(joint, tr.LDP("0.5"), measure=tr.WorstCase(SQUARED, over=CHI), reads="sx")
    for P in members(CHI.around(joint), 100, np.random.default_rng(0)):
        assert SQUARED.utility(tr.Joint(P.reshape(3, 5)), result.protocol) <= result.utility + 1e-9


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_set_has_its_design(kind):
    joint, over = jeffreys(2_000, 1, (2, 3)), kind(alpha="0.05")
    result = design(joint, tr.Robust(tr.LDP(1), over=over), measure=tr.WorstCase(SQUARED, over=over), reads="sx")
    assert result.gap <= 1e-6
    assert result.certificate.holds
    for P in members(over.around(joint), 100, np.random.default_rng(0)):
        moved = tr.Joint(P.reshape(2, 3))
        assert tr.LDP(1).level(result.protocol, moved) <= 1 + 1e-9
        assert SQUARED.utility(moved, result.protocol) <= result.utility + 1e-9


def test_a_set_of_one_point_gives_the_plain_design():
    joint, point = tr.Joint(np.random.default_rng(0).integers(1, 30, (3, 4))), tr.ChiSquare(radius=0)
    plain = tr.design(joint, tr.LDP("0.5"), measure=SQUARED)
    robust = design(joint, tr.Robust(tr.LDP("0.5"), over=point), measure=tr.WorstCase(SQUARED, over=point))
    assert robust.utility == pytest.approx(plain.utility, abs=2e-6)


def test_more_readings_than_values_are_worth_something():
    """What paper 004 asks about Y ≠ U: halves between the values cost less."""
    joint, robust = jeffreys(300, 5), tr.Robust(tr.LDP("0.5"), over=CHI)
    halves = tr.Distortion(lambda x, y: (x - y) ** 2, readings=[k / 2 for k in range(9)])
    as_values, finer = (design(joint, robust, measure=measure, reads="sx") for measure in (SQUARED, halves))
    assert finer.utility < as_values.bound - 0.01
    assert any(output % 1 for output in finer.protocol.outputs)


def test_any_multipliers_prove_a_bound(monkeypatch):
    """The bound is computed from the multipliers, not believed: wrong ones give a worse bound, never a wrong one."""
    joint = jeffreys(75, 0)
    good = design(joint, tr.Robust(tr.LDP("0.5"), over=CHI), measure=tr.WorstCase(SQUARED, over=CHI), reads="sx")
    honest, random = cuts.Master._bound, np.random.default_rng(0)
    monkeypatch.setattr(cuts.Master, "_bound", lambda self, duals: honest(self, duals * random.random(len(duals)) * 2))
    shaken = design(
        joint, tr.Robust(tr.LDP("0.5"), over=CHI), measure=tr.WorstCase(SQUARED, over=CHI), reads="sx", time_limit=2
    )
    assert shaken.bound <= good.utility
    assert shaken.status == "gap"


def test_a_solver_that_fails_is_named_and_what_is_known_is_delivered(monkeypatch):
    def lost(self, budget):
        if len(self) > 60:
            raise tr.errors.SolverError("the LP ended as kUnknown")
        return honest(self, budget)

    honest = cuts.Master.solve
    monkeypatch.setattr(cuts.Master, "solve", lost)
    with pytest.warns(tr.errors.TrechterWarning, match="kUnknown"):
        result = design(jeffreys(75, 0), tr.Robust(tr.LDP("0.5"), over=CHI), measure=SQUARED, reads="sx")
    assert result.status == "gap"
    assert result.certificate.holds
    assert "kUnknown" in result.stats["failed"]


def test_a_time_limit_gives_what_there_is():
    result = design(jeffreys(75, 0), tr.Robust(tr.LDP("0.5"), over=CHI), measure=SQUARED, reads="sx", time_limit=0)
    assert result.status == "gap"
    assert result.certificate.holds
    assert result.stats["stopped"] == "time limit"


@pytest.mark.parametrize("epsilon", [0, "1e-12"])
def test_perfect_privacy_over_a_set_is_a_constant(epsilon):
    result = design(jeffreys(300, 0), tr.Robust(tr.LDP(epsilon), over=CHI), measure=SQUARED)
    assert len(result.protocol.outputs) == 1
    assert result.certificate.holds
    assert result.gap <= 1e-6


@pytest.mark.parametrize("epsilon", [300, 700, 10**6])
def test_a_promise_beyond_floats_is_a_promise(epsilon):
    joint = tr.Joint([[3, 4, 5], [6, 1, 2]])
    result = tr.design(joint, tr.Robust(tr.LDP(epsilon), over=CHI), measure=tr.Distortion(lambda x, y: abs(x - y)))
    assert result.utility == pytest.approx(0, abs=1e-9)
    assert result.certificate.holds


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda j: tr.design(j, tr.LDP(1), measure=tr.WorstCase(tr.Distortion([[1, 2], [3, 4]]), over=CHI)), r"\(2, 2\)"),
        (lambda j: tr.WorstCase(tr.MutualInformation(), over=CHI), "Distortion"),
        (lambda j: tr.design(j, tr.LDP(1), solver="cuts"), "over a set"),
        (lambda j: tr.design(j, tr.Robust(tr.LDP(1), over=CHI), solver="columns"), "'columns' knows one"),
        (lambda j: tr.design(j, tr.Robust(tr.LDP(1), over=CHI), measure=SQUARED, solver="linear"), "'linear' knows one"),
        (lambda j: tr.design(tr.Joint(np.eye(5, dtype=int)), tr.Robust(tr.LDP(1), over=CHI), measure=SQUARED), "too few"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, said):
    with pytest.raises(tr.TrechterError, match=said):
        asked(jeffreys(300, 0))
