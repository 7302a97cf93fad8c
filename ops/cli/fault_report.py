"""The report of `retail fault run`: a document for programs, and a page for people."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.reports import locate_reports
from infra.settings import Settings
from ops.bench.report import describe_machine
from ops.faults import document
from ops.faults.fault import Outcome
from ops.faults.run import Shop

REPORT_FILE = "faults.json"
NOT_THIS_TIME = "not asked for in this run"


def keep(
    shop: Shop,
    not_done: Mapping[str, str],
    report: Path | None,
    command: str,
    outcomes: Sequence[Outcome],
) -> None:
    """Write the outcomes so far as a document, and as a page where one was asked for."""
    ran_on, done = describe_machine(), {one.fault for one in outcomes}
    left = {name: NOT_THIS_TIME for name in shop.faults if name not in done} | dict(not_done)
    document_text = json.dumps(document.render_document(outcomes, left, ran_on))
    write(locate_reports(shop.settings) / REPORT_FILE, document_text)
    if report is not None:
        page = document.render_page(outcomes, left, ran_on, describe_shop(shop.settings), command)
        write(report, page.rstrip())


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n", encoding="utf-8")


def describe_shop(settings: Settings) -> str:
    """The shop of the faults, in words."""
    world = (
        f"{settings.simulator_receipts_per_second:g} receipts a second in "
        f"{settings.simulator_stores} stores, shelves filled by {settings.simulator_refill}"
        if settings.world == "simulated"
        else "an own world"
    )
    return f"{world}; pipelines {', '.join(settings.pipeline_names)}"


def spell(
    names: Sequence[str],
    every: bool,
    seed: int | None,
    minutes: float,
    seconds: float,
    report: Path | None,
    cluster: bool,
) -> str:
    """The command that repeats the run."""
    drawn = [] if seed is None else ["--seed", str(seed), "--minutes", f"{minutes:g}"]
    return shlex.join(
        [
            "retail",
            "fault",
            "run",
            *names,
            *(["--cluster"] if cluster else []),
            *(["--all"] if every else []),
            *drawn,
            "--seconds",
            f"{seconds:g}",
            *(["--report", str(report)] if report else []),
        ]
    )
