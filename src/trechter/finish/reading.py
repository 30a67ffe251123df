"""Outputs as readings: where a distortion is what counts, an output is the value that it is taken for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trechter.audit.certify import certify
from trechter.measures import Distortion
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint


def read_as(protocol: DenseProtocol, joint: Joint, measure: Distortion) -> DenseProtocol:
    """The same protocol with each output named after its best reading; outputs that are read alike are added up."""
    best, readings = measure.best(joint, protocol), measure.readings(joint)
    used = sorted(set(best.tolist()))
    weights = np.array([protocol.integers[best == k].sum(axis=0) for k in used])
    outputs = tuple(readings[k] for k in used)
    bare = replace(protocol, integers=weights, outputs=outputs, released=columns_of(outputs, joint), certificate=None)
    return bare.certified(certify(bare, joint))


def columns_of(readings: Sequence[Any], joint: Joint) -> tuple[str, ...]:
    """The columns that show readings: those that are released, or Y where readings are no values of them."""
    names = tuple(a.name for a in joint.release)
    cells = len(names) == 1 or all(isinstance(o, tuple) and len(o) == len(names) for o in readings)
    return names if cells else ("Y",)
