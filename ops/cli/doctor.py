"""retail doctor: whether this machine meets the requirements of a start."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from infra.doctor import Finding, inspect_machine, run_checks
from infra.settings import Settings, read_settings
from ops.cli import screen


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Check the requirements of a start."""
    findings = examine(read_settings())
    if as_json:
        print(json.dumps([{**asdict(finding), "good": finding.good} for finding in findings]))
    else:
        for finding in findings:
            screen.step(finding.check, f"{'✓' if finding.good else '✗'} {finding}")
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)


def examine(settings: Settings) -> list[Finding]:
    return list(run_checks(inspect_machine(settings), settings))
