"""Outputs as readings: where a distortion is what counts, an output is the value that it is taken for."""

from __future__ import annotations

from dataclasses import replace

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
    names, outputs = tuple(a.name for a in joint.release), tuple(readings[k] for k in used)
    cells = len(names) == 1 or all(isinstance(o, tuple) and len(o) == len(names) for o in outputs)
    released = names if cells else ("Y",)
    bare = replace(protocol, integers=weights, outputs=outputs, released=released, certificate=None)
    return bare.certified(certify(bare, joint))
