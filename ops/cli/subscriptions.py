"""retail subscriptions list | add | remove | resume: who is sent which changes, by the API."""

import json
from typing import Annotated, Any
from urllib.error import HTTPError
from urllib.parse import urlencode

import typer

from infra.errors import UserError
from infra.http import NO_ANSWER, act, fetch_json
from infra.settings import read_settings
from ops.cli import screen

ANSWER_SECONDS_MAX = 30.0
PATH = "/v1/subscriptions"

app = typer.Typer(no_args_is_help=True, help="Who is sent which changes of a view.")

Id = Annotated[str, typer.Argument(help="The subscription, as the list names it.")]


class Refused(UserError):
    """The API does not do it, or does not answer."""

    def __init__(self, url: str, why: object) -> None:
        super().__init__(f"{url}: {why} See what runs: make status")


@app.command("list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show every subscription, and how far it is behind."""
    settings = read_settings()
    url = f"{settings.api_url}{PATH}"
    try:
        every = fetch_json(url, ANSWER_SECONDS_MAX, settings)["subscriptions"]
    except NO_ANSWER as error:
        raise Refused(url, _explain(error)) from error
    if as_json:
        screen.say(json.dumps(every))
        return
    screen.print_table(
        ("subscription", "state", "view", "receiver", "lag", "waiting", "filter", "error"),
        [_describe(one) for one in every],
    )


@app.command()
def add(
    view: Annotated[str, typer.Argument(help="Whose rows, as public.inventory.stock-level.v1.")],
    address: Annotated[str, typer.Argument(help="Where to: https://host/path.")],
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="A condition, as units_on_hand<=5; may be repeated."),
    ] = None,
    start: Annotated[str, typer.Option("--from", help="now or beginning.")] = "now",
) -> None:
    """Subscribe, and show the secret that verifies what is sent; it is shown this once."""
    asked = [("view", view), ("address", address), ("from", start)]
    asked += [("filter", one) for one in filters or ()]
    made = _act("POST", f"?{urlencode(asked)}")
    screen.step(made["subscription_id"], f"from marker {made['generation']}-{made['batch']}")
    screen.step("secret", made["secret"])


@app.command()
def remove(subscription: Id) -> None:
    """End a subscription; what waits is not sent."""
    _act("DELETE", f"/{subscription}")
    screen.step(subscription, "has ended")


@app.command()
def resume(
    subscription: Id,
    skip: Annotated[bool, typer.Option(help="Give up what was tried last.")] = False,
) -> None:
    """Send again at once, also what is parked."""
    _act("POST", f"/{subscription}/resume?skip={str(skip).lower()}")
    screen.step(subscription, "is tried again")


def _act(method: str, rest: str) -> Any:
    settings = read_settings()
    url = f"{settings.api_url}{PATH}{rest}"
    try:
        return act(method, url, ANSWER_SECONDS_MAX, settings)
    except NO_ANSWER as error:
        raise Refused(f"{settings.api_url}{PATH}", _explain(error)) from error


def _explain(error: Exception) -> str:
    """The API's own words, if it answered."""
    if isinstance(error, HTTPError):
        try:
            return str(json.load(error)["detail"])
        except (ValueError, KeyError):
            pass
    return f"{error}."


def _describe(one: dict[str, Any]) -> tuple[str, ...]:
    names = ("subscription_id", "state", "view", "receiver", "lag_records", "waiting")
    texts = [str("" if one[name] is None else one[name]) for name in names]
    return (*texts, " ".join(one["filters"]), one["error"] or "")
