"""Positions on the earth: GeoJSON, KML and GPX."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from chappe.importing.source import MisreadError, Source, latlon, number
from chappe.importing.survey import Survey, address, key_of


def is_geojson(s: Source) -> bool:
    """True for a collection of features."""
    return s.has("type", "features") and s.json["type"] == "FeatureCollection"


def _is(s: Source, name: str) -> bool:
    return s.xml is not None and s.xml.tag.rpartition("}")[2] == name


def is_kml(s: Source) -> bool:
    """True for a document of KML."""
    return _is(s, "kml")


def is_gpx(s: Source) -> bool:
    """True for a document of GPX."""
    return _is(s, "gpx")


def read_geojson(s: Source, survey: Survey) -> None:
    """Reads points as nodes, and lines between nodes as links; a coordinate is longitude, latitude."""
    by_place: dict[tuple[float, float], str] = {}
    lines: list[tuple[dict[str, Any], Any]] = []
    for i, feature in enumerate(s.each(s.json["features"], "features")):
        shape, more = feature.get("geometry"), feature.get("properties") or {}
        if shape is None:
            survey.lose("feature without a place")
        elif shape["type"] == "Point":
            lon, lat = shape["coordinates"][:2]
            name = str(more.get("name") or more.get("hostname") or more.get("title") or "")
            key = key_of(more.get("id") or more.get("node_id") or feature.get("id") or name or i, s.file)
            survey.node(key, file=s.file, name=name).latlon = latlon(lat, lon)
            by_place[round(lat, 6), round(lon, 6)] = key
        elif shape["type"] == "LineString" and len(shape["coordinates"]) == 2:
            lines.append((more, shape["coordinates"]))
        else:
            survey.lose(f"feature that is a {shape['type']}")
    if not by_place:
        raise MisreadError("it has no points, which would be nodes")
    for more, ends in lines:
        src, dst = (by_place.get((round(lat, 6), round(lon, 6))) for lon, lat, *_ in ends)
        if "source" in more and "target" in more:
            src, dst = key_of(more["source"], s.file), key_of(more["target"], s.file)
        if src is None or dst is None or survey.find(src) not in survey.nodes or survey.find(dst) not in survey.nodes:
            survey.lose("line that joins no two nodes")
            continue
        there = survey.link(src, dst)
        if "signal_dbm" in more:
            there.signals_dbm.append(number(more["signal_dbm"]))


def _children(of: ET.Element, name: str) -> Iterator[ET.Element]:
    return (e for e in of.iter() if e.tag.rpartition("}")[2] == name)


def _text(of: ET.Element, name: str) -> str:
    found = next(_children(of, name), None)
    return "" if found is None or found.text is None else found.text.strip()


def read_kml(s: Source, survey: Survey) -> None:
    """Reads placemarks with a point as nodes; a coordinate is longitude, latitude."""
    assert s.xml is not None
    marks = list(_children(s.xml, "Placemark"))
    for i, mark in enumerate(s.each(marks, "Placemark")):
        point = next(_children(mark, "Point"), None)
        if point is None:
            survey.lose("placemark that is no point")
            continue
        lon, lat = _text(point, "coordinates").split(",")[:2]
        name = _text(mark, "name")
        key = address(name) or f"{s.file}#{i}"
        survey.node(key, file=s.file, name=name).latlon = latlon(lat, lon)


def read_gpx(s: Source, survey: Survey) -> None:
    """Reads waypoints as nodes; tracks and routes are left out."""
    assert s.xml is not None
    for i, point in enumerate(s.each(list(_children(s.xml, "wpt")), "wpt")):
        survey.node(f"{s.file}#{i}", file=s.file, name=_text(point, "name")).latlon = latlon(
            point.attrib["lat"], point.attrib["lon"]
        )
    for name in ("trk", "rte"):
        for _ in _children(s.xml, name):
            survey.lose("track or route of GPX")
    if not any(_children(s.xml, "wpt")):
        raise MisreadError("it has no waypoints, which would be nodes")
