"""retail contracts plan, apply: the topics of a cluster compared with the contracts.

What loads the contracts is imported within functions: `check` beside them runs while one is bad.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from contracts.shape import Contract
from infra import kafka
from infra.errors import UserError
from infra.kafka.drift import Cluster, Drift, find_drifts, find_refusals, inspect, mend
from infra.settings import Settings, read_settings
from ops.cli import screen

GENERATION = re.compile(r"(.+)\.g[1-9][0-9]*")

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def plan_command(as_json: AsJson = False) -> None:
    """Show where the cluster differs from the contracts; changes nothing."""
    settings = read_settings()
    cluster, drifted = _look(settings)
    why = list(find_refusals(cluster, settings.kafka_replication_factor))
    if as_json:
        print(json.dumps({"refused": why, "drift": [asdict(one) for one in drifted]}))
    else:
        _show(cluster, drifted)
        for one in why:
            screen.say(f"  apply would be refused: {one}")
    if why or drifted:
        raise typer.Exit(1)


def apply_command() -> None:
    """Make missing topics, fix settings and set who may do what, unless the cluster is unsafe."""
    from ops.cli.topics import grant, list_standing

    settings = read_settings()
    cluster, drifted = _look(settings)
    if why := list(find_refusals(cluster, settings.kafka_replication_factor)):
        raise UserError("\n".join(f"Refused: {one}." for one in why))
    made = kafka.apply_topics(settings, list_standing())
    mend(kafka.create_admin(settings), drifted)
    left = [one for one in drifted if not one.mendable]
    if settings.secure:
        screen.step("access", grant(settings))
    screen.step("topics", f"{len(made)} made, {len(drifted) - len(made) - len(left)} settings set")
    if left:
        _show(cluster, left)
        screen.say("  That would move records: make a new major version instead, and move to it.")
        raise typer.Exit(1)


def find_contracts(names: Sequence[str]) -> Mapping[str, Contract]:
    """The contract of every topic that has one: a generation's changelog has its view's."""
    from contracts import CONTRACTS
    from ops.cli.topics import list_standing

    of_generations = {
        name: CONTRACTS[match[1]]
        for name in names
        if (match := GENERATION.fullmatch(name)) and match[1] in CONTRACTS
    }
    return {**list_standing(), **of_generations}


def _look(settings: Settings) -> tuple[Cluster, list[Drift]]:
    from ops.cli.topics import ANSWER_SECONDS_MAX, list_standing

    if not kafka.is_answering(settings):
        raise kafka.KafkaDown(settings.bootstrap_servers)
    client = kafka.create_admin(settings)
    wanted = find_contracts(list(client.list_topics(timeout=ANSWER_SECONDS_MAX).topics))
    cluster = inspect(client, list(wanted))
    return cluster, list(find_drifts(cluster, wanted, frozenset(list_standing())))


def _show(cluster: Cluster, drifted: Sequence[Drift]) -> None:
    if not drifted:
        screen.say(f"  {len(cluster.topics)} topics, all as their contracts say")
        return
    screen.print_table(
        ("topic", "what", "contract", "cluster", "apply"),
        (
            (
                one.topic,
                one.what,
                one.expected,
                one.found,
                "makes it" if one.what == "topic" else "sets it" if one.mendable else "leaves it",
            )
            for one in drifted
        ),
    )
