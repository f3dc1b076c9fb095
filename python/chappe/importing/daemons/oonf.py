"""OONF (olsrd2): ``nhdpinfo link`` as JSON."""

import re

from chappe.importing.source import Source
from chappe.importing.survey import Survey, key_of, set_rate, share


def is_this(s: Source) -> bool:
    """True for links of NHDP."""
    rows = s.json.get("link") if s.has("link") else None
    return isinstance(rows, list) and any("link_bindto" in row for row in rows)


def read(s: Source, survey: Survey) -> None:
    """Reads links with an IPv4 address, for each is listed again with its IPv6 address; ``in`` is towards this node."""
    survey.metrics["olsrd2"] = "ett"
    me = s.own(survey)
    for row in s.each(s.json["link"], "link"):
        if ":" in row["link_bindto"]:
            continue
        if row.get("link_status") not in (None, "symmetric"):
            survey.lose("link of NHDP that is not symmetric")
            continue
        peer = key_of(row["link_bindto"], s.file)
        survey.node(
            peer, *(key_of(row[k], s.file) for k in ("neighbor_originator", "link_mac") if row.get(k, "-") != "-")
        )
        heard = survey.link(peer, me)
        survey.link(me, peer)
        inner = dict(re.findall(r"(\w+)=(-?\d+)", row.get("domain_metric_internal", "")))
        if int(inner.get("p_total", 0)) > 0:
            heard.losses.append(share(1 - int(inner["p_recv"]) / int(inner["p_total"])))
        if int(inner.get("speed", -1)) > 0:
            set_rate(heard, int(inner["speed"]) / 1e6)
