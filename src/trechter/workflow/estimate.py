"""Estimate: what readers learn of the values of X from released rows and `protocol.json` alone.

    found = tr.estimate("released.csv", "protocol.json", margin=["age", "sex"])

The shares are those of the population that the rows are a sample of, and so are their standard errors and 95 % limits; `noise`
is the standard error about the rows themselves, which comes from the protocol alone. A protocol that reads the secret too has
letters (s, x): the shares of x are sums over them, and told if the outputs tell them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.schema import unknown
from trechter.alphabet.values import to_json
from trechter.errors import ProtocolError, RequestError, expect
from trechter.estimation.inversion import Linear, coefficients, expected_errors, identified, linear
from trechter.estimation.likelihood import most_likely
from trechter.estimation.posterior import PRIOR, Draws, posterior
from trechter.estimation.ranges import ranges
from trechter.estimation.released import Released, attributes_of, read
from trechter.estimation.unary import read_bits
from trechter.model.kinds import UnaryProtocol
from trechter.model.letters import values_of
from trechter.model.protocol import EXAMPLE, Protocol
from trechter.tables import open_table
from trechter.workflow.channel import Channel, Index, Releases, cells_of, labelled
from trechter.workflow.estimate_table import markup, text

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Attributes = tuple[Attribute, ...]

HOPELESS = 0.5  # a standard error that is this large for equal shares says less than the range from 0 to 1
COPIES = 5
UNSEEN = "unseen"
UNLIKELY = "there are too many values or rows to look for the most likely shares"


@dataclass(frozen=True, eq=False)
class Estimate:
    """A line for each combination of values of some attributes.

    Where the outputs do not tell (`identified` is False, or there are far too few rows) all figures are NaN but `low` and
    `high`, which are what can be said all the same. `likely` are the shares under which the release is most likely, None if
    there are too many outputs to look for them; they lack at most `lacking` nats of log-likelihood.
    """

    attributes: Attributes
    rows: int
    linear: Linear
    likely: Array | None
    lacking: float
    identified: Mask
    notes: tuple[str, ...]
    channel: Channel

    @property
    def values(self) -> tuple[Any, ...]:
        """What each line is about: a value, or a tuple of them."""
        return values_of(self.attributes)

    @property
    def shares(self) -> Array:
        """Unbiased, so some may be negative."""
        return self.linear.shares

    @property
    def errors(self) -> Array:
        """Standard errors for the population."""
        return self.linear.errors

    @property
    def noise(self) -> Array:
        """Standard errors for the rows themselves."""
        return self.linear.noise

    @property
    def low(self) -> Array:
        """Lower ends of the 95 % intervals, or of the ranges, for the population."""
        return self.linear.low

    @property
    def high(self) -> Array:
        """Upper ends."""
        return self.linear.high

    @property
    def figures(self) -> dict[str, NDArray[Any]]:
        """What is known of each line, by name."""
        found = {"share": self.shares, "error": self.errors, "noise": self.noise, "low": self.low, "high": self.high}
        return found | ({} if self.likely is None else {"likely": self.likely}) | {"identified": self.identified}

    @property
    def output_columns(self) -> list[str]:
        """The released columns, of one release."""
        return [column.name for column in self.channel.only().columns()]

    def to_frame(self) -> pl.DataFrame:
        """The table, one column for each attribute."""
        return labelled(self.attributes, tuple(self.figures)).with_columns(**self.figures)

    def to_json(self) -> dict[str, Any]:
        """The same for machines; what is not known is null."""
        about = {"columns": [a.name for a in self.attributes], "rows": self.rows, "confidence": 0.95}
        lacking = None if self.likely is None else self.lacking
        return about | {"shares": _lines(self.values, self.figures), "lacking": lacking, "notes": list(self.notes)}

    def posterior(self, draws: int = 2000, prior: float = PRIOR, seed: int | None = None) -> Posterior:
        """Draws from the posterior of the shares, if those of letters are Dirichlet(prior, …, prior) before."""
        if draws < 2 or prior <= 0:
            raise RequestError(f"a posterior needs at least 2 draws and a prior above 0, not {draws} and {prior}")
        found = posterior(*self.channel.likelihood, draws, prior, np.random.default_rng(seed))
        return Posterior(self.attributes, Draws(np.stack([self.channel.summed(p) for p in found])), self.identified)

    def given(self, prior: Sequence[float] | None = None) -> pl.DataFrame:
        """P(value | output) for each output, from the most likely shares of letters, or from given ones (in C order)."""
        return self.channel.told(labelled(self.attributes, ["probability"]), prior)

    def impute(self, copies: int = COPIES, seed: int | None = None) -> pl.DataFrame:
        """The released rows, and beside them values drawn from what their output says, in columns that say `imputed`."""
        if copies < 1:
            raise RequestError(f"copies = {copies}: at least one is needed")
        return self.channel.imputed(labelled(self.attributes), copies, np.random.default_rng(seed))

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return markup(self)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean, spread (standard deviation) and middle 95 % of the draws of each share.

    A mean has the standard error `error`, for there being so few draws: they are worth `effective` independent ones. What is
    not identified is decided by the prior, however many rows there are.
    """

    attributes: Attributes
    draws: Draws
    identified: Mask

    @property
    def values(self) -> tuple[Any, ...]:
        """What each line is about."""
        return values_of(self.attributes)

    @property
    def figures(self) -> dict[str, NDArray[Any]]:
        """What is known of each line, by name."""
        low, high = self.draws.limits
        found = {"mean": self.draws.mean, "spread": self.draws.spread, "low": low, "high": high}
        return found | {"error": self.draws.errors, "effective": self.draws.effective, "identified": self.identified}

    def to_frame(self) -> pl.DataFrame:
        """The table, one column for each attribute."""
        return labelled(self.attributes, tuple(self.figures)).with_columns(**self.figures)

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return {"draws": len(self.draws.cells), "shares": _lines(self.values, self.figures)}

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return markup(self)


