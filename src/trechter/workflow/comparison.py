"""A comparison: the optimum and other mechanisms at equal certified level, as one record.

Rows of a level come in the order of their utility, the best first; then those that do not keep the promise, at whatever
level they have; then those that cannot reach it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trechter.measures import Measure, MutualInformation
from trechter.model.joint import Joint
from trechter.model.spec import Spec
from trechter.report.numbers import share
from trechter.workflow import comparison_picture as picture
from trechter.workflow import comparison_table as table
from trechter.workflow.comparison_row import ENDS, OPTIMUM, Row


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Rows at one or several levels, lowest first. `whole` is what x itself is worth; None if that is 0 or less is better.

    `interrupted` says that somebody stopped it, and that rows may be missing.
    """

    rows: tuple[Row, ...]
    notions: tuple[Spec, ...]
    joint: Joint
    measure: Measure
    whole: float | None
    interrupted: bool = False

    def at(self, notion: Spec) -> list[Row]:
        """The rows of one level."""
        return [row for row in self.rows if row.notion == notion]

    @property
    def names(self) -> list[str]:
        """The labels of all rows, in the order in which they first come."""
        return list(dict.fromkeys(row.label for row in self.rows))

    def competes(self, row: Row) -> bool:
        """Whether it keeps the promise and says something, but not all; what loses something may lose it as a constant."""
        return row.holds and (self.whole is None or row.name not in ENDS)

    @property
    def sentences(self) -> list[str]:
        """What the reader sees, in words: at the lowest level and at the highest."""
        ends = dict.fromkeys((self.notions[0], self.notions[-1]))
        return [sentence for notion in ends if (sentence := self._said(notion))]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        joint = self.joint
        facts: dict[str, Any] = {"secret": [a.name for a in joint.secret], "release": [a.name for a in joint.release]}
        facts |= {"n": joint.n, "shape": list(joint.shape), "measure": self.measure.symbol, "unit": self.measure.unit}
        facts |= {"whole": self.whole, "interrupted": self.interrupted, "said": " ".join(self.sentences)}
        levels = [
            {"notion": str(notion), "epsilon": notion.level_text, "rows": [row.to_json(self.whole) for row in self.at(notion)]}
            for notion in self.notions
        ]
        return facts | {"levels": levels}

    def __repr__(self) -> str:
        return table.text(self)

    def _repr_html_(self) -> str:
        return table.markup(self)

    def plot(self) -> Any:
        """A chart of Altair: utility against ε, one line for each protocol; bars, if there is one level."""
        return picture.chart(self)

    def save_plot(self, path: str | Path) -> None:
        """The picture as .png or .svg; or with the table as .html, a page that loads nothing and runs nothing."""
        picture.save(self, path)

    def _said(self, notion: Spec) -> str:
        """One level in words: each optimum, and the best of the others that read the same."""
        kept = [row for row in self.at(notion) if row.holds]
        best = sorted((row for row in kept if row.name == OPTIMUM), key=lambda row: row.reads != "x")
        return f"At ε = {notion.level_text} {'; '.join(self._beside(row, kept) for row in best)}." if best else ""

    def _beside(self, best: Row, kept: list[Row]) -> str:
        others = [row for row in kept if row.reads == best.reads and row.name != OPTIMUM and self.competes(row)]
        who = "the optimum" if best.status == "optimal" else "a design that stopped early"
        who += "" if best.reads == "x" else ", where the secret may be read,"
        verb, what = ("has", "") if self.whole is None else ("keeps", f" of {self._what}")
        next_best = f", {others[0].label} {self._worth(others[0])}" if others else ""
        return f"{who} {verb} {self._worth(best)}{what}{next_best}"

    @property
    def _what(self) -> str:
        return "the information" if self.measure.symbol == MutualInformation.symbol else self.measure.symbol

    def _worth(self, row: Row) -> str:
        part = row.share(self.whole)
        return f"{self.measure.symbol} = {row.utility:.4g}" if part is None else share(part)
