"""The judge: privacy decided from the literal definition in exact arithmetic; shares nothing with the solvers."""

from trechter.audit.certify import certify, holds, keeps, worst_case_level
from trechter.audit.together import certify_together, level_together

__all__ = ["certify", "certify_together", "holds", "keeps", "level_together", "worst_case_level"]
