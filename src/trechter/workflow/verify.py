"""Verify: does a saved protocol keep its promise for these counts, or for the rows of this table?

A promise for a set of distributions is judged for the set around these counts. Or, with `since`, for the set around older
ones: while the new shares are in that set (`drift`), what was certified then holds for the new counts as they are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from trechter.audit import certify
from trechter.audit.certify import robust, spec_of
from trechter.audit.drift import distance
from trechter.errors import NotionError, RequestError
from trechter.model.certificate import Certificate
from trechter.model.counts_file import Columns, read_counts
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol
from trechter.model.spec import Spec
from trechter.privacy import Notion
from trechter.sets import UncertaintySet


def verify(
    protocol: str | Path,
    *,
    counts: str | Path | None = None,
    table: Any = None,
    since: str | Path | None = None,
    notion: Notion | None = None,
    over: UncertaintySet | None = None,
) -> Certificate:
    """The verdict on the protocol's own promise, or on another notion; `over`: for all distributions of a set.

    With `since`, older counts, the verdict is on the set around those, and its fact `drift` says whether it covers these.
    """
    if (counts is None) == (table is None):
        raise RequestError(
            "give either the counts or the table that the protocol is to be verified against: --counts or --input"
        )
    loaded = Protocol.load(protocol)
    spec = _spec(loaded, notion, over)
    joint = read_counts(counts, loaded) if counts is not None else joint_of(table, loaded)
    return certify(loaded, joint, spec) if since is None else _since(loaded, read_counts(since, loaded), joint, spec)


def _spec(protocol: Protocol, notion: Notion | None, over: UncertaintySet | None) -> Spec | None:
    """What is to be decided; None is the protocol's own promise."""
    spec = None if notion is None else spec_of(notion)
    promised = spec or protocol.promise
    return spec if over is None or promised is None else replace(promised, over=over.over)


def _since(protocol: Protocol, old: Joint, new: Joint, asked: Spec | None) -> Certificate:
    """The verdict on old counts, and whether it covers new ones."""
    spec = asked or protocol.promise
    if spec is not None and not robust(spec):
        raise NotionError(
            f"{spec} is about the counts that it was made for and about no others, so it covers no new ones: leave out "
            "--since to judge it for the new counts, or ask for a set of distributions around the old ones: --robust 0.05"
        )
    verdict = certify(protocol, old, spec)
    assert spec is not None
    assert spec.over is not None
    region = spec.over.around(old)
    found = distance(region, new.exact.ravel().tolist())
    covered = verdict.holds and found is not None and found <= region.radius
    far = math.inf if found is None else float(found)
    facts = {"covered": covered, "distance": far if math.isfinite(far) else "inf", "radius": float(region.radius), "n": new.n}
    return verdict.with_facts(drift=facts)


def joint_of(table: Any, columns: Columns, weight: str | None = None) -> Joint:
    """The counts of a table, over the values that a protocol was made for."""
    secret, release = ([a.name for a in role] for role in (columns.secret, columns.release))
    return Joint.from_table(table, secret=secret, release=release, schema=columns.secret + columns.release, weight=weight)
