"""retail replay start | status | diff | promote | rollback | prune | verify."""

from contextlib import AbstractContextManager
from typing import Annotated

import typer

from contracts.times import to_instant
from infra.clock import get_wall_ms
from infra.settings import Settings, locate_root, read_settings
from ops.cli import screen
from ops.cli.replay_difference import show_difference, write_document
from ops.cli.screen import say_if_interrupted
from ops.generations.lifecycle import load_generations
from ops.generations.record import Generation, State
from ops.replay import candidates
from ops.replay.progress import Progress, follow, measure_progress
from ops.replay.thresholds import edit
from pipelines.common.pipeline import Pipeline, list_pipelines, load
from pipelines.engine.archive import Source

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="PIPELINE", help="inventory, fraud, …")]


@app.command()
def start(
    pipeline: Name,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="THRESHOLD=VALUE", help="In the candidate's code only."),
    ] = None,
    promote_: Annotated[
        bool, typer.Option("--promote", help="Promote it once it has caught up.")
    ] = False,
    source: Annotated[
        Source, typer.Option(help="archive: what the lake holds, then the log; log: all of it")
    ] = Source.LOG,
    state_partitions: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, help="Of its state, and so tasks of a batch; by default as suits."
        ),
    ] = None,
) -> None:
    """Read the log again with the code on disk, and show what changes."""
    settings, declared = read_settings(), load(pipeline)
    promoted = load_generations(settings, pipeline).promoted
    edits = edit(locate_root(), pipeline, setting or ())
    candidate, plan = candidates.start(settings, declared, edits, source, state_partitions)
    screen.say(f"  generation {candidate.number} of {pipeline} · {plan.records:,} records to read")
    screen.step("state", f"in {screen.count(candidate.state_partitions or 1, 'partition')}")
    if promoted is not None and promoted.code_digest == candidate.code_digest:
        screen.step("code", f"that of generation {promoted.number}: nothing should differ")
    screen.step("needs", str(plan))
    if candidate.state is not State.CATCHING_UP:
        return
    goes_on = f"The replay goes on in the background: retail replay status {pipeline}"
    with say_if_interrupted(goes_on):
        show_catching_up(settings, declared, candidate)
    try:
        with wait_for_batch(pipeline):
            compared = candidates.diff(settings, declared)
    except candidates.NotComparable as why:
        screen.say(f"  {why}")
    else:
        show_difference(compared, write_document(settings, compared))
    if promote_:
        promote(pipeline, candidate.number)
        return
    screen.say("  Nothing has switched.")
    offer(pipeline, candidate.number)


def offer(pipeline: str, number: int) -> None:
    screen.step("promote it", f"retail replay promote {pipeline} --number {number}")
    screen.step("forget it", f"retail replay prune {pipeline}")


def wait_for_batch(pipeline: str) -> AbstractContextManager[screen.Wait]:
    """A spinner while a pipeline's code reads the log in a process of its own."""
    return screen.show_waiting(pipeline, "reading the log in one batch")


@app.command()
def status(
    pipeline: Annotated[str | None, typer.Argument(metavar="PIPELINE")] = None,
) -> None:
    """Show every generation: its state, and how far it has read."""
    settings, rows = read_settings(), []
    for name in [pipeline] if pipeline else list_pipelines():
        for generation in load_generations(settings, name).members:
            progress = measure_progress(settings, load(name), generation)
            state = ": ".join(filter(None, (generation.state.value, generation.reason)))
            far = f"{progress.read:,}", f"{progress.left:,}"
            parts = str(generation.state_partitions or "")
            rows.append((name, str(generation.number), state, parts, *far))
    heads = ("pipeline", "generation", "state", "in partitions", "read", "to read")
    screen.print_table(heads, rows)


@app.command()
def diff(pipeline: Name) -> None:
    """Show how the candidate differs from the promoted generation, at a marker of the latter."""
    settings = read_settings()
    with wait_for_batch(pipeline):
        compared = candidates.diff(settings, load(pipeline))
    show_difference(compared, write_document(settings, compared))


@app.command()
def promote(
    pipeline: Name,
    number: Annotated[
        int | None, typer.Option(help="Which candidate; otherwise the one that is there.")
    ] = None,
) -> None:
    """Let every reader follow the candidate, by one record."""
    with screen.show_waiting("promote", "readers are loading the candidate"):
        promoted = candidates.promote(read_settings(), pipeline, number)
    screen.say(
        f"  {pipeline}: generation {promoted.number} is read by everyone since "
        f"{render_wall_clock()} (1 record)"
    )
    screen.step("go back", f"retail replay rollback {pipeline}")


@app.command()
def rollback(pipeline: Name) -> None:
    """Let every reader follow the previous generation again, by one record."""
    after = candidates.roll_back(read_settings(), pipeline)
    number = candidates.require_promoted(after).number
    screen.say(
        f"  {pipeline}: generation {number} is read by everyone again since {render_wall_clock()}"
    )
    if after.candidate is not None:
        offer(pipeline, after.candidate.number)


@app.command()
def prune(
    pipeline: Name,
    number: Annotated[
        int | None, typer.Option(help="Which generation, where several are not promoted.")
    ] = None,
) -> None:
    """Forget a generation that readers do not follow: its process, its topics, its folder."""
    pruned = candidates.prune(read_settings(), pipeline, number)
    screen.say(f"  {pipeline}: generation {pruned.number} is forgotten")


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(metavar="PIPELINE…")] = None,
) -> None:
    """Replay the promoted code of these or all pipelines: it must answer what readers see."""
    settings, same = read_settings(), True
    for name in names or settings.pipeline_names:
        with wait_for_batch(name):
            compared = candidates.verify(settings, load(name))
        show_difference(compared, None)
        same = same and compared.empty
    if not same:
        raise typer.Exit(1)


def show_catching_up(settings: Settings, declared: Pipeline, candidate: Generation) -> None:
    """Show how the candidate catches up; returns when it has. Raises UserError."""
    with screen.show_waiting("reading", "starting Spark") as wait:

        def report(progress: Progress) -> None:
            wait.show("reading", describe_progress(progress))

        last = follow(settings, declared, candidate, report)
    screen.step("caught up", f"{screen.render_bar(1, 1)} {last.read:,} records", wait.seconds)


def describe_progress(progress: Progress) -> str:
    read, total = progress.read, progress.total
    text = f"{screen.render_bar(read, total)} {read:,} of {total:,}"
    return text if progress.read else f"{text}, starting Spark"


def render_wall_clock() -> str:
    return f"{to_instant(get_wall_ms()):%H:%M:%S.%f}"[:-3]
