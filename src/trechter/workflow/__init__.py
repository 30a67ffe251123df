"""What users ask for, each as one readable function: publish, verify, compare."""

from trechter.workflow.compare import compare
from trechter.workflow.publish import publish
from trechter.workflow.verify import verify

__all__ = ["compare", "publish", "verify"]
