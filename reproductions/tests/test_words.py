"""The rule of verdicts: symmetric, by more than half of the points, with conditions that are named."""

import itertools

import pytest
from chappe_papers.judging.words import Decided, Decision, Verdict, Word, listed, together, word, word_of

AGREES, OPPOSITE, NONE, OPEN, CHOSE = Decision

LEAST = "5 % (Chappe's)"


def points(*decisions: Decision, group: str = "", sub_claim: str = "") -> list[Decided]:
    return [Decided(f"{n} hops", d, group, sub_claim, LEAST) for n, d in enumerate(decisions, 4)]


@pytest.mark.parametrize(
    ("agree", "opposite", "none", "of", "verdict"),
    [
        (0, 0, 0, 0, Verdict.OPEN),
        (3, 0, 0, 5, Verdict.CONFIRMED),
        (2, 0, 0, 4, Verdict.OPEN),
        (0, 3, 0, 5, Verdict.OPPOSITE),
        (0, 2, 0, 4, Verdict.OPEN),
        (0, 0, 3, 5, Verdict.NONE),
        (0, 2, 1, 5, Verdict.NONE),
        (0, 3, 1, 5, Verdict.OPPOSITE),
        (1, 0, 1, 20, Verdict.MIXED),
        (16, 0, 1, 21, Verdict.MIXED),
        (0, 1, 0, 3, Verdict.OPEN),
    ],
)
def test_words(agree: int, opposite: int, none: int, of: int, verdict: Verdict) -> None:
    assert word_of(agree, opposite, none, of) is verdict


def test_nothing_fails_by_less_than_half_of_its_points() -> None:
    for n in range(1, 9):
        for agree, opposite, none in itertools.product(range(n + 1), repeat=3):
            if agree + opposite + none > n:
                continue
            verdict = word_of(agree, opposite, none, n)
            assert not verdict.fails or 2 * (opposite + none) > n
            # Confirmation and contradiction need the same share.
            assert (word_of(opposite + none, agree, 0, n) is Verdict.CONFIRMED) == (verdict.fails)
    few, many = points(OPPOSITE, OPPOSITE), points(*[OPEN] * 9, sub_claim="of loss")
    assert word([*few, *points(OPPOSITE, sub_claim="of delay"), *many]).verdict is Verdict.OPEN


def test_an_excluded_effect_is_named_and_whose_it_is() -> None:
    assert word(points(NONE, NONE, OPEN)).said == "no effect above 5 % (Chappe's)"
    assert word(points(NONE, NONE, AGREES)).said == "mixed: holds at 6 hops; not at 4 and 5 hops"
    assert word(points(OPPOSITE, OPPOSITE)).said == "opposite"
    parts = word([*points(NONE, NONE), *points(OPPOSITE, sub_claim="as fast")], first="at once")
    assert parts.said == f"no effect: at once: no effect above {LEAST}; as fast: opposite"


def test_groups_are_named() -> None:
    grouped = [*points(AGREES, AGREES, group="A"), *points(NONE, NONE, group="B"), *points(OPEN, group="C")]
    assert word(grouped).said == "mixed: holds in A; not in B"
    assert word([*grouped, *points(AGREES, NONE, group="D")]).said == "mixed: holds in A; not in B; split in D"
    many = word(points(*[AGREES] * 9, *[NONE] * 2))
    assert many.said == "mixed: not at 13 and 14 hops; holds at all others"
    fails = word(points(*[NONE] * 9, AGREES, OPEN))
    assert fails.said == "mixed: holds at 13 hops; undecided at 14 hops; not at any other"
    open_ = word(points(*[NONE] * 9, AGREES, *[OPEN] * 30))
    assert open_.said == "mixed: holds at 13 hops; undecided at 30 of 40; not at any other"
    both = word(points(*[NONE] * 9, *[AGREES] * 8))
    assert both.said == "mixed: holds at 8 of 17; not at 9 of 17"
    short = word(points(AGREES, AGREES, *[NONE] * 6))
    assert short.said == "mixed: holds at 4 and 5 hops; not at 6, 7, 8, 9, 10 and 11 hops"
    # A statement with one group names its points.
    one = [Decided(f"Snoop, {n} %", d, "Snoop", "", LEAST) for n, d in ((4, NONE), (6, AGREES), (8, AGREES))]
    assert word(one).said == "mixed: holds at 6 and 8 %; not at 4 %"


def test_conjunctions_are_split() -> None:
    claim = [*points(*[AGREES] * 16), *points(NONE, OPEN, OPEN, sub_claim="Westwood")]
    assert word(claim, first="ECN").said == "undecided: ECN: confirmed; Westwood: undecided"
    claim = [*points(*[AGREES] * 16), *points(NONE, NONE, sub_claim="Westwood")]
    split = word(claim, first="ECN")
    assert split.said == "mixed: ECN: confirmed; Westwood: no effect above 5 % (Chappe's)"
    assert [(name, w.verdict) for name, w in split.parts] == [("ECN", Verdict.CONFIRMED), ("Westwood", Verdict.NONE)]
    both = [*points(OPPOSITE), *points(OPPOSITE, sub_claim="Westwood")]
    assert word(both, first="ECN").said == "opposite"
    assert word([*points(AGREES), *points(AGREES, sub_claim="Westwood")], differs=True).verdict is Verdict.SIZE


def test_numbers_that_chose_judge_nothing() -> None:
    assert word(points(CHOSE, CHOSE)).verdict is Verdict.CHOSE
    assert word(points(CHOSE, CHOSE, AGREES)).verdict is Verdict.CONFIRMED
    part = [*points(CHOSE), *points(AGREES, sub_claim="fairer")]
    assert word(part, first="more").verdict is Verdict.CHOSE
    assert word(points(CHOSE), hangs="the queue").verdict is Verdict.CHOSE


def test_what_the_paper_does_not_say() -> None:
    for decisions in ((AGREES, AGREES), (OPPOSITE,), (AGREES, NONE)):
        assert word(points(*decisions), hangs="what is resent").said == "depends on what is resent"
    assert word([], hangs="what is resent").said == "undecided"


def test_single_runs_that_spread_far() -> None:
    one = Decided("the paper's 230", OPEN, spread="100 to 500")
    assert word([one]).said == "undecided: one run of the paper could be 100 to 500"


def test_the_first_claim_leads() -> None:
    yes, no, open_, both = (Word(v) for v in (Verdict.CONFIRMED, Verdict.NONE, Verdict.OPEN, Verdict.MIXED))
    assert together([]).verdict is Verdict.OPEN
    assert together([("A", no), ("B", yes)]) is no
    assert together([("A", yes), ("B", no), ("C", both)]).said == "mixed: B no effect; C mixed"
    assert together([("A", yes), ("B", Word(Verdict.SIZE))]).verdict is Verdict.SIZE
    assert together([("A", yes), ("B", yes), ("C", open_)]).verdict is Verdict.CONFIRMED
    assert together([("A", yes), ("B", open_)]).verdict is Verdict.OPEN


def test_a_text_begins_with_its_word() -> None:
    for verdict in Verdict:
        assert Verdict.of(Word(verdict, "something").said) is verdict
    assert listed(["4 hops", "5 hops", "A"]) == "4 hops, 5 hops and A"
    assert listed(["Snoop", "Snoop and ELN", "Tahoe, ELN"]) == 'Snoop, "Snoop and ELN" and "Tahoe, ELN"'
