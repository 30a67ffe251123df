"""Schemas: what is written comes back exactly, and what is wrong is explained."""

from __future__ import annotations

import datetime as dt
import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trechter.alphabet import Attribute, Schema
from trechter.alphabet.values import bins
from trechter.errors import SchemaError

EXAMPLE = """
[education]
type = "text"
values = ["Bachelors", "Masters", "Other"]
null = "value"
unseen = "other"
other = "Other"
[age]
type = "integer"
edges = [17, 25, 35, 50, 65, 91]
"""
ODD = st.sampled_from("\"\\'\n\r\t\b\f\x00\x1f\x7f\x85\u2028.# =[]{}é🙂ﬃ")
TEXT = st.one_of(st.text(), st.text(ODD))


def in_order(edges: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(edges, min_size=2, max_size=6, unique=True).map(sorted)


VALUES = {
    "text": TEXT,
    "integer": st.integers(),
    "boolean": st.booleans(),
    "date": st.dates(),
}
EDGES = {
    "integer": in_order(st.integers() | st.sampled_from([math.inf, -math.inf])),
    "number": in_order(st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)),
    "date": in_order(st.dates()),
}


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    if draw(st.booleans()):
        kind = draw(st.sampled_from(sorted(EDGES)))
        plain = bins(tuple(draw(EDGES[kind])))
    else:
        kind = draw(st.sampled_from(sorted(VALUES)))
        plain = tuple(draw(st.lists(VALUES[kind], min_size=1, max_size=6, unique=True)))
    other = draw(st.none() | st.sampled_from(plain))
    null = (None,) if draw(st.booleans()) else ()
    return Attribute(name, (*plain, *null), kind, other)


SCHEMAS = (
    st.lists(TEXT, min_size=1, max_size=4, unique=True).flatmap(lambda names: st.tuples(*map(attributes, names))).map(Schema)
)


@given(SCHEMAS)
def test_a_dump_is_parsed_back_exactly(schema):
    parsed = Schema.parse(tomllib.loads(schema.dump()))
    assert [a.to_json() for a in parsed.attributes] == [a.to_json() for a in schema.attributes]


@given(SCHEMAS)
def test_comments_hold_no_data(schema):
    """What the data holds stays inside TOML strings, so nothing in it can become a setting or a comment."""
    learned = Schema(schema.attributes, "inferred").dump()
    assert tomllib.loads(learned) == tomllib.loads(schema.dump())
    assert set(tomllib.loads(learned)) == {a.name for a in schema.attributes}


def test_a_dump_survives_a_file(tmp_path):
    schema = Schema((Attribute("a.b c", ("x\r\ny", "é\x7f"), "text"),))
    path = tmp_path / "schema.toml"
    path.write_text(schema.dump(), encoding="utf-8")
    assert Schema.load(path).attributes == Schema.of(str(path)).attributes == schema.attributes


def test_the_example_means_what_it_says():
    schema = Schema.parse(tomllib.loads(EXAMPLE))
    education, age = schema.attributes
    assert education == Attribute("education", ("Bachelors", "Masters", "Other", None), "text", "Other")
    assert age == Attribute.binned("age", [17, 25, 35, 50, 65, 91])
    assert age.labels == ("[17, 25)", "[25, 35)", "[35, 50)", "[50, 65)", "[65, 91]")
    assert schema["age"] is age
    assert schema.origin == "declared"


def test_a_bin_can_be_the_catch_all():
    schema = Schema.parse({"age": {"type": "integer", "edges": [0, 18, 99], "unseen": "other", "other": [18, 99]}})
    assert schema["age"].other == bins((0, 18, 99))[1]


def test_a_long_list_gets_a_line_for_each_value():
    attribute = Attribute("town", tuple(f"a rather long name {i}" for i in range(9)))
    assert '\n  "a rather long name 3",\n' in Schema((attribute,)).dump()


def test_of_takes_whatever_describes_a_schema():
    attribute = Attribute("a", (1, 2), "integer")
    schema = Schema((attribute,))
    assert Schema.of(None) is None
    assert Schema.of(schema) is schema
    assert Schema.of([attribute]) == Schema.of({"a": {"type": "integer", "values": [1, 2]}}) == schema
    for wrong in (3, [attribute, "b"]):
        with pytest.raises(SchemaError, match="is no schema; give a TOML file"):
            Schema.of(wrong)


