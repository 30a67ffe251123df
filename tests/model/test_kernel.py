"""The sampler draws from exactly its weights: by enumeration, digit by digit, and in ten million rows."""

from __future__ import annotations

import math
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trechter.errors import ProtocolError
from trechter.model import kernel as module
from trechter.model.kernel import Kernel
from trechter.model.randomness import Randomness, SecureRandom, SeededRandom

BITS = (1, 2, 7, 12, 16, 17, 48, 62, 63, 64, 65, 80, 96, 130, 333)


class Scripted(Randomness):
    """Hands out what each lane was given, in order, and knows what is left."""

    secure, source = False, "scripted"

    def __init__(self, **lanes: np.ndarray | bytes) -> None:
        self.left = {name: np.frombuffer(bytes(data), np.uint8) for name, data in lanes.items()}

    def fill(self, buffer, lane=""):
        data = self.left[lane]
        assert data.size >= buffer.nbytes, f"more bits wanted on {lane}"
        buffer.view(np.uint8)[:] = data[: buffer.nbytes]
        self.left[lane] = data[buffer.nbytes :]


def digits_of(u: int, bits: int, junk: int) -> dict[str, bytes]:
    """The lanes from which the digits of U are read, with junk after its last digit."""
    text = f"{u:0{bits}b}" + f"{junk:080b}"
    first, limb, rest = text[:16], text[16:64], text[64 : max(64, bits)]
    tail = (rest + "0" * (-len(rest) % 8)).encode()
    return {
        "guide": int(first, 2).to_bytes(2, "little"),
        "limb": int(limb + text[-16:], 2).to_bytes(8, "little"),
        "tie": bytes(int(tail[i : i + 8], 2) for i in range(0, len(tail), 8)),
    }


def literal(column: list[int], u: int) -> int:
    """The definition: the only y with C_{y−1} ≤ u < C_y."""
    (y,) = (y for y in range(len(column)) if sum(column[:y]) <= u < sum(column[: y + 1]))
    return y


@st.composite
def matrices(draw: st.DrawFn, bits: int, most: int = 7) -> np.ndarray:
    """Weight matrices with zeros, tiny weights, and thresholds that share many leading digits."""
    b, n = draw(st.integers(1, most)), draw(st.integers(1, 4))
    whole = 1 << bits
    near = st.integers(0, whole).flatmap(lambda c: st.integers(max(0, c - 2), min(whole, c + 2)))
    round_ = st.integers(0, 2 ** min(bits, 16)).map(lambda q: q << bits - min(bits, 16))
    anywhere = st.integers(0, whole)
    weights = np.empty((b, n), object)
    for x in range(n):
        base = draw(st.lists(st.one_of(anywhere, near, round_), min_size=1, max_size=3))
        cuts = st.sampled_from(base).flatmap(lambda c: st.integers(max(0, c - 3), min(whole, c + 3)))
        inner = sorted(draw(st.lists(st.one_of(anywhere, round_, cuts), min_size=b - 1, max_size=b - 1)))
        weights[:, x] = np.diff(np.array([0, *inner, whole], object))
    return weights


