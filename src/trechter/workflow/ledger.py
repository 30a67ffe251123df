"""The steward's ledger: every release of one table, and what they tell together about the secret, kept under a limit.

    ledger = tr.Ledger.new(joint, tr.LIP(1))
    ledger.add(protocol, joint)               # NotPrivateError if everything together would pass the limit
    ledger.save("ledger.json")

The file has the protocols themselves, so that everything can be judged anew, a salted hash of the counts, and a hash over
its content. That hash tells of accidents and of edits by hand; it stops nobody who means to deceive and computes it anew.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from trechter.alphabet import Attribute
from trechter.audit import holds, level_together
from trechter.audit.certify import HasSpec, spec_of
from trechter.audit.together import Level
from trechter.errors import LedgerError, NotPrivateError, TrechterError, expect
from trechter.exact import log_up
from trechter.model.dense import MOST_BITS
from trechter.model.files import content_hash, locked, read_json, write_atomically
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol, check_pair
from trechter.model.spec import Spec
from trechter.report.numbers import at_most

FORMAT = "trechter-ledger"
VERSION = 1
SHORT = 4000  # bits of a level that would be too long to be written
CAVEAT = (
    "This is as good as the draws are independent: each release is drawn anew with secure randomness (a seed used twice voids "
    "it; the same file given away twice costs nothing more). It covers only what is in the ledger."
)


@dataclass(frozen=True, eq=False)
class Entry:
    """A release: its protocol, when it was entered and under which name, its level, and that of everything up to it."""

    protocol: Protocol
    date: str
    source: str
    alone: Level
    together: Level

    @property
    def reads(self) -> list[str]:
        """The columns that were read."""
        return [a.name for a in self.protocol.input_attributes]

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        content: dict[str, Any] = {"date": self.date, "source": self.source, "reads": self.reads}
        content |= {"hash": self.protocol.digest, "alone": shown(self.alone), "together": shown(self.together)}
        return content | {"protocol": self.protocol.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any], path: str | Path) -> Entry:
        """Inverse of `to_json`."""
        protocol = Protocol.from_json(data["protocol"], path)
        return cls(protocol, data["date"], data["source"], _level(data["alone"]), _level(data["together"]))


class Ledger:
    """The releases of a table with these columns; `counts` is the salted hash of its counts, `n` how many rows they have."""

    def __init__(self, limit: Spec, secret: Sequence[Attribute], release: Sequence[Attribute], salt: bytes) -> None:
        self.limit, self.secret, self.release, self.salt = limit, tuple(secret), tuple(release), salt
        self.counts = ""
        self.n: float | None = None
        self.entries: tuple[Entry, ...] = ()
        self._path: Path | None = None  # the file that it was read from, or saved in
        self._stored: str | None = None  # its hash
        self._locked = False

    @classmethod
    def new(cls, joint: Joint, limit: HasSpec | Spec) -> Ledger:
        """A ledger without entries; it will cover releases of these columns, to readers who see all of them."""
        expect(joint, Joint, "tr.Joint(counts)")
        _check_plain(spec_of(limit))
        ledger = cls(spec_of(limit), joint.secret, joint.release, secrets.token_bytes(16))
        ledger._count(joint)
        return ledger

    @property
    def level_exact(self) -> Fraction | None:
        """e^level of everything so far (None is ∞)."""
        return self.entries[-1].together.worst if self.entries else Fraction(1)

    @property
    def level(self) -> float:
        """Its logarithm, rounded up."""
        return log_up(self.level_exact)

    def judge(self, joint: Joint) -> Level:
        """e^level of everything so far, anew, for these counts."""
        self._check_columns(joint)
        return level_together([entry.protocol for entry in self.entries], joint, self.limit)

    def add(self, protocol: Protocol, joint: Joint, *, source: str = "", again: bool = False, recount: bool = False) -> Entry:
        """Enter one more independent draw; refused, and nothing changed, if everything together would pass the limit.

        `again`: the same protocol was drawn from once more. `recount`: the counts are others now; everything is judged anew.
        """
        check_pair(protocol, joint)
        self.check(joint, recount)
        known = [entry.protocol for entry in self.entries]
        if protocol in known and not again:
            raise LedgerError(
                "this protocol is in the ledger already. The same file given away again costs nothing; if it was drawn from "
                "once more, that is another release: say so with again=True (--again)"
            )
        alone = level_together([protocol], joint, self.limit)
        together = level_together([*known, protocol], joint, self.limit)
        if not holds(together.worst, self.limit.epsilon):
            raise NotPrivateError(self._refusal(alone, together, joint))
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        self.entries = (*self.entries, Entry(protocol, now, source, _shortened(alone), _shortened(together)))
        self._count(joint)
        return self.entries[-1]

    def check(self, joint: Joint, recount: bool = False) -> None:
        """These are the columns and the counts that the ledger is kept for."""
        self._check_columns(joint)
        if _digest(joint, self.salt) != self.counts and not recount:
            raise LedgerError(
                f"the counts are not those that the ledger is kept for (n was {self.n}, and is {joint.n}). If rows were added "
                "to the same table, recount=True (--recount) judges everything anew for the new counts; a table of other "
                "people needs a ledger of its own"
            )

    def save(self, path: str | Path | None = None) -> None:
        """Write the file, whole or not at all; refused if somebody else wrote to it since it was read."""
        place = self._place(path)
        with nullcontext() if self._locked or not place.exists() else locked(place):
            self._check_unchanged(place)
            content = self.to_json()
            mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o600  # it holds levels: the steward's own
            write_atomically(place, json.dumps(content, ensure_ascii=False, indent=1) + "\n", mode)
            self._path, self._stored = place, content["hash"]

    @classmethod
    def load(cls, path: str | Path) -> Ledger:
        """Read a ledger; one that was changed by hand is refused."""
        if not Path(path).exists():
            raise LedgerError(f"there is no ledger {path}; `trechter ledger new` starts one")
        data = read_json(path, FORMAT, VERSION, LedgerError)
        stated = data.pop("hash", None)
        if stated != content_hash(data):
            raise LedgerError(f"{path}: the content does not match its hash; the ledger was changed by something else")
        try:
            limit, salt = Spec.from_json(data["limit"]), bytes.fromhex(data["salt"])
            ledger = cls(limit, _columns(data["secret"]), _columns(data["release"]), salt)
            ledger.counts, ledger.n = data["counts"], data["n"]
            ledger._path, ledger._stored = Path(path).resolve(), stated
            ledger.entries = tuple(Entry.from_json(entry, path) for entry in data["entries"])
            return ledger
        except TrechterError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise LedgerError(f"{path} is malformed: {error!r}") from None

    @classmethod
    @contextmanager
    def open(cls, path: str | Path) -> Iterator[Ledger]:
        """The ledger of a file that nobody else can add to meanwhile."""
        cls.load(path)  # what is no ledger is not locked either
        with locked(path):
            ledger = cls.load(path)
            ledger._locked = True
            yield ledger
            ledger._locked = False

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "limit": self.limit.to_json()}
        content |= {"secret": [a.to_json() for a in self.secret], "release": [a.to_json() for a in self.release]}
        content |= {"salt": self.salt.hex(), "counts": self.counts, "n": self.n}
        content |= {"entries": [entry.to_json() for entry in self.entries]}
        return content | {"hash": content_hash(content)}

    def _count(self, joint: Joint) -> None:
        self.counts, self.n = _digest(joint, self.salt), joint.n

    def _check_columns(self, joint: Joint) -> None:
        if (joint.secret, joint.release) != (self.secret, self.release):
            asked, found = ([a.name for a in (*t.secret, *t.release)] for t in (self, joint))
            raise LedgerError(f"the ledger is about {', '.join(asked)}, with other values or columns than {', '.join(found)}")

    def _place(self, path: str | Path | None) -> Path:
        if path is None and self._path is None:
            raise LedgerError("the ledger was not read from a file: name the one to save it in")
        return self._path if path is None else Path(path).resolve()  # type: ignore[return-value]

    def _check_unchanged(self, place: Path) -> None:
        if not place.exists() or read_json(place, FORMAT, VERSION, LedgerError).get("hash") == self._stored:
            return
        if self._stored is None:
            raise LedgerError(f"{place} is a ledger already; choose another name for a new one")
        raise LedgerError(f"{place} was changed by somebody else since it was read; load it, and add to it again")

    def _refusal(self, alone: Level, together: Level, joint: Joint) -> str:
        return (
            f"with what is in the ledger ({words(self.judge(joint))}) this release ({words(alone)} alone) would come to "
            f"{words(together)}, above the limit {self.limit}. It is not entered, and must not be released. Ask for less: a "
            "smaller ε, or fewer columns. Levels do not add up, so only trying tells how much less; what a release adds is "
            "at most its LDP level about the data itself (protect='x')"
        )


def words(level: Level) -> str:
    """A level, rounded up; whether it is a bound."""
    value = log_up(level.worst)
    shown = "an infinite level" if math.isinf(value) else f"level {at_most(value, 6)}"
    return shown if level.exact else f"at most {shown} (a bound: the outputs are too many to be judged one by one)"


def _check_plain(limit: Spec) -> None:
    if limit.over is not None:
        raise LedgerError(
            f"a ledger cannot be kept under {limit}: what several releases tell together is not computed over a set of "
            "distributions. Give it a limit for the counts, for example tr.LIP(1); releases may promise more"
        )


def _digest(joint: Joint, salt: bytes) -> str:
    return Joint(joint.counts, secret=joint.secret, release=joint.release).digest(salt)  # whatever the task was


def _columns(data: list[Any]) -> tuple[Attribute, ...]:
    return tuple(Attribute.from_json(a) for a in data)


def _shortened(level: Level) -> Level:
    """Rounded up to what can be written: Python reads integers of at most 4300 digits."""
    worst = level.worst
    if worst is None or worst.numerator.bit_length() < MOST_BITS:
        return level
    shift = worst.numerator.bit_length() - SHORT
    under = worst.denominator >> shift
    return Level(Fraction((worst.numerator >> shift) + 1, under) if under else None, False)


def shown(level: Level) -> dict[str, Any]:
    """JSON form of a level."""
    value = log_up(level.worst)
    exact = None if level.worst is None else str(level.worst)
    return {"level": value if math.isfinite(value) else "inf", "level_exact": exact, "bound": not level.exact}


def _level(data: dict[str, Any]) -> Level:
    return Level(None if data["level_exact"] is None else Fraction(data["level_exact"]), not data["bound"])
