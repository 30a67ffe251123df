"""What two tables prove about a release: rows (s, x, y) of what was known, what was to be released, and what was.

Nobody can read a level off a sample: an output that was never seen with some secret may be impossible or merely rare. What
can be claimed is a lower bound. For a set A of outputs and two groups of rows, Clopper–Pearson limits (each at α/2) bound
`R = P(A|group) / P(A|other)` from below, and a release that keeps ε must have

    LDP   R ≤ e^ε                                           for secrets s and s'
    LIP   R / (πR + 1−π) ≤ e^ε,  π + (1−π)R ≤ e^ε           for s and all others, either way round, π = P(s)

The side-channel forms ask for the same within the rows that share x^J, for every J, at half of α. One half of the rows, drawn
at random, chooses notion by notion the one comparison that promises most; the other half tests it. So nothing has to be paid
for having looked at thousands, and outputs that were never foreseen are no special case. The level is that for the joint of
these rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.audit.definitions import DEFINITIONS, slices, worst_ratio
from trechter.audit.worst import agreed
from trechter.exact import limits, lower_limit, upper_limit
from trechter.exact.matrices import Integers

FEW = 40  # secret values that are compared with each other: the most frequent ones
REPEATS = 20  # rows of an x that was seen before, to believe that y follows from it
SURE = 4.0  # standard deviations of χ² above what independence gives
SEED = 1  # which half a row falls into is drawn, but the same every time
Cells = NDArray[np.int64]
Ratio = Callable[[Fraction], Fraction]


@dataclass(frozen=True)
class Claim:
    """With the stated confidence e^level is at least `bound`: these outputs are seen `seen[0]` of `seen[1]` times with the
    secrets `over`, but `seen[2]` of `seen[3]` times with `under`, among rows that agree in `known`."""

    bound: Fraction = Fraction(1)
    outputs: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    under: tuple[int, ...] = ()
    known: tuple[tuple[int, int], ...] = ()
    seen: tuple[int, int, int, int] = (0, 0, 0, 0)


@dataclass(frozen=True)
class Attack:
    """How often the likeliest secret given y, learned from one half, is right in the other; and how often the mode is."""

    right: int
    right_by_mode: int
    rows: int
    interval: tuple[float, float]
    interval_by_mode: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Evidence:
    """`counts[half, s, x, y]`; x is flattened in C order of `shape`."""

    counts: Cells
    shape: tuple[int, ...]

    @classmethod
    def of(cls, s: Any, x: Any, y: Any, sizes: tuple[int, int, int], shape: tuple[int, ...]) -> Evidence:
        """Count the rows, half of them drawn at random into the first half."""
        half = np.random.Generator(np.random.PCG64(SEED)).permutation(len(s)) % 2
        flat = np.ravel_multi_index((half, s, x, y), (2, *sizes))
        return cls(np.bincount(flat, minlength=2 * int(np.prod(sizes))).reshape(2, *sizes), shape)

    @property
    def whole(self) -> Cells:
        """counts[s, x, y] of all rows."""
        return np.asarray(self.counts.sum(axis=0))

    def level(self, name: str) -> Fraction | None:
        """e^level of the frequencies as they are; None is ∞, which no sample proves."""
        whole = self.whole

        def among(chosen: Any) -> tuple[Any, Any]:
            part = whole[:, chosen].sum(axis=1)
            return part.T.tolist(), part.sum(axis=1).tolist()

        return worst_ratio(name, among, self._attributes, "sx")

    def claim(self, name: str, alpha: float) -> Claim:
        """The comparison that one half chooses, tested by the other; with side channels two: with and without them."""
        every = list(range(self.counts.shape[2]))
        known = [part for part in slices(self._attributes, "sx") if len(part) < len(every)] if DEFINITIONS[name][1] else []
        families = [[every], known] if known else [[every]]
        claims = [self._tested(*self._chosen(name, family), alpha / len(families)) for family in families]
        return max(claims, key=lambda claim: claim.bound)

    def attack(self, alpha: float) -> Attack:
        """Guess the secret from y."""
        first, second = (half.sum(axis=1) for half in self.counts)
        mode = int(first.sum(axis=1).argmax())
        guess = np.where(first.max(axis=0) > first[mode], first.argmax(axis=0), mode)  # ties and news go to the mode
        right, plain = int(second[guess, np.arange(second.shape[1])].sum()), int(second[mode].sum())
        n = int(second.sum())
        low, high = ([float(v) for v in limits(k, n, alpha)] for k in (right, plain))
        return Attack(right, plain, n, (low[0], low[1]), (high[0], high[1]))

    def mapping(self) -> tuple[Integers, str] | None:
        """0–1 weights and what they read, if in every row y follows from x, or from (s, x), and rows repeat often enough."""
        for reads, table in (("x", self.whole.sum(axis=0)), ("sx", self.whole.reshape(-1, self.whole.shape[2]))):
            seen = (table > 0).sum(axis=1)
            if seen.max() <= 1 and table.sum() - np.count_nonzero(seen) >= max(REPEATS, np.count_nonzero(seen)):
                return np.eye(table.shape[1], dtype=np.int64)[table.argmax(axis=1)].T, reads
        return None

    def associated(self) -> bool:
        """Whether y has anything to do with x or s; it has not if rows were shuffled, or if y says nothing."""
        return any(_excess(self.whole.sum(axis=axis)) > SURE for axis in (0, 1))

    @property
    def _attributes(self) -> list[list[int]]:
        x = np.arange(self.counts.shape[2])
        return [axis.tolist() for axis in np.unravel_index(x, self.shape)]

    def _chosen(self, name: str, parts: list[list[int]]) -> tuple[_Candidate, list[int]]:
        """What the first half finds most promising among the rows with these letters."""
        first, whole = self.counts[0], self.whole
        compare = _against_each_other if name.endswith("ldp") else _against_all_others
        doubt = math.sqrt(4 + 2 * math.log(len(parts) * math.prod(first.shape)))  # the more are looked at, the more lie
        best, among = _Candidate(), parts[0]
        for part in parts:
            for candidate in compare(first[:, part].sum(axis=1), whole[:, part].sum(axis=(1, 2)), doubt):
                if candidate.score > best.score:
                    best, among = candidate, part
        return best, among

    def _tested(self, chosen: _Candidate, letters: list[int], alpha: float) -> Claim:
        """What the second half proves of it."""
        if not chosen.outputs:
            return Claim()
        table = self.counts[1][:, letters].sum(axis=1)
        event, sums = table[:, list(chosen.outputs)].sum(axis=1), table.sum(axis=1)
        k, n, l, m = (int(part[list(side)].sum()) for side in (chosen.over, chosen.under) for part in (event, sums))
        R = lower_limit(k, n, alpha / 2) / upper_limit(l, m, alpha / 2)
        known, bound = agreed(self._attributes, letters), max(Fraction(1), chosen.ratio(R))
        return Claim(bound, chosen.outputs, chosen.over, chosen.under, known, (k, n, l, m))


@dataclass(frozen=True)
class _Candidate:
    """A comparison, what it promises, and the ratio that a notion bounds as a function of R."""

    score: float = 1.0
    outputs: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    under: tuple[int, ...] = ()
    ratio: Ratio = Fraction


def _against_each_other(table: Cells, sums: Cells, doubt: float) -> Iterator[_Candidate]:
    """LDP: every secret against every other."""
    frequent = np.argsort(-sums, kind="stable")[:FEW]
    for s, other in permutations([int(v) for v in frequent if sums[v]], 2):
        yield _best(table[s], table[other], (s,), (other,), _plain, doubt)


def _against_all_others(table: Cells, sums: Cells, doubt: float) -> Iterator[_Candidate]:
    """LIP: every secret against the rest, either way round."""
    secrets = [s for s in range(len(sums)) if sums[s]]
    for s in secrets if len(secrets) > 1 else []:
        rest = tuple(v for v in secrets if v != s)
        share = Fraction(int(sums[s]), int(sums.sum()))
        own, others = table[s], table[list(rest)].sum(axis=0)
        yield _best(own, others, (s,), rest, partial(_upward, share), doubt)
        yield _best(others, own, rest, (s,), partial(_downward, share), doubt)


def _plain(R: Fraction) -> Fraction:
    return R


def _upward(share: Fraction, R: Fraction) -> Fraction:
    return R / (share * R + 1 - share)


def _downward(share: Fraction, R: Fraction) -> Fraction:
    return share + (1 - share) * R


def _best(
    over: Cells, under: Cells, over_names: tuple[int, ...], under_names: tuple[int, ...], ratio: Ratio, doubt: float
) -> _Candidate:
    """The set of outputs, by likelihood ratio the first so many, that will probably prove most."""
    n, m = over.sum(), under.sum()
    if not n or not m:
        return _Candidate()
    order = np.argsort(-(over + 0.5) / n / ((under + 0.5) / m), kind="stable")
    k, l = over[order].cumsum(), under[order].cumsum()
    low, high = _limit(k, n, -doubt), np.maximum(_limit(l, m, doubt), 0.5 / m)
    ratios = low / high
    best = int(np.argmax(np.where(k > 0, ratios, 0)))
    outputs = tuple(sorted(y for y in order[: best + 1].tolist() if over[y] or under[y]))
    return _Candidate(float(ratio(Fraction(float(ratios[best])))), outputs, over_names, under_names, ratio)


def _limit(successes: Cells, trials: int, doubt: float) -> NDArray[np.float64]:
    """A proportion moved by so many standard deviations, which are the same everywhere for arcsin √p."""
    angle = np.arcsin(np.sqrt((successes + 0.375) / (trials + 0.75))) + doubt / np.sqrt(8 * trials)
    return np.asarray(np.sin(angle.clip(0, np.pi / 2)) ** 2)


def _excess(table: Cells) -> float:
    """χ² of independence, in standard deviations above its mean if rows are permuted at random (Dawson's moments)."""
    rows, columns = (v[v > 0].astype(float) for v in (table.sum(axis=1), table.sum(axis=0)))
    n, r, c = float(table.sum()), len(rows), len(columns)
    if min(r, c) < 2 or n < 5:
        return 0.0
    filled = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    chi = n * float((filled**2 / np.outer(rows, columns)).sum() - 1)
    (v1, w1), (v2, w2) = (_moments(part, n) for part in (rows, columns))
    variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n * n / (n - 1) * w1 * w2
    return (chi - n * (r - 1) * (c - 1) / (n - 1)) / float(np.sqrt(variance)) if variance > 1e-9 else 0.0


def _moments(parts: NDArray[np.float64], n: float) -> tuple[float, float]:
    k = len(parts)
    return (k - 1) * (n - k) / (n - 1), (float((1 / parts).sum()) - k * k / n) / (n - 2)
