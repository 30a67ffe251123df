"""Protocols and counts as files, edited by hand, and what the two verifiers say of them."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import numpy as np

import trechter as tr
from trechter.audit import standalone
from trechter.model.counts_file import counts_csv
from trechter.model.dense import DenseProtocol
from trechter.model.spec import Spec

HOLDS, BROKEN, CANNOT_SAY = 0, 1, 2


def protocol_of(weights, joint, promise=None, reads="x"):
    """A protocol of integer weights whose columns sum to a power of two."""
    weights = np.array([[int(w) for w in row] for row in weights], object)
    bits = int(weights[:, 0].sum()).bit_length() - 1
    outputs = tuple(f"y{y}" for y in range(len(weights)))
    return DenseProtocol(weights, bits, outputs, joint.secret, joint.release, reads, promise=promise)


def promise(name, epsilon, protect="s"):
    """A promise, ε exactly as given; None is ∞."""
    return Spec(name, None if epsilon is None else Fraction(epsilon), protect)


class Saved:
    """protocol.json and COUNTS.csv in a folder."""

    def __init__(self, folder, protocol, joint):
        self.protocol, self.counts = folder / "protocol.json", folder / "COUNTS.csv"
        protocol.save(self.protocol)
        self.counts.write_text(counts_csv(joint), encoding="utf-8", newline="")

    @property
    def content(self):
        return json.loads(self.protocol.read_text(encoding="utf-8"))

    def write(self, content, rehash=True):
        """Put changed content in place, with a hash that fits or the old one."""
        if rehash:
            content.pop("hash", None)
            text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            content["hash"] = hashlib.sha256(text.encode()).hexdigest()
        self.protocol.write_text(json.dumps(content), encoding="utf-8")

    def package(self, notion=None):
        """What `trechter verify` answers."""
        try:
            return HOLDS if tr.verify(self.protocol, counts=self.counts, notion=notion).holds else BROKEN
        except tr.TrechterError:
            return CANNOT_SAY

    def script(self, *arguments):
        """What the stand-alone script answers."""
        return standalone.main([str(self.protocol), str(self.counts), *arguments])

    def both(self):
        """The answers of both."""
        return self.package(), self.script()
