"""Which changes since the releases break a promise, whom they break, and how to avoid it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from contracts.declarations import Consumers, Use, find_readers, find_writers
from contracts.evolution.change import LOG, READERS, WRITERS, Change
from contracts.evolution.changes import find_changes
from contracts.evolution.released import Released
from contracts.shape import Contract

PROMISED = {"public": "FULL_TRANSITIVE", "private": "BACKWARD_TRANSITIVE"}
"""What each visibility promises, in the words of schema registries.

Anybody may read and write any version of a public contract. The new version of a private contract
reads the old records, and harms no known reader.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One change since a release, and its effect on every known reader and writer."""

    contract: str
    change: Change
    since: tuple[str, ...]
    """The released versions that differ."""
    released: bool
    """Whether the last released version already has the change."""
    breaks: bool
    promised: str
    readers_broken: tuple[str, ...]
    readers_going_on: tuple[str, ...]
    writers_broken: tuple[str, ...]
    way_out: str


def list_findings(
    present: Mapping[str, Contract], before: Released, consumers: Consumers, today: date
) -> Iterator[Finding]:
    """Every change of every contract, the harmless ones among them."""
    for name, versions in before.items():
        if name in present:
            yield from _compare_contract(present[name], versions, consumers)
        elif (ends := versions[-1].sunset) is None or ends > today:
            yield _check_removed(versions[-1], consumers)


def _compare_contract(
    new: Contract, versions: Sequence[Contract], consumers: Consumers
) -> Iterator[Finding]:
    """The comparison with every released version: a reader may use any of them."""
    since: dict[Change, list[Contract]] = {}
    for old in versions:
        for change in find_changes(old, new):
            since.setdefault(change, []).append(old)
    uses = find_readers(consumers, new.name)
    for change, olds in since.items():
        broken = _find_broken_readers(change, olds[-1], uses)
        private_harm = change.harms >= LOG or (change.harms >= READERS and bool(broken))
        breaks = bool(change.harms) if new.visibility == "public" else private_harm
        yield Finding(
            contract=new.name,
            change=change,
            since=tuple(old.version for old in olds),
            released=olds[-1] is not versions[-1],
            breaks=breaks,
            promised=PROMISED[new.visibility],
            readers_broken=broken,
            readers_going_on=tuple(name for name in uses if name not in broken),
            writers_broken=find_writers(consumers, new.name) if change.harms & WRITERS else (),
            way_out=_suggest_way_out(new, change) if breaks else "",
        )


def _find_broken_readers(change: Change, old: Contract, uses: Mapping[str, Use]) -> tuple[str, ...]:
    if not change.harms & (READERS | LOG):
        return ()
    return tuple(name for name, use in uses.items() if _concerns(change, old, use))


def _concerns(change: Change, old: Contract, use: Use) -> bool:
    path = change.path
    if path is None:
        return any(getattr(use.relies_on, reliance) is not None for reliance in change.reliances)
    if change.meaning and use.fields == "all":  # it passes every field on, whatever it means
        return change.place in use.relies_on.fields
    return any(used[: len(path)] == path for used in use.list_paths(old))


def _check_removed(old: Contract, consumers: Consumers) -> Finding:
    until = f"before its sunset, {old.sunset}" if old.sunset else "without a sunset"
    change = Change("the contract", f"removed {until}", READERS, "it was promised", path=())
    return Finding(
        contract=old.name,
        change=change,
        since=(old.version,),
        released=False,
        breaks=True,
        promised=PROMISED[old.visibility],
        readers_broken=tuple(find_readers(consumers, old.name)),
        readers_going_on=(),
        writers_broken=find_writers(consumers, old.name),
        way_out=f"put {old.file} back; a sunset says when it may go",
    )


def name_successor(contract: Contract) -> str:
    """The name of the next major version."""
    return f"{contract.name.rpartition('.v')[0]}.v{contract.major + 1}"


def _suggest_way_out(contract: Contract, change: Change) -> str:
    beside = (
        f"release {name_successor(contract)} beside v{contract.major} "
        f"(retail contracts new {name_successor(contract)} --sunset YYYY-MM-DD)"
    )
    return f"{change.undo}, or {beside}"
