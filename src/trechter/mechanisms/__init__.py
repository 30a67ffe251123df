"""Closed forms, each calibrated to any notion and level and certified like a design: one file a mechanism."""

from collections.abc import Callable

from trechter.mechanisms.conditional_reporting import conditional_reporting
from trechter.mechanisms.generalise import generalise, suppress
from trechter.mechanisms.grr import grr
from trechter.mechanisms.papers_product import papers_product
from trechter.mechanisms.plain import constant, identity
from trechter.mechanisms.pram import pram
from trechter.mechanisms.product import product
from trechter.mechanisms.subset import subset
from trechter.mechanisms.unary import oue, sue, unary
from trechter.model.result import Result

MECHANISMS: dict[str, Callable[..., Result]] = {
    "constant": constant,
    "grr": grr,
    "conditional-reporting": conditional_reporting,
    "oue": oue,
    "sue": sue,
    "subset": subset,
    "identity": identity,
    "product": product,
    "papers-product": papers_product,
}
OF_SEVERAL = ("product", "papers-product")  # of one attribute they are its optimum

__all__ = [
    "MECHANISMS",
    "OF_SEVERAL",
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
]
