"""A folder that appears whole or not at all: it is filled under another name and renamed at the end."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trechter.errors import OutputError, reason

PARTIAL = ".trechter-partial-"
RELEASE = {"protocol.json", "certificate.json", "codebook.md", "steward"}


@contextmanager
def staged(out: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """The folder to fill; on any error or interrupt it is removed and `out` is as before."""
    target = check_free(out, overwrite)
    folder = target.parent / f"{PARTIAL}{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True)
        yield folder
        _replace(folder, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {reason(error)}; choose another place with --out") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_free(out: str | Path, overwrite: bool) -> Path:
    """The place, links followed; refused if it is taken. A former release may be overwritten if that was asked."""
    try:
        target = Path(out).resolve()
        _check_taken(target, overwrite)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"cannot write {out}: {reason(error)}; choose another place with --out") from None
    return target


def _check_taken(target: Path, overwrite: bool) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file; --out names a folder")
    names = {path.name for path in target.iterdir()}
    if names >= RELEASE and all(name in RELEASE or name.startswith("released.") for name in names):
        if overwrite:
            return
        raise OutputError(
            f"{target} holds a release already. Readers who have two releases of the same rows know more than from one, "
            "possibly more than the sum of both levels. Choose another --out, or --overwrite if the first was never "
            "given away"
        )
    raise OutputError(f"{target} is not empty and not a former release; choose another --out")


def _replace(folder: Path, target: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    former = folder.with_name(f"{folder.name}-former")
    target.rename(former)
    try:
        folder.rename(target)
    except BaseException:
        former.rename(target)
        raise
    shutil.rmtree(former)