def test_an_unknown_column_is_met_with_those_that_exist():
    schema = Schema.parse(tomllib.loads(EXAMPLE))
    with pytest.raises(SchemaError, match=r"no column 'eduction'; did you mean 'education'\? .*'education', 'age'"):
        schema["eduction"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["a", "b"], r"is no table of settings; write \[x\]"),
        ({"values": ["a"]}, 'the type is missing; add type = "…"'),
        ({"type": "txt", "values": ["a"]}, "unknown type 'txt'; use one of text, integer"),
        ({"type": "text", "valeus": ["a"]}, "no setting 'valeus'; did you mean 'values'"),
        ({"type": "text"}, "the values are missing"),
        ({"type": "integer", "values": [1], "edges": [1, 2]}, "both values and edges"),
        ({"type": "text", "values": "abc"}, "values = 'abc' is not a list"),
        ({"type": "text", "values": []}, "has no values"),
        ({"type": "text", "values": ["a", 1]}, "1 is not of type 'text'; put it between quotes"),
        ({"type": "integer", "values": [1, True]}, "True is not of type 'integer'; it is of type 'boolean'"),
        ({"type": "integer", "values": [1, 2.5]}, "2.5 is not of type 'integer'"),
        ({"type": "date", "values": [dt.datetime(2024, 1, 1)]}, "is not of type 'date'"),
        ({"type": "text", "values": ["a", None]}, 'for empty cells write null = "value"'),
        ({"type": "text", "values": ["a", "a"]}, "lists 'a' twice"),
        ({"type": "number", "values": [1.5]}, "type 'number' needs bins"),
        ({"type": "text", "edges": ["a", "b"]}, "type 'text' has no bins"),
        ({"type": "integer", "edges": [0, 1.5]}, "the edge 1.5 is not of type 'integer'"),
        ({"type": "integer", "edges": [0, True]}, "the edge True is not of type 'integer'"),
        ({"type": "date", "edges": [dt.date(2024, 1, 1), 5]}, "the edge 5 is not of type 'date'"),
        ({"type": "integer", "edges": [5]}, "at least two edges"),
        ({"type": "integer", "edges": [5, 5]}, "5 is followed by 5"),
        ({"type": "number", "edges": [0, math.nan]}, "must increase"),
        ({"type": "text", "values": ["a"], "null": "drop"}, 'null = \'drop\' is unknown; use "error" or "value"'),
        ({"type": "text", "values": ["a"], "unseen": True}, "unseen = True is unknown"),
        ({"type": "text", "values": ["a"], "unseen": "other"}, "add other = …"),
        ({"type": "text", "values": ["a"], "other": "a"}, 'only used with unseen = "other"'),
        ({"type": "text", "values": ["a"], "unseen": "other", "other": "b"}, "other = 'b' is not one of the values"),
        ({"type": "boolean", "values": [True], "unseen": "other", "other": 1}, "other = 1 is not one of the values"),
        (
            {"type": "integer", "edges": [0, 1], "unseen": "other", "other": 0},
            "other = 0 is not the two edges of a bin",
        ),
    ],
)
def test_what_is_wrong_is_explained(settings, message):
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.parse({"x": settings})
    assert "'x'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[a\n", "not valid TOML"),
        (b"[a]\ntype = 'text'\nvalues = ['\xff']\n", "not UTF-8"),
        (b"", "declares no columns"),
        (b"[a]\n[a]\n", "not valid TOML"),
        (None, "cannot read the schema .*: there is no such file"),
    ],
)
def test_a_bad_file_is_explained(tmp_path, content, message):
    path = tmp_path / "s.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SchemaError, match=message):
        Schema.load(path)


def test_what_a_schema_cannot_say_is_refused():
    a = Attribute("a", ("x", None, "y"))
    with pytest.raises(SchemaError, match="null must be the last"):
        Schema((a,))
    with pytest.raises(SchemaError, match="do not follow each other"):
        Schema((Attribute("b", (bins((0, 1))[0], bins((5, 6))[0]), "integer"),))
    with pytest.raises(SchemaError, match="'b' twice"):
        Schema((Attribute("b", ("x",)), Attribute("b", ("y",))))
    with pytest.raises(SchemaError, match="not 'guessed'"):
        Schema((Attribute("b", ("x",)),), "guessed")
