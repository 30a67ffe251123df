"""The set F of distributions that counts do not rule out, in plain words and exact numbers that any judge can read.

Cells are all pairs (s, x) of declared values, in C order: also those that never occurred, where F may still put mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from trechter.errors import NotionError, RequestError
from trechter.exact import as_fraction, limits
from trechter.exact.radii import chi_square_radius, kullback_leibler_radius, total_variation_radius
from trechter.model.joint import Joint

Radius = Callable[[int, Fraction, Fraction], Fraction]
RADII: dict[str, Radius] = {
    "chi-square": chi_square_radius,
    "total-variation": total_variation_radius,
    "kullback-leibler": kullback_leibler_radius,
}
BOXES = "boxes"
SETS = (*RADII, BOXES)
ASYMPTOTIC = ("chi-square", "kullback-leibler")  # whose level holds as n grows
FORMULAS = {
    "chi-square": "Σ(P̂−P)²/P ≤ {}",
    "total-variation": "‖P̂−P‖₁ ≤ {}",
    "kullback-leibler": "Σ P̂ ln(P̂/P) ≤ {}",
    "boxes": "every P(s,x) in its Clopper–Pearson interval at α/k",
}


@dataclass(frozen=True)
class Over:
    """A kind of set by name, and how large: by the level 1 − α that it has, or by its radius."""

    name: str
    alpha: Fraction | None = None
    radius: Fraction | None = None

    def __post_init__(self) -> None:
        if self.name not in SETS:
            raise NotionError(f"unknown set {self.name!r}; known are {', '.join(SETS)}")
        if (self.alpha is None) == (self.radius is None):
            raise NotionError("say how large the set is: by alpha, for example alpha=0.05, or else by radius")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise NotionError(
                f"alpha = {float(self.alpha):g} must be between 0 and 1; the set has level 1 − alpha, 0.05 is usual"
            )
        if self.radius is not None and (self.radius < 0 or self.name == BOXES):
            wanted = "alpha=0.05" if self.name == BOXES else "a radius of 0 or more"
            raise NotionError(f"radius = {float(self.radius):g} makes no set of {self.name}; use {wanted}")

    @classmethod
    def of(cls, name: str, alpha: object = None, radius: object = None) -> Over:
        """From numbers as people write them."""
        return cls(name, _number("alpha", alpha), _number("radius", radius))

    def __repr__(self) -> str:
        size = f"alpha={float(self.alpha):g}" if self.alpha is not None else f"radius={float(self.radius or 0):g}"
        return f"{self.name}({size})"

    def to_json(self) -> dict[str, str]:
        """JSON form, numbers as exact text."""
        size = {"alpha": self.alpha, "radius": self.radius}
        return {"set": self.name} | {key: str(value) for key, value in size.items() if value is not None}

    @classmethod
    def from_json(cls, data: object) -> Over:
        """Inverse of `to_json`."""
        match data:
            case {"set": str(name), **size}:
                return cls.of(name, size.get("alpha"), size.get("radius"))
        raise NotionError(f"{data!r} is not a set of distributions: it needs a name, and an alpha or a radius as text")

    def around(self, joint: Joint) -> Region:
        """The set around what was counted."""
        counts = tuple(int(v) for v in joint.exact.ravel())
        if self.radius is not None:
            return Region(self.name, counts, self.radius)
        assert self.alpha is not None
        if joint.n is None:
            raise RequestError("how sure the distribution is depends on the number of rows: give whole counts, or a radius")
        cells, n = len(counts), as_fraction(joint.n)
        if self.name in ASYMPTOTIC and n < cells:
            raise RequestError(
                f"{float(n):g} rows are too few for {cells} cells (values of the secret times values that may be released): "
                f"the level of {self.name} holds for many rows in each; use total-variation or boxes, or fewer values"
            )
        if self.name == BOXES:
            return Region.boxes(counts, round(n), self.alpha / cells)
        return Region(self.name, counts, RADII[self.name](cells, n, self.alpha))


@dataclass(frozen=True)
class Region:
    """F in exact numbers: counts N (P̂ = N / ΣN) and a radius, or bounds low ≤ P ≤ high."""

    name: str
    counts: tuple[int, ...]
    radius: Fraction
    low: tuple[Fraction, ...] = ()
    high: tuple[Fraction, ...] = ()

    @classmethod
    def boxes(cls, counts: tuple[int, ...], n: int, alpha: Fraction) -> Region:
        """Clopper–Pearson intervals of level 1 − α for each cell; counts that are no numbers of rows are scaled to them."""
        total = sum(counts)
        rows = [round(Fraction(v * n, total)) for v in counts]
        both = {k: limits(k, n, min(alpha, Fraction(1, 2))) for k in set(rows)}
        return cls(BOXES, counts, Fraction(0), tuple(both[k][0] for k in rows), tuple(both[k][1] for k in rows))

    @property
    def formula(self) -> str:
        """What P ∈ F obeys."""
        return FORMULAS[self.name].format(f"{float(self.radius):.6g}")


def _number(name: str, value: object) -> Fraction | None:
    if value is None:
        return None
    try:
        return as_fraction(value)
    except ValueError:
        raise NotionError(f"{name} = {value!r} is not a finite number; write for example 0.05 or '1/20'") from None
