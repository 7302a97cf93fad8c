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
from ops.bench.run import QUICK_SHARE, Part, run
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
    file = locate_reports(read_settings()) / "bench.md"
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
        whole = measure(only or list(Part), settings, QUICK_SHARE if quick else 1.0, file)
    if not whole:
        raise typer.Exit(1)


def measure(parts: list[Part], settings: Settings, share: float, file: Path) -> bool:
    """Show the table of each part and write it to the file. Returns whether none failed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    failed = False
    with file.open("w", encoding="utf-8") as report:
        for part in parts:
            with screen.show_waiting(part, "measuring"):
                table, failure = run(part, settings, share)
            screen.say(f"{part}\n\n{table}")
            print(f"## {part}\n\n{table}", file=report, flush=True)
            if failure:
                failed = True
                screen.say(f"{part} failed. {failure}")
    screen.say(f"\n  report: {screen.shorten(file)}")
    return not failed


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
