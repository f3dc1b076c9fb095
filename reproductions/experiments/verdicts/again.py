"""Published claims judged again with the published numbers of runs and seeds, so that their points have skewness.

``python reproductions/experiments/verdicts/again.py P2-T7-1 P2-F9-1`` makes the missing runs of these claims in
``results/again/su2008``, one claim after the other, and writes their points to ``again.csv`` there, with the columns
of ``claims.csv``; it says how far effects are from the published ones. ``recount.py results/again/su2008`` then
publishes them. With ``--further`` a claim has its next look, with twice as many runs. With ``--work`` no run is made,
and the work of each claim is printed, relative to other claims of the paper.
"""

import argparse
import math
import time
from pathlib import Path

import chappe_papers
import recorded
from chappe_papers import reproduce
from chappe_papers.judging import decide
from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import LEVEL, Answer
from chappe_papers.pages.files import read_csv, write_csv
from chappe_papers.paper import Paper
from chappe_papers.runs import runner

FILE = "again.csv"


def apart(answer: Answer, before: Answer) -> float:
    """Largest distance of an effect from the published one [published standard errors]; NaN where points differ."""
    pairs = list(zip(answer.observations, before.observations, strict=False))
    if [a.where for a, _ in pairs] != [b.where for _, b in pairs] or len(pairs) != len(before.observations):
        return math.nan
    changes = [abs(a.effect.mean - b.effect.mean) / math.sqrt(b.effect.variance) for a, b in pairs if b.effect.variance]
    return max(changes, default=0.0)


def judge(paper: Paper, claim: Claim, times: int, folder: Path, jobs: int) -> Answer:
    """Makes the missing runs of a claim, and writes its points beside those of others."""
    points = list(claim.needs(paper.design.full.x))
    before = recorded.published(paper)[claim.id]
    looks = round(100 * LEVEL / float(before[0]["level_percent"]))
    with paper.design.run_cache(folder, jobs) as cache:
        done = runner.run(paper.design, points, paper.design.full, cache, times)
        answer = claim.judged(done.table(points), looks=looks)
    theirs = {claim.id: claim.judged(paper.design.ns2())}
    path = folder / FILE
    if times > 1:
        looks_of = {**decide.Record.read(folder).looks, claim.id: times.bit_length()}
        decide.Record(looks_of).write(folder)
    others = [row for row in read_csv(path) if row[0] != claim.id] if path.is_file() else []
    rows = reproduce.claim_rows([claim], {claim.id: answer}, theirs)
    write_csv(path, reproduce.CLAIM_COLUMNS, [*others, *rows])
    return answer


def main() -> None:
    """Judges the claims, and says what has changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claims", nargs="+", metavar="ID", help="a claim")
    parser.add_argument("--out", type=Path, default=Path("results/again"), help="folder for the results")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--further", action="store_true", help="make twice as many runs, the next look")
    parser.add_argument("--work", action="store_true", help="print the work of each claim, without any run")
    chosen = parser.parse_args()
    for paper in chappe_papers.PAPERS:
        times = recorded.further((recorded.DOCS / f"{paper.name}.md").read_text(encoding="utf-8"))
        published = recorded.answers(paper)
        folder = chosen.out / paper.name
        for claim in (c for c in paper.all_claims if c.id in chosen.claims):
            factor = times.get(claim.id, 1) * (2 if chosen.further else 1)
            if chosen.work:
                points = list(claim.needs(paper.design.full.x))
                with paper.design.run_cache(folder, chosen.jobs) as cache:
                    work = sum(runner.missing(paper.design, points, paper.design.full, cache, factor))
                print(f"{claim.id}: {work:g}", flush=True)
                continue
            began = time.process_time()
            answer, before = judge(paper, claim, factor, folder, chosen.jobs), published[claim.id]
            print(
                f"{claim.id}: {answer.reported} ({answer.counts}, {answer.effects}); published: {before.reported}"
                f" ({before.counts}, {before.effects}); effects moved by at most {apart(answer, before):.2g} standard"
                f" errors; {time.process_time() - began:.0f} s of CPU time",
                flush=True,
            )


if __name__ == "__main__":
    main()
