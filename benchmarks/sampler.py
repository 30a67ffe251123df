"""Rows per second of the sampler and of what one would use instead: `python benchmarks/sampler.py [--rows N]`.

Everybody does the same job: generalised randomised response with ε = 1 on 16 symbols, codes in memory → codes in memory,
on one core unless said otherwise. Rates are the best of several runs, by the clock on the wall and by processor time:
the two agree on an idle machine, and on a busy one the second tells what one core does. Libraries that handle one
value per call are timed on fewer rows (the table says on how many) and their rate is taken to be constant. They are
optional: what is not installed is listed as such.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.model.kernel import Kernel
from trechter.model.randomness import SecureRandom

A = 16
EPSILON = 1.0
KEEP = math.exp(EPSILON) / (math.exp(EPSILON) + A - 1)
PER_VALUE_ROWS = 100_000

Codes = NDArray[Any]
Sampler = Callable[[Codes], Any]


def grr_weights(bits: int) -> NDArray[np.object_]:
    """GRR with off-diagonal weights rounded up and the rest on the diagonal."""
    other = math.ceil((1 - KEEP) / (A - 1) * 2**40) << (bits - 40)
    weights = np.full((A, A), other, object)
    np.fill_diagonal(weights, 2**bits - (A - 1) * other)
    return weights


def random_weights(size: int, bits: int) -> NDArray[np.int64]:
    """A protocol in which every output has about the same chance."""
    cuts = np.sort(np.random.default_rng(0).integers(0, 2**bits, (size - 1, size)), axis=0)
    return np.diff(cuts, prepend=0, append=2**bits, axis=0)


def ours(kernel: Kernel, threads: int = 1) -> Sampler:
    """The package's kernel; several threads take a share of the rows each."""
    random = SecureRandom()
    if threads == 1:
        return lambda codes: kernel(codes, random)

    def shared(codes: Codes) -> list[Codes]:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda part: kernel(part, random), np.array_split(codes, threads)))

    return shared


def numpy_grr(codes: Codes) -> Codes:
    """Ten lines of NumPy: keep the value or draw one of the others."""
    rng = np.random.default_rng()
    keep = rng.random(codes.size) < KEEP
    other = rng.integers(0, A - 1, codes.size, dtype=np.uint8)
    other += other >= codes
    return np.where(keep, codes, other)


def numpy_alias() -> Sampler:
    """Walker's alias tables; for GRR slot y of column x holds y and, above its share, x."""
    table = np.full((A, A), (1 - KEEP) / (A - 1) * A)
    np.fill_diagonal(table, 1.0)
    share, alias = table.ravel(), np.repeat(np.arange(A, dtype=np.uint8), A)

    def sample(codes: Codes) -> Codes:
        rng = np.random.default_rng()
        slot = rng.integers(0, A, codes.size, dtype=np.uint8)
        cell = codes.astype(np.intp) * A + slot
        return np.where(rng.random(codes.size) < share[cell], slot, alias[cell])

    return sample


def numpy_choice(codes: Codes) -> Codes:
    """One `Generator.choice` for the rows of each symbol."""
    rng, drawn = np.random.default_rng(), np.empty_like(codes)
    for x in range(A):
        rows = codes == x
        p = np.full(A, (1 - KEEP) / (A - 1))
        p[x] = KEEP
        drawn[rows] = rng.choice(A, np.count_nonzero(rows), p=p)
    return drawn


def pure_ldp() -> Sampler:
    """pure-ldp: direct encoding, one value per call."""
    client = import_module("pure_ldp.frequency_oracles.direct_encoding").DEClient(EPSILON, A, lambda x: x)
    return lambda codes: [client.privatise(x) for x in codes.tolist()]


def multi_freq_ldpy() -> Sampler:
    """multi-freq-ldpy: GRR compiled by numba, one value per call."""
    client = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Client
    return lambda codes: [client(x, A, EPSILON) for x in codes.tolist()]


