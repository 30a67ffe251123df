"""The judge: privacy decided from the literal definition in exact arithmetic; shares nothing with the solvers."""

from trechter.audit.certify import certify, holds

__all__ = ["certify", "holds"]
