"""retail score: how good answers are, compared with the simulator's incidents."""

import json
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from infra import kafka
from infra.settings import read_settings
from ops.cli import screen
from ops.cli.score_reorder import reorder
from ops.verify.fraud_score import Score, Scores, Share, score_view

HEADINGS = (
    "rule",
    "caught",
    "recall",
    "right",
    "precision",
    "near: caught",
    "spared",
    "decided in",
)

app = typer.Typer(no_args_is_help=True, help="Compare answers with what the simulator did.")


app.command("reorder")(reorder)


@app.command()
def fraud(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Score the alerts that are served, by incident."""
    settings = read_settings()
    if not kafka.is_answering(settings):
        raise kafka.KafkaDown(settings.bootstrap_servers)
    with screen.show_waiting("score", "reading the alerts, and what was planted"):
        scores = score_view(settings)
    if as_json:
        print(json.dumps(build_document(scores)))
    else:
        show(scores)
    if not scores.good:
        raise typer.Exit(1)


def show(scores: Scores) -> None:
    by_rule = {**scores.by_rule, "all": scores.total}
    screen.print_table(HEADINGS, [build_row(rule, score) for rule, score in by_rule.items()])
    screen.say(f"  {'reached' if scores.good else 'NOT REACHED'}: recall 95 %, precision 90 %,")
    screen.say("  and 85 % in both by every rule")


def build_row(rule: str, score: Score) -> tuple[str, ...]:
    return (
        rule,
        str(score.recall),
        render_percent(score.recall),
        str(score.precision),
        render_percent(score.precision),
        str(score.near_caught),
        str(score.near_spared),
        "" if score.decided_in is None else render_minutes(score.decided_in),
    )


def render_percent(share: Share) -> str:
    return f"{share.share:.1%}" if share.of else "none"


def render_minutes(span: timedelta) -> str:
    return f"{span / timedelta(minutes=1):,.1f} min"


def build_document(scores: Scores) -> dict[str, object]:
    by_rule = {**scores.by_rule, "all": scores.total}
    return {"good": scores.good, **{rule: build_score(score) for rule, score in by_rule.items()}}


def build_score(score: Score) -> dict[str, object]:
    shares = ("recall", "precision", "near_caught", "near_spared")
    return {
        **{
            name: {**asdict(share), "share": share.share}
            for name in shares
            for share in [getattr(score, name)]
        },
        "seconds_to_decide": [span.total_seconds() for span in score.to_decide],
    }
