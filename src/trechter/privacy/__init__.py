"""Privacy notions: each is a cone of rows and a level. One file a notion; a new one is registered here."""

from trechter.model.spec import Spec
from trechter.privacy.ldp import LDP
from trechter.privacy.lip import LIP
from trechter.privacy.notion import Notion
from trechter.privacy.srldp import SRLDP
from trechter.privacy.srlip import SRLIP

NOTIONS: dict[str, type[Notion]] = {notion.name: notion for notion in (LDP, LIP, SRLDP, SRLIP)}


def notion_from(spec: Spec) -> Notion:
    """The notion that a plain description names."""
    return NOTIONS[spec.name]("inf" if spec.epsilon is None else spec.epsilon, protect=spec.protect)


__all__ = ["LDP", "LIP", "NOTIONS", "SRLDP", "SRLIP", "Notion", "notion_from"]
