"""What the audit says after a fault: exact, or which rows."""

from collections.abc import Iterator, Sequence

from confluent_kafka import KafkaException

from infra.errors import UserError
from infra.settings import Settings
from infra.wait import ask_until
from ops.faults.fault import Checked
from ops.verify.verdict import Verdict, reach_verdict

ROWS_SHOWN_MAX = 5
POLL_SECONDS = 2.0
AUDITED_SECONDS_MAX = 60.0
"""How long the ledger may take to have a page, and the quarantine to catch up."""


def compare_all(settings: Settings) -> tuple[Checked, ...]:
    """Every pipeline of the settings, compared as `retail verify` does."""
    return tuple(_compare(settings, name) for name in settings.pipeline_names)


def _compare(settings: Settings, pipeline: str) -> Checked:
    try:
        compared = ask_until(
            lambda: reach_verdict(settings, pipeline),
            lambda compared: compared.exact or not compared.agree,
            AUDITED_SECONDS_MAX,
            POLL_SECONDS,
        )
    except (UserError, TimeoutError, KafkaException) as error:
        return Checked(pipeline, exact=False, why=(str(error),))
    return Checked(pipeline, compared.exact, tuple(describe(compared)))


def describe(compared: Verdict) -> Iterator[str]:
    """Each deviation as a line; nothing where the pipeline is exact."""
    for one in compared.views:
        if not one.agrees:
            rows = [live or oracle or {} for live, oracle in one.differing]
            keys = ["/".join(str(row[name]) for name in one.view.key) for row in rows]
            yield f"{len(keys):,} rows of {one.view.entity} differ: {list_some(keys)}"
    if not compared.books_agree:
        live = compared.live.books
        off = [at for at, book in compared.books.items() if live.get(at) != book]
        keys = ["/".join(map(str, at)) for at in off]
        yield f"the accounting of {len(keys)} partitions differs: {list_some(keys)}"
    yield from compared.listing.differences[:ROWS_SHOWN_MAX]
    if compared.listing.behind:
        yield f"not audited: the quarantine is {compared.listing.behind:,} records behind"
    if compared.audit is not None:
        if not compared.audit.made:
            yield "not audited: the ledger has no page yet"
        for each in compared.audit.differences[:ROWS_SHOWN_MAX]:
            yield f"{'/'.join(each.shelf)}: ledger {each.ledger}, log {each.log}"
        for what, (ledger, log) in compared.audit.seen.items():
            if ledger != log:
                yield f"{what}: the ledger counts {ledger:,} records, the log {log:,}"


def list_some(names: Sequence[str]) -> str:
    """The first ROWS_SHOWN_MAX names, and the number of others."""
    more = len(names) - ROWS_SHOWN_MAX
    shown = ", ".join(names[:ROWS_SHOWN_MAX])
    return f"{shown} and {more:,} more" if more > 0 else shown
