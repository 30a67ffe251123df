"""The instances: a joint, a notion, a time limit, what must be seen, and who is asked.

`short` is the time limit of the short run, None for instances that are not in it. The contender named last is ours: what
is required is required of it, and the others have run before, so that it can be compared.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import trechter as tr

Joints = Callable[[], tr.Joint]
OURS = ("trechter",)
EPSILONS = ("0.25", "0.5", "1", "1.5", "2")
SHORT_JOINT = 1  # of the papers' ten: Γ takes a minute there, and three to four at its neighbours
NOTIONS = {"lip": tr.LIP, "ldp": tr.LDP, "srlip": tr.SRLIP}


KNOWN = {
    "marital-status×sex": {"lip/1": 0.4500551671, "ldp/1": 0.1983293678},
    "marital-status×race": {"lip/1": 0.5040106440, "ldp/1": 0.3661938346},
    "marital-status×relationship": {"lip/1": 0.9314757467, "ldp/1": 0.6621024832},
    "marital-status×education": {
        "lip/0.5": 1.7450402891,
        "ldp/0.5": 1.5873052382,
        "lip/1": 1.9095394765,
        "ldp/1": 1.8506223877,
    },
    "occupation×sex": {"lip/1": 0.2233086804, "ldp/1": 0.1105109337},
    "occupation×education": {"lip/0.5": 1.4966348565, "lip/1": 1.7587625513, "lip/2": 1.9803569453},
}


@dataclass(frozen=True)
class Need:
    """At most so many seconds and nats of gap, and so many times faster than another contender."""

    seconds: float | None = None
    gap: float | None = None
    faster: float | None = None
    than: str = ""

    def __str__(self) -> str:
        parts = [f"gap ≤ {self.gap:g}" if self.gap else "", f"≤ {self.seconds:g} s" if self.seconds else ""]
        parts.append(f"≥ {self.faster:,g} × faster than {self.than}" if self.faster else "")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Curve:
    """Where an instance stands in a picture of scaling: time against `x`, one line for each `line`."""

    picture: str
    line: str
    x: float


@dataclass(frozen=True)
class Instance:
    """One problem; `group` is its line in the summary, `known` an optimum that was computed before this code was written."""

    name: str
    group: str
    joint: Joints
    notion: Any
    seconds: float
    need: Need = Need()
    contenders: tuple[str, ...] = OURS
    short: float | None = None
    curve: Curve | None = None
    known: float | None = None

    @property
    def gap(self) -> float:
        """The gap that a contender may stop at."""
        return self.need.gap or 1e-6


def jeffreys(seed: int, c: int, *shape: int) -> tr.Joint:
    """Dirichlet(½)."""
    return tr.Joint(np.random.default_rng(seed).dirichlet(np.full(c * int(np.prod(shape)), 0.5)).reshape(c, *shape))


def uniform(seed: int, *shape: int) -> tr.Joint:
    """Each p(s, x) uniform in [0, 1], then scaled: the papers' random joints."""
    return tr.Joint(np.random.default_rng(seed).random(shape))


def one_bound(seed: int, a: int) -> tr.Joint:
    """Two secrets and a letters with only P(S=1|y) ≤ hi to obey, under LIP(0.5).

    The lower bound is e^-½ P(S=1), since S = 1 is rare: about 0.15. Every letter has P(S=1|x) ≥ 0.1, which is above.
    """
    rng = np.random.default_rng(seed)
    mass, rate = rng.dirichlet(np.full(a, 0.5)), 0.1 + 0.9 * rng.beta(0.5, 8.5, a)
    counts = np.floor(1e15 * mass * np.array([1 - rate, rate])) + 1
    return tr.Joint(counts.astype(np.int64))


def adult(path: Path | None, secret: str, release: Sequence[str]) -> tr.Joint:
    """The joint of columns of Adult; every category is kept, '?' is one."""
    if path is None:
        raise FileNotFoundError("Adult is not part of this project: give its CSV by --adult or TRECHTER_ADULT")
    rows, names = _rows(path), [secret, *release]
    missing = [name for name in names if name not in rows[0]]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; it has {', '.join(rows[0])}")
    labels = [sorted({row[name] for row in rows}) for name in names]
    codes = [np.searchsorted(values, [row[name] for row in rows]) for values, name in zip(labels, names, strict=True)]
    counts = np.zeros([len(values) for values in labels], np.int64)
    np.add.at(counts, tuple(codes), 1)
    return tr.Joint(counts, secret=(secret, labels[0]), release=dict(zip(release, labels[1:], strict=True)))


