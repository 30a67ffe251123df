"""Privacy notions: each is a cone of rows and a level. One file a notion; a new one is registered here."""

from trechter.model.spec import Spec
from trechter.privacy.ldp import LDP
from trechter.privacy.lip import LIP
from trechter.privacy.notion import Notion, PlainNotion
from trechter.privacy.robust import Robust
from trechter.privacy.srldp import SRLDP
from trechter.privacy.srlip import SRLIP
from trechter.sets import set_from

NOTIONS: dict[str, type[PlainNotion]] = {notion.name: notion for notion in (LDP, LIP, SRLDP, SRLIP)}


def notion_from(spec: Spec) -> Notion:
    """The notion that a plain description names."""
    plain = NOTIONS[spec.name]("inf" if spec.epsilon is None else spec.epsilon, protect=spec.protect)
    return plain if spec.over is None else Robust(plain, over=set_from(spec.over))


__all__ = ["LDP", "LIP", "NOTIONS", "SRLDP", "SRLIP", "Notion", "PlainNotion", "Robust", "notion_from"]
