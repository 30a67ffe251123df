"""The heat map: columns still sum to 100 when others are added up, and values stay text."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_matrix

from trechter.model.heatmap import MOST, protocol_html


def numbers(page: str) -> list[list[float]]:
    rows = re.findall(r"<tr>(.*?)</tr>", page)[1:]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return [[float(c) if c not in ("", "·") else 0.0 for c in row] for row in cells]


@pytest.mark.parametrize(("b", "n"), [(1, 1), (3, 4), (24, 24), (25, 24), (24, 25), (300, 200)])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_sum_to_100_whatever_is_left_out(b, n, weighted):
    matrix = random_matrix(1, b, n)
    masses = np.random.default_rng(2).dirichlet(np.ones(n)) if weighted else None
    shown = np.array(numbers(protocol_html([f"y{i}" for i in range(b)], [f"x{i}" for i in range(n)], matrix, masses)))
    assert shown.shape == (min(b, MOST), min(n, MOST))
    assert shown.sum(axis=0) == pytest.approx(100, abs=0.06 * MOST)


def test_the_others_are_named_and_averaged_by_mass():
    matrix, masses = random_matrix(1, 3, 30), np.random.default_rng(2).dirichlet(np.ones(30))
    page = protocol_html(list("abc"), [f"x{i}" for i in range(30)], matrix, masses)
    others = np.argsort(-masses)[MOST - 1 :]
    assert f"{len(others)} other inputs" in page
    expected = 100 * matrix[:, others] @ masses[others] / masses[others].sum()
    assert [row[-1] for row in numbers(page)] == pytest.approx(expected, abs=0.051)


def test_others_that_never_occur_are_averaged_all_the_same():
    masses = np.r_[np.full(MOST - 1, 1 / (MOST - 1)), np.zeros(9)]
    page = protocol_html(list("abc"), [f"x{i}" for i in range(len(masses))], random_matrix(1, 3, len(masses)), masses)
    assert sum(row[-1] for row in numbers(page)) == pytest.approx(100, abs=0.2)


@given(st.text(max_size=30), st.text(max_size=30))
def test_names_are_text(output, name):
    page = protocol_html([output], [name], np.ones((1, 1)))
    assert [unescape(t) for t in re.findall(r"<bdi>(.*?)</bdi>", page, re.DOTALL)] == [name, output]
    assert page.count("<") == protocol_html(["a"], ["b"], np.ones((1, 1))).count("<")
