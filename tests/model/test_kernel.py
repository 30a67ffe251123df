"""The sampler draws from exactly its weights: by enumeration, digit by digit, and in ten million rows."""

from __future__ import annotations

import math
import pickle
import re
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
    tail = rest + "0" * (-len(rest) % 8)
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
    third = (1 << bits) // 3
    kernel = Kernel(np.array([[third, 1], [(1 << bits) - third, (1 << bits) - 1]], object), bits)
    us = [third - 1, third, third - 1, 5, third + 1, (1 << bits) - 1, third]
    lanes = [digits_of(u, bits, 0) for u in us]
    inner = [lane for u, lane in zip(us, lanes, strict=True) if abs(u - third) <= 1]
    tied = [lane for u, lane in zip(us, lanes, strict=True) if u >> bits - 64 == third >> bits - 64]
    assert len(tied) >= 3
    random = Scripted(
        guide=b"".join(lane["guide"] for lane in lanes),
        limb=b"".join(lane["limb"] for lane in inner),
        tie=b"".join(lane["tie"] for lane in tied),
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
    weights = np.full((b, 1), 2**48 // b)
    weights[0] += 2**48 - weights.sum()
    kernel, upper = Kernel(weights, 48), np.cumsum(weights)
    for y in {0, b // 2, b - 1}:
        for u in (int(upper[y]) - 1, int(upper[y] - weights[y, 0])):
            drawn = kernel(np.zeros(1, np.int16), Scripted(**digits_of(u, 48, 0)))
            assert drawn.dtype == np.min_scalar_type(b - 1)
            assert drawn.tolist() == [y]


def test_many_inputs_take_little_memory_and_stay_exact():
    rng = np.random.default_rng(5)
    weights = np.diff(np.sort(rng.integers(0, 2**48, (49, 10_000)), axis=0), prepend=0, append=2**48, axis=0)
    kernel = Kernel(weights, 48)
    assert kernel._guide.nbytes <= 2**26
    for x in rng.integers(0, 10_000, 100).tolist():
        u = int(rng.integers(0, 2**48))
        drawn = kernel(np.array([x]), Scripted(**digits_of(u, 48, 0)))
        assert drawn.tolist() == [literal(weights[:, x].tolist(), u)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.intp, np.uint64, ">i4"])
def test_any_integer_codes_give_the_same_rows(dtype):
    kernel = Kernel(random_weights(9, 5, 70), 70)
    codes = np.arange(1000) % 5
    expected = kernel(codes, SeededRandom(1))
    assert np.array_equal(kernel(codes.astype(dtype), SeededRandom(1)), expected)
    assert np.array_equal(kernel(np.repeat(codes, 2).astype(dtype)[::2], SeededRandom(1)), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_no_rows(dtype):
    drawn = Kernel(random_weights(300, 2, 48), 48)(np.array([], dtype), Scripted())
    assert (drawn.size, drawn.dtype) == (0, np.uint16)


FINE = Kernel(random_weights(1000, 3, 130), 130)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 2000), min_size=1, max_size=8), st.sampled_from([61, 700, 1 << 18]))
def test_seeded_rows_do_not_depend_on_how_they_are_cut(sizes, chunk):
    codes = np.arange(sum(sizes)) % 3
    expected = FINE(codes, SeededRandom(2))
    random = SeededRandom(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        parts = [FINE(part, random) for part in np.split(codes, np.cumsum(sizes)[:-1])]
    assert np.array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("bits", [5, 48, 64, 130])
def test_a_pickled_kernel_is_small_and_draws_the_same(bits):
    kernel = Kernel(random_weights(16, 16, bits), bits)
    data = pickle.dumps(kernel)
    assert len(data) < 16 * 16 * (bits // 8 + 12) + 2000
    codes = np.arange(100_000) % 16
    assert np.array_equal(pickle.loads(data)(codes, SeededRandom(3)), kernel(codes, SeededRandom(3)))


def test_threads_may_share_a_kernel():
    kernel, found = Kernel(random_weights(300, 16, 48), 48), {}
    codes = np.arange(600_000) % 16

    def work(seed: int) -> None:
        found[seed] = kernel(codes, SeededRandom(seed))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(4):
        assert np.array_equal(found[seed], kernel(codes, SeededRandom(seed)))


# Ten million rows, 16 → 16. For N draws from p over k outputs, whatever p is,
#     P( ‖p̂ − p‖₁ ≥ ε ) ≤ 2^k exp(−N ε² / 2)                     (Hoeffding over all 2^k events)
# so the threshold below raises a false alarm in any of 16 columns with probability below 1e-6, and a column that is wrong
# by 1 % of total variation (0.02 in L1) stays under it with probability at most 2^k exp(−N (0.02 − ε)² / 2).
ROWS = 10_000_000
EACH = ROWS // 16
ALARM = 1e-6


def threshold(n: int, k: int, tests: int) -> float:
    return math.sqrt(2 * (k * math.log(2) + math.log(tests / ALARM)) / n)


def wrong_columns(kernel: Kernel, weights: np.ndarray, random: Randomness) -> list[int]:
    """The columns whose outputs are too far from the weights to be chance."""
    codes = (np.arange(ROWS) % 16).astype(np.uint8)
    counts = np.bincount(codes * np.intp(16) + kernel(codes, random), minlength=256).reshape(16, 16).T
    distance = np.abs(counts / EACH - weights / 2**48).sum(axis=0)
    return np.flatnonzero(distance >= threshold(EACH, 16, 16)).tolist()


def moved(weights: np.ndarray, x: int, spread: bool) -> np.ndarray:
    """1 % of total variation moved in column x: from its largest weight to its smallest, or to all the others."""
    other = weights.copy()
    share = 2**48 // 100
    other[weights[:, x].argmax(), x] -= share
    if spread:
        rest = np.arange(16) != weights[:, x].argmax()
        other[rest, x] += share // 15
        other[weights[:, x].argmin(), x] += share - share // 15 * 15
    else:
        other[weights[:, x].argmin(), x] += share
    return other


WEIGHTS = random_weights(16, 16, 48, seed=8).astype(np.int64)


def test_ten_million_rows_are_told_from_a_column_that_is_wrong_by_one_percent():
    gap = 0.02 - threshold(EACH, 16, 16)
    assert gap > 0
    assert 2**16 * math.exp(-EACH * gap**2 / 2) < 1e-6  # the probability that the tests below miss


@pytest.mark.parametrize("random", [SecureRandom(), SeededRandom(1)], ids=["secure", "seeded"])
def test_the_right_distribution_is_accepted(random):
    assert wrong_columns(Kernel(WEIGHTS, 48), WEIGHTS, random) == []


@pytest.mark.parametrize("random", [SecureRandom(), SeededRandom(1)], ids=["secure", "seeded"])
@pytest.mark.parametrize(("x", "spread"), [(0, False), (15, True)])
def test_one_percent_moved_in_one_column_is_rejected(random, x, spread):
    assert wrong_columns(Kernel(moved(WEIGHTS, x, spread), 48), WEIGHTS, random) == [x]


@pytest.mark.parametrize("bits", [3, 64, 130])
def test_other_widths_and_small_guides_are_accepted(bits, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 32)
    weights = random_weights(16, 1, bits, seed=3)
    drawn = Kernel(weights, bits)(np.zeros(1_000_000, np.uint8), SecureRandom())
    p = np.array([int(w) / 2**bits for w in weights[:, 0]])
    assert np.abs(np.bincount(drawn, minlength=16) / drawn.size - p).sum() < threshold(drawn.size, 16, 1)


class Stutter(Randomness):
    """A broken source: some rows get the bits of the row before."""

    secure, source = False, "broken"

    def __init__(self, every: int) -> None:
        self.every = every

    def fill(self, buffer, lane=""):
        SeededRandom(buffer.size).fill(buffer)
        buffer[1 :: 2 * self.every] = buffer[0 : buffer.size - 1 : 2 * self.every]


class Replay(Randomness):
    """A broken source: every request starts the same stream again."""

    secure, source = False, "broken"

    def fill(self, buffer, lane=""):
        SeededRandom(1).fill(buffer, lane)


def dependent(random: Randomness, lag: int) -> bool:
    """Whether rows that are `lag` apart look dependent: the L1 distance of pairs from the product, as above."""
    p = np.array([1, 2, 5, 8]) / 16
    drawn = Kernel(np.array([[1], [2], [5], [8]]) << 44, 48)(np.zeros(1 << 21, np.uint8), random)
    left, right = drawn.reshape(-1, 2, lag).transpose(1, 0, 2).reshape(2, -1)
    pairs = np.bincount(left * np.intp(4) + right, minlength=16) / left.size
    return bool(np.abs(pairs - np.outer(p, p).ravel()).sum() >= threshold(left.size, 16, 1))


@pytest.mark.parametrize("lag", [1, module.CHUNK])
@pytest.mark.parametrize("random", [SecureRandom(), SeededRandom(1)], ids=["secure", "seeded"])
def test_rows_are_independent(random, lag):
    assert not dependent(random, lag)


@pytest.mark.parametrize(("random", "lag"), [(Stutter(1), 1), (Stutter(25), 1), (Replay(), module.CHUNK)])
def test_bits_that_are_used_twice_are_noticed(random, lag):
    assert dependent(random, lag)


@pytest.mark.parametrize("bits", [48, 62, 63, 64, 100])
@pytest.mark.parametrize("off", [-1, 1])
def test_a_column_that_is_off_by_one_is_refused(bits, off):
    weights = random_weights(4, 3, bits)
    weights[2, 1] += off
    with pytest.raises(ProtocolError, match=re.escape(f"{(1 << bits) + off}, which is 2**{bits} {off:+d};")):
        Kernel(weights, bits)


def test_a_sum_that_only_wraps_to_the_right_one_is_refused():
    with pytest.raises(ProtocolError, match="input 0 sum to 23058430092136939520"):
        Kernel(np.full((5, 1), 2**62), 62)
    with pytest.raises(ProtocolError, match="input 0 sum to"):
        Kernel(np.full((17, 1), 2**60), 60)
    with pytest.raises(ProtocolError, match="input 0 sum to"):
        Kernel(np.array([[1], [2**64 - 1], [2**48]], np.uint64), 48)
    with pytest.raises(ProtocolError, match="input 0 sum to"):
        Kernel(np.array([[2**64], [2**48]], object), 48)


@pytest.mark.parametrize(
    ("weights", "bits", "message"),
    [
        (np.array([[0.5], [0.5]]), 1, "float64; they must be exact integers"),
        (np.array([[0.5], [1.5]], object), 1, "exact integers.*float"),
        (np.array([[True], [True]]), 1, "bool"),
        (np.array([[3, 2], [-1, 0]]), 1, "output 1 for input 0 is -1"),
        (np.array([[3, 2], [-1, 0]], object), 1, "output 1 for input 0 is -1"),
        (np.array([1, 1]), 1, r"shape \(2,\)"),
        (np.zeros((0, 3), np.int64), 1, "not empty"),
        (np.zeros((3, 0), np.int64), 1, "not empty"),
        (np.zeros((3, 2), np.int64), 1, "input 0 sum to 0"),
        (np.array([[2, 0]]), 1, "input 1 sum to 0"),
        (np.array([[1]]), 0, "bits is 0"),
        (np.array([[1]]), -3, "bits is -3"),
        (np.array([[1]]), 1.0, "bits is 1.0"),
    ],
)
def test_malformed_weights_are_refused(weights, bits, message):
    with pytest.raises(ProtocolError, match=message):
        Kernel(weights, bits)


def test_lists_of_integers_are_welcome():
    big = 2**63  # NumPy would make these floats
    assert Kernel([[big, 0], [big, 2 * big]], 64)(np.array([1]), SecureRandom()).tolist() == [1]


@pytest.mark.parametrize(
    ("codes", "row", "code"),
    [
        (np.array([0, 299, 300], np.int64), 2, 300),
        (np.array([0, -1], np.int8), 1, -1),
        (np.array([-(2**63)], np.int64), 0, -(2**63)),
        (np.array([5, 2**64 - 1], np.uint64), 1, 2**64 - 1),
        (np.array([5, 301], ">u2"), 1, 301),
        (np.where(np.arange(600_000) == 555_555, 300, 0), 555_555, 300),
    ],
)
def test_codes_out_of_range_are_refused(codes, row, code):
    kernel = Kernel(np.full((1, 300), 2), 1)
    with pytest.raises(ProtocolError, match=f"row {row} has code {code}, but this protocol has 300 inputs"):
        kernel(codes, SecureRandom())


@pytest.mark.parametrize("codes", [np.array([0.0]), np.array([True]), np.array([[0]]), np.array(0), np.array(["a"])])
def test_what_is_no_column_of_codes_is_refused(codes):
    with pytest.raises(ProtocolError, match="one column of integers"):
        Kernel(np.array([[2]]), 1)(codes, SecureRandom())
