"""The differences in the rules: which are stricter than before, and which are looser."""

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from contracts.evolution.change import NONE, READERS, WRITERS, Change
from contracts.projection import Path, render_path
from contracts.rules import KINDS, describe_condition
from contracts.shape import Contract, Rule

# Whether the second limit refuses something that the first one admits. For a kind that is not here,
# any other limit is both stricter and looser.
STRICTER: Mapping[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("minimum", "minLength", "minItems"), operator.lt),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxBytes"), operator.gt),
    "validValues": lambda old, new: bool(set(old) - set(new)),
}
STRICTER_WHY = (
    "who writes what kept it is rejected now, and a replay rejects what was counted before"
)
LOOSER_WHY = "readers were promised more"
CEILINGS = frozenset({"maximum", "maxItems"})
"""A limit of these kinds may rise: it keeps out mistakes, and readers have room for the whole type.

The length of a text may not grow: ids and keys occur in other contracts too, which limit them.
"""


def find_changes(old: Contract, new: Contract, fields: Collection[Path]) -> Iterator[Change]:
    """The changed rules of these fields, which both versions have, but for `required`."""
    before, after = _index_rules(old, fields), _index_rules(new, fields)
    for identity in before | after:
        was, is_ = before.get(identity), after.get(identity)
        before_text, after_text = (
            rule and describe_condition(rule.kind, rule.limit) for rule in (was, is_)
        )
        if was is None and is_ is not None:
            yield _create_change(is_, f"now {after_text}", stricter=True, looser=False)
        elif was is not None and is_ is None:
            yield _create_change(was, f"no longer {before_text}", stricter=False, looser=True)
        elif was is not None and is_ is not None and was.limit != is_.limit:
            stricter = STRICTER.get(was.kind, lambda *_: True)
            yield _create_change(
                is_,
                f"{before_text} → {after_text}",
                stricter=stricter(was.limit, is_.limit),
                looser=was.kind not in CEILINGS and stricter(is_.limit, was.limit),
            )


def _index_rules(contract: Contract, fields: Collection[Path]) -> dict[tuple[str, Path, Any], Rule]:
    """A field has one rule of a kind, or several that compare it with different fields."""
    return {
        (rule.kind, rule.path, rule.limit if KINDS[rule.kind].limit_is_field else None): rule
        for rule in contract.rules
        if rule.kind != "required" and rule.path in fields
    }


def _create_change(rule: Rule, text: str, *, stricter: bool, looser: bool) -> Change:
    harms = (READERS if looser else NONE) | (WRITERS if stricter else NONE)
    whys = [STRICTER_WHY] * stricter + [LOOSER_WHY] * looser
    return Change(
        render_path(rule.path),
        text,
        harms,
        "; ".join(whys),
        "keep the rule",
        rule.path,
        meaning=True,
    )
