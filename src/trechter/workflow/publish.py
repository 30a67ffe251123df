"""Publish: count → design → certify → sanitise → report, into a folder that appears whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet.schema import Source
from trechter.audit import certify, standalone
from trechter.errors import NotPrivateError, RequestError
from trechter.model.counts_file import counts_csv
from trechter.model.files import write_atomically
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol
from trechter.model.randomness import Randomness, randomness
from trechter.model.result import Result
from trechter.optimal import design
from trechter.privacy import Notion
from trechter.report import codebook, page
from trechter.report.release import Release
from trechter.tables import open_table
from trechter.workflow.design import Tell, about, check_whole_rows, silent
from trechter.workflow.ledger import Ledger
from trechter.workflow.sampled import worst_case
from trechter.workflow.staging import check_free, staged
from trechter.workflow.verify import joint_of

ORDERS = ("shuffle", "keep")
RELEASING = "releasing"  # the last stage: the folder gets its name


def publish(
    table: Any,
    *,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    notion: Notion,
    out: str | Path,
    schema: Source | None = None,
    task: str | None = None,
    weight: str | None = None,
    order: str = "shuffle",
    overwrite: bool = False,
    ledger: str | Path | None = None,
    recount: bool = False,
    rng: Callable[[int], bytes] | None = None,
    insecure_seed: int | None = None,
    tell: Tell = silent,
    **options: Any,
) -> Release:
    """Design, sanitise and write a release; `options` go to `design`, `tell` hears of each stage.

    With a ledger, a release that would pass its limit together with the earlier ones is refused, and any other is entered
    before it appears: there may be an entry without its release, but never a release without its entry.
    """
    if order not in ORDERS:
        raise RequestError(f"order={order!r} is unknown; use 'shuffle', or 'keep' if the order of rows tells nothing")
    check_free(out, overwrite)
    check_whole_rows(notion, weight)
    random = randomness(rng, insecure_seed)
    tell("counting")
    if ledger is not None:
        _check_ledger(Ledger.load(ledger), table, weight, recount, random)
    joint = Joint.from_table(table, secret=secret, release=release, schema=schema, task=task, weight=weight)
    tell("designing")
    result = design(joint, notion, **about(task, options))
    tell("looking at the worst case")
    result = _sampled(result, joint)
    with nullcontext() if ledger is None else Ledger.open(ledger) as book:
        if book is not None:
            result = _entered(result, book, joint_of(table, book, weight), str(out), recount)
        with staged(out, overwrite) as folder:
            tell("sanitising")
            made = _write(folder, table, joint, result, random, order)
            tell(RELEASING)
            if book is not None:
                book.save()
    return made


def _check_ledger(book: Ledger, table: Any, weight: str | None, recount: bool, random: Randomness) -> None:
    """What would be refused in the end for any design is refused at once."""
    if not random.secure:
        raise RequestError("a release from a seed cannot be entered in a ledger: whoever knows the seed knows the draws")
    book.check(joint_of(table, book, weight), recount)


def _sampled(result: Result, joint: Joint) -> Result:
    """The result; the steward's certificate says what its promise comes to if the counts are a sample."""
    found = worst_case(result.protocol, joint)
    facts = {"worst_case": found} if found else {}
    return replace(result, certificate=result.certificate.with_facts(**facts))


def _entered(result: Result, book: Ledger, whole: Joint, source: str, recount: bool) -> Result:
    """The result, once it is in the ledger; the steward's certificate says where it stands there."""
    book.add(result.protocol, whole, source=source, again=True, recount=recount)
    facts = {"entry": len(book.entries), "limit": book.limit.to_json(), "level": book.level}
    return replace(result, certificate=result.certificate.with_facts(ledger=facts))


def _write(folder: Path, table: Any, joint: Joint, result: Result, random: Randomness, order: str) -> Release:
    (folder / "steward").mkdir(0o700)  # the counts are nobody else's business
    result.protocol.save(folder / "protocol.json")
    protocol = _certified(folder / "protocol.json", joint)
    source = open_table(table)
    draws = Draws(protocol, random)
    permute = random.permutation if order == "shuffle" else None
    name = "released" + _suffix(table)
    reads, columns = protocol.input_attributes, protocol.columns()
    source.sanitise_to(folder / name, reads, draws, columns, permute=permute)
    salt = secrets.token_bytes(16)
    facts = {"random": random.source, "secure": random.secure, "order": order, "released": name}
    certificate = result.certificate.with_facts(**facts, counts=joint.digest(salt), salt=salt.hex())
    certificate.save(folder / "certificate.json")
    certificate.save(folder / "steward" / "certificate.json", steward=True)
    dropped = source.dropped([a.name for a in reads])
    made = Release(joint, result, certificate, draws.counts, name, dropped)
    write_atomically(folder / "steward" / "counts.csv", counts_csv(joint))
    write_atomically(folder / "steward" / "report.html", page.render(made))
    write_atomically(folder / "codebook.md", codebook.render(made))
    shutil.copyfile(standalone.__file__, folder / "steward" / "verify.py")
    return made


def _suffix(table: Any) -> str:
    """The format of the input; frames are written as Parquet, which keeps their types."""
    name = Path(table).name if isinstance(table, str | Path) else "table.parquet"
    return next((end for end in (".csv.gz", ".tsv.gz", ".csv", ".tsv") if name.lower().endswith(end)), ".parquet")


class Draws:
    """The kernel with its randomness; it also counts how often each output was drawn."""

    def __init__(self, protocol: Protocol, random: Randomness) -> None:
        self._kernel, self._random = protocol.kernel(), random
        self.counts: NDArray[np.int64] = np.zeros(len(protocol.columns()[0].codes), np.int64)

    def __call__(self, codes: NDArray[np.intp]) -> NDArray[Any]:
        """Draw an output for each letter."""
        drawn = self._kernel(codes, self._random)
        self.counts += np.bincount(drawn, minlength=len(self.counts))
        return drawn


def _certified(path: Path, joint: Joint) -> Protocol:
    """What was written is read back and judged once more; it is what the rows are drawn from."""
    protocol = Protocol.load(path)
    verdict = certify(protocol, joint)
    if not verdict.holds:
        raise NotPrivateError(
            f"the saved protocol does not hold {verdict.notion}: its level is {verdict.level:.6g}; nothing is released"
        )
    return protocol
