"""Comparisons: rows that hold what they say, in order, below the bound of what they read; as text, HTML, JSON, pictures."""

import json
import math
import os
import signal
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint
from tests.oracles import levels

import trechter as tr
from trechter.errors import RequestError, SolverError
from trechter.mechanisms import MECHANISMS, OF_SEVERAL
from trechter.privacy import NOTIONS
from trechter.workflow.comparison_picture import apart
from trechter.workflow.comparison_table import aligned, text

SHAPES = st.sampled_from([(2, 2), (2, 4), (3, 3), (2, 2, 2)])
SIMPLE = ["constant", "grr", "conditional-reporting", "identity"]
NASTY = "<script>alert(1)</script>&\u202e"


@settings(max_examples=12)
@given(st.integers(0, 10**6), SHAPES, st.sampled_from(sorted(NOTIONS)), st.sampled_from(["0.05", "0.5", "2", "inf"]))
def test_laws(seed, shape, name, eps):
    joint, notion = random_joint(seed, *shape), NOTIONS[name](eps)
    found = tr.compare(joint, notion)
    suited = set(MECHANISMS) - (set(OF_SEVERAL) if len(shape) == 2 else set())
    assert {row.name for row in found.rows} == {"optimum", *suited}
    best = {reads: tr.design(joint, notion, reads=reads).bound for reads in ("x", "sx")}
    for row in found.rows:
        check_row(row, joint, notion, best)
    check_order(found)
    json.dumps(found.to_json(), allow_nan=False)
    assert all(row.label in str(found) and row.label in found._repr_html_() for row in found.rows)


def check_row(row, joint, notion, best):
    """It is certified, worth what it says, and below every bound that there is; or it says why there is none."""
    if row.result is None:
        assert row.reason
        assert (row.utility, row.level, row.holds, row.outputs) == (None, None, False, None)
        return
    protocol = row.result.protocol
    if hasattr(protocol, "weights"):
        exact = levels.worst_ratio(notion.name, protocol.weights, joint.counts, protocol.reads)
        assert row.result.certificate.level_exact == exact
        assert row.level >= (math.inf if exact is None else math.log1p(float(exact - 1)) * (1 - 1e-15))
        assert row.utility == pytest.approx(
            levels.mutual_information(protocol.weights, joint.counts, protocol.reads), abs=1e-12
        )
    assert row.holds == tr.certify(protocol, joint, notion).holds
    assert (row.bound is None) == (not row.holds)
    if row.holds:
        assert row.level <= notion.spec.exponent + 1e-12 or notion.epsilon is None
        assert row.utility <= min(row.bound, best[row.reads])
        assert row.bound == pytest.approx(best[row.reads], abs=2e-6)
        assert row.gap == pytest.approx(row.bound - row.utility)
    if row.holds and row.leakage and notion.epsilon is not None:
        assert row.leakage.information <= notion.spec.exponent  # a lemma: every notion here implies it


def check_order(found):
    kinds = [(row.result is None, not row.holds) for row in found.rows]
    assert kinds == sorted(kinds)
    kept = [row.utility for row in found.rows if row.holds]
    assert kept == sorted(kept, reverse=True)
    assert found.rows[0].name == "optimum"


def test_a_row_is_what_the_mechanism_gives():
    joint = random_joint(4, 3, 5)
    found = tr.compare(joint, tr.LIP("0.5"), mechanisms=["grr", "conditional-reporting"])
    for row in found.rows:
        if row.name == "optimum":
            alone = tr.design(joint, tr.LIP("0.5"), reads=row.reads)
            assert row.utility == pytest.approx(alone.utility, abs=2e-6)
        else:
            alone = MECHANISMS[row.name](joint, tr.LIP("0.5"))
            assert row.result.protocol == alone.protocol
            assert (row.alpha, row.outputs) == (alone.stats["alpha"], len(alone.protocol.outputs))
        measured = tr.leakage(joint, row.result.protocol)
        assert (row.leakage.bayes_gain, row.leakage.maximal) == (measured.bayes_gain, measured.maximal)


