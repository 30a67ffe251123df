"""Float answer → prune → repair → round → certify: what everything that makes a protocol goes through."""

from trechter.finish.deliver import deliver, deliver_rays, protocol_of
from trechter.finish.reading import read_as
from trechter.finish.sparse import deliver_sparse, deliver_sparse_rays, sparse_protocol_of

__all__ = ["deliver", "deliver_rays", "deliver_sparse", "deliver_sparse_rays", "protocol_of", "read_as", "sparse_protocol_of"]
