"""Papers and their reproduction. A paper is a module of this package; :data:`PAPERS` lists them."""

from chappe_papers.ahmed2006 import PAPER as AHMED2006
from chappe_papers.elrakabawy2005 import PAPER as ELRAKABAWY2005
from chappe_papers.paper import Paper
from chappe_papers.ramarathinam2003 import PAPER as RAMARATHINAM2003
from chappe_papers.su2008 import PAPER as SU2008
from chappe_papers.zhou2004 import PAPER as ZHOU2004

PAPERS: tuple[Paper, ...] = (ELRAKABAWY2005, ZHOU2004, RAMARATHINAM2003, AHMED2006, SU2008)
"""All papers that can be reproduced."""


def find(name: str) -> Paper | None:
    """The paper of this name."""
    return next((p for p in PAPERS if p.name == name), None)
