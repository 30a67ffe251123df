"""What can go wrong, as a hierarchy; every message says what was wrong, shows it, and says what to do.

TrechterError
├── RequestError            the input or the request is wrong              (exit code 2)
│   ├── TableError          a table or file: columns, values, reading
│   ├── SchemaError         a declared domain, or values outside it
│   ├── JointError          counts that are no distribution
│   ├── NotionError         a privacy level or notion that makes no sense
│   ├── ProtocolError       a protocol that is malformed, or made for other values
│   ├── LedgerError         a ledger that is malformed, or kept for other counts
│   └── OutputError         a place that cannot be written
├── NotPrivateError         the answer is no: a protocol does not hold what it promises (exit code 1)
└── SolverError             a solver failed, or claimed what is not so     (exit code 4)
    └── TooLargeError       it would have to list more than it can         (exit code 4)

TrechterWarning
├── LeakWarning             a choice that may tell readers something about the data itself
└── InsecureWarning         randomness that an attacker could reproduce
"""


class TrechterError(Exception):
    """Anything that Trechter reports on purpose."""


class RequestError(TrechterError, ValueError):
    """The input or the request is wrong."""


class TableError(RequestError):
    """A table or a file cannot be used as asked."""


class SchemaError(RequestError):
    """A declared domain makes no sense, or the data has values outside it."""


class JointError(RequestError):
    """Counts that are no joint distribution."""


class NotionError(RequestError):
    """A privacy level or a notion that makes no sense."""


class ProtocolError(RequestError):
    """A protocol that is malformed, or that was made for other values."""


class LedgerError(RequestError):
    """A ledger that is malformed, or that is kept for other counts."""


class OutputError(RequestError):
    """A place that cannot be written."""


class NotPrivateError(TrechterError):
    """A protocol does not hold what it promises."""


class SolverError(TrechterError):
    """A solver failed, or claimed something that is not so."""


class TooLargeError(SolverError):
    """A solver would have to list more than it can."""


def expect(given: object, kind: type, example: str) -> None:
    """Refuse an argument of another kind, such as one in the place of another; the example says how to make one."""
    if not isinstance(given, kind):
        raise RequestError(f"{given!r:.200} is no {kind.__name__}; make one with {example}")


def reason(error: BaseException) -> str:
    """Why a file could not be used, in words; its name is said by whoever asked for it."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return getattr(error, "strerror", None) or str(error).strip().split("\n", 1)[0]


class TrechterWarning(UserWarning):
    """Something that the user should know before going on."""


class LeakWarning(TrechterWarning):
    """A choice that may tell readers something about the data itself."""


class InsecureWarning(TrechterWarning):
    """Randomness that an attacker could reproduce."""