@pytest.mark.parametrize(("reads", "optima"), [(None, ["x"]), ("sx", ["sx"]), (["sx", "x"], ["sx", "x"])])
def test_which_optima_are_found(reads, optima):
    found = tr.compare(random_joint(1, 2, 3), tr.LDP(1), mechanisms=["grr"], reads=reads)
    assert [row.reads for row in found.rows if row.name == "optimum"] == optima
    assert all(row.bound is not None for row in found.rows)  # who reads less is bounded by who reads more


def test_mechanisms_that_read_the_secret_bring_their_optimum():
    found = tr.compare(random_joint(1, 2, 3), tr.LDP(1), mechanisms="conditional-reporting")
    assert [(row.name, row.reads) for row in found.rows[:2]] == [("optimum", "sx"), ("optimum", "x")]


def test_several_levels_are_what_single_comparisons_find():
    joint = random_joint(8, 3, 6)
    found = tr.compare(joint, tr.LIP, epsilons=["1", "0.2", 1], mechanisms=SIMPLE)
    assert [str(notion) for notion in found.notions] == ["LIP(0.2)", "LIP(1)"]
    for level in ("0.2", "1"):
        alone = tr.compare(joint, tr.LIP(level), mechanisms=SIMPLE)
        here = found.at(tr.LIP(level).spec)
        assert [row.label for row in here] == [row.label for row in alone.rows]
        assert [row.utility for row in here] == pytest.approx([row.utility for row in alone.rows], abs=2e-6)


def test_a_design_that_stops_early_is_never_below_the_optimum_that_does_not_look():
    joint = tr.Joint(np.random.default_rng(3).integers(1, 90, (6, 14)))
    found = tr.compare(joint, tr.LIP("0.1"), mechanisms=[], reads=["x", "sx"], time_limit=0.0)
    looking, blind = (next(row for row in found.rows if row.reads == reads) for reads in ("sx", "x"))
    assert looking.utility >= blind.utility
    assert looking.holds
    assert tr.certify(looking.result.protocol, joint, tr.LIP("0.1")).holds
    assert looking.result.protocol.reads == "sx"
    assert looking.bound >= blind.utility


def test_less_is_better_for_a_distortion():
    joint = random_joint(2, 2, 4)
    measure = tr.Distortion(1 - np.eye(4))
    found = tr.compare(joint, tr.LIP("0.3"), mechanisms=["constant", "grr"], measure=measure)
    assert found.whole is None
    assert found.rows[0].name == "optimum"
    assert [row.utility for row in found.rows] == sorted(row.utility for row in found.rows)
    assert all(row.utility >= row.bound for row in found.rows)
    assert "has E d(X,Y) = " in str(found)
    assert "kept" not in str(found)


def test_a_constant_competes_where_something_is_lost():
    pytest.importorskip("altair")
    joint = random_joint(2, 2, 4)
    found = tr.compare(joint, tr.LIP("0.05"), mechanisms=["constant", "grr"], measure=tr.Distortion(1 - np.eye(4)))
    rows = {row.name: row.utility for row in found.rows}
    assert rows["constant"] < rows["grr"]  # whoever always says the likeliest errs less often
    assert f"constant E d(X,Y) = {rows['constant']:.4g}." in found.sentences[0]
    assert {point["name"] for point in drawn(found.plot())} == set(rows)


@pytest.mark.parametrize("counts", [[[3], [5]], [[3, 5]], [[2, 2], [3, 3]], [[3, 0], [0, 5]], [[0, 4, 1], [0, 0, 0]]])
@pytest.mark.parametrize("eps", ["0", "1", "inf"])
def test_degenerate_joints(counts, eps):
    found = tr.compare(tr.Joint(counts), tr.LIP(eps), mechanisms=SIMPLE)
    assert all(row.holds for row in found.rows if row.name in ("optimum", "constant"))
    json.dumps(found.to_json(), allow_nan=False)
    assert "optimum" in str(found)
    assert "optimum" in found._repr_html_()


