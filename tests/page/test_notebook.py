"""The notebook of the examples, without Jupyter: its cells run, and what they show is small and has no scripts."""

import ast
import json
import struct
from typing import Any

import chappe
import pytest
from chappe.plot.figure import Figure
from chappe_papers.paper import Paper
from command import REPOSITORY
from rich import console

NOTEBOOK = json.loads((REPOSITORY / "examples" / "first_look.ipynb").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shown() -> list[Any]:
    """Outputs of the cells: the value of the last line of each."""
    names: dict[str, Any] = {}
    values = []
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code":
            *body, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(body, []), "cell", "exec"), names)
            assert isinstance(last, ast.Expr), "a cell shows something"
            values.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    return values


def test_the_notebook_is_saved_without_outputs() -> None:
    assert all(not cell.get("outputs") for cell in NOTEBOOK["cells"])


def test_every_cell_shows_what_a_notebook_can_show(shown: list[Any]) -> None:
    assert {type(value) for value in shown} >= {chappe.Scenario, chappe.Results, chappe.Study, Paper}
    for value in shown:
        if isinstance(value, Figure):
            data, size = value._repr_png_()
            assert data.startswith(b"\x89PNG")
            assert struct.unpack(">II", data[16:24])[0] == pytest.approx(size["width"] * 200 / 96, abs=2)
        elif hasattr(value, "_repr_html_"):
            assert len(value._repr_html_()) < 30_000
            assert "<script" not in value._repr_html_()
        else:
            assert len(repr(value)) > 100


def test_texts_go_to_standard_output_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """There rich would display each line, and the value of the cell would be empty."""
    why = chappe.run(chappe.Scenario.chain(1, stop="55 delivered")).why()
    text = repr(why)
    monkeypatch.setattr(console, "_is_jupyter", lambda: True)
    assert repr(why) == text
    assert "Time spent by flows" in text
