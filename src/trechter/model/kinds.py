"""All kinds of protocols, so that whoever loads a file knows every one of them."""

from trechter.model.dense import DenseProtocol
from trechter.model.protocol import Protocol
from trechter.model.sparse import SparseProtocol
from trechter.model.unary import UnaryProtocol

Plain = DenseProtocol | SparseProtocol  # those whose outputs are listed

__all__ = ["DenseProtocol", "Plain", "Protocol", "SparseProtocol", "UnaryProtocol"]
