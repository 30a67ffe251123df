"""The conic program: it agrees with the cutting planes, and what it claims does not rest on the solver."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import trechter as tr
from trechter.errors import RequestError, TrechterWarning
from trechter.optimal import cone_program, conic, cuts
from trechter.optimal.cone_program import Answer
from trechter.optimal.design import make_problem
from trechter.optimal.problem import Budget

pytest.importorskip("clarabel")

F = tr.ChiSquare(alpha=0.05)
KINDS = ["NURP", "RUNP", "RURP"]


def drawn(seed, c, a, n):
    """Counts of n people from Dirichlet(½), no secret empty, and some cells empty."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, rng.dirichlet(np.full(c * a, 0.5))).reshape(c, a)
    counts[:, 0] += counts.sum(axis=1) == 0
    return tr.Joint(counts)


def asked(kind, a, eps="0.5", notion=tr.LDP):
    """Notion and measure of one of the four problems, d = (x − y)²."""
    plain, d = notion(eps), tr.Distortion((np.arange(a)[:, None] - np.arange(a)) ** 2)
    return tr.Robust(plain, over=F) if kind[2] == "R" else plain, tr.WorstCase(d, over=F) if kind[0] == "R" else d


def overlap(one, two):
    """Neither is better than what the other says nothing is better than."""
    return one.bound <= two.utility and two.bound <= one.utility


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("c", "a", "n"), [(2, 3, 40), (3, 4, 75), (3, 5, 75), (3, 5, 15_000)])
def test_the_cutting_planes_agree(kind, c, a, n):
    joint = drawn(c + a + n, c, a, n)
    notion, measure = asked(kind, a)
    one, two = (tr.design(joint, notion, measure=measure, solver=solver) for solver in ("conic", "cuts"))
    assert overlap(one, two)
    assert abs(one.utility - two.utility) <= 1e-6
    assert one.status == "optimal"
    assert one.gap <= 5e-7
    assert one.solver == "conic"


@pytest.mark.parametrize(
    ("notion", "reads"), [(tr.LDP("0.5"), "sx"), (tr.LDP("1", protect="x"), "sx"), (tr.LDP("20"), "x"), (tr.LDP("0.01"), "x")]
)
def test_other_letters_events_and_levels(notion, reads):
    joint, (_, measure) = drawn(3, 2, 3, 60), asked("RURP", 3)
    joint = tr.Joint(joint.counts + 1)
    made = [tr.design(joint, tr.Robust(notion, over=F), measure=measure, reads=reads, solver=s) for s in ("conic", "cuts")]
    assert overlap(*made)
    assert abs(made[0].utility - made[1].utility) <= 1e-6


def test_slices_are_disjoint_events_too():
    joint = tr.Joint(np.random.default_rng(5).integers(1, 20, (2, 2, 2)))
    d = tr.Distortion(np.abs(np.arange(4.0)[:, None] - np.arange(4)))
    made = [tr.design(joint, tr.Robust(tr.SRLDP("0.5"), over=F), measure=d, solver=s) for s in ("conic", "cuts")]
    assert overlap(*made)
    assert abs(made[0].utility - made[1].utility) <= 1e-6


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_small_sets_keep_their_digits(n):
    joint, (notion, measure) = drawn(1, 3, 5, n), asked("RURP", 5)
    made = tr.design(joint, notion, measure=measure, solver="conic")
    assert made.status == "optimal"
    assert made.gap <= 1e-6
    assert "failed" not in made.stats


@pytest.mark.parametrize("kind", KINDS)
def test_any_multipliers_prove_a_bound(kind):
    """Moved by noise, and of another problem: the bound gets worse, never wrong."""
    joint, rng = drawn(7, 3, 4, 75), np.random.default_rng(0)
    problem = make_problem(joint, *asked(kind, 4), "x")
    program, reached = conic.RobustProgram(problem), tr.design(joint, *asked(kind, 4)[:1], measure=asked(kind, 4)[1]).utility
    answer = program.solve(Budget())
    assert program.bound(answer) > reached - 1e-6
    worse = []
    for size in (1e-3, 0.1, 1, 10):
        noisy = tuple(z * rng.lognormal(0, size, len(z)) for z in answer.multipliers)
        worse.append(program.bound(Answer(answer.x, noisy, answer.status, 0)))
    assert max(worse) <= reached
    assert worse[-1] < worse[0]


def test_masses_outside_the_set_would_prove_what_is_not_so(monkeypatch):
    """A distortion that outputs do not change; all mass on the worst letter proves, as it is, too much."""
    joint, measure = drawn(7, 2, 4, 2000), tr.WorstCase(tr.Distortion(np.tile(np.arange(4.0)[:, None], 4)), over=F)
    program, inside = conic.RobustProgram(make_problem(joint, tr.LDP("0.5"), measure, "x")), conic._inside
    answer, reached = program.solve(Budget()), tr.design(joint, tr.LDP("0.5"), measure=measure).utility
    monkeypatch.setattr(conic.Side, "multipliers", lambda side, answer: np.tile([1e-3, 1e-3, 1e-3, 1e3], 2))
    assert program.bound(answer) <= reached
    monkeypatch.setattr(conic, "_inside", lambda sides, answer, allowed: inside(sides, answer, allowed * 1e6))
    assert program.bound(answer) > reached


