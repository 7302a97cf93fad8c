"""The outcomes of faults as a report."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ops.faults.fault import Outcome

HEADS = ("fault", "promise", "lasted", "healed after", "oldest answer", "no answer", "exact")


def render_row(outcome: Outcome) -> tuple[str, ...]:
    """The cells under HEADS; durations in seconds."""
    promise = outcome.promise
    answered = ", answered" if promise.answered else ""
    return (
        outcome.fault,
        f"healed {promise.healed_seconds_max:g} s, stale {promise.stale_seconds_max:g} s{answered}",
        f"{outcome.lasted:.1f} s",
        "not in time" if outcome.healed is None else f"{outcome.healed:.1f} s",
        f"{outcome.stale:.1f} s",
        f"{outcome.unanswered:.1f} s" if outcome.unanswered else "",
        render_exact(outcome),
    )


def render_exact(outcome: Outcome) -> str:
    wrong = [each.pipeline for each in outcome.checked if not each.exact]
    if not outcome.exact:
        return f"NOT EXACT: {', '.join(wrong)}"
    return "BROKEN, exact" if outcome.broken else "exact"


def render_report(outcomes: Sequence[Outcome], not_done: Mapping[str, str]) -> Iterator[str]:
    """The lines of a report in Markdown. `not_done`: by fault, why it was not done."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"{'|---' * len(HEADS)}|"
    for fault, *cells in map(render_row, outcomes):
        yield f"| `{fault}` | {' | '.join(cells)} |"
    yield from ("", "Promises that were not kept:", "")
    yield from (f"- `{outcome.fault}`: {why}" for outcome in outcomes for why in outcome.broken)
    yield from ("", "Not done:", "")
    by_reason = defaultdict(list)
    for name, why in not_done.items():
        by_reason[why].append(f"`{name}`")
    yield from (f"- {', '.join(names)}: {why}" for why, names in by_reason.items())
