"""From a solver's floats to a certified result: prune, repair, round, certify.

A solver's rows are a rumour. Whatever they are, mixing them with a constant protocol, `(1−t)Q + t q1ᵀ`, makes them private
for some t < 1 when ε > 0, and rounding by margins keeps them so. The loop below ends at the least t tried that the judge
accepts; what it accepts are the integers that will be drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.audit.certify import certify, keeps, robust
from trechter.errors import SolverError
from trechter.exact import bits_needed, round_columns, round_rays
from trechter.exact.matrices import Integers
from trechter.finish.explain import explain
from trechter.finish.reading import columns_of
from trechter.model.dense import DenseProtocol, nearest
from trechter.model.joint import Joint, quotient
from trechter.model.letters import letters
from trechter.model.spec import Spec

Array = NDArray[np.float64]
BITS = 48
NOISE = 1e-15  # what rows are off, at the least
TINY = 1e-13  # outputs of less probability are added to another: an output nearly never seen is all risk, no use


def deliver(
    rows: Array, joint: Joint, spec: Spec, reads: str, readings: Sequence[Any] | None = None
) -> tuple[DenseProtocol, dict[str, Any]]:
    """The certified protocol of float rows (over all letters, or those of positive mass), and what it took; each output is
    called by its reading, if there are readings."""
    kept, pruned = _pruned(rows, joint, reads, unseen=readings is not None and not robust(spec))
    matrix = _spread(pruned, joint, reads)
    order = _order(matrix)
    back = slice(None) if readings is None else np.argsort(kept[order])  # readings are shown in their own order
    named = None if readings is None else [readings[k] for k in np.sort(kept)]
    for weights, bits, mixed in _attempts(matrix[order], joint, spec, reads):
        if keeps(weights, reads, joint, spec):
            made = protocol_of(weights[back], bits, joint, spec, reads, named)
            if made.certificate is not None and made.certificate.holds:  # what is delivered is what is certified
                return made, {"mixed": mixed, "bits": bits}
    raise SolverError(f"no certified protocol for {spec} was found near the solver's answer; ε may be too small for floats")


def deliver_rays(
    rays: NDArray[np.object_], scale: Array, same: NDArray[np.intp], joint: Joint, spec: Spec, reads: str
) -> tuple[DenseProtocol, dict[str, Any]]:
    """The certified protocol of integer rays (ε = 0), those of one group `same` added up: equalities hold exactly."""
    bits = BITS + max(int(r).bit_length() for r in rays.ravel())
    weights = round_rays(rays, scale, bits)
    largest = int(np.argmax(weights[:-1].sum(axis=1)))
    weights[largest] += weights[-1]
    grouped = np.array([weights[:-1][same == g].sum(axis=0) for g in range(same.max() + 1)], object)
    full = _spread_exact(grouped, bits, joint, reads)
    if not keeps(full, reads, joint, spec):
        raise SolverError(f"the exact rays do not satisfy {spec}; this is a defect of the ray enumeration")
    return protocol_of(full, bits, joint, spec, reads), {"bits": bits}


def protocol_of(
    weights: Integers, bits: int, joint: Joint, spec: Spec, reads: str, readings: Sequence[Any] | None = None
) -> DenseProtocol:
    """The protocol of integer weights, its outputs called by their readings or else explained, with its certificate."""
    if readings is None:
        outputs, released = explain(quotient(weights, 1 << bits), joint, reads)
    else:
        outputs, released = tuple(readings), columns_of(readings, joint)
    common: Mapping[str, Any] = {"secret": joint.secret, "release": joint.release, "reads": reads}
    bare = DenseProtocol(weights, bits, outputs, **common, released=released, promise=spec)
    return bare.certified(certify(bare, joint))


def _attempts(matrix: Array, joint: Joint, spec: Spec, reads: str) -> Iterator[tuple[Integers, int, float]]:
    """Candidate weights: as they are, then rounded by margins and mixed with ever more of a constant protocol."""
    yield nearest(matrix, BITS), BITS, 0.0
    if spec.epsilon == 0:
        return
    bits, q = bits_needed(spec.epsilon, len(matrix), BITS), _output_masses(matrix, joint, reads)
    gain = math.inf if spec.epsilon is None else max(1e-300, math.expm1(min(spec.epsilon, Fraction(50))))
    share = NOISE * (1 + 1 / gain)
    while True:
        share = min(share, 1.0)
        mixed = (1 - share) * matrix + share * q[:, None]
        yield round_columns(mixed, spec.epsilon, bits), bits, share
        if share == 1:
            return
        share *= 4


def _output_masses(matrix: Array, joint: Joint, reads: str) -> Array:
    q = matrix @ letters(joint, reads).masses
    return np.asarray(q / q.sum())


def _pruned(rows: Array, joint: Joint, reads: str, unseen: bool) -> tuple[NDArray[np.intp], Array]:
    """Which outputs are kept, and their rows; with `unseen` also what only letters of mass 0 say: they may be of mass."""
    masses = letters(joint, reads).masses
    if rows.shape[1] < len(masses):
        masses = masses[masses > 0]
    rows, q = np.maximum(rows, 0), rows @ masses
    rare = (q <= TINY)[:, None] & ((masses > 0) | (rows <= TINY) | (not unseen))
    moved = np.where(rare, rows, 0).sum(axis=0)
    rows = np.where(rare, 0, rows)
    rows[np.argmax(q)] += moved
    kept = rows.any(axis=1)
    return np.flatnonzero(kept), np.asarray(rows[kept] / rows[kept].sum(axis=0))


def _spread(rows: Array, joint: Joint, reads: str) -> Array:
    """Over all letters: one that never occurs, and was not designed for, gets the output distribution as its column."""
    masses = letters(joint, reads).masses
    if rows.shape[1] == len(masses):
        return rows
    q = rows @ masses[masses > 0]
    matrix = np.repeat((q / q.sum())[:, None], len(masses), axis=1)
    matrix[:, masses > 0] = rows
    return matrix


def _spread_exact(weights: NDArray[np.object_], bits: int, joint: Joint, reads: str) -> NDArray[np.object_]:
    masses = letters(joint, reads).masses
    q = quotient(weights, 1 << bits) @ masses[masses > 0]
    matrix = np.repeat(nearest((q / q.sum())[:, None], bits).astype(object), len(masses), axis=1)
    matrix[:, masses > 0] = weights
    return matrix


def _order(matrix: Array) -> list[int]:
    """The likeliest output first: the first row is the one that takes the rounding."""
    first = int(np.argmax(matrix.sum(axis=1)))
    return sorted(range(len(matrix)), key=lambda y: (y != first, int(np.argmax(matrix[y])), *(-matrix[y])))
