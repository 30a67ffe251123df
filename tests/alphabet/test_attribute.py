"""Attributes and values: codes, JSON, and what cannot be a domain."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trechter.alphabet import Attribute, Bin
from trechter.alphabet.values import bins, from_json, label, to_json
from trechter.errors import SchemaError

PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.dates()
EDGE = st.integers() | st.floats(allow_nan=False) | st.dates()
VALUE = PLAIN | st.builds(Bin, EDGE, EDGE, st.booleans())


@given(VALUE)
def test_json_keeps_a_value_and_its_type(value):
    back = from_json(json.loads(json.dumps(to_json(value))))
    assert back == value
    assert type(back) is type(value)
    if isinstance(value, Bin):
        assert type(back.low) is type(value.low)


@given(st.lists(st.integers(), min_size=1, unique=True), st.booleans())
def test_codes_are_positions(values, null):
    attribute = Attribute("a", (*values, *((None,) if null else ())), "integer")
    assert [attribute.code(v) for v in attribute.values] == list(range(len(attribute)))
    assert Attribute.from_json(json.loads(json.dumps(attribute.to_json()))) == attribute


def test_true_is_not_one():
    with pytest.raises(SchemaError, match="declared integer, but has the value True"):
        Attribute("a", (True, 0), "integer")
    with pytest.raises(SchemaError, match="1 is not a value"):
        Attribute("a", (True, False), "boolean").code(1)
    with pytest.raises(SchemaError, match="catch-all 1 is not a value"):
        Attribute("a", (True, False), "boolean", other=1)


def test_the_catch_all_takes_unseen_values_but_not_null():
    attribute = Attribute("a", ("x", "rest"), other="rest")
    assert attribute.code("never seen") == 1
    with pytest.raises(SchemaError, match="None is not a value"):
        attribute.code(None)


def test_types_are_those_of_the_values():
    assert Attribute.of("a", np.array([3, 1])).kind == "integer"
    assert Attribute.of("a", ["x", None]).kind == "text"
    assert Attribute.of("a", bins((dt.date(2024, 1, 1), dt.date(2025, 1, 1)))).kind == "date"
    assert Attribute.of("a", bins((0.5, 1))).kind == "number"
    with pytest.raises(SchemaError, match="mixes or has unsupported types"):
        Attribute.of("a", ["x", 1])


def test_edges_of_two_types_are_refused():
    with pytest.raises(SchemaError, match="all numbers or all dates"):
        bins((dt.date(2024, 1, 1), 5))


def test_labels_are_for_people():
    shown = [label(v) for v in (None, dt.date(2024, 1, 2), True, 5, *bins((0, 1.5, 2)))]
    assert shown == ["(null)", "2024-01-02", "True", "5", "[0, 1.5)", "[1.5, 2]"]