def trasgo_dp() -> Sampler:
    """trasgoDP: k-ary randomised response on an array, which must be text."""
    respond = import_module("trasgodp.categorical").dp_randomized_response_kary_array
    labels = np.array([f"value {x}" for x in range(A)])
    return lambda codes: respond(labels[codes], EPSILON)


def diffprivlib() -> Sampler:
    """diffprivlib: the exponential mechanism with equal distances, which is GRR, one value per call."""
    mechanism = import_module("diffprivlib.mechanisms").ExponentialCategorical
    labels = [f"value {x}" for x in range(A)]
    pairs = [(x, y, 1.0) for i, x in enumerate(labels) for y in labels[:i]]
    randomise = mechanism(epsilon=EPSILON, utility_list=pairs).randomise
    return lambda codes: [randomise(labels[x]) for x in codes.tolist()]


def opendp() -> Sampler:
    """OpenDP: randomised response, one value per call."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    respond = dp.m.make_randomized_response(list(range(A)), prob=KEEP)
    return lambda codes: [respond(x) for x in codes.tolist()]


def rates(sampler: Sampler, codes: Codes, repeats: int = 7) -> tuple[float, float]:
    """Rows per second on the wall and of processor time, after a short run that compiles and warms what there is."""
    sampler(codes[:1000])
    wall, processor = [], []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        sampler(codes)
        wall.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return codes.size / min(wall), codes.size / min(processor)


def kernels(rows: int) -> Iterator[tuple[str, Codes, Sampler]]:
    """The package's own lines of the table."""
    codes = np.random.default_rng(1).integers(0, A, rows)
    narrow, kernel = codes.astype(np.uint8), Kernel(grr_weights(48), 48)
    yield "trechter", narrow, ours(kernel)
    yield "trechter", codes, ours(kernel)
    yield "trechter, two threads", narrow, ours(kernel, threads=2)
    yield "trechter, 128 bits", narrow, ours(Kernel(grr_weights(128), 128))
    wide = np.random.default_rng(2).integers(0, 1000, rows).astype(np.uint16)
    yield "trechter, 1000 → 1000", wide, ours(Kernel(random_weights(1000, 48), 48))


def others(rows: int) -> Iterator[tuple[str, Codes, Sampler | str]]:
    """Everybody else, or why not."""
    codes = np.random.default_rng(1).integers(0, A, rows).astype(np.uint8)
    yield "NumPy, ten lines of GRR", codes, numpy_grr
    yield "NumPy, alias tables", codes, numpy_alias()
    yield "NumPy, Generator.choice", codes, numpy_choice
    yield "trasgoDP", codes[: rows // 10], _if_installed(trasgo_dp)
    for name, peer in (("multi-freq-ldpy", multi_freq_ldpy), ("pure-ldp", pure_ldp)):
        yield name, codes[:PER_VALUE_ROWS], _if_installed(peer)
    for name, peer in (("diffprivlib", diffprivlib), ("OpenDP", opendp)):
        yield name, codes[: PER_VALUE_ROWS // 5], _if_installed(peer)


def _if_installed(peer: Callable[[], Sampler]) -> Sampler | str:
    try:
        return peer()
    except ImportError as error:
        return f"not available: {error}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--rows", type=int, default=1 << 25, help="rows for the vectorised samplers")
    rows = parser.parse_args().rows
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}; GRR on {A} symbols unless said, ε = {EPSILON}\n")
    print(f"| {'sampler':<24} | codes  | {'rows timed':>10} | million rows/s | per CPU second |")
    print(f"|{'-' * 26}|--------|{'-' * 11}:|---------------:|---------------:|")
    for name, codes, sampler in (*kernels(rows), *others(rows)):
        if isinstance(sampler, str):
            print(f"| {name:<24} | {sampler}")
            continue
        wall, processor = rates(sampler, codes)
        print(f"| {name:<24} | {codes.dtype!s:<6} | {codes.size:>10,} | {wall / 1e6:14.3f} | {processor / 1e6:14.3f} |")


if __name__ == "__main__":
    main()
