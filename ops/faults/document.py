"""The outcomes of faults as a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ops.faults.catalog import NOT_COVERED
from ops.faults.fault import Outcome

HEADS = ("fault", "promise", "lasted", "healed after", "oldest answer", "no answer", "exact")
EXPLANATION = """\
- **healed after**: from the end of the fault until every process runs, and all that the log held
  then is served and listed. A kill ends at once. The limit stands in the promise.
- **lasted**: of a pause, how long the process stood still.
- **oldest answer**: how old an answer was at most, by its `freshness_ms`. The promise allows its
  limit beyond what the fault lasted.
- **no answer**: the longest time without one for all pipelines. *answered* in the promise: none.
- **exact**: afterwards every pipeline was compared as `retail verify` does.

"""


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


def render_page(
    outcomes: Sequence[Outcome],
    not_done: Mapping[str, str],
    ran_on: Mapping[str, Any],
    world: str,
    command: str,
) -> str:
    """The text of docs/faults.md."""
    broken = [f"- `{outcome.fault}`: {why}\n" for outcome in outcomes for why in outcome.broken]
    return "".join(
        [
            "# Faults\n\n",
            f"`{command}` did each fault below in a running shop and wrote this page. "
            "`retail fault list` says what each does and promises.\n\n",
            f"The machine: {ran_on['cores']} cores, {ran_on['memory_gib']} GiB of memory. "
            f"The shop: {world}.\n\n",
            EXPLANATION,
            f"| {' | '.join(HEADS)} |\n",
            f"{'|---' * len(HEADS)}|\n",
            *(
                f"| `{fault}` | {' | '.join(cells)} |\n"
                for fault, *cells in map(render_row, outcomes)
            ),
            "\n",
            *(["## Promises that were not kept\n\n", *broken, "\n"] if broken else []),
            "## What was done\n\n",
            *(
                f"- `{outcome.fault}`: {outcome.does}. Meanwhile {outcome.promise.stays}.\n"
                for outcome in {outcome.fault: outcome for outcome in outcomes}.values()
            ),
            "\n## Not covered\n\n",
            *(f"- `{name}`: {why}.\n" for name, why in not_done.items()),
            *(f"- {name}: {why}.\n" for name, why in NOT_COVERED.items()),
        ]
    )
