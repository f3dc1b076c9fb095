"""The figures and tables."""

import math
import statistics
from collections.abc import Iterator, Sequence

from chappe import plot
from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.judging.judge import times
from chappe_papers.pages.figures import SHARE, Chart, Legend, Panel, Picture, Rows, Sheet, cell, panel
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.pairs import Paired
from chappe_papers.su2008 import informed, microscopic
from chappe_papers.su2008.design import (
    AGGREGATE,
    COUNTED,
    DELAY,
    JAIN,
    MBPS,
    MEASURES,
    MEDIAN,
    NINETIETH,
    RESENT,
    TENTH,
    WINDOW,
    mix,
    row,
)
from chappe_papers.su2008.points import (
    COLUMNS,
    FROZEN,
    HOPS,
    HOSTS,
    INFORMED,
    LIMITS,
    PAPERS,
    RATES,
    ROWS,
    SCHEMES,
    Point,
)
from chappe_papers.su2008.targets import (
    BUFFERS,
    CALIBRATE,
    CALIBRATED,
    PREDICT,
    Prediction,
    kind_of,
    predictions,
    targets,
)

X_NAME, X_LABEL = "hops", "hops"
LIMIT_NAME, LIMIT_LABEL = "limit_segments", "window limit [segments]"

_CURVES = {
    "fixed": "11 Mbit/s", "auto": "autorate", "fixed_rts": "11 Mbit/s, RTS and CTS",
    "auto_rts": "autorate, RTS and CTS",
}  # fmt: skip
_NAMES = _CURVES | {name: title for name, (title, _) in SCHEMES.items()} | {"reno": "Buf 50"}
LEGEND = Legend(_NAMES, {name: n for n, name in enumerate(_NAMES)})
"""Names of curves, and one color for each."""


def _rate(layout: str, *measures: str) -> Chart:
    def one(x: Sequence[int], measure: str) -> Panel:
        return panel(x, lambda v, h: (Point(layout, int(h), v), measure), MEASURES[measure], place=measure)

    def panels(x: Sequence[int]) -> list[Panel]:
        return [one(x, m) for m in measures]

    one_flow = "one flow: the median path, and where the error bars of the paper end"
    title = one_flow if layout == "path" else "four flows on disjoint paths, together"
    return Chart(f"{title}", X_NAME, X_LABEL, ("fixed", "auto"), panels, HOPS)


def _limits(host: str, curves: Sequence[str]) -> Chart:
    def point(v: str, limit: float) -> tuple[Point, str]:
        rate, _, rts = v.partition("_")
        return Point("path", 5, rate, "reno", int(limit), int(bool(rts)), host), AGGREGATE

    def of_path(number: int) -> Panel:
        def value(data: Estimates, v: str, limit: float) -> Estimate | None:
            e = data.get(*point(v, limit))
            by_path = dict(e.values) if isinstance(e, Paired) else {}
            return Estimate.of([by_path[number]]) if number in by_path else None

        m = MEASURES[AGGREGATE]
        return Panel(LIMITS, None, m.label, f"path {number}", scale=m.scale, derived=value)

    def panels(_: Sequence[int]) -> list[Panel]:
        mean = panel(LIMITS, point, MEASURES[AGGREGATE], "" if host else "the mean of all paths")
        return [mean] if host else [*map(of_path, range(1, 6)), mean]

    title = f"{HOSTS[host].title}: window limits, 5 hops" if host else "five paths, and all: window limits, RTS, 5 hops"
    return Chart(title, LIMIT_NAME, LIMIT_LABEL, tuple(curves), panels, (1, 2, 4, 7, 13, 20, 30, 50), None, 8)


def _buffers(host: str) -> Chart:
    def panels(x: Sequence[int]) -> list[Panel]:
        return [panel(x, lambda v, h: (Point("path", int(h), scheme=v, host=host), AGGREGATE), MEASURES[AGGREGATE])]

    title = f"{HOSTS[host].title.removesuffix(' (VII)')}: buffers of 2, 4 and 50 packets"
    return Chart(title, X_NAME, X_LABEL, ("buf2", "buf4", "reno"), panels, HOPS)


def _layout(title: str, _: Estimates) -> Picture:
    """Figure 3: four paths in four rows of the grid."""
    nodes = [(float(c), float(ROWS - r), f"{COLUMNS * r + c}") for r in range(ROWS) for c in range(COLUMNS)]
    links = [(i, i + 1, f"Path-{i // COLUMNS + 1}" if i % COLUMNS == 2 else "") for i in range(len(nodes))
             if i % COLUMNS < COLUMNS - 1]  # fmt: skip
    rows = [[f"Path-{r + 1}", *(str(COLUMNS * r + c) for c in range(COLUMNS))] for r in range(ROWS)]
    header = ["path", *(f"after {c} hops" for c in range(COLUMNS))]
    return Picture(title, plot.network(nodes, links, title=title), "nodes", header, rows)


