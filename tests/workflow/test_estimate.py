"""`tr.estimate`: from released rows and the protocol alone, in every kind of table, for every kind of protocol."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.conftest import random_counts, random_joint

import trechter as tr
from trechter.alphabet import Attribute
from trechter.model.dense import DenseProtocol, nearest
from trechter.model.operations import product

pytestmark = pytest.mark.filterwarnings("ignore::trechter.errors.TrechterWarning")

WORK = ["full", "part", "none", "other"]
N = 20_000


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(0)
    work, sex = draw.choice(WORK, N, p=[0.5, 0.3, 0.19, 0.01]), draw.choice(["f", "m"], N, p=[0.6, 0.4])
    ill = draw.random(N) < 0.1 + 0.3 * (work == "none") + 0.05 * (sex == "f")
    return pl.DataFrame({"ill": np.where(ill, "yes", "no"), "work": work, "sex": sex})


@pytest.fixture(scope="module")
def joint(table):
    domains = {"ill": ["no", "yes"], "work": WORK, "sex": ["f", "m"]}
    schema = {name: {"type": "text", "values": values} for name, values in domains.items()}
    return tr.Joint.from_table(table, secret="ill", release=["work", "sex"], schema=schema)


def responding(joint, j, keep):
    """Randomised response of one attribute."""
    attribute, a = joint.release[j], len(joint.release[j])
    matrix = keep * np.eye(a) + (1 - keep) / a
    return DenseProtocol(nearest(matrix, 30), 30, attribute.values, joint.secret, (attribute,), released=(attribute.name,))


PROTOCOLS = {
    "optimal": lambda joint: tr.design(joint, tr.LIP("0.3")).protocol,
    "grr": lambda joint: tr.grr(joint, tr.LIP("0.3")).protocol,
    "oue": lambda joint: tr.oue(joint, tr.LIP("0.3")).protocol,
    "product": lambda joint: product([responding(joint, 0, 0.7), responding(joint, 1, 0.8)]),
    "identity": lambda joint: tr.design(joint, tr.LIP("inf")).protocol,
}


def truth(table, names):
    counts = table.group_by(names).len()
    found = {row[:-1]: row[-1] / N for row in counts.iter_rows()}
    return found


@pytest.mark.parametrize("margin", [None, ["work"], ["sex"], ["sex", "work"]])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_and_margin(name, margin, table, joint):
    """Within five standard errors of the noise around the rows' own shares; the most likely shares are near too."""
    protocol = PROTOCOLS[name](joint)
    found = tr.estimate(protocol.sanitise(table, insecure_seed=5), protocol, margin=margin)
    names = margin or ["work", "sex"]
    exact = truth(table, names)
    shares = np.array([exact[v if isinstance(v, tuple) else (v,)] for v in found.values])
    assert [a.name for a in found.attributes] == names
    assert found.rows == N
    assert found.identified.all()
    assert np.all(np.abs(found.shares - shares) <= 5 * found.noise + 1e-9)
    assert np.all(np.abs(found.likely - shares) <= 5 * found.errors + 1e-9)
    assert np.all((found.noise <= found.errors)[found.shares > 0])
    assert np.all((found.low >= 0) & (found.low <= found.high) & (found.high <= 1))
    assert found.shares.sum() == pytest.approx(1 if name != "oue" else found.shares.sum())
    assert found.lacking < 1e-5


def test_another_protocol_would_be_found_out(table, joint):
    """The same outputs, read with the protocol of another level, are far from the truth."""
    protocol, other = (tr.grr(joint, tr.LIP(level)).protocol for level in ("0.3", "0.1"))
    found = tr.estimate(protocol.sanitise(table, insecure_seed=5), other, margin="work")
    shares = np.array([truth(table, ["work"])[(v,)] for v in WORK])
    assert np.abs(found.shares - shares).max() > 10 * found.noise.max()


@pytest.mark.parametrize("name", ["optimal", "product", "oue"])
def test_every_kind_of_table(name, table, joint, tmp_path):
    protocol = PROTOCOLS[name](joint)
    released = protocol.sanitise(table, insecure_seed=1)
    released.write_csv(tmp_path / "r.csv")
    released.write_parquet(tmp_path / "r.parquet")
    protocol.save(tmp_path / "protocol.json")
    expected = tr.estimate(released, protocol)
    for form in (released.to_pandas(), released.lazy(), released.to_arrow(), tmp_path / "r.csv", str(tmp_path / "r.parquet")):
        found = tr.estimate(form, str(tmp_path / "protocol.json"))
        assert found.shares.tolist() == expected.shares.tolist()
        assert found.likely == pytest.approx(expected.likely)


