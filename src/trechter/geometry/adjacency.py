"""Which pairs of extreme rays span a two-dimensional face, read from their zero sets alone.

The zero set of a ray is the set of conditions (w_i ≥ 0 or a·w ≤ 0) that it meets with equality, packed into 64-bit
words. In n dimensions the zero set of an extreme ray has rank n − 1, and two rays are adjacent iff the rank of
their common zero set is n − 2, that is, iff no third ray has all of it.

A ray with exactly n − 1 zeros is *simple*: its zeros are independent, so a pair with a simple member is adjacent iff it
has n − 2 zeros in common. Two simple neighbours both arise from that common set by one more zero, so a join on
"zero set less one" finds them without comparing pairs. Only pairs without a simple member need the third-ray test.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Index = NDArray[np.intp]
Pairs = tuple[Index, Index]
Check = Callable[[], None]  # raises when it is time to stop

FEW_PAIRS = 1 << 14  # below this all pairs are compared at once; above it, simple rays are joined
CHUNK = 1 << 22  # pairs compared at a time


def orthant(n: int, bits: int) -> Words:
    """The zero sets of the n unit vectors, with room for `bits` conditions."""
    zeros = np.zeros((n, bits), np.uint8)
    zeros[:, :n] = 1 - np.eye(n, dtype=np.uint8)
    padded = np.zeros((n, max(1, -(-bits // 64)) * 8), np.uint8)
    packed = np.packbits(zeros, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64)


def mark(zeros: Words, bit: int) -> Words:
    """The same sets with one more member (in place)."""
    zeros[:, bit >> 6] |= np.uint64(1 << (bit & 63))
    return zeros


def adjacent(zeros: Words, n: int, outside: Index, inside: Index, check: Check, most: float = math.inf) -> Pairs:
    """The adjacent pairs (i, j) with i among `outside` and j among `inside`; `check` is called now and then.

    All of them, or more than `most`: whoever can use no more need not wait for the rest.
    """
    simple = _sizes(zeros) == n - 1
    if outside.size * inside.size <= FEW_PAIRS and simple[outside].all() and simple[inside].all():
        return _sharing(zeros, n - 2, outside, inside)
    (out_simple, out_other), (in_simple, in_other) = ((i[simple[i]], i[~simple[i]]) for i in (outside, inside))
    found = [
        _join(zeros, out_simple, in_simple),
        _sharing(zeros, n - 2, out_simple, in_other),
        _sharing(zeros, n - 2, out_other, in_simple),
        _unseparated(zeros, n - 2, out_other, in_other, np.flatnonzero(~simple), check, most),
    ]
    return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])


def _sizes(sets: Words) -> NDArray[np.uint32]:
    # Word by word: a reduction over a short last axis is ten times slower.
    sizes = np.bitwise_count(sets[..., 0]).astype(np.uint32)
    for word in range(1, sets.shape[-1]):
        sizes += np.bitwise_count(sets[..., word])
    return sizes


def _sharing(zeros: Words, count: int, first: Index, second: Index) -> Pairs:
    """All pairs with exactly `count` common zeros."""
    rows = max(1, CHUNK // max(1, second.size))
    found = [np.nonzero(_sizes(zeros[first[k : k + rows], None] & zeros[second]) == count) for k in range(0, first.size, rows)]
    if not found:
        return first[:0], second[:0]
    left = np.concatenate([i + k * rows for k, (i, _) in enumerate(found)])
    return first[left], second[np.concatenate([j for _, j in found])]


def _join(zeros: Words, first: Index, second: Index) -> Pairs:
    """The pairs of simple rays whose zero sets become equal when each loses one member."""
    if first.size * second.size <= FEW_PAIRS:
        return _sharing(zeros, int(_sizes(zeros[first[:1]]).sum()) - 1, first, second)
    (owner, key), (other, wanted) = _ridges(zeros, first), _ridges(zeros, second)
    order = np.argsort(key)
    place = np.searchsorted(key, wanted, sorter=order)
    place[place == key.size] = 0
    hit = key[order[place]] == wanted
    left, right = owner[order[place[hit]]], other[hit]
    # With more than one word the key is a hash, so what it found is checked.
    same = _sizes(zeros[left] ^ zeros[right]) == 2
    return left[same], right[same]


def _ridges(zeros: Words, rays: Index) -> tuple[Index, Words]:
    """Each ray with a key of each of its zero sets less one member: Σ odd_k · word_k modulo 2⁶⁴."""
    odd = np.random.default_rng(0).integers(1 << 63, size=zeros.shape[1], dtype=np.uint64) * 2 + 1
    bits = np.unpackbits(zeros[rays].astype("<u8").view(np.uint8), axis=1, bitorder="little")
    ray, bit = np.nonzero(bits)
    weight = np.repeat(odd, 64) << (np.arange(bits.shape[1], dtype=np.uint64) & np.uint64(63))
    return rays[ray], (zeros[rays] * odd).sum(axis=1, dtype=np.uint64)[ray] - weight[bit]


def _unseparated(zeros: Words, count: int, first: Index, second: Index, others: Index, check: Check, most: float) -> Pairs:
    """The pairs with at least `count` common zeros of which no third ray has all.

    A third ray that has all common zeros of i and j shares at least as many with i, so it is enough to look among the
    rays that share `count` with i; and it is not simple if neither i nor j is, so `others` are the rays that are not.
    """
    if first.size > second.size:
        right, left = _unseparated(zeros, count, second, first, others, check, most)
        return left, right
    candidate = np.zeros(len(zeros), bool)
    candidate[second] = True
    found, pairs = [second[:0]], 0
    for i in first:
        if pairs > most:
            break
        check()
        common = zeros[others] & zeros[i]
        near = (_sizes(common) >= count) & (others != i)
        rays, common = others[near], common[near]
        wanted = candidate[rays]
        found.append(rays[wanted][_holders(common[wanted], common, check) == 1])
        pairs += found[-1].size
    return np.repeat(first[: len(found) - 1], [rays.size for rays in found[1:]]), np.concatenate(found)


def _holders(sets: Words, among: Words, check: Check) -> Index:
    """How many of `among` contain each set."""
    rows, counts = max(1, CHUNK // max(1, len(among))), [np.zeros(0, np.intp)]
    for k in range(0, len(sets), rows):
        check()
        part = sets[k : k + rows]
        missing = part[:, None, 0] & ~among[:, 0]
        for word in range(1, sets.shape[1]):
            missing |= part[:, None, word] & ~among[:, word]
        counts.append(np.count_nonzero(missing == 0, axis=1))
    return np.concatenate(counts)