FIGURES: dict[int, Chart] = {
    1: _rate("path", MEDIAN, TENTH, NINETIETH),
    2: Chart("one flow over 5 hops: window, round-trip time, throughput", picture=microscopic.dynamics),
    3: Chart("four disjoint paths", picture=_layout),
    4: _rate("rows", AGGREGATE),
    5: Chart("the interaction cycle of one flow over 5 hops", picture=microscopic.cycle),
    6: _limits("", tuple(_CURVES)),
    **{7 + n: _limits(host, ("fixed", "auto")) for n, host in
       enumerate(("mesh_europe", "mesh_us", "europe_mesh", "us_mesh"))},
    **{11 + n: _buffers(host) for n, host in
       enumerate(("us_mesh", "mesh_us", "europe_mesh_later", "mesh_europe_later"))},
}  # fmt: skip
"""The figures by number."""


# ---- predicted against measured ----


def _groups(numbers: Sequence[Prediction]) -> list[plot.Group]:
    by_kind: dict[str, list[tuple[float, float, float, float]]] = {}
    for p in numbers:
        low, high = (v if math.isfinite(v) else p.ours.mean for v in p.ours.interval())
        name = kind_of(p.target)
        by_kind.setdefault(name, []).append((p.target.number, p.ours.mean, low, high))
    return [plot.Group(name, points, name == CALIBRATED) for name, points in by_kind.items()]


def median_error(numbers: Sequence[Prediction]) -> float:
    """The median of the errors, as a share; those that were used to calibrate do not count."""
    return statistics.median(p.error for p in numbers if p.target.role == PREDICT and not math.isnan(p.error))


def _agreement(title: str, data: Estimates) -> Picture:
    """The informed model against measurements; the title has the frozen one, too."""
    before, after = (informed.counted(informed.of_model(data, model)) for model in (FROZEN, INFORMED))
    scores = [informed.Score.of(numbers) for numbers in (before, after)]
    errors, shares = ([f"{100 * v:.0f}" for v in values] for values in (
        [s.median for s in scores], [sum(s.within) / len(s.within) for s in scores]))  # fmt: skip
    title = (
        f"{title}: {len(after)} numbers that chose nothing, {shares[1]} % within 25 % (frozen model {shares[0]} %), "
        f"median error {errors[1]} % ({errors[0]} %)"
    )
    numbers = [p for p in predictions(data, (CALIBRATE, PREDICT)) if p.ratio > 0]
    rates = [p for p in numbers if p.target.unit == "kbit/s"]
    rest = [p for p in numbers if p.target.unit != "kbit/s"]
    panels = [
        ("throughput [kbit/s]", _groups(rates)),
        ("windows [segments], Jain's index, ratios, times", _groups(rest)),
    ]
    drawn = plot.agreement(panels, title=title, x_label="measured on IvyNet", y_label="here, informed model")
    worst = sorted(numbers, key=lambda p: -p.error)[:5]
    rows = [[p.target.id, p.target.quantity, p.target.paper, show.number(p.ours.mean), f"{p.ratio:.2f}"] for p in worst]
    header = ["name", "what", "measured", "here", "ratio"]
    return Picture(title, drawn, "the five largest errors", header, rows)


def _drawn(data: Estimates) -> Iterator[Estimate]:
    """The numbers of the picture, and those of its title."""
    for seen in (data, data.seen_as(informed.frozen)):
        yield from (p.ours for p in predictions(seen, (CALIBRATE, PREDICT)))


KEY = Chart("Here against measured", picture=_agreement, asks=_drawn)
"""The figure that says most."""


# ---- tables ----


def _reported(name: str) -> str:
    return next((t.paper for t in targets() if t.id == name), "-")


def _resent_rows(ours: Estimates, _: Estimates) -> Rows:
    return [[title, _reported(f"T1-{short}"), cell(ours.get(Point("path", 5, rate), RESENT))]
            for rate, short, title in (("fixed", "11", "11 Mbit/s"), ("auto", "auto", "autorate"))]  # fmt: skip


def _jain_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for rate, short in (("fixed", "11"), ("auto", "auto")):
        rows.append([RATES[rate], "paper", *(_reported(f"T2-{short}-{h}") for h in HOPS)])
        rows.append([RATES[rate], "here", *(cell(ours.get(Point("rows", h, rate), JAIN), limits=SHARE) for h in HOPS)])
    return rows


def _mix_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for node in range(COLUMNS - 1):
        rows.append([str(node), "paper", *_reported(f"T3-{node}").split(" / ")])
        for counted in COUNTED:
            shares = [ours.get(Point("path"), mix(counted, node, m)) for m in MBPS]
            rows.append([str(node), counted, *(cell(e, 100, SHARE) for e in shares)])
    return rows


def _internet_rows(ours: Estimates, _: Estimates) -> Rows:
    reported = {
        "mesh_europe": "1077",
        "europe_mesh": _reported("T4-eum"),
        "mesh_us": _reported("T4-mus"),
        "us_mesh": _reported("T4-us"),
    }
    ping = ours.get(Point("ping", 5, "fixed"), DELAY)
    rows = []
    for name, kbps in reported.items():
        host = HOSTS[name]
        wire = host.upstream_kbps if host.upload else host.downstream_kbps
        rtt = "-" if ping is None else f"{host.rtt_ms + 2e3 * ping.mean:.0f}"
        here = cell(ours.get(Point("path", 5, "fixed", host=name), AGGREGATE), 1e-3)
        rows.append([host.title, f"{host.rtt_ms:g}", rtt, f"{wire:,.0f}", kbps, here])
    return rows