def test_typed_values_come_back():
    """Bins, integers, dates and null, released as they are and as mixtures."""
    joint = tr.Joint(
        random_counts(1, 2, 4, 3), release=[Attribute.binned("age", [0, 18, 40, 90], null=True), Attribute.of("n", [1, 2, 7])]
    )
    rows = pl.DataFrame({"age": [5, 20, 50, None] * 500, "n": [1, 7, 2, 2] * 500})
    for notion in (tr.LIP("inf"), tr.LIP("0.5")):
        protocol = tr.design(joint, notion).protocol
        found = tr.estimate(protocol.sanitise(rows, insecure_seed=1), protocol, margin=["age"])
        assert np.all(np.abs(found.shares - 0.25) < 5 * found.noise + 1e-9)
        assert found.to_frame()["age"].to_list() == ["[0, 18)", "[18, 40)", "[40, 90]", None]


def test_values_that_never_occurred(table):
    """Nobody is retired: the optimum treats the value like everybody, so whether it occurs has to be known."""
    domains = {"ill": ["no", "yes"], "work": [*WORK, "retired"]}
    schema = {name: {"type": "text", "values": values} for name, values in domains.items()}
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema=schema)
    protocol = tr.design(joint, tr.LIP("0.3")).protocol
    released = protocol.sanitise(table, insecure_seed=1)
    open_ended = tr.estimate(released, protocol)
    assert not open_ended.identified.any()
    assert "absent = 'unseen' may tell more" in str(open_ended)
    exact = np.array([truth(table, ["work"]).get((v,), 0) for v in domains["work"]])
    assert np.all((open_ended.low <= exact) & (exact <= open_ended.high))
    for absent in ("unseen", ["retired"], "retired"):
        found = tr.estimate(released, protocol, absent=absent)
        assert found.identified.all()
        assert np.all(np.abs(found.shares - exact) <= 5 * found.noise)
        assert (found.shares[4], found.low[4], found.high[4]) == (0, 0, 0)
        assert found.impute(1, seed=1)["work (imputed 1)"].n_unique() == 4
        assert found.posterior(20, seed=1).draws.mean[4] == 0
        assert "taken to be absent" in str(found)
    with pytest.raises(tr.TrechterError, match="'idle' is none of what the protocol reads"):
        tr.estimate(released, protocol, absent=["idle"])


def two_alike(joint):
    """A protocol that merges part and none, and tells the rest apart."""
    merged = np.kron(np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]), np.eye(2))
    return DenseProtocol.from_matrix(0.9 * merged + 0.1 / 6, joint)


def test_what_cannot_be_told_is_a_range_and_no_guess(table, joint):
    protocol = two_alike(joint)
    released = protocol.sanitise(table, insecure_seed=2)
    found = tr.estimate(released, protocol, margin="work")
    exact = np.array([truth(table, ["work"])[(v,)] for v in WORK])
    assert found.identified.tolist() == [True, False, False, True]
    assert np.isnan(found.shares).tolist() == np.isnan(found.likely).tolist() == [False, True, True, False]
    both = exact[1] + exact[2]
    assert found.low[1:3] == pytest.approx([0, 0], abs=1e-9)
    assert np.all(found.high[1:3] > both)
    assert np.all(found.high[1:3] < both + 0.05)
    assert "2 of 4 shares cannot be told" in str(found)
    assert tr.estimate(released, protocol, margin="sex").identified.all()
    for ask in (found.given, found.impute):
        with pytest.raises(tr.TrechterError, match="do not tell how common"):
            ask()
    assert found.given(prior=np.ones(8)).height == 6 * 4
    assert "the prior decides" in str(found.posterior(100, seed=1))


def test_ranges_hold_together():
    """In 40 releases of 300 rows all ranges hold, as 95 % of them have to."""
    joint = random_joint(0, 2, 5)
    q = np.random.default_rng(0).dirichlet(np.ones(3), 5).T
    protocol, shares = DenseProtocol.from_matrix(q, joint), np.array([0.3, 0.1, 0.2, 0.05, 0.35])
    rows = pl.DataFrame({"X": np.random.default_rng(1).choice(5, 40 * 300, p=shares)})
    released, held = protocol.sanitise(rows, insecure_seed=1), 0
    for i in range(40):
        found = tr.estimate(released[300 * i : 300 * (i + 1)], protocol)
        held += np.all((found.low <= shares + 1e-9) & (shares <= found.high + 1e-9))
    assert held >= 38


