"""What a plain promise comes to if the rows are a sample: proved, survived or not, and with how many rows."""

from fractions import Fraction

import numpy as np
import pytest

import trechter as tr
from trechter.audit import certify
from trechter.workflow import sampled
from trechter.workflow.sampled import OVER, worst_case

COUNTS = np.array([[200, 100, 50], [50, 100, 200]])


def designed(notion, counts=COUNTS, **options):
    joint = tr.Joint(counts)
    return tr.design(joint, notion, **options).protocol, joint


def at(protocol, joint, notion, rows):
    """The worst level for as many rows of the same shares."""
    radius = OVER.around(joint).radius * Fraction(joint.n) / rows
    return tr.worst_case_level(protocol, joint, notion, over=tr.ChiSquare(radius=radius))


@pytest.mark.parametrize("notion", [tr.LIP("0.5"), tr.LDP("0.5")])
def test_the_number_of_rows_suffices_and_half_of_it_does_not(notion):
    protocol, joint = designed(notion)
    found = worst_case(protocol, joint)
    assert found["level"] == tr.worst_case_level(protocol, joint, notion, over=tr.ChiSquare(alpha="0.05"))
    assert not found["survives"]
    enough, rows = float(notion.epsilon) * 1.1, found["rows"]
    assert at(protocol, joint, notion, rows) <= enough + 1e-9
    assert at(protocol, joint, notion, rows // 2) > enough
    assert len(str(rows).rstrip("0")) <= 2


def test_as_many_rows_as_were_named_survive():
    protocol, joint = designed(tr.LIP("0.5"))
    rows = worst_case(protocol, joint)["rows"]
    more = tr.Joint(COUNTS * -(-rows // COUNTS.sum()))
    found = worst_case(protocol, more)
    assert found["survives"]
    assert "rows" not in found
    assert float(Fraction(found["survives_at"])) == 0.55


def test_a_promise_that_needs_more_rows_than_there_are_people():
    protocol, joint = designed(tr.LDP("0.0001"), np.array([[4000, 3000, 9], [3000, 5, 4000]]))
    assert worst_case(protocol, joint)["rows"] is None


def test_perfect_privacy_survives_no_number_of_rows():
    protocol, joint = designed(tr.LIP(0), np.array([[20, 10, 5], [20, 30, 15]]))
    assert len(protocol.outputs) > 1
    found = worst_case(protocol, joint)
    assert found["level"] > 0
    assert not found["survives"]
    assert "rows" not in found


def test_saying_nothing_survives():
    joint = tr.Joint(COUNTS)
    found = worst_case(tr.constant(joint, tr.LIP(0)).protocol, joint)
    assert (found["survives_at"], found["level"], found["survives"]) == ("0", 0.0, True)


def test_why_it_is_unknown_is_said():
    protocol, joint = designed(tr.LIP("0.5"))
    few = tr.Joint([[1, 1, 0], [0, 1, 2]])
    assert "5 rows are too few for 6 cells" in worst_case(protocol, few)["unknown"]
    never = tr.Joint([[200, 100, 50], [0, 0, 0]])
    assert "never occurred" in worst_case(protocol, never)["unknown"]
    shares = tr.Joint(COUNTS / 700.0)
    assert "weighted, or are probabilities" in worst_case(protocol, shares)["unknown"]
    assert joint.n == 700


def test_what_would_take_too_long_is_left_to_verify(monkeypatch):
    protocol, joint = designed(tr.LIP("0.5"))
    monkeypatch.setattr(sampled, "MOST_CONDITIONS", 11)
    assert worst_case(protocol, joint)["unknown"].startswith("12 conditions take longer")
    monkeypatch.setattr(sampled, "MOST_CONDITIONS", 2)
    assert worst_case(protocol, joint)["unknown"].startswith("3 outputs take longer")


def test_nothing_is_said_of_promises_that_are_robust_or_no_promises():
    joint = tr.Joint(COUNTS)
    for vast in ("inf", "1e300", 40):
        assert worst_case(tr.design(joint, tr.LIP(vast)).protocol, joint) == {}
    robust = tr.design(joint, tr.Robust(tr.LDP(1), over=tr.ChiSquare()), time_limit=5).protocol
    assert worst_case(robust, joint) == {}
    assert certify(robust, joint).holds