def _scheme_rows(_: Estimates, __: Estimates) -> Rows:
    settings = [(title, ", ".join(f"{n} = {v}" for n, v in changes.items())) for title, changes in SCHEMES.values()]
    return [[title, changes or "the preset"] for title, changes in settings]


def _relative(ours: Estimates, p: Point) -> str:
    """Throughput compared with that of Reno."""
    for a, b in ours.both(p, p._replace(scheme="reno"), AGGREGATE):
        return f"{100 * (times(a, b).mean - 1):+.0f} %"
    return "-"


def _disjoint_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for h in HOPS:
        for scheme in PAPERS:
            p = Point("rows", h, scheme=scheme)
            name = SCHEMES[scheme][0].removeprefix("TCP ")
            paths = [cell(ours.get(p, row(n)), 1e-3).partition(" ")[0] for n in range(ROWS)]
            rows.append([str(h), name, _reported(f"T6P-{name}-{h}"), " ".join(paths), _reported(f"T6-{name}-{h}"),
                         cell(ours.get(p, AGGREGATE), 1e-3), _relative(ours, p), _reported(f"T6J-{name}-{h}"),
                         cell(ours.get(p, JAIN), limits=SHARE)])  # fmt: skip
    return rows


def _shared_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for h in HOPS:
        for scheme in ("reno", "clamp3", "vegas", "buf2", "buf2_beside"):
            p = Point("shared", h, scheme=scheme)
            name = SCHEMES[scheme][0].removeprefix("TCP ")
            reported = "5594" if (name, h) == ("Clamping 3", 1) else _reported(f"T7-{name}-{h}")
            rows.append([str(h), name, reported, cell(ours.get(p, AGGREGATE), 1e-3), _relative(ours, p),
                         _reported(f"T7J-{name}-{h}"), cell(ours.get(p, JAIN), limits=SHARE)])  # fmt: skip
    return rows


_WAYS = {"US": "mesh_us", "EU": "mesh_europe_later"}


def _hybrid_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for h in HOPS:
        for scheme in ("reno", "vegas", "buf2", "buf2_beside"):
            name = SCHEMES[scheme][0].removeprefix("TCP ")
            cells = []
            for short, host in _WAYS.items():
                p = Point("path", h, scheme=scheme, host=host)
                cells += [_reported(f"T8-{short}-{name}-{h}"), cell(ours.get(p, AGGREGATE), 1e-3), _relative(ours, p)]
            rows.append([str(h), name, *cells])
    return rows


def _window_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for short, host in _WAYS.items():
        for h in HOPS:
            cells = []
            for buffer, scheme in BUFFERS.items():
                e = ours.get(Point("path", h, scheme=scheme, host=host), WINDOW)
                cells += [_reported(f"T9-{short}-{buffer}-{h}"), cell(e)]
            beside = ours.get(Point("path", h, scheme="buf2_beside", host=host), WINDOW)
            rows.append([short, str(h), *cells[:2], cell(beside), *cells[2:]])
    return rows


TABLES: dict[int, Sheet] = {
    1: Sheet("retransmitted segments", ("rate", "paper", "here"), _resent_rows),
    2: Sheet("Jain's index of four disjoint paths", ("rate", "of", *(f"{h} hops" for h in HOPS)), _jain_rows),
    3: Sheet("rates of data packets [%]", ("node", "counts", *(f"{m} Mbit/s" for m in MBPS)), _mix_rows),
    4: Sheet("paths over the Internet, 11 Mbit/s",
             ("path", "RTT of the wire [ms]", "RTT [ms]", "wire [kbit/s]", "paper [kbit/s]", "here [kbit/s]"),
             _internet_rows),
    5: Sheet("schemes", ("scheme", "settings"), _scheme_rows),
    6: Sheet("four flows on disjoint paths, autorate",
             ("hops", "scheme", "paper: paths, sorted", "here", "paper: all [kbit/s]", "here [kbit/s]", "against Reno",
              "paper: Jain", "here, Jain"), _disjoint_rows),
    7: Sheet("four flows on one path, autorate",
             ("hops", "scheme", "paper [kbit/s]", "here [kbit/s]", "against Reno", "paper: Jain", "here, Jain"),
             _shared_rows),
    8: Sheet("one flow to a remote host, autorate",
             ("hops", "scheme", "US: paper [kbit/s]", "US: here", "US: against Reno", "EU: paper [kbit/s]", "EU: here",
              "EU: against Reno"), _hybrid_rows),
    9: Sheet("mean window [segments]",
             ("to", "hops", "buffer 2: paper", "here", "here, 2 beside", "4: paper", "here, 4", "50: paper",
              "here, 50"),
             _window_rows),
}  # fmt: skip
"""The tables by number."""
