"""User-defined measures of a study whose runs already exist."""

from collections.abc import Collection, Mapping, Sequence

from chappe.expressions.own_measures import Own, own_of, split
from chappe.expressions.parser import joined
from chappe.measures import KNOWN
from chappe.scenario import flow_selection


def asked_later(
    measures: Sequence[str], there: Mapping[str, Own], axes: Collection[str]
) -> tuple[list[str], list[Own]]:
    """Names of measures, and the user-defined ones that the study does not have yet.

    Args:
        measures: Names, and texts ``name = expression``.
        there: User-defined measures with which the runs were made.
        axes: Names of the axes.

    Raises:
        ValueError: If an expression is wrong, has the name of another measure of the study, or needs a recorded table,
            of which a study keeps only what was asked for before its runs.
    """
    names, texts = split([m for m in measures if m.partition(flow_selection.OF)[0] not in there])
    new, problems = own_of(texts, axes, "measures")
    if problems:
        raise ValueError(joined(problems))
    for own in new:
        if own.name in there and there[own.name].text != own.text:
            raise ValueError(f"the study has another measure `{own.name}`: choose another name")
        if table := next((part.table for part in own.parts if part.is_recorded), None):
            asked = own.name if own.name in KNOWN else f'"{own.name} = {own.text}"'
            raise ValueError(
                f"the runs were made without the measure `{own.name}`, and its table `{table}` is not kept; repeat the "
                f"sweep with `--measure {asked}`"
            )
    rest = iter(names)
    return [m if m.partition(flow_selection.OF)[0] in there else next(rest) for m in measures], new
