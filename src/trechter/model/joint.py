"""The joint distribution p(s, x) of the secret S and the data X = X¹×…×Xᵐ, exactly as counted.

Counts are integers, rationals (survey weights) or floats, which are taken as the exact binary fractions that they are;
p is their quotient with their exact sum. Values that never occur stay in the alphabet. Attributes are flattened in C order.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.schema import Source
from trechter.errors import JointError
from trechter.exact import as_fraction
from trechter.exact.matrices import Integers
from trechter.model.counting import tally

Labels = tuple[str, Sequence[object]]
Role = Labels | Sequence[Attribute] | Mapping[str, Sequence[object]] | None


class Joint:
    """Counts of (S, X¹, …, Xᵐ), and of a task column T as a last axis if there is one."""

    def __init__(
        self,
        counts: Any,
        *,
        secret: Role = None,
        release: Role = None,
        task: Role = None,
        rows: int | None = None,
        effective: float | None = None,
        schema_origin: str = "declared",
    ) -> None:
        full = _exact_counts(counts)
        tasks = _attributes(task, "T", full.shape[-1:] if task is not None else ())
        shape = full.shape[: full.ndim - len(tasks)]
        if len(shape) < 2:
            raise JointError(f"counts need one axis for the secret and one for each attribute, got shape {full.shape}")
        self.secret = _attributes(secret, "S", shape[:1], product=True)
        self.release = _attributes(release, "X", shape[1:])
        self.task = tasks[0] if tasks else None
        self.shape: tuple[int, ...] = shape
        self.schema_origin = schema_origin
        _check_names([a.name for a in (*self.secret, *self.release)])
        self._full = full.reshape(shape[0], math.prod(shape[1:]), -1)
        self._counts = full.sum(axis=-1) if tasks else full
        whole = full.dtype != object or all(v.denominator == 1 for v in full.ravel())
        self.rows = rows if rows is not None else (int(full.sum()) if whole else None)
        self.n: float | None = effective if effective is not None else self.rows

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        secret: str | Sequence[str],
        release: str | Sequence[str],
        schema: Source | None = None,
        task: str | None = None,
        weight: str | None = None,
    ) -> Joint:
        """Count a table: a file (CSV, Parquet) or a frame (pandas, Polars, Arrow)."""
        found = tally(table, _names(secret), _names(release), schema, task, weight)
        return cls(
            found.counts,
            secret=found.secret,
            release=found.release,
            task=found.task or None,
            rows=found.rows,
            effective=found.effective,
            schema_origin=found.origin,
        )

    @property
    def counts(self) -> Integers:
        """The counts as given (int64, or exact Fractions), of shape `shape`."""
        return self._counts

    @cached_property
    def exact(self) -> Integers:
        """Integers proportional to p, of shape (c, a)."""
        return _integers(self._full.sum(axis=2))

    @cached_property
    def p(self) -> NDArray[np.float64]:
        """p(s, x), of shape (c, a)."""
        return quotient(self.exact, self.exact.sum())

    @cached_property
    def p_s(self) -> NDArray[np.float64]:
        """p(s)."""
        return quotient(self.exact.sum(axis=1), self.exact.sum())

    @cached_property
    def p_x(self) -> NDArray[np.float64]:
        """p(x)."""
        return quotient(self.exact.sum(axis=0), self.exact.sum())

    @cached_property
    def p_task(self) -> NDArray[np.float64]:
        """p(s, x, t), of shape (c, a, k); k = 1 without a task."""
        whole = _integers(self._full)
        return quotient(whole, whole.sum())

    def about(self, secret: str) -> Joint:
        """The same rows with one of several secret columns as the only secret."""
        names = [a.name for a in self.secret]
        if secret not in names:
            raise JointError(f"{secret!r} is not a secret here; secrets are {', '.join(names)}")
        axis = names.index(secret)
        split = self._counts.reshape([len(a) for a in self.secret] + list(self.shape[1:]))
        others = tuple(i for i in range(len(names)) if i != axis)
        return Joint(split.sum(axis=others), secret=[self.secret[axis]], release=self.release)

    def digest(self, salt: bytes = b"") -> str:
        """SHA-256 of the salted counts of (S, X) and their labels: what a certificate is about, and `COUNTS.csv` holds."""
        roles = {"secret": self.secret, "release": self.release}
        content: dict[str, list[Any]] = {role: [a.to_json() for a in found] for role, found in roles.items()}
        content["counts"] = [str(v) for v in self._counts.ravel()]
        return hashlib.sha256(salt + json.dumps(content, sort_keys=True).encode()).hexdigest()

    def __repr__(self) -> str:
        secret, release = (" × ".join(a.name for a in role) for role in (self.secret, self.release))
        return f"Joint(secret {secret}: {self.shape[0]}, release {release}: {self.shape[1:]}, n = {self.n})"


def _check_names(names: list[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise JointError(f"two columns are called {twice[0]!r}; give each its own name")


def quotient(numerators: Integers, denominator: Any) -> NDArray[np.float64]:
    """Correctly rounded floats of exact quotients (0/0 is 0)."""
    if numerators.dtype == object:
        return np.array(np.vectorize(_divide, otypes=[float])(numerators, denominator), dtype=np.float64)
    sure = np.asarray(denominator) > 0
    return np.asarray(np.divide(numerators, denominator, out=np.zeros(numerators.shape), where=sure))


def _divide(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


def _names(columns: str | Sequence[str]) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _exact_counts(counts: Any) -> Integers:
    try:
        array = np.asarray(counts)
    except ValueError as error:
        raise JointError(f"counts must be an array, one axis for the secret and one for each attribute: {error}") from None
    if array.dtype == bool or array.dtype.kind not in "iufO":
        raise JointError(f"counts must be numbers, got {array.dtype}")
    if array.dtype.kind in "iu" and array.astype(np.float64).sum() < 2**53:
        exact: Integers = array.astype(np.int64)
    else:
        exact = np.array([_count(v) for v in array.ravel()] + [None], object)[:-1].reshape(array.shape)
    _check_counts(exact)
    return exact


def _count(value: Any) -> Fraction:
    try:
        return as_fraction(value.item() if isinstance(value, np.generic) else value)
    except ValueError as error:
        raise JointError(f"counts must be finite numbers ≥ 0: {error}") from None


def _check_counts(counts: Integers) -> None:
    if counts.size == 0:
        raise JointError(f"counts of shape {counts.shape} are empty: every axis needs at least one value")
    if np.any(counts < 0):
        raise JointError(f"counts must be ≥ 0, got {counts[counts < 0][0]}")
    if not counts.any():
        raise JointError("all counts are 0: there is no row to learn the distribution from")


def _integers(values: Any) -> Integers:
    if values.dtype != object:
        return np.asarray(values, np.int64)
    scale = math.lcm(*(v.denominator for v in values.ravel()))
    whole = np.array([int(v * scale) for v in values.ravel()] + [None], object)[:-1].reshape(values.shape)
    return whole.astype(np.int64) if int(whole.sum()) < 2**53 else whole


def _attributes(role: Role, default: str, sizes: Sequence[int], product: bool = False) -> tuple[Attribute, ...]:
    found = tuple(_named(role, default, sizes))
    lengths = [len(a) for a in found]
    fits = math.prod(lengths) == sizes[0] if product else lengths == list(sizes)
    if not fits:
        shown = ", ".join(f"{a.name}: {len(a)}" for a in found)
        raise JointError(f"labels do not fit the counts: {shown or 'none'} against axes of {list(sizes)}")
    return found


def _named(role: Role, default: str, sizes: Sequence[int]) -> Iterable[Attribute]:
    if role is None:
        names = [default] if len(sizes) == 1 else [f"{default}{j + 1}" for j in range(len(sizes))]
        return [Attribute.of(name, range(size)) for name, size in zip(names, sizes, strict=True)]
    pairs = [*role.items()] if isinstance(role, Mapping) else [role] if len(role) == 2 and isinstance(role[0], str) else role
    return [part if isinstance(part, Attribute) else _labelled(part) for part in pairs]


def _labelled(part: Any) -> Attribute:
    pair = isinstance(part, tuple | list) and len(part) == 2 and isinstance(part[0], str)
    if not pair or (isinstance(part, list) and isinstance(part[1], str)):  # ["work", "sex"] are two names
        raise JointError(
            f'{part!r} does not say what the counts are of: give a name with its labels, ("work", ["full", "part"]), '
            'or several, {"work": […], "sex": […]}'
        )
    return Attribute.of(*part)
