"""The verdict on one protocol and one joint, and the record of it that travels with a release.

Readers get `certificate.json`, which contains neither counts nor level. The steward's copy adds the exact level and the
salt of the counts' hash, so that whoever holds the counts can prove that they are the ones that were certified.
"""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from trechter.errors import ProtocolError
from trechter.model.files import read_json, write_atomically
from trechter.model.spec import Spec

FORMAT = "trechter-certificate"
VERSION = 1
STEWARD = ("level", "level_exact", "salt", "levels", "ledger", "worst_case")  # these depend on the joint: never public


@dataclass(frozen=True)
class Certificate:
    """Decided in integers: `holds`; `level_exact` is e^level (None if infinite), `level` its logarithm rounded up."""

    notion: Spec
    holds: bool
    level: float
    level_exact: Fraction | None
    protocol: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def with_facts(self, **facts: Any) -> Certificate:
        """The same verdict with more on record."""
        return replace(self, facts=self.facts | facts)

    def to_json(self, steward: bool = False) -> dict[str, Any]:
        """The content of `certificate.json`; unknown facts of a file that was read are kept."""
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION, **self.notion.to_json()}
        content |= {"verdict": "holds" if self.holds else "does not hold", "protocol": self.protocol}
        content |= {k: v for k, v in self.facts.items() if steward or k not in STEWARD}
        if steward:
            exact = None if self.level_exact is None else str(self.level_exact)
            content |= {"level": self.level if math.isfinite(self.level) else "inf", "level_exact": exact}
        return content

    def save(self, path: str | Path, steward: bool = False) -> None:
        """Write the public copy, or the steward's."""
        write_atomically(path, json.dumps(self.to_json(steward), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read either copy; in the public one the level is not known (NaN)."""
        data = read_json(path, FORMAT, VERSION, ProtocolError)
        notion, known = Spec.from_json(data), ("format", "version", "notion", "epsilon", "protect", "over", "verdict")
        exact = Fraction(data["level_exact"]) if data.get("level_exact") else None
        facts = {k: v for k, v in data.items() if k not in (*known, "level", "level_exact", "protocol")}
        level = float(data.get("level", math.nan))
        return cls(notion, data.get("verdict") == "holds", level, exact, str(data.get("protocol", "")), facts)

    def badge(self) -> str:
        """A coloured line of HTML."""
        colour, word = ("#1a7f37", "certified") if self.holds else ("#b42318", "does not hold")
        if self.holds and self.notion.epsilon is None:
            colour, word = "#57606a", "promises nothing"
        if not self.facts.get("secure", True):
            colour, word = "#9a6700", "drawn from a seed: for tests only"
        style = f"background:{colour};color:#fff;border-radius:4px;padding:2px 8px;font:600 13px sans-serif"
        return f'<p><span style="{style}">{html.escape(f"{self.notion} · {word}")}</span></p>'
