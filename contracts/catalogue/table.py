"""The topics and views as the table in ARCHITECTURE.md: `python -m contracts.catalogue.table`."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from contracts.catalog import CONTRACTS
from contracts.shape import Contract
from contracts.times import render_span

HEADER = ("| topic | key | kept | a record says |", "|---|---|---|---|")


def render_table(contracts: Iterable[Contract] = CONTRACTS.values()) -> str:
    """A Markdown table, a row per contract: public ones first, and topics before views."""
    return "\n".join([*HEADER, *(_render_row(one) for one in sorted(contracts, key=_rank))]) + "\n"


def _rank(contract: Contract) -> tuple[bool, str, str]:
    return contract.visibility != "public", contract.kind, contract.name


def _render_row(contract: Contract) -> str:
    cells = (
        f"`{contract.name}`",
        ", ".join(contract.key),
        _render_retention(contract),
        _summarize(contract),
    )
    return f"| {' | '.join(cells)} |"


def _render_retention(contract: Contract) -> str:
    """How long a record stays, by the configuration of the topic."""
    return ", ".join(_list_terms(contract)) or "as the broker is set"


def _list_terms(contract: Contract) -> Iterator[str]:
    config = contract.settings.config
    if "compact" in config.get("cleanup.policy", ""):
        yield "newest per key"
    retention = config.get("retention.ms")
    if retention == "-1":
        yield "for ever"
    elif retention is not None:
        yield render_span(timedelta(milliseconds=int(retention)))


def _summarize(contract: Contract) -> str:
    """The first sentence of the description, on one line."""
    words = " ".join(contract.description.split())
    sentence = words.partition(". ")[0].rstrip(".")
    return f"view: {sentence}" if contract.kind == "view" else sentence


if __name__ == "__main__":
    print(render_table(), end="")
