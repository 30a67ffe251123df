"""Random sources: known answers, nothing repeated that must not be, and errors that teach."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import pickle
import threading
import warnings

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from trechter.errors import InsecureWarning, RequestError
from trechter.model.randomness import CallableRandom, Randomness, SecureRandom, SeededRandom, randomness


class Listed(Randomness):
    """Hands out the keys that it was given."""

    secure, source = False, "listed"

    def __init__(self, *keys: list[int]) -> None:
        self.keys = list(keys)

    def fill(self, buffer, lane=""):
        buffer[:] = self.keys.pop(0)


def counter_mode(key: bytes, start: int, n: int) -> bytes:
    """n bytes of counter mode by its definition: block i is the encrypted number start + i."""
    ecb = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return b"".join(ecb.update(((start + i) % 2**128).to_bytes(16, "big")) for i in range(-(-n // 16)))[:n]


def keystream(seed: int, lane: str, n: int) -> bytes:
    """The seeded stream by its definition: counter mode from 0 under the lane's own key."""
    key = hashlib.sha256(b"trechter insecure seed 1\x00" + f"{seed:x}/{lane}".encode()).digest()
    return counter_mode(key, 0, n)


@pytest.mark.parametrize("seed", [0, 1, -5, 2**200, np.int64(7), pytest.param(10**5000, id="huge")])
@pytest.mark.parametrize("lane", ["", "guide"])
def test_seeded_stream_is_its_definition(seed, lane):
    assert SeededRandom(seed).integers(1003, np.uint8, lane).tobytes() == keystream(int(seed), lane, 1003)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_seeded_stream_does_not_depend_on_the_cuts_or_on_other_lanes(sizes):
    random, whole = SeededRandom(3), keystream(3, "a", sum(sizes))
    parts = []
    for size in sizes:
        random.integers(5, np.uint16, "b")
        parts.append(random.integers(size, np.uint8, "a").tobytes())
    assert b"".join(parts) == whole


@pytest.mark.parametrize("read", [0, 1, 16, 37])
def test_a_pickled_seeded_source_goes_on_where_it_stopped(read):
    random = SeededRandom(9)
    random.integers(read, np.uint8, "a")
    copy = pickle.loads(pickle.dumps(random))
    assert copy.integers(50, np.uint8, "a").tobytes() == keystream(9, "a", read + 50)[read:]
    assert random.integers(50, np.uint8, "a").tobytes() == keystream(9, "a", read + 50)[read:]


def test_threads_share_a_seeded_stream_without_reading_a_bit_twice():
    random, parts = SeededRandom(4), []
    threads = [threading.Thread(target=lambda: parts.append(random.integers(1 << 16, np.uint64))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.frombuffer(keystream(4, "", 4 << 19), "<u8")
    assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(expected))


def test_integers_are_little_endian():
    octets = keystream(1, "", 16)
    assert SeededRandom(1).integers(4, np.uint32).tolist() == [
        int.from_bytes(octets[i : i + 4], "little") for i in range(0, 16, 4)
    ]


@pytest.mark.parametrize(("n", "dtype"), [(-1, np.uint8), (3, np.int64), (3, float), (3, bool)])
def test_integers_refuses_what_is_not_unsigned(n, dtype):
    with pytest.raises(RequestError, match="unsigned"):
        SecureRandom().integers(n, dtype)


@pytest.mark.parametrize("octets", [0, 1, 15, 17, 1 << 19, (1 << 19) + 1, 3 << 19])
def test_secure_source_overwrites_all_and_nothing_else(octets):
    whole = np.zeros(octets + 20, np.uint8)
    SecureRandom().fill(whole[10 : 10 + octets])
    assert not whole[:10].any()
    assert not whole[10 + octets :].any()
    # A byte that is left out in every one of 40 fills would stay zero; by chance one does so once in 2^299.
    seen = np.zeros(octets, np.uint8)
    for _ in range(40):
        SecureRandom().fill(whole[10 : 10 + octets])
        seen |= whole[10 : 10 + octets]
    assert seen.all()


def test_secure_stream_is_counter_mode_under_key_and_counter_of_the_operating_system(monkeypatch):
    asked = []

    def entropy(n: int) -> bytes:
        asked.append(hashlib.shake_256(bytes([len(asked)])).digest(n))
        return asked[-1]

    monkeypatch.setattr(os, "urandom", entropy)
    for _ in range(2):  # anew for every request
        found = SecureRandom().integers((1 << 19) + 5, np.uint8).tobytes()
        key, counter = asked[-2:]
        assert (len(key), len(counter)) == (32, 16)
        assert found == counter_mode(key, int.from_bytes(counter, "big"), (1 << 19) + 5)
    assert len(asked) == 4


def test_secure_words_never_repeat_in_a_large_request():
    words = np.sort(SecureRandom().integers(1 << 20, np.uint64))  # any two equal: probability 3e-8
    assert np.all(words[1:] > words[:-1])


def test_secure_bits_are_fair():
    # Hoeffding: a fair bit strays by more than 0.00265 in 2·10⁶ draws with probability below 1e-12, 64 bits together 1e-10.
    words = SecureRandom().integers(2_000_000, np.uint64)
    means = [np.mean(words >> np.uint64(i) & np.uint64(1)) for i in range(64)]
    assert max(abs(m - 0.5) for m in means) < math.sqrt(math.log(2e12) / 4e6)


def draw(random: Randomness) -> bytes:
    return random.integers(32, np.uint8).tobytes()


def test_threads_and_copies_of_the_secure_source_share_nothing():
    random, found = SecureRandom(), []
    draw(random)
    copies = [random, *(pickle.loads(pickle.dumps(random)) for _ in range(3))]
    threads = [threading.Thread(target=lambda c=c: found.append(draw(c))) for c in copies * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 16


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_of_the_secure_source_share_nothing():
    random = SecureRandom()
    found = [draw(random)]
    for _ in range(3):
        receive, send = os.pipe()
        if not os.fork():
            os.write(send, draw(random))
            os._exit(0)
        found.append(os.read(receive, 32))
        os.wait()
        os.close(receive), os.close(send)
    found.append(draw(random))
    assert len(set(found)) == 5


def test_shuffle_is_the_order_of_its_keys_and_equal_keys_are_drawn_anew():
    random = Listed([5, 9, 5], [7, 7, 7], [30, 10, 20])
    assert random.permutation(3).tolist() == [1, 2, 0]
    assert not random.keys


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 100_000])
def test_shuffle_is_a_permutation(n):
    order = SecureRandom().permutation(n)
    assert order.dtype == np.intp
    assert np.array_equal(np.sort(order), np.arange(n))


