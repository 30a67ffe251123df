"""The sampler: draws outputs from exactly the integers that were certified, at memory speed.

Column x of a protocol holds integers w₀, …, w_{b−1} that sum to M = 2^bits; let C_y = w₀ + … + w_y. Each row draws
its own U, uniform on 0, …, M−1, by fair coin flips, one binary digit after the other from the highest down,
and releases

    the only y with C_{y−1} ≤ U < C_y.

Why this is exact: that y is released for w_y of the M equally likely values of U, so with probability w_y / M,
without rounding anywhere. Reading stops once the digits seen so far leave one y possible; the unread ones could not
have changed it. No digit serves two rows, so rows are independent. The digits are read in up to three steps:

1. 16 digits. The first g of them pick a cell of the guide table of column x. It holds y if all U that begin so agree
   on y; otherwise some thresholds C_y cut the cell, and it holds the rank of the first of them, with a mark.
   At most b − 1 of the 2^g cells of a column are cut.
2. For rows in a cut cell 48 more, so that 64 are known: a binary search among the thresholds that cut the cell,
   by their own leading 64 digits.
3. If the 64 digits equal those of a threshold (probability below b/2⁶⁴), the remaining bits − 64, and whole
   Python integers decide.

If bits < 64, digits past the last of U are drawn too, and say nothing: every C_y has zeros there.
Steps 2 and 3 take longer, so whoever can time single rows learns a little about them.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError
from trechter.model.randomness import Randomness

CHUNK = 1 << 18
MOST_CELLS = 1 << 24
TOP = 2**64 - 1


@final
class Kernel:
    """(codes, randomness) → outputs. `weights` is (outputs × inputs), non-negative integers; columns sum to 2**bits.

    With a seeded source the outputs depend on the seed, the weights and the order of the rows, but not on how the rows
    are cut into calls. Calls share nothing but the tables, which they only read, so threads may overlap.
    """

    def __init__(self, weights: NDArray[Any], bits: int) -> None:
        self.bits = _positive(bits)
        array = _integers(weights)
        self.outputs, self.inputs = array.shape
        # Only positive weights are kept, column by column: those of column x lie from _start[x] to _start[x + 1].
        column, output = np.nonzero(array.T)
        self._start = np.searchsorted(column, np.arange(self.inputs + 1))
        self._output = output.astype(np.min_scalar_type(self.outputs - 1))
        self._upper = self._cumulate(array.T[column, output], array)
        self._tabulate()

    def __call__(self, codes: NDArray[Any], random: Randomness) -> NDArray[Any]:
        """One output for each code, as the smallest unsigned integers that hold all outputs."""
        codes = _codes(codes)
        drawn = np.empty(codes.size, self._guide.dtype)
        most = min(codes.size, CHUNK)
        first, cell = np.empty(most, "<u2"), np.empty(most, np.intp)
        for begin in range(0, codes.size, CHUNK):
            piece = codes[begin : begin + CHUNK]
            check_codes(piece, self.inputs, begin)
            self._draw(piece, random, drawn[begin : begin + CHUNK], first[: piece.size], cell[: piece.size])
        return drawn.astype(self._output.dtype, copy=False)

    def _draw(
        self,
        codes: NDArray[Any],
        random: Randomness,
        drawn: NDArray[Any],
        first: NDArray[np.uint16],
        cell: NDArray[np.intp],
    ) -> None:
        """Step 1 for one chunk; `first` and `cell` are scratch space."""
        random.fill(first, "guide")
        np.left_shift(codes, self._guide_bits, out=cell, dtype=np.intp, casting="unsafe")
        np.bitwise_or(cell, first >> (16 - self._guide_bits), out=cell)
        # Every cell exists; "wrap" only spares NumPy the buffered, slower check of "raise".
        np.take(self._guide, cell, out=drawn, mode="wrap")
        rows = np.flatnonzero(drawn >= self.outputs)
        if rows.size:
            column = codes[rows].astype(np.intp)
            drawn[rows] = self._search(column, drawn[rows] - self.outputs, first[rows], random)

    def _search(
        self, codes: NDArray[np.intp], rank: NDArray[Any], first: NDArray[np.uint16], random: Randomness
    ) -> NDArray[Any]:
        """Step 2: past the thresholds ≤ U in the cell, by halving without branches; equality goes to step 3."""
        seen = first.astype(np.uint64) << 48 | random.integers(codes.size, np.uint64, "limb") >> 16
        at = self._start[codes] + rank
        left = np.minimum(self._most_cuts, self._start[codes + 1] - at)
        for _ in range((self._most_cuts - 1).bit_length()):
            half = left >> 1
            at += half * (self._limb[at + half - 1] <= seen)
            left -= half
        at += self._limb[at] <= seen
        # A tie with a column's last threshold leaves `at` one too far; step 3 overwrites what is found there.
        found: NDArray[Any] = self._output.take(at, mode="clip")
        for row in np.flatnonzero(self._limb[at - 1] == seen):
            found[row] = self._settle(codes[row], int(seen[row]), random)
        return found

    def _settle(self, code: np.intp, seen: int, random: Randomness) -> Any:
        """Step 3: the whole of U against the exact thresholds."""
        column = slice(self._start[code], self._start[code + 1])
        more = self.bits - 64
        if more > 0:
            tail = int.from_bytes(random.integers(-(-more // 8), np.uint8, "tie").tobytes(), "big")
            u = seen << more | tail >> (-more % 8)
        else:
            u = seen >> -more
        return self._output[column][bisect_right(self._upper[column].tolist(), u)]

    def __getstate__(self) -> tuple[Any, ...]:
        return self.bits, self.outputs, self.inputs, self._start, self._output, self._upper

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.bits, self.outputs, self.inputs, self._start, self._output, self._upper = state
        self._tabulate()

    def _cumulate(self, weight: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
        """C_y for every positive weight, once the columns are known to sum to 2**bits.

        In 64-bit words if bits ≤ 62: with no weight and no earlier sum above 2^62, the next sum cannot wrap.
        """
        whole = 1 << self.bits
        if int(weight.max(initial=0)) > whole:
            raise self._bad_sum(array)
        total = np.zeros(weight.size + 1, np.uint64 if self.bits <= 62 else object)
        np.cumsum(weight.astype(total.dtype), out=total[1:])
        before = total[self._start[:-1]]
        upper: NDArray[Any] = total[1:] - np.repeat(before, np.diff(self._start))
        if np.any(total[self._start[1:]] - before != whole) or np.any(upper > whole):
            raise self._bad_sum(array)
        return upper

    def _bad_sum(self, array: NDArray[Any]) -> ProtocolError:
        sums = (sum(map(int, column)) for column in array.T)
        x, found = next((x, s) for x, s in enumerate(sums) if s != 1 << self.bits)
        return ProtocolError(
            f"the weights of input {x} sum to {found}, which is 2**{self.bits} {found - (1 << self.bits):+d}; "
            f"each column must sum to exactly 2**{self.bits}"
        )

    def _tabulate(self) -> None:
        """The guide table and the leading 64 digits of the thresholds."""
        self._guide_bits = _guide_bits(int(np.diff(self._start).max()), self.inputs, self.bits)
        shift = self.bits - 64
        limb = self._upper >> shift if shift > 0 else self._upper << -shift
        # A column's last threshold is 2**bits: one more than 64 digits hold. As the largest word it still passes
        # for a tie, never for a decision.
        limb[self._start[1:] - 1] = TOP
        self._limb = limb.astype(np.uint64)
        self._guide, self._most_cuts = self._cells()

    def _cells(self) -> tuple[NDArray[Any], int]:
        """The guide: for each output the run of cells that are wholly its own, then the cell, if any, that ends it.

        Several thresholds may cut one cell; the mark tells the rank of the first. Also the most cuts of any cell.
        """
        shift = self.bits - self._guide_bits
        end = (self._upper >> shift).astype(np.int64)
        following = ((self._upper + ((1 << shift) - 1)) >> shift).astype(np.int64)
        first = np.roll(following, 1)
        first[self._start[:-1]] = 0
        own = np.maximum(end - first, 0)
        cut = following - np.maximum(end, first)
        rank = np.arange(end.size) - np.repeat(self._start[:-1], np.diff(self._start))
        marks = np.stack([self._output.astype(np.int64), self.outputs + rank], axis=1)
        small = marks.astype(np.min_scalar_type(int(marks.max())))
        most_cuts = np.bincount(np.cumsum(cut)[end < following], minlength=1).max()
        return np.repeat(small.ravel(), np.stack([own, cut], axis=1).ravel()), int(most_cuts)


def check_codes(codes: NDArray[Any], inputs: int, begin: int) -> None:
    """Every code of a chunk, which starts at row `begin`, is that of an input."""
    # Read as unsigned, negative codes are the upper half: one pass finds both kinds of offender.
    half = 1 << (8 * codes.itemsize - 1)
    bound = min(inputs, half) if codes.dtype.kind == "i" else inputs
    unsigned = codes.view(codes.dtype.str.replace("i", "u"))
    if int(unsigned.max()) >= bound:
        row = int(np.flatnonzero(unsigned >= bound)[0])
        raise ProtocolError(
            f"row {begin + row} has code {codes[row]}, but this protocol has {inputs} inputs, with codes "
            f"0 to {inputs - 1}; encode the column with the protocol's own values"
        )


def _guide_bits(most: int, inputs: int, bits: int) -> int:
    """Enough that at most 1 row in 1024 meets a cut cell; but at most 16, and about MOST_CELLS cells in all."""
    wanted = ((most - 1) << 10).bit_length()
    affordable = (MOST_CELLS // inputs).bit_length() - 1
    return min(bits, 16, max(1, min(wanted, affordable)))


def _positive(bits: Any) -> int:
    if not isinstance(bits, int | np.integer) or bits < 1:
        raise ProtocolError(f"bits is {bits!r}; it must be a positive integer, since weights are fractions of 2**bits")
    return int(bits)


def _integers(weights: Any) -> NDArray[Any]:
    """The weights as a matrix of non-negative exact integers."""
    array = weights if isinstance(weights, np.ndarray) else np.array(weights, dtype=object)
    if array.ndim != 2 or not array.size:
        raise ProtocolError(f"weights have shape {array.shape}; they must be a matrix of outputs × inputs, not empty")
    if array.dtype.kind == "O":
        array = _python_integers(array)
    elif array.dtype.kind not in "iu":
        raise ProtocolError(f"weights are {array.dtype}; they must be exact integers, so that what is certified is drawn")
    if array.min() < 0:
        y, x = np.argwhere(array < 0)[0]
        raise ProtocolError(f"the weight of output {y} for input {x} is {array[y, x]}; weights cannot be negative")
    return array


def _python_integers(array: NDArray[Any]) -> NDArray[Any]:
    try:
        exact = [operator.index(v) for v in array.flat]
    except TypeError as error:
        raise ProtocolError(f"weights must be exact integers, so that what is certified is drawn: {error}") from None
    return np.array(exact, dtype=object).reshape(array.shape)


def _codes(codes: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(codes)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ProtocolError(
            f"codes are {array.dtype} of shape {array.shape}; they must be one column of integers, "
            "the positions of values in the protocol's alphabet"
        )
    return array
