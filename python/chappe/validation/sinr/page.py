"""The page of the comparison: what agrees, what does not and why, every case."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chappe import RESULTS_EPOCH, __version__, show
from chappe.validation.sinr.cases import HERE

if TYPE_CHECKING:
    from chappe.validation.sinr.compare import Comparison


def page(found: "Sequence[Comparison]") -> str:
    """The page."""
    notes = HERE.joinpath("notes.md").read_text(encoding="utf-8").strip()
    head = [
        "# Validation of SINR and rate control against ns-3.37",
        "",
        f"**{answer(found)}**",
        "",
        "Goodput over one link at a fixed rate agrees when the mean of five runs of ours differs from that of ns-3 by",
        "at most 3 %, or by two standard errors of the number of packets that it delivered; all other goodputs, when",
        "they differ by at most 10 %.",
        "",
        f"Written by `chappe validate sinr` with Chappe {__version__}, results epoch {RESULTS_EPOCH}.",
    ]
    counts = ["| cases | agree | of | largest difference |", "|---|---|---|---|"]
    for kind, own in by_kind(found).items():
        counts.append(f"| {kind} | {sum(c.agrees for c in own)} | {len(own)} | {percent(worst(own))} |")
    parts = [head, counts, [notes]]
    if unlike := [c for c in found if not c.agrees]:
        parts.append(["## Cases that do not agree", "", *_table(unlike)])
    parts.append(["## All cases", "", *_table(found)])
    return "\n\n".join("\n".join(p) for p in parts) + "\n"


def answer(found: "Sequence[Comparison]") -> str:
    """How many cases agree, and how many more do once Minstrel is read as ns-3 reads it."""
    agree, more = sum(c.agrees for c in found), sum(not c.agrees and c.explained for c in found)
    rest = len(found) - agree - more
    read = f"; {more} more do when Minstrel is read as ns-3 reads it" if more else ""
    return f"{agree} of {len(found)} cases agree{read}{f'; {rest} do not' if rest else ''}."


def by_kind(found: "Sequence[Comparison]") -> "dict[str, list[Comparison]]":
    """The cases by what they count with."""
    kinds: dict[str, list[Comparison]] = {}
    for c in found:
        kinds.setdefault(c.case.kind, []).append(c)
    return kinds


def worst(found: "Sequence[Comparison]") -> float:
    """The largest difference, of those cases that deliver at least a tenth of what the best of them does."""
    most = max(c.ns3 for c in found)
    return max((c.off for c in found if c.ns3 >= most / 10), key=abs)


def percent(share: float) -> str:
    """A relative difference."""
    return f"{100 * share:+.1f} %"


def values(c: "Comparison") -> tuple[str, str, str, str]:
    """Goodput of ns-3 and of ours [kbit/s], the difference, and that with ns-3's reading of Minstrel."""
    read = percent(c.as_ns3.mean / c.ns3 - 1) if c.as_ns3 and c.ns3 else ""
    off = percent(c.off) if c.ns3 else ""
    return show.number(c.ns3), show.number(c.ours.mean), off, read


def _table(found: "Sequence[Comparison]") -> list[str]:
    lines = ["| case | ns-3 [kbit/s] | ours | difference | read as ns-3 does | agrees |", "|---|---|---|---|---|---|"]
    return lines + [f"| {c.case.title} | {' | '.join(values(c))} | {'yes' if c.agrees else '**no**'} |" for c in found]
