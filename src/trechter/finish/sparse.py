"""The same as `deliver` for sparse rows, without ever making a matrix: prune, mix, round, certify.

Row y puts `shares[y, k]` on letter `letters[y, k]`. It is mixed with a constant protocol and rounded in one step: of
M = 2^62 a background takes G = 2^g, d for each output and the rest in proportion to P(y), and M − G is left for the entries
of each letter. Their shares of it are rounded down, and the first of them get one unit each until the column is full.

Why that is private: the entries of a row are off by more than −1 and at most 1. So if f·Q_y ≤ E g·Q_y for distributions f
and g, E = e^ε, the integers obey it too once d (E−1) ≥ E + 1, which is what an excess of 1 on the left and a lack of 1 on the
right can cost. What the solver's floats are off is paid by the rest of the background: G grows until the judge accepts.

A letter that never occurs has no entries: it draws from the background alone, nearly from the output distribution.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trechter.audit.certify import certify
from trechter.errors import SolverError
from trechter.exact.rounding import WORD, factor, units_of
from trechter.finish.deliver import TINY
from trechter.finish.explain import explain_sparse
from trechter.model.joint import Joint
from trechter.model.letters import letters as letters_of
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import Spec

Array = NDArray[np.float64]
Index = NDArray[np.intp]
SPARE = 2  # bits of the first background that are not margin
STEP = 3  # bits by which it grows
SHARED = 24  # bits of the background under exact rays
SHAVED = 1e-9  # of the scale of exact rays, which is in floats and may overdraw
ALIKE = 10  # digits of the posterior to which rows that name the same letters are one


class Entries(NamedTuple):
    """Shares by letter, then output, and the output distribution q."""

    output: Index
    letter: Index
    share: Array
    q: Array


def deliver_sparse(
    letters: Index, shares: Array, joint: Joint, spec: Spec, reads: str
) -> tuple[SparseProtocol, dict[str, Any]]:
    """The certified protocol of sparse float rows (over letters of positive mass), and what it took."""
    masses = letters_of(joint, reads).masses
    occurring = np.flatnonzero(masses > 0)
    entries = _tidied(letters, shares, masses[occurring])
    entries = entries._replace(letter=occurring[entries.letter])
    for weights in _attempts(entries, len(masses), spec):
        protocol = sparse_protocol_of(weights, joint, spec, reads)
        if protocol.certificate is not None and protocol.certificate.holds:
            stats = {"mixed": weights.shared / (1 << weights.bits), "bits": weights.bits, "entries": len(weights.weight)}
            return protocol, stats
    raise SolverError(f"no certified protocol for {spec} was found near the solver's answer; ε may be too small for floats")


def deliver_sparse_rays(
    letters: Index, rays: NDArray[np.object_], scale: Array, joint: Joint, spec: Spec, reads: str
) -> tuple[SparseProtocol, dict[str, Any]]:
    """The certified protocol of integer rays that name two letters each (ε = 0): equalities hold exactly.

    As in `round_rays` row k is scale_k of its ray, rounded down, and what is left of every letter, which obeys the equalities
    too, goes to the largest row. All that over a small background, which is the same for all letters.
    """
    masses = letters_of(joint, reads).masses
    occurring, background = np.flatnonzero(masses > 0), 1 << SHARED
    units = (1 << WORD) - background
    multiples = np.array([int(s * units * (1 - SHAVED)) // m for s, m in zip(scale.tolist(), rays.max(axis=1), strict=True)])
    kept = np.flatnonzero(multiples) if multiples.any() else np.zeros(1, np.intp)
    letters, weight = letters[kept], (multiples.astype(object)[:, None] * rays)[kept].astype(np.int64)
    rest = np.full(len(occurring), units)
    np.subtract.at(rest, letters, weight)
    largest = int(np.argmax((weight * masses[occurring][letters]).sum(axis=1)))
    output = np.append(np.repeat(np.arange(len(kept)), 2), np.full(len(occurring), largest))
    letter = np.append(letters, np.arange(len(occurring)))
    cell, place = np.unique(occurring[letter] * len(kept) + output, return_inverse=True)
    own = np.zeros(len(cell), np.int64)
    np.add.at(own, place, np.append(weight, rest))
    output, letter = cell % len(kept), cell // len(kept)
    q = np.bincount(output, own * masses[letter], len(kept))
    base = np.floor(q / q.sum() * background).astype(np.int64)
    base[largest] += background - int(base.sum())
    some = own > 0
    weights = SparseWeights(base, output[some], letter[some], own[some], len(masses))
    protocol = sparse_protocol_of(weights, joint, spec, reads)
    if protocol.certificate is None or not protocol.certificate.holds:
        raise SolverError(f"the exact rays do not satisfy {spec}; this is a defect of the ray enumeration")
    return protocol, {"bits": WORD, "entries": len(weights.weight)}


def sparse_protocol_of(weights: SparseWeights, joint: Joint, spec: Spec, reads: str) -> SparseProtocol:
    """The protocol of sparse weights, its outputs explained, with its certificate."""
    with uncollected():
        return _protocol_of(weights, joint, spec, reads)


@contextmanager
def uncollected() -> Iterator[None]:
    """Millions of labels are made here, and kept: to look for cycles among them again and again takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _protocol_of(weights: SparseWeights, joint: Joint, spec: Spec, reads: str) -> SparseProtocol:
    outputs, released = explain_sparse(weights, joint, reads)
    common: Mapping[str, Any] = {"secret": joint.secret, "release": joint.release, "reads": reads}
    bare = SparseProtocol(weights, outputs, **common, released=released, promise=spec)
    return bare.certified(certify(bare, joint))


