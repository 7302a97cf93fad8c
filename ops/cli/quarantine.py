"""retail quarantine release: a rejected record that can still be counted.

What was rejected, and why, is on the page of the pipelines and in GET /v1/quarantine.
"""

from typing import Annotated

import typer

from contracts.validation import VALIDATED
from infra.errors import UserError
from infra.settings import read_settings
from ops.cli import screen
from ops.cli.options import lock_home
from ops.cli.topics import require_broker
from services.quarantine import release as releasing

app = typer.Typer(no_args_is_help=True)


@app.command()
def release(
    place: Annotated[str, typer.Argument(help="Where it lies: TOPIC/PARTITION/OFFSET.")],
    because: Annotated[str, typer.Option(help="Why the event shall count; kept with the release.")],
) -> None:
    """Publish a new event that wraps the record, so that running sums count it once."""
    current = require_broker(read_settings())
    with (
        lock_home(current.data_dir / "quarantine", "releasing a record of"),
        screen.show_waiting("release", "reading"),
    ):
        done = releasing.release(current, parse_place(place), because)
    screen.say(f"  Released: {done.topic}/{done.partition}/{done.offset} wraps {place}.")
    taken = list_takers()
    if taken:
        screen.say(f"  {', '.join(taken)} count {done.event['event_id']} at the time it happened.")
    else:
        screen.say("  No view reads it yet.")
    screen.say("  Windows that have closed do not count it, live or replayed.")


def parse_place(text: str) -> tuple[str, int, int]:
    """The place that the text names; raises UserError."""
    topic, *numbers = text.rsplit("/", 2)
    if topic not in VALIDATED or len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
        raise UserError(
            "Expected TOPIC/PARTITION/OFFSET, as public.sales.receipt.v1/2/10415, of a topic of "
            f"events; found {text}. See what there is: GET /v1/quarantine"
        )
    return topic, int(numbers[0]), int(numbers[1])


def list_takers() -> list[str]:
    """The views that count releases."""
    from pipelines.common.pipeline import list_pipelines, load  # here: it takes Spark's second

    views = [view for name in list_pipelines() for view in load(name).views]
    return [view.contract.name for view in views if view.ends is None]
