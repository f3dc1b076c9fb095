"""The notebook of the examples, run by Jupyter's client: ``make test-pages``."""

import importlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import pytest
from in_browser import HOSTILE, LOOKS, Opened

# Not in requirements.lock, because nothing else needs them.
nbclient: Any = importlib.import_module("nbclient")
nbformat: Any = importlib.import_module("nbformat")
playwright: Any = importlib.import_module("playwright.sync_api")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_look.ipynb"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        started = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """The outputs of all cells, by kind, of the notebook as it is saved."""
    notebook = nbformat.read(NOTEBOOK, 4)
    folder = tmp_path_factory.mktemp("notebook")
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    nbformat.write(notebook, folder / "run.ipynb")
    saved = (folder / "run.ipynb").read_text(encoding="utf-8")
    assert len(saved) < 500_000
    assert "<script" not in saved
    cells = [cell for cell in json.loads(saved)["cells"] if cell["cell_type"] == "code"]
    found: list[dict[str, str]] = []
    for cell in cells:
        # Nothing on standard error, and one value a cell.
        (output,) = cell["outputs"]
        assert output["output_type"] == "execute_result"
        found.append({kind: "".join(data) for kind, data in output["data"].items()})
    return found


def test_the_notebook_runs(outputs: list[dict[str, str]]) -> None:
    kinds = [next(k for k in ("text/html", "image/png", "text/plain") if k in output) for output in outputs]
    assert kinds.count("image/png") == 3
    assert kinds.count("text/html") == 4
    assert all(len(output.get("text/html", "")) < 30_000 for output in outputs)


def hostile(folder: Path) -> list[str]:
    """Texts of users in what cells show."""
    flow = {"src": 0, "dst": 1}
    scenario = chappe.Scenario({"topology.hops": 1, "flow": [flow], "run.stop": "55 delivered"})
    study = chappe.sweep(scenario, {"tcp.receive_window": [1, 2]}, seeds=2, out=folder / "study", title=HOSTILE)
    cases = chappe.sweep(scenario, cases={HOSTILE: {}, "other": {"tcp.receive_window": 2}}, seeds=2)
    return [shown._repr_html_() for shown in (scenario, chappe.run(scenario), study, cases)]


def test_what_cells_show_in_a_page(browser: Any, outputs: list[dict[str, str]], tmp_path: Path) -> None:
    parts = [output["text/html"] for output in outputs if "text/html" in output] + hostile(tmp_path)
    text = (
        f"<!doctype html><html lang=en><title>Notebook</title><body><main><h1>Cells</h1>{''.join(parts)}</main></html>"
    )
    (tmp_path / "cells.html").write_text(text, encoding="utf-8")
    for options in LOOKS:
        with Opened(browser, tmp_path / "cells.html", scripted=False, **options) as opened:
            assert opened.page.locator("script").count() == 0
            assert opened.page.locator("table").count() == len(parts)
            pictures = opened.page.locator("img").evaluate_all("all => all.map(i => i.naturalWidth)")
            assert len(pictures) == 2
            assert min(pictures) > 0
            assert opened.serious() == []
            assert opened.noted == []
