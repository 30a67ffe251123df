"""What users ask for, each as one readable function: publish, verify, compare, audit what others made, estimate."""

from trechter.workflow.audit_matrix import audit_matrix
from trechter.workflow.audit_tables import audit_tables
from trechter.workflow.compare import compare
from trechter.workflow.estimate import estimate
from trechter.workflow.publish import publish
from trechter.workflow.verify import verify

__all__ = ["audit_matrix", "audit_tables", "compare", "estimate", "publish", "verify"]