def margin(epsilon: Fraction | None) -> int:
    """The least d with d (E−1) ≥ E + 1."""
    if epsilon is None:
        return 0
    E = factor(epsilon)
    return -int(-(E + 1) // (E - 1))


def round_entries(entries: Entries, inputs: int, background: int, least: int) -> SparseWeights:
    """Weights over 2^62 with `background` for all letters in common, of which every output has at least `least`."""
    room = (1 << WORD) - background
    base = least + np.floor(entries.q * (background - least * len(entries.q))).astype(np.int64)
    base[np.argmax(base)] += background - int(base.sum())
    start = np.flatnonzero(np.diff(entries.letter, prepend=-1))
    column = np.cumsum(np.diff(entries.letter, prepend=-1) > 0) - 1
    units = units_of(entries.share)
    weight = (units * room // np.add.reduceat(units, start)[column]).astype(np.int64)
    left = room - np.add.reduceat(weight, start)
    weight += np.arange(len(weight)) - start[column] < left[column]
    some = weight > 0
    return SparseWeights(base, entries.output[some], entries.letter[some], weight[some], inputs)


def _attempts(entries: Entries, inputs: int, spec: Spec) -> Iterator[SparseWeights]:
    """Candidates with ever more background; with nothing else in the end, which tells nothing of any letter."""
    d = margin(spec.epsilon)
    for bits in range(min(WORD, (d * len(entries.q)).bit_length() + SPARE), WORD + STEP, STEP):
        background = 1 << min(bits, WORD)
        if d * len(entries.q) <= background:
            yield round_entries(entries, inputs, background, d)


def _tidied(letters: Index, shares: Array, p: Array) -> Entries:
    """Rows that say the same are one, and nearly empty ones part of the largest; in the order of their main letters."""
    order = np.argsort(-shares, axis=1, kind="stable")
    letters, shares = np.take_along_axis(letters, order, axis=1), np.take_along_axis(shares, order, axis=1)
    letters = np.where(shares > 0, letters, letters[:, :1])
    mass = shares * p[letters]
    sums = mass.sum(axis=1)
    says = np.round(mass[:, 0] / sums, ALIKE)
    order = np.lexsort((says, *letters.T[::-1]))
    sorted_ = np.column_stack([letters[order], says[order]])
    row = np.empty(len(order), np.intp)
    row[order] = np.cumsum(np.append(False, (np.diff(sorted_, axis=0) != 0).any(axis=1)))
    q = np.bincount(row, sums)
    kept = np.where(q[row] > TINY, row, np.argmax(q))
    row = np.unique(kept, return_inverse=True)[1]
    return _summed(np.repeat(row, letters.shape[1]), letters.ravel(), shares.ravel(), p)


def _summed(output: Index, letter: Index, share: Array, p: Array) -> Entries:
    """Each entry once, by letter and then output."""
    b, some = int(output.max()) + 1, share > 0
    cell, place = np.unique(letter[some] * b + output[some], return_inverse=True)
    found, summed = cell % b, np.bincount(place, share[some]).astype(np.float64)
    q = np.bincount(found, summed * p[cell // b], b)
    return Entries(found, cell // b, summed, q / q.sum())
