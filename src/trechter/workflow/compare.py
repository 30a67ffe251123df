"""Compare: every mechanism beside the optimum, all of them at equal certified level.

A mechanism that reads x is bounded by the optimum that reads x, one that reads the secret too by the optimum that may.
Mechanisms take milliseconds and come first, so that an interrupt during a long design leaves their rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trechter.alphabet.schema import Source
from trechter.errors import RequestError, TrechterError
from trechter.measures import Leakage, Measure, MutualInformation, leakage
from trechter.mechanisms import MECHANISMS, OF_SEVERAL, identity
from trechter.mechanisms.record import promised
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import READS
from trechter.model.protocol import Protocol
from trechter.model.result import Result
from trechter.model.spec import Spec
from trechter.optimal import design
from trechter.optimal.design import check_request
from trechter.optimal.frontier import notions_at
from trechter.optimal.problem import Budget
from trechter.privacy import Notion, notion_from
from trechter.workflow.comparison import Comparison
from trechter.workflow.comparison_row import OPTIMUM, Row, ordered
from trechter.workflow.design import Tell, about, silent

Make = Callable[..., Result]
SECONDS = 60.0  # for each optimum: one that reads s has c times the letters, and may take hours


def compare(
    joint: Joint,
    notion: Notion | Callable[[Any], Notion],
    *,
    epsilons: Iterable[Any] | None = None,
    mechanisms: Sequence[str] | Mapping[str, Make] | None = None,
    reads: str | Sequence[str] | None = None,
    measure: Measure | None = None,
    gap: float = 1e-6,
    time_limit: float | None = SECONDS,
    progress: Callable[[dict[str, Any]], None] | None = None,
    tell: Tell = silent,
) -> Comparison:
    """Every mechanism and the optimum at the level of `notion`; at several, if it is a class such as tr.LIP, of `epsilons`.

    `mechanisms` are names, or some of your own by name: {"ours": lambda joint, notion, measure: tr.pram(Q, joint, notion)}.
    `reads` says which optima to find: by default that of protocols that read x, and that of those that may read the secret
    if a mechanism does. `time_limit` is for each optimum. Ctrl-C ends it: then there are the rows that were found.
    """
    measure = MutualInformation() if measure is None else measure
    notions = _notions(joint, notion, epsilons, measure)
    Budget(gap, time_limit)  # what is wrong with them is said at once, not in every row
    everything = identity(joint, notions[0], measure=measure).utility
    asked = Asked(joint, notions, measure, {"gap": gap, "time_limit": time_limit, "progress": progress}, tell)
    rows, interrupted = list[Row](), False
    try:
        for row in asked.rows(_mechanisms(mechanisms, len(joint.release)), _reads(reads)):
            rows.append(row)
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
    whole = everything if everything > 0 and not measure.less_is_better else None
    specs = [found.spec for found in notions]
    places = sorted(_bounded(rows), key=lambda row: (specs.index(row.notion), *ordered(row, measure.less_is_better)))
    return Comparison(tuple(places), tuple(specs), joint, measure, whole, interrupted)


@dataclass(frozen=True, eq=False)
class Asked:
    """What `compare` was asked for."""

    joint: Joint
    notions: list[Notion]
    measure: Measure
    effort: dict[str, Any]
    tell: Tell

    def rows(self, mechanisms: Mapping[str, Make], reads: Sequence[str]) -> Iterator[Row]:
        """Mechanisms at every level, then each optimum at every level."""
        seen = {"x"}
        for notion in self.notions:
            for name, make in mechanisms.items():
                self.tell(f"{name} at {notion}")
                row = self._row(name, notion, make)
                seen |= {row.reads} if row.reads else set()
                yield row
        blind: dict[Spec, Result] = {}
        for letters in reads or [letters for letters in READS if letters in seen]:
            for row in self._optima(letters):
                if row.result is not None and row.reads == "x":
                    blind[row.notion] = row.result
                yield self._at_least(row, blind)

    def _optima(self, reads: str) -> Iterator[Row]:
        """The optimum at every level, each search from the outputs of the last."""
        last: Result | None = None
        for notion in self.notions:
            self.tell(f"designing at {notion}")
            row = self._row(OPTIMUM, notion, design, reads=reads, like=last, **self.effort)
            last = row.result or last
            yield replace(row, reads=reads)
            if row.result is not None and row.result.stats.get("stopped") == "interrupted":
                raise KeyboardInterrupt

    def _at_least(self, row: Row, blind: Mapping[Spec, Result]) -> Row:
        """Who may read the secret need not look: where a design had to stop early, the optimum that does not may be better."""
        found, other = row.result, blind.get(row.notion)
        if found is None or other is None or row.reads == "x" or not isinstance(other.protocol, DenseProtocol):
            return row
        if (other.utility >= found.utility) if self.measure.less_is_better else (other.utility <= found.utility):
            return row
        protocol = promised(seeing_s(other.protocol), self.joint, notion_from(row.notion))
        better = replace(found, protocol=protocol, utility=other.utility, certificate=protocol.certificate)
        return replace(row, result=better, leakage=_leakage(self.joint, protocol))

    def _row(self, name: str, notion: Notion, make: Make, **options: Any) -> Row:
        """What a mechanism gives, or why it gives nothing."""
        try:
            result = make(self.joint, notion, measure=self.measure, **options)
        except TrechterError as error:
            return Row(name, notion.spec, reason=str(error))
        return Row(name, notion.spec, result.protocol.reads, result, _leakage(self.joint, result.protocol))


def seeing_s(protocol: DenseProtocol) -> DenseProtocol:
    """The same protocol as one that is given the secret too."""
    weights: Any = np.hstack([protocol.integers] * math.prod(len(attribute) for attribute in protocol.secret))
    return replace(protocol, integers=weights, reads="sx")


def _leakage(joint: Joint, protocol: Protocol) -> Leakage | None:
    """What it tells of the secret; not known where that would take a list of too many outputs."""
    try:
        return leakage(joint, protocol)
    except TrechterError:
        return None


def _bounded(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows with what no protocol can pass that keeps the same promise and reads the same, or more."""
    known = {(row.notion, row.reads): row.result.bound for row in rows if row.name == OPTIMUM and row.result}
    for row in rows:
        bounds = [known[key] for reads in (row.reads, "sx") if row.holds and (key := (row.notion, reads)) in known]
        yield replace(row, bound=bounds[0] if bounds else None)


