"""What users ask for, each as one readable function: publish, verify."""

from trechter.workflow.publish import publish
from trechter.workflow.verify import verify

__all__ = ["publish", "verify"]
