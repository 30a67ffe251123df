"""Problems, curves and points that the tests of column generation share."""

from __future__ import annotations

import numpy as np

import trechter as tr
from trechter.geometry import Cone, extreme_rays
from trechter.measures import MutualInformation
from trechter.measures.mutual_information import Entropic
from trechter.optimal.design import make_problem
from trechter.optimal.polytope import Polytope
from trechter.optimal.problem import Problem


class ChiSquare:
    """g(v) = v² / prior: its pairs are not Monge."""

    def value(self, v, prior):
        return v * v / prior

    def slope(self, v, prior):
        return 2 * v / prior


class TotalVariation:
    """g(v) = |v − prior| / 2: not 0 at v = 0, and with a kink."""

    def value(self, v, prior):
        return np.abs(v - prior) / 2

    def slope(self, v, prior):
        return np.sign(v - prior) / 2


class Hellinger:
    """g(v) = (√v − √prior)²: its slope is −∞ at v = 0."""

    def value(self, v, prior):
        return (np.sqrt(np.maximum(v, 0)) - np.sqrt(prior)) ** 2  # v may be below 0 by float noise

    def slope(self, v, prior):
        with np.errstate(divide="ignore"):
            return 1 - np.sqrt(np.divide(prior, v, out=np.full_like(v, np.inf), where=v > 0))


CURVES = [Entropic(), ChiSquare(), TotalVariation(), Hellinger()]
NOTIONS = [tr.LIP, tr.LDP, tr.SRLIP, tr.SRLDP]
SHAPES = ["dense", "sparse", "spread", "alike", "tiny", "equal"]


def counts(rng, shape, kind):
    """A hostile table of the given shape: no secret is empty, letters may be."""
    table = rng.integers(1, 100, shape).astype(float)
    if kind == "sparse":
        table *= rng.random(shape) < 0.5
    if kind == "spread":
        table = rng.dirichlet(np.full(table.size, 0.15)).reshape(shape) + 1e-15
    if kind == "alike":
        table = rng.integers(0, 3, shape).astype(float)
    if kind == "tiny":
        table *= 10.0 ** -rng.integers(0, 9, shape[-1])
    if kind == "equal":
        table[:] = 1
        table[0, ..., 0] = 5
    table[:, ..., -1] += 1e-3 * table.sum()
    return table


def random_problem(seed, curve=None):
    """A small problem of any notion that is asked for: its description and itself."""
    rng = np.random.default_rng(seed)
    notion, kind = NOTIONS[rng.integers(4)], SHAPES[rng.integers(6)]
    sliced = notion in (tr.SRLIP, tr.SRLDP)
    protect = "x" if rng.random() < 0.15 and not sliced else "s"
    reads = "sx" if rng.random() < 0.25 else "x"
    most = 4 if reads == "sx" or protect == "x" else 8
    c = int(rng.integers(2, 4 if reads == "sx" else 7))
    shape = (c, 2, int(rng.integers(2, 4 if reads == "x" else 3))) if sliced else (c, int(rng.integers(2, most + 1)))
    epsilon = [0.001, 0.02, 0.3, 0.7, 1.5, 5][rng.integers(6)]
    joint = tr.Joint(counts(rng, shape, kind))
    problem = make_problem(joint, notion(epsilon, protect=protect), MutualInformation(), reads)
    if curve is not None:
        problem = Problem(problem.cone, problem.masses, curve, problem.targets)
    return f"{notion.__name__} {shape} {kind} {protect} {reads} {epsilon}", problem


def lip(seed, c, a, epsilon, curve=None, targets=None):
    """LIP of a Jeffreys joint, from the definition."""
    joint = np.random.default_rng(seed).dirichlet(np.full(c * a, 0.5)).reshape(c, a)
    given, x, E = joint / joint.sum(axis=1, keepdims=True), joint.sum(axis=0), np.exp(epsilon)
    return Problem(Cone(np.vstack([given - E * x, x - E * given])), x, curve or Entropic(), targets)


def ldp(seed, c, a, epsilon, curve=None):
    """LDP of a Jeffreys joint, from the definition."""
    joint = np.random.default_rng(seed).dirichlet(np.full(c * a, 0.5)).reshape(c, a)
    given, E = joint / joint.sum(axis=1, keepdims=True), np.exp(epsilon)
    pairs = [given[s] - E * given[t] for s in range(c) for t in range(c) if s != t]
    return Problem(Cone(np.array(pairs)), joint.sum(axis=0), curve or Entropic())


def about(problem, seed, k=3):
    """The same problem about a random task of k values."""
    tasks = np.random.default_rng(seed).dirichlet(np.ones(k), len(problem.masses)).T * problem.masses
    return Problem(problem.cone, problem.masses, problem.curve, tasks)


def all_vertices(problem):
    """The posteriors at all vertices, by listing the extreme rays."""
    posteriors = extreme_rays(problem.cone) * problem.masses
    return posteriors / posteriors.sum(axis=1, keepdims=True)


def inside(problem, rng, k):
    """Random points of the polytope: mixtures of vertices."""
    space = Polytope.of(problem)
    corners = all_vertices(problem)
    return space.points(rng.dirichlet(np.full(len(corners), 0.3), k) @ corners)


def boxes(space, points, rng, thin=0.0):
    """A random box around each point."""
    down, up = rng.random(points.shape) * 0.5, rng.random(points.shape) * 0.5
    flat = rng.random(points.shape) < thin
    lower = np.where(rng.random(points.shape) < 0.3, 0, np.maximum(points - down, 0))
    upper = np.minimum(points + up, 1)
    return np.where(flat, points, lower), np.where(flat, points, upper)
