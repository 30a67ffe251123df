"""Reading and writing our own files: a schema check on the way in, all or nothing on the way out."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from trechter.errors import OutputError, RequestError, reason

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def write_atomically(path: str | Path, content: str | bytes, mode: int | None = None) -> None:
    """Write beside the target, then rename over it; nothing half-written is ever seen under its name."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".trechter-partial-")
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}; choose another place") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        Path(temporary).chmod(0o666 & ~_umask() if mode is None else mode)
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OutputError(f"cannot write {target}: {error.strerror}; choose another place") from None
        raise


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Wait until nobody else holds the file; it is free again when the process ends, however it ends.

    Windows has no such locks: there it does nothing.
    """
    held = None if fcntl is None else _hold(path)
    try:
        yield
    finally:
        if held is not None:
            held.close()


def _hold(path: str | Path) -> IO[bytes]:
    """The file, locked; if it was replaced while we waited, the new one."""
    try:
        while True:
            file = open(path, "rb")  # noqa: SIM115
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
            file.close()
    except OSError as error:
        raise OutputError(f"cannot lock {path}: {error.strerror}") from None


def content_hash(content: dict[str, Any]) -> str:
    """SHA-256 of a JSON object, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def check_apart(out: str | Path, source: Any) -> None:
    """Refuse to write over the table that is being read."""
    if isinstance(source, str | Path) and Path(out).exists() and Path(source).exists() and Path(out).samefile(source):
        raise OutputError(f"cannot write {out}: it is the table that is being read; choose another name")


def read_json(path: str | Path, format: str, version: int, error: type[RequestError]) -> dict[str, Any]:
    """A JSON object of the expected format and a version that we know."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as failure:
        raise error(f"cannot read {path}: {reason(failure)}") from None
    except (ValueError, RecursionError) as failure:
        raise error(f"{path} is not JSON: {failure}") from None
    if not isinstance(data, dict) or data.get("format") != format:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise error(f"{path} is not a {format} file: its format is {found!r}")
    if data.get("version") != version:
        raise error(f"{path} has version {data.get('version')!r}; this program reads version {version}")
    return data


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
