"""The playground: one HTML file with an editor of scenarios, the simulator, tables over seeds, and the player."""

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import jinja2

from chappe import RESULTS_EPOCH, __version__, page
from chappe.measures import MEASURES
from chappe.scenario.scenario import schema
from chappe.stats import quantile_t

CONFIDENCE = 0.95
"""Confidence of the intervals."""

SHOWN = ("goodput_bps", "throughput_bps", "jain_index", "mean_window_segments", "mean_rtt_s", "mean_delay_s")
"""Measures of the table: those whose intervals need no more than Student's t."""

SEEDS = 100
"""Largest number of seeds."""

_DEGREES = 1000
"""Degrees of freedom that the page knows quantiles of; for more it takes the last one, which is hardly wider."""


def playground(examples: Mapping[str, str]) -> str:
    """The playground as HTML, which works offline.

    Args:
        examples: Texts of scenarios by name, which need no other files; the editor begins with the first.

    Raises:
        ValueError: If the module of the simulator was not built.
    """
    packed = page.module()
    if packed is None:
        raise ValueError(f"the playground needs the simulator as a module: {page.WITHOUT}")
    script = page._read("module.js") + _read("statistics.js") + _read("playground.js")
    style = page._read("page.css") + _read("playground.css")
    player_script, player_style = page.player_script(), page._read("page.css")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    player = environment.from_string(page._read("page.html.j2"))
    section = "".join(
        player.blocks["player"](
            player.new_context(
                {"steps": page.STEPS, "sliders": [], "slider": "run.seed", "names": page.CHANGEABLE}
                | {"wires": True, "several": False, "taught": None}
            )
        )
    )
    return environment.from_string(_read("playground.html.j2")).render(
        seeds=SEEDS,
        examples=list(examples),
        unpacker=page._text(packed.unpacker),
        module=page._text(packed.core),
        data=page._embedded(_data(examples)),
        worker=page._read("module.js") + _read("statistics.js") + _read("worker.js"),
        player=page._embedded({"section": section, "script": player_script, "style": player_style}),
        script=script,
        style=style,
        hashes=[page._hash(text) for text in (script, player_script)],
        style_hashes=[page._hash(text) for text in (style, player_style)],
        version=__version__,
        epoch=RESULTS_EPOCH,
    )


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _data(examples: Mapping[str, str]) -> dict[str, Any]:
    """Data for the script."""
    measures = {m.name: m for m in MEASURES}
    shown = [measures[name] for name in SHOWN]
    return {
        "examples": examples,
        "settings": list(_settings(schema(), "")),
        "measures": [{"name": m.name, "label": m.label, "unit": m.unit, "scale": m.scale} for m in shown],
        "quantiles": [quantile_t(CONFIDENCE, df) for df in range(1, _DEGREES + 1)],
        "tables": page._CHECKED,
    }


def _settings(node: Mapping[str, Any], name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Every setting with its meaning and its words; those of list entries have the name of the list."""
    for key, below in node.get("properties", {}).items():
        path = f"{name}.{key}" if name else key
        yield path, " ".join(below.get("description", "").split()), list(_words(below))
        yield from _settings(below, path)
        yield from _settings(below.get("items", {}), path)


def _words(node: Mapping[str, Any]) -> Iterator[str]:
    """Values that a setting may have, as TOML."""
    for value in node.get("enum", ["true", "false"] if node.get("type") == "boolean" else []):
        yield json.dumps(value) if "enum" in node else value
    for choice in node.get("anyOf", []):
        yield from _words(choice)
