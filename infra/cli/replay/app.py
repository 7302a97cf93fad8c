"""retail replay start | status | diff | promote | rollback | prune | verify."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from infra.cli import screen
from infra.cli.replay import batch, compare, guards, progress, readers, report
from infra.cli.replay.remove import prune_generation
from infra.cli.replay.shown import show_difference
from infra.cli.replay.thresholds import edited
from infra.errors import Trouble
from infra.settings import Settings, root, settings
from pipelines.common import promotion, snapshot, turns
from pipelines.common.archive import Source
from pipelines.common.generation import CANDIDATE, Generation, Generations, State, generations
from pipelines.common.pipeline import Pipeline, load, pipelines
from services.clock import wall_ms

app = typer.Typer(
    no_args_is_help=True, help="Changed code from offset zero, beside what readers follow."
)

Name = Annotated[str, typer.Argument(metavar="PIPELINE", help="inventory, fraud, …")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


class NotPromoted(Trouble):
    """There is nothing to compare with."""

    def __init__(self, pipeline: str) -> None:
        super().__init__(
            f"{pipeline} should have a promoted generation, but has none. See: make status"
        )


class BadTime(Trouble):
    """A time that cannot be read."""

    def __init__(self, option: str, given: str) -> None:
        super().__init__(
            f"{option}: expected an instant like 2026-03-02T10:00:00Z, or {WORDS[option]}; "
            f"found {given!r}."
        )


WORDS = {"--from": "earliest", "--until": "latest"}


@app.command()
def start(
    pipeline: Name,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="THRESHOLD=VALUE", help="In the candidate's code only."),
    ] = None,
    since: Annotated[
        str, typer.Option("--from", metavar="earliest|TIME", help="TIME: no candidate, only a look")
    ] = "earliest",
    until_: Annotated[
        str | None,
        typer.Option("--until", metavar="latest|TIME", help="One batch, then nothing is left"),
    ] = None,
    promote_: Annotated[
        bool, typer.Option("--promote", help="Promote it once it has caught up.")
    ] = False,
    source: Annotated[
        Source, typer.Option(help="archive: what the lake holds, then the log; log: all of it")
    ] = Source.LOG,
    pause: Annotated[
        bool, typer.Option("--pause", help="What readers follow waits until it has caught up.")
    ] = False,
) -> None:
    """Read everything again with the code on disk, and show what it changes."""
    current, room = settings(), load(pipeline)
    known = generations(current, pipeline)
    edits = edited(root(), pipeline, setting or ())
    ends = promotion.head_ends(current, room, source) if since == "earliest" else {}
    if until_ is not None or since != "earliest":
        look(current, room, known, edits, since, until_ or "latest")
        return
    if known.candidate:
        raise promotion.CandidateThere(known.candidate)
    need = guards.examined(current, room, known.promoted, {topic for topic, _ in ends})
    candidate = promotion.found(current, room, root(), ends, edits)
    screen.say(f"  generation {candidate.number} of {pipeline} · {need.records:,} records to read")
    screen.step("needs", str(need))
    if candidate.state is not State.CATCHING_UP:
        return
    if pause:
        turns.want_alone(current, candidate)
        screen.step("waiting", "what readers follow, until it has caught up or is gone")
    try:
        progress.follow(current, room, candidate)
    except KeyboardInterrupt:
        screen.say(f"\n  The replay goes on without you: retail replay status {pipeline}")
        raise typer.Exit(130) from None
    compared = difference(current, room, candidate)
    show_difference(compared, report.written(current, compared))
    if promote_:
        promote(pipeline)
        return
    screen.say("  Nothing has switched.")
    offer(pipeline)


def offer(pipeline: str) -> None:
    """What may become of a candidate."""
    screen.step("promote it", f"retail replay promote {pipeline}")
    screen.step("forget it", f"retail replay prune {pipeline}")


def look(
    current: Settings,
    room: Pipeline,
    known: Generations,
    edits: snapshot.Edits,
    since: str,
    until_: str,
) -> None:
    """The code on disk over a part of the log: wake, read to the end, compare, leave nothing."""
    times = compare.Times(moment("--from", since), moment("--until", until_))
    promoted = promoted_of(known)
    if times.start is not None:
        refuse_without_windows(room)
    with batch.workplace(current) as folder:
        code = batch.code_on_disk(folder, edits)
        if times == compare.Times(None, None):
            compared = compare.at_marker(current, room, code, "the code on disk", folder)
        else:
            named = "the code on disk"
            compared = compare.between(current, room, promoted, code, named, times, folder)
        show_difference(compared, report.written(current, compared))
    screen.say("  Nothing was made.")
    screen.step("make it", f"retail replay start {room.name}")


class NotWindowed(Trouble):
    """Sums from the beginning of time cannot be begun in the middle."""

    def __init__(self, pipeline: str, views: list[str]) -> None:
        super().__init__(
            f"--from a time is for views whose rows begin and end; {pipeline} writes "
            f"{', '.join(views)}, which add up from the log's first record. Leave --from out."
        )


def refuse_without_windows(room: Pipeline) -> None:
    running = [view.name for view in room.writes if view.began is None]
    if running:
        raise NotWindowed(room.name, running)


@app.command()
def status(
    pipeline: Annotated[str | None, typer.Argument(metavar="PIPELINE")] = None,
    as_json: AsJson = False,
) -> None:
    """Every generation: its state, and how far it has read."""
    current = settings()
    found = [
        row for name in ([pipeline] if pipeline else pipelines()) for row in standing(current, name)
    ]
    if as_json:
        print(json.dumps({"generations": found}))
        return
    screen.table(
        ("pipeline", "generation", "state", "read", "to read"),
        (
            (
                row["pipeline"],
                str(row["number"]),
                told(row),
                f"{row['read']:,}",
                f"{row['left']:,}",
            )
            for row in found
        ),
    )


def told(row: Mapping[str, Any]) -> str:
    """The state, and what is to be said of it."""
    if row["reason"]:
        return f"{row['state']}: {row['reason']}"
    return f"{row['state']}, waits for the candidate" if row["waits"] else str(row["state"])


def standing(current: Settings, pipeline: str) -> list[dict[str, Any]]:
    room, known = load(pipeline), generations(current, pipeline)
    rows = []
    for one in known.known:
        far = progress.progress(current, room, one)
        rows.append(
            {
                "pipeline": pipeline,
                "number": one.number,
                "state": one.state.value,
                "reason": one.reason,
                "waits": turns.waits(current, known, one),
                "created_at": one.created_at.isoformat(),
                "read": far.read,
                "left": far.left,
            }
        )
    return rows


@app.command()
def diff(pipeline: Name, as_json: AsJson = False) -> None:
    """What the candidate says otherwise, at a marker of the promoted generation."""
    current, room = settings(), load(pipeline)
    candidate = generations(current, pipeline).candidate
    if candidate is None:
        raise promotion.NotPromotable(generations(current, pipeline))
    compared = difference(current, room, candidate)
    if as_json:
        print(json.dumps(compared.document(), default=str))
        return
    show_difference(compared, report.written(current, compared))


def difference(current: Settings, room: Pipeline, candidate: Generation) -> compare.Compared:
    named = f"generation {candidate.number}"
    with batch.workplace(current) as folder:
        return compare.at_marker(current, room, candidate.code(current), named, folder)


@app.command()
def promote(pipeline: Name) -> None:
    """Let every reader follow the candidate, by one record."""
    current = settings()
    candidate = generations(current, pipeline).candidate
    if candidate is None or candidate.state is not State.READY:
        raise promotion.NotPromotable(generations(current, pipeline))
    readers.await_loaded(current, (pipeline, candidate.number))
    before = generations(current, pipeline)
    promotion.promote(current, pipeline)
    for old in [one for one in before.known if one.state is State.RETIRED]:
        prune_generation(current, old)
    readers.await_served(current, (pipeline, candidate.number))
    screen.say(
        f"  {pipeline}: generation {candidate.number} is read by everyone since {wall_clock()} "
        "(1 record)"
    )
    screen.step("go back", f"retail replay rollback {pipeline}")


@app.command()
def rollback(pipeline: Name) -> None:
    """Let every reader follow the generation before again, by one record."""
    current = settings()
    after = promotion.roll_back(current, pipeline)
    number = promoted_of(after).number
    readers.await_served(current, (pipeline, number))
    screen.say(f"  {pipeline}: generation {number} is read by everyone again since {wall_clock()}")
    offer(pipeline)


@app.command()
def prune(
    pipeline: Name,
    number: Annotated[
        int | None, typer.Option(help="Which, where there are several besides the promoted.")
    ] = None,
) -> None:
    """Forget a generation that readers do not follow: its process, its topics, its folder."""
    current = settings()
    known = generations(current, pipeline)
    promotion.remove_leftovers(current, pipeline)
    chosen = selected(known, number)
    prune_generation(current, chosen)
    screen.say(f"  {pipeline}: generation {chosen.number} is forgotten")


class WhichOne(Trouble):
    """It is not clear what is to be forgotten."""


def selected(known: Generations, number: int | None) -> Generation:
    """The generation to forget: that of the number, else the candidate, else the only one."""
    others = [one for one in known.known if one.state is not State.PROMOTED]
    if number is not None:
        others = [one for one in others if one.number == number]
    elif known.candidate:
        others = [one for one in others if one.state in CANDIDATE]
    if len(others) == 1:
        return others[0]
    there = ", ".join(f"{one.number} ({one.state.value})" for one in known.known) or "none"
    raise WhichOne(
        f"Expected one generation of {known.pipeline} that is not promoted, found of all: {there}. "
        f"Say which: retail replay prune {known.pipeline} --number N"
    )


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(metavar="PIPELINE…")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every pipeline that runs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replay the code that is promoted: it must say exactly what readers see."""
    current = settings()
    chosen = current.pipeline_names if every or not names else names
    found = [verified(current, load(name)) for name in chosen]
    if as_json:
        print(json.dumps({"replays": [one.document() for one in found]}, default=str))
    if not all(one.empty for one in found):
        raise typer.Exit(1)


def verified(current: Settings, room: Pipeline) -> compare.Compared:
    promoted = promoted_of(generations(current, room.name))
    with batch.workplace(current) as folder:
        code = promoted.code(current)
        compared = compare.at_marker(current, room, code, "its code, replayed", folder)
    show_difference(compared, None)
    return compared


def promoted_of(known: Generations) -> Generation:
    if known.promoted is None:
        raise NotPromoted(known.pipeline)
    return known.promoted


def moment(option: str, given: str) -> datetime | None:
    """The instant; None for the word that means no bound. Raises BadTime."""
    if given == WORDS[option]:
        return None
    try:
        found = datetime.fromisoformat(given)
    except ValueError as error:
        raise BadTime(option, given) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def wall_clock() -> str:
    at = datetime.fromtimestamp(wall_ms() / 1000, UTC)
    return at.strftime("%H:%M:%S.%f")[:-3]