def estimate(
    released: Any,
    protocol: Protocol | str | Path | None = None,
    *,
    margin: str | Sequence[str] | None = None,
    absent: str | Sequence[Any] = (),
) -> Estimate:
    """Shares of the values of X, or of some of its attributes (`margin`), from a released table and its protocol.

    Several releases of different people from one population are given as a list of pairs (table, protocol). `absent` are
    values known not to occur, each a value or a tuple of all that is read; "unseen" are those whose outputs are like those of
    all rows, as designs treat values that did not occur: often there is no inverse unless they are taken to be absent.
    """
    releases = _releases(released, protocol)
    letters = attributes_of([p for _, p in releases])
    attributes = _margin(releases, letters, margin)
    cell, first = cells_of(letters, attributes), releases[0][1]
    if isinstance(first, UnaryProtocol) and len(releases) == 1:
        if len(absent):
            raise RequestError("the bits of a unary encoding tell every share by themselves: leave out absent")
        return _from_bits(releases, first, attributes, cell)
    seen = read(releases, letters)
    gone = seen.unseen if absent == UNSEEN else _absent(values_of(letters), absent)
    return _from_outputs(releases, seen, gone, attributes, cell)


def _from_outputs(releases: Releases, whole: Released, absent: Mask, attributes: Attributes, every: Index) -> Estimate:
    if absent.all():
        raise RequestError("all values are taken to be absent, so there is nothing to estimate")
    seen, cell, number = whole.without(absent), every[~absent], int(every.max()) + 1
    counts, members = seen.counts.astype(np.float64), cell == np.arange(number)[:, None]
    known, full = identified(seen.weights, members)
    p, lacking = most_likely(seen.matrix, counts)
    a = coefficients(seen, members, p)
    loose = ~known | (expected_errors(a, seen, members) > HOPELESS)
    found = linear(a, counts)
    if loose.any():
        found.low[loose], found.high[loose] = ranges(seen, members[loose])
    channel = Channel(releases, absent, cell, number, full, seen.matrix, seen.counts)
    likely, notes = np.where(loose, np.nan, channel.summed(p)), _notes(known, loose, absent, whole.unseen)
    return Estimate(attributes, seen.rows, found.where(~loose), likely, lacking, known, notes, channel)


