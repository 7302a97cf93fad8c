"""The differences in the terms: key, partitions, time, retention."""

from collections.abc import Iterator
from datetime import timedelta

from contracts.evolution.change import NONE, READERS, WRITERS, Change, Harm
from contracts.shape import Contract
from contracts.times import render_span

UNLIMITED = "-1"
POLICY = "cleanup.policy"
REFUSED = "records that carry world time are refused"
MOVED = "records move to other partitions: order and copies are told by the key"
UNORDERED = "keys move to other partitions: their records no longer come in order"
OTHERS_LATE = "other records are late, and others in time"
GONE = "records are gone before who counts on them has read them"

GROWING: tuple[tuple[str, int, frozenset[Harm], str, tuple[str, ...]], ...] = (
    ("retention.ms", 604_800_000, READERS, GONE, ("kept",)),
    ("min.compaction.lag.ms", 0, READERS, "rows are gone before a reader's next marker", ("kept",)),
    ("max.message.bytes", 1_048_588, WRITERS, "larger records are refused", ()),
    ("message.timestamp.after.max.ms", 3_600_000, WRITERS, REFUSED, ()),
)
"""The broker's settings that may grow, with Kafka's defaults; whom a lower value harms, why, and
which reliances."""


def find_changes(old: Contract, new: Contract) -> Iterator[Change]:
    yield from _compare_terms(old, new)
    yield from _compare_settings(old, new)
    if old.sunset and (new.sunset is None or new.sunset > old.sunset):
        yield Change("sunset", f"{old.sunset} → {new.sunset or 'none'}")
    elif new.sunset and old.sunset is None:
        yield Change("sunset", f"kept up until {new.sunset}")
    elif old.sunset != new.sunset:
        why, undo = "readers were promised more time to move", f"keep {old.sunset}"
        yield Change("sunset", f"{old.sunset} → {new.sunset}", READERS, why, undo, ())


def _compare_terms(old: Contract, new: Contract) -> Iterator[Change]:
    """The changes of terms of which each has its harm."""
    is_longer = _is_longer(old.retention, new.retention)
    by_retention = (NONE, "") if is_longer else (READERS, "rows are gone that are still asked for")
    changes: dict[str, tuple[object, object, tuple[frozenset[Harm], str], tuple[str, ...]]] = {
        "key": (old.key, new.key, (READERS | WRITERS, MOVED), ("order", "unique")),
        "partitions": (
            old.settings.partitions,
            new.settings.partitions,
            (READERS, UNORDERED),
            ("order",),
        ),
        "eventTime": (old.event_time, new.event_time, (READERS | WRITERS, OTHERS_LATE), ("late",)),
        "horizon": (old.horizon, new.horizon, _by_span(old.horizon, new.horizon), ("late",)),
        "skew": (old.skew, new.skew, _by_span(old.skew, new.skew), ("late",)),
        "retention": (old.retention, new.retention, by_retention, ("kept",)),
    }
    for place, (was, is_, (harms, why), reliances) in changes.items():
        if was != is_:
            text, undo = f"{_render(was)} → {_render(is_)}", f"keep {_render(was)}"
            yield Change(place, text, harms, why, undo, reliances=reliances)
    if old.grace != new.grace:
        text, undo = f"{_render(old.grace)} → {_render(new.grace)}", f"keep {_render(old.grace)}"
        why = "what was called on time is called late, or the other way round"
        yield Change("grace", text, READERS, why, undo, ())


def _by_span(was: timedelta | None, is_: timedelta | None) -> tuple[frozenset[Harm], str]:
    """Whom the new span of a horizon or a skew harms, and why."""
    if _is_longer(was, is_):
        return READERS, "readers forget too soon"
    return WRITERS, "what was in time is rejected, on replay too"


def _is_longer(was: timedelta | None, is_: timedelta | None) -> bool:
    return (is_ or timedelta.max) > (was or timedelta.max)


def _render(term: object) -> str:
    if isinstance(term, timedelta):
        return render_span(term)
    return ", ".join(term) if isinstance(term, tuple) else str(term or "none")


def _compare_settings(old: Contract, new: Contract) -> Iterator[Change]:
    for name, default, harms, why, reliances in GROWING:
        texts = [contract.settings.config.get(name, str(default)) for contract in (old, new)]
        was, is_ = (float("inf") if text == UNLIMITED else int(text) for text in texts)
        before, after = (_render_setting(name, text) for text in texts)
        if is_ < was:
            undo = f"keep {before}"
            yield Change(name, f"{before} → {after}", harms, why, undo, None, reliances)
        elif was != is_:
            yield Change(name, f"{before} → {after}", undo=f"keep {before}", reliances=reliances)
    was_policy, is_policy = (
        contract.settings.config.get(POLICY, "delete") for contract in (old, new)
    )
    if was_policy != is_policy:
        yield Change(
            POLICY,
            f"{was_policy} → {is_policy}",
            READERS,
            "records are there that were not, or gone that were there",
            f"keep {was_policy}",
            reliances=("kept", "unique"),
        )


def _render_setting(name: str, text: str) -> str:
    if text == UNLIMITED:
        return "for ever"
    return render_span(timedelta(milliseconds=int(text))) if name == "retention.ms" else text
