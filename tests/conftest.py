"""Shared by all tests: random joints, and Adult where it is at hand."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from trechter.model.joint import Joint

ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult.csv.gz"

settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


def random_counts(seed: int, *shape: int, zeros: float = 0.15) -> np.ndarray:
    """Counts with some empty cells, but no empty secret and no empty data value."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 60, shape) * (draw.random(shape) > zeros)
    flat = counts.reshape(shape[0], -1)
    flat[draw.integers(0, shape[0], flat.shape[1]), np.arange(flat.shape[1])] += 1
    flat[np.arange(shape[0]), draw.integers(0, flat.shape[1], shape[0])] += 1
    return flat.reshape(shape)


def random_joint(seed: int, *shape: int, zeros: float = 0.15) -> Joint:
    """A joint of random counts of the given shape (c, a1, …, am)."""
    return Joint(random_counts(seed, *shape, zeros=zeros))


def random_matrix(seed: int, b: int, n: int) -> np.ndarray:
    """A random protocol matrix (b × n), neither near the identity nor near a constant."""
    return np.random.default_rng(seed).dirichlet(np.full(b, 0.7), n).T


@cache
def _adult_rows() -> list[dict[str, str]]:
    with gzip.open(ADULT, "rt") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def adult():
    """Adult's joint of two columns; skipped, saying why, where the file is not at hand."""
    if not ADULT.exists():
        pytest.skip(f"Adult is not part of this project; put adult.csv.gz at {ADULT} to run this test")

    def joint(secret: str, release: str) -> Joint:
        rows = _adult_rows()
        labels = [sorted({row[name] for row in rows}) for name in (secret, release)]
        counts = np.zeros([len(v) for v in labels], int)
        for row in rows:
            counts[labels[0].index(row[secret]), labels[1].index(row[release])] += 1
        return Joint(counts, secret=(secret, labels[0]), release={release: labels[1]})

    return joint
