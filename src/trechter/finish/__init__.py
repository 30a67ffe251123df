"""Float answer → prune → repair → round → certify: what everything that makes a protocol goes through."""

from trechter.finish.deliver import deliver, deliver_rays, protocol_of
from trechter.finish.reading import read_as

__all__ = ["deliver", "deliver_rays", "protocol_of", "read_as"]
