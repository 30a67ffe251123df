"""The joint: exact whatever it is counted in, and errors that say what was wrong."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_counts

import trechter as tr

NUMBERS = st.one_of(
    st.integers(0, 10**30),
    st.fractions(0, 10**6),
    st.floats(0, 1e12, allow_nan=False),
    st.decimals(0, 1000, allow_nan=False, places=6),
)


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=4).filter(lambda t: any(map(any, t))))
def test_exact_whatever_the_numbers(table):
    """`exact` are integers in the very proportions of what was given, and p is their nearest floats."""
    counts = np.array([list(row) for row in table] + [[None] * 3], object)[:-1]
    joint = tr.Joint(counts)
    exact = [Fraction(v) for row in table for v in row]
    total, whole = sum(exact), int(sum(int(v) for v in joint.exact.ravel()))
    assert [Fraction(int(v), whole) for v in joint.exact.ravel()] == [v / total for v in exact]
    assert joint.p.ravel() == pytest.approx([float(v / total) for v in exact], rel=1e-15, abs=0)


def test_shapes_and_labels():
    counts = random_counts(0, 2, 3, 4)
    joint = tr.Joint(counts, secret=("ill", ["no", "yes"]), release={"age": range(3), "sex": list("abcd")})
    assert joint.shape == (2, 3, 4)
    assert joint.p.shape == (2, 12)
    assert np.array_equal(joint.counts, counts)
    assert joint.n == counts.sum()
    assert joint.p_s == pytest.approx(counts.sum(axis=(1, 2)) / counts.sum())
    assert joint.p_x == pytest.approx(counts.sum(axis=0).ravel() / counts.sum())
    assert [a.name for a in joint.release] == ["age", "sex"]


def test_probabilities_have_no_number_of_rows():
    joint = tr.Joint(np.full((2, 2), 0.25))
    assert joint.n is None
    assert joint.p.sum() == 1
    assert tr.Joint([[0.1, 0.2], [0.3, 0.4]]).exact.dtype == object


def test_weights_keep_their_effective_n():
    joint = tr.Joint([[Fraction(1, 3), 2], [Decimal("0.5"), 1]], effective=3.2)
    assert joint.n == 3.2
    assert joint.exact.tolist() == [[2, 12], [3, 6]]


def test_several_secrets():
    counts = random_counts(1, 6, 3)
    joint = tr.Joint(counts, secret=[tr.Attribute.of("ill", ["no", "yes"]), tr.Attribute.of("debt", range(3))])
    assert np.array_equal(joint.about("ill").counts, counts.reshape(2, 3, 3).sum(axis=1))
    assert np.array_equal(joint.about("debt").counts, counts.reshape(2, 3, 3).sum(axis=0))
    certificate = tr.design(joint, tr.LIP("0.5")).certificate
    assert set(certificate.facts["levels"]) == {"ill", "debt"}
    assert all(level <= certificate.level for level in certificate.facts["levels"].values())
    with pytest.raises(tr.TrechterError, match="ill, debt"):
        joint.about("age")


def test_task_column():
    counts = random_counts(2, 2, 3, 4)
    joint = tr.Joint(counts, task=("T", list("wxyz")))
    assert joint.shape == (2, 3)
    assert np.array_equal(joint.counts, counts.sum(axis=2))
    assert joint.p_task == pytest.approx(counts / counts.sum())
    result = tr.design(joint, tr.LIP("0.3"), measure=tr.TaskInformation())
    table = joint.p_task.sum(axis=0).T @ result.protocol.matrix.T
    independent = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    assert result.utility == pytest.approx((table * np.log(table / independent)).sum(), abs=1e-9)
    assert result.utility >= tr.TaskInformation().utility(joint, tr.design(joint, tr.LIP("0.3")).protocol) - 1e-9
    with pytest.raises(tr.TrechterError, match="task"):
        tr.design(tr.Joint([[1, 2], [3, 4]]), tr.LIP("0.1"), measure=tr.TaskInformation())


def test_digest_depends_on_everything():
    counts = random_counts(3, 2, 3)
    joint, other = tr.Joint(counts), counts.copy()
    other[0, 0] += 1
    digests = {
        joint.digest(),
        joint.digest(b"salt"),
        tr.Joint(other).digest(),
        tr.Joint(counts, secret=("Z", [0, 1])).digest(),
    }
    assert len(digests) == 4
    assert joint.digest(b"salt") == tr.Joint(counts.copy()).digest(b"salt")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([[1, -1], [2, 3]], "-1"),
        ([[1.0, float("nan")], [2, 3]], "nan"),
        ([[1.0, float("inf")], [2, 3]], "inf"),
        ([["a", 1], [2, 3]], "numbers"),
        ([[True, False], [True, True]], "bool"),
        ([[0, 0], [0, 0]], "all counts are 0"),
        (np.zeros((0, 3)), "empty"),
        ([1, 2, 3], "one axis for the secret"),
    ],
)
def test_counts_that_are_no_distribution(counts, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.Joint(counts)


def test_labels_that_do_not_fit():
    for wrong in ({"secret": ("S", ["a"])}, {"release": {"X": ["a", "b", "c"]}}, {"release": {"X": ["a", "a"]}}):
        with pytest.raises(tr.TrechterError, match=r"labels do not fit|twice"):
            tr.Joint([[1, 2], [3, 4]], **wrong)


@pytest.mark.parametrize("role", ["S", "AB", ["A", "B"], [("A",)], [3], [("A", [0, 1]), "B"]])
def test_roles_without_labels(role):
    """Nothing is left out in silence, and a list of two names is not one name with its labels."""
    with pytest.raises(tr.TrechterError, match="give a name with its labels"):
        tr.Joint([[1, 2], [3, 4]], secret=role)


def test_roles_as_pairs():
    pairs = [("A", [0, 1]), ["B", ["x", "y", "z"]], tr.Attribute.of("C", [True, False])]
    joint = tr.Joint(np.ones((2, 2, 3, 2), int), secret=("S", ["n", "y"]), release=pairs)
    assert [a.name for a in joint.release] == ["A", "B", "C"]
    assert [len(a) for a in joint.release] == [2, 3, 2]


@pytest.mark.parametrize(
    ("secret", "release"),
    [("A", ["A"]), ("S", ["A", "A"]), (["A", "A"], ["X"]), (["S", "X"], ["X"])],
)
def test_names_that_differ(secret, release):
    names = [secret] if isinstance(secret, str) else secret
    values = {name: tr.Attribute.of(name, [0, 1]) for name in (*names, *release)}
    counts = np.ones((2 ** len(names), *[2] * len(release)), int)
    with pytest.raises(tr.TrechterError, match=r"two columns are called '[AX]'"):
        tr.Joint(counts, secret=[values[n] for n in names], release=[values[n] for n in release])
