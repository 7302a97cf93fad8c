"""The differences in the terms: key, partitions, time, retention."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from contracts.evolution.change import NONE, READERS, WRITERS, Change, Harm
from contracts.shape import Contract
from contracts.times import render_span

UNLIMITED = "-1"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the broker that may grow; a lower value harms somebody."""

    default: int
    harms: frozenset[Harm]
    why: str
    reliances: tuple[str, ...] = ()


# Kafka's defaults, where a contract says nothing.
GROWING: Mapping[str, Setting] = {
    "retention.ms": Setting(
        604_800_000, READERS, "records are gone before who counts on them has read them", ("kept",)
    ),
    "min.compaction.lag.ms": Setting(
        0, READERS, "rows are gone before a reader's next marker", ("kept",)
    ),
    "max.message.bytes": Setting(1_048_588, WRITERS, "larger records are refused"),
    "message.timestamp.after.max.ms": Setting(
        3_600_000, WRITERS, "records that carry world time are refused"
    ),
}
POLICY = "cleanup.policy"


def find_changes(old: Contract, new: Contract) -> Iterator[Change]:
    yield from _compare_identity(old, new)
    yield from _compare_times(old, new)
    yield from _compare_settings(old, new)
    if old.sunset and (new.sunset is None or new.sunset > old.sunset):
        yield Change("sunset", f"{old.sunset} → {new.sunset or 'none'}")
    elif new.sunset and old.sunset is None:
        yield Change("sunset", f"kept up until {new.sunset}")
    elif old.sunset != new.sunset:
        why, undo = "readers were promised more time to move", f"keep {old.sunset}"
        yield Change("sunset", f"{old.sunset} → {new.sunset}", READERS, why, undo, ())


def _compare_identity(old: Contract, new: Contract) -> Iterator[Change]:
    yield from _compare_values(
        "key",
        (", ".join(old.key), ", ".join(new.key)),
        READERS | WRITERS,
        "records move to other partitions: order and copies are told by the key",
        ("order", "unique"),
    )
    yield from _compare_values(
        "partitions",
        (old.settings.partitions, new.settings.partitions),
        READERS,
        "keys move to other partitions: their records no longer come in order",
        ("order",),
    )


def _compare_times(old: Contract, new: Contract) -> Iterator[Change]:
    yield from _compare_values(
        "eventTime",
        (old.event_time, new.event_time),
        READERS | WRITERS,
        "other records are late, and others in time",
        ("late",),
    )
    for place, was, is_ in (
        ("horizon", old.horizon, new.horizon),
        ("skew", old.skew, new.skew),
    ):
        if was != is_:
            yield _compare_spans(place, was, is_)
    if old.retention != new.retention:
        shorter = (new.retention or timedelta.max) < (old.retention or timedelta.max)
        yield Change(
            "retention",
            _describe_both(old.retention, new.retention),
            READERS if shorter else NONE,
            "rows are gone that somebody may still ask for" if shorter else "",
            f"keep {_render_span(old.retention)}",
            reliances=("kept",),
        )
    if old.grace != new.grace:
        why = "what was called on time is called late, or the other way round"
        undo = f"keep {_render_span(old.grace)}"
        yield Change("grace", _describe_both(old.grace, new.grace), READERS, why, undo, ())


def _compare_values(
    place: str,
    values: tuple[object, object],
    harms: frozenset[Harm],
    why: str,
    reliances: tuple[str, ...],
) -> Iterator[Change]:
    """The change of a term, of which any other value does the same harm."""
    was, is_ = values
    if was != is_:
        yield Change(place, f"{was} → {is_}", harms, why, f"keep {was}", reliances=reliances)


def _compare_spans(place: str, was: timedelta | None, is_: timedelta | None) -> Change:
    longer = (is_ or timedelta.max) > (was or timedelta.max)
    why = "readers forget too soon" if longer else "what was in time is rejected, on replay too"
    harms = READERS if longer else WRITERS
    return Change(
        place,
        _describe_both(was, is_),
        harms,
        why,
        f"keep {_render_span(was)}",
        reliances=("late",),
    )


def _describe_both(was: timedelta | None, is_: timedelta | None) -> str:
    return f"{_render_span(was)} → {_render_span(is_)}"


def _render_span(length: timedelta | None) -> str:
    return "none" if length is None else render_span(length)


def _compare_settings(old: Contract, new: Contract) -> Iterator[Change]:
    for name, known in GROWING.items():
        texts = [one.settings.config.get(name, str(known.default)) for one in (old, new)]
        was, is_ = (float("inf") if text == UNLIMITED else int(text) for text in texts)
        if was != is_:
            harms, why = (known.harms, known.why) if is_ < was else (NONE, "")
            before, after = (_render_term(name, text) for text in texts)
            yield Change(
                name, f"{before} → {after}", harms, why, f"keep {before}", None, known.reliances
            )
    was_policy, is_policy = (one.settings.config.get(POLICY, "delete") for one in (old, new))
    if was_policy != is_policy:
        yield Change(
            POLICY,
            f"{was_policy} → {is_policy}",
            READERS,
            "records are there that were not, or gone that were there",
            f"keep {was_policy}",
            reliances=("kept", "unique"),
        )


def _render_term(name: str, text: str) -> str:
    if text == UNLIMITED:
        return "for ever"
    return render_span(timedelta(milliseconds=int(text))) if name == "retention.ms" else text