def _notions(joint: Joint, notion: Any, epsilons: Any, measure: Measure) -> list[Notion]:
    """One for each level, lowest first."""
    if epsilons is None and isinstance(notion, type) and issubclass(notion, Notion):
        raise RequestError(f"{notion.__name__} without a level; give tr.{notion.__name__}(1), or several with epsilons=[…]")
    notions = [notion] if epsilons is None else notions_at(notion, epsilons)
    for found in notions:
        check_request(joint, found, measure)
    different = {found.spec: found for found in notions}.values()
    return sorted(different, key=lambda found: math.inf if found.epsilon is None else found.epsilon)


def _mechanisms(given: Any, attributes: int) -> Mapping[str, Make]:
    """By name; all that are for so many attributes, if none is named."""
    if isinstance(given, Mapping):
        if OPTIMUM in given:
            raise RequestError(f"{OPTIMUM!r} is the row that all others are compared with; give yours another name")
        return given
    suited = [name for name in MECHANISMS if attributes > 1 or name not in OF_SEVERAL]
    names = suited if given is None else [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in MECHANISMS:
            raise RequestError(f"unknown mechanism {name!r}; there are {', '.join(MECHANISMS)}")
    return {name: MECHANISMS[name] for name in names}


def _reads(given: str | Sequence[str] | None) -> list[str]:
    """In the order in which they are found; none means those that are needed."""
    found = [] if given is None else [given] if isinstance(given, str) else list(given)
    for reads in found:
        if reads not in READS:
            raise RequestError(f"reads={reads!r} is unknown; use 'x', 'sx', or both: ['x', 'sx']")
    return [reads for reads in READS if reads in found]


def compare_for_table(
    table: Any,
    notion: Notion | Callable[[Any], Notion],
    *,
    secret: Sequence[str],
    release: Sequence[str],
    schema: Source | None = None,
    task: str | None = None,
    weight: str | None = None,
    tell: Tell = silent,
    **options: Any,
) -> Comparison:
    """The same for a table; `options` go to `compare`, `tell` hears of each stage."""
    tell("counting")
    joint = Joint.from_table(table, secret=secret, release=release, schema=schema, task=task, weight=weight)
    return compare(joint, notion, tell=tell, **about(task, options))