def test_protocols_that_read_the_secret(table, joint):
    """Conditional Reporting tells of x alone a range; a protocol that tells s and x apart tells both and their cross-table."""
    protocol = tr.conditional_reporting(joint, tr.LIP("0.3")).protocol
    found = tr.estimate(protocol.sanitise(table, insecure_seed=1), protocol, margin="work")
    exact = np.array([truth(table, ["work"])[(v,)] for v in WORK])
    assert not found.identified.any()
    assert np.all((found.low < exact) & (exact < found.high))
    told = DenseProtocol.from_matrix(0.8 * np.eye(16) + 0.2 / 16, joint, reads="sx")
    released = told.sanitise(table, insecure_seed=1)
    found = tr.estimate(released, told, margin=["ill", "work"])
    cells = truth(table, ["ill", "work"])
    assert np.all(np.abs(found.shares - [cells[v] for v in found.values]) < 5 * found.noise)
    assert [a.name for a in tr.estimate(released, told).attributes] == ["work", "sex"]


def test_several_releases(table, joint):
    """Halves of the table through two protocols, together nearer the truth than each; of different columns too."""
    first, second = PROTOCOLS["optimal"](joint), PROTOCOLS["oue"](joint)
    halves = first.sanitise(table[: N // 2], insecure_seed=1), second.sanitise(table[N // 2 :], insecure_seed=2)
    pairs = [(halves[0], first), (halves[1], second)]
    found = tr.estimate(pairs, margin="work")
    exact = np.array([truth(table, ["work"])[(v,)] for v in WORK])
    assert np.all(np.abs(found.shares - exact) < 5 * found.errors)
    assert found.rows == N
    alone = tr.estimate([pairs[0]], margin="work")
    assert np.all(found.errors < alone.errors)
    about_sex = tr.grr(
        tr.Joint.from_table(table, secret="ill", release="sex", schema={"ill": ILL, "sex": SEX}), tr.LIP(1)
    ).protocol
    more = tr.estimate([pairs[0], (about_sex.sanitise(table[N // 2 :], insecure_seed=3), about_sex)], margin="sex")
    assert more.errors[0] < tr.estimate([pairs[0]], margin="sex").errors[0]
    with pytest.raises(tr.TrechterError, match="one release at a time"):
        found.given()


ILL = {"type": "text", "values": ["no", "yes"]}
SEX = {"type": "text", "values": ["f", "m"]}


def test_posterior_and_most_likely_shares_agree(table, joint):
    protocol = PROTOCOLS["grr"](joint)
    found = tr.estimate(protocol.sanitise(table, insecure_seed=1), protocol, margin="work")
    drawn = found.posterior(1500, seed=1)
    assert np.all(np.abs(drawn.draws.mean - found.likely) < 0.5 * found.errors + 5 * drawn.draws.errors)
    assert drawn.draws.spread[:3] == pytest.approx(found.errors[:3], rel=0.25)
    assert found.posterior(50, seed=1).draws.cells.tolist() == found.posterior(50, seed=1).draws.cells.tolist()
    assert drawn.to_frame().columns == ["work", "mean", "spread", "low", "high", "error", "effective", "identified"]
    assert "standard error for so few draws" in " ".join(str(drawn).split())


@pytest.mark.parametrize("name", ["optimal", "grr", "oue"])
def test_outputs_and_imputations(name, table, joint):
    """Averaged over the rows, what outputs say is how common values are; imputed values are named as such, and say it too."""
    protocol = PROTOCOLS[name](joint)
    released = protocol.sanitise(table, insecure_seed=1)
    found = tr.estimate(released, protocol, margin="work")
    told = found.given()
    assert told.group_by(found.output_columns).agg(pl.col("probability").sum())["probability"].to_list() == pytest.approx(
        [1] * len(protocol.outputs)
    )
    whole = released.join(told, on=found.output_columns).group_by(told.columns[-2]).agg(pl.col("probability").sum() / N)
    assert dict(whole.iter_rows()) == pytest.approx(dict(zip(WORK, found.likely, strict=True)), abs=1e-4)
    filled = found.impute(3, seed=1)
    assert filled.columns == [*released.columns, *(f"work (imputed {k})" for k in (1, 2, 3))]
    assert filled.select(released.columns).equals(released)
    for k in (1, 2, 3):
        share = (filled[f"work (imputed {k})"] == "full").mean()
        assert share == pytest.approx(found.likely[0], abs=5 * found.errors[0])


def test_shown_as_frame_json_and_html(table, joint):
    protocol = two_alike(joint)
    found = tr.estimate(protocol.sanitise(table, insecure_seed=1), protocol, margin=["work"])
    frame, data = found.to_frame(), json.loads(json.dumps(found.to_json()))
    assert frame.columns == ["work", "share", "error", "noise", "low", "high", "likely", "identified"]
    assert data["columns"] == ["work"]
    assert [line["value"] for line in data["shares"]] == [[v] for v in WORK]
    assert data["shares"][1]["share"] is None
    assert data["shares"][1]["identified"] is False
    assert data["shares"][0]["share"] == found.shares[0]
    assert "<table" in found._repr_html_()
    assert "<table" in found.posterior(10, seed=1)._repr_html_()


def test_columns_that_are_called_like_figures_are_kept():
    joint = tr.Joint(random_counts(0, 2, 3), release={"share": ["a", "b", "c"]})
    protocol = tr.grr(joint, tr.LIP(1)).protocol
    found = tr.estimate(pl.DataFrame({"share": ["a", "b", "c"] * 50}), protocol)
    assert found.to_frame().columns[:2] == ["share (value)", "share"]
    assert len(found.to_json()["shares"][0]["value"]) == 1


def test_a_hundred_values_and_many_rows():
    """Counts go in, so ten million rows are no more than their outputs."""
    joint = random_joint(0, 2, 100)
    protocol = tr.grr(joint, tr.LIP(2)).protocol
    rows = pl.DataFrame({"X": np.random.default_rng(0).integers(0, 100, 1_000_000)})
    found = tr.estimate(protocol.sanitise(rows, insecure_seed=1), protocol)
    assert np.mean(np.abs(found.shares - 0.01) < 1.96 * found.errors) > 0.87
    assert len(str(found).splitlines()) < 60


def bad_cases(table, joint):
    protocol = PROTOCOLS["grr"](joint)
    good, shown = protocol.sanitise(table, insecure_seed=1), table.select("work", "sex")
    return {
        "an output it does not have": (
            good.with_columns(work=pl.lit("retired")),
            protocol,
            ["'work'", "never releases", "retired"],
        ),
        "an empty cell": (good.with_columns(work=pl.lit(None, pl.String)), protocol, ["'work'", "never releases"]),
        "no rows": (good.head(0), protocol, ["no rows"]),
        "a missing column": (good.drop("sex"), protocol, ["'sex'", "work"]),
        "another protocol": (shown, tr.grr(random_joint(0, 2, 3), tr.LIP(1)).protocol, ["'X'", "'work', 'sex'"]),
        "no protocol": (good, None, ["released table and its protocol"]),
        "a table in its place": (good, shown, ["is no Protocol"]),
        "no table": (3, protocol, ["int is no table"]),
        "no releases": ([], None, ["list of such pairs"]),
    }


@pytest.mark.parametrize("case", range(9))
def test_bad_input_is_named(case, table, joint):
    released, protocol, words = list(bad_cases(table, joint).values())[case]
    with pytest.raises(tr.TrechterError) as error:
        tr.estimate(released, protocol)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_bad_requests_are_named(table, joint):
    protocol = PROTOCOLS["grr"](joint)
    released = protocol.sanitise(table, insecure_seed=1)
    for margin, word in (("wrk", "did you mean 'work'"), ([], "one or more"), (["sex", "sex"], "each once"), ("ill", "'ill'")):
        with pytest.raises(tr.TrechterError, match=word):
            tr.estimate(released, protocol, margin=margin)
    found = tr.estimate(released, protocol)
    for ask in (
        lambda: found.posterior(1),
        lambda: found.posterior(9, prior=0),
        lambda: found.impute(0),
        lambda: found.given([1]),
    ):
        with pytest.raises(tr.TrechterError):
            ask()


def test_an_output_that_is_never_drawn():
    """It is in the protocol, with weight 0: a row that shows it was not released by it."""
    joint = tr.Joint(random_counts(0, 2, 2), release={"X": ["a", "b"]})
    protocol = DenseProtocol(np.array([[2, 1], [2, 3], [0, 0]]), 2, ("p", "q", "r"), joint.secret, joint.release)
    tr.estimate(pl.DataFrame({"Y": ["p", "q"]}), protocol)
    with pytest.raises(tr.TrechterError, match="never releases"):
        tr.estimate(pl.DataFrame({"Y": ["p", "r"]}), protocol)


def test_combinations_that_are_no_output():
    joint = tr.Joint(random_counts(0, 2, 2, 2), release={"A": ["a", "b"], "B": ["c", "d"]})
    weights = np.array([[4, 0, 0, 2], [0, 4, 4, 2]])
    protocol = DenseProtocol(weights, 2, (("a", "c"), ("b", "d")), joint.secret, joint.release, released=("A", "B"))
    with pytest.raises(tr.TrechterError, match="no output with A = 'a', B = 'd'"):
        tr.estimate(pl.DataFrame({"A": ["a", "a"], "B": ["c", "d"]}), protocol)


def test_pandas_integers_that_became_floats():
    joint = tr.Joint(random_counts(0, 2, 3), release={"n": [1, 2, 3]})
    protocol = tr.grr(joint, tr.LIP(1)).protocol
    assert tr.estimate(pd.DataFrame({"n": [1.0, 2.0, 3.0, 3.0]}), protocol).rows == 4
