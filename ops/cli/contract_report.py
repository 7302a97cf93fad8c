"""Prints the check of the contracts: each break, its readers, and what to do."""

import textwrap

from contracts.evolution.check import Report
from contracts.evolution.verdict import Finding
from ops.cli import screen

WIDTH = 80
INDENT = 4
LABEL = 26
NOBODY = "nobody who is known"


def show(report: Report) -> None:
    """What breaks stands last, where a person looks first."""
    for one in report.harmless:
        screen.say(f"  {one.contract}   {one.change.place}: {one.change.text}, which harms nobody")
    _show_pending(report)
    for fault in report.faults:
        _print_wrapped("  ", f"fault: {fault}")
    for one in report.breaks:
        _show_break(one)
    screen.say(f"  {conclude(report)}")


def conclude(report: Report) -> str:
    contracts = render_count(report.contracts, "contract")
    of = f"{contracts}, {render_count(report.consumers, 'consumer')}"
    wrong = [
        render_count(len(report.breaks), "break") if report.breaks else "",
        render_count(len(report.faults), "fault") if report.faults else "",
    ]
    if report.good:
        return f"{of}: nobody breaks"
    return f"{' and '.join(filter(None, wrong))} in {of}"


def render_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _show_break(one: Finding) -> None:
    screen.say(f"  {one.contract}   {one.change.place}: {one.change.text}")
    _print_labelled("readers that break", ", ".join(one.readers_broken) or NOBODY)
    _print_labelled("readers that do not", ", ".join(one.readers_going_on) or NOBODY)
    if one.writers_broken:
        _print_labelled("writers that break", ", ".join(one.writers_broken))
    against = ", ".join(one.since)
    _print_labelled("why", f"{one.change.why}; since {against}, {one.promised} is promised")
    _print_labelled("way out", one.way_out)


def _print_labelled(label: str, text: str) -> None:
    _print_wrapped(f"{' ' * INDENT}{label:<{LABEL - INDENT}}", text)


def _print_wrapped(head: str, text: str) -> None:
    screen.say(
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _show_pending(report: Report) -> None:
    if report.drafts:
        _print_wrapped("  ", f"drafts, which nobody writes yet: {', '.join(report.drafts)}")
    if not report.pending or not report.good:
        return
    names = ", ".join(f"{one.contract} {one.version}" for one in report.pending)
    _print_wrapped(
        "  ", f"not released as they stand: {names}. Release them: retail contracts release"
    )
