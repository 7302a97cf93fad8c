"""How far a generation has read, as lines, as a table's words, and as JSON."""

from typing import Any

from infra.settings import Settings
from ops.cli import screen
from ops.generations.record import Generation
from ops.replay import candidates
from ops.replay.progress import Seen, follow
from pipelines.common.pipeline import Pipeline


def show_catching_up(settings: Settings, declared: Pipeline, candidate: Generation) -> None:
    """Show how the candidate catches up; returns when it has. Raises Failed."""
    with screen.show_waiting("reading", "starting Spark") as wait:
        last = follow(
            settings,
            declared,
            candidate,
            lambda seen: wait.show("reading", describe_progress(seen)),
        )
    read = f"{screen.render_bar(1, 1)} {last.progress.read:,} records"
    rate = f", {last.per_second:,.0f}/s" if last.per_second else ""
    screen.step("caught up", f"{read}{rate}", wait.seconds)


def describe_progress(seen: Seen) -> str:
    now, rate = seen.progress, seen.per_second
    if not rate:
        return f"{screen.render_bar(0, 1)} 0 of {now.total:,}, starting Spark"
    return (
        f"{screen.render_bar(now.read, now.total)} {now.read:,} of {now.total:,} · {rate:,.0f}/s · "
        f"about {now.left / rate:,.0f} s left"
    )


def describe_state(standing: candidates.Standing) -> str:
    """The generation's state, with the reason where there is one."""
    named = standing.generation.state.value
    if standing.generation.reason:
        return f"{named}: {standing.generation.reason}"
    return f"{named}, waits for the candidate" if standing.waits else named


def to_json(standing: candidates.Standing) -> dict[str, Any]:
    """The generation and its progress as JSON."""
    generation = standing.generation
    return {
        "pipeline": generation.pipeline,
        "number": generation.number,
        "state": generation.state.value,
        "reason": generation.reason,
        "waits": standing.waits,
        "created_at": generation.created_at.isoformat(),
        "read": standing.progress.read,
        "left": standing.progress.left,
    }
