"""CSV files: what is read, and what is refused with the line that is to blame."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trechter.alphabet import Attribute
from trechter.errors import TableError
from trechter.tables import open_table
from trechter.tables.shape import even_records, records


def file_of(tmp_path, content: bytes, name: str = "t.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def rows_of(path, column: str = "a") -> int:
    return open_table(path).count([Attribute(column, ("x", "y", None), other="y")]).rows


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"a,b\nx,1\ny,2\n", [1, 1, 0]),
        (b"a,b\r\nx,1\r\ny,\r\n", [1, 1, 0]),
        (b"\xef\xbb\xbfa,b\nx,1\n", [1, 0, 0]),
        (b"a,b\nx,1\ny,2", [1, 1, 0]),
        (b'"a","b"\n"x","1"\n"","2"\n,3\n', [1, 0, 2]),
        (b"b,a\n1,x\n2,\n", [1, 0, 1]),
        (b"a,b\nx,1\ny,2\n\n\n", [1, 1, 0]),
        (b"a,b\nx,\ny,\r\n\r\n", [1, 1, 0]),
        (b"a,b,c\n,,\nx,1,\n", [1, 0, 1]),
        (b"a\nx\n\ny\n", [1, 1, 1]),
        (b'a,"b\nb"\nx,"1\n\n2"\ny,\n', [1, 1, 0]),
        (b"a,,b\nx,1,2\n", [1, 0, 0]),
        (b'a,"the ""b"""\nx,1\ny,\n', [1, 1, 0]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_cells_are_read_as_they_are_written(tmp_path, content, counts, packed):
    path = file_of(tmp_path, gzip.compress(content) if packed else content, "t.csv.gz" if packed else "t.csv")
    assert open_table(path).count([Attribute("a", ("x", "y", None))]).array.tolist() == counts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b,c\nx,1,2\ny,1\nx,2,3\n", "line 3 does not have 3 fields, like the header, but 2"),
        (b"a,b,c\nx,1,2\ny", "line 3 does not have 3 fields, like the header, but 1"),
        (b"a,b,c\nx,1,2\n\nx,1,2\n", "line 3 is blank"),
        (b"a,b\nx,1\ny,2,3\n", "line 3 does not have 2 fields, like the header, but 3"),
        (b'a,b\n"x\ny",1\nx\n', "line 4 does not have 2 fields"),
        (b"", "is empty; it needs a header"),
        (b"\n\n", "is empty; it needs a header"),
        (b"a,b,a\n1,2,3\n", r"several columns named 'a'"),
        (b'a,b,"a"\n1,2,3\n', r"several columns named 'a'"),
        (b"a;b\n1;2\n", "has ';' between its fields"),
        (b"a\tb\n1\t2\n", r"has tabs between its fields.*\.tsv"),
        (b"a,b\nx\xe9,1\n", "it is not UTF-8 text"),
        ("a,b\nx,1\n".encode("utf-16"), "it is not UTF-8 text"),
        (b"a,b\rx,1\ry,2\r", "header is unclear"),
        (b'a,b"c\nx,1\ny,2\n', "header is unclear"),
        (b'a, "b"\nx,1\ny,2\n', "header is unclear"),
        (b'a,b\n"x,1\ny,2\n', "t.csv"),
    ],
)
def test_what_is_wrong_with_a_file_is_explained(tmp_path, content, message):
    with pytest.raises(TableError, match=message):
        rows_of(file_of(tmp_path, content))


@pytest.mark.parametrize("name", ['the "b"', '"', '""b', "new\nline", 'all, "of"\r\nit', "ü 龍", "<b>", " "])
def test_names_of_any_text(tmp_path, name):
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[name, "c"], ["x", 1], ["y", 2], ["x", 3]])
    table = open_table(path)
    assert table.columns == (name, "c")
    assert table.count([Attribute(name, ("x", "y"))]).array.tolist() == [2, 1]


def test_bad_text_far_from_the_header_is_found(tmp_path):
    content = b"a,b\n" + b"x,1\n" * 50_000 + b"caf\xe9,1\n"
    with pytest.raises(TableError, match="it is not UTF-8 text"):
        rows_of(file_of(tmp_path, content))


@pytest.mark.parametrize("kept", [5, 60, -9, -4])
def test_a_gzip_file_that_was_cut_is_refused(tmp_path, kept):
    packed = gzip.compress(b"a,b\n" + b"".join(b"x,%d\n" % (i * i) for i in range(40_000)))
    with pytest.raises(TableError, match="damaged or cut short"):
        rows_of(file_of(tmp_path, packed[:kept], "t.csv.gz"))


def test_a_file_that_only_claims_to_be_packed_is_refused(tmp_path):
    with pytest.raises(TableError, match="Not a gzipped file"):
        rows_of(file_of(tmp_path, b"a,b\nx,1\n", "t.csv.gz"))


def test_a_damaged_gzip_file_is_refused(tmp_path):
    packed = bytearray(gzip.compress(b"a,b\n" + b"".join(b"x,%d\n" % (i * i) for i in range(40_000))))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(TableError, match="cannot read"):
        rows_of(file_of(tmp_path, bytes(packed), "t.csv.gz"))


FIELD = st.text(st.sampled_from('ab,"\n\r é'), max_size=4)
TABLE = st.integers(2, 4).flatmap(
    lambda w: st.lists(st.lists(FIELD, min_size=w, max_size=w), min_size=1, max_size=8).map(lambda r: (w, r))
)


@given(TABLE, st.integers(1, 9))
def test_well_formed_files_have_even_records(drawn, block):
    width, rows = drawn
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    whole = text.getvalue().encode()
    for content in (whole, whole[:-1]):
        assert even_records(io.BytesIO(content), ",", width, block) == len(rows)
    assert records(io.StringIO(text.getvalue()), ",", width, "it") == len(rows)


@given(TABLE, st.data(), st.integers(1, 9))
def test_a_record_that_lacks_a_field_is_noticed(drawn, data, block):
    width, rows = drawn
    victim = data.draw(st.integers(0, len(rows) - 1))
    rows[victim] = rows[victim][1:]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    assert even_records(io.BytesIO(text.getvalue().encode()), ",", width, block) is None
    with pytest.raises(TableError, match=f"does not have {width} fields, like the header, but {width - 1};"):
        records(io.StringIO(text.getvalue()), ",", width, "it")
