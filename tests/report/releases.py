"""Releases of all sorts, made without a table: rows are drawn straight from the counts."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from functools import cache

import numpy as np

from trechter.alphabet import Attribute
from trechter.audit import certify
from trechter.measures import MutualInformation, TaskInformation
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.randomness import SecureRandom, SeededRandom
from trechter.model.result import Result
from trechter.optimal import design
from trechter.privacy import LDP, LIP, SRLIP, Notion
from trechter.report.release import Release

SALT = "5a17" * 8


def made(
    joint: Joint,
    notion: Notion,
    protocol: DenseProtocol | None = None,
    order: str = "shuffle",
    secure=True,
    dropped=(),
    **options,
) -> Release:
    """A release of as many rows as were counted."""
    result = design(joint, notion, **options) if protocol is None else given(joint, notion, protocol)
    read = joint.exact.ravel() if result.protocol.reads == "sx" else joint.exact.sum(axis=0)
    random = SecureRandom() if secure else SeededRandom(1)
    drawn = result.protocol.kernel()(np.repeat(np.arange(len(read)), read), random)
    facts = {"random": random.source, "secure": random.secure, "order": order, "released": "released.csv"}
    certificate = result.certificate.with_facts(**facts, counts=joint.digest(SALT.encode()), salt=SALT)
    return Release(joint, result, certificate, np.bincount(drawn), "released.csv", dropped)


def given(joint: Joint, notion: Notion, protocol: DenseProtocol) -> Result:
    """A result for a protocol that nobody designed."""
    kept = replace(protocol, promise=notion.spec)
    return Result(kept, 0.1, 0.2, "heuristic", "given", 0.01, certify(kept, joint), MutualInformation())


def counts(seed: int, *shape: int) -> np.ndarray:
    """Counts that vary, none of them thin."""
    draw = np.random.default_rng(seed)
    return draw.integers(1, 90, shape) * (draw.random(shape) > 0.1) + 5


SECRET = ("illness", ["no", "yes", "unknown"])
JOBS = ["none", "farm | field", "office"]
MIXED = [
    Attribute.binned("age", [0, 18, 40, 90], null=True),
    Attribute.of("since", [dt.date(2001, 2, 3), dt.date(2010, 1, 1), None]),
]


def _wide() -> Joint:
    towns = [f"town {i:03}" for i in range(300)]
    return Joint(counts(5, 2, 300), secret=("illness", ["no", "yes"]), release={"town": towns})


def _noisy() -> Release:
    joint = Joint(counts(7, 3, 3), secret=SECRET, release={"job": JOBS})
    return made(joint, LIP(3), DenseProtocol.from_matrix(np.full((3, 3), 0.1) + 0.7 * np.eye(3), joint))


def _rare() -> Release:
    table = counts(9, 3, 4)
    table[2] = table[:, 3] = 0
    return made(Joint(table, secret=SECRET, release={"job": [*JOBS, "never seen"]}), LIP("0.4"))


CASES = {
    "one": lambda: made(Joint(counts(1, 3, 3), secret=SECRET, release={"job": JOBS}), LIP("0.3")),
    "two": lambda: made(Joint(counts(2, 2, 3, 2), release={"job": JOBS, "sex": ["f", "m"]}), SRLIP("0.3")),
    "secrets": lambda: made(
        Joint(counts(3, 6, 3), secret={"illness": ["no", "yes"], "age": [1, 2, 3]}, release={"job": JOBS}), LDP(1)
    ),
    "task": lambda: made(
        Joint(counts(4, 3, 3, 2), secret=SECRET, release={"job": JOBS}, task=("wish", ["a", "b"])),
        LIP("0.2"),
        measure=TaskInformation(),
    ),
    "typed": lambda: made(Joint(counts(6, 2, 4, 3), release=MIXED), LIP("0.2"), dropped=("name", "address")),
    "identity": lambda: made(Joint(counts(1, 3, 3), secret=SECRET, release={"job": JOBS}), LIP("inf")),
    "perfect": lambda: made(Joint(counts(1, 2, 4)), LIP(0)),
    "constant": lambda: made(Joint(counts(1, 3, 3), secret=SECRET, release={"job": JOBS}), LDP(0)),
    "itself": lambda: made(Joint(counts(1, 3, 3), secret=SECRET, release={"job": JOBS}), LDP(1, protect="x")),
    "reads": lambda: made(Joint(counts(1, 2, 3), release={"job": JOBS}), LIP("0.2"), reads="sx"),
    "noisy": _noisy,
    "rare": _rare,
    "wide": lambda: made(_wide(), LIP("inf")),
    "wide mixed": lambda: made(_wide(), LIP(1), order="keep", secure=False),
}


@cache
def case(name: str) -> Release:
    """One of the cases."""
    return CASES[name]()
