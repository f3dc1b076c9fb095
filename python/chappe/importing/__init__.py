"""Networks of files that people have: maps, dumps of daemons and drivers, configurations of emulators.

A format is one file with a function that recognizes it and one that reads it, and a line of :data:`FORMATS`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from chappe.importing.daemons import aredn, babel, batman, iw, libremesh, olsrd, oonf, respondd
from chappe.importing.emulators import core, mininet_wifi, ns2, wmediumd
from chappe.importing.maps import geo, hopglass, meshnet_lab, meshviewer, netjson, openwifimap
from chappe.importing.scenario import Written, written
from chappe.importing.source import Format, MisreadError, Source
from chappe.importing.survey import Survey
from chappe.scenario.scenario import read_text

FORMATS = (
    Format("meshviewer", "a map of Meshviewer", meshviewer.is_this, meshviewer.read),
    Format("hopglass", "nodes of HopGlass", hopglass.is_nodes, hopglass.read_nodes),
    Format("hopglass-graph", "a graph of HopGlass", hopglass.is_graph, hopglass.read_graph),
    Format("netjson", "NetJSON", netjson.is_this, netjson.read),
    Format("geojson", "GeoJSON", geo.is_geojson, geo.read_geojson),
    Format("openwifimap", "rows of openwifimap", openwifimap.is_this, openwifimap.read),
    Format("aredn", "sysinfo of AREDN", aredn.is_this, aredn.read),
    Format("respondd", "an answer of respondd", respondd.is_this, respondd.read),
    Format("olsrd-jsoninfo", "jsoninfo of olsrd", olsrd.is_jsoninfo, olsrd.read_jsoninfo),
    Format("oonf", "nhdpinfo of OONF", oonf.is_this, oonf.read),
    Format("libremesh-wifi", "links of radios of LibreMesh", libremesh.is_wifi, libremesh.read_wifi),
    Format("libremesh-bat", "links of batman-adv of LibreMesh", libremesh.is_bat, libremesh.read_bat),
    Format("batctl-json", "originators of batctl as JSON", batman.is_json, batman.read_json),
    Format("alfred-vis", "what alfred collects of batman-adv", batman.is_alfred, batman.read_alfred),
    Format("meshnet-lab", "a graph of meshnet-lab", meshnet_lab.is_this, meshnet_lab.read),
    Format("kml", "KML", geo.is_kml, geo.read_kml),
    Format("gpx", "GPX", geo.is_gpx, geo.read_gpx),
    Format("core-xml", "a scenario of CORE", core.is_xml, core.read_xml),
    Format("core-imn", "a drawing of CORE", core.is_imn, core.read_imn),
    Format("batctl", "a table of batctl", batman.is_batctl, batman.read_batctl),
    Format("babeld", "a dump of babeld", babel.is_babeld, babel.read_babeld),
    Format("bird", "neighbors of Babel in BIRD", babel.is_bird, babel.read_bird),
    Format("olsrd-txtinfo", "txtinfo of olsrd", olsrd.is_txtinfo, olsrd.read_txtinfo),
    Format("iw-station", "stations of iw", iw.is_station, iw.read_station),
    Format("iw-survey", "channels of iw", iw.is_survey, iw.read_survey),
    Format("iw-scan", "a scan of iw", iw.is_scan, iw.read_scan),
    Format("iw-mpath", "mesh paths of iw", iw.is_mpath, iw.read_mpath),
    Format("wmediumd", "a configuration of wmediumd", wmediumd.is_this, wmediumd.read),
    Format("mininet-wifi", "a program of Mininet-WiFi", mininet_wifi.is_this, mininet_wifi.read),
    Format("ns2", "Tcl of ns-2", ns2.is_this, ns2.read),
)
"""All formats, in the order in which they are tried."""


DUMPS = ("batctl", "babeld", "bird", "olsrd-txtinfo", "iw-station", "iw-survey", "iw-scan", "iw-mpath")
"""Formats of texts that programs print, which end with a newline."""


class Named(NamedTuple):
    """A file to import.

    Attributes:
        file: Its name.
        owner: Name of the node on which it was made; empty: the file says so, or nobody.
    """

    file: str
    owner: str = ""


def read(files: Sequence[Named], format_: str | None = None) -> Written:
    """Imports files of one network.

    Args:
        files: The files.
        format_: Format of all of them; ``None``: each is recognized by its content.

    Raises:
        MisreadError: If a file cannot be imported; the message has the mistakes of all files.
    """
    survey, found, wrong = Survey(), [], []
    for file, owner in files:
        source = Source(file, "", owner)
        survey.begin(file, owner)
        try:
            source.text = _text(file)
            form = _recognized(source, format_)
            if form.name in DUMPS and not source.text.endswith("\n"):
                line = len(source.text.splitlines())
                raise MisreadError(
                    f"line {line}: it has no end: is the file cut off? If it is whole, end it with a newline"
                )
            form.read(source, survey)
            found.append((file, form.title))
        except MisreadError as e:
            wrong.append(f"{file}: {_at(source)}{e}")
        except KeyError as e:
            wrong.append(f"{file}: {_at(source)}it has no {e}")
        except IndexError:
            wrong.append(f"{file}: {_at(source)}a value is missing")
        except (TypeError, AttributeError):
            wrong.append(f"{file}: {_at(source)}it is not in the form of its format")
        except ValueError as e:
            reason = _NO_NUMBER.sub(r"\1 is no number", str(e))
            wrong.append(f"{file}: {_at(source)}it is not in the form of its format: {reason}")
    if wrong:
        raise MisreadError("\n".join(wrong))
    survey.merge()
    return written(survey, found)


_NO_NUMBER = re.compile(r"(?:could not convert string to float: |invalid literal for int\(\) with base 10: )(.*)")
"""Message of Python about a text that is no number."""


def _text(file: str) -> str:
    try:
        text = read_text(Path(file))
    except UnicodeDecodeError:
        raise MisreadError("it is not UTF-8 text") from None
    except OSError as e:
        raise MisreadError(f"it cannot be read: {(e.strerror or str(e)).lower()}") from None
    if not text.strip():
        raise MisreadError("it is empty")
    return text


def _at(source: Source) -> str:
    return f"{source.place}: " if source.place else ""


def _recognized(source: Source, name: str | None) -> Format:
    """The format of a file."""
    known = ", ".join(form.name for form in FORMATS)
    if name is not None:
        if (form := next((form for form in FORMATS if form.name == name), None)) is None:
            raise MisreadError(f"there is no format {name}. Known: {known}")
        return form
    form_of = next((form for form in FORMATS if form.is_this(source)), None)
    if form_of is None:
        raise MisreadError(f"its format is not recognized; name it by --format. Known: {known}")
    return form_of