@cache
def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [{k.strip(): v.strip() for k, v in row.items()} for row in csv.DictReader(file)]


def catalogue(path: Path | None) -> list[Instance]:
    """All instances; those of Adult need its CSV to be run."""
    made = [*_papers(), *_adult(path), *_two_secrets(), *_more_secrets(), *_several(path), *_scaling()]
    assert len({instance.name for instance in made}) == len(made)
    return made


def matching(instances: Sequence[Instance], glob: str) -> list[Instance]:
    """Those whose name matches; x may be typed for ×, and a folder for all that is in it."""
    wanted = glob.replace("×", "x")
    names = ((instance, instance.name.replace("×", "x")) for instance in instances)
    return [i for i, name in names if fnmatchcase(name, wanted) or fnmatchcase(name, wanted.rstrip("/") + "/*")]


def _papers() -> Iterator[Instance]:
    """a = 5, c = 2, ε = ½, ten joints: what the papers' tables are about."""
    for seed in range(10):
        first, joint = seed == SHORT_JOINT, partial(uniform, seed, 2, 5)
        need = Need(gap=1e-8, faster=10_000, than="gamma")
        curve = Curve("a", "c = 2", 5) if first else None
        group = "LDP, a = 5, c = 2, ε = 0.5"
        by = ("grr", "falk_soland", "gamma", *OURS) if first else ("gamma", *OURS)
        yield Instance(f"ldp-a5/{seed}", group, joint, tr.LDP("0.5"), 600, need, by, 150 if first else None, curve)
        need, by = Need(seconds=0.003, gap=1e-8), ("grr", "falk_soland", "lip_polytope", *OURS)
        group = "LIP, a = 5, c = 2, ε = 0.5, whole design"
        yield Instance(f"lip-a5/{seed}", group, joint, tr.LIP("0.5"), 60, need, by, 10 if first else None)


def _adult(path: Path | None) -> Iterator[Instance]:
    secrets, columns = ("marital-status", "occupation"), ("education", "relationship", "race", "sex")
    for secret, column, name, eps in product(secrets, columns, ("lip", "ldp"), EPSILONS):
        joint, need, by = partial(adult, path, secret, [column]), Need(3, 1e-6), OURS
        if (secret, column, name, eps) == ("occupation", "education", "lip", "0.5"):
            need, by = Need(3, 1e-6, 20, "lip_polytope"), ("falk_soland", "lip_polytope", *OURS)
        short = 20 if eps == "1" and secret == "marital-status" else None
        group = "Adult, S × X, LIP and LDP, five ε"
        known = KNOWN.get(f"{secret}×{column}", {}).get(f"{name}/{eps}")
        full = f"adult/{secret}×{column}/{name}/{eps}"
        yield Instance(full, group, joint, NOTIONS[name](eps), 120, need, by, short, None, known)


def _two_secrets() -> Iterator[Instance]:
    sizes = (
        (100, Need(0.5, 1e-6), 10),
        (300, Need(2, 1e-6), 20),
        (1000, Need(10, 1e-6), None),
        (10_000, Need(120, 1e-4), None),
    )
    for a, need, short in sizes:
        for name in ("lip", "ldp"):
            curve = Curve("a", "c = 2", a) if name == "ldp" else None
            yield Instance(
                f"jeffreys-c2-a{a}/{name}/0.5",
                f"Jeffreys, c = 2, a = {a:,}, ε = 0.5",
                partial(jeffreys, 0, 2, a),
                NOTIONS[name]("0.5"),
                max(60, 3 * (need.seconds or 0)),
                need,
                OURS,
                short,
                curve,
            )
    for a, short in ((100_000, 30), (1_000_000, None)):
        need, group = Need(10, 1e-6), f"one binding bound, c = 2, a = {a:,}, LIP(0.5)"
        yield Instance(f"one-bound-a{a}", group, partial(one_bound, 0, a), tr.LIP("0.5"), 120, need, ("pairs", *OURS), short)


