"""Cache of the runs of a program that decides itself what it runs: executed once, and kept in a folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from chappe._common.progress import bar
from chappe._common.words import plain, tell
from chappe.errors import StorageError, reason
from chappe.results.storage import tables
from chappe.results.storage.columns import RUN
from chappe.scenario.scenario import Scenario
from chappe.study.design.axes import Item, settings_without_seed
from chappe.study.design.common import drawn
from chappe.study.execution.measure import Also, K, measured
from chappe.study.store.store import POINTS, STUDY, Store
from chappe.study.study import points_table


class RunCache:
    """Runs in the folder of a study, which :class:`chappe.Study` opens. Runs in the folder are not executed again.

    A run is found by its settings, its seed and the results epoch: any change of a scenario makes it another run.

    Attributes:
        made: Number of executed runs.
        check: Called again and again while runs are made; an exception ends them.
        frames: Frames of each run that was asked for, by its name.
    """

    FOLDER = "runs"
    """Folder of kept runs, below the folder for the results."""

    def __init__(
        self, results: Path | str, base: Scenario, axes: Sequence[str], *, jobs: int | None = None, title: str = "Runs"
    ):
        """Opens or makes the folder.

        Args:
            results: The folder for the results.
            base: The scenario on which all others are built.
            axes: Names of the labels of points.
            jobs: Runs at the same time; ``None``: one for each core.
            title: Names the progress bar.

        Raises:
            StorageError: The folder cannot be used, has other files, or is that of another study or results epoch.
        """
        results = Path(results)
        _refuse_others(results)
        self.made = 0
        self.frames: dict[str, int] = {}
        self._jobs = jobs
        self._title = title
        self._known: dict[str, Item] = {}
        self._read: dict[tuple[str, ...], pl.DataFrame] = {}
        # The points have seeds of their own, which are not known yet.
        about = {
            "axes": list(axes),
            "seeds": [],
            "precision": None,
            "warmup": "discard",
            "drawn": sorted(drawn(base.settings)),
        }
        self._store = Store(results / self.FOLDER, settings_without_seed(base), about)
        for warning in self._store.warnings:
            tell(f"warning: {plain(warning)}")
        self.check: Callable[[], None] = lambda: None
        self._update: Callable[[float], None] = lambda _: None
        self._expected = 0.0
        self._before, self._stage, self._within = 0.0, 0.0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        try:
            if kind is None and self._known:
                # Runs stay in their order: what was there before is not written again.
                self._store.finish(self._store.keys)
        finally:
            self._store.close()

    def missing(self, items: Sequence[Item]) -> float:
        """Amount of missing work: the sum of the weights of the runs that are not in the folder."""
        return sum(i.weight for i in {i.key: i for i in items if i.key not in self._store}.values())

    def available(self, items: Mapping[K, Sequence[Item]], also: Also | None = None) -> dict[K, pl.DataFrame]:
        """Results of :meth:`measure` for the points whose runs are all in the folder; executes nothing."""
        complete = {key: runs for key, runs in items.items() if all(i.key in self._store for i in runs)}
        new = {key: runs for key, runs in complete.items() if _names(runs) not in self._read}
        tables_of = measured(new, also=also, store=self._store)
        self._read |= {_names(runs): tables_of[key] for key, runs in new.items()}
        return {key: self._read[_names(runs)] for key, runs in complete.items()}

    @contextmanager
    def progress(self, expected: float) -> Iterator[None]:
        """Shows how much of all work is done, and how long the rest takes."""
        self._expected, self._before = expected, 0.0
        with bar(self._title) as self._update:
            yield

    @contextmanager
    def stage(self, expected: float) -> Iterator[None]:
        """A part of all work."""
        self._stage, self._within = expected, 0.0
        yield
        self._before += expected
        self._update(self._before / self._expected if self._expected else 1.0)

    def make(self, items: Mapping[K, Sequence[Item]], also: Also | None = None) -> dict[K, pl.DataFrame]:
        """Measures like :meth:`measure`, as the only stage, with a progress bar."""
        expected = self.missing([i for runs in items.values() for i in runs])
        with self.progress(expected), self.stage(expected):
            return self.measure(items, also)

    def measure(self, items: Mapping[K, Sequence[Item]], also: Also | None = None) -> dict[K, pl.DataFrame]:
        """Executes the missing runs; returns the tables of :func:`chappe.study.execution.measure.measured`."""
        wanted = {i.key: i for runs in items.values() for i in runs}
        missing = [i for key, i in wanted.items() if key not in self._store]
        self._known |= wanted
        if missing:
            self._store.write_points(self._points())
        weight = self.missing(missing)

        def progress(share: float) -> None:
            self.check()
            if self._expected:
                within = min(self._within + share * weight, self._stage)
                self._update(min((self._before + within) / self._expected, 1.0))

        new = {key: runs for key, runs in items.items() if _names(runs) not in self._read}
        try:
            read = measured(new, jobs=self._jobs, also=also, store=self._store, progress=progress)
        finally:
            # Also of those that were ended early.
            self.made += sum(i.key in self._store for i in missing)
        self._within += weight
        self._read |= {_names(runs): read[key] for key, runs in new.items()}
        tables_of = {key: self._read[_names(runs)] for key, runs in items.items()}
        for key, runs in items.items():
            self.frames |= zip(_names(runs), tables_of[key]["frames_sent"], strict=True)
        return tables_of

    def _points(self) -> pl.DataFrame:
        """All runs of the folder and those that are about to be made."""
        points = points_table(list(self._known.values()))
        try:
            before = tables.read(self._store.folder / POINTS)
        except (OSError, pl.exceptions.PolarsError):
            before = points.clear()
        if before.schema == points.schema:
            points = pl.concat([points, before]).unique(RUN, keep="first")
        labels = [name for name in points.columns if name not in (RUN, "point", "seed", "shown")]
        points = points.sort(*labels, "seed", RUN)
        return points.with_columns(pl.struct(labels).rle_id().cast(pl.Int64).alias("point"))


def _refuse_others(results: Path) -> None:
    """Refuses a folder that has files and no runs: results without runs are those of others."""
    if (results / RunCache.FOLDER / STUDY).is_file() or not results.is_dir():
        return
    try:
        first = min((p.name for p in results.iterdir()), default=None)
    except OSError as e:
        raise StorageError(f"cannot write to {results}: {reason(e)}") from None
    if first is not None:
        raise StorageError(
            f"{results} has other files, such as {first}, and no runs: use a new folder, or empty this one"
        )


def _names(runs: Sequence[Item]) -> tuple[str, ...]:
    return tuple(i.key for i in runs)
