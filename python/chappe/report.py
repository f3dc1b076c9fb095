"""The old name of ``chappe_papers``."""

from chappe._moved import moved

moved(__name__, "chappe_papers")