def random_weights(b: int, n: int, bits: int, seed: int = 0) -> np.ndarray:
    rng, weights = np.random.default_rng(seed), np.empty((b, n), object)
    for x in range(n):
        inner = sorted(int.from_bytes(rng.bytes(bits // 8 + 1), "big") % (1 << bits) for _ in range(b - 1))
        weights[:, x] = np.diff(np.array([0, *inner, 1 << bits], object))
    return weights


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_all_strings_of_up_to_16_bits_give_exactly_the_weights(data):
    bits = data.draw(st.integers(1, 16))
    weights = data.draw(matrices(bits, most=40))
    b, n = weights.shape
    kernel = Kernel(weights, bits)
    every = np.arange(1 << 16, dtype="<u2")
    limb = np.random.default_rng(0).bytes(8 << 16)
    for x in range(n):
        drawn = kernel(np.full(1 << 16, x), Scripted(guide=every.tobytes(), limb=limb, tie=b""))
        assert np.array_equal(np.bincount(drawn, minlength=b) * (1 << bits), weights[:, x] * (1 << 16))


@pytest.mark.parametrize("bits", [17, 20])
@pytest.mark.parametrize("cells", [module.MOST_CELLS, 2])
def test_all_strings_of_17_and_20_bits_give_exactly_the_weights(bits, cells, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", cells)
    weights = random_weights(300, 1, bits)
    kernel = Kernel(weights.astype(np.int64), bits)
    u = np.arange(1 << bits, dtype=np.uint64)
    random = Scripted(guide=(u >> (bits - 16)).astype("<u2"), limb=b"", tie=b"")
    cut = np.isin(u >> (bits - kernel._guide_bits), np.unique(cut_cells(kernel)))
    limb = u[cut] << np.uint64(80 - bits) | np.random.default_rng(1).integers(0, 1 << (80 - bits), cut.sum(), np.uint64)
    random.left["limb"] = limb.view(np.uint8)
    drawn = kernel(np.zeros(u.size, np.uint8), random)
    assert np.array_equal(np.bincount(drawn, minlength=300), weights[:, 0])
    assert not random.left["limb"].size  # exactly eight bytes for each row in a cut cell, and so none used twice


def cut_cells(kernel: Kernel) -> np.ndarray:
    """The cells of the only column that hold more than one output, from the thresholds alone."""
    inner = [int(c) for c in kernel._upper if int(c) % (1 << (kernel.bits - kernel._guide_bits))]
    return np.array([c >> (kernel.bits - kernel._guide_bits) for c in inner], np.uint64)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("cells", [module.MOST_CELLS, 16], ids=["large guide", "small guide"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_row_is_the_literal_definition(bits, cells, data):
    weights = data.draw(matrices(bits))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_CELLS", cells)
        kernel = Kernel(weights if data.draw(st.booleans()) or bits > 62 else weights.astype(np.int64), bits)
    for x in range(weights.shape[1]):
        column = weights[:, x].tolist()
        edges = sorted({sum(column[:y]) + d for y in range(len(column) + 1) for d in (-2, -1, 0, 1, 2)})
        wanted = [u for u in edges if 0 <= u < 1 << bits] + [data.draw(st.integers(0, (1 << bits) - 1))]
        for u in wanted:
            lanes = digits_of(u, bits, data.draw(st.sampled_from([0, 2**80 - 1, 0xA5A5 << 40])))
            assert kernel(np.array([x]), Scripted(**lanes)).tolist() == [literal(column, u)]


@pytest.mark.parametrize("bits", [65, 80, 96, 130, 333])
def test_ties_in_one_batch_each_read_their_own_digits(bits):
    third = (1 << bits) // 3  # all its 64 leading digits equal those of the threshold
    kernel = Kernel(np.array([[third, 1], [(1 << bits) - third, (1 << bits) - 1]], object), bits)
    us = [third - 1, third, third - 1, 5, third + 1, (1 << bits) - 1, third]
    lanes = [digits_of(u, bits, 0) for u in us]
    inner = [lane for u, lane in zip(us, lanes, strict=True) if abs(u - third) <= 1]
    random = Scripted(
        guide=b"".join(lane["guide"] for lane in lanes),
        limb=b"".join(lane["limb"] for lane in inner),
        tie=b"".join(lane["tie"] for lane in inner),
    )
    assert kernel(np.zeros(7, np.uint8), random).tolist() == [0, 1, 0, 0, 1, 1, 1]
    assert not any(left.size for left in random.left.values())


def test_the_largest_u_never_leaves_the_column():
    weights = np.array([[3, 1, 0], [1, 0, 0], [0, 3, 4]], object) << 200
    ones = {"guide": b"\xff" * 6, "limb": b"\xff" * 24, "tie": b"\xff" * 100}
    assert Kernel(weights, 202)(np.arange(3), Scripted(**ones)).tolist() == [1, 2, 2]


@pytest.mark.parametrize("bits", BITS)
def test_one_output_and_one_input(bits):
    kernel = Kernel(np.array([[1 << bits]], object), bits)
    assert kernel(np.zeros(1000, np.int8), SecureRandom()).tolist() == [0] * 1000


@pytest.mark.parametrize("b", [1, 2, 127, 128, 129, 255, 256, 257, 300, 32768, 32769, 65536, 65537])
def test_outputs_come_in_the_smallest_type_that_holds_them(b):
    kernel = Kernel(np.eye(b, 3, 3 - b, dtype=np.int64)[:, : min(3, b)] + last_row(b), 0 + 3)
    drawn = kernel(np.zeros(5, np.uint8), SecureRandom())
    assert drawn.dtype == np.min_scalar_type(b - 1)
    assert drawn.tolist() == [b - 1] * 5


def last_row(b: int) -> np.ndarray:
    weights = np.zeros((b, min(3, b)), np.int64)
    weights[-1] = 8
    return weights
