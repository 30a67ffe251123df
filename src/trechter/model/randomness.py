"""Where random bits come from: the operating system's secure source, stretched by a vetted stream cipher.

The default, `SecureRandom`, is the keystream of AES-256 in counter mode. Every request takes a fresh key and a
fresh starting counter (48 bytes) from the operating system and forgets them afterwards. So there is no state that
a thread could share, a fork or a pickle could copy, or an attacker could find later. As long as AES is sound,
a request of q blocks of 16 bytes can be told from true randomness with an advantage of at most q²/2¹²⁹.

The other two sources are for tests and for users who insist. Whatever is made with them is marked insecure.
"""

from __future__ import annotations

import hashlib
import operator
import os
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import DTypeLike, NDArray

from trechter.errors import InsecureWarning, RequestError

_BLOCK = 16
_ZEROS = memoryview(bytes(1 << 19))
_DOMAIN = b"trechter insecure seed 1\x00"


class Randomness(ABC):
    """Hands out random bits. Requests name a `lane`: a reproducible source keeps one stream for each.

    Lanes make seeded results independent of how rows are cut into batches: what is read on one lane does
    not move the others. Sources that cannot be replayed serve all lanes from one stream.
    """

    secure: bool
    source: str

    @abstractmethod
    def fill(self, buffer: NDArray[Any], lane: str = "") -> None:
        """Overwrite every byte of a C-contiguous array with random bits."""

    @final
    def integers(self, n: int, dtype: DTypeLike, lane: str = "") -> NDArray[Any]:
        """n uniform unsigned integers, read as little-endian on every machine."""
        kind = np.dtype(dtype).newbyteorder("<")
        if kind.kind != "u" or n < 0:
            raise RequestError(f"cannot draw {n} values of type {kind}: ask for n ≥ 0 of an unsigned integer type")
        values = np.empty(n, kind)
        self.fill(values, lane)
        return values

    @final
    def permutation(self, n: int) -> NDArray[np.intp]:
        """A uniform shuffle of 0..n−1: the order of n random 64-bit keys, drawn anew if any two are equal.

        Given distinct keys every order is equally likely, so the shuffle has no bias at all. Keys collide
        with probability below n²/2⁶⁵: once in 370,000 shuffles of ten million rows.
        """
        while True:
            keys = self.integers(n, np.uint64, "shuffle")
            order = np.argsort(keys)
            ranked = keys[order]
            if not np.any(ranked[1:] == ranked[:-1]):
                return order


@final
class SecureRandom(Randomness):
    """AES-256-CTR under a fresh key for every request; see the module's docstring."""

    secure = True
    source = "AES-256-CTR keyed by the operating system"

    def fill(self, buffer: NDArray[Any], lane: str = "") -> None:
        """Overwrite an array with random bits; the lane does not matter, because nothing can be replayed."""
        _write_keystream(_aes_ctr(os.urandom(32), os.urandom(_BLOCK)), buffer)


@final
class SeededRandom(Randomness):
    """INSECURE: whoever guesses the seed can replay every draw. One AES-256-CTR stream for each lane.

    The bits depend on the seed, the lane and how much was read on that lane, on nothing else. Copies
    (pickled or forked) repeat what the original would draw next. Threads may share one, but then the
    order in which they come decides who gets which bits.
    """

    secure = False
    source = "seeded (insecure)"

    def __init__(self, seed: int) -> None:
        self._seed = _integer(seed)
        self._read: dict[str, int] = {}
        self._streams: dict[str, CipherContext] = {}
        self._lock = threading.Lock()

    def fill(self, buffer: NDArray[Any], lane: str = "") -> None:
        """Overwrite an array with the lane's next bits."""
        with self._lock:
            if lane not in self._streams:
                self._streams[lane] = self._open(lane)
            _write_keystream(self._streams[lane], buffer)
            self._read[lane] = self._read.get(lane, 0) + buffer.nbytes

    def _open(self, lane: str) -> CipherContext:
        """The lane's stream, from the place where reading stopped."""
        key = hashlib.sha256(_DOMAIN + f"{self._seed:x}/{lane}".encode()).digest()
        blocks, rest = divmod(self._read.get(lane, 0), _BLOCK)
        stream = _aes_ctr(key, blocks.to_bytes(_BLOCK, "big"))
        stream.update(bytes(rest))
        return stream

    def __reduce__(self) -> tuple[Callable[..., SeededRandom], tuple[int, dict[str, int]]]:
        with self._lock:
            return _resume, (self._seed, dict(self._read))


