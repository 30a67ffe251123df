"""The frontier: what single designs find, in the order asked, and what an interrupt leaves."""

import os
import signal
import threading

import numpy as np
import pytest
from tests.conftest import random_joint

import trechter as tr


@pytest.mark.parametrize(("notion", "shape"), [(tr.LIP, (2, 6)), (tr.LDP, (3, 4)), (tr.SRLIP, (2, 2, 3)), (tr.LDP, (5, 14))])
def test_each_level_is_what_a_single_design_finds(notion, shape):
    joint, levels = random_joint(3, *shape, zeros=0), ["1", "0.1", 0, "0.5"]
    results = tr.frontier(joint, notion, levels)
    assert [r.certificate.notion for r in results] == [notion(e).spec for e in levels]
    for level, result in zip(levels, results, strict=True):
        alone = tr.design(joint, notion(level))
        assert result.certificate.holds
        assert abs(result.utility - alone.utility) <= 2e-6
        assert result.gap <= 1e-6


def test_columns_start_from_the_last_level_and_letters_may_be_merged():
    joint = random_joint(7, 5, 12, zeros=0)
    doubled = tr.Joint(np.repeat(joint.exact, 2, axis=1))
    results = tr.frontier(doubled, tr.LIP, ["0.3", "0.6"], solver="columns")
    for level, result in zip(["0.3", "0.6"], results, strict=True):
        assert result.solver == "columns"
        assert result.utility == pytest.approx(tr.design(joint, tr.LIP(level)).utility + np.log(2), abs=2e-6)


def test_options_reach_every_design():
    joint = random_joint(1, 3, 4, zeros=0)
    results = tr.frontier(joint, lambda e: tr.LDP(e, protect="x"), [1, 2], measure=tr.Distortion(1 - np.eye(4)))
    assert [r.solver for r in results] == ["linear", "linear"]
    assert results[0].utility > results[1].utility


def test_an_interrupt_leaves_the_levels_that_are_done():
    joint = tr.Joint(np.random.default_rng(0).dirichlet(np.full(900, 0.5)).reshape(10, 90))
    seen = []

    def once(known):
        if known["phase"] == "pricing" and not seen:
            seen.append(known)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    results = tr.frontier(joint, tr.LIP, ["3", "0.2"], gap=1e-3, progress=once)
    assert [str(r.certificate.notion) for r in results] == ["LIP(0.2)"]
    assert results[0].stats["stopped"] == "interrupted"
    assert results[0].certificate.holds


@pytest.mark.parametrize("arguments", [("lip", [1]), (tr.LIP, "0.5"), (tr.LIP, 1), (tr.LIP, []), (tr.LIP, [1, -1])])
def test_frontiers_that_make_no_sense(arguments):
    with pytest.raises(tr.TrechterError, match=r"level|notion"):
        tr.frontier(tr.Joint([[1, 2], [2, 1]]), *arguments)


def test_a_start_from_another_table_is_refused():
    other = tr.design(random_joint(1, 2, 4, zeros=0), tr.LIP("0.1"))
    with pytest.raises(tr.TrechterError, match="same joint"):
        tr.design(random_joint(1, 2, 5, zeros=0), tr.LIP("0.1"), like=other)