def _from_bits(releases: Releases, protocol: UnaryProtocol, attributes: Attributes, cell: Index) -> Estimate:
    number = int(cell.max()) + 1
    bits = read_bits(open_table(releases[0][0]), protocol, np.argsort(cell, kind="stable").reshape(number, -1))
    matrix, counts, found = bits.likelihood, bits.counts, linear(bits.coefficients, bits.sums.astype(np.float64))
    channel = Channel(releases, np.zeros(len(cell), bool), cell, number, True, matrix, counts)
    known, rows = np.ones(number, bool), int(bits.sums[0].sum())
    if matrix is None or counts is None:
        return Estimate(attributes, rows, found, None, np.nan, known, (UNLIKELY,), channel)
    p, lacking = most_likely(matrix, counts.astype(np.float64))
    return Estimate(attributes, rows, found, channel.summed(p), lacking, known, (), channel)


def _notes(known: Mask, loose: Mask, absent: Mask, unseen: Mask) -> tuple[str, ...]:
    notes = []
    if absent.any():
        notes.append(f"{absent.sum()} of {len(absent)} combinations of what was read are taken to be absent")
    if not known.all():
        notes.append(
            f"{(~known).sum()} of {len(known)} shares cannot be told from these outputs, however many rows there are, because "
            "the protocol has no inverse there: of those only a range is given, and all ranges hold together with 95 %"
        )
    if not known.all() and (unseen & ~absent).any():
        notes.append(
            f"{(unseen & ~absent).sum()} combinations look as if they did not occur when the protocol was made; "
            f"if so, absent = {UNSEEN!r} may tell more"
        )
    if (loose & known).any():
        notes.append(f"{(loose & known).sum()} shares are hardly told by so few rows, so only their range is given")
    return tuple(notes)


def _absent(values: Sequence[Any], absent: str | Sequence[Any]) -> Mask:
    """Which letters are named."""
    named = [absent] if isinstance(absent, str) else list(absent)
    unknown_ones = [value for value in named if value not in values]
    if unknown_ones:
        shown = ", ".join(map(repr, values[:6])) + (", …" if len(values) > 6 else "")
        raise RequestError(f"absent: {unknown_ones[0]!r} is none of what the protocol reads: {shown}")
    return np.array([value in named for value in values])


def _releases(released: Any, protocol: Any) -> Releases:
    pairs = [(released, protocol)] if protocol is not None else released
    listed = isinstance(pairs, list | tuple) and len(pairs) > 0
    if not listed or any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):
        raise RequestError("give a released table and its protocol, or a list of such pairs")
    found = [(table, Protocol.load(p) if isinstance(p, str | Path) else p) for table, p in pairs]
    for _, each in found:
        expect(each, Protocol, EXAMPLE)
    return tuple(found)


def _margin(releases: Releases, letters: Attributes, names: str | Sequence[str] | None) -> Attributes:
    """The attributes that are asked for: all that are released, or the named ones, which may be read secrets too."""
    known = {a.name: a for a in letters}
    released = {a.name for _, p in releases for a in p.release}
    wanted = [n for n in known if n in released] if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise ProtocolError("of what the protocol reads, " + unknown("column", name, tuple(known)))
    if not wanted or len(set(wanted)) < len(wanted):
        raise RequestError(f"margin = {wanted}: name one or more columns, each once")
    return tuple(known[name] for name in wanted)


def _lines(values: Sequence[Any], figures: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """A record for each line."""
    named = [[to_json(v) for v in (value if isinstance(value, tuple) else (value,))] for value in values]
    columns = [[None if isinstance(f, float) and math.isnan(f) else f for f in column.tolist()] for column in figures.values()]
    return [{"value": value, **dict(zip(figures, row, strict=True))} for value, *row in zip(named, *columns, strict=True)]
