"""Reasons to doubt an interval, as words of the column ``doubt``."""

from collections.abc import Iterable, Mapping, Sequence

from chappe.stats import Pooled, Skewed, Values, combined, holm, serial_p, trend_p

LEVEL = 0.05
"""Probability with which a test of independent batches reports one row."""

CORRELATED = "correlated"
"""Word for neighboring batches that are alike."""

TREND = "trend"
"""Word for batches that rise or fall."""

Tests = Mapping[str, float]
"""p-values of the tests of the batches of a run, by the word for what they find."""

FEW = 14
"""Runs below which skewness cannot be seen, nor states that one run in five has: 14 runs miss those in 4 % of cases."""

SKEWED = 1 / 14
"""Squared skewness of an error above which the correction for skewness may not suffice.

From this limit on, nine of ten intervals of a Pareto distribution of index 1.5 are right or marked. Of the means of 15
and of 30 normal values, 8 and 0 % are marked.
"""

MEANING = {
    "few runs": f"fewer than {FEW} runs show neither skewness nor rare states; the true value may lie outside",
    "skewed high": "a few runs far above the others dominate; the true value may be above the interval",
    "skewed low": "a few runs far below the others dominate; the true value may be below the interval",
    "no spread": "all runs are equal; other runs may differ",
    "undefined runs": "the measure is not defined in some runs; the mean is that of the other runs",
    "one run": "the interval comes from the batches of one run and does not include differences between runs",
    "short batches": "stalls are long compared with a batch; the interval is too narrow",
    CORRELATED: "neighboring batches are alike; the interval is too narrow",
    TREND: "the measure rises or falls during the run; batches have no common mean",
}
"""Words of the column ``doubt``, with their meaning."""


def of_runs(runs: int, undefined: int, estimate: Skewed) -> str | None:
    """Doubts about an interval from several runs; ``None`` without any.

    Args:
        runs: Number of runs in which the measure is defined; of the setting with fewer, if two are compared.
        undefined: Number of further runs.
        estimate: Measure of these runs, or the difference of two settings.
    """
    is_skewed = runs >= FEW and estimate.skewness**2 > SKEWED
    is_exact = isinstance(estimate, Pooled) and estimate.exact is not None
    applies = {
        "few runs": runs < FEW,
        "skewed high": is_skewed and estimate.skewness > 0,
        "skewed low": is_skewed and estimate.skewness < 0,
        "no spread": estimate.variance == 0 and not is_exact,
        "undefined runs": undefined > 0,
    }
    return ", ".join(word for word, is_true in applies.items() if is_true) or None


def meant(doubts: Iterable[str | None]) -> list[str]:
    """Sentences that explain the words in cells of the column ``doubt``."""
    words = {word for cell in doubts for word in (cell or "").split(", ")}
    return [f"{word}: {meaning}." for word, meaning in MEANING.items() if word in words]


def tests_of(batches: Values) -> Tests:
    """Tests of batches, which are pseudo-values of a measure."""
    return {CORRELATED: serial_p(batches), TREND: trend_p(batches)}


def of_batches(tests: Tests, short: bool) -> str:
    """Doubts about an interval from the batches of one run, which is always doubtful.

    Args:
        tests: Tests of the batches.
        short: True for short batches (:func:`chappe.measures.short_batches`).
    """
    words = ["one run", *(["short batches"] if short else []), *(word for word, p in tests.items() if p < LEVEL)]
    return ", ".join(words)


def certain(tests: Mapping[str, Sequence[Tests]]) -> dict[str, list[str]]:
    """Measures by word, where all tests together show that batches are not independent: any by chance in 5 %.

    The tests of a measure in several runs are combined (Fisher), those of all measures are one family (Holm).

    Args:
        tests: Tests of each run, by measure.
    """
    asked = [(word, name) for word in (CORRELATED, TREND) for name in tests]
    adjusted = holm([combined([of_run[word] for of_run in tests[name]]) for word, name in asked])
    found: dict[str, list[str]] = {CORRELATED: [], TREND: []}
    for (word, name), p in zip(asked, adjusted, strict=True):
        if p < LEVEL:
            found[word].append(name)
    return found
