"""Trechter: publish a table row by row while one column stays secret, with the provably best protocol.

    joint = tr.Joint.from_table("survey.csv", secret="illness", release=["work", "smoking"], schema="schema.toml")
    result = tr.design(joint, tr.LIP("0.5"))
    released = result.protocol.sanitise(table)

Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trechter.alphabet import Attribute, Bin, Schema
    from trechter.audit import certify, worst_case_level
    from trechter.errors import InsecureWarning, LeakWarning, TrechterError
    from trechter.measures import (
        ChiSquareInformation,
        Distortion,
        HellingerInformation,
        MutualInformation,
        TaskInformation,
        TotalVariationInformation,
        WorstCase,
        accuracy,
        digits,
        ldp_level,
        leakage,
        mutual_information,
        priv,
        uti,
    )
    from trechter.mechanisms import (
        conditional_reporting,
        constant,
        generalise,
        grr,
        identity,
        oue,
        papers_product,
        pram,
        product,
        subset,
        sue,
        suppress,
        unary,
    )
    from trechter.model.certificate import Certificate
    from trechter.model.joint import Joint
    from trechter.model.operations import compose, marginal
    from trechter.model.protocol import Protocol
    from trechter.model.result import Result
    from trechter.optimal import design, frontier
    from trechter.optimal.average import average_funnel, information_bottleneck
    from trechter.privacy import LDP, LIP, SRLDP, SRLIP, Robust
    from trechter.sets import Boxes, ChiSquare, KullbackLeibler, TotalVariation
    from trechter.workflow import audit_matrix, audit_tables, compare, estimate, publish, verify
    from trechter.workflow.ledger import Ledger

__version__ = "0.1.0"

_HOMES = {
    "alphabet": ("Attribute", "Bin", "Schema"),
    "audit": ("certify", "worst_case_level"),
    "errors": ("InsecureWarning", "LeakWarning", "TrechterError"),
    "measures": (
        "ChiSquareInformation",
        "Distortion",
        "HellingerInformation",
        "MutualInformation",
        "TaskInformation",
        "TotalVariationInformation",
        "WorstCase",
        "accuracy",
        "digits",
        "ldp_level",
        "leakage",
        "mutual_information",
        "priv",
        "uti",
    ),
    "mechanisms": (
        "conditional_reporting",
        "constant",
        "generalise",
        "grr",
        "identity",
        "oue",
        "papers_product",
        "pram",
        "product",
        "subset",
        "sue",
        "suppress",
        "unary",
    ),
    "model.certificate": ("Certificate",),
    "model.joint": ("Joint",),
    "model.operations": ("compose", "marginal"),
    "model.kinds": ("Protocol",),
    "model.result": ("Result",),
    "optimal": ("design", "frontier"),
    "privacy": ("LDP", "LIP", "SRLDP", "SRLIP", "Robust"),
    "sets": ("Boxes", "ChiSquare", "KullbackLeibler", "TotalVariation"),
    "optimal.average": ("average_funnel", "information_bottleneck"),
    "workflow": ("audit_matrix", "audit_tables", "compare", "estimate", "publish", "verify"),
    "workflow.ledger": ("Ledger",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LDP",
    "LIP",
    "SRLDP",
    "SRLIP",
    "Attribute",
    "Bin",
    "Boxes",
    "Certificate",
    "ChiSquare",
    "ChiSquareInformation",
    "Distortion",
    "HellingerInformation",
    "InsecureWarning",
    "Joint",
    "KullbackLeibler",
    "LeakWarning",
    "Ledger",
    "MutualInformation",
    "Protocol",
    "Result",
    "Robust",
    "Schema",
    "TaskInformation",
    "TotalVariation",
    "TotalVariationInformation",
    "TrechterError",
    "WorstCase",
    "__version__",
    "accuracy",
    "audit_matrix",
    "audit_tables",
    "average_funnel",
    "certify",
    "compare",
    "compose",
    "conditional_reporting",
    "constant",
    "design",
    "digits",
    "estimate",
    "frontier",
    "generalise",
    "grr",
    "identity",
    "information_bottleneck",
    "ldp_level",
    "leakage",
    "marginal",
    "mutual_information",
    "oue",
    "papers_product",
    "pram",
    "priv",
    "product",
    "publish",
    "subset",
    "sue",
    "suppress",
    "unary",
    "uti",
    "verify",
    "worst_case_level",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"trechter has no {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(f"trechter.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
