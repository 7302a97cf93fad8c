"""retail bench: how fast the project is on this machine, compared with its aims."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

import typer

from infra.errors import UserError
from infra.ports import free_port_base
from infra.reports import locate_reports
from infra.settings import Settings, read_settings
from ops.bench.document import render_figures
from ops.bench.figures import FULL, QUICK, Outcome, Scale, describe_machine, write_outcomes
from ops.bench.run import Part, run
from ops.cli import screen
from ops.cli.up import check, fetch_jars


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Measure a tenth of everything; the figures are rough.")
    ] = False,
    only: Annotated[
        list[Part] | None,
        typer.Option(help="Measure only this part; may be repeated. Default: all parts."),
    ] = None,
) -> None:
    """Measure how fast the project is, in a data folder of its own. It takes over an hour."""
    file = locate_reports(read_settings()) / "bench.json"
    with create_own_folder() as settings:
        if not settings.broker_embedded:
            raise UserError(
                "The bench starts its own broker, but KAFKA_BOOTSTRAP_SERVERS names "
                f"{settings.bootstrap_servers}. Unset it."
            )
        if settings.secure:
            raise UserError("The bench measures a shop without SECURE, but SECURE is on. Unset it.")
        check(settings)
        fetch_jars(settings)
        outcomes = measure(only or list(Part), settings, QUICK if quick else FULL, file)
    if any(outcome.failure for outcome in outcomes.values()):
        raise typer.Exit(1)


def measure(parts: list[Part], settings: Settings, scale: Scale, file: Path) -> dict[str, Outcome]:
    """Show and report the outcome of each part, also after an interruption between two parts."""
    machine = describe_machine()
    screen.say(
        f"  {machine['cores']} cores, {machine['memory_gib']} GiB memory, "
        f"load {machine['load_per_minute']}\n"
    )
    outcomes: dict[str, Outcome] = {}
    try:
        for part in parts:
            with screen.show_waiting(part, "measuring"):
                outcomes[part.value] = run(part, settings, scale)
            screen.say(f"{part}\n")
            for line in render_figures([outcomes[part.value]]):
                screen.say(line)
            if failure := outcomes[part.value].failure:
                screen.say(f"{part} failed. {failure}")
    finally:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_outcomes(file, outcomes)
        screen.say(f"\n  report: {screen.shorten(file)}")
    return outcomes


@contextmanager
def create_own_folder() -> Iterator[Settings]:
    """Settings with an empty folder and free ports; the folder is removed afterwards."""
    here = read_settings()
    here.data_dir.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix="bench-", dir=here.data_dir))
    try:
        yield Settings(data_dir=folder, port_base=free_port_base(), jars_dir=here.jars_dir)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