def test_levels_beyond_what_floats_can_hold_are_told_apart():
    found = tr.compare(random_joint(1, 2, 3), tr.LIP, epsilons=["inf", "900", "800"], mechanisms=["grr"])
    assert [str(notion) for notion in found.notions] == ["LIP(800)", "LIP(900)", "LIP(inf)"]
    assert [row.notion for row in found.rows] == [notion for notion in found.notions for _ in range(2)]


def test_a_task_is_measured_by_what_x_itself_says_of_it():
    counts = np.random.default_rng(0).integers(1, 40, (2, 3, 2))
    joint = tr.Joint(counts, secret=("S", [*"ab"]), release={"X": [*"uvw"]}, task=("T", [*"01"]))
    found = tr.compare(joint, tr.LIP(9), mechanisms=["identity"], measure=tr.TaskInformation())
    assert found.rows[0].share(found.whole) == 1


def test_adult(adult):
    found = tr.compare(adult("marital-status", "education"), tr.LIP(1), reads="x", mechanisms=SIMPLE)
    assert found.rows[0].utility == pytest.approx(1.9095394765, abs=1e-9)
    assert found.sentences == ["At ε = 1 the optimum keeps 94.0% of the information, grr 48.1%."]
    assert found.whole == pytest.approx(2.0318576100, abs=1e-9)


# ------------------------------------------------------------------------------------------ mechanisms of one's own


def fails(joint, notion, *, measure=None):
    raise SolverError("no luck today")


def breaks(joint, notion, *, measure=None):
    raise ZeroDivisionError


def stops(joint, notion, *, measure=None):
    raise KeyboardInterrupt


def test_mechanisms_of_ones_own():
    joint, matrix = random_joint(5, 2, 3), np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    found = tr.compare(joint, tr.LIP("0.4"), mechanisms={"ours": partial(tr.pram, matrix)})
    ours = next(row for row in found.rows if row.name == "ours")
    assert ours.result.protocol == tr.pram(matrix, joint, tr.LIP("0.4")).protocol


def test_a_mechanism_that_fails_is_a_row_with_its_reason():
    joint = random_joint(5, 2, 3)
    found = tr.compare(joint, tr.LIP("0.4"), mechanisms={"fails": fails, "grr": tr.grr})
    assert found.rows[-1].reason == "no luck today"
    assert "fails: no luck today" in str(found)
    assert "no luck today" in found._repr_html_()
    with pytest.raises(ZeroDivisionError):
        tr.compare(joint, tr.LIP("0.4"), mechanisms={"breaks": breaks})


def test_a_level_out_of_reach_gives_the_range():
    counts = [[[30, 2], [3, 5]], [[2, 9], [7, 31]]]
    found = tr.compare(tr.Joint(counts), tr.SRLIP("0.01"), mechanisms=["conditional-reporting"])
    assert "its level is between" in found.rows[-1].reason
    assert found.to_json()["levels"][0]["rows"][-1]["status"] == "unreached"


def test_an_interrupt_leaves_the_rows_that_were_found():
    joint = random_joint(5, 2, 3)
    found = tr.compare(joint, tr.LIP("0.4"), mechanisms={"grr": tr.grr, "stops": stops})
    assert [row.name for row in found.rows] == ["grr"]
    assert found.interrupted
    assert "Interrupted" in str(found)
    with pytest.raises(KeyboardInterrupt):
        tr.compare(joint, tr.LIP("0.4"), mechanisms={"stops": stops})


def test_an_interrupt_during_a_design_takes_what_it_has():
    joint = tr.Joint(np.random.default_rng(0).dirichlet(np.full(360, 0.5)).reshape(9, 40))
    seen = []

    def once(known):
        if known["utility"] > 0 and not seen:
            seen.append(known)
            os.kill(os.getpid(), signal.SIGINT)

    found = tr.compare(joint, tr.LIP, epsilons=["0.2", "3"], mechanisms=["grr"], gap=0, progress=once)
    assert [(row.name, str(row.notion)) for row in found.rows if row.name == "optimum"] == [("optimum", "LIP(0.2)")]
    assert found.interrupted
    assert "a design that stopped early keeps" in str(found)
    assert "stopped early at LIP(0.2)" in str(found)


