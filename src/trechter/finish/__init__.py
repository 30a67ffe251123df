"""Float answer → prune → repair → round → certify: what everything that makes a protocol goes through."""

from trechter.finish.deliver import deliver, deliver_rays, protocol_of

__all__ = ["deliver", "deliver_rays", "protocol_of"]