def test_what_a_bad_answer_leaves_is_private():
    """Rows of noise are repaired, by the oracle's word and by the definition at P̂."""
    joint, rng = drawn(2, 3, 4, 75), np.random.default_rng(0)
    for kind in KINDS:
        problem = make_problem(joint, *asked(kind, 4), "x")
        program = conic.RobustProgram(problem)
        rows = program.best(rng.normal(0.25, 0.2, program.size), 0)
        assert np.allclose(rows.sum(axis=0), 1)
        if problem.among is not None:
            assert problem.among.excess(rows).max() <= 1e-12
        given = joint.p / joint.p_s[:, None] @ rows.T
        assert np.all(given[:, None] <= np.exp(0.5) * given[None] + 1e-12)
        assert np.allclose(program.best(np.full(program.size, np.nan), 0).max(axis=0), 1)


def test_noise_is_no_output():
    """Rows that the solver leaves of none are added to another, unless that would cost too much."""
    problem = make_problem(drawn(2, 3, 4, 75), *asked("NURP", 4), "x")
    program = conic.RobustProgram(problem)
    x = np.full(program.size, 0.0)
    x[program.w[1]], x[program.w[3]] = 1 - 1e-9, 1e-9
    assert np.count_nonzero(program.best(x, 1e-7).max(axis=1)) == 1
    made = tr.design(drawn(4, 3, 5, 75), asked("NURP", 5)[0], measure=asked("NURP", 5)[1], solver="conic")
    assert made.protocol.matrix.max(axis=1).min() > 1e-3


def test_a_solver_that_fails_is_reported_and_leaves_a_certified_protocol(monkeypatch):
    settings = cone_program._settings

    def hasty(clarabel, budget):
        made = settings(clarabel, budget)
        made.max_iter = 2
        return made

    joint, (notion, measure) = drawn(2, 3, 4, 75), asked("RURP", 4)
    best = tr.design(joint, notion, measure=measure).utility
    monkeypatch.setattr(cone_program, "_settings", hasty)
    with pytest.warns(TrechterWarning, match="Clarabel ended as MaxIterations"):
        made = tr.design(joint, notion, measure=measure, solver="conic")
    assert "MaxIterations" in made.stats["failed"]
    assert made.status == "gap"
    assert made.certificate.holds
    assert made.bound <= best <= made.utility


def test_time_can_be_up():
    joint, (notion, measure) = drawn(2, 3, 4, 75), asked("RURP", 4)
    made = tr.design(joint, notion, measure=measure, solver="conic", time_limit=0)
    assert made.stats["stopped"] == "time limit"
    assert "failed" not in made.stats
    assert made.certificate.holds
    assert made.bound <= made.utility


@pytest.mark.parametrize(
    ("notion", "named"),
    [
        (tr.Robust(tr.LDP("0.5"), over=tr.TotalVariation(alpha=0.05)), "TotalVariation"),
        (tr.Robust(tr.LDP("0.5"), over=tr.ChiSquare(radius=0)), "radius=0"),
        (tr.Robust(tr.LIP("0.5"), over=F), "disjoint events"),
        (tr.LDP("0.5"), "solver='auto'"),
    ],
)
def test_what_it_does_not_know_is_refused(notion, named):
    with pytest.raises(RequestError, match=named):
        tr.design(drawn(2, 3, 4, 75), notion, measure=asked("NURP", 4)[1], solver="conic")


def test_cutting_planes_are_for_sets():
    with pytest.raises(RequestError, match="solver='auto'"):
        cuts.solve(make_problem(drawn(2, 3, 4, 75), tr.LDP("0.5"), asked("NUNP", 4)[1], "x"), Budget())


def test_without_clarabel_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(RequestError, match=r"trechter\[conic\]"):
        tr.design(drawn(2, 3, 4, 75), asked("NURP", 4)[0], measure=asked("NURP", 4)[1], solver="conic")


@pytest.mark.parametrize("near", [0, 2])
def test_variables_that_are_lacking_are_found(monkeypatch, near):
    """With few letters for each reading at first the optimum is the same, and so is what is proved."""
    joint, (notion, measure) = drawn(2, 3, 5, 300), asked("NURP", 5)
    whole = tr.design(joint, notion, measure=measure, reads="sx", solver="conic")
    monkeypatch.setattr(conic, "FEW", 0)
    monkeypatch.setattr(conic, "NEAR", near)
    sifted = tr.design(joint, notion, measure=measure, reads="sx", solver="conic")
    assert sifted.stats["rounds"] > 1
    assert sifted.gap <= 1e-6
    assert abs(sifted.utility - whole.utility) <= 2e-6


def test_auto_takes_it_and_does_without(monkeypatch):
    """Where Clarabel is missing, and where it does not get near its bound, cutting planes are taken; and so for other sets."""
    joint, (notion, measure) = drawn(2, 3, 5, 300), asked("NURP", 5)

    def chosen(asked_for=notion):
        result = tr.design(joint, asked_for, measure=measure, reads="sx")
        assert result.certificate.holds
        assert result.gap <= 1e-6
        return result.solver

    assert chosen() == "conic"
    assert chosen(tr.Robust(tr.LDP("0.5"), over=tr.TotalVariation(radius="0.01"))) == "cuts"
    with monkeypatch.context() as patch:
        patch.setattr(conic.RobustProgram, "best", lambda self, x, room: cuts.constants(self.problem)[0])
        assert chosen() == "cuts"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "clarabel", None)
        assert chosen() == "cuts"
