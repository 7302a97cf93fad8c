"""retail security renew | access: the certificates and the permissions of a secure shop."""

import json
from typing import Annotated

import typer

from infra.errors import UserError
from infra.security.certificates import renew_certificates
from infra.settings import Settings, read_settings
from ops.cli import screen
from ops.control.access import find_reads, find_writes, list_services

app = typer.Typer(no_args_is_help=True, help="With SECURE=on: certificates and permissions.")


class NotSecure(UserError):
    """The shop is not secure, so it has no keys."""

    def __init__(self) -> None:
        super().__init__(
            "This shop has no certificates: SECURE is off. Begin a secure one in an empty data "
            "folder: make up SECURE=on"
        )


@app.command()
def renew() -> None:
    """Make new keys and certificates. The API uses its own soon, Kafka from its next start on."""
    current = _read_secure()
    for component, last_day in renew_certificates(current).items():
        screen.step(component, f"a new certificate, until {last_day}")
    screen.say("  From the next start on: make down && make up")


@app.command()
def access(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """Show which topics each service may read and write, by its contract."""
    topics_of = {
        name: {"reads": sorted(find_reads(name)), "writes": sorted(find_writes(name))}
        for name in list_services()
    }
    if as_json:
        print(json.dumps(topics_of))
        return
    rows = [
        (name, what, topic)
        for name, topics in topics_of.items()
        for what, listed in topics.items()
        for topic in listed
    ]
    screen.print_table(("service", "may", "topic"), rows)


def _read_secure() -> Settings:
    current = read_settings()
    if not current.secure:
        raise NotSecure
    return current