@final
class CallableRandom(Randomness):
    """INSECURE as far as anyone can tell: bits from the caller's function n → n bytes, one call at a time."""

    secure = False
    source = "caller's (insecure)"

    def __init__(self, rng: Callable[[int], Any]) -> None:
        if not callable(rng):
            raise RequestError(
                f"rng is a {type(rng).__name__}, which cannot be called; give a function that takes n and returns "
                "n random bytes, such as numpy.random.default_rng(1).bytes"
            )
        self._rng = rng
        self._lock = threading.Lock()

    def fill(self, buffer: NDArray[Any], lane: str = "") -> None:
        """Overwrite an array with what the caller's function returns."""
        octets = _octets(buffer)
        if octets.nbytes:
            with self._lock:
                octets[:] = _checked(self._rng(octets.nbytes), octets.nbytes)

    def __reduce__(self) -> tuple[type[CallableRandom], tuple[Callable[[int], Any]]]:
        return CallableRandom, (self._rng,)


def randomness(rng: Callable[[int], Any] | None = None, insecure_seed: int | None = None) -> Randomness:
    """The secure source, or the insecure one that was asked for, with a warning."""
    if rng is None and insecure_seed is None:
        return SecureRandom()
    if rng is not None and insecure_seed is not None:
        raise RequestError(f"rng and insecure_seed={insecure_seed!r} are both given; give one of them, or neither")
    chosen = CallableRandom(rng) if rng is not None else SeededRandom(_integer(insecure_seed))
    warnings.warn(
        f"the random source is {chosen.source}: whoever can replay it can undo the randomisation. Everything "
        "made with it is marked insecure; for a release leave out rng and insecure_seed",
        InsecureWarning,
        stacklevel=3,
    )
    return chosen


def _resume(seed: int, read: dict[str, int]) -> SeededRandom:
    copy = SeededRandom(seed)
    copy._read = read
    return copy


def _aes_ctr(key: bytes, counter: bytes) -> CipherContext:
    return Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()


def _write_keystream(stream: CipherContext, buffer: NDArray[Any]) -> None:
    # Zeros encrypt to the keystream itself; a piece at a time, so that the zeros stay in the cache.
    octets = _octets(buffer)
    for start in range(0, octets.nbytes, _ZEROS.nbytes):
        piece = octets[start : start + _ZEROS.nbytes]
        stream.update_into(_ZEROS[: piece.nbytes], piece)


def _octets(buffer: Any) -> memoryview:
    if not (buffer.flags.c_contiguous and buffer.flags.writeable):
        raise RequestError("random bits can only be written to a writable array in one piece (C-contiguous)")
    return memoryview(buffer.reshape(-1).view(np.uint8))


def _checked(answer: Any, n: int) -> memoryview:
    try:
        octets = memoryview(answer).cast("B")
    except TypeError:
        raise RequestError(
            f"rng({n}) returned a {type(answer).__name__}; it must return bytes, such as "
            "numpy.random.default_rng(1).bytes does"
        ) from None
    if octets.nbytes != n:
        raise RequestError(f"rng({n}) returned {octets.nbytes} bytes; it must return exactly as many as asked")
    return octets


def _integer(seed: object) -> int:
    try:
        return operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise RequestError(f"the seed {seed!r} is not an integer; give one, such as insecure_seed=1") from None
