"""retail forget: erases a customer. Log and views keep a pseudonym that leads to nobody."""

from typing import Annotated

import typer

from contracts import ERASURES, VISITS
from contracts.times import to_instant
from infra.settings import read_settings
from ops.cli import screen
from ops.cli.options import lock_home
from services import forgetting

app = typer.Typer(no_args_is_help=True)

Known = Annotated[
    str, typer.Argument(metavar="ID", help="The customer's id, as in the events that were sent.")
]


@app.command()
def show(known_as: Known) -> None:
    """Show the pseudonym of a customer and the number of their cards; erase nothing."""
    person = forgetting.look_up(read_settings(), known_as)
    screen.say(
        f"  The log has {person.pseudonym} for them, and {screen.count(len(person.cards), 'card')}."
    )
    screen.say(f"  their visits: GET /v1/views/{VISITS.name}/rows?customer_id={person.pseudonym}")


@app.command()
def customer(known_as: Known) -> None:
    """Erase the ids of a customer and of their cards; publish a certificate in the log."""
    current = read_settings()
    with (
        lock_home(current.data_dir, "forgetting a person in"),
        screen.show_waiting("forget", "looking through the log"),
    ):
        erased = forgetting.forget(current, known_as)
    time = to_instant(erased.wall_ms)
    screen.say(
        f"  Forgotten, with {screen.count(erased.cards, 'card')}, at {time:%Y-%m-%d %H:%M:%S} UTC."
    )
    screen.say(f"  {erased.pseudonym} in the log leads to nobody now. No view has changed.")
    screen.say(f"  the certificate: retail topics read {ERASURES.name}")
