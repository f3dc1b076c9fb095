"""Configurations of wmediumd: links by SNR or by loss, or positions with a path loss."""

import math
import re

from chappe.importing.source import MisreadError, Source
from chappe.importing.survey import Survey, address, share

NOISE_DBM = -91.0
"""Noise of wmediumd [dBm]."""

_SNR_DB = 30.0
"""SNR of a pair that is not listed [dB]."""

_FREQUENCY_HZ = 2.412e9


def is_this(s: Source) -> bool:
    """True for interfaces with ids."""
    return bool(re.search(r"ifaces\s*:", s.text) and re.search(r"\bids\s*=", s.text))


def _tuples(text: str, name: str, size: int) -> list[tuple[float, ...]] | None:
    found = re.search(rf"\b{name}\s*=\s*\((.*?)\)\s*;", text, re.DOTALL)
    if not found:
        return None
    inner = re.findall(r"\(([^()]*)\)", found[1] + (")" if found[1].count("(") > found[1].count(")") else ""))
    rows = [tuple(float(x) for x in row.split(",")) for row in inner]
    if any(len(row) != size for row in rows):
        raise MisreadError(f"`{name}` has an entry without {size} numbers")
    return rows


def read(s: Source, survey: Survey) -> None:
    """Reads a configuration; one direction of a pair holds for both."""
    text = re.sub(r"#[^\n]*|//[^\n]*|/\*.*?\*/", "", s.text, flags=re.DOTALL)
    if text.count("{") != text.count("}") or text.count("(") != text.count(")"):
        raise MisreadError("its brackets are not closed; is the file cut off?")
    ids = re.search(r"\bids\s*=\s*[\[(](.*?)[\])]", text, re.DOTALL)
    macs = [found for word in re.findall(r'"([^"]*)"', ids[1] if ids else "") if (found := address(word))]
    if not macs:
        raise MisreadError("`ifaces.ids` has no addresses")
    for mac in macs:
        survey.node(mac)
    model = re.search(r'\btype\s*=\s*"(\w+)"', text)
    if (model and model[1] == "path_loss") or re.search(r"\bpath_loss\s*:", text):
        _path_loss(text, macs, survey)
        return
    is_prob = bool(model and model[1] == "prob")
    links = _tuples(text, "links", 3) or []
    default = re.search(r"default_prob\s*=\s*([\d.]+)", text)
    rest = (float(default[1]) if default else 0.0) if is_prob else _SNR_DB
    values: dict[tuple[int, int], float] = {}
    for a, b, value in links:
        if max(a, b) >= len(macs):
            raise MisreadError(f"a link names interface {max(a, b):g}, and there are {len(macs)}")
        values[int(a), int(b)] = value
    unlisted = 0
    for a in range(len(macs)):
        for b in range(len(macs)):
            if a == b:
                continue
            if (value := values.get((a, b), values.get((b, a), math.nan))) != value:
                value, unlisted = rest, unlisted + 1
            if is_prob and value < 1:
                survey.link(macs[a], macs[b]).losses.append(share(value))
            elif not is_prob and value > 0:
                survey.link(macs[a], macs[b]).signals_dbm.append(NOISE_DBM + value)
    if unlisted and not (is_prob and rest >= 1):
        what = f"a loss of {rest:g}" if is_prob else f"{_SNR_DB:g} dB, a perfect link"
        survey.assumed[f"Pairs that wmediumd does not list have {what}: {unlisted} directions."] = None
    if not is_prob:
        survey.noise_dbm = NOISE_DBM


def _path_loss(text: str, macs: list[str], survey: Survey) -> None:
    """Signals of log-distance path loss between positions, as wmediumd computes them."""
    positions, powers = _tuples(text, "positions", 2), re.search(r"\btx_powers\s*=\s*\(([^)]*)\)", text)
    # Older versions have the name and the parameters in one list.
    exponent = re.search(r'(?:path_loss_exp\s*=|model_params\s*=\s*\(\s*"\w+"\s*,)\s*([\d.]+)', text)
    named = re.search(r'(?:model_name\s*=|model_params\s*=\s*\()\s*"(\w+)"', text)
    if positions is None or powers is None or not named or named[1] != "log_distance" or exponent is None:
        raise MisreadError("of path losses only `log_distance` with positions, tx_powers and path_loss_exp is read")
    dbm = [float(x) for x in powers[1].split(",")]
    if len(positions) != len(macs) or len(dbm) != len(macs):
        raise MisreadError(f"there are {len(macs)} interfaces, {len(positions)} positions and {len(dbm)} powers")
    first = 20 * math.log10(4 * math.pi * _FREQUENCY_HZ / 299_792_458)
    for mac, (x, y) in zip(macs, positions, strict=True):
        survey.node(mac).xy = (x, y)
    for a, (xa, ya) in enumerate(positions):
        for b, (xb, yb) in enumerate(positions):
            distance = max(math.hypot(xa - xb, ya - yb), 1.0)
            signal = dbm[a] - first - 10 * float(exponent[1]) * math.log10(distance)
            if a != b and signal > NOISE_DBM:
                survey.link(macs[a], macs[b]).signals_dbm.append(signal)
    if not survey.links:
        survey.assumed["By the path loss of wmediumd no pair of nodes has an SNR above 0 dB."] = None
    survey.noise_dbm = NOISE_DBM