JOINT = random_joint(0, 2, 3)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((JOINT, tr.LIP), {}, "without a level"),
        ((JOINT, tr.LIP(1)), {"epsilons": [1]}, "give the class"),
        ((JOINT, tr.LIP), {"epsilons": []}, "no levels"),
        ((JOINT, "lip"), {}, "no Notion"),
        (([[1, 2]], tr.LIP(1)), {}, "no Joint"),
        ((JOINT, tr.LIP(1)), {"mechanisms": ["grr", "rgr"]}, "conditional-reporting"),
        ((JOINT, tr.LIP(1)), {"mechanisms": "rgr"}, "unknown mechanism 'rgr'"),
        ((JOINT, tr.LIP(1)), {"mechanisms": {"optimum": tr.grr}}, "another name"),
        ((JOINT, tr.LIP(1)), {"reads": "s"}, "'sx'"),
        ((JOINT, tr.LIP(1)), {"measure": "information"}, "no Measure"),
        ((JOINT, tr.LIP(1)), {"measure": tr.TaskInformation()}, "task"),
        ((JOINT, tr.LIP(1)), {"time_limit": -1}, "time_limit"),
        ((JOINT, tr.LIP(1)), {"gap": "small"}, "gap"),
    ],
)
def test_requests_that_make_no_sense(arguments, options, said):
    with pytest.raises(RequestError, match=said):
        tr.compare(*arguments, **options)


# ----------------------------------------------------------------------------------------------------------- shown


@pytest.fixture(scope="module")
def one():
    joint = tr.Joint([[9, 4, 2], [0, 5, 7]], secret=(NASTY, ["no", "yes"]), release={"X<b>": ["a", "b", "c"]})
    return tr.compare(joint, tr.LIP("0.5"), mechanisms=SIMPLE)


@pytest.fixture(scope="module")
def several():
    joint = tr.Joint([[9, 4, 2], [0, 5, 7]], secret=(NASTY, ["no", "yes"]), release={"X<b>": ["a", "b", "c"]})
    return tr.compare(joint, tr.LIP, epsilons=["0.1", "0.2", "0.5", "0.75", "1", "1.5", "2", "3"], mechanisms=SIMPLE)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_table_fits(one, several, width):
    for found in (one, several):
        shown = text(found, width)
        assert max(map(len, shown.splitlines())) <= width
        assert "optimum" in shown
        assert "\u202e" not in shown
    assert "kept" in text(one, width)


def test_wider_terminals_show_more(one):
    heads = [set(text(one, width).split("\n\n")[1].splitlines()[0].split()) for width in (40, 60, 80, 120)]
    assert all(narrow < wide for narrow, wide in pairwise(heads))


