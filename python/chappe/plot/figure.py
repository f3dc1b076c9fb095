"""Figures that notebooks show, whatever backend matplotlib has there; matplotlib takes long to load."""

import struct
from typing import Any

from matplotlib.figure import Figure as _Figure

_DPI = 96
"""Pixels of a page per inch."""


class Figure(_Figure):  # type: ignore[misc, unused-ignore]  # older matplotlib has no types
    """A figure of matplotlib that shows itself at the end of a cell."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """The picture, which notebooks show even if they are not trusted, and its size on the page."""
        from chappe.plot import DPI, encoded  # it imports this module

        data = encoded(self, "png")
        width, height = struct.unpack(">II", data[16:24])
        return data, {"width": round(width * _DPI / DPI), "height": round(height * _DPI / DPI)}
