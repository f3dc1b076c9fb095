"""A paper that can be reproduced: what it is made of, and how its parts are found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chappe_papers.judging.advice import Advice
    from chappe_papers.judging.claims import Claim, Finding
    from chappe_papers.pages.figures import Chart, Legend, Sheet
    from chappe_papers.runs.design import Design


@dataclass(frozen=True)
class Paper:
    """A paper: a package of this one. Its modules are imported when they are needed.

    ``design`` has the ``DESIGN``; ``figures`` has ``FIGURES``, ``LEGEND``, ``KEY``, and ``TABLES`` if there are any;
    ``claims`` has ``ALL``, ``FINDINGS`` and ``READINGS``; ``extras``, if there are any, has ``EXTRAS``; ``validate``,
    if there are runs of ns-2, has the ``VALIDATION``, a comparison run by run.
    """

    name: str
    """On the command line, and of its package."""
    title: str
    """Authors, title, place and year."""
    setup: str
    """The setup in a clause: the network that the paper assumes."""
    figures: tuple[int, ...]
    """Numbers of the figures that can be reproduced."""
    tables: tuple[int, ...] = ()
    """Numbers of the tables that can be reproduced."""
    extras: tuple[str, ...] = ()
    """Names of what is added to the figures and tables of the paper."""
    package: str = ""
    """Name of the package with its modules; for most papers a subpackage named as the paper."""

    def part(self, name: str) -> Any:
        """A module of the paper."""
        return import_module(f"{self._package}.{name}")

    @property
    def folder(self) -> Traversable:
        """The folder of the files of the paper."""
        return files(self._package)

    @property
    def _package(self) -> str:
        return self.package or f"{__package__}.{self.name}"

    @cached_property
    def design(self) -> "Design":
        """Design of its runs."""
        design: Design = self.part("design").DESIGN
        return design

    @cached_property
    def all_claims(self) -> "tuple[Claim, ...]":
        """The claims that are checked."""
        return tuple(self.part("claims").ALL)

    @property
    def claims(self) -> tuple[str, ...]:
        """Names of the claims that are checked."""
        return tuple(c.id for c in self.all_claims)

    @property
    def findings(self) -> "tuple[Finding, ...]":
        """Conclusions of the paper."""
        return tuple(self.part("claims").FINDINGS)

    @cached_property
    def advice(self) -> "Advice":
        """The recommendation of the paper, and ours."""
        from chappe_papers.judging import advice

        return advice.Advice.read(self.folder.joinpath(advice.FILE).read_text(encoding="utf-8"))

    @property
    def readings(self) -> "Mapping[str, Callable[[Any], Any]]":
        """Other readings of the paper: maps of each point of the main reading to one of the other, or ``None``."""
        readings: Mapping[str, Callable[[Any], Any]] = self.part("claims").READINGS
        return readings

    @property
    def charts(self) -> "Mapping[int, Chart]":
        """The figures by number."""
        charts: Mapping[int, Chart] = self.part("figures").FIGURES
        return charts

    @property
    def legend(self) -> "Legend":
        """Names of its variants."""
        legend: Legend = self.part("figures").LEGEND
        return legend

    @property
    def key(self) -> "Chart":
        """The figure that says most, with the numbers of the paper."""
        key: Chart = self.part("figures").KEY
        return key

    @property
    def sheets(self) -> "Mapping[int, Sheet]":
        """The tables by number."""
        sheets: Mapping[int, Sheet] = self.part("figures").TABLES if self.tables else {}
        return sheets

    @property
    def additions(self) -> Mapping[str, Any]:
        """Additions, by name."""
        additions: Mapping[str, Any] = self.part("extras").EXTRAS if self.extras else {}
        return additions

    def reproduce(
        self,
        folder: Path,
        *,
        wanted: "Wanted",
        quick: bool,
        jobs: int | None,
        decide_s: float | None = None,
        first_seed: int = 1,
    ) -> int:
        """Runs what is wanted, prints and writes it; returns an exit code."""
        from chappe_papers.reproduce import reproduce

        return reproduce(self, folder, wanted=wanted, quick=quick, jobs=jobs, decide_s=decide_s, first_seed=first_seed)

    def _repr_html_(self) -> str:
        """The verdicts on its conclusions for notebooks, from its last run of full length, without scripts."""
        from chappe_papers.summary import html

        return html(self)

    @property
    def is_validated(self) -> bool:
        """True if there are runs of another simulator with which ours can be compared."""
        return self.folder.joinpath("validate.py").is_file()

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        """Compares runs with those of ns-2, one by one; returns an exit code."""
        code: int = self.part("validate").VALIDATION.validate(folder, jobs=jobs)
        return code


@dataclass(frozen=True)
class Wanted:
    """A part of a paper: one figure, table, claim or extra; without any of these all of it."""

    figure: int | None = None
    table: int | None = None
    claim: str | None = None
    extra: str | None = None

    @property
    def all(self) -> bool:
        """True if it is all of the paper."""
        return (self.figure, self.table, self.claim, self.extra) == (None,) * 4

    def of(self, named: Sequence[Any], one: Any) -> list[Any]:
        """The wanted ones of some parts, when this one is named."""
        return list(named) if self.all else [one] if one is not None else []