def far(counts: np.ndarray) -> bool:
    """Whether the L1 distance to uniform is too large to be chance: false alarms below 1e-6.

    P(‖p̂ − p‖₁ ≥ ε) ≤ 2^k exp(−nε²/2) for k cells.
    """
    n, k = counts.sum(), counts.size
    threshold = math.sqrt(2 * (k * math.log(2) + math.log(1e6)) / n)
    return bool(np.abs(counts / n - 1 / k).sum() >= threshold)


@pytest.mark.parametrize("random", [SecureRandom(), SeededRandom(11)], ids=["secure", "seeded"])
def test_shuffle_is_uniform(random):
    orders = {order: i for i, order in enumerate(itertools.permutations(range(3)))}
    found = [orders[tuple(random.permutation(3).tolist())] for _ in range(20_000)]
    assert not far(np.bincount(found, minlength=6))


def test_the_uniformity_test_rejects_the_naive_shuffle():
    # Swapping each place with any place: 27 equally likely ways on 6 orders, 1/18 of total variation off.
    swaps = np.random.default_rng(1).integers(0, 3, (20_000, 3))
    orders = {order: i for i, order in enumerate(itertools.permutations(range(3)))}
    found = []
    for row in swaps.tolist():
        place = [0, 1, 2]
        for i, j in enumerate(row):
            place[i], place[j] = place[j], place[i]
        found.append(orders[tuple(place)])
    assert far(np.bincount(found, minlength=6))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint16)])
def test_the_callers_function_is_used_as_it_is(kind):
    random = CallableRandom(lambda n: kind(bytes(range(n))))
    assert random.integers(4, np.uint16).tolist() == [0x0100, 0x0302, 0x0504, 0x0706]
    assert random.integers(0, np.uint16).size == 0


@pytest.mark.parametrize(
    ("rng", "message"),
    [
        (lambda n: bytes(n - 1), "7 bytes; it must return exactly as many"),
        (lambda n: bytes(n + 1), "9 bytes"),
        (lambda n: b"", "0 bytes"),
        (lambda n: "x" * n, "returned a str"),
        (lambda n: None, "returned a NoneType"),
        (lambda n: [0] * n, "returned a list"),
        (lambda n: 0.5, "returned a float"),
    ],
)
def test_the_callers_function_must_return_n_bytes(rng, message):
    with pytest.raises(RequestError, match=message):
        CallableRandom(rng).integers(1, np.uint64)


def test_a_generator_is_not_a_function():
    with pytest.raises(RequestError, match=r"Generator, which cannot be called.*default_rng\(1\)\.bytes"):
        CallableRandom(np.random.default_rng(1))


def test_the_callers_function_pickles_if_it_can():
    copy = pickle.loads(pickle.dumps(CallableRandom(os.urandom)))
    assert len(set(copy.integers(8, np.uint64).tolist())) == 8


@pytest.mark.parametrize("random", [SecureRandom(), SeededRandom(1), CallableRandom(os.urandom)])
def test_only_whole_writable_arrays_are_filled(random):
    frozen = np.zeros(4, np.uint8)
    frozen.flags.writeable = False
    for buffer in (frozen, np.zeros(8, np.uint8)[::2]):
        with pytest.raises(RequestError, match="writable array in one piece"):
            random.fill(buffer)


def test_the_default_is_secure_and_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        random = randomness()
    assert (random.secure, random.source) == (True, "AES-256-CTR keyed by the operating system")


@pytest.mark.parametrize(
    ("choice", "source"),
    [({"insecure_seed": 0}, "seeded (insecure)"), ({"rng": os.urandom}, "caller's (insecure)")],
)
def test_other_sources_warn(choice, source):
    with pytest.warns(InsecureWarning, match="marked insecure"):
        random = randomness(**choice)
    assert (random.secure, random.source) == (False, source)


def test_one_source_only():
    with pytest.raises(RequestError, match="both given"):
        randomness(os.urandom, 1)


@pytest.mark.parametrize("seed", [1.5, "1", b"1"])
def test_seeds_are_integers(seed):
    with pytest.raises(RequestError, match="not an integer"):
        randomness(insecure_seed=seed)
