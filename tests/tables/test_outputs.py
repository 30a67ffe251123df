"""Reading released cells back: the inverse of what was written, in every engine; bits by groups and patterns."""

import datetime as dt
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trechter.alphabet import Bin
from trechter.errors import ProtocolError, TableError
from trechter.tables import OutputColumn, open_table
from trechter.tables.decode import Decoder

VALUES = [
    ("a", "b | c", "17", None),
    (1, 17, 10**12, None),
    (True, False),
    (dt.date(2020, 1, 2), None, dt.date(1999, 5, 5)),
    (Bin(0, 18), Bin(18, 90, True), None),
    ("text", 4, None),
]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3), st.integers(0, 10**6))
def test_what_was_written_is_read(columns, seed):
    """All combinations of cells are outputs, in a random order."""
    draw = np.random.default_rng(seed)
    shape = [len(values) for values in columns]
    order = draw.permutation(int(np.prod(shape)))
    codes = np.unravel_index(order, shape)
    outputs = [OutputColumn(f"^c{j}.*$", values, code) for j, (values, code) in enumerate(zip(columns, codes, strict=True))]
    drawn = draw.integers(0, len(order), 40)
    rows = Decoder(outputs)(drawn)
    for form in (rows, rows.lazy(), rows.to_pandas(), rows.to_arrow()):
        assert open_table(form).output_codes(outputs).tolist() == drawn.tolist()
        assert open_table(form).outputs(outputs).tolist() == np.bincount(drawn, minlength=len(order)).tolist()


def test_outputs_that_look_the_same_are_refused():
    column = OutputColumn("Y", ("1", 1, "a"), np.arange(3))
    with pytest.raises(ProtocolError, match="look the same"):
        open_table(pl.DataFrame({"Y": ["1"]})).outputs([column])


@pytest.mark.parametrize(("cell", "said"), [("z", "'z'.*1 row"), (None, "never releases")])
def test_cells_that_no_output_shows(cell, said):
    column = OutputColumn("Y", ("a", "b"), np.arange(2))
    with pytest.raises(TableError, match=said):
        open_table(pl.DataFrame({"Y": ["a", cell]})).outputs([column])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_bits(size):
    draw = np.random.default_rng(size)
    bits = draw.integers(0, 2, (500, 6))
    source = open_table(pl.DataFrame(bits, schema=[f"b{j}" for j in range(6)]))
    names, groups = list(source.columns), np.arange(6).reshape(-1, size)
    expected = [[int((bits[:, g].sum(axis=1) == k).sum()) for k in range(size + 1)] for g in groups]
    assert source.bit_sums(names, groups).tolist() == expected
    patterns, counts = source.bit_patterns(names)
    assert dict(zip(map(tuple, patterns.tolist()), counts.tolist(), strict=True)) == {
        tuple(row): int((bits == row).all(axis=1).sum()) for row in np.unique(bits, axis=0).tolist()
    }
    assert source.bit_codes(names).tolist() == [int("".join(map(str, row[::-1])), 2) for row in bits.tolist()]
    assert all(a.sum() == b.sum() for a, b in pairwise(source.bit_sums(names, groups)))
