"""All claims of the paper, in the order of their names."""

import re

from chappe.papers.elrakabawy2005.claims_all import GENERAL_CLAIMS
from chappe.papers.elrakabawy2005.claims_chain import CHAIN_CLAIMS
from chappe.papers.elrakabawy2005.claims_flows import FLOW_CLAIMS
from chappe.papers.elrakabawy2005.claims_seven import SEVEN_CLAIMS
from chappe.papers.elrakabawy2005.claims_why import WHY_CLAIMS
from chappe.papers.paper import Claim


def _order(claim: Claim) -> tuple[str, list[int]]:
    return claim.id[3], [int(n) for n in re.findall(r"\d+", claim.id)]


CLAIMS: tuple[Claim, ...] = tuple(
    sorted((*GENERAL_CLAIMS, *CHAIN_CLAIMS, *SEVEN_CLAIMS, *FLOW_CLAIMS, *WHY_CLAIMS), key=_order)
)