def _more_secrets() -> Iterator[Instance]:
    sizes = ((3, 100, Need(60, 1e-4)), (5, 50, Need(60, 1e-4)), (10, 30, Need(60, 1e-4)), (10, 100, Need()))
    for (c, a, need), name, eps in product(sizes, ("lip", "ldp"), ("0.5", "1")):
        easy = (c, name, eps) == (10, "lip", "1")
        yield Instance(
            f"c{c}-a{a}/{name}/{eps}",
            f"Jeffreys, c = {c}, a = {a}, LIP and LDP, ε = 0.5 and 1",
            partial(jeffreys, 0, c, a),
            NOTIONS[name](eps),
            need.seconds or 120,
            need,
            ("falk_soland", *OURS) if easy and a == 30 else OURS,
            10 if easy and a == 30 else None,
        )


def _several(path: Path | None) -> Iterator[Instance]:
    """Several attributes: LIP and LDP of Adult's, then side-channel resistance."""
    for name, eps in product(("lip", "ldp"), ("0.5", "1")):
        joint = partial(adult, path, "salary", ["education", "relationship", "sex"])
        group = "Adult, salary × (education, relationship, sex)"
        full = f"adult/salary×(education,relationship,sex)/{name}/{eps}"
        yield Instance(full, group, joint, NOTIONS[name](eps), 120, Need(10, 1e-5))
    for eps, seed in product(("0.5", "1", "1.5", "2"), range(10)):
        need = Need(120, 1e-2) if eps == "0.5" else Need(60, 1e-3)
        by = ("grr", "falk_soland", "product", *OURS) if seed == 0 else ("product", *OURS)
        short = 10 if (seed, eps) == (0, "1.5") else None
        group, joint = f"joint SRLIP, c = 2, 3×3×4, ε {'= 0.5' if eps == '0.5' else '≥ 1'}", partial(uniform, seed, 2, 3, 3, 4)
        yield Instance(f"srlip-334/{seed}/{eps}", group, joint, tr.SRLIP(eps), need.seconds or 120, need, by, short)
    for eps in ("0.5", "1"):
        joint = partial(adult, path, "occupation", ["race", "sex", "relationship"])
        group = "Adult, occupation × (race, sex, relationship), SRLIP"
        yield Instance(f"adult/occupation×(race,sex,relationship)/srlip/{eps}", group, joint, tr.SRLIP(eps), 120)


def _scaling() -> Iterator[Instance]:
    """What the curves need beyond the rows above: each stops at a gap of 1e-4, or after a minute."""
    need, group = Need(gap=1e-4), "scaling"

    def made(picture: str, line: str, x: float, joint: Joints, notion: Any, by: tuple[str, ...], short: bool) -> Instance:
        slug = "".join(letter for letter in line.lower() if letter.isalnum() or letter == ".")
        name = f"scaling/{picture}/{slug}/{x:g}"
        return Instance(name, group, joint, notion, 60, need, by, 6 if short else None, Curve(picture, line, x))

    for c, sizes in ((2, (2, 3, 4, 10, 30)), (3, (5, 10, 20, 40, 80)), (5, (5, 10, 20, 40)), (10, (10, 20))):
        for a in sizes:
            by = ("gamma", *OURS) if c == 2 and a < 5 else ("falk_soland", *OURS) if a <= 20 and c > 2 else OURS
            yield made("a", f"c = {c}", a, partial(jeffreys, 0, c, a), tr.LDP("0.5"), by, c <= 5 and a <= 30)
    for name, c in product(("lip", "ldp"), (2, 3, 4, 5, 7, 10)):
        yield made("c", f"{name.upper()}(0.5)", c, partial(jeffreys, 1, c, 15), NOTIONS[name]("0.5"), OURS, c in (2, 3, 4))
    for name, eps in product(("lip", "ldp"), ("0.1", "0.25", "0.5", "1", "1.5", "2", "3")):
        short = eps in ("0.1", "0.5", "1", "2")
        yield made("epsilon", name.upper(), float(eps), partial(jeffreys, 2, 5, 20), NOTIONS[name](eps), OURS, short)
    for eps, m in product(("1", "2"), (1, 2, 3, 4)):
        joint = partial(uniform, 3, 2, *[3] * m)
        yield made("attributes", f"SRLIP({eps})", m, joint, tr.SRLIP(eps), OURS, m <= 2 or (m == 3 and eps == "2"))
