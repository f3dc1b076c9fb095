"""CSV files."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from chappe.cli.inputs import write_file

_UNKNOWN = ("nan", "inf", "-inf")
"""Numbers without a value, as text."""


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes rows as a CSV file; numbers that are not known are empty cells."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(header)
    out.writerows(["" if str(cell) in _UNKNOWN else cell for cell in row] for row in rows)
    write_file(path, text.getvalue().encode("utf-8"))


def read_csv(path: Path) -> list[list[str]]:
    """The rows of a CSV file without its header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]
