"""Rows of openwifimap (Freifunk Berlin)."""

from chappe.importing.source import Source, latlon, number
from chappe.importing.survey import Survey, address, share

_WIRE_COST = 1024
"""Cost of a perfect radio link of olsrd; wires cost less."""


def is_this(s: Source) -> bool:
    """True for rows of a database with ``latlng``."""
    top = s.json.get("JSON", s.json) if isinstance(s.json, dict) else {}
    rows = top.get("rows") if isinstance(top, dict) else None
    return isinstance(rows, list) and any("latlng" in r.get("value", {}) or "links" in r.get("value", {}) for r in rows)


def read(s: Source, survey: Survey) -> None:
    """Reads rows; ``linkQuality`` and ``signal`` are what the node hears."""
    rows = s.json.get("JSON", s.json)["rows"]
    there = {row["value"]["id"] for row in rows}
    for row in s.each(rows, "rows"):
        value = row["value"]
        me = f"{s.file}#{value['id']}"
        node = survey.node(me, file=s.file, name=str(value.get("hostname") or value["id"]))
        place = value.get("latlng") or (None, None)
        node.latlon = node.latlon or latlon(*place)
        for link in value.get("links") or []:
            if link["id"] not in there:
                survey.lose("link to a node without a row")
                continue
            peer, olsr = f"{s.file}#{link['id']}", link.get("olsr_ipv4") or {}
            for key, text in ((me, olsr.get("localIP")), (peer, olsr.get("remoteIP")), (peer, link.get("mac"))):
                if text and (found := address(str(text))):
                    survey.node(key, found)
            if olsr:
                survey.metrics["olsrd"] = "etx"
            signal = number(link.get("signal") or 0)
            is_wire = not signal and number(olsr.get("linkCost") or _WIRE_COST) < _WIRE_COST
            heard, said = (survey.link(a, b, "wire" if is_wire else "radio") for a, b in ((peer, me), (me, peer)))
            if is_wire:
                continue
            if signal:
                heard.signals_dbm.append(signal)
            if number(olsr.get("linkQuality") or 0) > 0:
                heard.losses.append(share(1 - number(olsr["linkQuality"])))
            wifi = link.get("wifi") or {}
            for direction, name in ((heard, "rx_mcs"), (said, "tx_mcs")):
                if isinstance(wifi.get(name), int):
                    direction.mcs, direction.streams = wifi[name] % 8, wifi[name] // 8 + 1
                    direction.width_mhz = int(wifi.get("rx_mhz") or 20)
