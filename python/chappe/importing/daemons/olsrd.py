"""olsrd: the plug-ins jsoninfo and txtinfo."""

from typing import Any

from chappe.importing.source import Source, number
from chappe.importing.survey import Survey, key_of, share


def is_jsoninfo(s: Source) -> bool:
    """True for links or a topology of olsrd."""
    rows = [*(s.json.get("topology") or []), *(s.json.get("links") or [])] if isinstance(s.json, dict) else []
    return any(isinstance(r, dict) and ("lastHopIP" in r or "localIP" in r) for r in rows)


def _edge(survey: Survey, src: str, dst: str, lq: Any, nlq: Any) -> None:
    """A link from the view of ``src``: LQ is what it hears of ``dst``; 0 in a direction breaks both."""
    heard, said = number(lq), number(nlq)
    if heard <= 0 or said <= 0:
        survey.lose("link of OLSR that is broken in a direction")
        return
    survey.link(dst, src).losses.append(share(1 - heard))
    survey.link(src, dst).losses.append(share(1 - said))


def read_jsoninfo(s: Source, survey: Survey) -> None:
    """Reads topology, links, aliases and gateways."""
    survey.metrics["olsrd"] = "etx"
    for row in s.each(s.json.get("mid") or [], "mid"):
        main = row["main"]["ipAddress"] if isinstance(row.get("main"), dict) else row.get("main", row.get("ipAddress"))
        aliases = [a["ipAddress"] if isinstance(a, dict) else a for a in row.get("aliases", [])]
        survey.node(key_of(main, s.file), *(key_of(a, s.file) for a in aliases))
    for row in s.each(s.json.get("topology") or [], "topology"):
        ends = key_of(row["lastHopIP"], s.file), key_of(row["destinationIP"], s.file)
        _edge(survey, *ends, row["linkQuality"], row["neighborLinkQuality"])
    edges = {frozenset(ends) for ends in survey.links}
    for row in s.each(s.json.get("links") or [], "links"):
        me, peer = key_of(row["localIP"], s.file), key_of(row["remoteIP"], s.file)
        survey.node(me, file=s.file, name=s.owner)
        if frozenset((me, peer)) not in edges:
            _edge(survey, me, peer, row["linkQuality"], row["neighborLinkQuality"])
    for row in s.each(s.json.get("hna") or [], "hna"):
        if row["destination"] == "0.0.0.0" and row.get("genmask") in (0, "0.0.0.0"):
            survey.node(key_of(row["gateway"], s.file)).gateway = True
    found = s.json.get("gateways")
    for row in s.each(found.get("ipv4", []) if isinstance(found, dict) else found or [], "gateways"):
        if row.get("originator"):
            node = survey.node(key_of(row["originator"], s.file))
            node.gateway = True
            node.down_mbps = number(row.get("downlink") or 0) / 1000 or node.down_mbps
            node.up_mbps = number(row.get("uplink") or 0) / 1000 or node.up_mbps


def is_txtinfo(s: Source) -> bool:
    """True for tables of txtinfo."""
    return any(line.startswith("Table: ") for line in s.text.splitlines()[:50])


def read_txtinfo(s: Source, survey: Survey) -> None:
    """Reads topology, links, aliases and gateways; a row of the topology has the destination first."""
    survey.metrics["olsrd"] = "etx"
    table, header, rows = "", False, []
    for line in s.lines():
        if line.startswith("Table: "):
            table, header = line.removeprefix("Table: ").strip(), True
        elif header:
            header = False
        elif line.strip():
            rows.append((s.place, table, line.rstrip("\t").split("\t")))
    edges: set[frozenset[str]] = set()
    # Neighbors are part of the topology, if it is there.
    for place, table, cells in sorted(rows, key=lambda row: row[1] == "Links"):
        s.place = place
        if table == "Topology":
            last, destination = key_of(cells[1], s.file), key_of(cells[0], s.file)
            _edge(survey, last, destination, cells[2], cells[3])
            edges.add(frozenset((last, destination)))
        elif table == "Links":
            me, peer = key_of(cells[0], s.file), key_of(cells[1], s.file)
            survey.node(me, file=s.file, name=s.owner)
            if frozenset((me, peer)) not in edges:
                _edge(survey, me, peer, cells[3], cells[4])
        elif table == "HNA" and cells[0] == "0.0.0.0/0":
            survey.node(key_of(cells[1], s.file)).gateway = True
        elif table == "MID":
            survey.node(*(key_of(a, s.file) for cell in cells for a in cell.split(";") if a))
    s.place = ""
