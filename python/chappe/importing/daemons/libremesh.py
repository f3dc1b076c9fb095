"""LibreMesh: ``wifi_links_info`` and ``bat_links_info`` of its shared state."""

from typing import Any

from chappe.importing.source import Source, latlon, number
from chappe.importing.survey import Survey, key_of, set_rate, share


def _values(s: Source) -> list[Any]:
    return list(s.json.values()) if isinstance(s.json, dict) else []


def is_wifi(s: Source) -> bool:
    """True for links of radios by host."""
    return bool(_values(s)) and all(isinstance(v, dict) and "links" in v and "src_loc" in v for v in _values(s))


def is_bat(s: Source) -> bool:
    """True for links of batman-adv by host."""
    rows = _values(s)
    return bool(rows) and all(isinstance(v, list) and v and "src_mac" in v[0] and "tq" in v[0] for v in rows)


def read_wifi(s: Source, survey: Survey) -> None:
    """Reads links: signal and ``rx_rate`` are those towards the host [dBm, kbit/s]."""
    for host, found in s.each(s.json, ""):
        node = survey.node(f"{s.file}#{host}", file=s.file, name=host)
        place = found["src_loc"]
        node.latlon = node.latlon or latlon(place.get("lat"), place.get("long"))
        for link in found["links"].values():
            me, peer = key_of(link["src_mac"], s.file), key_of(link["dst_mac"], s.file)
            survey.node(f"{s.file}#{host}", me)
            heard, said = survey.link(peer, me), survey.link(me, peer)
            if link.get("signal"):
                heard.signals_dbm.append(number(link["signal"]))
            for direction, name in ((heard, "rx_rate"), (said, "tx_rate")):
                if link.get(name):
                    set_rate(direction, number(link[name]) / 1000)


def read_bat(s: Source, survey: Survey) -> None:
    """Reads links; a TQ is that from the host to its neighbor."""
    survey.metrics["batman-adv IV"] = "tq"
    for host, links in s.each(s.json, ""):
        survey.node(f"{s.file}#{host}", file=s.file, name=host)
        for link in links:
            me = key_of(link["src_mac"], s.file)
            survey.node(f"{s.file}#{host}", me)
            if tq := number(link["tq"]):
                survey.link(me, key_of(link["dst_mac"], s.file)).losses.append(share(1 - tq / 255))
