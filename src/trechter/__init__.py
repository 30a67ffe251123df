"""Trechter: publish a table row by row while one column stays secret, with the provably best protocol.

joint = tr.Joint.from_table("survey.csv", secret="illness", release=["work", "smoking"], schema="schema.toml")
result = tr.design(joint, tr.LIP("0.5"))
released = result.protocol.sanitise(table)
"""

from trechter.alphabet import Attribute, Bin, Schema
from trechter.audit import certify
from trechter.errors import InsecureWarning, LeakWarning, TrechterError
from trechter.measures import MutualInformation, TaskInformation, leakage, mutual_information
from trechter.model.certificate import Certificate
from trechter.model.joint import Joint
from trechter.model.operations import compose, marginal
from trechter.model.protocol import Protocol
from trechter.model.result import Result
from trechter.optimal import design
from trechter.privacy import LDP, LIP, SRLDP, SRLIP
from trechter.workflow import publish, verify

__version__ = "0.1.0"

__all__ = [
    "LDP",
    "LIP",
    "SRLDP",
    "SRLIP",
    "Attribute",
    "Bin",
    "Certificate",
    "InsecureWarning",
    "Joint",
    "LeakWarning",
    "MutualInformation",
    "Protocol",
    "Result",
    "Schema",
    "TaskInformation",
    "TrechterError",
    "__version__",
    "certify",
    "compose",
    "design",
    "leakage",
    "marginal",
    "mutual_information",
    "publish",
    "verify",
]
