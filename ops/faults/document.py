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


def render_row(one: Outcome) -> tuple[str, ...]:
    """The cells under HEADS; durations in seconds."""
    promise = one.promise
    answered = ", answered" if promise.answered else ""
    return (
        one.fault,
        f"healed {promise.healed_seconds_max:g} s, stale {promise.stale_seconds_max:g} s{answered}",
        f"{one.lasted:.1f} s",
        "not in time" if one.healed is None else f"{one.healed:.1f} s",
        f"{one.stale:.1f} s",
        f"{one.unanswered:.1f} s" if one.unanswered else "",
        render_exact(one),
    )


def render_exact(one: Outcome) -> str:
    wrong = [each.pipeline for each in one.checked if not each.exact]
    if not one.exact:
        return f"NOT EXACT: {', '.join(wrong)}"
    return "BROKEN, exact" if one.broken else "exact"


def render_page(
    outcomes: Sequence[Outcome],
    not_done: Mapping[str, str],
    ran_on: Mapping[str, Any],
    world: str,
    command: str,
) -> str:
    """The text of docs/faults.md."""
    broken = [f"- `{one.fault}`: {why}\n" for one in outcomes for why in one.broken]
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
                f"- `{one.fault}`: {one.does}. Meanwhile {one.promise.stays}.\n"
                for one in {one.fault: one for one in outcomes}.values()
            ),
            "\n## Not covered\n\n",
            *(f"- `{name}`: {why}.\n" for name, why in not_done.items()),
            *(f"- {name}: {why}.\n" for name, why in NOT_COVERED.items()),
        ]
    )