def test_the_terminal_says_how_wide_it_is(one, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert str(one) == text(one, 60)
    assert repr(one) == str(one)


def test_every_level_has_its_cell(several):
    shown = text(several, 60)
    assert [shown.count(f"ε={level}") for level in ("0.1", "0.75", "3")] == [1, 1, 1]
    best = several.at(tr.LIP("0.5").spec)[0]
    assert f"{best.share(several.whole):.1%}" in shown
    assert "identity does not keep LIP(0.1)" in shown.replace("\n  ", " ")


def test_protocols_that_break_the_promise_stand_apart(one):
    body = text(one, 80).split("\n\n")[1].splitlines()
    broken = body.index("not kept by:")
    assert body[broken + 1].startswith("identity")
    assert "∞" in body[broken + 1]
    assert broken == len(body) - 2


@pytest.mark.parametrize("kind", ["one", "several"])
def test_html_shows_text_from_the_data_as_text(kind, request):
    found = request.getfixturevalue(kind)
    assert "<script" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()
    assert "does not keep LIP(" in found._repr_html_()
    assert "<b>" not in found._repr_html_()


ROW = {
    "name": (str,),
    "reads": (str, type(None)),
    "status": (str,),
    "holds": (bool,),
    "level": (float, str, type(None)),
    "alpha": (float, str, type(None)),
    "reason": (str, type(None)),
    "utility": (float, type(None)),
    "bits": (float,),
    "share": (float, type(None)),
    "bound": (float, type(None)),
    "gap": (float, type(None)),
    "leakage": (dict, type(None)),
    "outputs": (int, str, type(None)),
    "solver": (str, type(None)),
    "seconds": (float, type(None)),
}


@pytest.mark.parametrize("kind", ["one", "several"])
def test_json(kind, request):
    found = request.getfixturevalue(kind)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (data["measure"], data["unit"], data["n"], data["secret"]) == ("I(X;Y)", "nats", 27, [NASTY])
    assert [level["notion"] for level in data["levels"]] == [str(notion) for notion in found.notions]
    for level in data["levels"]:
        assert {row["name"] for row in level["rows"]} == {"optimum", *SIMPLE}
        for row in level["rows"]:
            assert set(row) == set(ROW)
            assert all(isinstance(row[key], kinds) for key, kinds in ROW.items()), row
            assert row["bits"] == pytest.approx(row["utility"] / math.log(2))
            assert row["share"] == pytest.approx(row["utility"] / data["whole"])
            assert set(row["leakage"]) == {"information", "bayes_gain", "maximal"}


# -------------------------------------------------------------------------------------------------------- pictures


def drawn(chart):
    """The points of a chart and of its layers."""
    spec = chart.to_dict()
    return [point for part in (spec, *spec["layer"]) if "data" in part for point in part["data"]["values"]]


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 0.1))
def test_names_are_moved_apart(values, least):
    places = apart(sorted(values), least, 1.0)
    assert places[-1] <= 1
    assert all(b - a >= least - 1e-12 for a, b in pairwise(places))


def test_names_that_do_not_touch_stay():
    assert apart([0.1, 0.5, 0.9], 0.1, 1.0) == [0.1, 0.5, 0.9]


@pytest.mark.parametrize("kind", ["one", "several"])
def test_pictures(kind, request, tmp_path):
    pytest.importorskip("altair")
    found = request.getfixturevalue(kind)
    for end in ("png", "svg", "html"):
        found.save_plot(tmp_path / f"picture.{end}")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    svg, page = (tmp_path / "picture.svg").read_text(), (tmp_path / "picture.html").read_text()
    assert svg.startswith("<svg")
    for drawn in (svg, page):
        assert "conditional-reporting" in drawn
        assert "<script" not in drawn
        assert "<b>" not in drawn
        assert "&lt;script" in drawn
    assert "default-src &#x27;none&#x27;" in page
    assert page.count("<table") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["picture.html", "picture.png", "picture.svg"]


def test_a_picture_draws_what_the_rows_say(several):
    pytest.importorskip("altair")
    seen = {(p["name"], p["epsilon"]): p["value"] for p in drawn(several.plot())}
    rows = [row for row in several.rows if row.holds and row.name not in ("constant", "identity")]
    assert seen == {(row.label, float(row.notion.epsilon)): row.utility / several.whole for row in rows}


def test_pictures_that_cannot_be_made(one, tmp_path, monkeypatch):
    with pytest.raises(RequestError, match=r"\.png, \.svg, \.html"):
        one.save_plot(tmp_path / "picture.jpeg")
    with pytest.raises(RequestError, match="no folder"):
        one.save_plot(tmp_path / "absent" / "picture.png")
    empty = tr.compare(random_joint(3, 2, 3), tr.LIP(1), mechanisms={"constant": tr.constant}, reads="x", time_limit=None)
    assert empty.rows
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(RequestError, match=r"trechter\[figures\]"):
        one.plot()


def test_columns_are_aligned():
    assert aligned([["a", "bbb"], ["1", "22"]]) == ["a     1", "bbb  22"]
